//! Names after an edit: those of the changed statements are resolved, all others are carried over.

use std::{ops::Range, sync::Arc};

use rustc_hash::FxHashMap;

use super::{
    GraphNumbers, Scopes, graph_number,
    names::{Reference, UnitNames},
    unknown,
};
use crate::{
    body::{
        Binder, BinderId, BinderKind, Body, FreeId, LocalRef, Name, Unit, UnitId, UnitKind,
        name_bit,
    },
    features::UnitFeatures,
    list::{Builder, Part},
};

/// The maximum number of changed statements. With more, all names are resolved.
const MAX_CHANGED: usize = 32;

/// The changed statements between the version before an edit and the one after it.
struct ChangedUnits<'b> {
    before: &'b Body,
    body: &'b Body,
    old: Range<usize>,
    new: Range<usize>,
    /// True if they bind the same variables.
    same_binders: bool,
}

impl Scopes {
    /// Returns the names of `body` from those of `before`, which are `self`. Returns `None` where many
    /// statements have changed, or where a variable of theirs has the name of another one.
    pub(super) fn update(&self, before: &Body, body: &Body) -> Option<Scopes> {
        let changed = ChangedUnits::new(self, before, body)?;
        let mut scopes = Scopes {
            shadows: changed.moved_pairs(&self.shadows)?,
            equal_names: self.equal_names,
            graphs: if changed.has_same_graph_numbers() {
                self.graphs
            } else {
                numbers_of_graphs(body)
            },
            ..Scopes::default()
        };
        let is_all_known = changed.resolve(self, &mut scopes);
        // Nearly every body has bindings for all its names.
        if !is_all_known || !self.unknown.is_empty() {
            // All other statements see the same variables as before.
            let is_local = changed.same_binders && self.unknown.is_empty();
            let units = if is_local { changed.new.clone() } else { 0..body.units.len() };
            scopes.unknown = unknown(body, &scopes, units);
        }
        scopes.unused = changed.unused(self, &scopes);
        let globals = |body: &'_ Body, units: &Range<usize>| -> Vec<Name> {
            let units = body.units.range(units.clone());
            units.flat_map(|unit| unit.globals().map(|(name, _)| name.clone())).collect()
        };
        scopes.globals = if globals(before, &changed.old) == globals(body, &changed.new) {
            self.globals.clone()
        } else {
            let units = body.units_with(UnitFeatures::GLOBAL).map(|unit| body.unit(unit));
            let mut globals: Vec<Name> =
                units.flat_map(|unit| unit.globals().map(|(name, _)| name.clone())).collect();
            globals.sort_unstable();
            globals.dedup();
            globals
        };
        Some(scopes)
    }
}

impl<'b> ChangedUnits<'b> {
    fn new(known: &Scopes, before: &'b Body, body: &'b Body) -> Option<ChangedUnits<'b>> {
        let (old, new) = (&before.units, &body.units);
        let (prefix, suffix) = old.common_ends(new);
        let (old, new) = (prefix..old.len() - suffix, prefix..new.len() - suffix);
        if prefix == 0 || old.len().max(new.len()) > MAX_CHANGED {
            return None;
        }
        let mut changed = ChangedUnits { before, body, old, new, same_binders: false };
        let mut pairs =
            before.units.range(changed.old.clone()).zip(body.units.range(changed.new.clone()));
        changed.same_binders =
            changed.old.len() == changed.new.len() && pairs.all(|(a, b)| binds_the_same(a, b));
        (changed.same_binders || changed.binds_unique_names(known)).then_some(changed)
    }

    /// The changed statements after the edit, with their numbers.
    fn units(&self) -> impl Iterator<Item = (UnitId, &'b Arc<Unit>)> {
        let units = self.body.units.range(self.new.clone());
        (self.new.start as u32..).map(UnitId).zip(units)
    }

    /// Returns true if no two variables of the changed statements, nor one of them and one of another
    /// statement, have the same name. `known` are the names before the edit.
    fn binds_unique_names(&self, known: &Scopes) -> bool {
        let mut versions: [FxHashMap<&str, &Binder>; 2] = Default::default();
        let units =
            [self.before.units.range(self.old.clone()), self.body.units.range(self.new.clone())];
        for (own, units) in versions.iter_mut().zip(units) {
            for binder in units.flat_map(|unit| &unit.binders) {
                if own.insert(&binder.name, binder).is_some() {
                    return false;
                }
            }
        }
        let [old, mut names] = versions;
        // Before the edit, no other variable had the name of an old one. That is known of names in
        // `let` and of parameters only, and not where a graph binding has such a name.
        let were_unique =
            !known.equal_names && self.before.units_with(UnitFeatures::PROBLEM).next().is_none();
        for (name, binder) in old {
            let is_number = || name.as_bytes().get(1).is_none_or(u8::is_ascii_digit);
            if were_unique && binder.kind != BinderKind::Graph && !is_number() {
                names.remove(name);
            } else {
                names.insert(name, binder);
            }
        }
        if names.is_empty() {
            return true;
        }
        let summary = names.keys().fold(0, |all, name| all | name_bit(name));
        let binds_one = |range: Range<usize>| {
            let mut binders =
                self.body.units_with_names(summary, range).flat_map(|(_, unit)| &unit.binders);
            binders.any(|binder| names.contains_key(binder.name.as_str()))
        };
        !binds_one(0..self.new.start) && !binds_one(self.new.end..self.body.units.len())
    }

    /// Returns the number after the edit of a statement after the changed ones.
    fn moved(&self, unit: UnitId) -> UnitId {
        UnitId(unit.0 - self.old.end as u32 + self.new.end as u32)
    }

    fn moved_ref(&self, binding: LocalRef) -> LocalRef {
        match binding.unit.index() >= self.old.end {
            true => LocalRef { unit: self.moved(binding.unit), ..binding },
            false => binding,
        }
    }

    fn moved_pairs(&self, pairs: &[(LocalRef, LocalRef)]) -> Option<Vec<(LocalRef, LocalRef)>> {
        let is_changed = |binding: &LocalRef| self.old.contains(&binding.unit.index());
        if !self.same_binders && pairs.iter().any(|(a, b)| is_changed(a) || is_changed(b)) {
            return None;
        }
        Some(pairs.iter().map(|(a, b)| (self.moved_ref(*a), self.moved_ref(*b))).collect())
    }

    fn has_same_graph_numbers(&self) -> bool {
        graph_numbers(self.before.units.range(self.old.clone()))
            .eq(graph_numbers(self.body.units.range(self.new.clone())))
    }

    /// Resolves the free names. Returns true if the changes leave no name unknown that was not before.
    fn resolve(&self, before: &Scopes, scopes: &mut Scopes) -> bool {
        let mut is_all_known = true;
        let mut names = Builder::with_capacity(self.body.units.len());
        names.extend(&before.names, 0..self.old.start);
        for (number, unit) in self.units() {
            let of_unit = unit.frees.iter().map(|free| {
                let found = self.known(before, &free.name);
                let found = found.or_else(|| find(self.body, number, &free.name));
                // If the front of a longer name is known, the name is.
                is_all_known &= found.is_some() || free.whole;
                Reference::new(number, free, found)
            });
            names.push(UnitNames(of_unit.collect()));
        }
        let after = self.old.end..before.names.len();
        if self.same_binders {
            names.extend(&before.names, after);
            scopes.names = names.finish();
            return is_all_known;
        }
        let mut binders = self.units().flat_map(|(_, unit)| &unit.binders);
        let binds_dotted = binders.any(|binder| binder.name.contains('.'));
        // What the changed statements bind, and bound, is used by name; and what is bound before them is now at another
        // distance.
        for Part { range, elements, start, summary } in before.names.parts(after) {
            if !summary.may_bind(binds_dotted) && summary.first_binding(start) >= self.old.end {
                names.extend(&before.names, range);
                continue;
            }
            for (old, of_unit) in range.zip(elements) {
                let (old, mut of_unit) = (UnitId(old as u32), of_unit.clone());
                let number = self.moved(old);
                for (free, name) in self.body.unit(number).frees.iter().zip(&mut of_unit.0) {
                    let binding = name.binding(old);
                    match binding.map(|binding| binding.unit) {
                        Some(unit) if unit == UnitId::HEADER || unit.index() >= self.old.end => {
                            continue;
                        }
                        Some(unit) if unit.index() < self.old.start => {
                            *name = Reference::new(number, free, binding);
                            continue;
                        }
                        _ => {}
                    }
                    let found = units_of(self.new.clone()).rev().find_map(|unit| {
                        let exported = exported(self.body, unit, &free.name);
                        exported.or_else(|| leaked(self.body, unit, &free.name))
                    });
                    is_all_known &= found.is_some() || binding.is_none() && free.whole;
                    *name = Reference::new(number, free, found);
                }
                names.push(of_unit);
            }
        }
        scopes.names = names.finish();
        is_all_known
    }

    /// Returns the unused variables of statements and the header, in the order of
    /// [`super::resolve`]. Only what the changed statements bind, use or used can differ from before.
    fn unused(&self, before: &Scopes, scopes: &Scopes) -> Vec<LocalRef> {
        let in_old = |binding: &LocalRef| self.old.contains(&binding.unit.index());
        let was_unused = before.unused.iter().filter(|binding| !in_old(binding));
        let first = |units: &Range<usize>, scopes: &Scopes| {
            units_of(units.clone()).flat_map(|unit| scopes.unit(unit)).flatten().collect::<Vec<_>>()
        };
        let (lost, used) = (first(&self.old, before), first(&self.new, scopes));
        let mut candidates: Vec<LocalRef> =
            was_unused.map(|binding| self.moved_ref(*binding)).collect();
        candidates.retain(|binding| !used.contains(binding));
        let lost = lost.iter().filter(|binding| !in_old(binding));
        let mut doubtful: Vec<LocalRef> = lost.map(|binding| self.moved_ref(*binding)).collect();
        doubtful.extend(
            self.units()
                .filter_map(|(unit, data)| data.binds.map(|binder| LocalRef { unit, binder })),
        );
        doubtful.retain(|&binding| {
            let mut exported = self.body.unit(binding.unit).exported();
            exported.any(|binder| binder == binding.binder)
                && scopes.search(binding).next().is_none()
        });
        candidates.extend(doubtful);
        // The parameters come last to first, then the statements in order.
        candidates.sort_unstable_by_key(|binding| match binding.unit {
            UnitId::HEADER => (0, u32::MAX - binding.binder.0),
            UnitId(unit) => (unit, binding.binder.0),
        });
        candidates.dedup();
        candidates
    }

    /// Returns the variable of a name that the changed statements used before, where it is bound
    /// before them.
    fn known(&self, before: &Scopes, name: &Name) -> Option<LocalRef> {
        if !self.same_binders && self.units().any(|(_, unit)| binds(unit, name)) {
            return None;
        }
        units_of(self.old.clone()).find_map(|number| {
            let at = self.before.unit(number).frees.iter().position(|free| free.name == *name)?;
            let binding = before.get(number, FreeId(at as u32))?;
            (binding.unit.index() < self.old.start).then_some(binding)
        })
    }
}

fn binds(unit: &Unit, name: &Name) -> bool {
    unit.binders.iter().any(|binder| binder.name == *name)
}

pub(super) fn binds_the_same(a: &Unit, b: &Unit) -> bool {
    let is_end = |unit: &Unit| unit.kind == UnitKind::Header;
    is_end(a) == is_end(b)
        && a.binds == b.binds
        && a.binders.len() == b.binders.len()
        && a.binders.iter().zip(&b.binders).all(|(a, b)| a.name == b.name && a.kind == b.kind)
}

fn graph_numbers<'u>(units: impl Iterator<Item = &'u Arc<Unit>>) -> impl Iterator<Item = u64> {
    let binders = units.flat_map(|unit| &unit.binders);
    binders.filter(|b| b.kind == BinderKind::Graph).filter_map(|b| graph_number(&b.name))
}

fn numbers_of_graphs(body: &Body) -> GraphNumbers {
    let mut numbers = GraphNumbers::None;
    graph_numbers(body.units.iter()).for_each(|number| numbers.add(number));
    numbers
}

/// Returns the variable of a name that a statement, or the header, binds for those after it.
fn exported(body: &Body, unit: UnitId, name: &str) -> Option<LocalRef> {
    let of_unit = body.unit(unit);
    // The first of two parameters with one name counts.
    let binder = of_unit.exported().find(|binder| of_unit.binder(*binder).name == name)?;
    Some(LocalRef { unit, binder })
}

/// Returns the last graph variable of a name that is bound inside of a unit.
fn leaked(body: &Body, unit: UnitId, name: &str) -> Option<LocalRef> {
    name.as_bytes().get(1).filter(|byte| byte.is_ascii_digit())?;
    let mut binders = body.unit(unit).binders.iter();
    let binder = binders.rposition(|data| data.kind == BinderKind::Graph && data.name == name)?;
    Some(LocalRef { unit, binder: BinderId(binder as u32) })
}

/// Returns the units with these numbers.
fn units_of(numbers: Range<usize>) -> impl DoubleEndedIterator<Item = UnitId> + Clone {
    (numbers.start as u32..numbers.end as u32).map(UnitId)
}

/// Returns the variable of a name as the statement `number` sees it.
fn find(body: &Body, number: UnitId, name: &str) -> Option<LocalRef> {
    let units = || body.units_with_names(name_bit(name), 0..number.index()).rev();
    let found = units().find_map(|(unit, _)| exported(body, unit, name));
    found.or_else(|| units().find_map(|(unit, _)| leaked(body, unit, name)))
}
