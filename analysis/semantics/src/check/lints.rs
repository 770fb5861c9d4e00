//! What is allowed and probably not meant.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use syntax::{TextRange, TextSize};
use types::Type;

use crate::{
    body::*,
    diagnostic::{Diagnostic, Severity},
    scope::{Binding, is_silenced},
    view::{Spot, View},
};

/// From how many unused bindings of one name and a number on they are machine-made: a network that is
/// unrolled 500 times has `%out_0` to `%out_499`.
const MANY_ALIKE: usize = 8;

pub(super) fn check_def(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    check_unused(view, found);
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

/// What is bound and never read. Bindings with generated names make one hint for each name.
fn check_unused(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    let outer = view.scopes.unused.iter();
    let outer = outer.filter(|binding| view.unit(binding.unit as usize).kind != UnitKind::FreeVar);
    let reported = |binding: &&Binding| {
        let name = &view.binder(**binding).name;
        !name.is_empty() && !is_silenced(name) && !is_effect(view, **binding)
    };
    let all: Vec<Binding> =
        outer.chain(&view.scopes.unused_inside).filter(reported).copied().collect();
    let mut alike: FxHashMap<&str, usize> = FxHashMap::default();
    for &binding in &all {
        if let Some(stem) = generated_stem(view, binding) {
            *alike.entry(stem).or_default() += 1;
        }
    }
    for &binding in &all {
        let stem = generated_stem(view, binding);
        match stem.and_then(|stem| Some((stem, alike.get_mut(stem)?))) {
            // The others have been told of with the first one.
            Some((_, 0)) => {}
            Some((stem, count)) if *count >= MANY_ALIKE => {
                let message = format!(
                    "`{}` and {} more bindings `{stem}…` are never used",
                    view.binder(binding).name,
                    *count - 1
                );
                *count = 0;
                let mut diagnostic =
                    Diagnostic::new("unused-binding", view.binding_range(binding), message)
                        .help("names that end in numbers are taken for generated ones");
                diagnostic.severity = Severity::Hint;
                found.push(diagnostic);
            }
            _ => unused(view, binding, found),
        }
    }
}

/// The name of a `let` or graph binding without the number at its end, if it has one.
fn generated_stem<'v>(view: &'v View<'_>, binding: Binding) -> Option<&'v str> {
    let binder = view.binder(binding);
    let stem = binder.name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_binding = matches!(binder.kind, BinderKind::Let | BinderKind::Graph);
    (is_binding && stem.len() < binder.name.len()).then_some(stem)
}

/// Returns true if a binding is there for the effect of its value: what gives `()`, as `ref_write`
/// and `memory.kill` do, is of no other use.
fn is_effect(view: &View<'_>, binding: Binding) -> bool {
    let is_let = view.binder(binding).kind == BinderKind::Let;
    is_let && matches!(view.binding_type(binding), Type::Tuple(fields) if fields.is_empty())
}

/// Stretches of the text of which none overlaps another.
#[derive(Default)]
pub(super) struct Stretches(BTreeMap<TextSize, TextSize>);

impl Stretches {
    /// Whether `range` lies in one of them.
    pub(super) fn hold(&self, range: TextRange) -> bool {
        let before = self.0.range(..=range.start()).next_back();
        before.is_some_and(|(_, end)| range.end() <= *end)
    }
}

/// Where graph bindings stand that nothing uses, or nothing but others of the kind.
pub(super) fn dead_bindings(view: &View<'_>) -> Stretches {
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
    let mut dead = Stretches::default();
    // A binding comes before its uses, so that from the end on one pass is enough. It comes after
    // those inside of it, so that nothing is added around another.
    for (binding, range) in statements.into_iter().rev() {
        let places = uses.get(&binding).map_or(&[][..], Vec::as_slice);
        if !dead.hold(range) && places.iter().all(|place| dead.hold(*place)) {
            dead.0.insert(range.start(), range.end());
        }
    }
    dead
}

fn unused(view: &View<'_>, binding: Binding, found: &mut Vec<Diagnostic>) {
    let binder = view.binder(binding);
    let (code, what) = match binder.kind {
        BinderKind::Param => ("unused-parameter", "parameter"),
        BinderKind::Pattern => ("unused-binding", "pattern variable"),
        _ => ("unused-binding", "binding"),
    };
    let message = format!("the {what} `{}` is never used", binder.name);
    let range = view.binding_range(binding);
    let mut diagnostic = Diagnostic::new(code, range, message).unnecessary();
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
