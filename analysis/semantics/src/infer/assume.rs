//! Types that are assumed where an error leaves none.
//!
//! `%2 = nn.conv2d(%1, %w, …) /* ty=Tensor[(1, 64, 56, 56), float32] */;` with a weight that does not
//! fit is one error. What follows goes on with the type that is printed behind the call or, where
//! nothing is printed, with what the rule makes of the arguments when the sizes of one of them are
//! left open. What depends on an assumed type is marked, and is neither an error nor a stale comment:
//! the assumption may be wrong.
//!
//! Nothing is assumed where TVM's own types are asked for, nor where a group of definitions is
//! inferred in one table: there, an assumed type would decide types of other definitions.

use rustc_hash::FxHashSet;
use types::{Dim, NodeId, RelationId, State, Type, probe};

use super::{At, Finding, Infer, Mismatch, OpenUnit, UnitTypes};
use crate::{body::*, lower::printed_type, scope::Binding};

/// The arguments with which a rule is tried again, at most, and their nodes together. Each try is a
/// run of the rule on all arguments.
const MOST_RELAXED: usize = 8;
const MOST_WEIGHT: u32 = 1_000;

/// What of a unit depends on assumed types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Assumed {
    /// The expressions, in order.
    exprs: Box<[ExprId]>,
    /// The variables, in order.
    binders: Box<[BinderId]>,
}

impl Assumed {
    /// Returns true if the type of `subject` depends on an assumed one.
    pub(super) fn holds(&self, subject: Subject) -> bool {
        match subject {
            Subject::Expr(expr) => self.exprs.binary_search(&expr).is_ok(),
            Subject::Binder(binder) => self.binders.binary_search(&binder).is_ok(),
        }
    }
}

impl UnitTypes {
    /// Returns true if the type of an expression is assumed, or depends on an assumed one.
    pub fn is_assumed(&self, expr: ExprId) -> bool {
        self.assumed.as_ref().is_some_and(|assumed| assumed.holds(Subject::Expr(expr)))
    }

    /// Returns true if the type of a variable depends on an assumed one.
    pub fn is_assumed_binder(&self, binder: BinderId) -> bool {
        self.assumed.as_ref().is_some_and(|assumed| assumed.holds(Subject::Binder(binder)))
    }

    /// The variables whose types depend on assumed ones.
    pub(super) fn assumed_binders(&self) -> &[BinderId] {
        self.assumed.as_ref().map_or(&[], |assumed| &assumed.binders)
    }
}

impl Infer<'_> {
    fn assumes(&self) -> bool {
        !(self.whole || self.exhausted || self.env.strict())
    }

    /// Solves what can be, and goes on with assumed types where a relation does not hold.
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

    /// Gives the result of a relation that does not hold an assumed type, or none.
    fn assume_result(&mut self, id: RelationId) {
        let entry = self.solver.entry(id);
        let (at, expr) = self.origins[entry.origin as usize];
        let Some(&result) = entry.args.last() else { return };
        let is_unknown = self.solver.table.is_unknown(result);
        let Some(&open) = self.open_at.get(&at).filter(|_| is_unknown) else {
            return self.give_up(Some(result));
        };
        // The relation may be one that a function brings along, and its result a part of something.
        let own = self.open[open].exprs.get(expr.index());
        let is_own =
            own.is_some_and(|&own| self.solver.table.find(own) == self.solver.table.find(result));
        let assumed = match is_own {
            true => self.printed(at, expr).or_else(|| self.relaxed(id)),
            false => None,
        };
        let Some(ty) = assumed else { return self.give_up(Some(result)) };
        let node = self.solver.table.import(&ty);
        // Nothing is known of the result, so that nothing is in the way.
        match self.solver.table.unify(result, node) {
            Ok(_) => self.open[open].assumed.push(expr),
            Err(_) => self.give_up(Some(result)),
        }
    }

    /// The node of an expression, which is `node`, or one of the printed type where that is unknown
    /// because of an error.
    pub(super) fn or_assumed(&mut self, at: At, expr: ExprId, node: NodeId) -> NodeId {
        if !matches!(self.solver.table.leaf(node), Some(Type::Error)) || !self.assumes() {
            return node;
        }
        let Some(ty) = self.printed(at, expr) else { return node };
        self.current().assumed.push(expr);
        self.solver.table.import(&ty)
    }

    /// The type that is printed behind an expression.
    fn printed(&self, at: At, expr: ExprId) -> Option<Type> {
        let evidence = &self.unit(at).evidence;
        let about = Subject::Expr(expr);
        // Of most statements there are a handful.
        let evidence = evidence.iter().take(1_000).find(|evidence| evidence.about == about)?;
        printed_type(&evidence.text).filter(Type::is_closed)
    }

    /// The result of a relation where the sizes of one argument, or of all, are left open: the one
    /// with the fewest open sizes.
    fn relaxed(&self, id: RelationId) -> Option<Type> {
        let entry = self.solver.entry(id);
        if !matches!(entry.state, State::Failed(_)) {
            return None;
        }
        let mut inputs = self.solver.arg_types(id);
        inputs.pop();
        let weight = inputs.iter().fold(0u32, |sum, ty| sum.saturating_add(ty.weight()));
        if weight > MOST_WEIGHT || inputs.iter().any(|ty| !ty.is_closed() || ty.has_error()) {
            return None;
        }
        let all: Vec<Type> = inputs.iter().map(without_sizes).collect();
        let mut tries: Vec<Vec<Type>> = Vec::new();
        if (2..=MOST_RELAXED).contains(&inputs.len()) {
            tries.extend((0..inputs.len()).rev().map(|position| {
                let mut given = inputs.clone();
                given[position] = all[position].clone();
                given
            }));
        }
        tries.push(all);
        let results = tries.iter().filter_map(|given| {
            let (state, types) = probe(&entry.relation, &[], given);
            let result = types.last().filter(|ty| ty.is_closed() && !ty.has_error())?;
            (state == State::Solved).then(|| (open_sizes(result), result.clone()))
        });
        results.min_by_key(|(open, _)| *open).map(|(_, result)| result)
    }

    /// What of each unit of the open stretch depends on assumed types. The findings that do are
    /// taken away.
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
                let at = At { body: unit.at.body, unit: binding.unit };
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
            unit.findings.retain(|finding| !spread.misleads(finding));
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

    /// Returns true if the type of a variable of a frozen unit depends on an assumed one.
    pub(super) fn is_assumed_outside(&self, body: u32, binding: Binding) -> bool {
        let types = self.done[body as usize].get(binding.unit as usize);
        types.and_then(Option::as_ref).is_some_and(|types| types.is_assumed_binder(binding.binder))
    }
}

/// What depends on assumed types in one unit, found in the order of evaluation.
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

    /// A variable takes the type of its value, where none is written.
    fn bind(&mut self, binder: BinderId, value: ExprId) {
        if self.is(value) && self.unit.binder(binder).annotation.is_none() {
            self.binders.insert(binder);
        }
    }

    /// The depth is that of the pattern, which the parser bounds.
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

    /// Returns true if the type of an expression follows from one that is assumed.
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

    /// Returns true if a finding looks at a type that is assumed, which may be wrong.
    fn misleads(&self, finding: &Finding) -> bool {
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
            // How many arguments an operator takes does not depend on types.
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

/// A tensor, or a tuple of them, with open sizes.
fn without_sizes(ty: &Type) -> Type {
    types::map_leaves(ty, &mut |leaf| match leaf {
        Type::Tensor(tensor) => Type::tensor(tensor.shape.iter().map(|_| Dim::Any), tensor.dtype),
        other => other.clone(),
    })
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
