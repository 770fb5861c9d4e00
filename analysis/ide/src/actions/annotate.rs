//! Actions that write inferred types as annotations: `let %y = …` becomes `let %y: int32 = …`.

use semantics::{
    View,
    body::{BinderKind, LocalRef},
};
use syntax::{
    SyntaxKind, TextRange,
    ast::{self, AstNode},
};
use types::{Flags, Type};

use super::Context;
use crate::{
    edit::Edits,
    lookups::{bindings, exprs_of, views},
    place::Symbol,
    words,
};

/// Returns the text of a type at a place, or `None` if the text format cannot express it there: it has
/// no syntax for reference types, nor for a type parameter that the functions around the place do not
/// declare.
pub(super) fn written(view: &View<'_>, ty: &Type, place: TextRange) -> Option<String> {
    // This comes first because it rejects types that are too large to walk for each variable.
    let text = semantics::writable(ty)?;
    let mut is_plain = view.can_name(ty, place) && !ty.flags().has(Flags::POLY);
    types::for_each_part(ty, Flags::ALL, &mut |part| {
        is_plain &= !matches!(part, Type::Ref(_) | Type::OpenTensor(_));
    });
    is_plain.then_some(text)
}

/// Returns true if each use of a variable chooses the data types of the literals in its value, as in
/// `let %x = 1; (add(%x, 1f), add(%x, 1i64))`.
fn chooses_numbers(view: &View<'_>, binding: LocalRef) -> bool {
    let numeric = view.unit_types(binding.unit).numeric.as_deref();
    numeric.is_some_and(|n| n.binders.iter().any(|(binder, _)| *binder == binding.binder))
}

/// Returns true if all uses of a variable have type `ty`, so that it can be written.
fn uses_agree(view: &View<'_>, binding: LocalRef, ty: &Type) -> bool {
    let is_other = |expr_ref| view.variable(expr_ref) != Some(binding);
    let mut units = view.body.units_from(binding.unit);
    units.all(|(unit, data)| exprs_of(unit, data).all(|at| is_other(at) || view.ty(at) == ty))
}

/// Returns the edit that annotates a variable, unless it has an annotation.
fn binder_edit(view: &View<'_>, binding: LocalRef) -> Option<(TextRange, String)> {
    let binder = view.binder(binding);
    let can = matches!(binder.kind, BinderKind::Param | BinderKind::Let | BinderKind::Pattern);
    if !can || binder.annotation.is_some() || binder.name.is_empty() {
        return None;
    }
    let own = view.binding_type(binding);
    if chooses_numbers(view, binding) && !uses_agree(view, binding, own) {
        return None;
    }
    let place = view.binding_range(binding);
    let ty = written(view, own, place)?;
    Some((TextRange::empty(place.end()), format!(": {ty}")))
}

/// Returns the edit that annotates the result of the definition, unless it has an annotation.
fn result_edit(view: &View<'_>) -> Option<(TextRange, String)> {
    let node = view.def.node(view.db);
    let def = ast::FnDef::cast(node)?;
    let params = def.params()?;
    if def.ret().is_some() || def.body().is_none() {
        return None;
    }
    let ty = view.inference.signature.as_ref()?.signature()?.func.ret().clone();
    let text = written(view, &ty, params.range() + view.def.start(view.db))?;
    let at = params.range().end() + view.def.start(view.db);
    Some((TextRange::empty(at), format!(" -> {text}")))
}

/// Returns the type that an edit inserts, shortened for a title.
fn brief(text: &str) -> String {
    words::shortened(text.trim_start_matches([':', '-', '>', ' ']), 60)
}

fn edit_at(context: &Context<'_>) -> Option<(TextRange, String)> {
    let (place, view) = (context.place.as_ref()?, context.view.as_ref()?);
    match place.symbol(context.db) {
        Some((Symbol::Local(binding), range)) => {
            // Only at the binder, not at a use.
            let here = range + place.start(context.db) == view.binding_range(binding);
            here.then(|| binder_edit(view, binding)).flatten()
        }
        Some((Symbol::Global(name), range)) => {
            let own =
                *view.def.name(context.db) == name && range == view.def.name_range(context.db);
            own.then(|| result_edit(view)).flatten()
        }
        _ if place.token.kind() == SyntaxKind::DEF_KW => result_edit(view),
        _ => None,
    }
}

pub(super) fn offer_one(context: &Context<'_>) -> Option<String> {
    edit_at(context).map(|(_, text)| format!("Write the type `{}`", brief(&text)))
}

pub(super) fn one(context: &Context<'_>) -> Result<Edits, String> {
    edit_at(context).map(|edit| vec![edit]).ok_or_else(|| "no type can be inserted here".into())
}

fn edits_of<'v>(view: &'v View<'_>) -> impl Iterator<Item = (TextRange, String)> + 'v {
    bindings(view).filter_map(|(binding, _)| binder_edit(view, binding)).chain(result_edit(view))
}

pub(super) fn offer_all(context: &Context<'_>) -> Option<String> {
    let any = views(context.db, context.file).any(|view| edits_of(&view).next().is_some());
    any.then(|| "Write all inferred types".into())
}

pub(super) fn all(context: &Context<'_>) -> Result<Edits, String> {
    let views = views(context.db, context.file);
    let edits: Edits = views.flat_map(|view| edits_of(&view).collect::<Vec<_>>()).collect();
    if edits.is_empty() { Err("every known type is already written".into()) } else { Ok(edits) }
}
