//! Actions that remove unused bindings.

use std::collections::BTreeMap;

use semantics::{
    DefKind, View, all_defs,
    body::{BinderKind, LocalRef},
    scope::is_marked_unused,
};
use syntax::{Node, SyntaxKind, TextRange, TextSize};

use super::{Context, has_effects, names};
use crate::{edit::Edits, place::Symbol};

/// Returns the statement that binds a variable, with offsets relative to the definition.
pub(super) fn statement_of<'v>(view: &'v View<'_>, binding: LocalRef) -> Option<Node<'v>> {
    let name = view.binding_range(binding) - view.def.start(view.db);
    let path = view.def.node(view.db).path_to(name);
    path.into_iter().rev().find(|node| node.kind().is_stmt())
}

/// Returns true if a statement has no side effect. A call of a function may have one if the module
/// uses references.
fn is_removable(stmt: Node<'_>, effects: bool) -> bool {
    if has_effects(stmt) {
        return false;
    }
    let calls_functions = || {
        stmt.descendants().any(|node| {
            node.kind() == SyntaxKind::CALL_EXPR
                && node
                    .children()
                    .next()
                    .is_some_and(|callee| callee.kind() != SyntaxKind::NAME_REF)
        })
    };
    !effects || !calls_functions()
}

/// Returns the ranges in the file of the dead bindings: those that are unused, or used only by
/// other dead bindings.
fn dead(view: &View<'_>, effects: bool) -> Vec<TextRange> {
    let mut bindings = names::bound(view, BinderKind::Let);
    bindings.extend(names::bound(view, BinderKind::Graph));
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
        if unused && is_removable(stmt, effects) {
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
    let (place, view) = (context.place.as_ref()?, context.view.as_ref()?);
    let (symbol, range) = place.symbol(context.db)?;
    let Symbol::Local(binding) = symbol else { return None };
    let kind = view.binder(binding).kind;
    let here = range + place.start(context.db) == view.binding_range(binding)
        && matches!(kind, BinderKind::Let | BinderKind::Graph);
    (here && names::uses(view, binding).is_empty()).then_some(binding)
}

pub(super) fn offer_one(context: &Context<'_>) -> Option<String> {
    let binding = binding_at(context)?;
    let view = context.view.as_ref()?;
    let stmt = statement_of(view, binding)?;
    is_removable(stmt, super::module_has_effects(context))
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
    let any = all_defs(db, context.file)
        .filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr))
        .any(|def| {
            let scopes = semantics::scopes(db, def);
            let body = semantics::body(db, def);
            scopes.unused.iter().any(|binding| {
                let unit = body.unit(binding.unit);
                let binder = unit.binder(binding.binder);
                matches!(binder.kind, BinderKind::Let | BinderKind::Graph)
                    && !is_marked_unused(&binder.name)
            })
        });
    any.then(|| "Remove all unused bindings".into())
}

pub(super) fn all(context: &Context<'_>) -> Result<Edits, String> {
    let db = context.db;
    let effects = super::module_has_effects(context);
    let mut edits = Edits::new();
    for def in all_defs(db, context.file) {
        if !matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
            continue;
        }
        let Some(view) = View::new(db, def) else { continue };
        for stmt in dead(&view, effects) {
            edits.push((context.whole_line(stmt), String::new()));
        }
    }
    if edits.is_empty() { Err("every binding is used".into()) } else { Ok(edits) }
}
