//! Names that were meant, for names that mean nothing.

use std::{cell::RefCell, ops::Deref};

use operators::similar;
use rustc_hash::FxHashMap;

use super::origin::Origins;
use crate::{body::Name, view::View};

/// For how many names of a module a similar one is looked for. Each search goes over all names that
/// there are: n unknown names among n known ones would cost n squared. Who has more unknown names
/// than this has lost an import, not mistyped.
const MAX_SEARCHES: usize = 64;

/// What a name is looked for among.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Among {
    /// Functions.
    Globals,
    /// Operators.
    Operators,
    /// Constructors.
    Constructors,
    /// Data types.
    Types,
    /// Type relations.
    Relations,
}

/// The searches of a module: one for each name, and no more than [`MAX_SEARCHES`] for each kind.
#[derive(Default)]
pub(super) struct Suggestions {
    found: RefCell<FxHashMap<(Among, Name), Option<String>>>,
    searches: RefCell<FxHashMap<Among, usize>>,
}

impl Suggestions {
    /// The name nearest to `name` among `candidates`, which are all names of that kind in the module;
    /// nothing where none is near, or where too many were looked for.
    pub(super) fn nearest<'n, C: Iterator<Item = &'n str>>(
        &self,
        among: Among,
        name: &str,
        candidates: impl FnOnce() -> C,
    ) -> Option<String> {
        self.search(among, name, || similar::nearest(name, candidates()).map(str::to_owned))
    }

    /// What `search` finds for `name`; nothing where too many searches of the kind were made.
    pub(super) fn search(
        &self,
        among: Among,
        name: &str,
        search: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        let key = (among, Name::from(name));
        if let Some(known) = self.found.borrow().get(&key) {
            return known.clone();
        }
        let mut searches = self.searches.borrow_mut();
        let count = searches.entry(among).or_default();
        if *count == MAX_SEARCHES {
            return None;
        }
        *count += 1;
        let found = search();
        self.found.borrow_mut().insert(key, found.clone());
        found
    }
}

/// A definition that is checked: everything that is known of it, and what its findings share.
pub(super) struct Checked<'a, 'db> {
    view: &'a View<'db>,
    /// Searches for names, which the definitions of a module share.
    pub(super) suggestions: &'a Suggestions,
    /// Where sizes and data types came from.
    pub(super) origins: Origins,
}

impl<'a, 'db> Checked<'a, 'db> {
    /// A definition of which nothing is found yet.
    pub(super) fn new(view: &'a View<'db>, suggestions: &'a Suggestions) -> Checked<'a, 'db> {
        Checked { view, suggestions, origins: Origins::default() }
    }
}

impl<'db> Deref for Checked<'_, 'db> {
    type Target = View<'db>;

    fn deref(&self) -> &View<'db> {
        self.view
    }
}
