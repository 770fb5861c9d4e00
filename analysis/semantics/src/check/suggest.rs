//! Suggestions of similar names for unresolved names.

use operators::similar;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    db::Db,
    diagnostic::{Diagnostic, NameSet},
    item::Module,
    queries,
};

/// The maximum number of searches for a similar name in a module, for each kind of name. A search
/// visits all known names, so that n unknown among n known names would take quadratic time. More
/// unknown names than this mean a missing import, not misspellings.
const MAX_SEARCHES: usize = 64;

/// The searches of a module: one for each name, at most [`MAX_SEARCHES`] for each kind.
pub(super) struct Suggestions<'db> {
    db: &'db dyn Db,
    module: Module<'db>,
    found: FxHashMap<(NameSet, String), Option<String>>,
    searches: FxHashMap<NameSet, usize>,
    /// The names that are defined elsewhere, each of which is reported once.
    external: FxHashSet<String>,
}

impl<'db> Suggestions<'db> {
    /// Creates the searches of a module, with none done.
    pub(super) fn new(db: &'db dyn Db, module: Module<'db>) -> Suggestions<'db> {
        Suggestions {
            db,
            module,
            found: FxHashMap::default(),
            searches: FxHashMap::default(),
            external: FxHashSet::default(),
        }
    }

    /// Does the search of a diagnostic, if it has one. Returns false for a name that is defined elsewhere and
    /// has been reported.
    pub(super) fn complete(&mut self, diagnostic: &mut Diagnostic) -> bool {
        let Some(search) = diagnostic.search.take() else { return true };
        let near = search.among.iter().find_map(|&among| self.nearest(among, &search.name));
        if let Some(near) = near {
            diagnostic.suggest(search.range, near);
        } else if let Some(external) = search.external {
            diagnostic.become_external(external);
            return self.external.insert(search.name);
        }
        true
    }

    /// Returns the known name that is most similar to `name`; `None` if none is similar, or after
    /// [`MAX_SEARCHES`] searches of the kind.
    fn nearest(&mut self, among: NameSet, name: &str) -> Option<String> {
        let key = (among, name.to_owned());
        if let Some(known) = self.found.get(&key) {
            return known.clone();
        }
        let count = self.searches.entry(among).or_default();
        if *count == MAX_SEARCHES {
            return None;
        }
        *count += 1;
        let found = self.search(among, name);
        self.found.insert(key, found.clone());
        found
    }

    fn search(&self, among: NameSet, name: &str) -> Option<String> {
        let (db, module) = (self.db, self.module);
        let types = queries::module_types(db, module);
        let near = match among {
            NameSet::Globals => {
                let own = queries::module_scope(db, module).keys();
                let prelude =
                    queries::prelude(db).map(|prelude| queries::module_scope(db, prelude));
                let known = own.chain(prelude.into_iter().flat_map(FxHashMap::keys));
                similar::nearest(name, known.map(|known| known.as_str()))?
            }
            NameSet::Operators => operators::nearest(name)?,
            NameSet::Constructors => {
                let constructors = types.adts().flat_map(|adt| &adt.constructors);
                similar::nearest(name, constructors.map(|constructor| constructor.name.as_str()))?
            }
            NameSet::Types => similar::nearest(name, types.adts().map(|adt| adt.name.as_str()))?,
            NameSet::Relations => {
                let known = operators::all().filter_map(|operator| Some(operator.rule?.0));
                similar::nearest(name, known)?
            }
        };
        Some(near.to_owned())
    }
}
