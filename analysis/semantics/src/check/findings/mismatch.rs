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
    let diagnostic = diagnostic(site, what, found, expected, conflict)?;
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
                cause.declared = cause::result(view).map(InDef::from);
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

fn diagnostic(
    site: &Site<'_, '_, '_>,
    what: Mismatch,
    found: &Type,
    expected: &Type,
    conflict: &Conflict,
) -> Option<DefDiagnostic> {
    let (view, unit) = (site.view, site.unit);
    let expr_ref = |expr: ExprId| ExprRef { unit, expr };
    let tail = differ(conflict);
    let code = conflict.code();
    Some(match what {
        Mismatch::Annotation { binder, value } => {
            let name = &view.unit(unit).binder(binder).name;
            let mut diagnostic = DefDiagnostic::new(
                code,
                view.range(expr_ref(value)),
                format!("`{name}` is declared as `{expected}`, but its value is `{found}`{tail}"),
            );
            diagnostic = or_first_field(view, diagnostic, expr_ref(value), found, expected);
            diagnostic = repair::with_suffix(view, expr_ref(value), expected, diagnostic);
            let binding = LocalRef { unit, binder };
            if let Some(ty) = view.annotation_node(binding) {
                let at = ty.range() + view.start();
                diagnostic = diagnostic.related(at, "declared here");
                diagnostic = or_declare(view, diagnostic, at, found, "Declare it as");
            }
            with_origins(view, diagnostic, expr_ref(value), conflict)
        }
        Mismatch::Result { function, value } => {
            let who = if function.is_some() { "the function" } else { "the definition" };
            let mut diagnostic = DefDiagnostic::new(
                code,
                view.range(expr_ref(value)),
                format!("{who} should return `{expected}`, but returns `{found}`{tail}"),
            );
            diagnostic = or_first_field(view, diagnostic, expr_ref(value), found, expected);
            diagnostic = repair::with_suffix(view, expr_ref(value), expected, diagnostic);
            // The part of the result that differs.
            let part = flow::along(view, expr_ref(value), &conflict.path);
            if part.expr_ref != expr_ref(value) {
                diagnostic = diagnostic.related(view.range(part.expr_ref), "this part differs");
            }
            if function.is_none()
                && let Some(ty) = view.result_type_node()
            {
                let at = ty.range() + view.start();
                diagnostic =
                    diagnostic.relate(Role::Alternative, at, "the result is declared here");
                diagnostic = or_declare(view, diagnostic, at, found, "Change the result to");
            }
            with_origins(view, diagnostic, expr_ref(value), conflict)
        }
        Mismatch::Argument { call, index } => {
            return argument(site, call, index, found, expected, conflict);
        }
        Mismatch::Branch { expr, branch, other, is_declared } => {
            return branches(site, expr, (branch, other), is_declared, found, expected, conflict);
        }
        Mismatch::Pattern { binder } => {
            let data = view.unit(unit).binder(binder);
            DefDiagnostic::new(
                code,
                view.place(unit, data.range),
                format!(
                    "`{}` is declared as `{expected}`, but its value is `{found}`{tail}",
                    data.name
                ),
            )
        }
        Mismatch::Reference { reference } => DefDiagnostic::new(
            Code::TypeMismatch,
            view.range(expr_ref(reference)),
            format!("only references can be read and written, but this is {}", describe(found)),
        )
        .help("create one with `ref(…)`"),
        Mismatch::Write { value } => DefDiagnostic::new(
            code,
            view.range(expr_ref(value)),
            format!("the reference holds `{expected}`, but `{found}` is written{tail}"),
        ),
    })
}

/// Returns the diagnostic of a branch of an `if` or an arm of a `match` that has another type than another one. The
/// type that is declared for the value says which of them is wrong.
fn branches(
    site: &Site<'_, '_, '_>,
    expr: ExprId,
    (branch, other): (usize, usize),
    is_declared: bool,
    found: &Type,
    expected: &Type,
    conflict: &Conflict,
) -> Option<DefDiagnostic> {
    let (view, unit) = (site.view, site.unit);
    let expr_ref = |expr: ExprId| ExprRef { unit, expr };
    let is_if = matches!(view.unit(unit).expr(expr), Expr::If { .. });
    let (whole, part) = if is_if { ("if", "branch") } else { ("match", "arm") };
    let tail = differ(conflict);
    let parts = if is_if { "branches" } else { "arms" };
    let types = match is_declared {
        true => format!("`{found}`, but `{expected}` is declared"),
        false => format!("`{expected}` and `{found}`"),
    };
    let message = format!("the {parts} of this `{whole}` have different types: {types}{tail}");
    let results = view.unit(unit).branches_of(expr);
    let this = expr_ref(*results.get(branch)?);
    let mut diagnostic = DefDiagnostic::new(conflict.code(), view.range(this), message).related(
        view.range(expr_ref(*results.get(other)?)),
        format!("this {part} is `{expected}`"),
    );
    let types = view.unit_types(unit);
    for (index, &result) in results.iter().enumerate() {
        if index != branch && index != other && types.expr(result) == found {
            let message = format!("this {part} is `{found}`, too");
            diagnostic = diagnostic.related(view.range(expr_ref(result)), message);
        }
    }
    if is_declared && let Some(at) = declared_type(view, expr_ref(expr)) {
        diagnostic = diagnostic.relate(Role::Alternative, at, "declared here");
    }
    diagnostic = repair::with_suffix(view, this, expected, diagnostic);
    Some(with_origins(view, diagnostic, this, conflict))
}

/// Returns the place of the type that is declared for the value of an expression, as that of a variable or the result
/// of the definition.
fn declared_type(view: &CheckView<'_, '_>, expr_ref: ExprRef) -> Option<TextRange> {
    let node = match cause::declared_for(view, expr_ref.unit, expr_ref.expr) {
        Some(binding) => view.annotation_node(binding),
        None => view.result_type_node().filter(|_| view.unit(expr_ref.unit).fns.is_empty()),
    };
    Some(node?.range() + view.start())
}

fn argument(
    site: &Site<'_, '_, '_>,
    call: ExprId,
    index: usize,
    found: &Type,
    expected: &Type,
    conflict: &Conflict,
) -> Option<DefDiagnostic> {
    let (view, unit) = (site.view, site.unit);
    let tail = differ(conflict);
    let callee = site.callee_name()?;
    let data = view.call(ExprRef { unit, expr: call })?;
    let arg = ExprRef { unit, expr: *data.args.get(index)? };
    let mut diagnostic = DefDiagnostic::new(
        conflict.code(),
        view.range(arg),
        format!(
            "argument {} of {callee} should be `{expected}`, but is `{found}`{tail}",
            index + 1
        ),
    );
    if let Callee::Expr(callee) = data.callee
        && let Some(at) = cause::parameter(view, ExprRef { unit, expr: callee }, index)
    {
        diagnostic = diagnostic.related(at, format!("the parameter is `{expected}`"));
    }
    diagnostic = or_first_field(view, diagnostic, arg, found, expected);
    diagnostic = repair::with_suffix(view, arg, expected, diagnostic);
    Some(with_origins(view, diagnostic, arg, conflict))
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

/// Adds the origins of the sizes that differ.
fn with_origins(
    view: &CheckView<'_, '_>,
    mut diagnostic: DefDiagnostic,
    expr_ref: ExprRef,
    conflict: &Conflict,
) -> DefDiagnostic {
    if let Some(axis) = conflict.axis() {
        for step in view.origins.of(view, expr_ref, axis) {
            diagnostic = diagnostic.related(step.range, step.message());
        }
    }
    diagnostic
}
