//! The solver: a worklist of type relations.
//!
//! A relation that needs an unknown type waits for its variables and is queued again when one of
//! them becomes known, so that the order of the statements does not matter.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::{
    Call, Constraint, Halt, Level, NodeId, Reason, Relation, RelationFn, RelationKey, Table, Type,
    Var, Vars,
};

/// The index of a relation in a [`Solver`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelationId(pub u32);

/// The state of a relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// Not decided: a required type is unknown.
    Waiting,
    /// The relation holds.
    Solved,
    /// The relation neither holds nor fails, see [`Halt::Undecided`].
    Undecided(Box<Reason>),
    /// The relation does not hold.
    Failed(Box<Reason>),
    /// Not decided, because an argument has the error type.
    Silent,
}

/// A relation in a [`Solver`].
#[derive(Debug)]
pub struct Entry {
    /// The rule.
    pub relation: Relation,
    /// The nodes of the arguments, followed by that of the result.
    pub args: SmallVec<[NodeId; 4]>,
    /// The state.
    pub state: State,
    /// A value chosen by the caller of [`Solver::add`].
    pub origin: u32,
    /// The declared type of the result, where the relation does not determine all its sizes.
    pub promise: Option<Type>,
    /// The names of the operator's arguments, for messages.
    pub names: &'static [&'static str],
}

/// An inference table with relations over its types.
#[derive(Default)]
pub struct Solver {
    /// The types.
    pub table: Table,
    entries: Vec<Entry>,
    queue: VecDeque<u32>,
    /// Failed relations with open results, see [`Solver::keep_failed`].
    failed: Option<Vec<RelationId>>,
    /// Undecided relations that have not been taken.
    undecided: Vec<RelationId>,
    /// Lenient failures of relations that hold.
    caveats: Vec<(RelationId, Box<Reason>)>,
    /// See [`Solver::keep_caveats`].
    keeps_caveats: bool,
}

impl Solver {
    /// Creates an empty solver.
    pub fn new() -> Solver {
        Solver::default()
    }

    /// Removes all types and relations, but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.table.clear();
        self.entries.clear();
        self.queue.clear();
        self.failed = None;
        self.undecided.clear();
        self.caveats.clear();
    }

    /// Adds a relation to the queue. `names` are the operator's argument names, `origin` is stored
    /// in the entry.
    pub fn add(
        &mut self,
        relation: Relation,
        args: impl IntoIterator<Item = NodeId>,
        names: &'static [&'static str],
        origin: u32,
    ) -> RelationId {
        let id = self.entries.len() as u32;
        let args = args.into_iter().collect();
        self.entries.push(Entry {
            relation,
            args,
            state: State::Waiting,
            origin,
            promise: None,
            names,
        });
        self.queue.push_back(id);
        RelationId(id)
    }

    /// Adds a constraint of a function type, whose relation has the typing rule `solve`. `names` are
    /// the argument names of its operator.
    pub fn add_constraint(
        &mut self,
        constraint: &Constraint,
        solve: RelationFn,
        names: &'static [&'static str],
        origin: u32,
    ) -> RelationId {
        let args: SmallVec<[NodeId; 4]> =
            constraint.args.iter().map(|ty| self.table.import(ty)).collect();
        let RelationKey { name, operator, attrs } = constraint.relation.clone();
        self.add(Relation { name, operator, solve, attrs }, args, names, origin)
    }

    /// Returns all relations in the order in which they were added.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns a relation.
    pub fn entry(&self, id: RelationId) -> &Entry {
        &self.entries[id.0 as usize]
    }

    /// Runs relations to a fixed point.
    pub fn solve(&mut self) {
        loop {
            for woken in std::mem::take(&mut self.table.woken) {
                if self.entries[woken as usize].state == State::Waiting {
                    self.queue.push_back(woken);
                }
            }
            let Some(id) = self.queue.pop_front() else { return };
            if self.entries[id as usize].state == State::Waiting {
                self.run(id);
            }
        }
    }

    fn run(&mut self, id: u32) {
        let Entry { relation, args, names, .. } = &self.entries[id as usize];
        let mut call = Call {
            table: &mut self.table,
            args,
            relation,
            names,
            progress: false,
            keeps_caveats: self.keeps_caveats,
            caveat: None,
            promise: None,
        };
        let outcome = (relation.solve)(&mut call);
        let promise = call.promise.take();
        let caveat = call.caveat.filter(|_| outcome.is_ok());
        let result = args.last().copied();
        let state = match outcome {
            // It is solved again for the sizes that become known.
            Ok(()) if self.table.wait_for_sizes(id, args) => State::Waiting,
            Ok(()) => State::Solved,
            Err(Halt::NotYet) => {
                self.table.wait(id, args);
                State::Waiting
            }
            Err(Halt::Undecided(reason)) => State::Undecided(reason),
            Err(Halt::Failed(reason)) => State::Failed(reason),
            Err(Halt::Silent) => State::Silent,
        };
        if matches!(state, State::Failed(_) | State::Silent)
            && let Some(result) = result
        {
            match &mut self.failed {
                Some(failed) => failed.push(RelationId(id)),
                None => self.table.set_error(result),
            }
        }
        if matches!(state, State::Undecided(_)) {
            self.undecided.push(RelationId(id));
        }
        self.caveats.extend(caveat.map(|reason| (RelationId(id), reason)));
        let entry = &mut self.entries[id as usize];
        entry.state = state;
        entry.promise = promise.or(entry.promise.take());
    }

    /// Records the declared type of the result of the relation that determines `node`.
    pub fn promise(&mut self, node: NodeId, declared: &Type) {
        let root = self.table.find(node);
        let table = &self.table;
        let is_result = |entry: &&mut Entry| {
            entry.args.last().is_some_and(|&result| table.find(result) == root)
        };
        if let Some(entry) = self.entries.iter_mut().rev().find(is_result) {
            entry.promise.get_or_insert_with(|| declared.clone());
        }
    }

    /// Returns the types of the arguments of a relation and the type that its result must have:
    /// [`Solver::arg_types`], with the declared type of the result.
    pub fn required_types(&self, id: RelationId) -> Vec<Type> {
        let mut types = self.arg_types(id);
        if let (Some(promise), Some(result)) = (&self.entry(id).promise, types.last_mut()) {
            *result = promise.clone();
        }
        types
    }

    /// Sets whether the results of failed relations stay open and are returned by
    /// [`Solver::take_failed`], instead of getting the error type immediately.
    pub fn keep_failed(&mut self, keep: bool) {
        self.failed = keep.then(|| self.failed.take().unwrap_or_default());
    }

    /// Takes the relations that have failed since the last call, see [`Solver::keep_failed`].
    pub fn take_failed(&mut self) -> Vec<RelationId> {
        self.failed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Sets whether a relation holds despite a lenient failure ([`Call::lenient`]), as in TVM. The
    /// failures are then returned by [`Solver::take_caveats`].
    pub fn keep_caveats(&mut self, keep: bool) {
        self.keeps_caveats = keep;
    }

    /// Takes the lenient failures since the last call, see [`Solver::keep_caveats`].
    pub fn take_caveats(&mut self) -> Vec<(RelationId, Box<Reason>)> {
        std::mem::take(&mut self.caveats)
    }

    /// Takes the relations that have become undecided since the last call.
    pub fn take_undecided(&mut self) -> Vec<RelationId> {
        std::mem::take(&mut self.undecided)
    }

    /// Drops a waiting relation that has become a constraint of a function type.
    pub fn release(&mut self, id: RelationId) {
        if self.entries[id.0 as usize].state == State::Waiting {
            self.entries[id.0 as usize].state = State::Silent;
        }
    }

    /// Returns the waiting relations that a type over `vars` depends on, transitively, and adds the
    /// variables of those relations that are not older than `level` to `vars`.
    ///
    /// Visits each relation and each variable once.
    pub fn related(&mut self, vars: &mut Vars, level: Level) -> Vec<RelationId> {
        let mut kept: Vec<RelationId> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut next = 0;
        while let Some(&var) = vars.order().get(next) {
            next += 1;
            for relation in self.table.waiting_for(var).to_vec() {
                let entry = &self.entries[relation as usize];
                if entry.state != State::Waiting || !seen.insert(relation) {
                    continue;
                }
                kept.push(RelationId(relation));
                for &arg in &entry.args {
                    self.table.free_vars(arg, level, vars);
                }
            }
        }
        kept.sort();
        kept
    }

    /// Lowers the levels of variables that older variables determine, so that they are not
    /// generalised. In `fn (%y) { (%y, add(%x, 1)) }` the captured `%x` determines the types of the
    /// sum and of the literal, so they and the relation belong to the enclosing function. `vars`
    /// are the variables of a type that are not older than `level`.
    ///
    /// Usually one round suffices, because relations are in program order, in which results follow
    /// their arguments; each round but the last removes a relation.
    pub fn lower_determined(&mut self, mut vars: Vars, level: Level) {
        let mut kept = self.related(&mut vars, level);
        loop {
            let before = kept.len();
            kept.retain(|&id| !self.is_determined(id, level));
            if kept.len() == before {
                return;
            }
        }
    }

    /// Returns true if variables older than `level` determine a relation, and lowers its variables.
    fn is_determined(&mut self, id: RelationId, level: Level) -> bool {
        let args = self.entries[id.0 as usize].args.clone();
        let Some((_, inputs)) = args.split_last() else { return false };
        let mut vars = Vars::default();
        inputs.iter().for_each(|&input| self.table.free_vars(input, Level::NEVER, &mut vars));
        let mut youngest = None;
        for &var in vars.order() {
            match self.table.level_of(var) {
                own if own < level => youngest = youngest.max(Some(own)),
                // The data type of a literal follows from the other operand.
                _ if matches!(var, Var::DType(_)) => {}
                _ => return false,
            }
        }
        let Some(youngest) = youngest else { return false };
        args.iter().for_each(|&arg| self.table.lower_all(arg, youngest));
        true
    }

    /// Returns the current types of the arguments and the result of a relation.
    pub fn arg_types(&self, id: RelationId) -> Vec<Type> {
        self.entry(id).args.iter().map(|&node| self.table.resolve(node)).collect()
    }
}

/// Runs a relation on given types in a table of its own, and returns its state and the resulting
/// types.
///
/// Used for hypothetical queries: which argument determines a size of the result, or whether swapped
/// arguments would be accepted.
pub fn probe(
    relation: &Relation,
    names: &'static [&'static str],
    inputs: &[Type],
) -> (State, Vec<Type>) {
    let mut solver = Solver::new();
    let table = &mut solver.table;
    // The variables in the types belong to another table.
    let mut rename = |leaf: &Type| match leaf.is_closed() {
        true => leaf.clone(),
        false => Type::Var(crate::TypeVar(table.fresh())),
    };
    let inputs: SmallVec<[Type; 4]> =
        inputs.iter().map(|ty| crate::map_leaves(ty, &mut rename)).collect();
    let mut args: SmallVec<[NodeId; 4]> = inputs.iter().map(|ty| solver.table.import(ty)).collect();
    args.push(solver.table.fresh());
    let id = solver.add(relation.clone(), args, names, 0);
    solver.solve();
    (solver.entry(id).state.clone(), solver.arg_types(id))
}

/// Infers the type of the argument at `position` from the others: the weight of
/// `nn.dense(%x, %w, units=4)` from `%x` and `units`. `None` if the relation does not determine it.
pub fn infer_argument(
    relation: &Relation,
    names: &'static [&'static str],
    inputs: &[Type],
    position: usize,
) -> Option<Type> {
    let mut solver = Solver::new();
    let mut args: SmallVec<[NodeId; 4]> = SmallVec::new();
    for (at, ty) in inputs.iter().enumerate() {
        let node = if at == position { solver.table.fresh() } else { solver.table.import(ty) };
        args.push(node);
    }
    args.push(solver.table.fresh());
    let id = solver.add(relation.clone(), args, names, 0);
    solver.solve();
    let found = solver.arg_types(id).into_iter().nth(position)?;
    (!matches!(found, Type::Var(_) | Type::Error)).then_some(found)
}
