//! Lints: code that is valid but probably unintended.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::findings::{shadowed_parameter, stale_type_comment, undefined_result, unused_binding};
use crate::{
    body::*, diagnostic::DefDiagnostic, effects::is_needed_unused, features::UnitFeatures,
    scope::is_marked_unused, view::View,
};

/// The number of unused bindings with the same stem from which they count as generated, and are
/// reported once: a network that is unrolled 500 times has `%out_0` to `%out_499`.
const MIN_GENERATED: usize = 8;

pub(super) fn check_def(view: &View<'_>, found: &mut Vec<DefDiagnostic>) {
    check_unused(view, found);
    undefined_result::check(view, found);
    for (number, types) in view.inference.units_with_findings() {
        for &index in &types.stale {
            let comment = &view.unit(number).type_comments[index as usize];
            found.push(stale_type_comment::report(view, number, comment));
        }
    }
    for &(binding, hidden) in &view.scopes.shadows {
        if view.unit(hidden.unit).kind == UnitKind::Header {
            found.push(shadowed_parameter::report(view, binding, hidden));
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
    let is_reported = |&binding: &LocalRef| {
        let name = &view.binder(binding).name;
        !name.is_empty() && !is_marked_unused(name) && !has_effect(binding)
    };
    let inside = view.body.units_with(UnitFeatures::UNUSED_INSIDE).flat_map(|unit| {
        let binders = view.unit(unit).unused_inside();
        binders.into_iter().map(move |binder| LocalRef { unit, binder })
    });
    let all: Vec<(LocalRef, Option<&str>)> = outer
        .copied()
        .chain(inside)
        .filter(is_reported)
        .map(|binding| (binding, generated_stem(view, binding)))
        .collect();
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
                found.push(unused_binding::generated(view, binding, stem, *count - 1));
                *count = 0;
            }
            _ => found.push(unused_binding::report(view, binding)),
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
