//! Actions that remove unused bindings.

use std::collections::{BTreeMap, HashSet};

use semantics::{
    Code, Diagnostic, Fix, View, all_defs,
    body::{BinderKind, LocalRef},
    effects::{BodyEffects, is_needed_unused},
    scope::is_marked_unused,
};
use syntax::{Node, SyntaxKind, TextRange, TextSize};

use super::{Context, names};
use crate::{
    edit::Edits,
    lookups::{node_around, views},
};

/// Returns the statement that binds a variable, with offsets relative to the definition.
pub(super) fn statement_of<'v>(view: &'v View<'_>, binding: LocalRef) -> Option<Node<'v>> {
    node_around(view, view.binding_range(binding), SyntaxKind::is_stmt)
}

/// Returns true if a binding that is not used can be removed.
fn is_removable(view: &View<'_>, effects: &BodyEffects, binding: LocalRef) -> bool {
    let of_binding = || effects.of_binding(binding);
    !is_needed_unused(view.unit(binding.unit), binding.binder, of_binding)
}

/// Returns the ranges in the file of the dead bindings: those that are unused, if `may_go` accepts
/// them, or used only by other dead bindings.
fn dead(view: &View<'_>, may_go: impl Fn(LocalRef) -> bool) -> Vec<TextRange> {
    let effects = view.effects();
    let mut bindings = names::bound(view, &[BinderKind::Let, BinderKind::Graph]);
    bindings.sort_by_key(|&binding| view.binding_range(binding).start());
    let uses = names::all_uses(view);
    let start = view.def.start(view.db);
    // The ends of dead statements by their starts. No range contains another one.
    let mut dead: BTreeMap<TextSize, TextSize> = BTreeMap::new();
    // In reverse order, uses are visited before their bindings, and inner statements before outer
    // ones.
    for binding in bindings.into_iter().rev() {
        if is_marked_unused(&view.binder(binding).name) {
            continue;
        }
        let places = uses.get(&binding).map_or(&[][..], Vec::as_slice);
        let Some(stmt) = (places.len() < 64).then(|| statement_of(view, binding)).flatten() else {
            continue;
        };
        let own = stmt.range() + start;
        let is_dead = |place: &TextRange| {
            let before = dead.range(..=place.start()).next_back();
            before.is_some_and(|(_, end)| place.end() <= *end)
        };
        let unused = places.iter().all(|place| own.contains_range(*place) || is_dead(place));
        let is_used = || places.iter().any(|place| !own.contains_range(*place));
        if unused && is_removable(view, &effects, binding) && (is_used() || may_go(binding)) {
            let inside: Vec<TextSize> =
                dead.range(own.start()..own.end()).map(|(start, _)| *start).collect();
            for inner in inside {
                dead.remove(&inner);
            }
            dead.insert(own.start(), own.end());
        }
    }
    dead.into_iter().rev().map(|(start, end)| TextRange::new(start, end)).collect()
}

fn binding_at(context: &Context<'_>) -> Option<LocalRef> {
    let (view, (binding, range)) = (context.view.as_ref()?, context.bound_at()?);
    let here = range == view.binding_range(binding);
    (here && names::uses(view, binding).is_empty()).then_some(binding)
}

pub(super) fn offer_one(context: &Context<'_>) -> Option<String> {
    let binding = binding_at(context)?;
    let view = context.view.as_ref()?;
    statement_of(view, binding)?;
    is_removable(view, &view.effects(), binding)
        .then(|| format!("Remove `{}`", view.binder(binding).name))
}

pub(super) fn one(context: &Context<'_>) -> Result<Edits, String> {
    let nothing = "there is no unused binding here";
    let binding = binding_at(context).ok_or(nothing)?;
    let view = context.view.as_ref().ok_or(nothing)?;
    let stmt = statement_of(view, binding).ok_or(nothing)?;
    Ok(vec![(context.whole_line(stmt.range() + context.start()), String::new())])
}

pub(super) fn offer_all(context: &Context<'_>) -> Option<String> {
    let db = context.db;
    let any = all_defs(db, context.file).filter(|def| def.kind(db).has_body()).any(|def| {
        let (scopes, body) = (semantics::scopes(db, def), semantics::body(db, def));
        scopes.unused.iter().any(|binding| {
            let binder = body.unit(binding.unit).binder(binding.binder);
            matches!(binder.kind, BinderKind::Let | BinderKind::Graph)
                && !is_marked_unused(&binder.name)
        })
    });
    any.then(|| "Remove all unused bindings".into())
}

/// Returns the edits that remove the dead bindings of the file.
fn removals(context: &Context<'_>, may_go: impl Fn(&View<'_>, LocalRef) -> bool) -> Edits {
    let mut edits = Edits::new();
    for view in views(context.db, context.file) {
        let stmts = dead(&view, |binding| may_go(&view, binding));
        edits.extend(stmts.into_iter().map(|stmt| (context.whole_line(stmt), String::new())));
    }
    edits
}

/// Returns a fix for each binding that is reported as unused and can be removed, and for those that
/// only such ones use. A comment may allow others, and those with generated names are reported
/// together.
pub(super) fn reported(context: &Context<'_>, found: &[Diagnostic]) -> Vec<Fix> {
    let is_unused = |d: &&Diagnostic| d.code == Code::UnusedBinding && d.unnecessary;
    let reported: HashSet<TextRange> = found.iter().filter(is_unused).map(|d| d.range).collect();
    if reported.is_empty() {
        return Vec::new();
    }
    let edits = removals(context, |view, binding| reported.contains(&view.binding_range(binding)));
    let fix = |edit| Fix { title: "Remove it".to_owned(), edits: [edit].into_iter().collect() };
    edits.into_iter().map(fix).collect()
}

pub(super) fn all(context: &Context<'_>) -> Result<Edits, String> {
    let edits = removals(context, |_, _| true);
    if edits.is_empty() { Err("every binding is used".into()) } else { Ok(edits) }
}
