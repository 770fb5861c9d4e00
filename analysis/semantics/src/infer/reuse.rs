//! Reuse of the types of the previous inference for units whose inputs did not change.

use std::sync::Arc;

use super::{Memo, UnitTypes};
use crate::{body::*, features::UnitFeatures, scope::Scopes};

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
    /// True if any unit so far has changed.
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

    /// Returns the end of the run of units from `unit` on whose variables have the same types as
    /// before, because no unit has changed yet. Units with other inputs end it.
    pub(super) fn unchanged_until(&mut self, unit: usize) -> usize {
        // A tail expression from error recovery takes the result from the header.
        let has_header = self.prefix > 0;
        let is_after = has_header && self.same_names && self.count - unit <= self.suffix;
        if self.has_changes || unit >= self.prefix && !is_after {
            return unit;
        }
        self.skip_globals(unit);
        let globals = self.globals.last().map_or(self.count, |global| *global);
        let end = if unit < self.prefix { self.prefix } else { self.count };
        // The last unit may be the tail expression.
        globals.min(end).min(self.count - 1)
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
                Arc::ptr_eq(a, b)
                    || a.binders == b.binders
                        && a.numeric == b.numeric
                        && a.assumed_binders() == b.assumed_binders()
            });
            self.changed[unit] = !same;
            self.has_changes |= !same;
        }
    }

    pub(super) fn get(&self, unit: usize) -> Option<&'m Arc<UnitTypes>> {
        let old = &self.memo.inference.units;
        let index = if unit < self.prefix {
            unit
        } else if self.count - unit <= self.suffix {
            old.len().checked_sub(self.count - unit)?
        } else {
            return None;
        };
        // The last unit decides which types are generalised.
        let is_end = |unit: usize, count: usize| unit + 1 == count;
        if is_end(unit, self.count) != is_end(index, old.len()) {
            return None;
        }
        // Units of a larger batch cannot be reused one by one. Nor can a last unit with a
        // generalised type: the type of the definition is built from the table, which has more
        // information than the frozen types.
        let is_generalised =
            |types: &UnitTypes| is_end(unit, self.count) && (types.generalised || types.open);
        old.get(index).filter(|types| types.alone && !is_generalised(types))
    }
}
