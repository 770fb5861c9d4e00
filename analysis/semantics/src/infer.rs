//! Types of a body.
//!
//! Units are inferred in order. As long as the types of everything that a stretch of units binds
//! are known when the stretch ends, the stretch stands on its own: later units see frozen types,
//! and the table starts afresh. In a module where every parameter has its type, each statement is
//! such a stretch, so that an edit costs the statement and those whose inputs it changed; the
//! rest is found again by comparing inputs.

mod assume;
mod call;
mod comments;
mod constants;
mod demand;
mod expr;
mod finding;
mod freeze;
mod function;
mod generalise;
mod pattern;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use types::{DTypeTerm, Level, NodeId, Param, ParamId, RelationId, Solver, Type};

use crate::{
    body::*,
    module::ModuleTypes,
    scope::{Binding, Scopes},
    traits::Traits,
};
pub use finding::{Finding, Mismatch};
pub use freeze::{Inference, Numeric, UnitTypes};

/// What inference asks of the world around a body.
pub trait Env {
    /// Data types and constructors.
    fn types(&self) -> &ModuleTypes;
    /// The type of a global, if it is defined.
    fn global(&self, name: &str) -> Global;
    /// The type of a constant of the metadata section.
    fn constant(&self, key: &str, index: u32) -> MetaEntry<Type>;
    /// A symbolic size of the metadata section.
    fn dim(&self, symbol: types::SymbolId) -> Option<types::Dim>;
    /// Attributes of the metadata section.
    fn attrs(&self, key: &str, index: u32) -> MetaEntry<types::Attrs>;
    /// One attribute value of the metadata section.
    fn value(&self, key: &str, index: u32) -> MetaEntry<types::AttrValue>;
    /// Whether types are found exactly as TVM finds them: literals without suffix are 32-bit
    /// integers whatever stands beside them, a function has type parameters only where they are
    /// written, and of other definitions nothing is known but their headers.
    fn strict(&self) -> bool;
    /// Ends inference by unwinding, if nobody waits for it any more. Asked once a unit.
    fn poll(&self) {}
}

/// What a global is.
#[derive(Clone, Debug, PartialEq)]
pub enum Global {
    /// A function of this type.
    Known(Type),
    /// A function whose header says this much of its type.
    Written(Type),
    /// A definition of the group that is being inferred, by number.
    Group(usize),
    /// Defined, but of no type that could be known: an external function.
    Opaque,
    /// Not defined.
    Missing,
}

/// A look into the metadata section.
#[derive(Clone, Debug, PartialEq)]
pub enum MetaEntry<T> {
    /// The entry.
    Found(T),
    /// The module has no metadata section.
    NoSection,
    /// The section has no such entry.
    Missing,
    /// The entry is something else.
    Wrong,
}

/// What was inferred before, to be taken over where nothing changed.
pub struct Memo<'m> {
    /// The body as it was.
    pub body: &'m Body,
    /// Its names: the same, in memory too, where no name has changed since.
    pub scopes: &'m Scopes,
    /// Its types.
    pub inference: &'m Inference,
}

/// Infers a body whose parameters are all typed, unit by unit.
pub fn infer_ordered(
    body: &Body,
    scopes: &Scopes,
    env: &dyn Env,
    memo: Option<&Memo<'_>>,
) -> Inference {
    let bodies = [(body, scopes)];
    let mut infer = Infer::new(&bodies, env);
    infer.ordered(memo);
    if infer.entangled {
        infer = Infer::new(&bodies, env);
        infer.whole();
    }
    infer.finish().pop().unwrap_or_default()
}

/// Infers definitions that need each other, or whose types are open, all at once. `groups` are the
/// numbers of those that are generalised together, each after those that it needs. Where all uses of
/// a definition are among the bodies, `keeps_weak`, what it holds in references is not generalised.
pub fn infer_groups(
    bodies: &[(&Body, &Scopes)],
    groups: &[Vec<usize>],
    keeps_weak: bool,
    env: &dyn Env,
) -> Vec<Inference> {
    let mut infer = Infer::new(bodies, env);
    infer.keeps_weak = keeps_weak;
    infer.whole_groups(groups);
    infer.finish()
}

/// The nodes that any definition may take.
const LEAST_BUDGET: usize = 1_000_000;

/// The most nodes that the table for `bodies` may have. An operator takes some five of them, and a
/// call of a function as many as its type has; a definition that takes a hundred for each
/// expression multiplies types.
fn budget(bodies: &[(&Body, &Scopes)]) -> usize {
    let units = bodies.iter().flat_map(|(body, _)| &body.units);
    LEAST_BUDGET + 100 * units.map(|unit| unit.exprs.len()).sum::<usize>()
}

/// Where a unit is: the number of its body in the group, and its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct At {
    body: u32,
    unit: u32,
}

/// Inference of a group of bodies.
struct Infer<'a> {
    bodies: &'a [(&'a Body, &'a Scopes)],
    env: &'a dyn Env,
    solver: Solver,
    /// Frozen units, by body.
    done: Vec<Vec<Option<Arc<UnitTypes>>>>,
    /// The units of the open stretch.
    open: Vec<OpenUnit>,
    /// The age of the table before each expression of the unit under way.
    levels: Vec<Level>,
    /// For the unit and each function around the expression under way: the number of expressions
    /// up to the last one that is more than a value.
    effects: Vec<u32>,
    /// Where each open unit is in `open`.
    open_at: FxHashMap<At, usize>,
    /// Types of bindings outside the stretch, one node each, so that what they share stays shared.
    imported: FxHashMap<(u32, Binding), NodeId>,
    /// What each relation came from.
    origins: Vec<(At, ExprId)>,
    /// Globals that have one type in the definition: those of which only a part of the type is
    /// known, and all of them where everything stands in one table.
    globals: FxHashMap<Name, NodeId>,
    /// Everything stands in one table, and types are found in TVM's order.
    whole: bool,
    /// Relations up to here have been looked at.
    reported: usize,
    /// The function types of the group, where they are open.
    group: Vec<Option<GroupSignature>>,
    /// The types of the definitions, once found.
    signatures: Vec<Option<Type>>,
    /// The type parameters of the definitions that stand for data types of literals.
    numeric: Vec<Vec<Param>>,
    /// Definitions of which a part of the type may not be generalised: what a reference holds.
    weak: Vec<bool>,
    /// The type parameters of functions, as written, with those of the table.
    rigid: FxHashMap<ParamId, Param>,
    /// Variables that are bound to constants of open data types.
    constants: constants::Constants,
    /// Relations that `where` clauses say.
    given: Vec<RelationId>,
    /// The first relation that came up in each function with type parameters.
    first_relations: FxHashMap<(At, FnId), usize>,
    /// Relations that neither hold nor fail, and whose results have been given up.
    given_up: FxHashSet<RelationId>,
    /// Functions that have been declared before their bodies, by unit and number.
    declared: FxHashMap<(At, FnId), function::Declared>,
    /// The result of the definition under way, where it is inferred statement by statement.
    result: Option<NodeId>,
    /// What definitions hold in references is not generalised, because all of their uses are here.
    keeps_weak: bool,
    /// Inference has taken more room than it may, and has been given up.
    exhausted: bool,
    /// A type that was known has changed: a `?` met a size. Who saw it before is of another type
    /// than who sees it now, so that everything has to stand in one table.
    entangled: bool,
    /// Something got a type that is more general than what was written.
    generalised: bool,
    /// Some type of the body depends on an assumed one.
    assumed: bool,
    printer: comments::Printer,
}

/// The type of a definition of the group while it is inferred.
#[derive(Clone)]
struct GroupSignature {
    params: SmallVec<[NodeId; 4]>,
    ret: NodeId,
    /// The function, polymorphic in the type parameters that are written.
    node: NodeId,
}

/// A unit whose types are not frozen yet.
struct OpenUnit {
    at: At,
    exprs: Vec<NodeId>,
    binders: Vec<Option<NodeId>>,
    findings: Vec<Finding>,
    /// What was asked of the world around, for the memo.
    inputs: Vec<Type>,
    /// Uses of polymorphic types, with the data types that they choose for literals.
    instances: Vec<(ExprId, Instance)>,
    /// Variables of polymorphic types, with the parameters that stand for data types of literals.
    numeric: Vec<(BinderId, Vec<Param>)>,
    /// Literals whose data type each use of a constant chooses.
    constants: Vec<(ExprId, Param)>,
    /// Expressions of which the type is assumed, because of an error.
    assumed: Vec<ExprId>,
}

/// What a use of a polymorphic type chooses.
#[derive(Clone, Debug)]
enum Instance {
    /// Data types, one for each parameter that stands for that of a literal.
    DTypes(Vec<DTypeTerm>),
    /// The type parameters of a definition of the group, by number: within the group all uses are
    /// of one type.
    Member(usize),
}

impl<'a> Infer<'a> {
    fn new(bodies: &'a [(&'a Body, &'a Scopes)], env: &'a dyn Env) -> Infer<'a> {
        Infer {
            bodies,
            env,
            solver: Solver::new(),
            done: bodies.iter().map(|(body, _)| vec![None; body.units.len()]).collect(),
            open: Vec::new(),
            levels: Vec::new(),
            effects: Vec::new(),
            open_at: FxHashMap::default(),
            imported: FxHashMap::default(),
            origins: Vec::new(),
            globals: FxHashMap::default(),
            whole: false,
            reported: 0,
            group: vec![None; bodies.len()],
            signatures: vec![None; bodies.len()],
            numeric: vec![Vec::new(); bodies.len()],
            weak: vec![false; bodies.len()],
            rigid: FxHashMap::default(),
            constants: constants::Constants::default(),
            given: Vec::new(),
            first_relations: FxHashMap::default(),
            given_up: FxHashSet::default(),
            declared: FxHashMap::default(),
            result: None,
            keeps_weak: false,
            exhausted: false,
            entangled: false,
            generalised: false,
            assumed: false,
            printer: comments::Printer::default(),
        }
    }

    fn body(&self, at: At) -> &'a Body {
        self.bodies[at.body as usize].0
    }

    fn unit(&self, at: At) -> &'a Unit {
        &self.body(at).units[at.unit as usize]
    }

    /// Unit by unit, one stretch after the other.
    fn ordered(&mut self, memo: Option<&Memo<'_>>) {
        let (body, scopes) = self.bodies[0];
        let mut known = memo.map(|memo| Known::new(memo, body, scopes));
        let count = body.units.len();
        let mut first_open = 0;
        for unit in 0..count {
            self.env.poll();
            let at = At { body: 0, unit: unit as u32 };
            if self.open.is_empty() {
                if let Some(known) = &mut known
                    && let Some(types) = known.get(unit)
                    && (known.sees_the_same(unit, body, scopes) || self.inputs_hold(at, types))
                {
                    self.assumed |= types.assumed.is_some();
                    self.done[0][unit] = Some(types.clone());
                    continue;
                }
                first_open = unit;
            }
            self.run(at);
            self.solve();
            if unit + 1 == count || self.is_closed() {
                self.close(unit + 1 == count);
                if self.entangled {
                    return;
                }
                if let Some(known) = &mut known {
                    known.note_changes(first_open, &self.done[0][first_open..=unit]);
                }
            }
        }
        self.close(true);
    }

    /// Everything in one table.
    fn whole(&mut self) {
        self.whole_groups(&[(0..self.bodies.len()).collect()]);
    }

    /// Everything in one table, one group after the other.
    fn whole_groups(&mut self, groups: &[Vec<usize>]) {
        self.whole = true;
        for group in groups {
            let level = self.solver.table.level();
            for &number in group {
                self.declare(number, self.bodies[number].0);
            }
            for &number in group {
                for unit in 0..self.bodies[number].0.units.len() {
                    self.env.poll();
                    self.run(At { body: number as u32, unit: unit as u32 });
                }
            }
            self.solve_all();
            self.generalise_group(group, level);
        }
        if self.keeps_weak {
            self.generalise_weak();
        }
        self.close(true);
        self.entangled = false;
    }

    /// Whether the open stretch leaves nothing open behind it.
    fn is_closed(&mut self) -> bool {
        let table = &self.solver.table;
        if table.open_vars() == 0 && !table.may_have_open_parts() && !table.has_open_literals() {
            return true;
        }
        // What is given up is reported at the end of the definition.
        if self.exhausted || !self.has_settled() {
            return false;
        }
        self.open.iter().all(|open| {
            let unit = &self.bodies[open.at.body as usize].0.units[open.at.unit as usize];
            let closed = |binder: &BinderId| match open.binders[binder.index()] {
                Some(node) => self.solver.table.resolve(node).is_closed(),
                None => true,
            };
            unit.binds.iter().all(closed)
                && unit.header().is_none_or(|header| header.params.iter().all(closed))
        })
    }

    /// Whether a unit would see the same types around it as when `types` were found.
    fn inputs_hold(&self, at: At, types: &UnitTypes) -> bool {
        let mut before = types.inputs.iter();
        let mut same = |now: Type| match before.next() {
            Some(then) => then.is_same(&now) || *then == now,
            None => false,
        };
        for input in self.inputs_of(at) {
            if !same(input) {
                return false;
            }
        }
        before.next().is_none()
    }

    /// The types of what a unit takes from outside, in a fixed order.
    fn inputs_of(&self, at: At) -> impl Iterator<Item = Type> {
        let (body, scopes) = self.bodies[at.body as usize];
        let unit = &body.units[at.unit as usize];
        let frees = scopes.unit(at.unit as usize).iter().flat_map(move |binding| match binding {
            // Errors are reported or not, depending on what is assumed.
            Some(binding) => {
                let is_assumed = self.assumed && self.is_assumed_outside(at.body, *binding);
                let ty = self.frozen(at.body, *binding).unwrap_or(Type::Error);
                [Some(ty), is_assumed.then_some(Type::Hole)]
            }
            None => [Some(Type::Error), None],
        });
        let frees = frees.flatten();
        let globals = unit.globals().map(|(name, _)| match self.env.global(name) {
            Global::Known(ty) | Global::Written(ty) => ty,
            Global::Group(_) | Global::Opaque => Type::Error,
            Global::Missing => Type::unit(),
        });
        let ret = (unit.kind == UnitKind::Tail)
            .then(|| body.header().and_then(|header| header.ret.clone()))
            .flatten();
        frees.chain(globals).chain(ret)
    }

    /// The type of a binding whose unit is frozen.
    fn frozen(&self, body: u32, binding: Binding) -> Option<Type> {
        let types = self.done[body as usize].get(binding.unit as usize)?.as_ref()?;
        Some(types.use_of(binding.binder).clone())
    }

    /// The node of a variable bound outside the current unit.
    fn outer_variable(&mut self, body: u32, binding: Binding) -> NodeId {
        let at = At { body, unit: binding.unit };
        if let Some(&open) = self.open_at.get(&at) {
            let known = self.open[open].binders[binding.binder.index()];
            return known.unwrap_or_else(|| self.solver.table.import(&Type::Error));
        }
        if let Some(&node) = self.imported.get(&(body, binding)) {
            return node;
        }
        let ty = self.frozen(body, binding).unwrap_or(Type::Error);
        let node = self.solver.table.import(&ty);
        self.imported.insert((body, binding), node);
        node
    }

    /// Infers one unit into the open stretch.
    fn run(&mut self, at: At) {
        let unit = self.unit(at);
        self.open_at.insert(at, self.open.len());
        let inputs = self.inputs_of(at).collect();
        self.open.push(OpenUnit {
            at,
            exprs: Vec::with_capacity(unit.exprs.len()),
            binders: vec![None; unit.binders.len()],
            findings: Vec::new(),
            inputs,
            instances: Vec::new(),
            numeric: Vec::new(),
            constants: Vec::new(),
            assumed: Vec::new(),
        });
        self.levels.clear();
        self.effects.clear();
        self.effects.push(0);
        if unit.kind == UnitKind::Header {
            self.header(at);
        }
        for index in 0..unit.exprs.len() {
            let level = self.solver.table.level();
            self.levels.push(level);
            let expr = ExprId(index as u32);
            let node = if self.has_budget(expr) { self.expr(at, expr) } else { self.error_node() };
            let node = self.or_assumed(at, expr, node);
            self.current().exprs.push(node);
        }
        if unit.kind == UnitKind::FreeVar
            && let Some(binder) = unit.binds
        {
            let node = self.annotated(at, binder);
            self.set_binder(binder, node);
        }
        if unit.kind == UnitKind::Tail
            && let Some(root) = unit.root
        {
            self.result(at, root);
        }
    }

    /// Returns true as long as inference keeps within its limits. Says so once where it does not.
    fn has_budget(&mut self, expr: ExprId) -> bool {
        let nodes = self.solver.table.len();
        if !self.exhausted && nodes > LEAST_BUDGET && nodes > budget(self.bodies) {
            self.exhausted = true;
            self.find(Finding::Budget { expr });
        }
        !self.exhausted
    }

    fn current(&mut self) -> &mut OpenUnit {
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn node(&self, expr: ExprId) -> NodeId {
        self.open[self.open.len() - 1].exprs[expr.index()]
    }

    fn set_binder(&mut self, binder: BinderId, node: NodeId) {
        self.current().binders[binder.index()] = Some(node);
    }

    fn find(&mut self, finding: Finding) {
        self.current().findings.push(finding);
    }

    fn error_node(&mut self) -> NodeId {
        self.solver.table.import(&Type::Error)
    }
}

/// Which units of a body were there before, unchanged.
struct Known<'m> {
    memo: &'m Memo<'m>,
    prefix: usize,
    suffix: usize,
    count: usize,
    /// Where no name has changed: whether each unit gives other types to those behind it.
    changed: Option<Vec<bool>>,
    /// Units that name globals, the next last.
    globals: Vec<usize>,
}

impl<'m> Known<'m> {
    fn new(memo: &'m Memo<'m>, body: &Body, scopes: &Scopes) -> Known<'m> {
        let (new, old) = (&body.units, &memo.body.units);
        let same = |(a, b): &(&Arc<Unit>, &Arc<Unit>)| Arc::ptr_eq(a, b);
        let prefix = new.iter().zip(old).take_while(same).count();
        let shorter = new.len().min(old.len()) - prefix;
        let suffix = new.iter().rev().zip(old.iter().rev()).take(shorter).take_while(same).count();
        let changed =
            Arc::ptr_eq(&memo.scopes.names, &scopes.names).then(|| vec![false; new.len()]);
        let mut globals: Vec<usize> = scopes.units_with(Traits::GLOBAL).collect();
        globals.reverse();
        Known { memo, prefix, suffix, count: new.len(), changed, globals }
    }

    /// Whether all that `unit` takes from outside comes from units that give the same as before.
    /// Asked in order; what takes more than variables from outside is to be compared.
    fn sees_the_same(&mut self, unit: usize, body: &Body, scopes: &Scopes) -> bool {
        let Some(changed) = &self.changed else { return false };
        while self.globals.pop_if(|global| *global < unit).is_some() {}
        // An expression that a lost `;` leaves in the middle takes the result of the header, too.
        let is_tail = body.units[unit].kind == UnitKind::Tail;
        let takes_more = self.globals.last() == Some(&unit) || is_tail;
        let is_same = |binding: &Binding| !changed[binding.unit as usize];
        !takes_more && scopes.unit(unit).iter().flatten().all(is_same)
    }

    /// Types of the units from `first` on have been found anew.
    fn note_changes(&mut self, first: usize, done: &[Option<Arc<UnitTypes>>]) {
        let Some(changed) = &mut self.changed else { return };
        for (unit, types) in (first..).zip(done) {
            let before = self.memo.inference.units.get(unit);
            let same = before.zip(types.as_ref()).is_some_and(|(a, b)| {
                a.binders == b.binders
                    && a.numeric == b.numeric
                    && a.assumed_binders() == b.assumed_binders()
            });
            changed[unit] = !same;
        }
    }

    fn get(&self, unit: usize) -> Option<&'m Arc<UnitTypes>> {
        let old = &self.memo.inference.units;
        let index = if unit < self.prefix {
            unit
        } else if self.count - unit <= self.suffix {
            old.len().checked_sub(self.count - unit)?
        } else {
            return None;
        };
        // At the end of a definition it is decided what stays open.
        let is_end = |unit: usize, count: usize| unit + 1 == count;
        if is_end(unit, self.count) != is_end(index, old.len()) {
            return None;
        }
        // Units inferred together with others are not taken over one by one. Nor is an end whose
        // type is generalised, or held by a reference: the type of the definition is made from the
        // table, which knows more than the types of its units.
        let is_generalised =
            |types: &UnitTypes| is_end(unit, self.count) && (types.generalised || types.open);
        old.get(index).filter(|types| types.alone && !is_generalised(types))
    }
}
