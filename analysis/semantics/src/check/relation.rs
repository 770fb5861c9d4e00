//! Diagnostics for type relations that do not hold.

use syntax::TextRange;
use types::{Fact, Mark, Place, Reason, Type};

use super::{checked::Checked, origin};
use crate::{
    body::*,
    diagnostic::{Code, Diagnostic},
    view::View,
};

/// Returns the diagnostic for a relation that does not hold.
pub(super) fn failed(view: &Checked<'_, '_>, expr_ref: ExprRef, reason: &Reason) -> Diagnostic {
    if let Some(function) = called_function(view, expr_ref) {
        let reason = Reason { marks: Default::default(), fix: None, ..reason.clone() };
        let mut diagnostic = base(view, expr_ref, &reason);
        diagnostic.message = format!("inside {function}, {}", diagnostic.message);
        return diagnostic;
    }
    let mut diagnostic = base(view, expr_ref, reason);
    let mut seen: Vec<TextRange> = vec![diagnostic.range];
    for mark in &reason.marks {
        let Some((range, argument)) = mark_range(view, expr_ref, mark) else { continue };
        if !seen.contains(&range) {
            seen.push(range);
            diagnostic = diagnostic.related(range, label(view, expr_ref, mark));
        }
        // For an axis of an argument, the origin of its size.
        if let (Some(argument), Some(axis)) = (argument, mark.axis) {
            for step in view.origins.of(view, argument, axis) {
                if !seen.contains(&step.range) {
                    seen.push(step.range);
                    diagnostic = diagnostic.related(step.range, step.message);
                }
            }
        } else if let Some(argument) = argument
            && let Some(step) = origin::declaration(view, argument)
            && !seen.contains(&step.range)
        {
            seen.push(step.range);
            diagnostic = diagnostic.related(step.range, step.message);
        }
        if let Some(argument) = argument
            && reason.code == Code::DtypeMismatch
            && let Some(step) = view.origins.of_dtype(view, argument)
            && !seen.contains(&step.range)
        {
            seen.push(step.range);
            diagnostic = diagnostic.related(step.range, step.message);
        }
    }
    if let Some(fix) = &reason.fix
        && fix.value.facts().iter().all(Fact::is_literal)
        && let Some(range) = view.attribute_range(expr_ref, fix.name)
    {
        let title = format!("Change `{}` to {}", fix.name, fix.value);
        diagnostic = diagnostic.fix(title, [(range, fix.value.to_string())]);
    }
    diagnostic
}

/// Returns the diagnostic for a relation that gives no type, where an annotation gives it.
pub(super) fn undecided(view: &Checked<'_, '_>, expr_ref: ExprRef, reason: &Reason) -> Diagnostic {
    accepted(view, expr_ref, Reason { code: Code::RelationUndecided, ..reason.clone() })
}

/// Returns the diagnostic for a call that type checks but cannot be computed.
pub(super) fn uncomputable(
    view: &Checked<'_, '_>,
    expr_ref: ExprRef,
    reason: &Reason,
) -> Diagnostic {
    accepted(view, expr_ref, Reason { code: Code::CannotCompute, ..reason.clone() })
}

/// Returns the diagnostic for a call that TVM accepts although `reason` makes it impossible to
/// compute.
fn accepted(view: &Checked<'_, '_>, expr_ref: ExprRef, reason: Reason) -> Diagnostic {
    let mut diagnostic = failed(view, expr_ref, &reason);
    diagnostic.message.push_str("\nTVM accepts the call, but the operator cannot compute it");
    diagnostic
}

/// Returns the callee of a call of a function. A failed relation is then one of its constraints,
/// and the operands of the relation are not the arguments of the call.
fn called_function(view: &View<'_>, expr_ref: ExprRef) -> Option<String> {
    let Expr::Call(call) = view.unit(expr_ref.unit).expr(expr_ref.expr) else { return None };
    let Callee::Expr(_) = view.unit(expr_ref.unit).call(*call).callee else { return None };
    let text = view.text(view.callee_range(expr_ref));
    Some(if text.len() <= 40 { format!("`{text}`") } else { "this function".to_owned() })
}

fn base(view: &View<'_>, expr_ref: ExprRef, reason: &Reason) -> Diagnostic {
    let primary = reason.marks.first().and_then(|mark| mark_range(view, expr_ref, mark));
    let range = primary.map_or_else(|| view.callee_range(expr_ref), |(range, _)| range);
    let mut diagnostic = Diagnostic::new(reason.code, range, reason.message.to_string());
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
    let unit = view.unit(expr_ref.unit);
    let Expr::Call(call) = unit.expr(expr_ref.expr) else {
        return Some((view.range(expr_ref), None));
    };
    let call = unit.call(*call);
    let at = |expr: ExprId| ExprRef { unit: expr_ref.unit, expr };
    match mark.place {
        Place::Argument(position) => {
            let arg = at(*call.args.get(position)?);
            Some((view.range(arg), Some(arg)))
        }
        Place::Field(position, field) => {
            let arg = at(*call.args.get(position)?);
            let tuple = view.resolve(arg);
            match view.unit(tuple.unit).expr(tuple.expr) {
                Expr::Tuple(fields) => {
                    let field = ExprRef { unit: tuple.unit, expr: *fields.get(field)? };
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
