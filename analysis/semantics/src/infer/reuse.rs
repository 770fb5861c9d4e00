//! Reuse of the types of the previous inference for units whose inputs did not change.

use std::sync::Arc;

use super::{Memo, UnitTypes};
use crate::{
    body::*,
    features::UnitFeatures,
    scope::{LocalRef, Scopes},
};

/// The unchanged units of a body: a common prefix and suffix with the previous version.
pub(super) struct Known<'m> {
    memo: &'m Memo<'m>,
    prefix: usize,
    suffix: usize,
    count: usize,
    /// For each unit, true if its variables have other types than before. `None` if names have
    /// changed, so that units cannot be compared by number.
    changed: Option<Vec<bool>>,
    /// Units that use globals, in descending order.
    globals: Vec<usize>,
}

impl<'m> Known<'m> {
    pub(super) fn new(memo: &'m Memo<'m>, body: &Body, scopes: &Scopes) -> Known<'m> {
        let (new, old) = (&body.units, &memo.body.units);
        let same = |(a, b): &(&Arc<Unit>, &Arc<Unit>)| Arc::ptr_eq(a, b);
        let prefix = new.iter().zip(old).take_while(same).count();
        let shorter = new.len().min(old.len()) - prefix;
        let suffix = new.iter().rev().zip(old.iter().rev()).take(shorter).take_while(same).count();
        let changed =
            Arc::ptr_eq(&memo.scopes.names, &scopes.names).then(|| vec![false; new.len()]);
        let mut globals: Vec<usize> = scopes.units_with(UnitFeatures::GLOBAL).collect();
        globals.reverse();
        Known { memo, prefix, suffix, count: new.len(), changed, globals }
    }

    /// Returns true if all variables that `unit` uses have the same types as before. Called in
    /// ascending order of units. Returns false if the unit has other inputs too, which the caller
    /// has to compare.
    pub(super) fn sees_the_same(&mut self, unit: usize, body: &Body, scopes: &Scopes) -> bool {
        let Some(changed) = &self.changed else { return false };
        while self.globals.pop_if(|global| *global < unit).is_some() {}
        // A tail expression from error recovery depends on the written result, too.
        let is_tail = body.units[unit].kind == UnitKind::Tail;
        let takes_more = self.globals.last() == Some(&unit) || is_tail;
        let is_same = |binding: &LocalRef| !changed[binding.unit as usize];
        !takes_more && scopes.unit(unit).iter().flatten().all(is_same)
    }

    /// Records which of the units from `first` on have changed their types.
    pub(super) fn note_changes(&mut self, first: usize, done: &[Option<Arc<UnitTypes>>]) {
        let Some(changed) = &mut self.changed else { return };
        for (unit, types) in (first..).zip(done) {
            let before = self.memo.inference.units.get(unit);
            let same = before.zip(types.as_ref()).is_some_and(|(a, b)| {
                a.binders == b.binders
                    && a.numeric == b.numeric
                    && a.assumed_binders() == b.assumed_binders()
            });
            changed[unit] = !same;
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
