//! Names while a unit is lowered.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::body::{BinderId, Name};

/// Names to the variables they mean.
#[derive(Default)]
pub(super) struct Scope {
    /// Where in `bound` the innermost variable of a name is.
    latest: FxHashMap<Name, u32>,
    /// What is in scope, the innermost last.
    bound: Vec<Bound>,
}

struct Bound {
    name: Name,
    binder: BinderId,
    /// What the name meant before, in the list that this is in.
    shadows: Option<u32>,
}

impl Scope {
    /// Forgets every name. One by one: there are a handful of them in a unit, and the table has had
    /// room for the longest unit of the module since that was lowered.
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
        // Most units look up what they do not bind.
        if self.bound.is_empty() {
            return None;
        }
        self.latest.get(name).map(|&at| self.bound[at as usize].binder)
    }

    /// A mark to return to.
    pub(super) fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Leaves everything bound since `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        for bound in self.bound.drain(mark..).rev() {
            match bound.shadows {
                Some(before) => self.latest.insert(bound.name, before),
                None => self.latest.remove(&bound.name),
            };
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
