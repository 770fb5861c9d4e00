//! What is allowed and probably not meant.

use crate::{
    body::*,
    diagnostic::Diagnostic,
    scope::{Binding, is_silenced, unused_inside},
    view::View,
};

pub(super) fn check_def(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for &binding in &view.scopes.unused {
        if view.unit(binding.unit as usize).kind != UnitKind::FreeVar {
            unused(view, binding, found);
        }
    }
    for (number, unit) in view.body.units.iter().enumerate() {
        if unit.binders.len() > usize::from(unit.binds.is_some()) && unit.header().is_none() {
            for binder in unused_inside(unit) {
                unused(view, Binding { unit: number as u32, binder }, found);
            }
        }
        for &index in &view.unit_types(number).stale {
            stale(view, number, &unit.evidence[index as usize], found);
        }
    }
    for &(binding, hidden) in &view.scopes.shadows {
        if view.unit(hidden.unit as usize).kind == UnitKind::Header {
            let name = &view.binder(binding).name;
            found.push(
                Diagnostic::new(
                    "shadowed-parameter",
                    view.binding_range(binding),
                    format!("`{name}` hides the parameter of that name"),
                )
                .related(view.binding_range(hidden), "the parameter"),
            );
        }
    }
}

fn unused(view: &View<'_>, binding: Binding, found: &mut Vec<Diagnostic>) {
    let binder = view.binder(binding);
    if binder.name.is_empty() || is_silenced(&binder.name) {
        return;
    }
    let (code, what) = match binder.kind {
        BinderKind::Param => ("unused-parameter", "parameter"),
        BinderKind::Pattern => ("unused-binding", "pattern variable"),
        _ => ("unused-binding", "binding"),
    };
    let message = format!("the {what} `{}` is never used", binder.name);
    let range = view.binding_range(binding);
    let mut diagnostic = Diagnostic::new(code, range, message).unnecessary();
    if binder.kind == BinderKind::Pattern {
        diagnostic = diagnostic.fix("Write `_`", [(range, "_".to_owned())]);
    }
    found.push(diagnostic);
}

/// A type comment that is not what the types say.
fn stale(view: &View<'_>, number: usize, evidence: &Evidence, found: &mut Vec<Diagnostic>) {
    let types = view.unit_types(number);
    let ty = match evidence.about {
        Subject::Expr(expr) => types.expr(expr),
        Subject::Binder(binder) => types.binder(binder),
    };
    let range = view.place(number, evidence.range);
    let message = format!("this comment says `{}`, but the type is `{ty}`", evidence.text);
    found.push(
        Diagnostic::new("stale-type-comment", range, message)
            .fix("Correct the comment", [(range, ty.to_string())]),
    );
}
