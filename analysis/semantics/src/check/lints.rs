//! Lints: code that is valid but probably unintended.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;
use types::{Dim, Table, Type, map_leaves};

use super::undefined;
use crate::{
    body::*,
    diagnostic::{Code, DefDiagnostic, Severity},
    effects::is_needed_unused,
    lower::printed_type,
    scope::is_marked_unused,
    view::View,
};

/// The number of unused bindings with the same stem from which they count as generated, and are
/// reported once: a network that is unrolled 500 times has `%out_0` to `%out_499`.
const MIN_GENERATED: usize = 8;

pub(super) fn check_def(view: &View<'_>, found: &mut Vec<DefDiagnostic>) {
    check_unused(view, found);
    undefined::check(view, found);
    for (number, types) in view.inference.units_with_findings() {
        for &index in &types.stale {
            stale(view, number, &view.unit(number).type_comments[index as usize], found);
        }
    }
    for &(binding, hidden) in &view.scopes.shadows {
        if view.unit(hidden.unit).kind == UnitKind::Header {
            let name = &view.binder(binding).name;
            found.push(
                DefDiagnostic::new(
                    Code::ShadowedParameter,
                    view.binding_range(binding),
                    format!("`{name}` shadows the parameter of the same name"),
                )
                .related(view.binding_range(hidden), "the parameter"),
            );
        }
    }
}

/// Reports bindings that are never read; bindings with generated names get one hint for each stem.
fn check_unused(view: &View<'_>, found: &mut Vec<DefDiagnostic>) {
    let outer = view.scopes.unused.iter();
    let outer = outer.filter(|binding| view.unit(binding.unit).kind != UnitKind::FreeVar);
    let effects = OnceCell::new();
    let has_effect = |binding: LocalRef| {
        let of_binding = || effects.get_or_init(|| view.effects()).of_binding(binding);
        is_needed_unused(view.unit(binding.unit), binding.binder, of_binding)
    };
    let reported = |binding: &&LocalRef| {
        let name = &view.binder(**binding).name;
        !name.is_empty() && !is_marked_unused(name) && !has_effect(**binding)
    };
    let all = outer.chain(&view.scopes.unused_inside).filter(reported);
    let all: Vec<(LocalRef, Option<&str>)> =
        all.map(|&binding| (binding, generated_stem(view, binding))).collect();
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    // Names with the same stem follow one another.
    for same in all.chunk_by(|(_, a), (_, b)| a == b) {
        if let Some((_, Some(stem))) = same.first() {
            *counts.entry(stem).or_default() += same.len();
        }
    }
    for &(binding, stem) in &all {
        match stem.and_then(|stem| Some((stem, counts.get_mut(stem)?))) {
            // Reported with the first binding of this stem.
            Some((_, 0)) => {}
            Some((stem, count)) if *count >= MIN_GENERATED => {
                let message = format!(
                    "`{}` and {} more bindings `{stem}…` are never used",
                    view.binder(binding).name,
                    *count - 1
                );
                *count = 0;
                let mut diagnostic =
                    DefDiagnostic::new(Code::UnusedBinding, view.binding_range(binding), message)
                        .help("names that end in digits are assumed to be generated");
                diagnostic.severity = Severity::Hint;
                found.push(diagnostic);
            }
            _ => unused(view, binding, found),
        }
    }
}

/// Returns the name of a `let` or graph binding without its trailing digits; `None` if it has none.
fn generated_stem<'v>(view: &'v View<'_>, binding: LocalRef) -> Option<&'v str> {
    let binder = view.binder(binding);
    let is_binding = matches!(binder.kind, BinderKind::Let | BinderKind::Graph);
    if !is_binding || !binder.name.as_bytes().last()?.is_ascii_digit() {
        return None;
    }
    let last = binder.name.bytes().rposition(|byte| !byte.is_ascii_digit())?;
    Some(binder.name.get(..=last).unwrap_or(&binder.name))
}

fn unused(view: &View<'_>, binding: LocalRef, found: &mut Vec<DefDiagnostic>) {
    let binder = view.binder(binding);
    let (code, what) = match binder.kind {
        BinderKind::Param => (Code::UnusedParameter, "parameter"),
        BinderKind::Pattern => (Code::UnusedBinding, "pattern variable"),
        _ => (Code::UnusedBinding, "binding"),
    };
    let message = format!("the {what} `{}` is never used", binder.name);
    let range = view.binding_range(binding);
    let mut diagnostic = DefDiagnostic::new(code, range, message).unnecessary();
    if binder.kind == BinderKind::Pattern {
        // `_` takes no type.
        let with = match &binder.annotation {
            Some(_) => format!("%_{}", &binder.name[1..]),
            None => "_".to_owned(),
        };
        diagnostic = diagnostic.fix(format!("Write `{with}`"), [(range, with)]);
    }
    found.push(diagnostic);
}

/// Reports a type comment that differs from the inferred type.
fn stale(view: &View<'_>, number: UnitId, comment: &TypeComment, found: &mut Vec<DefDiagnostic>) {
    let types = view.unit_types(number);
    let ty = match comment.subject {
        Subject::Expr(expr) => types.expr(expr),
        Subject::Binder(binder) => types.binder(binder),
    };
    let range = view.place(number, comment.range);
    let (code, message) = match says_less(&comment.text, ty) {
        true => (
            Code::ImpreciseTypeComment,
            format!("this comment says `{}`, and the type is known to be `{ty}`", comment.text),
        ),
        false => (
            Code::StaleTypeComment,
            format!("this comment says `{}`, but the type is `{ty}`", comment.text),
        ),
    };
    found.push(
        DefDiagnostic::new(code, range, message)
            .fix("Correct the comment", [(range, ty.to_string())]),
    );
}

/// Returns true if the type in a comment contradicts `ty` nowhere, and leaves parts of it open: with `?`, `_` or the
/// variable of a size. Another release of TVM, or the pass after which the module was printed, knew less.
fn says_less(comment: &str, ty: &Type) -> bool {
    let Some(comment) = printed_type(comment) else { return false };
    let mut table = Table::default();
    let comment = map_leaves(&comment, &mut |leaf| match leaf {
        Type::Tensor(tensor) => {
            let open = |size: &Dim| if size.as_known().is_some() { size.clone() } else { Dim::Any };
            Type::tensor(tensor.shape.iter().map(open), tensor.dtype)
        }
        Type::Hole => {
            let node = table.fresh();
            table.resolve(node)
        }
        other => other.clone(),
    });
    let (comment, ty) = (table.import(&comment), table.import(ty));
    table.unify(comment, ty).is_ok()
}
