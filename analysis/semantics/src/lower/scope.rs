//! Variables in scope while a unit is lowered.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::body::{BinderId, Name};

/// Names to the variables they mean, the innermost last.
#[derive(Default)]
pub(super) struct Scope {
    bound: FxHashMap<Name, SmallVec<[BinderId; 1]>>,
    order: Vec<Name>,
}

impl Scope {
    pub(super) fn clear(&mut self) {
        self.bound.clear();
        self.order.clear();
    }

    pub(super) fn bind(&mut self, name: Name, binder: BinderId) {
        if !name.is_empty() {
            self.bound.entry(name.clone()).or_default().push(binder);
            self.order.push(name);
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<BinderId> {
        self.bound.get(name).and_then(|binders| binders.last()).copied()
    }

    /// A mark to return to.
    pub(super) fn mark(&self) -> usize {
        self.order.len()
    }

    /// Leaves everything bound since `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            if let Some(binders) = self.bound.get_mut(&name) {
                binders.pop();
            }
        }
    }
}
