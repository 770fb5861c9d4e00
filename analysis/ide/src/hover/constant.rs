//! Hover of entries of the metadata section: statistics of the tensor, and its uses.

use semantics::{
    ExprRef, View,
    body::{Callee, MetaRef},
    metadata, uses_of_entry,
};
use weights::CONSTANT;

use crate::{
    elements::{self, Distribution, Elements},
    markdown::code_span,
};

/// The maximal number of uses and of equal entries that are named.
const MAX_NAMED: usize = 4;

/// Describes an entry of the metadata section as Markdown that follows its type.
pub(super) fn of_entry(view: &View<'_>, meta: &MetaRef) -> String {
    let key = code_span(&meta.key);
    let mut out = format!("\n\nentry {} of {key} in the metadata section", meta.index);
    if meta.key != CONSTANT {
        return out;
    }
    let Some(data) = metadata(view.db, view.module) else { return out };
    out += &match elements::of_entry(view, meta) {
        Ok(found) => found.map(|elements| described(&elements)).unwrap_or_default(),
        Err(error) => format!("\n\nits elements are not shown: {error}"),
    };
    out += &users(view, meta);
    out += &same(data.weights().repeated(), meta.index);
    out
}

/// Describes elements as Markdown that follows their type.
pub fn described(elements: &Elements) -> String {
    let mut out = String::new();
    if !elements.facts.is_empty() {
        out += &format!("\n\n{}", elements.facts);
    }
    out += &format!("\n\nelements: {}", elements.first);
    if let Some(Distribution { low, high, bars, .. }) = &elements.distribution {
        out += &format!("\n\n```text\n{low} ▕{bars}▏ {high}\n```");
    }
    out
}

/// Returns the operators that use an entry.
fn users(view: &View<'_>, meta: &MetaRef) -> String {
    let uses = uses_of_entry(view.db, view.module, &meta.key, meta.index);
    let all = uses.iter().flat_map(|(view, places)| places.iter().map(move |&at| (view, at)));
    let count = all.clone().count();
    let mut names: Vec<String> = Vec::new();
    for (view, at) in all {
        let name = user(view, at);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let times = if count > 1 { format!("used {count} times, ") } else { "used ".to_owned() };
    format!("\n\n{times}by {}", named(names))
}

/// Lists names: `a, b and 3 more`.
fn named(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}

/// Returns the operator and definition that use an expression.
fn user(view: &View<'_>, at: ExprRef) -> String {
    let unit = view.unit(at.unit);
    let call = unit.calls.iter().find(|call| call.args.contains(&at.expr));
    let def = view.def.name(view.db);
    let def = if def.is_empty() { "the expression".to_owned() } else { code_span(def) };
    match call.map(|call| &call.callee) {
        Some(Callee::Operator(operator)) => format!("{} in {def}", code_span(operator.name)),
        _ => def,
    }
}

/// Returns the entries with the same content.
fn same(repeated: &[(u32, u32)], index: u32) -> String {
    let first = repeated.iter().find(|(entry, _)| *entry == index).map_or(index, |pair| pair.1);
    let others = repeated.iter().filter(|(_, of)| *of == first).map(|(entry, _)| *entry);
    let others = std::iter::once(first).chain(others).filter(|&n| n != index);
    let others: Vec<String> =
        others.map(|entry| code_span(&format!("meta[{CONSTANT}][{entry}]"))).collect();
    if others.is_empty() {
        return String::new();
    }
    format!("\n\nsame content as {}", named(others))
}
