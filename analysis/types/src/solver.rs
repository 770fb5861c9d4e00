//! The queue of type relations.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::{Call, Constraint, Halt, Level, NodeId, Reason, Relation, Table, Type, Var, Vars};

/// A relation of one call, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RelationId(pub u32);

/// How a relation stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It has not been decided: a type that it needs is not known.
    Waiting,
    /// It holds.
    Solved,
    /// It neither holds nor fails.
    Undecided(Box<Reason>),
    /// It does not hold.
    Failed(Box<Reason>),
    /// It was not looked at, because an argument was wrong before.
    Silent,
}

/// One relation under way.
#[derive(Debug)]
pub struct Entry {
    /// The rule.
    pub relation: Relation,
    /// The types related: the arguments, then the result.
    pub args: SmallVec<[NodeId; 4]>,
    /// How it stands.
    pub state: State,
    /// What the caller wants to find again.
    pub origin: u32,
    names: &'static [&'static str],
}

/// The table with the relations over it.
#[derive(Default)]
pub struct Solver {
    /// The types.
    pub table: Table,
    entries: Vec<Entry>,
    queue: VecDeque<u32>,
    /// Relations that do not hold, where somebody else decides what their results are.
    failed: Option<Vec<RelationId>>,
    /// Relations that neither hold nor fail, and have not been asked for.
    undecided: Vec<RelationId>,
    /// Relations that hold for calls that cannot be computed, with the reasons.
    caveats: Vec<(RelationId, Box<Reason>)>,
    /// Relations that wait though all of their types are known: for a type parameter.
    stuck: Vec<RelationId>,
}

impl Solver {
    /// An empty solver.
    pub fn new() -> Solver {
        Solver::default()
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.table.clear();
        self.entries.clear();
        self.queue.clear();
        self.failed = None;
        self.undecided.clear();
        self.caveats.clear();
        self.stuck.clear();
    }

    /// Adds a relation to the queue. `names` are the operator's argument names, `origin` is given
    /// back with the entry.
    pub fn add(
        &mut self,
        relation: Relation,
        args: impl IntoIterator<Item = NodeId>,
        names: &'static [&'static str],
        origin: u32,
    ) -> RelationId {
        let id = self.entries.len() as u32;
        let args = args.into_iter().collect();
        self.entries.push(Entry { relation, args, state: State::Waiting, origin, names });
        self.queue.push_back(id);
        RelationId(id)
    }

    /// Adds a constraint of a function type; `names` are the argument names of its operator.
    pub fn add_constraint(
        &mut self,
        constraint: &Constraint,
        names: &'static [&'static str],
        origin: u32,
    ) -> RelationId {
        let args: SmallVec<[NodeId; 4]> =
            constraint.args.iter().map(|ty| self.table.import(ty)).collect();
        self.add(constraint.relation.clone(), args, names, origin)
    }

    /// All relations added, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// One relation.
    pub fn entry(&self, id: RelationId) -> &Entry {
        &self.entries[id.0 as usize]
    }

    /// Runs relations until nothing moves.
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
        let mut call =
            Call { table: &mut self.table, args, relation, names, progress: false, caveat: None };
        let outcome = (relation.solve)(&mut call);
        let caveat = call.caveat.filter(|_| outcome.is_ok());
        let result = args.last().copied();
        let state = match outcome {
            Ok(()) => State::Solved,
            Err(Halt::NotYet) => {
                if !self.table.wait(id, args) {
                    self.stuck.push(RelationId(id));
                }
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
                None => self.table.give_up(result),
            }
        }
        if matches!(state, State::Undecided(_)) {
            self.undecided.push(RelationId(id));
        }
        self.caveats.extend(caveat.map(|reason| (RelationId(id), reason)));
        self.entries[id as usize].state = state;
    }

    /// Whether the results of relations that do not hold are left open, for
    /// [`Solver::take_failed`], and are no error types at once.
    pub fn keep_failed(&mut self, keep: bool) {
        self.failed = keep.then(|| self.failed.take().unwrap_or_default());
    }

    /// The relations that have turned out not to hold since this was asked last, with results that
    /// are to be decided.
    pub fn take_failed(&mut self) -> Vec<RelationId> {
        self.failed.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The relations that hold though their calls cannot be computed, with the reasons, since this
    /// was asked last.
    pub fn take_caveats(&mut self) -> Vec<(RelationId, Box<Reason>)> {
        std::mem::take(&mut self.caveats)
    }

    /// The relations that wait though all of their types are known: they are decided where the
    /// function is called whose type parameters they are about.
    pub fn stuck(&self) -> &[RelationId] {
        &self.stuck
    }

    /// The relations that have turned out to neither hold nor fail since this was asked last.
    pub fn take_undecided(&mut self) -> Vec<RelationId> {
        std::mem::take(&mut self.undecided)
    }

    /// Lets go of a relation that waits: it has become a constraint of a function type.
    pub fn release(&mut self, id: RelationId) {
        if self.entries[id.0 as usize].state == State::Waiting {
            self.entries[id.0 as usize].state = State::Silent;
        }
    }

    /// Adds to `vars` the variables that the relations over them bring along, not older than
    /// `level`, and returns those relations: what a type over `vars` depends on.
    ///
    /// Each relation and each variable is looked at once.
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

    /// Makes what older variables decide as old as they are. Rules make results of arguments: inside
    /// of `fn (%y) { (%y, add(%x, 1)) }` the sum and the literal are what the captured `%x` makes of
    /// them, so that they belong to its surroundings, and so does the rule. `vars` are the variables
    /// of a type that are not older than `level`.
    ///
    /// Relations come in the order of the program, in which results come after what they are made
    /// of: mostly, one round is enough, and each round but the last takes a relation away.
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

    /// Returns true if variables older than `level` decide a relation, which is then as old.
    fn is_determined(&mut self, id: RelationId, level: Level) -> bool {
        let args = self.entries[id.0 as usize].args.clone();
        let Some((_, inputs)) = args.split_last() else { return false };
        let mut vars = Vars::default();
        inputs.iter().for_each(|&input| self.table.free_vars(input, Level::NEVER, &mut vars));
        let mut youngest = None;
        for &var in vars.order() {
            match self.table.level_of(var) {
                own if own < level => youngest = youngest.max(Some(own)),
                // The data type of a literal follows from what is beside it.
                _ if matches!(var, Var::DType(_)) => {}
                _ => return false,
            }
        }
        let Some(youngest) = youngest else { return false };
        args.iter().for_each(|&arg| self.table.lower_all(arg, youngest));
        true
    }

    /// The types that a relation relates, as far as they are known.
    pub fn arg_types(&self, id: RelationId) -> Vec<Type> {
        self.entry(id).args.iter().map(|&node| self.table.resolve(node)).collect()
    }
}

/// Runs one relation on given types, away from any inference: its verdict, and the types as they
/// are afterwards.
///
/// Used to ask "what if": which input a size of the result comes from, whether swapped arguments
/// would fit.
pub fn probe(
    relation: &Relation,
    names: &'static [&'static str],
    inputs: &[Type],
) -> (State, Vec<Type>) {
    let mut solver = Solver::new();
    let table = &mut solver.table;
    // What is open in the types are variables of another table.
    let mut known = |leaf: &Type| match leaf.is_closed() {
        true => leaf.clone(),
        false => Type::Var(crate::TypeVar(table.fresh())),
    };
    let inputs: SmallVec<[Type; 4]> =
        inputs.iter().map(|ty| crate::map_leaves(ty, &mut known)).collect();
    let mut args: SmallVec<[NodeId; 4]> = inputs.iter().map(|ty| solver.table.import(ty)).collect();
    args.push(solver.table.fresh());
    let id = solver.add(relation.clone(), args, names, 0);
    solver.solve();
    (solver.entry(id).state.clone(), solver.arg_types(id))
}

/// What one relation makes of an argument that nothing is known about: the weight of
/// `nn.dense(%x, %w, units=4)` from `%x` and `units`. Nothing where it leaves the argument open.
pub fn demanded(
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
