//! Origins of sizes: the chain from a size back to the parameter, attribute or constant that set
//! it.
//!
//! ```text
//! def @f(%x: Tensor[(2, 3), float32]) {
//!   let %y = transpose(%x);   // axis 0 from axis 1
//!   nn.relu(%y)               // axis 0 is 3, set by axis 1 of `%x`
//! }
//! ```
//!
//! The dependencies of an operator are probed with its type relation, instead of declared a second
//! time: if one size of an argument is replaced by `?`, the sizes of the result that become `?`
//! depend on it.

mod dtypes;
mod probes;
mod step;

use std::{
    cell::{Cell, RefCell},
    collections::hash_map::Entry,
};

use rustc_hash::FxHashMap;
use syntax::TextRange;
use types::{Dim, Type, probe};

use dtypes::{DtypeSource, dtype_source, made};
use probes::{EqualSize, decided_together, erase, mentions, parts, unknown_source};
pub use step::Step;
use step::{SizedValue, StepKind};

use crate::{body::*, view::View};

/// The maximum number of steps of a chain that are shown.
const MAX_STEPS: usize = 6;
/// The maximum number of steps that are followed. Steps that keep a size are not shown, except
/// `transpose`.
const MAX_FOLLOWED: usize = 2_000;
/// The maximum number of expressions visited for all findings of a definition.
const MAX_ALL_FOLLOWED: usize = 10_000;
/// The maximum number of sizes of arguments that are probed for one step. A concatenation of more
/// tensors has no known origin.
const MAX_PROBES: usize = 256;

/// The memo of the origins of sizes and data types in a definition.
///
/// Errors at the end of a long definition have origins along the same statements. Each expression
/// is visited once for all of them, and at most [`MAX_ALL_FOLLOWED`] in a definition.
#[derive(Default)]
pub(super) struct Origins {
    /// The last link of the chain of each size that was followed; `None` if its origin is unknown.
    sizes: RefCell<FxHashMap<(ExprRef, usize), Option<usize>>>,
    links: RefCell<Vec<Link>>,
    /// The declaration that determines the data type of each expression.
    dtypes: RefCell<FxHashMap<ExprRef, Option<Step>>>,
    followed: Cell<usize>,
}

/// A step of a chain, with the index of the previous one.
struct Link {
    step: Step,
    before: Option<usize>,
    /// The index of the first step, and the number of steps up to this one.
    origin: usize,
    length: usize,
}

impl Origins {
    /// Returns the chain of a size, from the step that set it to the last one that changed it.
    pub(super) fn of(&self, view: &View<'_>, expr_ref: ExprRef, axis: usize) -> Vec<Step> {
        let links = &mut *self.links.borrow_mut();
        let Some(nearest) = self.follow(view, expr_ref, axis, links) else { return Vec::new() };
        let length = links[nearest].length;
        let chain = std::iter::successors(Some(nearest), |&at| links[at].before);
        let mut steps: Vec<Step> = chain.take(MAX_STEPS).map(|at| links[at].step.clone()).collect();
        if length > MAX_STEPS {
            let origin = links[links[nearest].origin].step.clone();
            leave_out(&mut steps, origin, length - MAX_STEPS);
        }
        steps.reverse();
        steps
    }

    /// Follows a size to its origin. Returns the index of the last link of the chain.
    fn follow(
        &self,
        view: &View<'_>,
        expr_ref: ExprRef,
        axis: usize,
        links: &mut Vec<Link>,
    ) -> Option<usize> {
        let sizes = &mut *self.sizes.borrow_mut();
        let mut walk = Walk { view, place: Some((expr_ref, None, axis)) };
        let mut path: Vec<((ExprRef, usize), Option<Step>)> = Vec::new();
        let mut found = None;
        while path.len() < MAX_FOLLOWED
            && let Some((expr_ref, _, axis)) = walk.place
            && self.may_follow()
        {
            match sizes.entry((expr_ref, axis)) {
                Entry::Occupied(known) => {
                    found = *known.get();
                    break;
                }
                // In invalid code a size may depend on itself: it has no origin.
                Entry::Vacant(new) => new.insert(None),
            };
            let step = walk.advance().and_then(|(source, step)| match source {
                SizeSource::Same(_, from) => transposed(view, expr_ref, axis, from),
                SizeSource::Changed(..) | SizeSource::Set => step,
            });
            path.push(((expr_ref, axis), step));
        }
        for (place, step) in path.into_iter().rev() {
            if let Some(step) = step {
                let at = links.len();
                let (origin, length) =
                    found.map_or((at, 1), |b: usize| (links[b].origin, links[b].length + 1));
                links.push(Link { step, before: found, origin, length });
                found = Some(at);
            }
            sizes.insert(place, found);
        }
        found
    }

    /// Counts a visited expression. Returns false after [`MAX_ALL_FOLLOWED`] of them.
    fn may_follow(&self) -> bool {
        let followed = self.followed.get() + 1;
        self.followed.set(followed);
        followed <= MAX_ALL_FOLLOWED
    }

    /// Returns the parameter or the operator that a value has its data type from, through operators that preserve
    /// it.
    pub(super) fn of_dtype(&self, view: &View<'_>, expr_ref: ExprRef) -> Option<Step> {
        let dtypes = &mut *self.dtypes.borrow_mut();
        let mut path = Vec::new();
        let mut next = Some(expr_ref);
        let mut found = None;
        while let Some(expr_ref) = next.filter(|_| path.len() < MAX_FOLLOWED && self.may_follow()) {
            if let Some(known) = dtypes.get(&expr_ref) {
                found = known.clone();
                break;
            }
            dtypes.insert(expr_ref, None);
            path.push(expr_ref);
            (next, found) = match dtype_source(view, expr_ref) {
                Some(DtypeSource::Same(value)) => (Some(value), None),
                Some(DtypeSource::Declared) => (None, declaration(view, expr_ref)),
                Some(DtypeSource::Made(operator)) => (None, made(view, expr_ref, operator)),
                None => (None, None),
            };
        }
        if let Some(found) = &found {
            dtypes.extend(path.into_iter().map(|expr_ref| (expr_ref, Some(found.clone()))));
        }
        found
    }
}

/// Returns all steps of the chain of a size, the origin first: the step that set it, those that
/// changed it, and the relations that preserved it. Of a chain with more than `most` steps, the
/// ones after the origin are left out, and a message gives their number.
///
/// With `of_field`, the size is that of one field of a tuple.
pub fn chain_of(
    view: &View<'_>,
    expr_ref: ExprRef,
    of_field: Option<usize>,
    axis: usize,
    most: usize,
) -> Vec<Step> {
    let trail = trail_of(view, expr_ref, of_field, axis, MAX_FOLLOWED);
    let mut steps: Vec<Step> = trail.steps.into_iter().map(|(step, _)| step).collect();
    let (length, most) = (steps.len(), most.max(2));
    if length > most
        && let Some(origin) = steps.pop()
    {
        steps.truncate(most);
        leave_out(&mut steps, origin, length - most);
    }
    steps.reverse();
    steps
}

/// Replaces the last of the steps that are kept by the origin, and notes the number of those left out before it.
fn leave_out(steps: &mut Vec<Step>, origin: Step, left_out: usize) {
    steps.pop();
    if let Some(last) = steps.last_mut() {
        last.left_out = left_out;
    }
    steps.push(origin);
}

/// A walk from a size towards its origin.
struct Walk<'v, 'db> {
    view: &'v View<'db>,
    /// The next expression, its field if it is a tuple, and the axis; `None` after the origin.
    place: Option<(ExprRef, Option<usize>, usize)>,
}

impl Walk<'_, '_> {
    /// Goes to the source of the size; returns `None` if it is unknown.
    fn advance(&mut self) -> Option<SourceStep> {
        let (expr_ref, field, axis) = self.place.take()?;
        let next = next(self.view, expr_ref, field, axis)?;
        self.place = match next.0 {
            SizeSource::Same(expr_ref, axis) | SizeSource::Changed(expr_ref, axis) => {
                Some((expr_ref, None, axis))
            }
            SizeSource::Set => None,
        };
        Some(next)
    }
}

/// The result of following a size towards its origin over a limited number of expressions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trail {
    /// The steps, the last one first; true if the step preserves the size.
    pub steps: Vec<(Step, bool)>,
    /// The expressions with the same size, the last one first, each with the axis of the size.
    pub same: Vec<(ExprRef, usize)>,
    /// The expression and the axis at which the limit was reached, if the origin was not.
    pub rest: Option<(ExprRef, usize)>,
    /// The number of expressions visited.
    pub followed: usize,
}

/// Follows a size towards its origin over at most `follow` expressions.
///
/// With `of_field`, the size is that of one field of a tuple.
pub fn trail_of(
    view: &View<'_>,
    expr_ref: ExprRef,
    of_field: Option<usize>,
    axis: usize,
    follow: usize,
) -> Trail {
    let mut trail = Trail::default();
    let mut walk = Walk { view, place: Some((expr_ref, of_field, axis)) };
    let mut is_same = true;
    while let Some((expr_ref, field, axis)) = walk.place {
        if trail.followed == follow {
            trail.rest = Some((expr_ref, axis));
            break;
        }
        if trail.followed % 16 == 0 {
            view.db.unwind_if_revision_cancelled();
        }
        trail.followed += 1;
        if is_same && field.is_none() {
            trail.same.push((expr_ref, axis));
        }
        match walk.advance() {
            Some((SizeSource::Same(_, from), _)) => {
                let of = if field.is_some() { view.resolve(expr_ref) } else { expr_ref };
                trail.steps.extend(passed(view, of, axis, from).map(|step| (step, true)));
            }
            Some((SizeSource::Changed(..) | SizeSource::Set, step)) => {
                is_same = false;
                trail.steps.extend(step.map(|step| (step, false)));
            }
            None => {}
        }
    }
    trail
}

/// Returns the step of an operator such as `transpose` that moves a size to another axis. It is the only step shown
/// that preserves a size, because it often explains a conflict.
fn transposed(view: &View<'_>, expr_ref: ExprRef, axis: usize, from: usize) -> Option<Step> {
    let call = view.call(expr_ref)?;
    let Callee::Operator(operator) = call.callee else { return None };
    if axis == from || !operator.reorders_axes {
        return None;
    }
    let range = view
        .attribute_range(expr_ref, "axes")
        .unwrap_or_else(|| view.place(expr_ref.unit, call.callee_range));
    Some(Step::new(range, StepKind::Kept { operator, axis, from, relation: None }))
}

/// Returns the step of an operator that preserves a size, with its relation.
fn passed(view: &View<'_>, expr_ref: ExprRef, axis: usize, from: usize) -> Option<Step> {
    if view.variable(expr_ref).is_some() {
        return None;
    }
    let value = match view.unit(expr_ref.unit).expr(expr_ref.expr) {
        // A field of the result of an operator.
        Expr::Proj { tuple, .. } => view.resolve(expr_ref.sibling(*tuple)),
        _ => expr_ref,
    };
    let call = view.call(value)?;
    let Callee::Operator(operator) = call.callee else { return None };
    let relation = Some(operator.rule?.0);
    let range = view.place(value.unit, call.callee_range);
    Some(Step::new(range, StepKind::Kept { operator, axis, from, relation }))
}

/// The immediate source of the size of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeSource {
    /// The size of this axis of this expression.
    Same(ExprRef, usize),
    /// A size computed from this axis of this expression.
    Changed(ExprRef, usize),
    /// A size that is set by the expression itself.
    Set,
}

/// Returns the immediate source of the size of an axis of `expr_ref`, or of one field of it if `expr_ref`
/// is a tuple.
pub fn source_of(
    view: &View<'_>,
    expr_ref: ExprRef,
    of_field: Option<usize>,
    axis: usize,
) -> SizeSource {
    next(view, expr_ref, of_field, axis).map_or(SizeSource::Set, |(source, _)| source)
}

/// Returns the declaration of the type of a variable, for conflicts that do not concern a single
/// axis.
pub(super) fn declaration(view: &View<'_>, expr_ref: ExprRef) -> Option<Step> {
    let binding = view.variable(expr_ref)?;
    let (name, ty) = (view.binder(binding).name.clone(), view.binding_type(binding).clone());
    let range = view.annotation_range(binding).unwrap_or_else(|| view.binding_range(binding));
    Some(Step::new(range, StepKind::Declared { name, ty }))
}

/// The source of a size, with the step that is shown unless the size is that of the source.
type SourceStep = (SizeSource, Option<Step>);

fn same(expr_ref: ExprRef, axis: usize) -> SourceStep {
    (SizeSource::Same(expr_ref, axis), None)
}

fn set(range: TextRange, kind: StepKind) -> SourceStep {
    (SizeSource::Set, Some(Step::new(range, kind)))
}

fn size_of(ty: &Type, axis: usize) -> Option<&Dim> {
    ty.as_tensor()?.shape.get(axis)
}

/// Returns the source of the size of an axis of an expression, or of a field of it; `None` if it is unknown.
fn next(
    view: &View<'_>,
    expr_ref: ExprRef,
    of_field: Option<usize>,
    axis: usize,
) -> Option<SourceStep> {
    match of_field {
        Some(index) => field(view, expr_ref, index, axis),
        None => step(view, expr_ref, axis),
    }
}

fn step(view: &View<'_>, expr_ref: ExprRef, axis: usize) -> Option<SourceStep> {
    if let Some(binding) = view.variable(expr_ref) {
        return match view.value(binding) {
            Some(value) => Some(same(value, axis)),
            None => parameter(view, binding, axis),
        };
    }
    let unit = view.unit(expr_ref.unit);
    Some(match unit.expr(expr_ref.expr) {
        Expr::Call(call) => return call_step(view, expr_ref, unit.call(*call), axis),
        Expr::Proj { tuple, index } => {
            return field(view, expr_ref.sibling(*tuple), *index as usize, axis);
        }
        Expr::If { .. } | Expr::Match(_) => {
            same(expr_ref.sibling(*unit.branches_of(expr_ref.expr).first()?), axis)
        }
        Expr::Filled(_) | Expr::Meta(_) => {
            let size = size_of(view.ty(expr_ref), axis)?.clone();
            let kind = StepKind::Size { axis, of: SizedValue::Constant, size };
            set(view.range(expr_ref), kind)
        }
        _ => return None,
    })
}

/// Returns the step of a variable without a value: a parameter or a pattern variable.
fn parameter(view: &View<'_>, binding: LocalRef, axis: usize) -> Option<SourceStep> {
    let size = size_of(view.binding_type(binding), axis)?.clone();
    let written = view.annotation_node(binding).and_then(|ty| view.dim_range(ty, axis));
    let range = written.unwrap_or_else(|| view.binding_range(binding));
    let of = SizedValue::Variable(view.binder(binding).name.clone());
    Some(set(range, StepKind::Size { axis, of, size }))
}

/// Returns the step of a size of a field of a tuple.
fn field(view: &View<'_>, tuple: ExprRef, index: usize, axis: usize) -> Option<SourceStep> {
    let value = view.resolve(tuple);
    let unit = view.unit(value.unit);
    match unit.expr(value.expr) {
        Expr::Tuple(fields) => Some(same(value.sibling(*fields.get(index)?), axis)),
        Expr::Call(call) => operator_step(view, value, unit.call(*call), Some(index), axis),
        _ => {
            let binding = view.variable(value)?;
            let size = size_of(view.binding_type(binding).as_tuple()?.get(index)?, axis)?.clone();
            let of = SizedValue::Field(index, view.binder(binding).name.clone());
            Some(set(view.binding_range(binding), StepKind::Size { axis, of, size }))
        }
    }
}

fn call_step(
    view: &View<'_>,
    expr_ref: ExprRef,
    call: &CallData,
    axis: usize,
) -> Option<SourceStep> {
    match &call.callee {
        Callee::Operator(_) => operator_step(view, expr_ref, call, None, axis),
        Callee::Expr(callee) => {
            let callee = expr_ref.sibling(*callee);
            let size = size_of(view.ty(expr_ref), axis)?.clone();
            let kind = StepKind::Returned { callee: view.describe(callee), axis, size };
            Some(set(view.range(callee), kind))
        }
        Callee::Name(_) => None,
    }
}

/// Returns the step of a size of the result of an operator, or of one field of it.
fn operator_step(
    view: &View<'_>,
    expr_ref: ExprRef,
    call: &CallData,
    field: Option<usize>,
    axis: usize,
) -> Option<SourceStep> {
    let Callee::Operator(operator) = call.callee else { return None };
    let relation = operator.relation(&call.attrs)?;
    let call_range = view.place(expr_ref.unit, call.callee_range);
    let arg = |position: usize| expr_ref.sibling(call.args[position]);
    let inputs: Vec<Type> = (0..call.args.len()).map(|i| view.ty(arg(i)).clone()).collect();
    let result = |inputs: &[Type]| -> Option<Dim> {
        let (_, types) = probe(&relation, operator.args, inputs);
        let result = types.last()?;
        let result = match field {
            Some(field) => result.as_tuple()?.get(field)?,
            None => result,
        };
        size_of(result, axis).cloned()
    };
    let own = match field {
        Some(field) => view.ty(expr_ref).as_tuple()?.get(field)?,
        None => view.ty(expr_ref),
    };
    let here = size_of(own, axis)?.clone();
    if here.is_any() {
        let found = unknown_source(view, &inputs, &arg, &result);
        let is_computed = found.is_some();
        let step = Step::new(call_range, StepKind::Unknown { operator, axis, is_computed });
        return Some(match found {
            Some((source, source_axis, true)) => same(source, source_axis),
            Some((source, source_axis, false)) => {
                (SizeSource::Changed(source, source_axis), Some(step))
            }
            None => (SizeSource::Set, Some(step)),
        });
    }
    let is_missed = |inputs: &[Type]| result(inputs).is_none_or(|size| size != here);
    let mut sources: Vec<(ExprRef, usize, Dim)> = Vec::new();
    // In `add(%a, %b)` each of two equal sizes determines the result alone: only erasing both shows
    // the dependency.
    let mut equal: Vec<EqualSize> = Vec::new();
    let mut probes = 0;
    for position in 0..inputs.len() {
        for (part, source, ty) in parts(view, arg(position), &inputs[position]) {
            let rank = ty.as_tensor().map_or(0, |t| t.rank());
            for source_axis in 0..rank {
                probes += 1;
                if probes > MAX_PROBES {
                    return None;
                }
                let mut changed = inputs.clone();
                changed[position] = erase(&inputs[position], part, source_axis);
                if changed[position] == inputs[position] {
                    continue;
                }
                if size_of(&ty, source_axis) == Some(&here) {
                    let from_end = rank - source_axis;
                    equal.push(EqualSize { position, part, source, axis: source_axis, from_end });
                }
                if is_missed(&changed)
                    && let Some(size) = size_of(&ty, source_axis)
                {
                    sources.push((source, source_axis, size.clone()));
                }
            }
        }
    }
    if sources.is_empty() && !equal.is_empty() {
        let own = own.as_tensor().map_or(0, |tensor| tensor.rank()).saturating_sub(axis);
        let decided = decided_together(&inputs, &equal, own, &is_missed).into_iter();
        sources = decided.map(|at| (equal[at].source, equal[at].axis, here.clone())).collect();
    }
    // A size that is preserved takes precedence.
    if let Some((source, source_axis, _)) = sources.iter().find(|(.., size)| *size == here) {
        return Some(same(*source, *source_axis));
    }
    if let Some((source, source_axis, from)) = sources.into_iter().next() {
        let step = Step::new(call_range, StepKind::Computed { operator, axis, size: here, from });
        return Some((SizeSource::Changed(source, source_axis), Some(step)));
    }
    // `ones(shape=[3])` sets a size to 3, also where it is required to be `n`.
    let size = result(&inputs).unwrap_or(here);
    let attr = call.written.iter().find(|attr| mentions(&attr.value, &size));
    let range = attr.and_then(|attr| view.attribute_range(expr_ref, &attr.name));
    let by = attr.map_or_else(|| operator.name.into(), |attr| attr.name.clone());
    let kind = StepKind::Set { by, axis, size };
    Some(set(range.unwrap_or(call_range), kind))
}
