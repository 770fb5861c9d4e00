//! Scopes during the lowering of a unit.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::body::{BinderId, Name};

/// The variables in scope by name.
#[derive(Default)]
pub(super) struct Scope {
    /// The index in `bound` of the innermost variable with each name.
    latest: FxHashMap<Name, u32>,
    /// The variables in scope, the innermost last.
    bound: Vec<Bound>,
}

struct Bound {
    name: Name,
    binder: BinderId,
    /// The index in the same list of the shadowed variable.
    shadows: Option<u32>,
}

impl Scope {
    /// Removes all names, one by one: clearing the table would take time proportional to its
    /// capacity, which is that of the longest unit so far.
    pub(super) fn clear(&mut self) {
        for bound in self.bound.drain(..) {
            self.latest.remove(&bound.name);
        }
    }

    pub(super) fn bind(&mut self, name: Name, binder: BinderId) {
        if !name.is_empty() {
            let shadows = self.latest.insert(name.clone(), self.bound.len() as u32);
            self.bound.push(Bound { name, binder, shadows });
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<BinderId> {
        // Fast path: most lookups are of names bound outside of the unit.
        if self.bound.is_empty() {
            return None;
        }
        self.latest.get(name).map(|&at| self.bound[at as usize].binder)
    }

    /// Returns a mark for [`Self::leave`].
    pub(super) fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Removes the variables bound since `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        for bound in self.bound.drain(mark..).rev() {
            match bound.shadows {
                Some(before) => self.latest.insert(bound.name, before),
                None => self.latest.remove(&bound.name),
            };
        }
    }
}

/// A map from names to indices, searched linearly while it is small, as in most units.
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
    /// Returns the last index inserted for `name`.
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
