//! Error recovery: assumed types of expressions whose types an error leaves unknown.
//!
//! `%2 = nn.conv2d(%1, %w, …) /* ty=Tensor[(1, 64, 56, 56), float32] */;` with a weight of the
//! wrong shape is one error. Inference continues with the type in the comment, or if there is none,
//! with the result of the rule when one size, or the sizes of one argument, are unknown: the product
//! of `(12, 128, 64)` with `(12, 64, 32)` is taken to be `(12, 128, 32)`. A call of an unknown name,
//! such as `ad(%x, %y)` while it is typed, has the type of a call of the operator that is suggested
//! for it. Types that depend on an assumed type are marked, and cause neither errors nor stale
//! comments, because the assumption may be wrong. The type that was printed after a call of a name that
//! is not in the text is known.
//!
//! Nothing is assumed if several definitions are inferred in one table, where an assumed type would
//! decide the types of the others.

use std::{ops::Range, sync::Arc};

use operators::Operator;
use types::{Attrs, DataType, Dim, NodeId, RelationId, State, Type, probe};

use super::{
    DependsOn, Finding, Global, Infer, Inference, UnitRef, UnitTypes, bits::Bits,
    results::Assumptions,
};
use crate::{
    body::*,
    list::{List, Part},
    lower::printed_type,
    relations::result_of_call,
    scope::Scopes,
};

/// The maximum number of arguments with which a rule is retried, and the maximum number of their
/// nodes. Each retry solves the rule with all arguments.
const MAX_RELAXED: usize = 8;
/// The maximum number of single sizes with which a rule is retried.
const MAX_RELAXED_SIZES: usize = 16;
const MAX_RELAXED_WEIGHT: u32 = 1_000;

impl Assumptions {
    /// Finds what depends on the assumptions of a body, and removes such findings. `units_with_findings` are
    /// the numbers of the units that may have any.
    pub(super) fn spread(
        body: &Body,
        scopes: &Scopes,
        units: &mut List<Arc<UnitTypes>>,
        units_with_findings: &[u32],
    ) -> Assumptions {
        let mut found = Assumptions::default();
        let has_own = |&&unit: &&u32| !units[unit as usize].assumed.is_empty();
        let Some(&first) = units_with_findings.iter().find(has_own) else { return found };
        found.are_any = true;
        let mut spread = Spread::default();
        let mut units_with_findings =
            units_with_findings.iter().copied().skip_while(|&unit| unit < first).peekable();
        let mut next = first as usize;
        loop {
            let until = units_with_findings.peek().map_or(body.units.len(), |&unit| unit as usize);
            let index = found.spread_values(body, scopes, next..until);
            if index == body.units.len() {
                break;
            }
            next = index + 1;
            let number = index as u32;
            let is_remarkable = units_with_findings.next_if_eq(&number).is_some();
            let (types, unit) = (&units[index], &body.units[index]);
            spread.begin(scopes.unit(UnitId(index as u32)), |binding| found.hold_for(binding));
            spread.run(unit, &types.assumed);
            match spread.binders.len() {
                0 => {}
                count if count == unit.binders.len() => found.units.set(index),
                _ => {
                    let variables = (0..unit.binders.len() as u32).map(BinderId);
                    let variables = variables.filter(|binder| spread.binders.get(binder.index()));
                    let place = |binder| LocalRef { unit: UnitId(number), binder };
                    found.variables.extend(variables.map(place));
                }
            }
            if let Some(filtered) = is_remarkable.then(|| spread.filter(unit, types)).flatten() {
                found.unfiltered.push((number, units[index].clone()));
                units.set(index, Arc::new(filtered));
            }
        }
        found
    }

    /// Marks those of some units that bind one value. Returns the first unit that binds more and depends
    /// on an assumption, or the end of `units`. A separate function, because it visits all statements
    /// after the first assumption.
    #[inline(never)]
    fn spread_values(&mut self, body: &Body, scopes: &Scopes, units: Range<usize>) -> usize {
        for Part { range, elements, summary, .. } in scopes.parts(units.clone()) {
            let is_sequence = summary.is_sequence && body.have_one_value(range.clone());
            for (index, names) in range.clone().zip(elements) {
                let mut names = names.of(UnitId(index as u32));
                if !names.any(|name| name.is_some_and(|binding| self.hold_for(binding))) {
                    continue;
                }
                if is_sequence {
                    (index..range.end).for_each(|unit| self.units.set(unit));
                    break;
                }
                if !body.units[index].is_one_value {
                    return index;
                }
                self.units.set(index);
            }
        }
        units.end
    }

    /// Returns true if the type of an expression of a unit is assumed, or depends on an assumed type.
    pub(super) fn hold(
        &self,
        body: &Body,
        scopes: &Scopes,
        types: &UnitTypes,
        (unit, expr): (usize, ExprId),
    ) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut spread = Spread::default();
        spread.begin(scopes.unit(UnitId(unit as u32)), |binding| self.hold_for(binding));
        spread.run(&body.units[unit], &types.assumed);
        spread.is(expr)
    }
}

impl Inference {
    /// Returns true if the type of an expression is assumed, or depends on an assumed type. `body` and
    /// `scopes` are those of this inference.
    pub(crate) fn is_assumed(
        &self,
        body: &Body,
        scopes: &Scopes,
        unit: usize,
        expr: ExprId,
    ) -> bool {
        self.assumptions.hold(body, scopes, &self.units[unit], (unit, expr))
    }

    /// Returns true if the type of a variable depends on an assumed type.
    pub(crate) fn is_assumed_variable(&self, binding: LocalRef) -> bool {
        self.assumptions.hold_for(binding)
    }
}

impl Infer<'_> {
    /// Returns true if inference may go on with assumed types.
    pub(super) fn assumes(&self) -> bool {
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
        let (at, expr) = self.batch.origins[entry.origin as usize];
        let Some(&result) = entry.args.last() else { return };
        let is_unknown = self.solver.table.is_unknown(result);
        let Some(&open) = self.batch.indices.get(&at).filter(|_| is_unknown) else {
            return self.give_up(Some(result));
        };
        // The relation may be a constraint of a function, and its result part of a type.
        let own = self.batch.units[open].exprs.get(expr.index());
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
            Ok(_) => self.batch.units[open].assumed.push(expr),
            Err(_) => self.give_up(Some(result)),
        }
    }

    /// Returns `node`, or a node of the type in the comment of an expression if `node` is unknown
    /// because of an error.
    pub(super) fn or_assumed(&mut self, at: UnitRef, expr: ExprId, node: NodeId) -> NodeId {
        if !matches!(self.solver.table.leaf(node), Some(Type::Error)) || !self.assumes() {
            return node;
        }
        let printed = self.printed(at, expr);
        let is_known = printed.is_some() && self.is_external(at, expr);
        let Some(ty) = printed.or_else(|| self.of_similar(at, expr)) else { return node };
        if !is_known {
            self.current().assumed.push(expr);
        }
        self.solver.table.import(&ty)
    }

    /// Returns true for a call of, or with, a name that is in another text or of another compiler. The type that was
    /// printed after it is no assumption: whoever printed it knew the name, and it is not an error here.
    fn is_external(&self, at: UnitRef, expr: ExprId) -> bool {
        if self.env.strict() {
            return false;
        }
        let unit = self.unit(at);
        let is_constructor = |name| self.env.module().types.constructor(name).is_some();
        let is_elsewhere = |expr: ExprId| match unit.expr(expr) {
            Expr::Global(name) => matches!(self.env.global(name), Global::Missing | Global::Opaque),
            Expr::Name(name) => !is_constructor(name) && operators::named(name).is_none(),
            _ => false,
        };
        let Expr::Call(call) = unit.expr(expr) else { return is_elsewhere(expr) };
        let call = unit.call(*call);
        let is_other = match &call.callee {
            Callee::Name(name) => !is_constructor(name),
            Callee::Expr(callee) => is_elsewhere(*callee),
            Callee::Operator(_) => false,
        };
        is_other || call.args.iter().any(|&arg| is_elsewhere(arg))
    }

    /// Returns the type in the comment after an expression.
    fn printed(&self, at: UnitRef, expr: ExprId) -> Option<Type> {
        let comment = self.unit(at).comment_about(Subject::Expr(expr))?;
        printed_type(&comment.text).filter(Type::is_closed)
    }

    /// Returns the type of a call of an unknown name if it were one of the operator that has the name in its module, or
    /// of the most similar one.
    fn of_similar(&mut self, at: UnitRef, expr: ExprId) -> Option<Type> {
        let unit = self.unit(at);
        let Expr::Call(call) = unit.expr(expr) else { return None };
        let data = unit.call(*call);
        let Callee::Name(name) = &data.callee else { return None };
        let meaning = unit.unqualified(data);
        // The attributes of an unknown operator are not checked.
        let is_plain = data.whole && data.written.is_empty() && data.meta_attrs.is_none();
        if meaning.is_none() && !is_plain || self.env.module().types.constructor(name).is_some() {
            return None;
        }
        let (operator, args, attrs) = match meaning {
            Some(meaning) => (meaning.operator, &meaning.args, meaning.attrs.clone()),
            None => {
                let operator = self.similar(name)?;
                let attrs = operator.schema.map_or_else(Attrs::none, Attrs::defaults);
                (operator, &data.args, attrs)
            }
        };
        operator.rule.filter(|_| operator.args.len() == args.len())?;
        let args = args.iter().map(|&arg| match (unit.expr(arg), meaning) {
            (Expr::Literal(Literal::Int { dtype: None, claimed: None, .. }), Some(_)) => {
                Type::scalar(DataType::INT32)
            }
            _ => self.solver.table.resolve(self.node(arg)),
        });
        let args: Vec<Type> = args.collect();
        if !may_be_tried(&args) {
            return None;
        }
        let result = result_of_call(operator, &attrs, &args);
        result.filter(|ty| ty.is_closed() && !ty.has_error())
    }

    /// Returns the operator that is suggested for an unknown name.
    fn similar(&mut self, name: &Name) -> Option<&'static Operator> {
        if let Some(known) = self.similar.get(name) {
            return *known;
        }
        let operator = operators::nearest(name).and_then(operators::find);
        self.similar.insert(name.clone(), operator);
        operator
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
        if !may_be_tried(&inputs) {
            return None;
        }
        let with = |position: usize, ty: Type| {
            let mut given = inputs.clone();
            given[position] = ty;
            given
        };
        let all: Vec<Type> = inputs.iter().map(without_sizes).collect();
        let mut tries: Vec<Vec<Type>> = Vec::new();
        let sizes: Vec<usize> = inputs.iter().map(count_sizes).collect();
        if sizes.iter().sum::<usize>() <= MAX_RELAXED_SIZES {
            for position in (0..inputs.len()).rev() {
                let ty = &inputs[position];
                tries.extend((0..sizes[position]).map(|at| with(position, without_size(ty, at))));
            }
        }
        if (2..=MAX_RELAXED).contains(&inputs.len()) {
            let positions = (0..inputs.len()).rev();
            tries.extend(positions.map(|position| with(position, all[position].clone())));
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
}

/// The propagation of assumed types through a unit, in the order of evaluation. Its lists are kept
/// for the next unit.
#[derive(Default)]
struct Spread {
    frees: Bits,
    exprs: Bits,
    binders: Bits,
}

impl Spread {
    /// Begins a unit with the variables of its free names, and a function that returns true for
    /// those that depend on assumed types.
    fn begin(
        &mut self,
        frees: impl Iterator<Item = Option<LocalRef>>,
        is_marked: impl Fn(LocalRef) -> bool,
    ) {
        self.frees.clear();
        for (number, binding) in frees.enumerate() {
            if binding.is_some_and(&is_marked) {
                self.frees.set(number);
            }
        }
    }

    /// Propagates through a unit that has been begun: the expressions `own` are assumed.
    fn run(&mut self, unit: &Unit, own: &[ExprId]) {
        self.exprs.clear();
        self.binders.clear();
        own.iter().for_each(|expr| self.exprs.set(expr.index()));
        for (index, expr) in (0..).zip(&unit.exprs) {
            let id = ExprId(index);
            match expr {
                Expr::Bind { binder, value, .. } => self.bind(unit, *binder, *value),
                Expr::EnterMatch(found) => {
                    let found = unit.matches.get(found.index());
                    let found = found.filter(|found| self.is(found.scrutinee));
                    let arms = found.into_iter().flat_map(|found| &found.arms);
                    for pattern in arms.flat_map(|arm| arm.pattern.all()) {
                        if let PatternKind::Var(binder) = pattern.kind
                            && unit.binder(binder).annotation.is_none()
                        {
                            self.binders.set(binder.index());
                        }
                    }
                }
                Expr::Free(free) if self.frees.get(free.index()) => self.exprs.set(id.index()),
                Expr::Dotted { whole, .. } if self.frees.get(whole.index()) => {
                    self.exprs.set(id.index());
                }
                _ if self.reads(unit, id) => self.exprs.set(id.index()),
                _ => {}
            }
        }
        if let (Some(binder), Some(root)) = (unit.binds, unit.root) {
            self.bind(unit, binder, root);
        }
    }

    /// Returns the types of a unit without the findings and stale comments that depend on assumed
    /// types, if it has any.
    fn filter(&self, unit: &Unit, types: &UnitTypes) -> Option<UnitTypes> {
        let holds = |number: u32| match unit.type_comments[number as usize].subject {
            Subject::Expr(expr) => self.is(expr),
            Subject::Binder(binder) => self.binders.get(binder.index()),
        };
        let is_unreliable = |finding: &Finding| self.is_unreliable(unit, finding);
        if !types.findings.iter().any(is_unreliable) && !types.stale.iter().copied().any(holds) {
            return None;
        }
        let findings = types.findings.iter().filter(|finding| !is_unreliable(finding));
        let stale = types.stale.iter().copied().filter(|&number| !holds(number));
        Some(UnitTypes {
            findings: findings.cloned().collect(),
            stale: stale.collect(),
            ..types.clone()
        })
    }

    fn is(&self, expr: ExprId) -> bool {
        self.exprs.get(expr.index())
    }

    /// A variable without an annotation has the type of its value.
    fn bind(&mut self, unit: &Unit, binder: BinderId, value: ExprId) {
        if self.is(value) && unit.binder(binder).annotation.is_none() {
            self.binders.set(binder.index());
        }
    }

    /// Returns true if the type of an expression depends on the assumed type of an operand.
    fn reads(&self, unit: &Unit, expr: ExprId) -> bool {
        match unit.expr(expr) {
            Expr::Bound(binder) => self.binders.get(binder.index()),
            // The result of the propagation.
            Expr::Free(_) => self.is(expr),
            Expr::Dotted { tuple, .. } => self.is(*tuple) || self.is(expr),
            Expr::Tuple(fields) => fields.iter().any(|&field| self.is(field)),
            Expr::Proj { tuple, .. } => self.is(*tuple),
            Expr::Call(call) => {
                let call = unit.call(*call);
                let callee = matches!(call.callee, Callee::Expr(callee) if self.is(callee));
                callee || call.args.iter().any(|&arg| self.is(arg))
            }
            Expr::If { .. } | Expr::Match(_) => {
                unit.branches_of(expr).iter().any(|&branch| self.is(branch))
            }
            Expr::Fn(function) => {
                let function = unit.fns.get(function.index());
                let body = function.filter(|function| function.ret.is_none());
                body.and_then(|body| body.body).is_some_and(|body| self.is(body.result))
            }
            Expr::RefNew(inner) | Expr::RefRead(inner) => self.is(*inner),
            Expr::RefWrite(reference, value) => self.is(*reference) || self.is(*value),
            _ => false,
        }
    }

    /// Returns true if a finding depends on an assumed type, which may be wrong.
    fn is_unreliable(&self, unit: &Unit, finding: &Finding) -> bool {
        match finding.depends_on {
            DependsOn::Text => false,
            DependsOn::Value(expr) | DependsOn::Body(expr) => self.is(expr),
            DependsOn::Operands(expr) | DependsOn::Call(expr) => self.reads(unit, expr),
            // The number of arguments of an operator does not depend on types.
            DependsOn::ArgumentCount(call) => match unit.expr(call) {
                Expr::Call(call) => {
                    let callee = &unit.call(*call).callee;
                    matches!(callee, Callee::Expr(callee) if self.is(*callee))
                }
                _ => false,
            },
            DependsOn::Matched => unit.matches.iter().any(|found| self.is(found.scrutinee)),
        }
    }
}

/// Returns true if the types of arguments are known, and small enough to try the relation with them.
fn may_be_tried(types: &[Type]) -> bool {
    let weight = types.iter().fold(0u32, |sum, ty| sum.saturating_add(ty.weight()));
    weight <= MAX_RELAXED_WEIGHT && types.iter().all(|ty| ty.is_closed() && !ty.has_error())
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
