//! Construction of the graph of a module in one pass over the expressions of its definitions.
//!
//! Expressions are stored in the order of evaluation, so that the pass does not recurse and takes
//! linear time, however deeply they are nested.

mod labels;
mod variables;

use std::sync::Arc;

use semantics::{
    Db, Def, DefKind, ExprRef, Module,
    body::{
        BinderId, BinderKind, Body, CallData, Callee, Expr, ExprId, Function as FnData, LocalRef,
        MatchId, MetaRef, PatternKind, RangeId, Region, SourceMap, Unit, UnitId,
    },
    infer::{Inference, MetaEntry},
    metadata::Metadata,
    module::ModuleTypes,
    scope::Scopes,
};
use smol_str::SmolStr;
use syntax::{
    SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::AttrValue;

use crate::{
    facts::{CallFacts, Definition, Facts, FunctionFacts, Let, Variable, WrittenAttr},
    graph::{Function, Graph, Kind, Lambda, NONE, Node, NodeId, Role, hash_of, mix},
};
use labels::{attrs_of, literal_hash, resolved_value, role, shape};
use variables::Variables;

/// The graph of a module, and what is known of its expressions.
pub(crate) struct ModuleGraph {
    pub(crate) graph: Graph,
    pub(crate) facts: Facts,
}

/// The level of detail of a module graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The structure alone, without calls and types: enough for an equality test.
    Structure,
    /// Everything.
    All,
}

impl ModuleGraph {
    /// Returns the graph of a module. Duplicate definitions of a name are kept, in order.
    pub(crate) fn new<'db>(db: &'db dyn Db, module: Module<'db>, detail: Detail) -> ModuleGraph {
        let graph = Graph::of_text(&module.file(db).parse(db).errors);
        let mut module_graph = ModuleGraph { graph, facts: Facts::default() };
        let types = semantics::module_types(db, module);
        let metadata = semantics::metadata(db, module);
        for &def in module.items(db) {
            if matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
                let context = (metadata.as_deref(), &*types);
                Builder::new(db, def, context, detail, &mut module_graph).definition();
                let (name, range) = (def.name(db).clone(), def.range(db));
                module_graph.facts.definitions.push(Definition { name, range });
            }
        }
        module_graph
    }
}

/// The origin of a node in its definition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// An expression.
    Expr(ExprRef),
    /// A parameter or another variable.
    Binder(LocalRef),
    /// The whole definition.
    Def,
}

/// Builds the nodes of one definition.
struct Builder<'b, 'db> {
    db: &'db dyn Db,
    def: Def<'db>,
    body: Arc<Body>,
    map: Arc<SourceMap>,
    scopes: Arc<Scopes>,
    /// The types of its expressions, unless they are not recorded.
    inference: Option<Arc<Inference>>,
    graph: &'b mut Graph,
    facts: &'b mut Facts,
    metadata: Option<&'b Metadata>,
    types: &'b ModuleTypes,
    number: u32,
    variables: Variables,
    /// The enclosing functions, the innermost last.
    open: Vec<u32>,
    /// The last read or write of a reference in each enclosing function.
    effects: Vec<NodeId>,
}

impl<'b, 'db> Builder<'b, 'db> {
    fn new(
        db: &'db dyn Db,
        def: Def<'db>,
        (metadata, types): (Option<&'b Metadata>, &'b ModuleTypes),
        detail: Detail,
        to: &'b mut ModuleGraph,
    ) -> Builder<'b, 'db> {
        let body = semantics::body(db, def);
        Builder {
            db,
            def,
            map: semantics::source_map(db, def),
            scopes: semantics::scopes(db, def),
            inference: (detail == Detail::All).then(|| semantics::inference(db, def)),
            number: to.facts.definitions.len() as u32,
            graph: &mut to.graph,
            facts: &mut to.facts,
            metadata,
            types,
            variables: Variables::new(&body),
            body,
            open: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Returns the range of an expression in the file.
    fn expr_range(&self, unit: UnitId, expr: ExprId) -> TextRange {
        self.map.expr(unit, expr) + self.def.start(self.db)
    }

    /// Returns the range of another part of a unit in the file.
    fn range(&self, unit: UnitId, id: RangeId) -> TextRange {
        self.map.range(unit, id) + self.def.start(self.db)
    }

    /// Returns the range of a binder with its annotation, without comments.
    fn binder_range(&self, of: LocalRef) -> TextRange {
        let binder = self.body.unit(of.unit).binder(of.binder);
        let own = self.map.range(of.unit, binder.range);
        let start = self.def.start(self.db);
        if binder.annotation.is_none() {
            return own + start;
        }
        let path = self.def.node(self.db).path_to(own);
        let is_holder = |kind| {
            matches!(kind, SyntaxKind::PARAM | SyntaxKind::FREE_VAR_STMT | SyntaxKind::LET_STMT)
        };
        let holder = path.iter().rev().find(|node| is_holder(node.kind()));
        let ty =
            holder.and_then(|node| node.children().find(|node| ast::Type::can_cast(node.kind())));
        let end = ty.map_or(own.end(), |ty| ty.range().end()).max(own.end());
        TextRange::new(own.start(), end) + start
    }

    fn definition(&mut self) {
        let body = self.body.clone();
        let header = body.header();
        self.enter(header, true);
        let mut result = NONE;
        let mut values = Vec::new();
        for (number, unit) in body.units() {
            values.clear();
            values.resize(unit.exprs.len(), NONE);
            if let Some(header) = unit.header() {
                self.params(number, &header.params);
            }
            if let Some(binder) = unit.binds
                && unit.binder(binder).kind == BinderKind::Free
            {
                self.free_variable(number, binder);
            }
            for at in 0..unit.exprs.len() {
                values[at] = self.expr(number, unit, ExprId(at as u32), &values);
            }
            result = unit.root.map_or(NONE, |root| values[root.index()]);
        }
        let label = header.map_or(0, |header| self.function_label(header));
        let range = match self.def.kind(self.db) {
            DefKind::Fn => self.def.name_range(self.db) + self.def.start(self.db),
            _ => self.def.range(self.db),
        };
        let node = self.leave(result, label, Origin::Def, range);
        let lambda = self.graph.node(node).extra;
        let name = self.def.name(self.db).clone();
        self.graph.functions.push(Function { name, lambda });
    }

    /// Enters a function; a bare expression has no data.
    fn enter(&mut self, function: Option<&FnData>, is_definition: bool) {
        let number = self.graph.lambdas.len() as u32;
        let known = |function: &FnData| FunctionFacts {
            attrs: function.attrs.clone(),
            params: function.params.len(),
            ret: function.ret.clone(),
        };
        self.facts.functions.push(function.map(known).unwrap_or_default());
        self.graph.lambdas.push(Lambda {
            node: NONE,
            params: Vec::new(),
            result: NONE,
            first: self.graph.nodes.len() as NodeId,
            parent: self.open.last().copied().unwrap_or(NONE),
            def: self.number,
            is_definition,
            source: number,
            role: function.map_or(Role::Plain, role),
            recursive: false,
        });
        self.open.push(number);
        self.effects.push(NONE);
    }

    /// Leaves the innermost function and returns its node.
    fn leave(&mut self, result: NodeId, label: u64, origin: Origin, range: TextRange) -> NodeId {
        self.effects.pop();
        let number = self.open.pop().unwrap_or(NONE);
        let result = match result {
            NONE => self.add(Kind::Missing, 0, 0, &[], origin, range),
            result => result,
        };
        let node = self.add(Kind::Fn, label, 0, &[result], origin, range);
        self.graph.nodes[node as usize].extra = number;
        let lambda = &mut self.graph.lambdas[number as usize];
        (lambda.node, lambda.result) = (node, result);
        node
    }

    /// Adds a node. Its family is a hash of its kind and of `called`, the hash of the callee.
    fn add(
        &mut self,
        kind: Kind,
        label: u64,
        called: u64,
        operands: &[NodeId],
        origin: Origin,
        range: TextRange,
    ) -> NodeId {
        let family = mix(kind as u64 + 1, called);
        let owner = self.open.last().copied().unwrap_or(NONE);
        let node = Node {
            kind,
            label: mix(family, label),
            family,
            first: 0,
            count: 0,
            def: self.number,
            owner,
            extra: NONE,
            source: if origin == Origin::Def { NONE } else { self.graph.nodes.len() as NodeId },
            range,
        };
        if let Some(inference) = &self.inference {
            let of = |unit: UnitId| inference.units.get(unit.index());
            self.facts.types.push(match origin {
                Origin::Expr(at) => of(at.unit).map(|types| types.expr(at.expr).clone()),
                Origin::Binder(at) => of(at.unit).map(|types| types.binder(at.binder).clone()),
                Origin::Def => None,
            });
        }
        self.graph.push(node, operands)
    }

    /// Records a parameter or free variable.
    fn variable_facts(&mut self, node: NodeId, of: LocalRef) {
        let binder = self.body.unit(of.unit).binder(of.binder);
        let (name, annotation) = (binder.name.clone(), binder.annotation.clone());
        self.facts.variables.insert(node, Variable { name, annotation });
    }

    fn params(&mut self, unit: UnitId, params: &[BinderId]) {
        let lambda = self.open.last().copied().unwrap_or(NONE);
        for (position, &binder) in params.iter().enumerate() {
            let binding = LocalRef { unit, binder };
            let range = self.binder_range(binding);
            let origin = Origin::Binder(binding);
            let label = mix(self.open.len() as u64, position as u64);
            let node = self.add(Kind::Param, label, 0, &[], origin, range);
            self.variable_facts(node, binding);
            self.graph.nodes[node as usize].extra = lambda;
            self.variables.set(unit, binder, node);
            self.graph.lambdas[lambda as usize].params.push(node);
        }
    }

    fn free_variable(&mut self, unit: UnitId, binder: BinderId) {
        let name = hash_of(&self.body.unit(unit).binder(binder).name);
        let binding = LocalRef { unit, binder };
        let range = self.binder_range(binding);
        let node = self.add(Kind::FreeVar, name, 0, &[], Origin::Binder(binding), range);
        self.variable_facts(node, binding);
        self.variables.set(unit, binder, node);
    }

    fn function_label(&self, function: &FnData) -> u64 {
        let value = |value: &AttrValue| match self.metadata {
            Some(metadata) => resolved_value(metadata, value),
            None => value.clone(),
        };
        let mut attrs: Vec<u64> =
            function.attrs.iter().map(|(name, v)| mix(hash_of(name), hash_of(value(v)))).collect();
        // TVM keeps them in an unordered map.
        attrs.sort_unstable();
        mix(
            hash_of(attrs),
            function.params.len() as u64 + ((function.type_params.len() as u64) << 32),
        )
    }

    fn variable(
        &mut self,
        unit: UnitId,
        binder: BinderId,
        origin: Origin,
        at: TextRange,
    ) -> NodeId {
        match self.variables.get(unit, binder) {
            NONE => {
                // A recursive use, which the nesting depth identifies.
                let depth = self.open.len() as u64;
                for &lambda in &self.open {
                    self.graph.lambdas[lambda as usize].recursive = true;
                }
                self.add(Kind::Recursion, depth, 0, &[], origin, at)
            }
            node => node,
        }
    }

    fn free(&mut self, at: UnitId, free: semantics::body::FreeId, range: TextRange) -> NodeId {
        let origin = Origin::Def;
        match self.scopes.get(at, free) {
            Some(LocalRef { unit, binder }) => self.variable(unit, binder, origin, range),
            None => {
                let name = hash_of(&self.body.unit(at).frees[free.index()].name);
                self.add(Kind::Unknown, name, 0, &[], origin, range)
            }
        }
    }

    fn expr(&mut self, number: UnitId, unit: &Unit, id: ExprId, values: &[NodeId]) -> NodeId {
        let range = self.expr_range(number, id);
        let origin = Origin::Expr(ExprRef { unit: number, expr: id });
        let value = |id: ExprId| values[id.index()];
        match unit.expr(id) {
            // Replaced by attributes, or a syntax error.
            Expr::Missing => NONE,
            Expr::Literal(literal) => {
                self.add(Kind::Literal, literal_hash(literal), 0, &[], origin, range)
            }
            Expr::Filled(filled) => {
                let label = hash_of((literal_hash(&filled.value), &filled.shape, filled.dtype));
                self.add(Kind::Constant, label, 0, &[], origin, range)
            }
            Expr::Bound(binder) => self.variable(number, *binder, origin, range),
            Expr::Free(free) => self.free(number, *free, range),
            Expr::Dotted { whole, tuple, index } => match self.scopes.get(number, *whole) {
                Some(LocalRef { unit, binder }) => self.variable(unit, binder, origin, range),
                None => self.proj(value(*tuple), *index, origin, range),
            },
            Expr::Global(name) => {
                let node = self.add(Kind::Global, 0, hash_of(name), &[], origin, range);
                if self.inference.is_some() {
                    self.graph.nodes[node as usize].extra = self.facts.globals.len() as u32;
                    self.facts.globals.push(name.clone());
                }
                node
            }
            Expr::Name(name) => self.add(Kind::Name, 0, hash_of(name), &[], origin, range),
            Expr::Meta(meta) => {
                let label = self.constant_hash(meta);
                self.add(Kind::Constant, label, 0, &[], origin, range)
            }
            Expr::Tuple(fields) => {
                let fields: Vec<NodeId> = fields.iter().map(|&field| value(field)).collect();
                self.inner(Kind::Tuple, fields.len() as u64, 0, &fields, origin, range)
            }
            Expr::Proj { tuple, index } => self.proj(value(*tuple), *index, origin, range),
            Expr::Call(call) => {
                let call = unit.call(*call);
                let node = self.call(call, values, origin, range);
                self.call_facts(node, number, call);
                node
            }
            Expr::If { cond, then, otherwise } => {
                let result = |region: &Region| value(region.result);
                let operands = [value(*cond), result(then), result(otherwise)];
                self.inner(Kind::If, 0, 0, &operands, origin, range)
            }
            Expr::Match(id) => {
                let data = &unit.matches[id.index()];
                let mut operands = vec![value(data.scrutinee)];
                operands.extend(data.arms.iter().map(|arm| value(arm.body.result)));
                let shape: Vec<u64> = data.arms.iter().map(|arm| shape(&arm.pattern)).collect();
                let label = hash_of((data.partial, shape));
                self.inner(Kind::Match, label, 0, &operands, origin, range)
            }
            Expr::Fn(id) => {
                let function = &unit.fns[id.index()];
                let result = function.body.map_or(NONE, |body| value(body.result));
                let label = self.function_label(function);
                self.leave(result, label, origin, range)
            }
            Expr::RefNew(inner) => self.effect(Kind::RefNew, &[value(*inner)], origin, range),
            Expr::RefRead(inner) => self.effect(Kind::RefRead, &[value(*inner)], origin, range),
            Expr::RefWrite(to, inner) => {
                self.effect(Kind::RefWrite, &[value(*to), value(*inner)], origin, range)
            }
            Expr::EnterFn(id) => {
                let function = &unit.fns[id.index()];
                self.enter(Some(function), false);
                self.params(number, &function.params);
                NONE
            }
            Expr::EnterMatch(id) => {
                self.patterns(number, unit, *id, values);
                NONE
            }
            Expr::Bind { binder, value: of, .. } => {
                let node = match value(*of) {
                    NONE => self.add(Kind::Missing, 0, 0, &[], origin, range),
                    value => value,
                };
                self.variables.set(number, *binder, node);
                let data = unit.binder(*binder);
                if data.kind == BinderKind::Let {
                    let range = self.binder_range(LocalRef { unit: number, binder: *binder });
                    let (def, annotation) = (self.number, data.annotation.clone());
                    self.facts.lets.push(Let { node, def, range, annotation });
                }
                NONE
            }
            Expr::Condition(_) | Expr::Declare(_) => NONE,
        }
    }

    /// Adds a node with operands. A missing operand becomes a `Missing` node.
    fn inner(
        &mut self,
        kind: Kind,
        label: u64,
        called: u64,
        operands: &[NodeId],
        origin: Origin,
        range: TextRange,
    ) -> NodeId {
        if !operands.contains(&NONE) {
            return self.add(kind, label, called, operands, origin, range);
        }
        let mut all = Vec::with_capacity(operands.len());
        for &operand in operands {
            all.push(match operand {
                NONE => self.add(Kind::Missing, 0, 0, &[], origin, range),
                operand => operand,
            });
        }
        self.add(kind, label, called, &all, origin, range)
    }

    fn proj(&mut self, tuple: NodeId, index: u32, origin: Origin, range: TextRange) -> NodeId {
        let node = self.inner(Kind::Proj, index.into(), 0, &[tuple], origin, range);
        self.graph.nodes[node as usize].extra = index;
        node
    }

    fn effect(
        &mut self,
        kind: Kind,
        operands: &[NodeId],
        origin: Origin,
        range: TextRange,
    ) -> NodeId {
        let before = self.effects.last().copied().unwrap_or(NONE);
        let mut all = operands.to_vec();
        all.extend((before != NONE).then_some(before));
        let node = self.inner(kind, 0, 0, &all, origin, range);
        if let Some(last) = self.effects.last_mut() {
            *last = node;
        }
        node
    }

    fn call(
        &mut self,
        call: &CallData,
        values: &[NodeId],
        origin: Origin,
        range: TextRange,
    ) -> NodeId {
        let args = call.args.iter().map(|arg| values[arg.index()]);
        match &call.callee {
            Callee::Operator(operator) if self.types.constructor(operator.name).is_none() => {
                let args: Vec<NodeId> = args.collect();
                let mut label = hash_of(attrs_of(self.metadata, call));
                if !call.trusted {
                    let written = call.written.iter().map(|attr| (&attr.name, &attr.value));
                    label = mix(label, hash_of(written.collect::<Vec<_>>()));
                }
                let called = hash_of(operator.name);
                self.inner(Kind::Call, label, called, &args, origin, range)
            }
            Callee::Operator(operator) => {
                let args: Vec<NodeId> = args.collect();
                self.inner(Kind::Construct, 0, hash_of(operator.name), &args, origin, range)
            }
            Callee::Name(name) => {
                let args: Vec<NodeId> = args.collect();
                let written = call.written.iter().map(|attr| (&attr.name, &attr.value));
                let label = hash_of(written.collect::<Vec<_>>());
                // An unknown name is most likely an incomplete operator.
                let kind = match self.types.constructor(name) {
                    Some(_) => Kind::Construct,
                    None => Kind::Call,
                };
                self.inner(kind, label, hash_of(name), &args, origin, range)
            }
            Callee::Expr(callee) => {
                let callee = values[callee.index()];
                let all: Vec<NodeId> = std::iter::once(callee).chain(args).collect();
                self.inner(Kind::Apply, all.len() as u64, 0, &all, origin, range)
            }
        }
    }

    /// Records a call.
    fn call_facts(&mut self, node: NodeId, unit: UnitId, call: &CallData) {
        if self.inference.is_none() || node == NONE {
            return;
        }
        let written = call.written.iter().map(|attr| WrittenAttr {
            name: attr.name.clone(),
            value: attr.value.clone(),
            range: self.range(unit, attr.name_range).cover(self.range(unit, attr.value_range)),
        });
        let facts = CallFacts {
            name: match &call.callee {
                Callee::Operator(operator) => SmolStr::new_static(operator.name),
                Callee::Name(name) => name.clone(),
                Callee::Expr(_) => SmolStr::default(),
            },
            is_operator: !matches!(call.callee, Callee::Name(_)),
            callee: self.range(unit, call.callee_range),
            args: call.args.iter().map(|&arg| self.expr_range(unit, arg)).collect(),
            attrs: attrs_of(self.metadata, call),
            written: written.collect(),
        };
        self.graph.nodes[node as usize].extra = self.facts.calls.len() as u32;
        self.facts.calls.push(facts);
    }

    /// Adds the variables in the patterns of a `match`, identified by arm and path.
    fn patterns(&mut self, number: UnitId, unit: &Unit, id: MatchId, values: &[NodeId]) {
        let data = &unit.matches[id.index()];
        let scrutinee = values[data.scrutinee.index()];
        for (arm, data) in data.arms.iter().enumerate() {
            let mut stack = vec![(&data.pattern, arm as u64)];
            while let Some((pattern, path)) = stack.pop() {
                match &pattern.kind {
                    PatternKind::Wildcard => {}
                    PatternKind::Var(binder) => {
                        let range = self.range(number, unit.binder(*binder).range);
                        let binding = LocalRef { unit: number, binder: *binder };
                        let origin = Origin::Binder(binding);
                        let node = self.inner(Kind::Pattern, path, 0, &[scrutinee], origin, range);
                        self.variables.set(number, *binder, node);
                    }
                    PatternKind::Constructor(_, fields) | PatternKind::Tuple(fields) => {
                        let fields = fields.iter().enumerate();
                        stack.extend(fields.map(|(at, field)| (field, mix(path, at as u64))));
                    }
                }
            }
        }
    }

    fn constant_hash(&self, meta: &MetaRef) -> u64 {
        match self.metadata.map(|metadata| metadata.content_hash(&meta.key, meta.index)) {
            Some(MetaEntry::Found(hash)) => hash,
            // The index of an entry depends on the printed module, so that it is ignored.
            _ => hash_of((&meta.key, &meta.claimed)),
        }
    }
}
