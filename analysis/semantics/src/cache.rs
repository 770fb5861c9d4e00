//! Earlier results, of which queries reuse the parts that did not change.
//!
//! Salsa does not track this cache: a definition that is lowered again finds what was cached last under
//! its name, which depends on the order of edits. No result depends on it, because of two properties:
//!
//! - An entry is always true. [`Lowered`], [`Named`] and [`Inferred`] hold a result together with
//!   everything that it follows from, have private fields, and are made only by the function that
//!   computes them. An entry may be out of date, but a tree is never paired with the body of another.
//! - The function that receives an entry takes from it only parts whose inputs equal those at hand, so
//!   that any entry, also that of another definition, gives an equal result. What is cached decides
//!   only how much is computed, and how much memory equal parts share.
//!
//! The first property follows from the types. The second is tested with caches that are empty, out of
//! date, and permuted ([`Cache::permute`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use salsa::plumbing::AsId;

use crate::{
    infer::Inferred, key::DefKey, lower::Lowered, module::ModuleTypes, scope::Named,
    test_panic::panic_if_requested,
};

/// The data types of modules, by file and number.
type TypesOfModules = FxHashMap<(salsa::Id, u32), Arc<ModuleTypes>>;

/// The last results by definition and module.
#[derive(Clone, Default)]
pub struct Cache {
    entries: Arc<Mutex<FxHashMap<DefKey, Entry>>>,
    types: Arc<Mutex<TypesOfModules>>,
}

/// The last results of a definition.
#[derive(Clone, Default)]
struct Entry {
    lowered: Option<Lowered>,
    named: Option<Named>,
    inferred: Option<Inferred>,
}

/// Locks a map. Each write is complete, so that a poisoned lock protects valid data.
fn locked<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    fn with<R>(&self, use_entries: impl FnOnce(&mut FxHashMap<DefKey, Entry>) -> R) -> R {
        use_entries(&mut locked(&self.entries))
    }

    pub(crate) fn lowered(&self, key: &DefKey) -> Option<Lowered> {
        panic_if_requested("lower", &key.name);
        self.with(|entries| entries.get(key)?.lowered.clone())
    }

    pub(crate) fn set_lowered(&self, key: DefKey, lowered: Lowered) {
        self.with(|entries| entries.entry(key).or_default().lowered = Some(lowered));
    }

    pub(crate) fn named(&self, key: &DefKey) -> Option<Named> {
        self.with(|entries| entries.get(key)?.named.clone())
    }

    pub(crate) fn set_named(&self, key: DefKey, named: Named) {
        self.with(|entries| entries.entry(key).or_default().named = Some(named));
    }

    pub(crate) fn inferred(&self, key: &DefKey) -> Option<Inferred> {
        panic_if_requested("infer", &key.name);
        self.with(|entries| entries.get(key)?.inferred.clone())
    }

    pub(crate) fn set_inferred(&self, key: DefKey, inferred: Inferred) {
        self.with(|entries| entries.entry(key).or_default().inferred = Some(inferred));
    }

    /// Returns the data types of a module, in the allocation that was cached last if they are equal, so
    /// that definitions compare them by pointer.
    pub(crate) fn share_types(
        &self,
        file: impl AsId,
        module: u32,
        types: ModuleTypes,
    ) -> Arc<ModuleTypes> {
        let mut known = locked(&self.types);
        let key = (file.as_id(), module);
        if let Some(before) = known.get(&key).filter(|before| ***before == types) {
            return before.clone();
        }
        let types = Arc::new(types);
        known.insert(key, types.clone());
        types
    }

    /// Evicts the data types of modules of `file` from number `count` on, which no longer exist.
    pub(crate) fn keep_types(&self, file: impl AsId, count: usize) {
        let id = file.as_id();
        locked(&self.types).retain(|(of, module), _| *of != id || (*module as usize) < count);
    }

    /// Evicts everything of `file`, which has been closed or replaced.
    pub fn forget(&self, file: impl AsId) {
        let id = file.as_id();
        self.with(|entries| entries.retain(|key, _| key.file != id));
        locked(&self.types).retain(|(file, _), _| *file != id);
    }

    /// Evicts definitions that `file` no longer has. `now` yields the `count` definitions with a body
    /// that it has. Each letter typed in `def @attention` makes another definition.
    pub(crate) fn keep(&self, file: impl AsId, count: usize, now: impl Fn() -> FxHashSet<DefKey>) {
        let id = file.as_id();
        if self.with(|entries| entries.keys().filter(|key| key.file == id).count()) <= count {
            return;
        }
        let now = now();
        let gone: Vec<(DefKey, Entry)> = self.with(|entries| {
            entries.extract_if(|key, _| key.file == id && !now.contains(key)).collect()
        });
        // Dropped outside the lock: they may hold tens of thousands of types.
        drop(gone);
    }

    /// Returns the number of cached definitions.
    pub fn len(&self) -> usize {
        self.with(|entries| entries.len())
    }

    /// Returns true if the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves each of the three results of each definition to another definition, for tests: no result
    /// may depend on it.
    #[doc(hidden)]
    pub fn permute(&self) {
        self.with(|entries| {
            let mut keys: Vec<DefKey> = entries.keys().cloned().collect();
            keys.sort_unstable_by(|a, b| {
                let order = |key: &DefKey| (key.module, key.kind, key.name.clone(), key.occurrence);
                (a.file, order(a)).cmp(&(b.file, order(b)))
            });
            let count = keys.len();
            let old: Vec<Entry> = keys.iter().map(|key| entries[key].clone()).collect();
            for (number, key) in keys.into_iter().enumerate() {
                let from = |by: usize| &old[(number + by) % count];
                entries.insert(
                    key,
                    Entry {
                        lowered: from(1).lowered.clone(),
                        named: from(2).named.clone(),
                        inferred: from(3).inferred.clone(),
                    },
                );
            }
        });
    }
}
