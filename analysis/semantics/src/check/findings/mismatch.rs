//! Diagnostics for type mismatches.

use syntax::TextRange;
use types::{Conflict, ConflictKind, Type, describe};

use super::{Report, Site, relation::first_field};
use crate::{
    body::*,
    check::{
        cause::{self, Evidence, flow},
        check_view::CheckView,
        differ::differ,
        repair,
        writable::writable,
    },
    diagnostic::{Code, DefDiagnostic, InDef, Role},
    infer::Mismatch,
};

/// Reports two types that must be equal and are not; `None` if one of them is not defined, which is reported at
/// its annotation.
pub(super) fn report(
    site: &Site<'_, '_, '_>,
    what: Mismatch,
    found: &Type,
    expected: &Type,
    conflict: &Conflict,
) -> Option<Report> {
    if !site.view.types.knows(found) || !site.view.types.knows(expected) {
        return None;
    }
    let diagnostic = diagnostic(site, what, Types { found, expected, conflict })?;
    Some(Report { diagnostic, evidence: evidence(site, what, conflict) })
}

/// Returns the values, and the declarations that they contradict.
fn evidence(site: &Site<'_, '_, '_>, what: Mismatch, conflict: &Conflict) -> Option<Evidence> {
    let (view, unit) = (site.view, site.unit);
    let expr_ref = |expr: ExprId| ExprRef { unit, expr };
    let mut evidence = Evidence::new(unit);
    evidence.is_mismatch = true;
    evidence.is_declaration = matches!(what, Mismatch::Annotation { .. });
    let cause = &mut evidence.cause;
    cause.values = conflict.clash();
    cause.rank_differs = conflict.kind == ConflictKind::Rank;
    let value = match what {
        Mismatch::Annotation { binder, value } => {
            let binding = LocalRef { unit, binder };
            evidence.suspect = Some(binding);
            cause.declared = Some(cause::declaration(view, binding).into());
            value
        }
        Mismatch::Result { function, value } => {
            evidence.suspect = function.and_then(|id| cause::function_bound_to(view, unit, id));
            if function.is_none() {
                cause.declared = view.result_range().map(InDef::from);
            }
            value
        }
        Mismatch::Branch { expr, branch, other, .. } => {
            evidence.suspect = cause::bound_to(view, unit, expr);
            let branches = view.unit(unit).branches_of(expr);
            let other = expr_ref(*branches.get(other)?);
            evidence.operands.push(other);
            cause::depends_on(cause, view, other, conflict.axis());
            *branches.get(branch)?
        }
        Mismatch::Pattern { binder } => {
            let binding = LocalRef { unit, binder };
            evidence.suspect = Some(binding);
            cause.places.push(cause::declaration(view, binding).into());
            return Some(evidence);
        }
        Mismatch::Argument { call, index } => {
            let data = view.call(expr_ref(call))?;
            evidence.call = Some(expr_ref(call));
            if let Callee::Expr(callee) = data.callee {
                evidence.operands.push(expr_ref(callee));
                cause.parameter = cause::parameter(view, expr_ref(callee), index);
                cause.places.extend(cause.parameter);
                // The parameters of a function that is a parameter itself are declared in its type.
                let function = view.variable(expr_ref(callee));
                if let (None, Some(function)) = (cause.parameter, function) {
                    cause.places.push(cause::declaration(view, function).into());
                }
            }
            *data.args.get(index)?
        }
        Mismatch::Write { value } => value,
        Mismatch::Reference { .. } => return None,
    };
    evidence.operands.push(expr_ref(value));
    let part = flow::along(view, expr_ref(value), &conflict.path);
    // A function expression with a different parameter type than declared.
    if let Some(parameter) = part.parameter {
        let at = InDef::from(cause::declaration(view, parameter));
        cause.places.push(at);
        cause.parameter = cause.parameter.or(Some(at));
    }
    let axis = match &conflict.kind {
        ConflictKind::Sizes(axes) if part.is_whole => axes.first().copied(),
        _ => None,
    };
    cause::depends_on(cause, view, part.expr_ref, axis);
    Some(evidence.with_flows(view))
}

/// The types that must be equal, and the part in which they differ.
#[derive(Clone, Copy)]
struct Types<'f> {
    found: &'f Type,
    expected: &'f Type,
    conflict: &'f Conflict,
}

fn diagnostic(site: &Site<'_, '_, '_>, what: Mismatch, types: Types<'_>) -> Option<DefDiagnostic> {
    let (view, unit) = (site.view, site.unit);
    let Types { found, expected, conflict } = types;
    let tail = differ(conflict);
    let declared = |name: &Name| {
        format!("`{name}` is declared as `{expected}`, but its value is `{found}`{tail}")
    };
    let new = |range: TextRange, message| DefDiagnostic::new(conflict.code(), range, message);
    let of_value = |expr: ExprId, message: String| {
        let value = ExprRef { unit, expr };
        let diagnostic = new(view.range(value), message);
        let diagnostic = or_first_field(view, diagnostic, value, found, expected);
        repair::with_suffix(view, value, expected, diagnostic)
    };
    let (value, diagnostic) = match what {
        Mismatch::Annotation { binder, value } => {
            let binding = LocalRef { unit, binder };
            let diagnostic = of_value(value, declared(&view.binder(binding).name));
            let diagnostic = diagnostic.with(view.annotation_range(binding), |diagnostic, at| {
                let diagnostic = diagnostic.related(at, "declared here");
                or_declare(view, diagnostic, at, found, "Declare it as")
            });
            (value, diagnostic)
        }
        Mismatch::Result { function, value } => {
            let who = if function.is_some() { "the function" } else { "the definition" };
            let message = format!("{who} should return `{expected}`, but returns `{found}`{tail}");
            let mut diagnostic = of_value(value, message);
            // The part of the result that differs.
            let whole = ExprRef { unit, expr: value };
            let part = flow::along(view, whole, &conflict.path).expr_ref;
            if part != whole {
                diagnostic = diagnostic.related(view.range(part), "this part differs");
            }
            if let Some(at) = view.result_range().filter(|_| function.is_none()) {
                diagnostic =
                    diagnostic.relate(Role::Alternative, at, "the result is declared here");
                diagnostic = or_declare(view, diagnostic, at, found, "Change the result to");
            }
            (value, diagnostic)
        }
        Mismatch::Argument { call, index } => {
            let callee = site.callee_name()?;
            let data = view.call(ExprRef { unit, expr: call })?;
            let value = *data.args.get(index)?;
            let number = index + 1;
            let mut diagnostic = of_value(
                value,
                format!(
                    "argument {number} of {callee} should be `{expected}`, but is `{found}`{tail}"
                ),
            );
            if let Callee::Expr(callee) = data.callee
                && let Some(at) = cause::parameter(view, ExprRef { unit, expr: callee }, index)
            {
                diagnostic = diagnostic.related(at, format!("the parameter is `{expected}`"));
            }
            (value, diagnostic)
        }
        Mismatch::Branch { expr, branch, other, is_declared } => {
            branches(site, expr, (branch, other), is_declared, types)?
        }
        Mismatch::Pattern { binder } => {
            let data = view.unit(unit).binder(binder);
            return Some(new(view.place(unit, data.range), declared(&data.name)));
        }
        Mismatch::Reference { reference } => {
            let message =
                format!("only references can be read and written, but this is {}", describe(found));
            let diagnostic = DefDiagnostic::new(Code::TypeMismatch, site.range(reference), message);
            return Some(diagnostic.help("create one with `ref(…)`"));
        }
        Mismatch::Write { value } => {
            let message =
                format!("the reference holds `{expected}`, but `{found}` is written{tail}");
            return Some(new(site.range(value), message));
        }
    };
    let value = ExprRef { unit, expr: value };
    let origins = conflict.axis().map(|axis| view.origins.of(view, value, axis));
    Some(
        origins
            .into_iter()
            .flatten()
            .fold(diagnostic, |diagnostic, step| diagnostic.related(step.range, step.message())),
    )
}

/// Returns the diagnostic of a branch of an `if` or an arm of a `match` that has another type than another one, with
/// the value of the branch. The type that is declared for the whole value says which of them is wrong.
fn branches(
    site: &Site<'_, '_, '_>,
    expr: ExprId,
    (branch, other): (usize, usize),
    is_declared: bool,
    Types { found, expected, conflict }: Types<'_>,
) -> Option<(ExprId, DefDiagnostic)> {
    let (view, unit) = (site.view, site.unit);
    let (whole, part, parts) = match view.unit(unit).expr(expr) {
        Expr::If { .. } => ("if", "branch", "branches"),
        _ => ("match", "arm", "arms"),
    };
    let tail = differ(conflict);
    let types = match is_declared {
        true => format!("`{found}`, but `{expected}` is declared"),
        false => format!("`{expected}` and `{found}`"),
    };
    let message = format!("the {parts} of this `{whole}` have different types: {types}{tail}");
    let results = view.unit(unit).branches_of(expr);
    let this = *results.get(branch)?;
    let mut diagnostic = DefDiagnostic::new(conflict.code(), site.range(this), message)
        .related(site.range(*results.get(other)?), format!("this {part} is `{expected}`"));
    let types = view.unit_types(unit);
    for (index, &result) in results.iter().enumerate() {
        if index != branch && index != other && types.expr(result) == found {
            let message = format!("this {part} is `{found}`, too");
            diagnostic = diagnostic.related(site.range(result), message);
        }
    }
    if is_declared && let Some(at) = declared_type(view, ExprRef { unit, expr }) {
        diagnostic = diagnostic.relate(Role::Alternative, at, "declared here");
    }
    let this_ref = ExprRef { unit, expr: this };
    Some((this, repair::with_suffix(view, this_ref, expected, diagnostic)))
}

/// Returns the place of the type that is declared for the value of an expression, as that of a variable or the result
/// of the definition.
fn declared_type(view: &CheckView<'_, '_>, expr_ref: ExprRef) -> Option<TextRange> {
    match cause::declared_for(view, expr_ref.unit, expr_ref.expr) {
        Some(binding) => view.annotation_range(binding),
        None => view.result_range().filter(|_| view.unit(expr_ref.unit).fns.is_empty()),
    }
}

/// The most calls through which a tuple is followed to the expression that makes it.
const MAX_HANDED_ON: usize = 16;

/// Adds the fix that writes the type of a value in place of the declared one at `at`.
fn or_declare(
    view: &CheckView<'_, '_>,
    diagnostic: DefDiagnostic,
    at: TextRange,
    found: &Type,
    title: &str,
) -> DefDiagnostic {
    diagnostic.with(writable(found).filter(|_| view.can_name(found, at)), |diagnostic, text| {
        diagnostic.fix(format!("{title} `{text}`"), [(at, text)])
    })
}

/// Adds the fix `.0` for a tuple whose first field has the expected type, as that of `nn.batch_norm`. Where an
/// operator hands the tuple on, as `nn.relu(%bn)` does, its operand gets it.
fn or_first_field(
    view: &CheckView<'_, '_>,
    diagnostic: DefDiagnostic,
    mut tuple: ExprRef,
    found: &Type,
    expected: &Type,
) -> DefDiagnostic {
    let Type::Tuple(fields) = found else { return diagnostic };
    if fields.iter().next() != Some(expected) {
        return diagnostic;
    }
    for _ in 0..MAX_HANDED_ON {
        let Some(operand) = handed_on(view, tuple) else { break };
        tuple = operand;
    }
    first_field(view, tuple, diagnostic)
}

/// Returns the operand whose type a call has.
fn handed_on(view: &CheckView<'_, '_>, expr_ref: ExprRef) -> Option<ExprRef> {
    let call = view.call(expr_ref)?;
    let Callee::Operator(operator) = &call.callee else { return None };
    let is_identity = operator.rule.is_some_and(|(name, _)| name == "Identity");
    let &expr = call.args.first().filter(|_| is_identity)?;
    Some(ExprRef { unit: expr_ref.unit, expr })
}
