//! Scopes during the lowering of a unit.

use rustc_hash::FxHashMap;

use crate::body::{Binder, BinderId, Name};

/// The number of names that are searched linearly. Most units have fewer, and most uses follow their
/// bindings closely.
const FEW: usize = 48;

/// Compares names. Names of equal length mostly differ in the last byte.
#[inline]
fn is_equal(known: &Name, name: &str) -> bool {
    let known = known.as_bytes();
    known.len() == name.len() && known.last() == name.as_bytes().last() && known == name.as_bytes()
}

/// The variables in scope by name. The names are those of the binders of the unit, which all methods
/// that need them take.
#[derive(Default)]
pub(super) struct Scope {
    /// The variables in scope, the innermost last.
    bound: Vec<Bound>,
    /// The index in `bound` of the innermost variable with each name; empty while there are few
    /// variables.
    latest: FxHashMap<Name, u32>,
}

struct Bound {
    binder: BinderId,
    /// The index in the same list of the shadowed variable, if there is an index.
    shadows: Option<u32>,
}

impl Scope {
    /// Removes all names.
    pub(super) fn clear(&mut self) {
        self.bound.clear();
        // The capacity is that of the longest unit so far, and clearing takes time proportional to it.
        if !self.latest.is_empty() {
            self.latest = FxHashMap::default();
        }
    }

    /// Brings a binder into scope, unless it has no name.
    pub(super) fn bind(&mut self, binder: BinderId, binders: &[Binder]) {
        if binders[binder.index()].name.is_empty() {
            return;
        }
        self.bound.push(Bound { binder, shadows: None });
        if self.bound.len() > FEW {
            let from = if self.latest.is_empty() { 0 } else { self.bound.len() - 1 };
            for (at, bound) in self.bound.iter_mut().enumerate().skip(from) {
                let name = binders[bound.binder.index()].name.clone();
                bound.shadows = self.latest.insert(name, at as u32);
            }
        } else if !self.latest.is_empty() {
            let name = binders[binder.index()].name.clone();
            let at = self.bound.len() - 1;
            self.bound[at].shadows = self.latest.insert(name, at as u32);
        }
    }

    pub(super) fn get(&self, name: &str, binders: &[Binder]) -> Option<BinderId> {
        if self.latest.is_empty() {
            let mut innermost = self.bound.iter().rev().map(|bound| bound.binder);
            return innermost.find(|binder| is_equal(&binders[binder.index()].name, name));
        }
        self.latest.get(name).map(|&at| self.bound[at as usize].binder)
    }

    /// Returns a mark for [`Self::leave`].
    pub(super) fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Removes the variables bound since `mark`.
    pub(super) fn leave(&mut self, mark: usize, binders: &[Binder]) {
        if self.latest.is_empty() {
            self.bound.truncate(mark);
            return;
        }
        for bound in self.bound.drain(mark..).rev() {
            let name = &binders[bound.binder.index()].name;
            match bound.shadows {
                Some(before) => self.latest.insert(name.clone(), before),
                None => self.latest.remove(name),
            };
        }
    }
}

/// Finds names in a list that grows at its end: by a scan while it is short, as in most units, and by
/// an index otherwise.
#[derive(Default)]
pub(super) struct Names {
    /// The last item with each name among the first items.
    index: FxHashMap<Name, u32>,
    /// The number of items in the index.
    indexed: usize,
}

impl Names {
    /// Starts a new list.
    pub(super) fn clear(&mut self) {
        if self.indexed > 0 {
            *self = Names::default();
        }
    }

    /// Returns the index of the last item of `list` with a name; some items may have none.
    pub(super) fn find<T>(
        &mut self,
        name: &str,
        list: &[T],
        name_of: impl Fn(&T) -> Option<&Name>,
    ) -> Option<u32> {
        if list.len() <= FEW {
            let found = |item| name_of(item).is_some_and(|known| is_equal(known, name));
            return list.iter().rposition(found).map(|at| at as u32);
        }
        for (at, item) in list.iter().enumerate().skip(self.indexed) {
            if let Some(name) = name_of(item) {
                self.index.insert(name.clone(), at as u32);
            }
        }
        self.indexed = list.len();
        self.index.get(name).copied()
    }
}
