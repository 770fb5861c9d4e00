//! Error recovery: assumed types of expressions whose types an error leaves unknown.
//!
//! `%2 = nn.conv2d(%1, %w, …) /* ty=Tensor[(1, 64, 56, 56), float32] */;` with a weight of the
//! wrong shape is one error. Inference continues with the type in the comment, or if there is none,
//! with the result of the rule when one size, or the sizes of one argument, are unknown: the product
//! of `(12, 128, 64)` with `(12, 64, 32)` is taken to be `(12, 128, 32)`. Types that depend on an
//! assumed type are marked, and cause neither errors nor stale comments, because the assumption may
//! be wrong.
//!
//! Nothing is assumed if several definitions are inferred in one table, where an assumed type would
//! decide the types of the others.

use rustc_hash::FxHashSet;
use types::{Dim, NodeId, RelationId, State, Type, probe};

use super::{Finding, Infer, Mismatch, OpenUnit, UnitRef, UnitTypes};
use crate::{body::*, lower::printed_type, scope::LocalRef};

/// The maximum number of arguments with which a rule is retried, and the maximum number of their
/// nodes. Each retry solves the rule with all arguments.
const MAX_RELAXED: usize = 8;
/// The maximum number of single sizes with which a rule is retried.
const MAX_RELAXED_SIZES: usize = 16;
const MAX_RELAXED_WEIGHT: u32 = 1_000;

/// The expressions and variables of a unit with types that depend on assumed types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Assumed {
    /// The expressions, sorted.
    exprs: Box<[ExprId]>,
    /// The variables, sorted.
    binders: Box<[BinderId]>,
}

impl Assumed {
    /// Returns true if the type of `subject` depends on an assumed type.
    pub(super) fn holds(&self, subject: Subject) -> bool {
        match subject {
            Subject::Expr(expr) => self.exprs.binary_search(&expr).is_ok(),
            Subject::Binder(binder) => self.binders.binary_search(&binder).is_ok(),
        }
    }
}

impl UnitTypes {
    /// Returns true if the type of an expression is assumed, or depends on an assumed type.
    pub fn is_assumed(&self, expr: ExprId) -> bool {
        self.assumed.as_ref().is_some_and(|assumed| assumed.holds(Subject::Expr(expr)))
    }

    /// Returns true if the type of a variable depends on an assumed type.
    pub fn is_assumed_binder(&self, binder: BinderId) -> bool {
        self.assumed.as_ref().is_some_and(|assumed| assumed.holds(Subject::Binder(binder)))
    }

    /// Returns the variables whose types depend on assumed types.
    pub(super) fn assumed_binders(&self) -> &[BinderId] {
        self.assumed.as_ref().map_or(&[], |assumed| &assumed.binders)
    }
}

impl Infer<'_> {
    fn assumes(&self) -> bool {
        !(self.whole && self.bodies.len() > 1 || self.exhausted)
    }

    /// Solves relations, and assumes the results of those that do not hold.
    pub(super) fn solve(&mut self) {
        self.solver.keep_failed(self.assumes());
        loop {
            self.solver.solve();
            let failed = self.solver.take_failed();
            if failed.is_empty() {
                return;
            }
            failed.into_iter().for_each(|id| self.assume_result(id));
        }
    }

    /// Assumes a type for the result of a relation that does not hold, if possible.
    fn assume_result(&mut self, id: RelationId) {
        let entry = self.solver.entry(id);
        let (at, expr) = self.origins[entry.origin as usize];
        let Some(&result) = entry.args.last() else { return };
        let is_unknown = self.solver.table.is_unknown(result);
        let Some(&open) = self.open_at.get(&at).filter(|_| is_unknown) else {
            return self.give_up(Some(result));
        };
        // The relation may be a constraint of a function, and its result part of a type.
        let own = self.open[open].exprs.get(expr.index());
        let is_own =
            own.is_some_and(|&own| self.solver.table.find(own) == self.solver.table.find(result));
        let assumed = match is_own {
            true => self.printed(at, expr).or_else(|| self.relaxed(id)),
            false => None,
        };
        let Some(ty) = assumed else { return self.give_up(Some(result)) };
        let node = self.solver.table.import(&ty);
        // The result is unknown, so that unification succeeds.
        match self.solver.table.unify(result, node) {
            Ok(_) => self.open[open].assumed.push(expr),
            Err(_) => self.give_up(Some(result)),
        }
    }

    /// Returns `node`, or a node of the type in the comment of an expression if `node` is unknown
    /// because of an error.
    pub(super) fn or_assumed(&mut self, at: UnitRef, expr: ExprId, node: NodeId) -> NodeId {
        if !matches!(self.solver.table.leaf(node), Some(Type::Error)) || !self.assumes() {
            return node;
        }
        let Some(ty) = self.printed(at, expr) else { return node };
        self.current().assumed.push(expr);
        self.solver.table.import(&ty)
    }

    /// Returns the type in the comment after an expression.
    fn printed(&self, at: UnitRef, expr: ExprId) -> Option<Type> {
        let type_comments = &self.unit(at).type_comments;
        let about = Subject::Expr(expr);
        // Most statements have few comments.
        let comment = type_comments.iter().take(1_000).find(|comment| comment.subject == about)?;
        printed_type(&comment.text).filter(Type::is_closed)
    }

    /// Returns the result of a relation with one size unknown, or the sizes of one argument, or all:
    /// the one with the fewest unknown sizes.
    fn relaxed(&self, id: RelationId) -> Option<Type> {
        let entry = self.solver.entry(id);
        if !matches!(entry.state, State::Failed(_)) {
            return None;
        }
        let mut inputs = self.solver.arg_types(id);
        inputs.pop();
        let weight = inputs.iter().fold(0u32, |sum, ty| sum.saturating_add(ty.weight()));
        if weight > MAX_RELAXED_WEIGHT || inputs.iter().any(|ty| !ty.is_closed() || ty.has_error())
        {
            return None;
        }
        let all: Vec<Type> = inputs.iter().map(without_sizes).collect();
        let mut tries: Vec<Vec<Type>> = Vec::new();
        let sizes: Vec<usize> = inputs.iter().map(count_sizes).collect();
        if sizes.iter().sum::<usize>() <= MAX_RELAXED_SIZES {
            for position in (0..inputs.len()).rev() {
                tries.extend((0..sizes[position]).map(|size| {
                    let mut given = inputs.clone();
                    given[position] = without_size(&inputs[position], size);
                    given
                }));
            }
        }
        if (2..=MAX_RELAXED).contains(&inputs.len()) {
            tries.extend((0..inputs.len()).rev().map(|position| {
                let mut given = inputs.clone();
                given[position] = all[position].clone();
                given
            }));
        }
        tries.push(all);
        let mut results = tries.iter().filter_map(|given| {
            let (state, types) = probe(&entry.relation, &[], given);
            let result = types.last().filter(|ty| ty.is_closed() && !ty.has_error())?;
            (state == State::Solved).then(|| (open_sizes(result), result.clone()))
        });
        let mut best: Option<(usize, Type)> = None;
        while best.as_ref().is_none_or(|(open, _)| *open > 0)
            && let Some(next) = results.next()
        {
            if best.as_ref().is_none_or(|(open, _)| next.0 < *open) {
                best = Some(next);
            }
        }
        best.map(|(_, result)| result)
    }

    /// Marks the types of the open solver batch that depend on assumed types, and removes the
    /// findings that do.
    pub(super) fn spread_assumptions(
        &mut self,
        open: &mut [OpenUnit],
    ) -> Vec<Option<Box<Assumed>>> {
        let mut found: Vec<Option<Box<Assumed>>> = vec![None; open.len()];
        self.assumed |= open.iter().any(|unit| !unit.assumed.is_empty());
        if !self.assumed {
            return found;
        }
        for (index, unit) in open.iter_mut().enumerate() {
            let is_free = |free: FreeId| {
                let binding = self.bodies[unit.at.body as usize].1.unit(unit.at.unit as usize);
                let Some(&Some(binding)) = binding.get(free.index()) else { return false };
                let at = UnitRef { body: unit.at.body, unit: binding.unit };
                match self.open_at.get(&at) {
                    Some(&earlier) => found[earlier]
                        .as_ref()
                        .is_some_and(|own| own.binders.binary_search(&binding.binder).is_ok()),
                    None => self.is_assumed_outside(unit.at.body, binding),
                }
            };
            let mut spread = Spread {
                unit: self.unit(unit.at),
                is_free: &is_free,
                exprs: unit.assumed.iter().copied().collect(),
                binders: FxHashSet::default(),
            };
            spread.run();
            unit.findings.retain(|finding| !spread.is_unreliable(finding));
            if spread.exprs.is_empty() && spread.binders.is_empty() {
                continue;
            }
            let mut exprs: Vec<ExprId> = spread.exprs.into_iter().collect();
            let mut binders: Vec<BinderId> = spread.binders.into_iter().collect();
            exprs.sort_unstable();
            binders.sort_unstable();
            found[index] = Some(Box::new(Assumed { exprs: exprs.into(), binders: binders.into() }));
        }
        found
    }

    /// Returns true if the type of a variable of a frozen unit depends on an assumed type.
    pub(super) fn is_assumed_outside(&self, body: u32, binding: LocalRef) -> bool {
        let types = self.done[body as usize].get(binding.unit as usize);
        types.and_then(Option::as_ref).is_some_and(|types| types.is_assumed_binder(binding.binder))
    }
}

/// The propagation of assumed types through a unit, in the order of evaluation.
struct Spread<'u> {
    unit: &'u Unit,
    is_free: &'u dyn Fn(FreeId) -> bool,
    exprs: FxHashSet<ExprId>,
    binders: FxHashSet<BinderId>,
}

impl Spread<'_> {
    fn run(&mut self) {
        for (index, expr) in (0..).zip(&self.unit.exprs) {
            let id = ExprId(index);
            match expr {
                Expr::Bind { binder, value, .. } => self.bind(*binder, *value),
                Expr::EnterMatch(found) => {
                    let found = self.unit.matches.get(found.index());
                    if let Some(found) = found.filter(|found| self.is(found.scrutinee)) {
                        found.arms.iter().for_each(|arm| self.bind_pattern(&arm.pattern));
                    }
                }
                _ if self.reads(id) => {
                    self.exprs.insert(id);
                }
                _ => {}
            }
        }
        if let (Some(binder), Some(root)) = (self.unit.binds, self.unit.root) {
            self.bind(binder, root);
        }
    }

    fn is(&self, expr: ExprId) -> bool {
        self.exprs.contains(&expr)
    }

    /// A variable without an annotation has the type of its value.
    fn bind(&mut self, binder: BinderId, value: ExprId) {
        if self.is(value) && self.unit.binder(binder).annotation.is_none() {
            self.binders.insert(binder);
        }
    }

    /// The recursion is as deep as the pattern, which the parser bounds.
    fn bind_pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Var(binder) => {
                if self.unit.binder(*binder).annotation.is_none() {
                    self.binders.insert(*binder);
                }
            }
            PatternKind::Constructor(_, fields) | PatternKind::Tuple(fields) => {
                fields.iter().for_each(|field| self.bind_pattern(field));
            }
        }
    }

    /// Returns true if the type of an expression depends on the assumed type of an operand.
    fn reads(&self, expr: ExprId) -> bool {
        match self.unit.expr(expr) {
            Expr::Bound(binder) => self.binders.contains(binder),
            Expr::Free(free) => (self.is_free)(*free),
            Expr::Dotted { whole, tuple, .. } => self.is(*tuple) || (self.is_free)(*whole),
            Expr::Tuple(fields) => fields.iter().any(|&field| self.is(field)),
            Expr::Proj { tuple, .. } => self.is(*tuple),
            Expr::Call(call) => {
                let call = self.unit.call(*call);
                let callee = matches!(call.callee, Callee::Expr(callee) if self.is(callee));
                callee || call.args.iter().any(|&arg| self.is(arg))
            }
            Expr::If { then, otherwise, .. } => self.is(then.result) || self.is(otherwise.result),
            Expr::Match(found) => {
                let arms = self.unit.matches.get(found.index()).map(|found| &found.arms);
                arms.into_iter().flatten().any(|arm| self.is(arm.body.result))
            }
            Expr::Fn(function) => {
                let function = self.unit.fns.get(function.index());
                let body = function.filter(|function| function.ret.is_none());
                body.and_then(|body| body.body).is_some_and(|body| self.is(body.result))
            }
            Expr::RefNew(inner) | Expr::RefRead(inner) => self.is(*inner),
            Expr::RefWrite(reference, value) => self.is(*reference) || self.is(*value),
            _ => false,
        }
    }

    /// Returns true if a finding depends on an assumed type, which may be wrong.
    fn is_unreliable(&self, finding: &Finding) -> bool {
        match finding {
            Finding::Relation { expr, .. }
            | Finding::Undecided { expr, .. }
            | Finding::Uncomputable { expr, .. }
            | Finding::Unknown { expr, .. }
            | Finding::Unproven { expr, .. }
            | Finding::HigherRank { expr, .. }
            | Finding::TypeTooLarge { expr }
            | Finding::Projection { expr, .. } => self.reads(*expr),
            Finding::NotCallable { call, .. }
            | Finding::SelfApplication { call }
            | Finding::TypeArgs { call, .. }
            | Finding::TypeArgKind { call, .. } => self.reads(*call),
            // The number of arguments of an operator does not depend on types.
            Finding::Arity { call, .. } => match self.unit.expr(*call) {
                Expr::Call(call) => {
                    let callee = &self.unit.call(*call).callee;
                    matches!(callee, Callee::Expr(callee) if self.is(*callee))
                }
                _ => false,
            },
            Finding::Condition { expr, .. } => self.is(*expr),
            Finding::Mismatch { what, .. } => match what {
                Mismatch::Annotation { value, .. } | Mismatch::Result { value, .. } => {
                    self.is(*value)
                }
                Mismatch::Argument { call, .. } => self.reads(*call),
                Mismatch::Branches { then, otherwise } => self.is(*then) || self.is(*otherwise),
                Mismatch::Arm { expr, .. } => self.reads(*expr),
                Mismatch::Pattern { .. } => self.matches_assumed(),
                Mismatch::Reference { reference } => self.is(*reference),
                Mismatch::Write { value } => self.is(*value),
            },
            Finding::PatternArity { .. } | Finding::PatternType { .. } => self.matches_assumed(),
            Finding::NotExhaustive { expr, .. } | Finding::Unreachable { expr, .. } => {
                let Expr::Match(found) = self.unit.expr(*expr) else { return false };
                let found = self.unit.matches.get(found.index());
                found.is_some_and(|found| self.is(found.scrutinee))
            }
            _ => false,
        }
    }

    fn matches_assumed(&self) -> bool {
        self.unit.matches.iter().any(|found| self.is(found.scrutinee))
    }
}

/// Returns a tensor type, or a tuple of them, with unknown sizes.
fn without_sizes(ty: &Type) -> Type {
    types::map_leaves(ty, &mut |leaf| match leaf {
        Type::Tensor(tensor) => Type::tensor(tensor.shape.iter().map(|_| Dim::Any), tensor.dtype),
        other => other.clone(),
    })
}

/// Returns a tensor type, or a tuple of them, with one size unknown: the one of this number, counted
/// through all tensors.
fn without_size(ty: &Type, number: usize) -> Type {
    let mut next = 0;
    types::map_leaves(ty, &mut |leaf| match leaf {
        Type::Tensor(tensor) => {
            let sizes = tensor.shape.iter().map(|size| {
                next += 1;
                if next == number + 1 { Dim::Any } else { size.clone() }
            });
            Type::tensor(sizes, tensor.dtype)
        }
        other => other.clone(),
    })
}

/// Returns the number of sizes of a tensor type, or of all tensors of a tuple.
fn count_sizes(ty: &Type) -> usize {
    let mut count = 0;
    types::map_leaves(ty, &mut |leaf| {
        if let Type::Tensor(tensor) = leaf {
            count += tensor.shape.len();
        }
        leaf.clone()
    });
    count
}

fn open_sizes(ty: &Type) -> usize {
    let mut count = 0;
    types::for_each_part(ty, types::Flags::ANY, &mut |part| {
        if let Type::Tensor(tensor) = part {
            count += tensor.shape.iter().filter(|size| size.is_any()).count();
        }
    });
    count
}
