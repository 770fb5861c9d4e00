//! Construction of the graph of a module in one pass over the expressions of its definitions.
//!
//! Expressions are stored in the order of evaluation, so that the pass does not recurse and takes
//! linear time, however deeply they are nested.

use std::sync::Arc;

use semantics::{
    Db, DefKind, ExprRef, Module,
    body::{
        BinderId, BinderKind, CallData, Callee, Expr, ExprId, FnId, Function as FnData, Literal,
        LocalRef, MatchId, MetaRef, Pattern, PatternKind, Region, Unit, UnitId,
    },
    infer::MetaEntry,
    metadata::Metadata,
    module::ModuleTypes,
    scope::Scopes,
};
use syntax::TextRange;
use types::{AttrValue, Attrs, DataType};

use crate::{
    graph::{Function, Graph, Kind, Lambda, NONE, Node, NodeId, Origin, Role, hash_of, mix},
    source::Source,
};

/// A module with its graph.
pub(crate) struct ModuleGraph<'db> {
    pub(crate) db: &'db dyn Db,
    /// The definitions, indexed by [`Node::def`].
    pub(crate) sources: Vec<Source<'db>>,
    pub(crate) metadata: Option<Arc<Metadata>>,
    pub(crate) graph: Graph,
    /// The value, definition and binder of each `let` variable.
    pub(crate) lets: Vec<(NodeId, u32, LocalRef)>,
}

impl<'db> ModuleGraph<'db> {
    /// Returns the graph of a module. Duplicate definitions of a name are kept, in order.
    pub(crate) fn new(db: &'db dyn Db, module: Module<'db>) -> ModuleGraph<'db> {
        let mut module_graph = ModuleGraph {
            db,
            sources: Vec::new(),
            metadata: semantics::metadata(db, module),
            graph: Graph::of_text(&module.file(db).parse(db).errors),
            lets: Vec::new(),
        };
        let types = semantics::module_types(db, module);
        for &def in module.items(db) {
            if !matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
                continue;
            }
            let (source, scopes) = (Source::new(db, def), semantics::scopes(db, def));
            let number = module_graph.sources.len() as u32;
            let mut builder = Builder::new(&mut module_graph, &types, &source, &scopes, number);
            builder.definition();
            module_graph.sources.push(source);
        }
        module_graph
    }

    /// Returns the call of a node.
    pub(crate) fn call(&self, id: NodeId) -> Option<&CallData> {
        let node = self.graph.node(id);
        let Origin::Expr(expr_ref) = node.origin else { return None };
        let unit = self.sources[node.def as usize].body.unit(expr_ref.unit);
        match unit.expr(expr_ref.expr) {
            Expr::Call(call) => Some(unit.call(*call)),
            _ => None,
        }
    }

    /// Returns the attributes of a call, including those in the metadata section.
    pub(crate) fn attrs(&self, call: &CallData) -> Attrs {
        attrs_of(self.metadata.as_deref(), call)
    }

    /// Returns the lowered function of a function of the graph.
    pub(crate) fn function(&self, lambda: &Lambda) -> Option<&FnData> {
        let body = &self.sources[lambda.def as usize].body;
        match lambda.place {
            None => body.header(),
            Some((unit, id)) => body.unit(unit).fns.get(id.index()),
        }
    }
}

fn attrs_of(metadata: Option<&Metadata>, call: &CallData) -> Attrs {
    let Some(metadata) = metadata else { return call.attrs.clone() };
    if let Some((key, index)) = &call.meta_attrs
        && let MetaEntry::Found(attrs) = metadata.attrs(key, *index)
    {
        return attrs;
    }
    let is_meta = |value: &AttrValue| match value {
        AttrValue::Meta { .. } => true,
        AttrValue::List(values) => values.iter().any(|v| matches!(v, AttrValue::Meta { .. })),
        _ => false,
    };
    match call.attrs.schema() {
        Some(schema) if call.attrs.values().iter().any(is_meta) => {
            let value = |value: &AttrValue| resolved_value(metadata, value);
            Attrs::new(schema, call.attrs.values().iter().map(value).collect::<Vec<_>>())
        }
        _ => call.attrs.clone(),
    }
}

/// Replaces references to the metadata section by their entries. Only one level of lists is visited,
/// because TVM prints no deeper references.
fn resolved_value(metadata: &Metadata, value: &AttrValue) -> AttrValue {
    let entry = |value: &AttrValue| match value {
        AttrValue::Meta { key, index } => match metadata.value(key, *index) {
            MetaEntry::Found(found) => found,
            _ => value.clone(),
        },
        _ => value.clone(),
    };
    match value {
        AttrValue::List(values) => AttrValue::List(values.iter().map(entry).collect()),
        _ => entry(value),
    }
}

/// Builds the nodes of one definition.
struct Builder<'b, 'db> {
    db: &'db dyn Db,
    graph: &'b mut Graph,
    lets: &'b mut Vec<(NodeId, u32, LocalRef)>,
    metadata: Option<&'b Metadata>,
    types: &'b ModuleTypes,
    source: &'b Source<'db>,
    scopes: &'b Scopes,
    number: u32,
    /// The value of each variable of each unit.
    variables: Vec<Vec<NodeId>>,
    /// The enclosing functions, the innermost last.
    open: Vec<u32>,
    /// The last read or write of a reference in each enclosing function.
    effects: Vec<NodeId>,
}

impl<'b, 'db> Builder<'b, 'db> {
    fn new(
        module_graph: &'b mut ModuleGraph<'db>,
        types: &'b ModuleTypes,
        source: &'b Source<'db>,
        scopes: &'b Scopes,
        number: u32,
    ) -> Builder<'b, 'db> {
        let variables =
            source.body.units.iter().map(|unit| vec![NONE; unit.binders.len()]).collect();
        Builder {
            db: module_graph.db,
            graph: &mut module_graph.graph,
            lets: &mut module_graph.lets,
            metadata: module_graph.metadata.as_deref(),
            types,
            source,
            scopes,
            number,
            variables,
            open: Vec::new(),
            effects: Vec::new(),
        }
    }

    fn definition(&mut self) {
        let body = &self.source.body;
        let header = body.header();
        self.enter(None, header.map(role).unwrap_or(Role::Plain));
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
        let range = match self.source.def.kind(self.db) {
            DefKind::Fn => self.source.def.name_range(self.db) + self.source.def.start(self.db),
            _ => self.source.def.range(self.db),
        };
        let node = self.leave(result, label, Origin::Def, range);
        let lambda = self.graph.node(node).extra;
        let name = self.source.def.name(self.db).clone();
        self.graph.functions.push(Function { name, lambda });
    }

    /// Enters a function.
    fn enter(&mut self, place: Option<(UnitId, FnId)>, role: Role) {
        let number = self.graph.lambdas.len() as u32;
        self.graph.lambdas.push(Lambda {
            node: NONE,
            params: Vec::new(),
            result: NONE,
            first: self.graph.nodes.len() as NodeId,
            parent: self.open.last().copied().unwrap_or(NONE),
            def: self.number,
            place,
            role,
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
            origin,
            range,
        };
        self.graph.push(node, operands)
    }

    fn params(&mut self, unit: UnitId, params: &[BinderId]) {
        let lambda = self.open.last().copied().unwrap_or(NONE);
        for (position, &binder) in params.iter().enumerate() {
            let binding = LocalRef { unit, binder };
            let range = self.source.binder_range(self.db, binding);
            let origin = Origin::Binder(binding);
            let label = mix(self.open.len() as u64, position as u64);
            let node = self.add(Kind::Param, label, 0, &[], origin, range);
            self.graph.nodes[node as usize].extra = lambda;
            self.variables[unit.index()][binder.index()] = node;
            self.graph.lambdas[lambda as usize].params.push(node);
        }
    }

    fn free_variable(&mut self, unit: UnitId, binder: BinderId) {
        let data = self.source.body.unit(unit).binder(binder);
        let binding = LocalRef { unit, binder };
        let range = self.source.binder_range(self.db, binding);
        let origin = Origin::Binder(binding);
        let node = self.add(Kind::FreeVar, hash_of(&data.name), 0, &[], origin, range);
        self.variables[unit.index()][binder.index()] = node;
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
        match self.variables[unit.index()][binder.index()] {
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
                let name = hash_of(&self.source.body.unit(at).frees[free.index()].name);
                self.add(Kind::Unknown, name, 0, &[], origin, range)
            }
        }
    }

    fn expr(&mut self, number: UnitId, unit: &Unit, id: ExprId, values: &[NodeId]) -> NodeId {
        let range = self.source.expr(self.db, ExprRef { unit: number, expr: id });
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
                let name = hash_of(name);
                self.add(Kind::Global, 0, name, &[], origin, range)
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
            Expr::Call(call) => self.call(unit.call(*call), values, origin, range),
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
                self.enter(Some((number, *id)), role(function));
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
                self.variables[number.index()][binder.index()] = node;
                if unit.binder(*binder).kind == BinderKind::Let {
                    let binding = LocalRef { unit: number, binder: *binder };
                    self.lets.push((node, self.number, binding));
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
                        let range = self.source.range(self.db, number, unit.binder(*binder).range);
                        let binding = LocalRef { unit: number, binder: *binder };
                        let origin = Origin::Binder(binding);
                        let node = self.inner(Kind::Pattern, path, 0, &[scrutinee], origin, range);
                        self.variables[number.index()][binder.index()] = node;
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

/// Returns a hash of a pattern without the names of its variables.
fn shape(pattern: &Pattern) -> u64 {
    let mut stack = vec![pattern];
    let mut hash = 0;
    while let Some(pattern) = stack.pop() {
        hash = mix(
            hash,
            match &pattern.kind {
                PatternKind::Wildcard => 1,
                PatternKind::Var(_) => 2,
                PatternKind::Constructor(name, fields) => {
                    stack.extend(fields.iter().rev());
                    hash_of((name, fields.len()))
                }
                PatternKind::Tuple(fields) => {
                    stack.extend(fields.iter().rev());
                    mix(3, fields.len() as u64)
                }
            },
        );
    }
    hash
}

fn literal_hash(literal: &Literal) -> u64 {
    match *literal {
        Literal::Bool(value) => hash_of((0, value)),
        Literal::Int { value, dtype } => hash_of((1, value, dtype.unwrap_or(DataType::INT32))),
        Literal::Float { bits, dtype } => hash_of((2, bits, dtype.unwrap_or(DataType::FLOAT32))),
    }
}

/// Returns the role of a function, from its attributes.
fn role(function: &FnData) -> Role {
    let is_mark = |name: &str| matches!(name, "Primitive" | "Composite" | "Compiler");
    match function.attrs.iter().any(|(name, _)| is_mark(name)) {
        true => Role::Fused,
        false => Role::Plain,
    }
}
