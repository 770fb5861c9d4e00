//! Suggestions of similar names for unresolved names.

use std::{cell::RefCell, ops::Deref};

use operators::similar;
use rustc_hash::FxHashMap;

use super::origin::Origins;
use crate::{body::Name, view::View};

/// The maximum number of searches for a similar name in a module, for each kind of name. A search
/// visits all known names, so that n unknown among n known names would take quadratic time. More
/// unknown names than this mean a missing import, not misspellings.
const MAX_SEARCHES: usize = 64;

/// The set of names that is searched.
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

/// The memo of the searches of a module: one for each name, at most [`MAX_SEARCHES`] for each kind.
#[derive(Default)]
pub(super) struct Suggestions {
    found: RefCell<FxHashMap<(Among, Name), Option<String>>>,
    searches: RefCell<FxHashMap<Among, usize>>,
}

impl Suggestions {
    /// Returns the name most similar to `name` among `candidates`, which are all names of that kind
    /// in the module; `None` if none is similar, or after [`MAX_SEARCHES`] searches.
    pub(super) fn nearest<'n, C: Iterator<Item = &'n str>>(
        &self,
        among: Among,
        name: &str,
        candidates: impl FnOnce() -> C,
    ) -> Option<String> {
        self.search(among, name, || similar::nearest(name, candidates()).map(str::to_owned))
    }

    /// Returns the result of `search` for `name`; `None` after [`MAX_SEARCHES`] searches of the
    /// kind.
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

/// The context of checking a definition: its view, and the memos that its diagnostics share.
pub(super) struct Checked<'a, 'db> {
    view: &'a View<'db>,
    /// The searches for names, shared by the definitions of a module.
    pub(super) suggestions: &'a Suggestions,
    /// The origins of sizes and data types.
    pub(super) origins: Origins,
}

impl<'a, 'db> Checked<'a, 'db> {
    /// Creates the context of a definition, with empty memos.
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
