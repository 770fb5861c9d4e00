//! The references of a run.

use std::sync::{Arc, Weak};

use crate::value::{Reference, Value};

/// The largest number of references of a run with snapshots.
const MAX_REFERENCES: usize = 1 << 12;

/// The references that a run has made.
#[derive(Default)]
pub(super) struct References {
    all: Vec<Weak<Reference>>,
    /// True if there are too many for snapshots.
    is_full: bool,
}

impl References {
    /// Records a new reference.
    pub(super) fn add(&mut self, value: &Value) {
        let Value::Ref(cell) = value else { return };
        if self.is_full {
            return;
        }
        if self.all.len() == MAX_REFERENCES {
            self.all.retain(|cell| cell.strong_count() > 0);
            // Removing a few at a time would take long.
            self.is_full = self.all.len() > MAX_REFERENCES / 2;
        }
        self.all.push(Arc::downgrade(cell));
    }

    /// Returns the references with their contents; `None` if there are too many.
    pub(super) fn contents(&self) -> Option<Vec<(Arc<Reference>, Value)>> {
        let cells = self.all.iter().filter_map(Weak::upgrade);
        (!self.is_full).then(|| cells.map(|cell| (cell.clone(), cell.get())).collect())
    }
}
