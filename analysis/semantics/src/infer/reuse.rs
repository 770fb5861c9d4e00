//! Reuse of the types of the previous inference for units whose inputs did not change.

use std::sync::Arc;

use super::{Memo, UnitTypes};
use crate::{body::*, features::UnitFeatures, scope::Scopes};

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
        Known { memo, scopes, prefix, suffix, count, changed, has_changes: false, globals }
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
        if self.has_changes || unit >= self.prefix {
            return unit;
        }
        self.skip_globals(unit);
        let globals = self.globals.last().map_or(self.count, |global| *global);
        // The last unit may be the tail expression.
        globals.min(self.prefix).min(self.count - 1)
    }

    fn skip_globals(&mut self, unit: usize) {
        while self.globals.pop_if(|global| *global < unit).is_some() {}
    }

    /// Returns true if all variables that `unit` uses have the same types as before. Called in
    /// ascending order of units that [`Known::get`] knows. Returns false if the unit has other
    /// inputs too, which the caller has to compare.
    pub(super) fn sees_the_same(&mut self, unit: usize, body: &Body) -> bool {
        self.skip_globals(unit);
        // A tail expression from error recovery depends on the written result, too.
        let is_tail = body.units[unit].kind == UnitKind::Tail;
        if self.globals.last() == Some(&unit) || is_tail {
            return false;
        }
        let Some(before) = self.previous(unit) else { return false };
        let (new, old) = (self.scopes.unit(unit), self.memo.scopes.unit(before));
        new.len() == old.len()
            && new.iter().zip(old).all(|pair| match pair {
                (Some(new), Some(old)) => {
                    new.binder == old.binder
                        && !self.changed[new.unit as usize]
                        && self.previous(new.unit as usize) == Some(old.unit as usize)
                }
                (None, None) => true,
                _ => false,
            })
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
