//! Scopes during the lowering of a unit.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use types::Param;

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
    bound: Vec<ScopeEntry>,
    /// The index in `bound` of the innermost variable with each name; empty while there are few
    /// variables.
    latest: FxHashMap<Name, u32>,
}

struct ScopeEntry {
    binder: BinderId,
    /// The index in the same list of the shadowed variable, if there is an index.
    shadows: Option<u32>,
}

impl Scope {
    /// Removes all names. Called for each unit.
    #[inline]
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
        self.bound.push(ScopeEntry { binder, shadows: None });
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

    /// Called for each unit with no variable in scope.
    #[inline]
    pub(super) fn get(&self, name: &str, binders: &[Binder]) -> Option<BinderId> {
        if self.bound.is_empty() { None } else { self.find(name, binders) }
    }

    fn find(&self, name: &str, binders: &[Binder]) -> Option<BinderId> {
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
    /// Starts a new list. Called for each unit, in which the index is nearly always empty.
    #[inline]
    pub(super) fn clear(&mut self) {
        if self.indexed > 0 {
            self.reset();
        }
    }

    #[cold]
    fn reset(&mut self) {
        *self = Names::default();
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

/// The type parameters in scope. A function that TVM printed has as many as parameters, so that they are found by
/// name.
#[derive(Default)]
pub(super) struct TypeParams {
    /// The parameters, the innermost last.
    list: Vec<Param>,
    /// The positions of each name, the innermost last.
    places: FxHashMap<SmolStr, Vec<u32>>,
}

impl TypeParams {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn push(&mut self, param: Param) {
        self.places.entry(param.name().clone()).or_default().push(self.list.len() as u32);
        self.list.push(param);
    }

    /// Returns the innermost parameter of a name.
    pub(super) fn get(&self, name: &str) -> Option<&Param> {
        self.list.get(*self.places.get(name)?.last()? as usize)
    }

    /// Ends the scope of all but the first `len` parameters. Called for each unit, most of which
    /// declare none.
    #[inline]
    pub(super) fn truncate(&mut self, len: usize) {
        if self.list.len() > len {
            self.end_all_but(len);
        }
    }

    fn end_all_but(&mut self, len: usize) {
        while self.list.len() > len {
            let ended = self.list.pop();
            let places = ended.and_then(|param| self.places.get_mut(param.name()));
            places.and_then(Vec::pop);
        }
    }
}

impl Extend<Param> for TypeParams {
    fn extend<I: IntoIterator<Item = Param>>(&mut self, params: I) {
        params.into_iter().for_each(|param| self.push(param));
    }
}
