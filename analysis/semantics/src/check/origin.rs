//! Where a size came from: a chain back to the parameter, attribute or constant that set it.
//!
//! An operator's rule is asked, not described a second time: one size of one argument is made
//! unknown, and the sizes of the result that become unknown depend on it.

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

use super::relation::attribute_range;
use crate::{
    body::*,
    scope::Binding,
    view::{Spot, View},
};

/// How many steps of a chain are shown.
const MAX_STEPS: usize = 6;
/// How many steps are followed: those that only pass a size on are not shown, but for `transpose`.
const MAX_FOLLOWED: usize = 2_000;
/// How many expressions are looked at for all findings of a definition.
const MAX_ALL_FOLLOWED: usize = 10_000;
/// How many sizes of arguments are tried for one step: a concatenation of thousands is not told
/// apart.
const MAX_PROBES: usize = 256;

/// One step of a chain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Where, in the file.
    pub range: TextRange,
    /// What happens to the size there.
    pub message: String,
}

/// Sizes and data types followed back to where they were set, each place once.
///
/// Errors at the end of a long definition lead back over the same statements. Every expression is
/// looked at once for all of them, and no more than [`MAX_ALL_FOLLOWED`] for a definition.
#[derive(Default)]
pub(super) struct Origins {
    /// The nearest step of the chain of each size that was followed. Nothing, where none is known.
    sizes: RefCell<FxHashMap<(Spot, usize), Option<usize>>>,
    links: RefCell<Vec<Link>>,
    /// The declaration that the data type of each expression comes from.
    dtypes: RefCell<FxHashMap<Spot, Option<Step>>>,
    followed: Cell<usize>,
}

/// A step of a chain, and the one before it.
struct Link {
    step: Step,
    before: Option<usize>,
    /// The first step, and how many there are up to this one.
    origin: usize,
    length: usize,
}

impl Origins {
    /// The chain of a size: where it was set, then what changed it on the way, the origin first.
    pub(super) fn of(&self, view: &View<'_>, spot: Spot, axis: usize) -> Vec<Step> {
        let links = &mut *self.links.borrow_mut();
        let Some(nearest) = self.follow(view, spot, axis, links) else { return Vec::new() };
        let length = links[nearest].length;
        let mut steps = Vec::new();
        let mut next = Some(nearest);
        while let Some(at) = next.filter(|_| steps.len() < MAX_STEPS) {
            steps.push(links[at].step.clone());
            next = links[at].before;
        }
        // The origin and what is nearest matter most.
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

    /// Follows a size to its origin; the number of the link nearest to it.
    fn follow(
        &self,
        view: &View<'_>,
        spot: Spot,
        axis: usize,
        links: &mut Vec<Link>,
    ) -> Option<usize> {
        let sizes = &mut *self.sizes.borrow_mut();
        let (mut spot, mut axis) = (spot, axis);
        let mut path: Vec<((Spot, usize), Option<Step>)> = Vec::new();
        let mut found = None;
        let link = |step: Step, before: Option<usize>, links: &mut Vec<Link>| {
            let at = links.len();
            let (origin, length) =
                before.map_or((at, 1), |b| (links[b].origin, links[b].length + 1));
            links.push(Link { step, before, origin, length });
            Some(at)
        };
        while path.len() < MAX_FOLLOWED && self.may_follow() {
            match sizes.entry((spot, axis)) {
                Entry::Occupied(known) => {
                    found = *known.get();
                    break;
                }
                // A size that is its own origin, in text that is broken, has none.
                Entry::Vacant(new) => new.insert(None),
            };
            match step(view, spot, axis) {
                Next::Same(next, next_axis) => {
                    path.push(((spot, axis), transposed(view, spot, axis, next_axis)));
                    (spot, axis) = (next, next_axis);
                }
                Next::Changed(step, next, next_axis) => {
                    path.push(((spot, axis), Some(step)));
                    (spot, axis) = (next, next_axis);
                }
                Next::Set(step) => {
                    found = link(step, None, links);
                    sizes.insert((spot, axis), found);
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

    /// Counts one more expression that is looked at.
    fn may_follow(&self) -> bool {
        let followed = self.followed.get() + 1;
        self.followed.set(followed);
        followed <= MAX_ALL_FOLLOWED
    }

    /// The parameter that the data type of a value comes from, by way of operators that keep it.
    pub(super) fn of_dtype(&self, view: &View<'_>, spot: Spot) -> Option<Step> {
        let dtypes = &mut *self.dtypes.borrow_mut();
        let mut path = Vec::new();
        let mut next = Some(spot);
        let mut found = None;
        while let Some(spot) = next.filter(|_| path.len() < MAX_FOLLOWED && self.may_follow()) {
            if let Some(known) = dtypes.get(&spot) {
                found = known.clone();
                break;
            }
            dtypes.insert(spot, None);
            path.push(spot);
            (next, found) = match dtype_source(view, spot) {
                Some(DtypeSource::Same(value)) => (Some(value), None),
                Some(DtypeSource::Declared) => (None, declaration(view, spot)),
                None => (None, None),
            };
        }
        if let Some(found) = &found {
            dtypes.extend(path.into_iter().map(|spot| (spot, Some(found.clone()))));
        }
        found
    }
}

/// Every step of the chain of a size, the origin first: where it was set, what changed it, and which
/// relations it passed through on the way. A chain of more than `most` steps leaves out those
/// between the origin and what is nearest, and says how many.
///
/// With `of_field`, the size is that of one field of a tuple.
pub fn chain_of(
    view: &View<'_>,
    spot: Spot,
    of_field: Option<usize>,
    axis: usize,
    most: usize,
) -> Vec<Step> {
    let trail = trail_of(view, spot, of_field, axis, MAX_FOLLOWED);
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

/// A size followed back, as far as it was asked for.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Trail {
    /// What happens to the size, the nearest first, and whether it is only passed on there.
    pub steps: Vec<(Step, bool)>,
    /// The expressions that have the very size, the nearest first, and which axis of each it is.
    pub same: Vec<(Spot, usize)>,
    /// Where it was not followed any further, though it comes from elsewhere.
    pub rest: Option<(Spot, usize)>,
    /// How many expressions it was followed over.
    pub followed: usize,
}

/// Follows a size back over at most `follow` expressions.
///
/// With `of_field`, the size is that of one field of a tuple.
pub fn trail_of(
    view: &View<'_>,
    spot: Spot,
    of_field: Option<usize>,
    axis: usize,
    follow: usize,
) -> Trail {
    let mut trail = Trail::default();
    let (mut spot, mut of_field, mut axis) = (spot, of_field, axis);
    let mut is_same = true;
    for count in 0..follow {
        if count % 16 == 0 {
            view.db.unwind_if_revision_cancelled();
        }
        trail.followed = count + 1;
        let is_field = of_field.is_some();
        if is_same && !is_field {
            trail.same.push((spot, axis));
        }
        let next = match of_field.take() {
            Some(index) => field(view, spot, index, axis),
            None => step(view, spot, axis),
        };
        match next {
            Next::Same(next, next_axis) => {
                let of = if is_field { view.resolve(spot) } else { spot };
                trail.steps.extend(passed(view, of, axis, next_axis).map(|step| (step, true)));
                (spot, axis) = (next, next_axis);
            }
            Next::Changed(step, next, next_axis) => {
                is_same = false;
                trail.steps.push((step, false));
                (spot, axis) = (next, next_axis);
            }
            Next::Set(step) => {
                trail.steps.push((step, false));
                return trail;
            }
            Next::Unknown => return trail,
        }
    }
    trail.rest = Some((spot, axis));
    trail
}

/// The `transpose` that moves a size to another axis at `spot`, if one does: of all steps that keep
/// a size, this is the one that puts it where it does not fit.
fn transposed(view: &View<'_>, spot: Spot, axis: usize, from: usize) -> Option<Step> {
    let Expr::Call(call) = view.unit(spot.unit).expr(spot.expr) else { return None };
    let call = view.unit(spot.unit).call(*call);
    let Callee::Operator(operator) = &call.callee else { return None };
    if axis == from || operator.name != "transpose" {
        return None;
    }
    let range = attribute_range(view, spot, "axes")
        .unwrap_or_else(|| view.place(spot.unit, call.callee_range));
    Some(Step { range, message: format!("`transpose` takes axis {axis} from axis {from}") })
}

/// The relation that a size passes through unchanged at `spot`, if it does.
fn passed(view: &View<'_>, spot: Spot, axis: usize, from: usize) -> Option<Step> {
    let value = match view.variable(spot) {
        Some(_) => return None,
        None => spot,
    };
    let unit = view.unit(value.unit);
    let call = match unit.expr(value.expr) {
        Expr::Call(call) => unit.call(*call),
        // A field of what an operator gives.
        Expr::Proj { tuple, .. } => {
            let value = view.resolve(Spot { unit: value.unit, expr: *tuple });
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
    unit: usize,
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

/// What the size of one axis comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// It is the size of this axis of this expression.
    Same(Spot, usize),
    /// It was computed from the size of this axis of this expression.
    Changed(Spot, usize),
    /// It was set where it stands.
    Set,
}

/// One step back from the size of an axis of `spot`, or of one field of it if that is a tuple.
pub fn source_of(view: &View<'_>, spot: Spot, of_field: Option<usize>, axis: usize) -> Source {
    let next = match of_field {
        Some(index) => field(view, spot, index, axis),
        None => step(view, spot, axis),
    };
    match next {
        Next::Same(spot, axis) => Source::Same(spot, axis),
        Next::Changed(_, spot, axis) => Source::Changed(spot, axis),
        Next::Set(_) | Next::Unknown => Source::Set,
    }
}

/// Where the type of an expression was declared, for what is wrong with it as a whole.
pub(super) fn declaration(view: &View<'_>, spot: Spot) -> Option<Step> {
    let binding = view.variable(spot)?;
    let binder = view.binder(binding);
    let ty = view.binding_type(binding);
    let range = match view.annotation_node(binding) {
        Some(node) => node.range() + view.def.start(view.db),
        None => view.binding_range(binding),
    };
    Some(Step { range, message: format!("`{}` is `{ty}`", binder.name) })
}

enum Next {
    /// The size is another expression's, unchanged.
    Same(Spot, usize),
    /// The size was computed here from another.
    Changed(Step, Spot, usize),
    /// The size was set here.
    Set(Step),
    /// Nothing more is known.
    Unknown,
}

fn size_of(ty: &Type, axis: usize) -> Option<&Dim> {
    ty.as_tensor()?.shape.get(axis)
}

fn step(view: &View<'_>, spot: Spot, axis: usize) -> Next {
    if let Some(binding) = view.variable(spot) {
        return match view.value(binding) {
            Some(value) => Next::Same(value, axis),
            None => parameter(view, binding, axis),
        };
    }
    let unit = view.unit(spot.unit);
    let at = |expr: ExprId| Spot { unit: spot.unit, expr };
    match unit.expr(spot.expr) {
        Expr::Call(call) => call_step(view, spot, unit.call(*call), axis),
        Expr::Proj { tuple, index } => field(view, at(*tuple), *index as usize, axis),
        Expr::If { then, .. } => Next::Same(at(then.result), axis),
        Expr::Match(id) => match unit.matches[id.index()].arms.first() {
            Some(arm) => Next::Same(at(arm.body.result), axis),
            None => Next::Unknown,
        },
        Expr::Filled(_) | Expr::Meta(_) => match size_of(view.ty(spot), axis) {
            Some(size) => Next::Set(Step {
                range: view.range(spot),
                message: format!("axis {axis} of this constant is {size}"),
            }),
            None => Next::Unknown,
        },
        _ => Next::Unknown,
    }
}

/// A variable without a value: a parameter, a pattern.
fn parameter(view: &View<'_>, binding: Binding, axis: usize) -> Next {
    let binder = view.binder(binding);
    let Some(size) = size_of(view.binding_type(binding), axis) else { return Next::Unknown };
    let written = view.annotation_node(binding).and_then(|ty| view.dim_range(ty, axis));
    Next::Set(Step {
        range: written.unwrap_or_else(|| view.binding_range(binding)),
        message: format!("axis {axis} of `{}` is {size}", binder.name),
    })
}

/// A size of a field of a tuple.
fn field(view: &View<'_>, tuple: Spot, index: usize, axis: usize) -> Next {
    let value = view.resolve(tuple);
    let unit = view.unit(value.unit);
    match unit.expr(value.expr) {
        Expr::Tuple(fields) => match fields.get(index) {
            Some(&field) => Next::Same(Spot { unit: value.unit, expr: field }, axis),
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

fn call_step(view: &View<'_>, spot: Spot, call: &CallData, axis: usize) -> Next {
    match &call.callee {
        Callee::Operator(_) => operator_step(view, spot, call, None, axis),
        Callee::Expr(callee) => {
            let callee = Spot { unit: spot.unit, expr: *callee };
            let Some(size) = size_of(view.ty(spot), axis) else { return Next::Unknown };
            Next::Set(Step {
                range: view.range(callee),
                message: format!("{} gives {size} on axis {axis}", view.describe(callee)),
            })
        }
        Callee::Name(_) => Next::Unknown,
    }
}

/// A size of the result of an operator, or of one field of it.
fn operator_step(
    view: &View<'_>,
    spot: Spot,
    call: &CallData,
    field: Option<usize>,
    axis: usize,
) -> Next {
    let Callee::Operator(operator) = &call.callee else { return Next::Unknown };
    let Some((name, solve)) = operator.rule else { return Next::Unknown };
    let relation = Relation { name, operator: operator.name, solve, attrs: call.attrs.clone() };
    let arg = |position: usize| Spot { unit: spot.unit, expr: call.args[position] };
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
        Some(field) => view.ty(spot).as_tuple().and_then(|f| size_of(f.get(field)?, axis)).cloned(),
        None => size_of(view.ty(spot), axis).cloned(),
    };
    let Some(here) = here else { return Next::Unknown };
    if here.is_any() {
        let found = unknown_source(view, &relation, operator.args, &inputs, &arg, &result);
        let range = view.place(spot.unit, call.callee_range);
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
                message: format!("`{}` leaves axis {axis} open until it runs", operator.name),
            }),
        };
    }
    let mut sources: Vec<(Spot, usize, Dim)> = Vec::new();
    // In `add(%a, %b)` each of two equal sizes decides alone; only together are they missed.
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
            Some(field) => view.ty(spot).as_tuple().and_then(|f| f.get(field)?.as_tensor()),
            None => view.ty(spot).as_tensor(),
        };
        let own = rank.map_or(0, |tensor| tensor.rank()).saturating_sub(axis);
        sources = decided_together(&relation, operator.args, &inputs, &equal, own, &|types| {
            result(types).is_none_or(|size| size != here)
        })
        .into_iter()
        .map(|at| (equal[at].source, equal[at].axis, here.clone()))
        .collect();
    }
    let call_range = view.place(spot.unit, call.callee_range);
    // A size that came through unchanged is followed first.
    if let Some((source, source_axis, _)) = sources.iter().find(|(.., size)| *size == here) {
        return Next::Same(*source, *source_axis);
    }
    match sources.first() {
        Some((source, source_axis, size)) => Next::Changed(
            Step {
                range: call_range,
                message: format!("`{}` makes {here} of {size} on axis {axis}", operator.name),
            },
            *source,
            *source_axis,
        ),
        None => {
            let attr = call.written.iter().find(|attr| mentions(&attr.value, &here));
            let range = attr.and_then(|attr| attribute_range(view, spot, &attr.name));
            let message = match attr {
                Some(attr) => format!("`{}` sets axis {axis} to {here}", attr.name),
                None => format!("`{}` sets axis {axis} to {here}", operator.name),
            };
            Next::Set(Step { range: range.unwrap_or(call_range), message })
        }
    }
}
