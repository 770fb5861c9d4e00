//! What is allowed and probably not meant.

use rustc_hash::FxHashMap;
use syntax::TextRange;

use crate::{
    body::*,
    diagnostic::Diagnostic,
    scope::{Binding, is_silenced},
    view::{Spot, View},
};

pub(super) fn check_def(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for &binding in &view.scopes.unused {
        if view.unit(binding.unit as usize).kind != UnitKind::FreeVar {
            unused(view, binding, found);
        }
    }
    for &binding in &view.scopes.unused_inside {
        unused(view, binding, found);
    }
    for (number, types) in view.inference.units.iter().enumerate() {
        for &index in &types.stale {
            stale(view, number, &view.unit(number).evidence[index as usize], found);
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

/// Where graph bindings stand that nothing uses, or nothing but others of the kind.
pub(super) fn dead_bindings(view: &View<'_>) -> Vec<TextRange> {
    // Every graph binding with its statement, and the places where it is used.
    let mut statements: Vec<(Binding, TextRange)> = Vec::new();
    let mut uses: FxHashMap<Binding, Vec<TextRange>> = FxHashMap::default();
    for (number, unit) in view.body.units.iter().enumerate() {
        for (i, expr) in unit.exprs.iter().enumerate() {
            let spot = Spot { unit: number, expr: ExprId(i as u32) };
            match expr {
                Expr::Bind { binder, .. } if unit.binder(*binder).kind == BinderKind::Graph => {
                    let binding = Binding { unit: number as u32, binder: *binder };
                    statements.push((binding, view.range(spot)));
                }
                _ => {
                    if let Some(binding) = view.variable(spot) {
                        uses.entry(binding).or_default().push(view.range(spot));
                    }
                }
            }
        }
    }
    let mut dead: Vec<TextRange> = Vec::new();
    // A binding comes before its uses, so that from the end on one pass is enough.
    for (binding, range) in statements.into_iter().rev() {
        let places = uses.get(&binding).map_or(&[][..], Vec::as_slice);
        if places.iter().all(|place| dead.iter().any(|range| range.contains_range(*place))) {
            dead.push(range);
        }
    }
    dead
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
