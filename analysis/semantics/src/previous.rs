//! Earlier results, of which queries reuse the parts that did not change.
//!
//! They are an input: the field `previous` of a [`SourceFile`](crate::SourceFile) holds the last results
//! of its definitions, and only the owner of the database changes it. Queries read it through a tracked
//! query, and write what they compute to [`ComputedResults`], which they cannot read. With the next tree of the
//! file, or when the owner is idle, the owner moves it from there into the input. What a query finds is
//! thus the same throughout a revision, in whatever order threads execute queries.
//!
//! No result depends on it, because of two properties:
//!
//! - An entry is always true. [`LoweredBody`], [`ResolvedBody`] and [`TypedBody`] hold a result together with
//!   everything that it follows from, have private fields, and are made only by the function that
//!   computes them. An entry may be out of date, but a tree is never paired with the body of another.
//! - The function that receives an entry takes from it only parts whose inputs equal those at hand, so
//!   that any entry, also that of another definition, gives an equal result. Which one it is decides
//!   only how much is computed, and how much memory equal parts share.
//!
//! The first property follows from the types. The second is tested with entries that are absent, out of
//! date, and permuted. Because of it, all [`PreviousResultsRef`]s are equal to salsa: other entries
//! invalidate nothing.

use std::{
    fmt,
    sync::{Arc, LazyLock, Weak},
};

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{infer::TypedBody, key::DefKey, lower::LoweredBody, scope::ResolvedBody};

/// The last results of the definitions of a file.
#[derive(Clone, Default)]
pub struct PreviousResults {
    defs: FxHashMap<DefKey, Entry>,
}

/// The last results of a definition.
#[derive(Clone, Default)]
pub(crate) struct Entry {
    pub(crate) lowered: Option<LoweredBody>,
    pub(crate) named: Option<ResolvedBody>,
    pub(crate) inferred: Option<TypedBody>,
}

impl Entry {
    /// Takes the results of another version; those that it lacks stay.
    fn update(&mut self, newer: Entry) {
        self.lowered = newer.lowered.or(self.lowered.take());
        self.named = newer.named.or(self.named.take());
        self.inferred = newer.inferred.or(self.inferred.take());
    }
}

impl fmt::Debug for PreviousResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Previous").field("defs", &self.defs.len()).finish_non_exhaustive()
    }
}

impl PreviousResults {
    /// Returns no results, in an allocation that all files share.
    pub(crate) fn none() -> Arc<PreviousResults> {
        static NONE: LazyLock<Arc<PreviousResults>> = LazyLock::new(Arc::default);
        NONE.clone()
    }

    /// Returns true if there are no results.
    pub(crate) fn is_empty(&self) -> bool {
        self.defs.is_empty()
    }

    /// Returns the definitions with results.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &DefKey> {
        self.defs.keys()
    }

    /// Returns the number of definitions with results.
    pub(crate) fn len(&self) -> usize {
        self.defs.len()
    }

    /// Replaces results by newer ones.
    pub(crate) fn update(&mut self, newer: PreviousResults) {
        if self.defs.is_empty() {
            // All are new in a file that was opened: they are moved at once.
            self.defs = newer.defs;
        } else {
            for (key, newer) in newer.defs {
                self.defs.entry(key).or_default().update(newer);
            }
        }
    }

    /// Evicts the definitions that are not among `defs`.
    pub(crate) fn retain(&mut self, defs: &FxHashSet<DefKey>) {
        self.defs.retain(|key, _| defs.contains(key));
    }

    /// Moves each of the three results of each definition to another definition of the files, for
    /// tests: no result may depend on it.
    pub(crate) fn permute(files: &mut [PreviousResults]) {
        let order = |key: &DefKey| (key.module, key.kind, key.name.clone(), key.occurrence);
        let mut places = Vec::new();
        for (file, previous) in files.iter().enumerate() {
            let mut keys: Vec<DefKey> = previous.keys().cloned().collect();
            keys.sort_unstable_by_key(order);
            places.extend(keys.into_iter().map(|key| (file, key)));
        }
        let old: Vec<Entry> =
            places.iter().map(|(file, key)| files[*file].defs[key].clone()).collect();
        for (number, (file, key)) in places.into_iter().enumerate() {
            let from = |by: usize| &old[(number + by) % old.len()];
            let entry = Entry {
                lowered: from(1).lowered.clone(),
                named: from(2).named.clone(),
                inferred: from(3).inferred.clone(),
            };
            files[file].defs.insert(key, entry);
        }
    }
}

/// The earlier results of a file as queries see them; `None` for files that never change, whose results
/// are not kept.
///
/// The reference is weak, because this outlives the revision as the memo of a query, and the owner moves
/// the results out of the input instead of copying them. It is valid in the revision of the memo.
#[derive(Clone, Debug)]
pub(crate) struct PreviousResultsRef(Option<Weak<PreviousResults>>);

/// No result depends on which earlier results a definition finds. They are therefore equal to salsa, and
/// others invalidate nothing.
impl PartialEq for PreviousResultsRef {
    fn eq(&self, _other: &PreviousResultsRef) -> bool {
        true
    }
}

impl Eq for PreviousResultsRef {}

impl PreviousResultsRef {
    pub(crate) fn new(previous: Option<&Arc<PreviousResults>>) -> PreviousResultsRef {
        PreviousResultsRef(previous.map(Arc::downgrade))
    }

    /// Returns true if results of the file are kept.
    pub(crate) fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Returns a result of a definition.
    pub(crate) fn get<T>(&self, key: &DefKey, part: impl FnOnce(&Entry) -> Option<T>) -> Option<T> {
        part(self.0.as_ref()?.upgrade()?.defs.get(key)?)
    }
}

/// The results of queries in a file since its earlier results were last updated.
#[derive(Default)]
pub(crate) struct NewResults {
    /// The results, the latest of each definition.
    pub(crate) results: PreviousResults,
    /// True if the file was checked, so that its definitions are known.
    pub(crate) is_checked: bool,
}

/// The results that queries have computed, by file. Queries have a shared reference, with which nothing
/// can be read.
#[derive(Default)]
pub struct ComputedResults(Mutex<FxHashMap<salsa::Id, NewResults>>);

impl ComputedResults {
    /// Each write is complete, so that a poisoned lock protects valid data.
    fn record(&self, file: salsa::Id, write: impl FnOnce(&mut NewResults)) {
        let mut files = self.0.lock();
        write(files.entry(file).or_default());
    }

    pub(crate) fn add(&self, file: salsa::Id, key: DefKey, new: Entry) {
        self.record(file, |news| news.results.defs.entry(key).or_default().update(new));
    }

    pub(crate) fn checked(&self, file: salsa::Id) {
        self.record(file, |news| news.is_checked = true);
    }

    fn files_mut(&mut self) -> &mut FxHashMap<salsa::Id, NewResults> {
        self.0.get_mut()
    }

    /// Returns the files with news.
    pub(crate) fn files(&mut self) -> Vec<salsa::Id> {
        self.files_mut().keys().copied().collect()
    }

    /// Returns the news of a file without taking them.
    pub(crate) fn get(&mut self, file: salsa::Id) -> Option<&NewResults> {
        self.files_mut().get(&file)
    }

    /// Takes the news of a file.
    pub(crate) fn take(&mut self, file: salsa::Id) -> Option<NewResults> {
        self.files_mut().remove(&file)
    }
}
