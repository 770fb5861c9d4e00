//! Type inference of a body.
//!
//! Units are inferred in order, in *solver batches*. A batch is closed as soon as the types of all
//! its variables are known: its types are frozen, later units see only those, and the table of the
//! solver is cleared. In a module whose parameters are all annotated, each statement is a batch.
//!
//! ```text
//! %0 = nn.dense(%x, %w, units=64);   // batch 1: the type of %0 is known
//! %1 = fn (%y) { add(%y, %0) };      // batch 2: the type of %1 is open until its first call,
//! %2 = %1(%0);                       //          which is part of the batch
//! ```
//!
//! An edit therefore costs the statement and those whose inputs it changed: a unit with the same
//! inputs as before keeps its types ([`reuse`]), and equal units are solved once ([`repeated`]).

mod assume;
mod batch;
mod bits;
mod branches;
mod call;
mod comments;
mod constants;
mod demand;
mod env;
mod expr;
mod finding;
mod freeze;
mod frozen;
mod function;
mod generalise;
mod learned;
mod pattern;
mod printed;
mod repeated;
mod results;
mod reuse;
mod sizes;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use types::{DTypeTerm, Level, NodeId, Param, Solver, Type};

pub use crate::metadata::MetaEntry;
pub use crate::relations::typing_rule;
use crate::{body::*, features::UnitFeatures, scope::Scopes};
use batch::{Batch, OpenUnit};
pub use env::{Env, Global, ModuleData};
pub use finding::{
    DependsOn, Finding, FindingKind, FindingSubject, Mismatch, Remark, TypeLimit, UnresolvedName,
};
use frozen::FrozenUnits;
pub(crate) use learned::mentions;
use learned::{LearnedFacts, settled};
use repeated::SolvedUnits;
pub use results::{Inference, Numeric, UnitTypes};
pub(crate) use reuse::TypedBody;
use reuse::{Inputs, Replacements, UnitReuse};

/// The inference of another body, reused where nothing differs.
struct Memo<'m> {
    body: &'m Body,
    /// The names of that body; the same allocation as those of the new one if no name differs.
    scopes: &'m Scopes,
    inference: &'m Inference,
}

/// Infers definitions that depend on each other, or whose types are open, in one table. `groups`
/// lists the numbers of definitions that are generalised together, dependencies first. With
/// `keeps_weak`, all uses of the definitions are among the bodies, and types held in references are
/// not generalised.
pub fn infer_groups(
    bodies: &[(&Body, &Scopes)],
    groups: &[Vec<usize>],
    keeps_weak: bool,
    env: &dyn Env,
) -> Vec<Inference> {
    let infer = settled(bodies, env, |infer| {
        infer.keeps_weak = keeps_weak;
        infer.whole_groups(groups);
    });
    infer.finish(None)
}

/// The number of nodes that every definition may allocate.
const LEAST_BUDGET: usize = 1_000_000;

/// Returns the maximum number of nodes of the table for `bodies`. A call of an operator allocates
/// about five, a call of a function as many as its type has. A definition with more than a hundred
/// per expression multiplies types, such as by nested calls of `fn (%x) { (%x, %x) }`.
fn budget(bodies: &[(&Body, &Scopes)]) -> usize {
    let units = bodies.iter().flat_map(|(body, _)| &body.units);
    LEAST_BUDGET + 100 * units.map(|unit| unit.exprs.len()).sum::<usize>()
}

/// A unit of the group: the number of its body, and its number there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct UnitRef {
    body: u32,
    unit: UnitId,
}

/// Inference of a group of bodies.
struct Infer<'a> {
    bodies: &'a [(&'a Body, &'a Scopes)],
    env: &'a dyn Env,
    solver: Solver,
    batch: Batch,
    /// What is known of the definition of each body.
    defs: Vec<Definition>,
    /// The level of the table before each expression of the current unit.
    levels: Vec<Level>,
    /// For the unit and each function around the current expression: the number of expressions up
    /// to the last one with an effect.
    effects: Vec<u32>,
    /// True if the whole group is inferred in one table, in TVM's order.
    whole: bool,
    /// Variables whose annotations are ignored because TVM may have printed them; `None` if
    /// annotations are never ignored.
    printed: Option<Vec<(UnitRef, BinderId)>>,
    /// What is known of written type parameters before the bodies are inferred.
    learned: LearnedFacts,
    /// What this run has found of them.
    found: LearnedFacts,
    /// True if types held in references are not generalised: all uses of the definitions are here.
    keeps_weak: bool,
    /// True if inference has exceeded its budget and has been abandoned.
    exhausted: bool,
    /// True if a known type has changed because a `?` was unified with a size. Earlier and later
    /// uses then disagree, and the body has to be inferred in one table.
    entangled: bool,
    /// The operators that are suggested for unknown names.
    similar: FxHashMap<Name, Option<&'static operators::Operator>>,
    printer: comments::Printer,
}

/// What inference has found out about a definition.
#[derive(Default)]
struct Definition {
    /// Frozen units, up to the last one that was begun.
    done: FrozenUnits,
    /// The numbers of the frozen units that are not plain, in order.
    units_with_findings: Vec<u32>,
    /// The function type, where it is open.
    declared: Option<DeclaredSignature>,
    /// The inferred type.
    signature: Option<Type>,
    /// The type parameters that stand for data types of literals.
    numeric: Vec<Param>,
    /// True if its type has a part that may not be generalised, because a reference holds it.
    weak: bool,
}

/// The type of a definition of the group, or of a function that may be recursive, before its body is inferred.
#[derive(Clone)]
struct DeclaredSignature {
    params: SmallVec<[NodeId; 4]>,
    ret: NodeId,
    /// The function, polymorphic in the type parameters that are written.
    node: NodeId,
}

/// The choice of a use of a polymorphic type.
#[derive(Clone, Debug)]
enum Instance {
    /// Data types, one for each parameter that is the data type of a literal.
    DTypes(Vec<DTypeTerm>),
    /// The type parameters of a definition of the group, by number: within the group all uses are
    /// of one type.
    Member(usize),
}

impl<'a> Infer<'a> {
    fn new(bodies: &'a [(&'a Body, &'a Scopes)], env: &'a dyn Env) -> Infer<'a> {
        let mut solver = Solver::new();
        solver.keep_caveats(env.strict());
        let definition = |(body, _): &(&Body, &Scopes)| Definition {
            done: FrozenUnits::with_capacity(body.units.len()),
            ..Definition::default()
        };
        Infer {
            bodies,
            env,
            solver,
            batch: Batch::default(),
            defs: bodies.iter().map(definition).collect(),
            levels: Vec::new(),
            effects: Vec::new(),
            whole: false,
            printed: None,
            learned: LearnedFacts::default(),
            found: LearnedFacts::default(),
            keeps_weak: false,
            exhausted: false,
            entangled: false,
            similar: FxHashMap::default(),
            printer: comments::Printer::default(),
        }
    }

    fn body(&self, at: UnitRef) -> &'a Body {
        self.bodies[at.body as usize].0
    }

    fn unit(&self, at: UnitRef) -> &'a Unit {
        self.body(at).unit(at.unit)
    }

    /// Infers unit by unit, one batch after the other.
    fn ordered(&mut self, memo: Option<&Memo<'_>>) {
        let (body, scopes) = self.bodies[0];
        let mut known = memo.map(|memo| UnitReuse::new(memo, body, scopes));
        let count = body.units.len();
        let mut repeated = SolvedUnits::default();
        let mut replaced = Replacements::default();
        let mut next = 0;
        let mut inputs = Vec::new();
        while next < count {
            self.env.poll();
            let unit = next;
            let at = UnitRef { body: 0, unit: UnitId(unit as u32) };
            let mut compared = Inputs::Different;
            let mut types = None;
            if let Some(known) = known.as_mut().filter(|_| self.batch.units.is_empty()) {
                types = known.get(unit);
                if types.is_some() {
                    compared = known.compare(unit, body);
                }
                if compared == Inputs::Same {
                    let (types, before) = known.unchanged_from(unit);
                    if !before.is_empty() {
                        next += before.len();
                        self.defs[0].done.extend(types, before);
                        continue;
                    }
                }
            }
            next += 1;
            let names = scopes.unit(at.unit);
            if compared != Inputs::Same {
                inputs.clear();
                self.add_inputs(at, names.clone(), &mut inputs);
            }
            if let Some(types) = types
                && (compared == Inputs::Same
                    || compared == Inputs::Unknown && types.has_inputs(&inputs))
            {
                self.reuse(unit, types.clone());
                continue;
            }
            let of_unit = &body.units[unit];
            let is_keyed =
                self.batch.units.is_empty() && repeated::has_key(of_unit, &inputs, names.clone());
            if is_keyed && let Some(solved) = repeated.get(of_unit, &inputs) {
                if let Some(known) = &mut known {
                    known.note_changes(unit, &[Some(solved.clone())]);
                    if let Some(before) = types.filter(|_| names.clone().all(|name| name.is_some()))
                    {
                        replaced.insert(before, &solved, &inputs);
                    }
                }
                self.reuse(unit, solved);
                if let Some(known) = known.as_mut().filter(|_| types.is_some()) {
                    next = self.follow(next, known, &replaced);
                }
                continue;
            }
            self.defs[0].done.begin(unit + 1);
            self.run(at, std::mem::take(&mut inputs));
            self.solve();
            if unit + 1 == count || self.is_closed() {
                self.close(unit + 1 == count);
                if self.entangled {
                    return;
                }
                if let Some(known) = &mut known {
                    let done = &mut self.defs[0].done;
                    done.for_each_open(|number, types| known.share(number, body, types));
                }
                if let Some(types) = self.defs[0].done.get(unit).filter(|_| is_keyed) {
                    repeated.insert(of_unit, types);
                }
                if let Some(known) = &mut known {
                    let (first, types) = self.defs[0].done.open();
                    known.note_changes(first, types);
                }
                self.defs[0].done.close();
            }
        }
        self.close(true);
    }

    /// Gives the units from `first` on the types that replace their previous ones. Returns the first unit that none are
    /// known for.
    fn follow(
        &mut self,
        first: usize,
        known: &mut UnitReuse<'_>,
        replaced: &Replacements<'_>,
    ) -> usize {
        let before = known.plain_types(first);
        let units = first..first + before.len();
        let names = self.bodies[0].1.units(units.clone());
        for ((unit, before), names) in units.clone().zip(before).zip(names) {
            let inputs = names.map(|name| self.frozen(0, name?));
            let Some((types, is_changed)) = replaced.get(before, inputs) else { return unit };
            let types = types.clone();
            known.note_followed(unit, is_changed);
            self.reuse(unit, types);
        }
        units.end
    }

    /// Takes the types of a unit of the first body from elsewhere.
    fn reuse(&mut self, unit: usize, types: Arc<UnitTypes>) {
        if types.has_findings() {
            self.defs[0].units_with_findings.push(unit as u32);
        }
        self.defs[0].done.push(types);
    }

    /// Infers all bodies as one group, in one table.
    fn whole(&mut self) {
        self.whole_groups(&[(0..self.bodies.len()).collect()]);
    }

    /// Infers one group after the other, in one table.
    fn whole_groups(&mut self, groups: &[Vec<usize>]) {
        self.whole = true;
        for (def, (body, _)) in self.defs.iter_mut().zip(self.bodies) {
            def.done.begin(body.units.len());
        }
        for group in groups {
            let level = self.solver.table.level();
            for &number in group {
                self.declare(number, self.bodies[number].0);
            }
            for &number in group {
                for unit in 0..self.bodies[number].0.units.len() {
                    self.env.poll();
                    let at = UnitRef { body: number as u32, unit: UnitId(unit as u32) };
                    let mut inputs = Vec::new();
                    let names = self.bodies[number].1.unit(at.unit);
                    self.add_inputs(at, names, &mut inputs);
                    self.run(at, inputs);
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

    /// Returns true if the types of all variables of the open batch are known.
    fn is_closed(&mut self) -> bool {
        let table = &self.solver.table;
        if table.open_vars() == 0 && !table.may_have_open_parts() && !table.has_open_literals() {
            return true;
        }
        // Abandoned relations are reported at the end of the definition.
        if self.exhausted || !self.has_decided_constants() {
            return false;
        }
        self.batch.units.iter().all(|open| {
            let unit = &self.bodies[open.at.body as usize].0.unit(open.at.unit);
            let is_closed = |node: NodeId| self.solver.table.resolve(node).is_closed();
            unit.exported().all(|binder| open.binders[binder.index()].is_none_or(is_closed))
        })
    }

    /// Adds the inputs of a unit to an empty list: the types of its free `names`, of the globals that it uses, and for the
    /// tail expression the written result. The order is fixed.
    fn add_inputs(
        &self,
        at: UnitRef,
        names: impl Iterator<Item = Option<LocalRef>>,
        inputs: &mut Vec<Type>,
    ) {
        let (body, _) = self.bodies[at.body as usize];
        let unit = body.unit(at.unit);
        for binding in names {
            // No known type is `_`: a name that refers to nothing is inferred in another way than one of unknown type.
            let Some(binding) = binding else {
                inputs.push(Type::Hole);
                continue;
            };
            inputs.push(self.frozen(at.body, binding).cloned().unwrap_or(Type::Error));
        }
        if unit.features.contains(UnitFeatures::GLOBAL) {
            for (name, _) in unit.globals() {
                let (mark, ty) = match self.env.global(name) {
                    Global::Known(ty) => (None, ty),
                    Global::Written(ty) => (Some(Type::Hole), ty),
                    Global::Group(_) => (Some(Type::Hole), Type::Hole),
                    Global::Opaque => (Some(Type::Hole), Type::Error),
                    Global::Missing => (Some(Type::Hole), Type::unit()),
                };
                inputs.extend(mark);
                inputs.push(ty);
            }
        }
        if unit.kind == UnitKind::Tail {
            inputs.extend(body.header().and_then(|header| header.ret.clone()));
        }
    }

    /// Returns the type of a variable whose unit is frozen.
    fn frozen(&self, body: u32, binding: LocalRef) -> Option<&Type> {
        let types = self.defs[body as usize].done.get(binding.unit.index())?;
        Some(types.use_of(binding.binder))
    }

    /// Returns the node of a variable bound outside the current unit.
    fn outer_variable(&mut self, body: u32, binding: LocalRef) -> NodeId {
        let at = UnitRef { body, unit: binding.unit };
        if let Some(&open) = self.batch.indices.get(&at) {
            let known = self.batch.units[open].binders[binding.binder.index()];
            return known.unwrap_or_else(|| self.solver.table.import(&Type::Error));
        }
        if let Some(&node) = self.batch.imported.get(&(body, binding)) {
            return node;
        }
        let ty = self.frozen(body, binding).cloned().unwrap_or(Type::Error);
        let node = self.solver.table.import(&ty);
        self.batch.imported.insert((body, binding), node);
        node
    }

    /// Infers one unit as part of the open batch.
    fn run(&mut self, at: UnitRef, inputs: Vec<Type>) {
        let unit = self.unit(at);
        self.batch.indices.insert(at, self.batch.units.len());
        self.batch.units.push(OpenUnit {
            at,
            exprs: Vec::with_capacity(unit.exprs.len()),
            binders: vec![None; unit.binders.len()],
            findings: Vec::new(),
            inputs,
            instances: Vec::new(),
            numeric: Vec::new(),
            functions: Vec::new(),
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

    /// Returns true as long as inference is within its budget. Reports once if it is not.
    fn has_budget(&mut self, expr: ExprId) -> bool {
        let nodes = self.solver.table.len();
        if !self.exhausted && nodes > LEAST_BUDGET && nodes > budget(self.bodies) {
            self.exhausted = true;
            self.find(Finding::of_text(FindingSubject::Expr(expr), FindingKind::Budget));
        }
        !self.exhausted
    }

    fn current(&mut self) -> &mut OpenUnit {
        let last = self.batch.units.len() - 1;
        &mut self.batch.units[last]
    }

    fn node(&self, expr: ExprId) -> NodeId {
        self.batch.units[self.batch.units.len() - 1].exprs[expr.index()]
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
