//! Bindings that nothing uses, away with them.

use std::collections::BTreeMap;

use semantics::{
    DefKind, View, all_defs,
    body::BinderKind,
    scope::{Binding, is_silenced},
};
use syntax::{Node, SyntaxKind, TextRange, TextSize};

use super::{Context, has_effects, names};
use crate::{edit::Edits, place::Symbol};

/// The statement that binds a variable, with places of its definition.
pub(super) fn statement_of<'v>(view: &'v View<'_>, binding: Binding) -> Option<Node<'v>> {
    let name = view.binding_range(binding) - view.def.start(view.db);
    let path = view.def.node(view.db).path_to(name);
    path.into_iter().rev().find(|node| node.kind().is_stmt())
}

/// Whether a statement can go: what it computes has no effect. A call of a function may have one
/// where the module has references.
fn can_go(stmt: Node<'_>, effects: bool) -> bool {
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

/// The statements of a definition that bind what nothing uses, or nothing but others of the kind:
/// their places in the file.
fn dead(view: &View<'_>, effects: bool) -> Vec<TextRange> {
    let mut bindings = names::bound(view, BinderKind::Let);
    bindings.extend(names::bound(view, BinderKind::Graph));
    bindings.sort_by_key(|&binding| view.binding_range(binding).start());
    let uses = names::all_uses(view);
    let start = view.def.start(view.db);
    // The end of each statement that goes, by its start. None is inside of another one.
    let mut gone: BTreeMap<TextSize, TextSize> = BTreeMap::new();
    // From the end on: uses before what they use, and inner statements before outer ones.
    for binding in bindings.into_iter().rev() {
        if is_silenced(&view.binder(binding).name) {
            continue;
        }
        let places = uses.get(&binding).map_or(&[][..], Vec::as_slice);
        let Some(stmt) = (places.len() < 64).then(|| statement_of(view, binding)).flatten() else {
            continue;
        };
        let own = stmt.range() + start;
        let goes = |place: &TextRange| {
            let before = gone.range(..=place.start()).next_back();
            before.is_some_and(|(_, end)| place.end() <= *end)
        };
        let unused = places.iter().all(|place| own.contains_range(*place) || goes(place));
        if unused && can_go(stmt, effects) {
            let inside: Vec<TextSize> =
                gone.range(own.start()..own.end()).map(|(start, _)| *start).collect();
            for inner in inside {
                gone.remove(&inner);
            }
            gone.insert(own.start(), own.end());
        }
    }
    gone.into_iter().rev().map(|(start, end)| TextRange::new(start, end)).collect()
}

fn binding_at(context: &Context<'_>) -> Option<Binding> {
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
    can_go(stmt, super::module_has_effects(context))
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
                let unit = &body.units[binding.unit as usize];
                let binder = unit.binder(binding.binder);
                matches!(binder.kind, BinderKind::Let | BinderKind::Graph)
                    && !is_silenced(&binder.name)
            })
        });
    any.then(|| "Remove all bindings that nothing uses".into())
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
