//! Differences between the operators of consecutive releases of TVM, derived from the table.

use types::{AttrDefault, Release, Releases};

use crate::{Operator, all, other_versions};

/// A difference between the calls of an operator in a release and in the previous one.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The operator in the table.
    pub operator: &'static Operator,
    /// Its name in the release, or in the previous one if it was removed.
    pub name: &'static str,
    /// The kind of the change.
    pub kind: ChangeKind,
}

/// The kind of a change.
#[derive(Clone, PartialEq, Debug)]
pub enum ChangeKind {
    /// The operator was added.
    Added,
    /// The operator was removed.
    Removed,
    /// The operator was renamed; the former name.
    Renamed(&'static str),
    /// The number of arguments before and since.
    Arguments(usize, usize),
    /// The same text has another meaning.
    Meaning,
    /// An attribute was added.
    AttributeAdded(&'static str, AttrDefault),
    /// An attribute was removed.
    AttributeRemoved(&'static str),
    /// The default of an attribute before and since.
    Default(&'static str, AttrDefault, AttrDefault),
}

/// Returns the name of an operator in a release; `None` if the release does not have it.
pub fn name_in(operator: &'static Operator, release: Release) -> Option<&'static str> {
    let former = operator.formerly.iter().find(|(_, releases)| releases.has(release));
    former
        .map(|(name, _)| *name)
        .or_else(|| operator.releases.has(release).then_some(operator.name))
}

/// Returns the attributes of an operator in a release, with their defaults, in TVM's order.
pub fn attributes_in(
    operator: &'static Operator,
    release: Release,
) -> Vec<(&'static str, AttrDefault)> {
    let form = operator.forms.iter().find(|form| form.releases.has(release));
    let row = form.and_then(|form| form.operator).unwrap_or(operator);
    let fields = row.schema.into_iter().chain(row.made_with).flat_map(|schema| schema.fields);
    let fields = fields.filter(|field| field.releases.has(release)).map(|field| {
        let own = form.and_then(|form| form.defaults.iter().find(|(name, _)| *name == field.name));
        (field.name, own.map_or(field.default, |(_, default)| *default))
    });
    let former = form.into_iter().flat_map(|form| form.attrs);
    let mut found: Vec<(&'static str, AttrDefault)> = Vec::new();
    for (name, default) in fields.chain(former.map(|attr| (attr.field.name, attr.field.default))) {
        // The attributes of TVM's passes repeat the declared ones.
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = default,
            None => found.push((name, default)),
        }
    }
    found
}

/// Returns the changes of a release, sorted by operator; none for the first release.
pub fn changes(release: Release) -> Vec<Change> {
    let before = Release::all().take_while(|other| *other < release).last();
    let mut found = Vec::new();
    let Some(before) = before else { return found };
    // A name that 0.14 registers without a type relation is that of its row of other releases.
    let rows = all().filter(|row| row.releases != Releases::NONE && row.rule.is_some());
    for operator in rows.chain(other_versions().map(|other| &other.operator)) {
        let mut add = |name, kind| found.push(Change { operator, name, kind });
        match (name_in(operator, before), name_in(operator, release)) {
            (None, None) => {}
            (None, Some(name)) => add(name, ChangeKind::Added),
            (Some(name), None) => add(name, ChangeKind::Removed),
            (Some(old), Some(name)) => {
                if old != name {
                    add(name, ChangeKind::Renamed(old));
                }
                calls(operator, before, release, &mut |kind| add(name, kind));
            }
        }
    }
    found.sort_by_key(|change| change.name);
    found
}

/// Adds the differences between the calls of an operator in two releases that have it.
fn calls(
    operator: &'static Operator,
    before: Release,
    release: Release,
    add: &mut dyn FnMut(ChangeKind),
) {
    let form = |release| operator.forms.iter().find(|form| form.releases.has(release));
    let args = |release| form(release).map_or(operator.args.len(), |form| form.args);
    if args(before) != args(release) {
        add(ChangeKind::Arguments(args(before), args(release)));
    }
    let relation = |release| form(release).and_then(|form| form.operator).map(std::ptr::from_ref);
    if relation(before) != relation(release) {
        add(ChangeKind::Meaning);
    }
    let (old, new) = (attributes_in(operator, before), attributes_in(operator, release));
    for &(name, default) in &new {
        match old.iter().find(|(known, _)| *known == name) {
            None => add(ChangeKind::AttributeAdded(name, default)),
            Some(&(_, earlier)) if earlier != default => {
                add(ChangeKind::Default(name, earlier, default))
            }
            Some(_) => {}
        }
    }
    for (name, _) in old {
        if !new.iter().any(|(known, _)| *known == name) {
            add(ChangeKind::AttributeRemoved(name));
        }
    }
}
