//! Reuse of the types of the previous inference for units whose inputs did not change.

use std::{ops::Range, sync::Arc};

use super::{Memo, UnitTypes};
use crate::{
    body::*,
    features::UnitFeatures,
    scope::{LocalRef, Scopes},
};

/// What is known about the inputs of a unit without comparing types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Inputs {
    /// They are the same as before.
    Same,
    /// One of them has another type.
    Different,
    /// They have to be compared.
    Unknown,
}

/// The unchanged units of a body: a common prefix and suffix with the previous version.
pub(super) struct Known<'m> {
    memo: &'m Memo<'m>,
    scopes: &'m Scopes,
    prefix: usize,
    suffix: usize,
    count: usize,
    /// For each unit, true if its variables have other types than those of the unit that it
    /// corresponds to in the previous version, or if it corresponds to none.
    changed: Vec<bool>,
    /// True if all names refer to the same variables.
    same_names: bool,
    /// True if any unit so far has other types than the one that it corresponds to.
    has_changes: bool,
    /// Units that use globals, in descending order.
    globals: Vec<usize>,
}

impl<'m> Known<'m> {
    pub(super) fn new(memo: &'m Memo<'m>, body: &Body, scopes: &'m Scopes) -> Known<'m> {
        let (new, old) = (&body.units, &memo.body.units);
        let same = |(a, b): &(&Arc<Unit>, &Arc<Unit>)| Arc::ptr_eq(a, b);
        let prefix = new.iter().zip(old).take_while(same).count();
        let shorter = new.len().min(old.len()) - prefix;
        let suffix = new.iter().rev().zip(old.iter().rev()).take(shorter).take_while(same).count();
        let mut globals: Vec<usize> = scopes.units_with(UnitFeatures::GLOBAL).collect();
        globals.reverse();
        let count = new.len();
        let changed = vec![false; count];
        let same_names = Arc::ptr_eq(&memo.scopes.names, &scopes.names);
        let has_changes = false;
        Known { memo, scopes, prefix, suffix, count, changed, same_names, has_changes, globals }
    }

    /// Returns the unit of the previous version that corresponds to `unit`.
    fn previous(&self, unit: usize) -> Option<usize> {
        let old = self.memo.body.units.len();
        if self.count == old || unit < self.prefix {
            Some(unit)
        } else if self.count - unit <= self.suffix {
            old.checked_sub(self.count - unit)
        } else {
            None
        }
    }

    /// Returns the types of the units from `unit` on that have the same types as before because they
    /// have the same inputs, without looking at types. What depends on more than variables ends the
    /// run, and so does a unit whose types are not plain.
    pub(super) fn unchanged_from(&mut self, unit: usize) -> &'m [Arc<UnitTypes>] {
        let in_prefix = unit < self.prefix;
        // A tail expression from error recovery takes the result from the header.
        let in_suffix = self.prefix > 0 && self.count - unit <= self.suffix;
        if !in_prefix && !in_suffix {
            return &[];
        }
        self.skip_globals(unit);
        let globals = self.globals.last().map_or(self.count, |global| *global);
        let end = if in_prefix { self.prefix } else { self.count };
        // The last unit may be the tail expression, which takes the result from the header.
        let end = globals.min(end).min(self.count - 1);
        let Some(before) = self.previous(unit).filter(|_| unit < end) else { return &[] };
        let inference = self.memo.inference;
        let remarkable = &inference.remarkable;
        let next = remarkable.partition_point(|&old| (old as usize) < before);
        let plain = remarkable.get(next).map_or(usize::MAX, |&old| old as usize - before);
        let end = end.min(unit.saturating_add(plain));
        let end = match self.has_changes || !in_prefix && !self.same_names {
            true => unit + self.same_inputs(unit..end, before),
            false => end,
        };
        inference.units.get(before..before + (end - unit)).unwrap_or_default()
    }

    /// Returns the number of units at the beginning of `units` whose names refer to variables that
    /// correspond to those before and have the same types. `before` corresponds to the first unit.
    fn same_inputs(&self, units: Range<usize>, before: usize) -> usize {
        let (new, old) = (self.scopes, self.memo.scopes);
        let is_same = |(new, old): (&Option<LocalRef>, &Option<LocalRef>)| match (new, old) {
            (Some(new), Some(old)) => {
                new.binder == old.binder
                    && !self.changed[new.unit as usize]
                    && self.previous(new.unit as usize) == Some(old.unit as usize)
            }
            (None, None) => true,
            _ => false,
        };
        let first = units.start;
        let differs = |unit: &usize| {
            let (new, old) = (new.unit(*unit), old.unit(*unit - first + before));
            new.len() != old.len() || !new.iter().zip(old).all(is_same)
        };
        units.clone().find(differs).map_or(units.len(), |unit| unit - first)
    }

    fn skip_globals(&mut self, unit: usize) {
        while self.globals.pop_if(|global| *global < unit).is_some() {}
    }

    /// Compares the inputs of `unit` with those before. Called in ascending order of units that
    /// [`Known::get`] knows.
    pub(super) fn compare(&mut self, unit: usize, body: &Body) -> Inputs {
        self.skip_globals(unit);
        // A tail expression from error recovery depends on the written result, too.
        let is_tail = body.units[unit].kind == UnitKind::Tail;
        if self.globals.last() == Some(&unit) || is_tail {
            return Inputs::Unknown;
        }
        let Some(before) = self.previous(unit) else { return Inputs::Unknown };
        let (new, old) = (self.scopes.unit(unit), self.memo.scopes.unit(before));
        if new.len() != old.len() {
            return Inputs::Unknown;
        }
        let mut inputs = Inputs::Same;
        for pair in new.iter().zip(old) {
            match pair {
                (Some(new), Some(old)) => {
                    let (at, was) = (new.unit as usize, old.unit as usize);
                    if new.binder != old.binder || self.previous(at) != Some(was) {
                        return Inputs::Unknown;
                    }
                    if self.changed[at] {
                        // Of several variables it may be another one.
                        let types = self.memo.inference.units.get(was);
                        if types.is_none_or(|types| types.binders.len() != 1) {
                            return Inputs::Unknown;
                        }
                        inputs = Inputs::Different;
                    }
                }
                (None, None) => {}
                _ => return Inputs::Unknown,
            }
        }
        inputs
    }

    /// Records which of the units from `first` on have changed their types.
    pub(super) fn note_changes(&mut self, first: usize, done: &[Option<Arc<UnitTypes>>]) {
        for (unit, types) in (first..).zip(done) {
            let before = self.previous(unit).and_then(|old| self.memo.inference.units.get(old));
            let same = before.zip(types.as_ref()).is_some_and(|(a, b)| {
                Arc::ptr_eq(a, b) || a.binders == b.binders && a.numeric == b.numeric
            });
            self.changed[unit] = !same;
            // The uses of a variable of no previous unit refer to no previous variable.
            self.has_changes |= !same && before.is_some();
        }
    }

    /// Returns the previous types of a unit, if they can be reused without those around it.
    pub(super) fn get(&self, unit: usize) -> Option<&'m Arc<UnitTypes>> {
        let in_common = unit < self.prefix || self.count - unit <= self.suffix;
        let index = self.previous(unit).filter(|_| in_common)?;
        let inference = self.memo.inference;
        // The last unit decides which types are generalised.
        let is_end = |unit: usize, count: usize| unit + 1 == count;
        if is_end(unit, self.count) != is_end(index, inference.units.len()) {
            return None;
        }
        // Units of a larger batch cannot be reused one by one. Nor can a last unit with a
        // generalised type: the type of the definition is built from the table, which has more
        // information than the frozen types.
        let is_generalised =
            |types: &UnitTypes| is_end(unit, self.count) && (types.generalised || types.open);
        let types = match inference.assumptions.unfiltered(index) {
            Some(types) => types,
            None => inference.units.get(index)?,
        };
        (types.alone && !is_generalised(types)).then_some(types)
    }
}
