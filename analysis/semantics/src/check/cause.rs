//! One cause, one diagnostic: what follows from a fault is shown beside it, not again.
//!
//! A parameter of the wrong type clashes wherever it is used, a `let` of the wrong type clashes
//! with its value and with every use:
//!
//! ```text
//! def @main(%x: Tensor[(2, 3), float16], %y: Tensor[(2, 3), float32]) {
//!   %0 = add(%x, %y);       // float16 and float32
//!   multiply(%y, %x)        // the same, for the same reason
//! }
//! ```
//!
//! Which of the places is the fault nobody knows; that it is one, the declarations tell that the
//! findings rest on, and the sizes or data types that clash.

pub(super) mod flow;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::TextRange;
use types::{ConflictKind, Place};

use self::flow::Flow;
use super::suggest::Checked;
use crate::{
    body::*,
    diagnostic::{Diagnostic, Related, Severity},
    infer::{Finding, Mismatch},
    queries,
    scope::Binding,
    view::{Spot, View},
};

/// How many places are shown beside a finding for the same reason.
const MAX_SHOWN: usize = 8;
/// How many findings of a file are compared with each other.
const MAX_COMPARED: usize = 200;

/// What a finding rests on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Declarations, or sizes in them, that the finding rests on.
    places: Vec<TextRange>,
    /// What clashes, in order: sizes, data types, types.
    values: Vec<String>,
    /// The declaration of a parameter that an argument contradicts.
    parameter: Option<TextRange>,
    /// The declaration of the result that a definition does not give, or of the variable that is
    /// not what its value is.
    declared: Option<TextRange>,
    /// Declarations that what the finding looks at was computed from.
    flows: Vec<Flow>,
    /// The ranks differ: what follows from that differs in other sizes.
    ripples: bool,
}

/// A finding of a definition that may be the cause or the consequence of another.
pub(super) struct Found {
    /// Its diagnostic, by number.
    at: usize,
    unit: usize,
    /// What it looks at.
    operands: Vec<Spot>,
    /// The variable whose declaration its value contradicts.
    suspect: Option<Binding>,
    /// The call that is wrong by itself: what it gives says nothing.
    call: Option<Spot>,
    /// It says that a value is not of the type written for it.
    is_mismatch: bool,
    /// It says so of a variable.
    is_declaration: bool,
}

/// What `finding` rests on, and its part in the definition. `at` is the number of its diagnostic.
pub(super) fn of(
    view: &Checked<'_, '_>,
    unit: usize,
    finding: &Finding,
    at: usize,
) -> Option<(Cause, Found)> {
    let spot = |expr: ExprId| Spot { unit, expr };
    let mut cause = Cause::default();
    let mut found = Found {
        at,
        unit,
        operands: Vec::new(),
        suspect: None,
        call: None,
        is_mismatch: matches!(finding, Finding::Mismatch { .. }),
        is_declaration: matches!(
            finding,
            Finding::Mismatch { what: Mismatch::Annotation { .. }, .. }
        ),
    };
    match finding {
        Finding::Relation { expr, reason } => {
            let Expr::Call(call) = view.unit(unit).expr(*expr) else { return None };
            let args = &view.unit(unit).call(*call).args;
            found.operands = args.iter().map(|&arg| spot(arg)).collect();
            // A result that is not what is declared for it.
            if reason.marks.iter().all(|mark| mark.place == Place::Result) {
                found.suspect = declared_for(view, unit, *expr);
                let ends = |root| flow::gives(view.unit(unit), root, *expr);
                if view.unit(unit).kind == UnitKind::Tail && view.unit(unit).root.is_some_and(ends)
                {
                    cause.declared = result(view);
                    cause.places.extend(cause.declared);
                }
            }
            cause.values.clone_from(&reason.clash);
            // A written attribute may be what is wrong.
            let blames_attribute = |mark: &types::Mark| match mark.place {
                Place::Attribute(name) => {
                    view.unit(unit).call(*call).written.iter().any(|attr| attr.name == name)
                }
                _ => false,
            };
            let blames_attribute = reason.marks.iter().any(blames_attribute);
            for mark in &reason.marks {
                let (Place::Argument(position) | Place::Field(position, _)) = mark.place else {
                    continue;
                };
                cause.values.push(size_in(&mark.label));
                let Some(arg) = args.get(position).map(|&arg| spot(arg)) else { continue };
                match mark.place {
                    Place::Field(_, field) => {
                        if let Some(field) = flow::field(view, arg, field) {
                            cause.rests_on(view, field, mark.axis);
                        }
                    }
                    _ => cause.rests_on(view, arg, mark.axis),
                }
            }
            if blames_attribute {
                cause.values.clear();
                cause.flows = flow::into(view, &found.operands);
                return Some((cause, found));
            }
        }
        Finding::Condition { expr, ty } => {
            let dtype = ty.as_tensor().filter(|tensor| tensor.rank() == 0)?.dtype;
            cause.values = vec!["bool".to_owned(), dtype.to_string()];
            found.operands.push(spot(*expr));
        }
        Finding::Arity { call, .. } => {
            found.suspect = declared_for(view, unit, *call);
            found.call = Some(spot(*call));
            return Some((cause, found));
        }
        Finding::Mismatch { what, conflict, .. } => {
            cause.values = conflict.clash();
            cause.ripples = conflict.kind == ConflictKind::Rank;
            let value = match *what {
                Mismatch::Annotation { binder, value } => {
                    let binding = Binding { unit: unit as u32, binder };
                    found.suspect = Some(binding);
                    cause.declared = Some(declaration(view, binding));
                    value
                }
                Mismatch::Result { function, value } => {
                    found.suspect = function.and_then(|id| function_bound_to(view, unit, id));
                    if function.is_none() {
                        cause.declared = result(view);
                    }
                    value
                }
                Mismatch::Branches { then, otherwise } => {
                    let given = view.unit(unit).given_by(then);
                    found.suspect = given.and_then(|expr| bound_to(view, unit, expr));
                    found.operands.push(spot(then));
                    cause.rests_on(view, spot(then), conflict.axis());
                    otherwise
                }
                Mismatch::Pattern { binder } => {
                    let binding = Binding { unit: unit as u32, binder };
                    found.suspect = Some(binding);
                    cause.places.push(declaration(view, binding));
                    cause.values.sort();
                    return Some((cause, found));
                }
                Mismatch::Argument { call, index } => {
                    let Expr::Call(id) = view.unit(unit).expr(call) else { return None };
                    let data = view.unit(unit).call(*id);
                    found.call = Some(spot(call));
                    if let Callee::Expr(callee) = data.callee {
                        found.operands.push(spot(callee));
                        cause.parameter = parameter(view, spot(callee), index);
                        cause.places.extend(cause.parameter);
                        // What a function takes that is a parameter itself, its type says.
                        let function = view.variable(spot(callee));
                        if let (None, Some(function)) = (cause.parameter, function) {
                            cause.places.push(declaration(view, function));
                        }
                    }
                    *data.args.get(index)?
                }
                Mismatch::Write { value } => value,
                _ => return None,
            };
            found.operands.push(spot(value));
            let part = flow::along(view, spot(value), &conflict.path);
            // A function that takes something else than is written for it.
            if let Some(parameter) = part.parameter {
                let at = declaration(view, parameter);
                cause.places.push(at);
                cause.parameter = cause.parameter.or(Some(at));
            }
            let axis = match &conflict.kind {
                ConflictKind::Sizes(axes) if part.is_whole => axes.first().copied(),
                _ => None,
            };
            cause.rests_on(view, part.spot, axis);
        }
        _ => return None,
    }
    cause.flows = flow::into(view, &found.operands);
    // What does not suit an operator by itself suits another.
    let one_sided = cause.values.len() < 2 && cause.parameter.is_none();
    if one_sided
        && !matches!(finding, Finding::Relation { reason, .. } if reason.code == "rank-mismatch")
    {
        cause.values.clear();
    }
    cause.values.sort();
    Some((cause, found))
}

impl Cause {
    fn rests_on(&mut self, view: &Checked<'_, '_>, value: Spot, axis: Option<usize>) {
        if let Some(axis) = axis {
            self.places.extend(view.origins.of(view, value, axis).first().map(|step| step.range));
        }
        if let Some(binding) = view.variable(value) {
            self.places.push(declaration(view, binding));
        }
    }

    /// Whether two findings have one cause, as far as declarations tell.
    fn is_that_of(&self, code: &str, other: &Cause, other_code: &str) -> bool {
        let share = |places: &[TextRange], of: TextRange| {
            places.iter().any(|place| place.intersect(of).is_some())
        };
        // The parameter is wrong inside of its function as well as where that is called.
        let contradicts = |a: &Cause, b: &Cause| {
            b.parameter.is_none() && a.parameter.is_some_and(|at| share(&b.places, at))
        };
        // What is declared of a function is wrong in it, and where it is called.
        let alike = self.values == other.values && !self.values.is_empty();
        let is_dtype = |code: &str| matches!(code, "dtype-mismatch" | "condition-type");
        let reaches = |a: &Cause, b: &Cause| {
            let declared = [a.parameter, a.declared];
            let mut declared = declared.into_iter().flatten();
            is_dtype(code) == is_dtype(other_code)
                && (alike || a.ripples && !is_dtype(code))
                && declared.any(|at| b.flows.iter().any(|f| f.range.intersect(at).is_some()))
        };
        contradicts(self, other)
            || contradicts(other, self)
            || reaches(self, other)
            || reaches(other, self)
            || is_dtype(code) == is_dtype(other_code)
                && alike
                && (self.places.iter().any(|&place| share(&other.places, place))
                    || self.flows_as(other))
    }

    /// Whether both were computed from one parameter of a data type that clashes in both.
    fn flows_as(&self, other: &Cause) -> bool {
        self.flows
            .iter()
            .filter(|flow| other.flows.contains(flow))
            .any(|flow| flow.dtype.is_some_and(|dtype| self.values.contains(&dtype.to_string())))
    }
}

/// What a label says: of `64 input channels`, the size.
fn size_in(label: &str) -> String {
    let digits = label.bytes().take_while(u8::is_ascii_digit).count();
    let ends = label[digits..].is_empty() || label[digits..].starts_with(' ');
    if digits > 0 && ends { label[..digits].to_owned() } else { label.to_owned() }
}

/// Where the result of a definition is declared.
fn result(view: &View<'_>) -> Option<TextRange> {
    Some(view.result_type_node()?.range() + view.def.start(view.db))
}

/// Where a variable and its type are written.
fn declaration(view: &View<'_>, binding: Binding) -> TextRange {
    let name = view.binding_range(binding);
    match view.annotation_node(binding) {
        Some(ty) => name.cover(ty.range() + view.def.start(view.db)),
        None => name,
    }
}

/// The variable that an expression of a unit is bound to.
fn bound_to(view: &View<'_>, unit: usize, value: ExprId) -> Option<Binding> {
    let binder = view.unit(unit).bound_to(value)?;
    Some(Binding { unit: unit as u32, binder })
}

/// The variable that a function expression of a unit is bound to.
fn function_bound_to(view: &View<'_>, unit: usize, function: FnId) -> Option<Binding> {
    let is_it = |expr: &Expr| *expr == Expr::Fn(function);
    let value = view.unit(unit).exprs.iter().position(is_it)?;
    bound_to(view, unit, ExprId(value as u32))
}

/// The variable whose declaration says what `expr` gives: the one that it is bound to, or the
/// function whose body ends in it.
fn declared_for(view: &View<'_>, unit: usize, expr: ExprId) -> Option<Binding> {
    let data = view.unit(unit);
    // It is what a branch or an arm gives, and that what another one gives.
    let mut outward = vec![expr];
    let mut outer = expr;
    while let Some(next) = data.given_by(outer).filter(|_| outward.len() < flow::MAX_FOLLOWED) {
        outward.push(next);
        outer = next;
    }
    if let Some(bound) = outward.iter().find_map(|&expr| bound_to(view, unit, expr)) {
        return Some(bound);
    }
    let gives = |function: &Function| function.body.is_some_and(|b| outward.contains(&b.result));
    let function = data.fns.iter().position(gives)?;
    function_bound_to(view, unit, FnId(function as u32))
}

/// Where the parameter of a called function is declared, if that stands in this file.
fn parameter(view: &View<'_>, callee: Spot, index: usize) -> Option<TextRange> {
    let value = view.resolve(callee);
    match view.unit(value.unit).expr(value.expr) {
        Expr::Fn(function) => {
            let binder = *view.unit(value.unit).fns[function.index()].params.get(index)?;
            Some(declaration(view, Binding { unit: value.unit as u32, binder }))
        }
        Expr::Global(name) => {
            let (def, from_prelude) = queries::global(view.db, view.module, name)?;
            let other = View::new(view.db, def).filter(|_| !from_prelude)?;
            let binder = *other.body.header()?.params.get(index)?;
            Some(declaration(&other, Binding { unit: 0, binder }))
        }
        _ => None,
    }
}

/// Folds the consequences of wrong declarations of a definition into the findings about those.
pub(super) fn fold(view: &View<'_>, all: &[Found], found: &mut Vec<Diagnostic>) {
    let explains = |f: &Found| f.suspect.is_some() || f.call.is_some();
    if all.len() < 2 || all.len() > MAX_COMPARED || !all.iter().any(explains) {
        return;
    }
    let values = |found: &[Diagnostic], at: usize| -> Vec<String> {
        found[at].cause.as_ref().map(|cause| cause.values.clone()).unwrap_or_default()
    };
    let mut gone: Vec<usize> = Vec::new();
    for consequence in all {
        let above = ancestors(view, consequence.unit);
        let cause = all.iter().find(|cause| {
            if cause.at == consequence.at || gone.contains(&cause.at) {
                return false;
            }
            // A call that is wrong by itself may be the wrong call.
            if consequence.is_mismatch
                && cause.call.is_some_and(|c| consequence.operands.contains(&c))
            {
                return true;
            }
            let Some(suspect) = cause.suspect else { return false };
            let alike = || values(found, cause.at) == values(found, consequence.at);
            // A function is declared otherwise than it is written, and does not give it either.
            if consequence.suspect == cause.suspect {
                return cause.is_declaration && !consequence.is_declaration && alike();
            }
            uses(view, consequence, suspect) || above.contains(&suspect.unit) && alike()
        });
        if let Some(cause) = cause {
            let diagnostic = found[consequence.at].clone();
            absorb(&mut found[cause.at], diagnostic);
            gone.push(consequence.at);
        }
    }
    let mut number = 0;
    found.retain(|_| {
        number += 1;
        !gone.contains(&(number - 1))
    });
}

/// Whether a finding looks at a variable.
fn uses(view: &View<'_>, found: &Found, binding: Binding) -> bool {
    if found.unit != binding.unit as usize {
        return view.scopes.unit(found.unit).contains(&Some(binding));
    }
    let mut spots = found.operands.clone();
    let mut left = flow::MAX_FOLLOWED;
    while let Some(spot) = spots.pop() {
        let variable = view.variable(spot);
        if variable == Some(binding) {
            return true;
        }
        left -= 1;
        if left == 0 {
            break;
        }
        // A name inside of the unit stands for its value.
        let value =
            variable.filter(|of| of.unit as usize == spot.unit).and_then(|of| view.value(of));
        spots.extend(value.filter(|value| value.unit == spot.unit));
        let at = |expr: ExprId| Spot { unit: spot.unit, expr };
        match view.unit(spot.unit).expr(spot.expr) {
            Expr::Proj { tuple, .. } => spots.push(at(*tuple)),
            Expr::Tuple(fields) => spots.extend(fields.iter().map(|&field| at(field))),
            Expr::Call(call) => {
                let call = view.unit(spot.unit).call(*call);
                spots.extend(call.args.iter().map(|&arg| at(arg)));
            }
            _ => {}
        }
    }
    false
}

/// The units whose values go into a unit.
fn ancestors(view: &View<'_>, unit: usize) -> FxHashSet<u32> {
    let mut above = FxHashSet::default();
    let mut next = vec![unit];
    while let Some(unit) = next.pop() {
        for binding in view.scopes.unit(unit).iter().flatten() {
            if above.insert(binding.unit) {
                next.push(binding.unit as usize);
            }
        }
    }
    above
}

/// Folds findings that have one cause into the first of them. `found` is in the order of the text.
pub(super) fn merge(found: &mut Vec<Diagnostic>) {
    let caused: Vec<usize> = (0..found.len())
        .filter(|&at| found[at].cause.is_some() && found[at].severity == Severity::Error)
        .take(MAX_COMPARED)
        .collect();
    let mut gone: Vec<usize> = Vec::new();
    for (number, &later) in caused.iter().enumerate() {
        let first = caused[..number].iter().copied().find(|&first| {
            let (a, b) = (&found[first], &found[later]);
            let one = match (&a.cause, &b.cause) {
                (Some(one), Some(other)) => one.is_that_of(a.code, other, b.code),
                _ => false,
            };
            one && !gone.contains(&first)
        });
        if let Some(first) = first {
            let diagnostic = found[later].clone();
            absorb(&mut found[first], diagnostic);
            gone.push(later);
        }
    }
    let mut number = 0;
    found.retain(|_| {
        number += 1;
        !gone.contains(&(number - 1))
    });
}

/// Shows a finding beside the one that has the same cause.
fn absorb(cause: &mut Diagnostic, consequence: Diagnostic) {
    let shown = cause.related.iter().filter(|r| r.message.starts_with(SAME)).count();
    if shown >= MAX_SHOWN {
        return;
    }
    let sentence = consequence.message.lines().next().unwrap_or_default();
    let message = format!("{SAME}{sentence}");
    let place = |range: TextRange| cause.related.iter().any(|known| known.range == range);
    if !place(consequence.range) {
        cause.related.push(Related { range: consequence.range, message });
    }
    for related in consequence.related {
        use super::typing::{BLOCK_BEGINS, RESULT_DECLARED, VALUE_USED};
        let places = [VALUE_USED, BLOCK_BEGINS, RESULT_DECLARED];
        if places.contains(&related.message.as_str())
            && !cause.related.iter().any(|known| known.range == related.range)
        {
            cause.related.push(related);
        }
    }
}

const SAME: &str = "for the same reason: ";

/// Several things wrong with one call are most likely one: it calls the wrong operator.
pub(super) fn fold_calls(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let about_call = |d: &Diagnostic| {
        matches!(d.code, "argument-count" | "missing-attribute" | "attributes-not-taken")
            || d.code == "unknown-attribute" && d.fixes.is_empty()
    };
    // What is wrong with one attribute alone is wrong with that; beside the others, it is one more
    // sign that another operator was meant.
    let about_attribute = |d: &Diagnostic| matches!(d.code, "attribute-type" | "unknown-attribute");
    if !found.iter().any(about_call) {
        return;
    }
    let about = found.iter().filter(|d| about_call(d) || about_attribute(d));
    let mut units: Vec<usize> = about.filter_map(|d| view.unit_at(d.range.start())).collect();
    units.sort_unstable();
    units = units.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|u| u[0]).collect();
    // What is found at each place: the findings of a call are looked up, not looked for.
    let mut at_place: FxHashMap<TextRange, Vec<usize>> = FxHashMap::default();
    for (at, d) in found.iter().enumerate().filter(|(_, d)| about_call(d) || about_attribute(d)) {
        at_place.entry(d.range).or_default().push(at);
    }
    let mut gone: FxHashSet<usize> = FxHashSet::default();
    for unit in units {
        for call in &view.unit(unit).calls {
            let written = call.written.iter().flat_map(|attr| [attr.name_range, attr.value_range]);
            let places = std::iter::once(call.callee_range).chain(written);
            let places = places.filter_map(|range| at_place.get(&view.place(unit, range)));
            let mut own: Vec<usize> =
                places.flatten().copied().filter(|at| !gone.contains(at)).collect();
            own.sort_unstable();
            own.dedup();
            if !own.iter().any(|&at| about_call(&found[at])) {
                continue;
            }
            own.sort_by_key(|&at| (found[at].code != "argument-count", !about_call(&found[at])));
            let Some((&first, rest)) = own.split_first() else { continue };
            let mut rest = rest.to_vec();
            rest.sort_unstable();
            for &at in &rest {
                let Diagnostic { range, message, .. } = found[at].clone();
                if range != found[first].range {
                    found[first].related.push(Related { range, message });
                }
            }
            gone.extend(rest);
        }
    }
    let mut number = 0;
    found.retain(|_| {
        number += 1;
        !gone.contains(&(number - 1))
    });
}
