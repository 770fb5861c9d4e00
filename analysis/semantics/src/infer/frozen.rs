//! The frozen types of the units of a body while it is inferred.

use std::{ops::Range, sync::Arc};

use super::UnitTypes;
use crate::list::{Builder, List};

/// The types of the units up to the last one that was begun.
#[derive(Default)]
pub(super) struct FrozenUnits {
    /// Those before the first unit of the open batch.
    closed: Builder<Arc<UnitTypes>>,
    /// Those from it on, as far as they are frozen.
    open: Vec<Option<Arc<UnitTypes>>>,
}

impl FrozenUnits {
    /// Returns no types, with the capacity for a number of units.
    pub(super) fn with_capacity(units: usize) -> FrozenUnits {
        FrozenUnits { closed: Builder::with_capacity(units), open: Vec::new() }
    }

    /// Returns the types of a unit, if they are frozen.
    #[inline]
    pub(super) fn get(&self, unit: usize) -> Option<&Arc<UnitTypes>> {
        match unit.checked_sub(self.closed.len()) {
            Some(unit) => self.open.get(unit)?.as_ref(),
            None => self.closed.get(unit),
        }
    }

    /// Begins units, up to a number of them.
    pub(super) fn begin(&mut self, units: usize) {
        match units - self.closed.len() {
            1 => self.open.push(None),
            open => self.open.resize(open, None),
        }
    }

    /// Freezes a unit of the open batch.
    pub(super) fn freeze(&mut self, unit: usize, types: Arc<UnitTypes>) {
        let unit = unit - self.closed.len();
        self.open[unit] = Some(types);
    }

    /// Calls `change` with the types of the units of the open batch.
    pub(super) fn for_each_open(&mut self, mut change: impl FnMut(usize, &mut Arc<UnitTypes>)) {
        let units = (self.closed.len()..).zip(&mut self.open);
        units.for_each(|(unit, types)| types.iter_mut().for_each(|types| change(unit, types)));
    }

    /// Returns the types of the units of the open batch, with the number of the first one.
    pub(super) fn open(&self) -> (usize, &[Option<Arc<UnitTypes>>]) {
        (self.closed.len(), &self.open)
    }

    /// Ends the open batch, all units of which are frozen.
    pub(super) fn close(&mut self) {
        // Most batches are one unit.
        if self.open.len() > 1 {
            let last = self.open.len() - 1;
            let types = self.open.drain(..last).map(Option::unwrap_or_default);
            types.for_each(|types| self.closed.push(types));
        }
        if let Some(types) = self.open.pop() {
            self.closed.push(types.unwrap_or_default());
        }
    }

    /// Adds a unit, where no batch is open.
    pub(super) fn push(&mut self, types: Arc<UnitTypes>) {
        self.closed.push(types);
    }

    /// Adds the types of units of another inference, where no batch is open.
    pub(super) fn extend(&mut self, other: &List<Arc<UnitTypes>>, units: Range<usize>) {
        self.closed.extend(other, units);
    }

    pub(super) fn finish(mut self) -> List<Arc<UnitTypes>> {
        self.close();
        self.closed.finish()
    }
}
