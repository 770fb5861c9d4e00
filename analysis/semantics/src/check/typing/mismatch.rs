//! Two types that must be one, in words.

use syntax::TextRange;
use types::{Conflict, Type, describe};

use super::{RESULT_DECLARED, callee_name};
use crate::{
    body::*,
    check::{cause::flow, differ::differ, suggest::Checked, text},
    diagnostic::Diagnostic,
    infer::Mismatch,
    queries,
    scope::Binding,
    view::Spot,
};

/// Two types that must be one.
pub(super) fn mismatch(
    view: &Checked<'_, '_>,
    unit: usize,
    what: Mismatch,
    found: &Type,
    wanted: &Type,
    conflict: &Conflict,
) -> Diagnostic {
    let spot = |expr: ExprId| Spot { unit, expr };
    let tail = differ(conflict);
    let code = conflict.code();
    match what {
        Mismatch::Annotation { binder, value } => {
            let name = &view.unit(unit).binder(binder).name;
            let mut diagnostic = Diagnostic::new(
                code,
                view.range(spot(value)),
                format!("`{name}` is declared as `{wanted}`, but its value is `{found}`{tail}"),
            );
            let binding = Binding { unit: unit as u32, binder };
            if let Some(ty) = view.annotation_node(binding) {
                let at = ty.range() + view.def.start(view.db);
                diagnostic = diagnostic.related(at, "declared here");
                if let Some(text) = text::writable(found) {
                    diagnostic =
                        diagnostic.fix(format!("Declare it as `{text}`"), [(at, text.clone())]);
                }
            }
            with_origins(view, diagnostic, spot(value), conflict)
        }
        Mismatch::Result { function, value } => {
            let who = if function.is_some() { "the function" } else { "the definition" };
            let mut diagnostic = Diagnostic::new(
                code,
                view.range(spot(value)),
                format!("{who} should give `{wanted}`, but gives `{found}`{tail}"),
            );
            // Which part of what is given differs.
            let part = flow::along(view, spot(value), &conflict.path);
            if part.spot != spot(value) {
                diagnostic = diagnostic.related(view.range(part.spot), "this part of it differs");
            }
            if function.is_none()
                && let Some(ty) = view.result_type_node()
            {
                let at = ty.range() + view.def.start(view.db);
                diagnostic = diagnostic.related(at, RESULT_DECLARED);
                if let Some(text) = text::writable(found) {
                    diagnostic = diagnostic
                        .fix(format!("Change the result to `{text}`"), [(at, text.clone())]);
                }
            }
            with_origins(view, diagnostic, spot(value), conflict)
        }
        Mismatch::Argument { call, index } => {
            argument(view, unit, call, index, found, wanted, conflict)
        }
        Mismatch::Branches { then, otherwise } => {
            let diagnostic = Diagnostic::new(
                code,
                view.range(spot(otherwise)),
                format!("the branches of this `if` differ: `{wanted}` and `{found}`{tail}"),
            )
            .related(view.range(spot(then)), format!("this branch is `{wanted}`"));
            with_origins(view, diagnostic, spot(otherwise), conflict)
        }
        Mismatch::Arm { expr, arm } => {
            let Expr::Match(id) = view.unit(unit).expr(expr) else {
                return Diagnostic::new(code, view.range(spot(expr)), "the arms differ");
            };
            let arms = &view.unit(unit).matches[id.index()].arms;
            let this = spot(arms[arm].body.result);
            let diagnostic = Diagnostic::new(
                code,
                view.range(this),
                format!("this arm gives `{found}`, the arms before it give `{wanted}`{tail}"),
            )
            .related(view.range(spot(arms[0].body.result)), format!("this arm gives `{wanted}`"));
            with_origins(view, diagnostic, this, conflict)
        }
        Mismatch::Pattern { binder } => {
            let data = view.unit(unit).binder(binder);
            Diagnostic::new(
                code,
                view.place(unit, data.range),
                format!(
                    "`{}` is declared as `{wanted}`, but `{found}` is matched{tail}",
                    data.name
                ),
            )
        }
        Mismatch::Reference { reference } => Diagnostic::new(
            "type-mismatch",
            view.range(spot(reference)),
            format!("only references can be read and written, and this is {}", describe(found)),
        )
        .help("make one with `ref(…)`"),
        Mismatch::Write { value } => Diagnostic::new(
            code,
            view.range(spot(value)),
            format!("the reference holds `{wanted}`, but `{found}` is written{tail}"),
        ),
    }
}

fn argument(
    view: &Checked<'_, '_>,
    unit: usize,
    call: ExprId,
    index: usize,
    found: &Type,
    wanted: &Type,
    conflict: &Conflict,
) -> Diagnostic {
    let tail = differ(conflict);
    let callee = callee_name(view, unit, call);
    let Expr::Call(id) = view.unit(unit).expr(call) else {
        return Diagnostic::new(conflict.code(), view.range(Spot { unit, expr: call }), "argument");
    };
    let arg = Spot { unit, expr: view.unit(unit).call(*id).args[index] };
    let mut diagnostic = Diagnostic::new(
        conflict.code(),
        view.range(arg),
        format!("{callee} takes `{wanted}` as argument {}, this is `{found}`{tail}", index + 1),
    );
    if let Some(at) = parameter(view, unit, call, index) {
        diagnostic = diagnostic.related(at, format!("the parameter is `{wanted}`"));
    }
    with_origins(view, diagnostic, arg, conflict)
}

/// Where a parameter of the called global stands, if it is in this file.
fn parameter(view: &Checked<'_, '_>, unit: usize, call: ExprId, index: usize) -> Option<TextRange> {
    let Expr::Call(id) = view.unit(unit).expr(call) else { return None };
    let Callee::Expr(callee) = view.unit(unit).call(*id).callee else { return None };
    let Expr::Global(name) = view.unit(unit).expr(callee) else { return None };
    let (def, from_prelude) = queries::global(view.db, view.module, name)?;
    if from_prelude {
        return None;
    }
    let body = queries::body(view.db, def);
    let binder = *body.header()?.params.get(index)?;
    Some(body.units[0].binder(binder).range + def.start(view.db))
}

/// Adds where the sizes that differ came from.
fn with_origins(
    view: &Checked<'_, '_>,
    mut diagnostic: Diagnostic,
    spot: Spot,
    conflict: &Conflict,
) -> Diagnostic {
    if let Some(axis) = conflict.axis() {
        for step in view.origins.of(view, spot, axis) {
            diagnostic = diagnostic.related(step.range, step.message);
        }
    }
    diagnostic
}
