//! Type relations that do not hold, in words and places.

use syntax::TextRange;
use types::{Mark, Place, Reason, Type};

use super::{origin, suggest::Checked, typing::callee_range};
use crate::{
    body::*,
    diagnostic::Diagnostic,
    view::{Spot, View},
};

/// A relation that does not hold.
pub(super) fn failed(view: &Checked<'_, '_>, spot: Spot, reason: &Reason) -> Diagnostic {
    if let Some(function) = called_function(view, spot) {
        let reason = Reason { marks: Default::default(), fix: None, ..reason.clone() };
        let mut diagnostic = base(view, spot, &reason);
        diagnostic.message = format!("inside {function}, {}", diagnostic.message);
        return diagnostic;
    }
    let mut diagnostic = base(view, spot, reason);
    let mut seen: Vec<TextRange> = vec![diagnostic.range];
    for mark in &reason.marks {
        let Some((range, argument)) = mark_range(view, spot, mark) else { continue };
        if !seen.contains(&range) {
            seen.push(range);
            diagnostic = diagnostic.related(range, label(view, spot, mark));
        }
        // Where the size came from, for an axis of an argument.
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
            && reason.code == "dtype-mismatch"
            && let Some(step) = view.origins.of_dtype(view, argument)
            && !seen.contains(&step.range)
        {
            seen.push(step.range);
            diagnostic = diagnostic.related(step.range, step.message);
        }
    }
    if let Some(fix) = &reason.fix
        && is_literal(&fix.value)
        && let Some(range) = attribute_range(view, spot, fix.name)
    {
        let title = format!("Change `{}` to {}", fix.name, fix.value);
        diagnostic = diagnostic.fix(title, [(range, fix.value.clone())]);
    }
    diagnostic
}

/// Whether a value can be written for an attribute: numbers, strings and lists of them. A size that is
/// not known, or has a name, cannot.
fn is_literal(value: &str) -> bool {
    use syntax::SyntaxKind::*;
    syntax::tokens(value).all(|(kind, _)| {
        matches!(
            kind,
            INT | FLOAT
                | STRING
                | TRUE_KW
                | FALSE_KW
                | MINUS
                | COMMA
                | L_BRACK
                | R_BRACK
                | L_PAREN
                | R_PAREN
                | WHITESPACE
        )
    })
}

/// A relation that gives no type, where something else decides it.
pub(super) fn undecided(view: &Checked<'_, '_>, spot: Spot, reason: &Reason) -> Diagnostic {
    accepted(view, spot, Reason { code: "relation-undecided", ..reason.clone() })
}

/// A relation that holds though the call cannot be computed.
pub(super) fn uncomputable(view: &Checked<'_, '_>, spot: Spot, reason: &Reason) -> Diagnostic {
    accepted(view, spot, Reason { code: "cannot-compute", ..reason.clone() })
}

/// A call that TVM accepts, though it cannot be computed for the reason given.
fn accepted(view: &Checked<'_, '_>, spot: Spot, reason: Reason) -> Diagnostic {
    let mut diagnostic = failed(view, spot, &reason);
    diagnostic.message.push_str("\nTVM accepts the call, but the operator cannot compute it");
    diagnostic
}

/// What is called, where it is a function and the relation one of its constraints: then what the
/// relation relates are not the arguments of the call.
fn called_function(view: &View<'_>, spot: Spot) -> Option<String> {
    let Expr::Call(call) = view.unit(spot.unit).expr(spot.expr) else { return None };
    let Callee::Expr(_) = view.unit(spot.unit).call(*call).callee else { return None };
    let text = view.text(callee_range(view, spot.unit, spot.expr));
    Some(if text.len() <= 40 { format!("`{text}`") } else { "this function".to_owned() })
}

fn base(view: &View<'_>, spot: Spot, reason: &Reason) -> Diagnostic {
    let primary = reason.marks.first().and_then(|mark| mark_range(view, spot, mark));
    let range =
        primary.map_or_else(|| callee_range(view, spot.unit, spot.expr), |(range, _)| range);
    let mut diagnostic = Diagnostic::new(reason.code, range, reason.message.clone());
    // The rule belongs to the message: some editors show nothing else.
    if !reason.rule.is_empty() {
        diagnostic.message.push('\n');
        diagnostic.message.push_str(&reason.rule);
    }
    diagnostic.help.clone_from(&reason.help);
    diagnostic
}

/// Where a marked part of a call stands, and which expression it is.
fn mark_range(view: &View<'_>, spot: Spot, mark: &Mark) -> Option<(TextRange, Option<Spot>)> {
    let unit = view.unit(spot.unit);
    let Expr::Call(call) = unit.expr(spot.expr) else {
        return Some((view.range(spot), None));
    };
    let call = unit.call(*call);
    let at = |expr: ExprId| Spot { unit: spot.unit, expr };
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
                    let field = Spot { unit: tuple.unit, expr: *fields.get(field)? };
                    Some((view.range(field), Some(field)))
                }
                _ => Some((view.range(arg), None)),
            }
        }
        Place::Attribute(name) => {
            let range = attribute_range(view, spot, name);
            Some((range.unwrap_or_else(|| callee_range(view, spot.unit, spot.expr)), None))
        }
        Place::Result | Place::Operator => Some((callee_range(view, spot.unit, spot.expr), None)),
    }
}

/// Where the value of an attribute is written.
pub(super) fn attribute_range(view: &View<'_>, spot: Spot, name: &str) -> Option<TextRange> {
    let Expr::Call(call) = view.unit(spot.unit).expr(spot.expr) else { return None };
    let call = view.unit(spot.unit).call(*call);
    let attr = call.written.iter().find(|attr| attr.name == name)?;
    Some(view.place(spot.unit, attr.value_range))
}

/// What stands at a mark: `` `%w` is Tensor[(64, 4, 7, 7), float32]: 4 input channels on axis 1 ``.
fn label(view: &View<'_>, spot: Spot, mark: &Mark) -> String {
    let Some((_, Some(argument))) = mark_range(view, spot, mark) else { return mark.label.clone() };
    let ty = view.ty(argument);
    let axis = mark.axis.map_or(String::new(), |axis| format!(" on axis {axis}"));
    match ty {
        Type::Error | Type::Var(_) => format!("{}{axis}", mark.label),
        ty if mark.label == ty.to_string() => format!("this is `{ty}`"),
        ty => format!("this is `{ty}`: {}{axis}", mark.label),
    }
}
