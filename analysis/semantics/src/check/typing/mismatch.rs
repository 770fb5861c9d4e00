//! Diagnostics for type mismatches.

use syntax::TextRange;
use types::{Conflict, Type, describe};

use super::callee_name;
use crate::{
    body::*,
    check::{cause::flow, checked::Checked, differ::differ, text},
    diagnostic::{Code, Diagnostic, Role},
    infer::Mismatch,
    queries,
};

/// Returns the diagnostic for two types that must be equal and are not.
pub(super) fn mismatch(
    view: &Checked<'_, '_>,
    unit: UnitId,
    what: Mismatch,
    found: &Type,
    expected: &Type,
    conflict: &Conflict,
) -> Diagnostic {
    let expr_ref = |expr: ExprId| ExprRef { unit, expr };
    let tail = differ(conflict);
    let code = conflict.code();
    match what {
        Mismatch::Annotation { binder, value } => {
            let name = &view.unit(unit).binder(binder).name;
            let mut diagnostic = Diagnostic::new(
                code,
                view.range(expr_ref(value)),
                format!("`{name}` is declared as `{expected}`, but its value is `{found}`{tail}"),
            );
            let binding = LocalRef { unit, binder };
            if let Some(ty) = view.annotation_node(binding) {
                let at = ty.range() + view.start();
                diagnostic = diagnostic.related(at, "declared here");
                if let Some(text) = text::writable(found) {
                    diagnostic =
                        diagnostic.fix(format!("Declare it as `{text}`"), [(at, text.clone())]);
                }
            }
            with_origins(view, diagnostic, expr_ref(value), conflict)
        }
        Mismatch::Result { function, value } => {
            let who = if function.is_some() { "the function" } else { "the definition" };
            let mut diagnostic = Diagnostic::new(
                code,
                view.range(expr_ref(value)),
                format!("{who} should return `{expected}`, but returns `{found}`{tail}"),
            );
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
                if let Some(text) = text::writable(found) {
                    diagnostic = diagnostic
                        .fix(format!("Change the result to `{text}`"), [(at, text.clone())]);
                }
            }
            with_origins(view, diagnostic, expr_ref(value), conflict)
        }
        Mismatch::Argument { call, index } => {
            argument(view, unit, call, index, found, expected, conflict)
        }
        Mismatch::Branches { then, otherwise } => {
            let diagnostic = Diagnostic::new(
                code,
                view.range(expr_ref(otherwise)),
                format!(
                    "the branches of this `if` have different types: `{expected}` and `{found}`{tail}"
                ),
            )
            .related(view.range(expr_ref(then)), format!("this branch is `{expected}`"));
            with_origins(view, diagnostic, expr_ref(otherwise), conflict)
        }
        Mismatch::Arm { expr, arm } => {
            let Expr::Match(id) = view.unit(unit).expr(expr) else {
                return Diagnostic::new(
                    code,
                    view.range(expr_ref(expr)),
                    "the arms have different types",
                );
            };
            let arms = &view.unit(unit).matches[id.index()].arms;
            let this = expr_ref(arms[arm].body.result);
            let diagnostic = Diagnostic::new(
                code,
                view.range(this),
                format!(
                    "this arm has type `{found}`, but the arms before it have type `{expected}`{tail}"
                ),
            )
            .related(
                view.range(expr_ref(arms[0].body.result)),
                format!("this arm has type `{expected}`"),
            );
            with_origins(view, diagnostic, this, conflict)
        }
        Mismatch::Pattern { binder } => {
            let data = view.unit(unit).binder(binder);
            Diagnostic::new(
                code,
                view.place(unit, data.range),
                format!(
                    "`{}` is declared as `{expected}`, but its value is `{found}`{tail}",
                    data.name
                ),
            )
        }
        Mismatch::Reference { reference } => Diagnostic::new(
            Code::TypeMismatch,
            view.range(expr_ref(reference)),
            format!("only references can be read and written, but this is {}", describe(found)),
        )
        .help("create one with `ref(…)`"),
        Mismatch::Write { value } => Diagnostic::new(
            code,
            view.range(expr_ref(value)),
            format!("the reference holds `{expected}`, but `{found}` is written{tail}"),
        ),
    }
}

fn argument(
    view: &Checked<'_, '_>,
    unit: UnitId,
    call: ExprId,
    index: usize,
    found: &Type,
    expected: &Type,
    conflict: &Conflict,
) -> Diagnostic {
    let tail = differ(conflict);
    let callee = callee_name(view, unit, call);
    let Expr::Call(id) = view.unit(unit).expr(call) else {
        return Diagnostic::new(
            conflict.code(),
            view.range(ExprRef { unit, expr: call }),
            "argument",
        );
    };
    let arg = ExprRef { unit, expr: view.unit(unit).call(*id).args[index] };
    let mut diagnostic = Diagnostic::new(
        conflict.code(),
        view.range(arg),
        format!(
            "argument {} of {callee} should be `{expected}`, but is `{found}`{tail}",
            index + 1
        ),
    );
    if let Some(at) = parameter(view, unit, call, index) {
        diagnostic = diagnostic.related(at, format!("the parameter is `{expected}`"));
    }
    with_origins(view, diagnostic, arg, conflict)
}

/// Returns the range of a parameter of the called global, if it is defined in this file.
fn parameter(
    view: &Checked<'_, '_>,
    unit: UnitId,
    call: ExprId,
    index: usize,
) -> Option<TextRange> {
    let Expr::Call(id) = view.unit(unit).expr(call) else { return None };
    let Callee::Expr(callee) = view.unit(unit).call(*id).callee else { return None };
    let Expr::Global(name) = view.unit(unit).expr(callee) else { return None };
    let (def, from_prelude) = queries::global(view.db, view.module, name)?;
    if from_prelude {
        return None;
    }
    let body = queries::body(view.db, def);
    let binder = *body.header()?.params.get(index)?;
    let range =
        queries::source_map(view.db, def).range(UnitId::HEADER, body.units[0].binder(binder).range);
    Some(view.place_in(def, range))
}

/// Adds the origins of the sizes that differ.
fn with_origins(
    view: &Checked<'_, '_>,
    mut diagnostic: Diagnostic,
    expr_ref: ExprRef,
    conflict: &Conflict,
) -> Diagnostic {
    if let Some(axis) = conflict.axis() {
        for step in view.origins.of(view, expr_ref, axis) {
            diagnostic = diagnostic.related(step.range, step.message);
        }
    }
    diagnostic
}
