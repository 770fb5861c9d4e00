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

use std::{
    cell::{Cell, RefCell},
    collections::hash_map::Entry,
};

use rustc_hash::FxHashMap;
use syntax::TextRange;
use types::{Dim, Relation, Type, probe};

use dtypes::{DtypeSource, dtype_source};
use probes::{Equal, decided_together, erase, mentions, parts, unknown_source};

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

/// One step of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The range in the file.
    pub range: TextRange,
    /// A sentence about the change of the size.
    pub message: String,
}

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
        let mut steps = Vec::new();
        let mut next = Some(nearest);
        while let Some(at) = next.filter(|_| steps.len() < MAX_STEPS) {
            steps.push(links[at].step.clone());
            next = links[at].before;
        }
        // The origin and the last steps are kept.
        if length > MAX_STEPS {
            steps.truncate(MAX_STEPS - 1);
            if let Some(last) = steps.last_mut() {
                let left_out = length - MAX_STEPS;
                last.message = format!("{} ({left_out} more steps are not shown)", last.message);
            }
            steps.push(links[links[nearest].origin].step.clone());
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
        let (mut expr_ref, mut axis) = (expr_ref, axis);
        let mut path: Vec<((ExprRef, usize), Option<Step>)> = Vec::new();
        let mut found = None;
        let link = |step: Step, before: Option<usize>, links: &mut Vec<Link>| {
            let at = links.len();
            let (origin, length) =
                before.map_or((at, 1), |b| (links[b].origin, links[b].length + 1));
            links.push(Link { step, before, origin, length });
            Some(at)
        };
        while path.len() < MAX_FOLLOWED && self.may_follow() {
            match sizes.entry((expr_ref, axis)) {
                Entry::Occupied(known) => {
                    found = *known.get();
                    break;
                }
                // In invalid code a size may depend on itself: it has no origin.
                Entry::Vacant(new) => new.insert(None),
            };
            match step(view, expr_ref, axis) {
                Next::Same(next, next_axis) => {
                    path.push(((expr_ref, axis), transposed(view, expr_ref, axis, next_axis)));
                    (expr_ref, axis) = (next, next_axis);
                }
                Next::Changed(step, next, next_axis) => {
                    path.push(((expr_ref, axis), Some(step)));
                    (expr_ref, axis) = (next, next_axis);
                }
                Next::Set(step) => {
                    found = link(step, None, links);
                    sizes.insert((expr_ref, axis), found);
                    break;
                }
                Next::Unknown => break,
            }
        }
        for (place, step) in path.into_iter().rev() {
            if let Some(step) = step {
                found = link(step, found, links);
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

    /// Returns the parameter that a value has its data type from, through operators that preserve
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
    let most = most.max(2);
    if steps.len() > most {
        let left_out = steps.len() - most;
        let origin = steps.pop();
        steps.truncate(most - 1);
        if let Some(last) = steps.last_mut() {
            last.message = format!("{} ({left_out} more steps are not shown)", last.message);
        }
        steps.extend(origin);
    }
    steps.reverse();
    steps
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
    let (mut expr_ref, mut of_field, mut axis) = (expr_ref, of_field, axis);
    let mut is_same = true;
    for count in 0..follow {
        if count % 16 == 0 {
            view.db.unwind_if_revision_cancelled();
        }
        trail.followed = count + 1;
        let is_field = of_field.is_some();
        if is_same && !is_field {
            trail.same.push((expr_ref, axis));
        }
        let next = match of_field.take() {
            Some(index) => field(view, expr_ref, index, axis),
            None => step(view, expr_ref, axis),
        };
        match next {
            Next::Same(next, next_axis) => {
                let of = if is_field { view.resolve(expr_ref) } else { expr_ref };
                trail.steps.extend(passed(view, of, axis, next_axis).map(|step| (step, true)));
                (expr_ref, axis) = (next, next_axis);
            }
            Next::Changed(step, next, next_axis) => {
                is_same = false;
                trail.steps.push((step, false));
                (expr_ref, axis) = (next, next_axis);
            }
            Next::Set(step) => {
                trail.steps.push((step, false));
                return trail;
            }
            Next::Unknown => return trail,
        }
    }
    trail.rest = Some((expr_ref, axis));
    trail
}

/// Returns the step of a `transpose` that moves a size to another axis. It is the only step shown
/// that preserves a size, because it often explains a conflict.
fn transposed(view: &View<'_>, expr_ref: ExprRef, axis: usize, from: usize) -> Option<Step> {
    let Expr::Call(call) = view.unit(expr_ref.unit).expr(expr_ref.expr) else { return None };
    let call = view.unit(expr_ref.unit).call(*call);
    let Callee::Operator(operator) = &call.callee else { return None };
    if axis == from || operator.name != "transpose" {
        return None;
    }
    let range = view
        .attribute_range(expr_ref, "axes")
        .unwrap_or_else(|| view.place(expr_ref.unit, call.callee_range));
    Some(Step { range, message: format!("`transpose` takes axis {axis} from axis {from}") })
}

/// Returns the step of an operator that preserves a size, with its relation.
fn passed(view: &View<'_>, expr_ref: ExprRef, axis: usize, from: usize) -> Option<Step> {
    let value = match view.variable(expr_ref) {
        Some(_) => return None,
        None => expr_ref,
    };
    let unit = view.unit(value.unit);
    let call = match unit.expr(value.expr) {
        Expr::Call(call) => unit.call(*call),
        // A field of the result of an operator.
        Expr::Proj { tuple, .. } => {
            let value = view.resolve(ExprRef { unit: value.unit, expr: *tuple });
            match view.unit(value.unit).expr(value.expr) {
                Expr::Call(call) => {
                    let call = view.unit(value.unit).call(*call);
                    return passed_call(view, value.unit, call, axis, from);
                }
                _ => return None,
            }
        }
        _ => return None,
    };
    passed_call(view, value.unit, call, axis, from)
}

fn passed_call(
    view: &View<'_>,
    unit: UnitId,
    call: &CallData,
    axis: usize,
    from: usize,
) -> Option<Step> {
    let Callee::Operator(operator) = &call.callee else { return None };
    let (relation, _) = operator.rule?;
    let how = if axis == from {
        format!("keeps axis {axis}")
    } else {
        format!("takes axis {axis} from axis {from}")
    };
    Some(Step {
        range: view.place(unit, call.callee_range),
        message: format!("`{}` {how}, by `{relation}`", operator.name),
    })
}

/// The immediate source of the size of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
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
) -> Source {
    let next = match of_field {
        Some(index) => field(view, expr_ref, index, axis),
        None => step(view, expr_ref, axis),
    };
    match next {
        Next::Same(expr_ref, axis) => Source::Same(expr_ref, axis),
        Next::Changed(_, expr_ref, axis) => Source::Changed(expr_ref, axis),
        Next::Set(_) | Next::Unknown => Source::Set,
    }
}

/// Returns the declaration of the type of a variable, for conflicts that do not concern a single
/// axis.
pub(super) fn declaration(view: &View<'_>, expr_ref: ExprRef) -> Option<Step> {
    let binding = view.variable(expr_ref)?;
    let binder = view.binder(binding);
    let ty = view.binding_type(binding);
    let range = match view.annotation_node(binding) {
        Some(node) => node.range() + view.start(),
        None => view.binding_range(binding),
    };
    Some(Step { range, message: format!("`{}` is `{ty}`", binder.name) })
}

enum Next {
    /// The size of another expression, unchanged.
    Same(ExprRef, usize),
    /// A size computed here from another one.
    Changed(Step, ExprRef, usize),
    /// A size set here.
    Set(Step),
    /// The origin is unknown.
    Unknown,
}

fn size_of(ty: &Type, axis: usize) -> Option<&Dim> {
    ty.as_tensor()?.shape.get(axis)
}

fn step(view: &View<'_>, expr_ref: ExprRef, axis: usize) -> Next {
    if let Some(binding) = view.variable(expr_ref) {
        return match view.value(binding) {
            Some(value) => Next::Same(value, axis),
            None => parameter(view, binding, axis),
        };
    }
    let unit = view.unit(expr_ref.unit);
    let at = |expr: ExprId| ExprRef { unit: expr_ref.unit, expr };
    match unit.expr(expr_ref.expr) {
        Expr::Call(call) => call_step(view, expr_ref, unit.call(*call), axis),
        Expr::Proj { tuple, index } => field(view, at(*tuple), *index as usize, axis),
        Expr::If { then, .. } => Next::Same(at(then.result), axis),
        Expr::Match(id) => match unit.matches[id.index()].arms.first() {
            Some(arm) => Next::Same(at(arm.body.result), axis),
            None => Next::Unknown,
        },
        Expr::Filled(_) | Expr::Meta(_) => match size_of(view.ty(expr_ref), axis) {
            Some(size) => Next::Set(Step {
                range: view.range(expr_ref),
                message: format!("axis {axis} of this constant is {size}"),
            }),
            None => Next::Unknown,
        },
        _ => Next::Unknown,
    }
}

/// Returns the step of a variable without a value: a parameter or a pattern variable.
fn parameter(view: &View<'_>, binding: LocalRef, axis: usize) -> Next {
    let binder = view.binder(binding);
    let Some(size) = size_of(view.binding_type(binding), axis) else { return Next::Unknown };
    let written = view.annotation_node(binding).and_then(|ty| view.dim_range(ty, axis));
    Next::Set(Step {
        range: written.unwrap_or_else(|| view.binding_range(binding)),
        message: format!("axis {axis} of `{}` is {size}", binder.name),
    })
}

/// Returns the step of a size of a field of a tuple.
fn field(view: &View<'_>, tuple: ExprRef, index: usize, axis: usize) -> Next {
    let value = view.resolve(tuple);
    let unit = view.unit(value.unit);
    match unit.expr(value.expr) {
        Expr::Tuple(fields) => match fields.get(index) {
            Some(&field) => Next::Same(ExprRef { unit: value.unit, expr: field }, axis),
            None => Next::Unknown,
        },
        Expr::Call(call) => operator_step(view, value, unit.call(*call), Some(index), axis),
        _ => match view.variable(value) {
            Some(binding) => {
                let size = view
                    .binding_type(binding)
                    .as_tuple()
                    .and_then(|f| size_of(f.get(index)?, axis));
                match size {
                    Some(size) => Next::Set(Step {
                        range: view.binding_range(binding),
                        message: format!(
                            "axis {axis} of field {index} of `{}` is {size}",
                            view.binder(binding).name
                        ),
                    }),
                    None => Next::Unknown,
                }
            }
            None => Next::Unknown,
        },
    }
}

fn call_step(view: &View<'_>, expr_ref: ExprRef, call: &CallData, axis: usize) -> Next {
    match &call.callee {
        Callee::Operator(_) => operator_step(view, expr_ref, call, None, axis),
        Callee::Expr(callee) => {
            let callee = ExprRef { unit: expr_ref.unit, expr: *callee };
            let Some(size) = size_of(view.ty(expr_ref), axis) else { return Next::Unknown };
            Next::Set(Step {
                range: view.range(callee),
                message: format!("{} returns {size} on axis {axis}", view.describe(callee)),
            })
        }
        Callee::Name(_) => Next::Unknown,
    }
}

/// Returns the step of a size of the result of an operator, or of one field of it.
fn operator_step(
    view: &View<'_>,
    expr_ref: ExprRef,
    call: &CallData,
    field: Option<usize>,
    axis: usize,
) -> Next {
    let Callee::Operator(operator) = &call.callee else { return Next::Unknown };
    let Some((name, solve)) = operator.rule else { return Next::Unknown };
    let relation = Relation { name, operator: operator.name, solve, attrs: call.attrs.clone() };
    let arg = |position: usize| ExprRef { unit: expr_ref.unit, expr: call.args[position] };
    let inputs: Vec<Type> = (0..call.args.len()).map(|i| view.ty(arg(i)).clone()).collect();
    let result = |types: &[Type]| -> Option<Dim> {
        let result = types.last()?;
        let result = match field {
            Some(field) => result.as_tuple()?.get(field)?,
            None => result,
        };
        size_of(result, axis).cloned()
    };
    let here = match field {
        Some(field) => {
            view.ty(expr_ref).as_tuple().and_then(|f| size_of(f.get(field)?, axis)).cloned()
        }
        None => size_of(view.ty(expr_ref), axis).cloned(),
    };
    let Some(here) = here else { return Next::Unknown };
    if here.is_any() {
        let found = unknown_source(view, &relation, operator.args, &inputs, &arg, &result);
        let range = view.place(expr_ref.unit, call.callee_range);
        return match found {
            Some((source, source_axis, true)) => Next::Same(source, source_axis),
            Some((source, source_axis, false)) => Next::Changed(
                Step {
                    range,
                    message: format!("`{}` computes axis {axis} from a `?`", operator.name),
                },
                source,
                source_axis,
            ),
            None => Next::Set(Step {
                range,
                message: format!("`{}` computes axis {axis} at run time", operator.name),
            }),
        };
    }
    let mut sources: Vec<(ExprRef, usize, Dim)> = Vec::new();
    // In `add(%a, %b)` each of two equal sizes determines the result alone: only erasing both shows
    // the dependency.
    let mut equal: Vec<Equal> = Vec::new();
    let mut probes = 0;
    for position in 0..inputs.len() {
        for (part, source, ty) in parts(view, arg(position), &inputs[position]) {
            let rank = ty.as_tensor().map_or(0, |t| t.rank());
            for source_axis in 0..rank {
                probes += 1;
                if probes > MAX_PROBES {
                    return Next::Unknown;
                }
                let mut changed = inputs.clone();
                changed[position] = erase(&inputs[position], part, source_axis);
                if changed[position] == inputs[position] {
                    continue;
                }
                if size_of(&ty, source_axis) == Some(&here) {
                    let from_end = rank - source_axis;
                    equal.push(Equal { position, part, source, axis: source_axis, from_end });
                }
                let (_, types) = probe(&relation, operator.args, &changed);
                if result(&types).is_none_or(|size| size != here)
                    && let Some(size) = size_of(&ty, source_axis)
                {
                    sources.push((source, source_axis, size.clone()));
                }
            }
        }
    }
    if sources.is_empty() && !equal.is_empty() {
        let rank = match field {
            Some(field) => view.ty(expr_ref).as_tuple().and_then(|f| f.get(field)?.as_tensor()),
            None => view.ty(expr_ref).as_tensor(),
        };
        let own = rank.map_or(0, |tensor| tensor.rank()).saturating_sub(axis);
        sources = decided_together(&relation, operator.args, &inputs, &equal, own, &|types| {
            result(types).is_none_or(|size| size != here)
        })
        .into_iter()
        .map(|at| (equal[at].source, equal[at].axis, here.clone()))
        .collect();
    }
    let call_range = view.place(expr_ref.unit, call.callee_range);
    // A size that is preserved takes precedence.
    if let Some((source, source_axis, _)) = sources.iter().find(|(.., size)| *size == here) {
        return Next::Same(*source, *source_axis);
    }
    match sources.first() {
        Some((source, source_axis, size)) => Next::Changed(
            Step {
                range: call_range,
                message: format!("`{}` computes {here} from {size} on axis {axis}", operator.name),
            },
            *source,
            *source_axis,
        ),
        None => {
            let attr = call.written.iter().find(|attr| mentions(&attr.value, &here));
            let range = attr.and_then(|attr| view.attribute_range(expr_ref, &attr.name));
            let message = match attr {
                Some(attr) => format!("`{}` sets axis {axis} to {here}", attr.name),
                None => format!("`{}` sets axis {axis} to {here}", operator.name),
            };
            Next::Set(Step { range: range.unwrap_or(call_range), message })
        }
    }
}
