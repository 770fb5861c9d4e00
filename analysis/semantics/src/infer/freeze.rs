//! From nodes to types: closing a stretch, generalising what stays open.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use types::{
    Constraint, DTypeTerm, FuncType, Kind, NodeId, ParamId, RelationId, ShapeTerm, State, Type,
    TypeParam, TypeVar,
};

use super::{At, Finding, Infer};
use crate::body::*;

/// The types of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inference {
    /// Types of each unit.
    pub units: Vec<Arc<UnitTypes>>,
    /// The type of the definition, or of the expression.
    pub signature: Option<Type>,
    /// Something got a type that is more general than what was written, or none that is known:
    /// TVM may find other types.
    pub generalised: bool,
    /// Types are those that TVM finds.
    pub(crate) strict: bool,
}

/// The types of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitTypes {
    /// The type of each expression.
    pub exprs: Box<[Type]>,
    /// The type of each variable.
    pub binders: Box<[Type]>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Type comments that are not what the types say, by number.
    pub stale: Vec<u32>,
    /// The types that the unit saw around it.
    pub(super) inputs: Box<[Type]>,
    /// The unit was inferred without its neighbours.
    pub(super) alone: bool,
    /// Some type is left open.
    open: bool,
    /// Something of the stretch got a type that is more general than what was written.
    pub(super) generalised: bool,
}

impl UnitTypes {
    /// The type of an expression.
    pub fn expr(&self, expr: ExprId) -> &Type {
        self.exprs.get(expr.index()).unwrap_or(&Type::Error)
    }

    /// The type of a variable.
    pub fn binder(&self, binder: BinderId) -> &Type {
        self.binders.get(binder.index()).unwrap_or(&Type::Error)
    }
}

impl Infer<'_> {
    /// Ends the open stretch: decides what is left, and freezes its types.
    pub(super) fn close(&mut self, last: bool) {
        if self.open.is_empty() {
            return;
        }
        if last {
            self.generalise_definitions();
        }
        if self.solver.table.default_literals() {
            self.solver.solve();
        }
        self.report();
        if last && self.env.strict() {
            self.report_open();
        }
        self.entangled |= self.solver.table.is_entangled();
        let alone = self.open.len() == 1;
        let generalised = std::mem::take(&mut self.generalised);
        let mut known = FxHashMap::default();
        for open in std::mem::take(&mut self.open) {
            let table = &self.solver.table;
            let mut resolve = |node| table.resolve_shared(node, &mut known);
            let exprs: Box<[Type]> = open.exprs.iter().map(|&node| resolve(node)).collect();
            let binders: Box<[Type]> =
                open.binders.iter().map(|node| node.map_or(Type::Error, &mut resolve)).collect();
            let unit = &self.bodies[open.at.body as usize].0.units[open.at.unit as usize];
            let stale = self.printer.stale(unit, &exprs, &binders);
            let is_open = exprs.iter().chain(&binders).any(|ty| !ty.is_closed());
            let mut findings = open.findings;
            findings.iter_mut().for_each(|finding| finding.decide_literals(table));
            self.done[open.at.body as usize][open.at.unit as usize] = Some(Arc::new(UnitTypes {
                exprs,
                binders,
                findings,
                stale,
                inputs: open.inputs.into(),
                alone,
                open: is_open,
                generalised,
            }));
        }
        self.open_at.clear();
        self.imported.clear();
        self.origins.clear();
        self.globals.clear();
        self.reported = 0;
        self.solver.clear();
    }

    /// The types of all units, body by body.
    pub(super) fn finish(self) -> Vec<super::Inference> {
        let (signatures, strict) = (self.signatures, self.env.strict());
        let units = self.done.into_iter().map(|units| {
            units.into_iter().map(Option::unwrap_or_default).collect::<Vec<Arc<UnitTypes>>>()
        });
        units
            .zip(self.bodies)
            .zip(signatures)
            .map(|((units, (body, _)), signature)| {
                let signature = signature.or_else(|| signature_of(body, &units));
                let signature = signature.map(|ty| known_part(&ty));
                let generalised = units.iter().any(|types| types.generalised || types.open);
                Inference { units, signature, generalised, strict }
            })
            .collect()
    }

    /// Turns what became of the relations into findings.
    fn report(&mut self) {
        for index in self.reported..self.solver.entries().len() {
            let id = RelationId(index as u32);
            let entry = self.solver.entry(id);
            let origin = entry.origin;
            let result = entry.args.last().copied();
            let unknown = result.is_some_and(|node| self.solver.table.is_unknown(node));
            match entry.state.clone() {
                State::Failed(reason) => {
                    let (at, expr) = self.origins[origin as usize];
                    let finding = self.failed(id, at, expr, reason);
                    self.find_at(origin, |_| finding);
                }
                State::Undecided(reason) if unknown => {
                    self.give_up(result);
                    self.find_at(origin, |expr| Finding::Unknown {
                        expr,
                        argument: None,
                        reason: Some(reason),
                    });
                }
                State::Undecided(reason) => {
                    self.find_at(origin, |expr| Finding::Undecided { expr, reason });
                }
                State::Waiting if unknown => self.report_waiting(id, origin),
                State::Waiting | State::Solved | State::Silent => {}
            }
        }
        self.reported = self.solver.entries().len();
    }

    /// What TVM finds no type for. What it takes for a list of something unknown it accepts.
    fn report_open(&mut self) {
        for open in 0..self.open.len() {
            let unit = self.unit(self.open[open].at);
            // The variable comes before its uses, and a value before what it is bound to.
            let is_value = |kind| matches!(kind, BinderKind::Let | BinderKind::Graph);
            let variables: Vec<BinderId> = (0..unit.binders.len() as u32)
                .map(BinderId)
                .filter(|&binder| !is_value(unit.binder(binder).kind))
                .collect();
            for binder in variables {
                if let Some(node) = self.open[open].binders[binder.index()]
                    && self.solver.table.is_unknown(node)
                {
                    self.open[open].findings.push(Finding::OpenVariable(binder));
                    self.solver.table.give_up(node);
                }
            }
            for index in 0..self.open[open].exprs.len() {
                let (expr, node) = (ExprId(index as u32), self.open[open].exprs[index]);
                if !unit.expr(expr).is_step() && self.solver.table.is_unknown(node) {
                    self.open[open].findings.push(Finding::OpenExpr(expr));
                    self.solver.table.give_up(node);
                }
            }
        }
    }

    /// A relation that waits for a type which nothing decides.
    fn report_waiting(&mut self, id: RelationId, origin: u32) {
        let args = self.solver.entry(id).args.clone();
        let Some((&result, inputs)) = args.split_last() else { return };
        let missing = inputs.iter().position(|&node| !self.solver.table.resolve(node).is_closed());
        match missing {
            Some(argument) => {
                let node = inputs[argument];
                match self.variable_without_type(node) {
                    Some((open, binder)) => {
                        self.open[open].findings.push(Finding::UnknownVariable(binder));
                    }
                    None => self.find_at(origin, |expr| Finding::Unknown {
                        expr,
                        argument: Some(argument),
                        reason: None,
                    }),
                }
                self.give_up(Some(node));
            }
            None => {
                self.find_at(origin, |expr| Finding::Unknown {
                    expr,
                    argument: None,
                    reason: None,
                });
            }
        }
        self.give_up(Some(result));
        self.solver.solve();
    }

    /// The variable whose missing annotation leaves `node` open.
    fn variable_without_type(&self, node: NodeId) -> Option<(usize, BinderId)> {
        let root = self.solver.table.find(node);
        self.open.iter().enumerate().find_map(|(i, open)| {
            let unit = self.unit(open.at);
            let binder = open.binders.iter().enumerate().position(|(b, node)| {
                let binder = &unit.binders[b];
                let bare = matches!(binder.kind, BinderKind::Param | BinderKind::Free)
                    && binder.annotation.is_none();
                bare && node.is_some_and(|node| self.solver.table.find(node) == root)
            })?;
            Some((i, BinderId(binder as u32)))
        })
    }

    fn give_up(&mut self, node: Option<NodeId>) {
        if let Some(node) = node {
            self.solver.table.give_up(node);
        }
    }

    /// Files a finding with the unit that a relation came from.
    fn find_at(&mut self, origin: u32, finding: impl FnOnce(ExprId) -> Finding) {
        let (at, expr) = self.origins[origin as usize];
        if let Some(&open) = self.open_at.get(&at) {
            // A relation of a header has no expression; what fails there fails at its calls.
            if expr.index() < self.unit(at).exprs.len() {
                self.open[open].findings.push(finding(expr));
            }
        }
    }

    /// The most general type of a function that is about to be bound, as far as the variables in
    /// it belong to nothing else.
    pub(super) fn generalise(&mut self, node: NodeId) -> NodeId {
        self.solver.solve();
        let ty = self.solver.table.resolve(node);
        if ty.is_closed() {
            return node;
        }
        let mut outside = Vars::default();
        for signature in self.group.iter().flatten() {
            outside.collect(&self.solver.table.resolve(signature.node));
        }
        for open in &self.open {
            let unit = self.unit(open.at);
            for (i, known) in open.binders.iter().enumerate() {
                // The parameters of the function itself are what is generalised.
                let inside = unit.fns.iter().any(|f| f.params.contains(&BinderId(i as u32)));
                let header = unit.kind == UnitKind::Header;
                if let (Some(known), true) = (known, header || !inside)
                    && *known != node
                {
                    let ty = self.solver.table.resolve(*known);
                    if !matches!(&ty, Type::Func(_)) || header {
                        outside.collect(&ty);
                    }
                }
            }
        }
        match self.generalised(&ty, &outside) {
            Some(func) => self.solver.table.import(&func.into()),
            None => node,
        }
    }

    /// The most general types of the definitions of the group.
    fn generalise_definitions(&mut self) {
        self.solver.solve();
        for number in 0..self.group.len() {
            let Some(signature) = self.group[number].clone() else { continue };
            let ty = self.solver.table.resolve(signature.node);
            let declared = self.bodies[number].0.header().map(|h| h.type_params.clone());
            let declared = declared.unwrap_or_default();
            let func = match self.generalised(&ty, &Vars::default()) {
                Some(func) => func,
                None => match ty {
                    Type::Func(func) => (*func).clone(),
                    _ => continue,
                },
            };
            let type_params: Vec<TypeParam> =
                declared.into_iter().chain(func.type_params.iter().cloned()).collect();
            let func = FuncType { type_params: type_params.into(), ..func };
            self.signatures[number] = Some(func.into());
        }
        for open in 0..self.open.len() {
            self.generalise_expression(open);
        }
    }

    /// The most general type of a function that stands in place of a module: `fn (%x) { %x }`.
    fn generalise_expression(&mut self, open: usize) {
        let at = self.open[open].at;
        let unit = self.unit(at);
        let Some(root) = unit.root.filter(|_| unit.kind == UnitKind::Tail) else { return };
        if self.env.strict() || self.body(at).header().is_some() {
            return;
        }
        let ty = self.solver.table.resolve(self.open[open].exprs[root.index()]);
        if let Some(func) = self.generalised(&ty, &Vars::default()) {
            let ty = Type::from(func);
            self.open[open].exprs[root.index()] = self.solver.table.import(&ty);
            self.signatures[at.body as usize] = Some(ty);
        }
    }

    /// `ty` with the variables that are not `outside` made into type parameters, and with the
    /// relations over them as constraints.
    fn generalised(&mut self, ty: &Type, outside: &Vars) -> Option<FuncType> {
        let Type::Func(func) = ty else { return None };
        let mut inside = Vars::default();
        inside.collect(ty);
        inside.remove(outside);
        if inside.is_empty() {
            return None;
        }
        let mut kept = self.related(&mut inside, outside);
        // A literal that no argument has to do with is what it is by itself: `fn (%x) { (%x, 1) }`
        // gives a pair of anything and an `int32`.
        let mut given = Vars::default();
        func.params.iter().for_each(|param| given.collect(param));
        given.remove(outside);
        self.related(&mut given, outside);
        let results: Vec<types::DTypeVar> = inside
            .order
            .iter()
            .filter_map(|var| match var {
                Var::DType(dtype) if !given.known.contains(var) => Some(types::DTypeVar(*dtype)),
                _ => None,
            })
            .collect();
        if self.solver.table.default_some_literals(&results) {
            self.solver.solve();
            inside = Vars::default();
            let node = self.solver.table.import(ty);
            inside.collect(&self.solver.table.resolve(node));
            inside.remove(outside);
            kept = self.related(&mut inside, outside);
        }
        kept.sort();
        let mut params = func.type_params.to_vec();
        params.extend(self.name_params(&inside));
        self.generalised |= !inside.is_empty();
        let func = Type::Func(func.clone());
        let node = self.solver.table.import(&func);
        let func = match self.solver.table.resolve(node) {
            Type::Func(func) => (*func).clone(),
            _ => return None,
        };
        let constraints = kept.iter().map(|&id| Constraint {
            relation: self.solver.entry(id).relation.clone(),
            args: self.solver.arg_types(id).into(),
        });
        let mut constraints: Vec<Constraint> = constraints.collect();
        // `fn(%x, %y) where Broadcast { add(%x, %y) }` says it twice.
        let mut known = FxHashSet::default();
        constraints
            .retain(|c| known.insert((c.relation.name, c.args.clone(), c.relation.attrs.clone())));
        for &id in &kept {
            self.solver.release(id);
        }
        Some(FuncType { type_params: params.into(), constraints: constraints.into(), ..func })
    }

    /// The relations over these variables, which come along with them, and with the relations the
    /// variables that they relate.
    fn related(&self, inside: &mut Vars, outside: &Vars) -> Vec<RelationId> {
        let waiting: Vec<RelationId> = self.solver.waiting().map(|(id, _)| id).collect();
        let mut kept: Vec<RelationId> = Vec::new();
        loop {
            let before = kept.len();
            for &id in &waiting {
                if kept.contains(&id) {
                    continue;
                }
                let mut vars = Vars::default();
                self.solver.arg_types(id).iter().for_each(|ty| vars.collect(ty));
                if vars.overlaps(inside) {
                    vars.remove(outside);
                    inside.extend(vars);
                    kept.push(id);
                }
            }
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// Puts a fresh type parameter in the place of each variable.
    fn name_params(&mut self, vars: &Vars) -> Vec<TypeParam> {
        let mut params = Vec::new();
        let mut numbers: FxHashMap<Kind, usize> = FxHashMap::default();
        for var in &vars.order {
            let kind = match var {
                Var::Type(_) => Kind::Type,
                Var::Shape(_) => Kind::Shape,
                Var::DType(_) => Kind::BaseType,
                Var::Dim(_) => Kind::ShapeVar,
            };
            let letter = match kind {
                Kind::Type => "t",
                Kind::Shape => "s",
                Kind::BaseType => "b",
                Kind::ShapeVar => "n",
            };
            let number = numbers.entry(kind).or_insert(0);
            *number += 1;
            let id = ParamId((1 << 30) + params.len() as u32 + (self.origins.len() as u32) * 64);
            let param = TypeParam { name: format!("{letter}{number}").into(), id, kind };
            let table = &mut self.solver.table;
            match *var {
                Var::Type(var) => table.make_rigid(NodeId(var), param.clone()),
                Var::Shape(var) => table.make_shape_rigid(types::ShapeVar(var), param.clone()),
                Var::DType(var) => table.make_dtype_rigid(types::DTypeVar(var), param.clone()),
                Var::Dim(var) => table.make_dim_rigid(types::DimVar(var), &param),
            }
            params.push(param);
        }
        params
    }
}

/// Types as text, each printed once in a run.
///
/// A dump says the type of everything in comments, so that each type is compared with text many
/// times over.
#[derive(Default)]
pub(super) struct Printer {
    known: FxHashMap<usize, (Type, Box<str>)>,
    /// Types and texts, by their addresses, that agreed last; the bodies own the texts.
    agreed: Vec<Option<(Type, usize)>>,
    scratch: String,
}

/// How many agreements are remembered.
const AGREED: usize = 128;

impl Printer {
    /// The comments of a unit that are not what the types say.
    fn stale(&mut self, unit: &Unit, exprs: &[Type], binders: &[Type]) -> Vec<u32> {
        let mut stale = Vec::new();
        for (number, evidence) in unit.evidence.iter().enumerate() {
            let ty = match evidence.about {
                Subject::Expr(expr) => exprs.get(expr.index()),
                Subject::Binder(binder) => binders.get(binder.index()),
            };
            if let Some(ty) = ty
                && !self.agrees(ty, &evidence.text)
            {
                stale.push(number as u32);
            }
        }
        stale
    }

    fn agrees(&mut self, ty: &Type, text: &str) -> bool {
        let address = match ty {
            Type::Tensor(tensor) => Arc::as_ptr(tensor) as usize,
            Type::Tuple(fields) => Arc::as_ptr(fields) as *const Type as usize,
            Type::Func(func) => Arc::as_ptr(func) as usize,
            // What is not known disagrees with nothing.
            Type::Error | Type::Var(_) => return true,
            _ => 0,
        };
        if self.agreed.is_empty() {
            self.agreed.resize(AGREED, None);
        }
        let at = text.as_ptr() as usize;
        let slot = ((address >> 4) ^ (at >> 3)) % AGREED;
        if address != 0
            && let Some((known, known_at)) = &self.agreed[slot]
            && *known_at == at
            && known.is_same(ty)
        {
            return true;
        }
        if ty.strip_printed(text) == Some("") {
            self.agreed[slot] = Some((ty.clone(), at));
            return true;
        }
        if address != 0
            && let Some((_, known)) = self.known.get(&address)
        {
            return **known == *text || self.close_enough(ty, text);
        }
        self.scratch.clear();
        let _ = std::fmt::Write::write_fmt(&mut self.scratch, format_args!("{ty}"));
        let same = self.scratch == text;
        if address != 0 {
            self.known.insert(address, (ty.clone(), self.scratch.as_str().into()));
        }
        same || self.close_enough(ty, text)
    }

    /// Comments that state nothing: names that TVM made up, entries of the metadata section, types
    /// of which a part is not known; and spacing.
    fn close_enough(&self, ty: &Type, text: &str) -> bool {
        if text.contains("meta[") || text.contains("-malformed-ir") {
            return true;
        }
        if ty.has_error() || !ty.is_closed() {
            return true;
        }
        let plain =
            |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
        plain(&ty.to_string()) == plain(text)
    }
}

/// A variable of any kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Var {
    Type(u32),
    Shape(u32),
    DType(u32),
    Dim(u32),
}

/// Variables in the order in which they were met.
#[derive(Default)]
struct Vars {
    order: SmallVec<[Var; 8]>,
    known: FxHashSet<Var>,
}

impl Vars {
    fn add(&mut self, var: Var) {
        if self.known.insert(var) {
            self.order.push(var);
        }
    }

    fn collect(&mut self, ty: &Type) {
        match ty {
            Type::Var(TypeVar(var)) => self.add(Var::Type(*var)),
            Type::Tensor(tensor) => self.dims(&tensor.shape),
            Type::OpenTensor(open) => {
                match &open.shape {
                    ShapeTerm::Var(var) => self.add(Var::Shape(var.0)),
                    ShapeTerm::Dims(dims) => self.dims(dims),
                    ShapeTerm::Param(_) => {}
                }
                if let DTypeTerm::Var(var) = &open.dtype {
                    self.add(Var::DType(var.0));
                }
            }
            Type::Tuple(fields) => fields.iter().for_each(|ty| self.collect(ty)),
            Type::Func(func) => {
                func.params.iter().for_each(|ty| self.collect(ty));
                self.collect(&func.ret);
                func.constraints.iter().flat_map(|c| &c.args).for_each(|ty| self.collect(ty));
            }
            Type::Ref(inner) => self.collect(inner),
            Type::Adt(adt) => adt.args.iter().for_each(|ty| self.collect(ty)),
            Type::Param(_) | Type::Error => {}
        }
    }

    fn dims(&mut self, dims: &[types::Dim]) {
        for dim in dims {
            if let types::Dim::Var(var) = dim {
                self.add(Var::Dim(var.0));
            }
        }
    }

    fn remove(&mut self, other: &Vars) {
        self.order.retain(|var| !other.known.contains(var));
        self.known.retain(|var| !other.known.contains(var));
    }

    fn extend(&mut self, other: Vars) {
        other.order.into_iter().for_each(|var| self.add(var));
    }

    fn overlaps(&self, other: &Vars) -> bool {
        self.order.iter().any(|var| other.known.contains(var))
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

/// The type of a definition from the types of its units.
fn signature_of(body: &Body, units: &[Arc<UnitTypes>]) -> Option<Type> {
    let tail = body.units.iter().zip(units).rfind(|(unit, _)| unit.kind == UnitKind::Tail);
    let result = tail.and_then(|(unit, types)| Some(types.expr(unit.root?).clone()));
    let Some(header) = body.header() else { return result };
    let params = header.params.iter().map(|&binder| units[0].binder(binder).clone());
    let ret = header.ret.clone().filter(|ty| ty.is_closed()).or(result).unwrap_or(Type::Error);
    let func = FuncType {
        type_params: header.type_params.clone().into(),
        params: params.collect(),
        ret,
        constraints: [].into(),
    };
    Some(func.into())
}

/// What other definitions can see of a type: variables belong to the table that they were found in.
///
/// `def @empty() { Nil }` gives a list of something that nobody knows.
fn known_part(ty: &Type) -> Type {
    if ty.is_closed() {
        return ty.clone();
    }
    types::map_leaves(ty, &mut |leaf| if leaf.is_closed() { leaf.clone() } else { Type::Error })
}

/// A place in the group, for messages.
impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.body, self.unit)
    }
}
