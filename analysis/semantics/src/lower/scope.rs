//! Names while a unit is lowered.

use std::collections::hash_map::Entry;

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
    /// Forgets every name. One by one: there are a handful of them in a unit, and the table has had
    /// room for the longest unit of the module since that was lowered.
    pub(super) fn clear(&mut self) {
        for name in self.order.drain(..) {
            self.bound.remove(&name);
        }
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
            if let Entry::Occupied(mut binders) = self.bound.entry(name) {
                binders.get_mut().pop();
                if binders.get().is_empty() {
                    binders.remove();
                }
            }
        }
    }
}

/// What names stand for. Most units have a handful, which are found sooner one by one.
pub(super) struct Names<I> {
    few: SmallVec<[(Name, I); 8]>,
    many: FxHashMap<Name, I>,
}

impl<I> Default for Names<I> {
    fn default() -> Self {
        Names { few: SmallVec::new(), many: FxHashMap::default() }
    }
}

impl<I: Copy> Names<I> {
    /// The last that was called `name`.
    pub(super) fn get(&self, name: &str) -> Option<I> {
        if self.many.is_empty() {
            let mut latest = self.few.iter().rev();
            return latest.find(|(known, _)| known == name).map(|(_, id)| *id);
        }
        self.many.get(name).copied()
    }

    pub(super) fn insert(&mut self, name: Name, id: I) {
        if self.many.is_empty() && self.few.len() < self.few.inline_size() {
            self.few.push((name, id));
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(name, id);
        }
    }
}
