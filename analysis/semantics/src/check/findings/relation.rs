//! Diagnostics for type relations that do not hold.

use syntax::TextRange;
use types::{Mark, Place, Reason, Type};

use super::{Report, Site, callee_name};
use crate::{
    body::*,
    check::{
        cause::{self, Evidence, flow},
        check_view::CheckView,
        origin, repair,
    },
    diagnostic::{Code, DefDiagnostic, InDef, RelatedPlace, Role, insert},
    queries,
    view::View,
};

/// Reports a relation that does not hold.
pub(super) fn report(site: &Site<'_, '_, '_>, operator: &str, reason: &Reason) -> Option<Report> {
    let diagnostic = failed(site.view, site.expr_ref()?, operator, reason);
    Some(Report { diagnostic, evidence: evidence(site, reason) })
}

/// Returns the operands of the call, and the facts and declarations that the marks of the reason depend on.
fn evidence(site: &Site<'_, '_, '_>, reason: &Reason) -> Option<Evidence> {
    let (view, unit) = (site.view, site.view.unit(site.unit));
    let expr = site.expr_ref()?.expr;
    let call = view.call(site.expr_ref()?)?;
    let expr_ref = |&expr: &ExprId| ExprRef { unit: site.unit, expr };
    let mut evidence = Evidence::new(site.unit);
    evidence.operands = call.args.iter().map(expr_ref).collect();
    let cause = &mut evidence.cause;
    // A result that differs from its declared type.
    let is_of_result = reason.marks.iter().all(|mark| mark.place == Place::Result);
    if is_of_result
        && unit.kind == UnitKind::Tail
        && unit.root.is_some_and(|root| flow::is_tail_of(unit, root, expr))
    {
        cause.declared = view.result_range().map(InDef::from);
        cause.places.extend(cause.declared);
    }
    cause.values.clone_from(&reason.clash);
    for mark in &reason.marks {
        let (Place::Argument(position) | Place::Field(position, _)) = mark.place else {
            continue;
        };
        // A phrase is for the reader: nothing is decided by it.
        if !mark.fact.is_phrase() {
            cause.values.push(mark.fact.clone());
        }
        let Some(arg) = call.args.get(position).map(expr_ref) else { continue };
        let part = match mark.place {
            Place::Field(_, field) => flow::field(view, arg, field),
            _ => Some(arg),
        };
        if let Some(part) = part {
            cause::depends_on(cause, view, part, mark.axis);
        }
    }
    // A written attribute may be the cause.
    let is_written = |name: &str| call.written.iter().any(|attr| attr.name == name);
    let blames_attribute =
        |mark: &Mark| matches!(mark.place, Place::Attribute(name) if is_written(name));
    let blames_attribute = reason.marks.iter().any(blames_attribute);
    if blames_attribute {
        cause.values.clear();
    }
    if is_of_result {
        evidence.suspect = cause::declared_for(view, site.unit, expr);
    }
    Some(match blames_attribute || reason.code == Code::RankMismatch {
        true => evidence.with_flows_of_one_side(view),
        false => evidence.with_flows(view),
    })
}

/// Returns the diagnostic for a relation that does not hold.
pub(super) fn failed(
    view: &CheckView<'_, '_>,
    expr_ref: ExprRef,
    operator: &str,
    reason: &Reason,
) -> DefDiagnostic {
    if let Some(function) = called_function(view, expr_ref) {
        let reason = Reason { marks: Default::default(), fix: None, ..reason.clone() };
        let mut diagnostic = base(view, expr_ref, &reason);
        diagnostic.message = format!("inside {function}, {}", diagnostic.message);
        if let Some(place) = place_inside(view, expr_ref, operator) {
            diagnostic = diagnostic.related(place, "this call fails");
        }
        return diagnostic;
    }
    let mut diagnostic = base(view, expr_ref, reason);
    let mut seen: Vec<TextRange> = vec![diagnostic.range];
    let mut relate = |range: TextRange, message: String| {
        if !seen.contains(&range) {
            seen.push(range);
            diagnostic.add_related(range, message);
        }
    };
    for mark in &reason.marks {
        let Some((range, argument)) = mark_range(view, expr_ref, mark) else { continue };
        relate(range, label(view, expr_ref, mark));
        let Some(argument) = argument else { continue };
        // For an axis of an argument, the origin of its size.
        let mut steps = match mark.axis {
            Some(axis) => view.origins.of(view, argument, axis),
            None => origin::declaration(view, argument).into_iter().collect(),
        };
        if reason.code == Code::DtypeMismatch {
            steps.extend(view.origins.of_dtype(view, argument));
        }
        steps.into_iter().for_each(|step| relate(step.range, step.message()));
    }
    diagnostic = repair::complete(view, expr_ref, reason, diagnostic);
    if let Some(position) = reason.first_field_of
        && let Some(&expr) = view.call(expr_ref).and_then(|call| call.args.get(position))
    {
        diagnostic = first_field(view, ExprRef { unit: expr_ref.unit, expr }, diagnostic);
    }
    diagnostic
}

/// Adds a relation to `first`, the diagnostic of another relation of the same call of a function: a bad
/// argument is one mistake, however many operators inside the function reject it. Returns false for the call
/// of an operator.
pub(in crate::check) fn add_to_call(
    view: &CheckView<'_, '_>,
    expr_ref: ExprRef,
    (operator, reason): (&str, &Reason),
    first: &mut DefDiagnostic,
) -> bool {
    if called_function(view, expr_ref).is_none() {
        return false;
    }
    let place = place_inside(view, expr_ref, operator);
    // A further level of recursion: `@f(concatenate((%x, %x), axis=0))` in `@f` fails where `@f(%x)` does.
    if place.is_some_and(|place| first.related.iter().any(|related| related.range == place)) {
        return true;
    }
    let range = place.unwrap_or(first.range.into());
    let related = RelatedPlace { range, message: reason.message.to_string(), role: Role::Detail };
    if !first.related.contains(&related) {
        first.related.push(related);
    }
    true
}

/// Returns the callee of the call of `operator` inside the function that is called, if the function
/// has exactly one.
fn place_inside(view: &View<'_>, expr_ref: ExprRef, operator: &str) -> Option<InDef> {
    let Callee::Expr(callee) = view.call(expr_ref)?.callee else { return None };
    let is_of =
        |call: &&CallData| matches!(call.callee, Callee::Operator(of) if of.name == operator);
    let callee = view.resolve(ExprRef { unit: expr_ref.unit, expr: callee });
    match view.unit(callee.unit).expr(callee.expr) {
        Expr::Global(name) => {
            let (def, is_prelude) = queries::global(view.db, view.module, name)?;
            if is_prelude {
                return None;
            }
            let body = queries::body(view.db, def);
            let calls = body.units().flat_map(|(number, unit)| {
                unit.calls.iter().filter(is_of).map(move |call| (number, call.callee_range))
            });
            let mut calls = calls.take(2);
            let (number, range) = calls.next().filter(|_| calls.next().is_none())?;
            Some(view.place_in(def, queries::source_map(view.db, def).range(number, range)))
        }
        Expr::Fn(function) => {
            let unit = view.unit(callee.unit);
            let region = unit.fns.get(function.index())?.body?;
            let inside = unit.exprs.get(region.start as usize..region.end as usize)?;
            let calls = inside.iter().filter_map(|expr| match expr {
                Expr::Call(call) => Some(unit.call(*call)),
                _ => None,
            });
            let mut calls = calls.filter(is_of).take(2);
            let call = calls.next().filter(|_| calls.next().is_none())?;
            Some(view.place(callee.unit, call.callee_range).into())
        }
        _ => None,
    }
}

/// Adds the fix that takes the first field of a tuple: `%bn.0` for `%bn`, and `(f(%x)).0` for a call, since TVM
/// parses a projection of an atom alone.
pub(super) fn first_field(
    view: &View<'_>,
    tuple: ExprRef,
    diagnostic: DefDiagnostic,
) -> DefDiagnostic {
    let range = view.range(tuple);
    let is_name = matches!(
        view.unit(tuple.unit).expr(tuple.expr),
        Expr::Bound(_) | Expr::Free(_) | Expr::Global(_)
    );
    let edits = match is_name {
        true => vec![insert(range.end(), ".0")],
        false => vec![insert(range.start(), "("), insert(range.end(), ").0")],
    };
    diagnostic.fix("Take the first field: `.0`", edits)
}

/// Returns the diagnostic for a relation that gives no type, where an annotation gives it.
pub(super) fn undecided(site: &Site<'_, '_, '_>, reason: &Reason) -> Option<DefDiagnostic> {
    // `memory.alloc_tensor` with a shape that is known at run time only: its type is declared.
    if reason.code == Code::TypeNeeded {
        return None;
    }
    let reason = Reason { code: Code::RelationUndecided, ..reason.clone() };
    Some(accepted(site.view, site.expr_ref()?, reason))
}

/// Returns the diagnostic for a call that type checks but cannot be computed.
pub(super) fn uncomputable(site: &Site<'_, '_, '_>, reason: &Reason) -> Option<DefDiagnostic> {
    let expr_ref = site.expr_ref()?;
    Some(match reason.code {
        Code::DoubtfulCall => failed(site.view, expr_ref, "", reason),
        _ => {
            let reason = Reason { code: Code::CannotCompute, ..reason.clone() };
            accepted(site.view, expr_ref, reason)
        }
    })
}

/// Returns the diagnostic for a call that TVM accepts although `reason` makes it impossible to
/// compute.
fn accepted(view: &CheckView<'_, '_>, expr_ref: ExprRef, reason: Reason) -> DefDiagnostic {
    let mut diagnostic = failed(view, expr_ref, "", &reason);
    diagnostic.message.push_str("\nTVM accepts the call, but the operator cannot compute it");
    diagnostic
}

/// Returns the callee of a call of a function. A failed relation is then one of its constraints,
/// and the operands of the relation are not the arguments of the call.
fn called_function(view: &View<'_>, expr_ref: ExprRef) -> Option<String> {
    let Callee::Expr(_) = view.call(expr_ref)?.callee else { return None };
    Some(callee_name(view, expr_ref))
}

fn base(view: &View<'_>, expr_ref: ExprRef, reason: &Reason) -> DefDiagnostic {
    let primary = reason.marks.first().and_then(|mark| mark_range(view, expr_ref, mark));
    let range = primary.map_or_else(|| view.callee_range(expr_ref), |(range, _)| range);
    let mut diagnostic = DefDiagnostic::new(reason.code, range, reason.message.to_string());
    // The rule is part of the message, because some editors show the message alone.
    if !reason.rule.is_empty() {
        diagnostic.message.push('\n');
        diagnostic.message += &reason.rule.to_string();
    }
    diagnostic.help = reason.help.as_ref().map(ToString::to_string);
    diagnostic
}

/// Returns the range of a marked part of a call, and its expression if it is one.
fn mark_range(
    view: &View<'_>,
    expr_ref: ExprRef,
    mark: &Mark,
) -> Option<(TextRange, Option<ExprRef>)> {
    let Some(call) = view.call(expr_ref) else { return Some((view.range(expr_ref), None)) };
    match mark.place {
        Place::Argument(position) => {
            let arg = expr_ref.sibling(*call.args.get(position)?);
            Some((view.range(arg), Some(arg)))
        }
        Place::Field(position, field) => {
            let arg = expr_ref.sibling(*call.args.get(position)?);
            let tuple = view.resolve(arg);
            match view.unit(tuple.unit).expr(tuple.expr) {
                Expr::Tuple(fields) => {
                    let field = tuple.sibling(*fields.get(field)?);
                    Some((view.range(field), Some(field)))
                }
                _ => Some((view.range(arg), None)),
            }
        }
        Place::Attribute(name) => {
            let range = view.attribute_range(expr_ref, name);
            Some((range.unwrap_or_else(|| view.callee_range(expr_ref)), None))
        }
        Place::Result | Place::Operator => Some((view.callee_range(expr_ref), None)),
    }
}

/// Returns the label of a mark: `` this is `Tensor[(64, 4, 7, 7), float32]`: 4 input channels on
/// axis 1 ``.
fn label(view: &View<'_>, expr_ref: ExprRef, mark: &Mark) -> String {
    let Some((_, Some(argument))) = mark_range(view, expr_ref, mark) else {
        return mark.fact.to_string();
    };
    let ty = view.ty(argument);
    let axis = mark.axis.map_or(String::new(), |axis| format!(" on axis {axis}"));
    match ty {
        Type::Error | Type::Var(_) => format!("{}{axis}", mark.fact),
        ty if mark.fact.is_type(ty) => format!("this is `{ty}`"),
        ty => format!("this is `{ty}`: {}{axis}", mark.fact),
    }
}
