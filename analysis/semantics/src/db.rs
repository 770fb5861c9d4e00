//! The database: inputs, settings, and the results of previous revisions.

#![expect(missing_docs, reason = "what salsa generates carries no documentation")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use rustc_hash::{FxHashMap, FxHashSet};
use salsa::{Durability, Setter};
use syntax::{Parse, ParseLimits};

use crate::{
    body::Body, diagnostic::Levels, infer::Inference, key::DefKey, lower::Previous,
    metadata::Metadata, module::ModuleTypes, prelude, scope::Scopes,
    test_panic::panic_if_requested,
};

/// A parsed file.
///
/// The input is the tree rather than the text: an edit reparses incrementally, which needs the
/// previous tree.
#[salsa::input(debug)]
pub struct SourceFile {
    /// The source of the tree.
    #[returns(ref)]
    source: Source,
    /// True for files of the prelude.
    #[returns(copy)]
    pub is_prelude: bool,
    /// The metadata section of the file whose code this is, where a line stands for the section.
    #[returns(ref)]
    pub section: Option<Arc<Metadata>>,
    /// The levels that the user gave to codes in this file.
    #[returns(ref)]
    pub levels: Levels,
}

/// The source of the tree of a file.
#[derive(Clone, Debug)]
pub enum Source {
    /// A parse.
    Parsed(Arc<Parse>),
    /// The file of the prelude with this number, parsed on demand.
    Prelude(usize),
}

impl SourceFile {
    /// Returns the tree and the syntax errors.
    pub fn parse(self, db: &dyn salsa::Database) -> Arc<Parse> {
        match self.source(db) {
            Source::Parsed(parse) => parse.clone(),
            Source::Prelude(number) => prelude::parse(*number).clone(),
        }
    }
}

/// Settings of the user.
#[salsa::input(singleton)]
pub struct Settings {
    /// True if modules are analysed exactly as by TVM.
    #[returns(copy)]
    pub tvm: bool,
    /// The files of the prelude in the order of [`crate::prelude`]; empty if modules do not see it.
    #[returns(ref)]
    pub(crate) prelude_files: Vec<SourceFile>,
}

/// The database as queries see it.
#[salsa::db]
pub trait Db: salsa::Database {
    /// Returns the results of previous revisions. No result depends on them.
    fn cache(&self) -> &Cache;
}

/// The database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    cache: Cache,
    prelude: Arc<[SourceFile]>,
    // Dropped last, because salsa waits for other handles.
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn cache(&self) -> &Cache {
        &self.cache
    }
}

impl Default for Database {
    fn default() -> Self {
        Database::new()
    }
}

impl Database {
    /// Creates a database with the prelude and default settings.
    pub fn new() -> Database {
        Database::with_log(None)
    }

    /// Creates a database that logs the executed queries.
    pub fn with_query_log() -> (Database, QueryLog) {
        let log = QueryLog::default();
        let own = log.clone();
        let note = move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                own.with(|ran| ran.push(format!("{database_key:?}")));
                own.panic_if_due();
            }
        };
        (Database::with_log(Some(Box::new(note))), log)
    }

    fn with_log(log: Option<Box<dyn Fn(salsa::Event) + Send + Sync>>) -> Database {
        let storage = salsa::Storage::new(log);
        let mut db = Database { cache: Cache::default(), prelude: Arc::default(), storage };
        let prelude = (0..prelude::COUNT).map(|number| {
            let source = Source::Prelude(number);
            SourceFile::builder(source, true, None, Levels::default())
                .durability(Durability::HIGH)
                .new(&db)
        });
        let prelude: Vec<SourceFile> = prelude.collect();
        Settings::new(&db, false, prelude.clone());
        db.prelude = prelude.into();
        db
    }

    /// Adds a file.
    pub fn add_file(&self, text: &str, limits: ParseLimits) -> SourceFile {
        SourceFile::new(
            self,
            Source::Parsed(Arc::new(syntax::parse_with(text, limits))),
            false,
            None,
            Levels::default(),
        )
    }

    /// Replaces the tree of a file. The same tree is no change.
    pub fn set_parse(&mut self, file: SourceFile, parse: Arc<Parse>) {
        if !Arc::ptr_eq(&file.parse(self), &parse) {
            file.set_source(self).to(Source::Parsed(parse));
        }
    }

    /// Sets the metadata section of the file whose code `file` is. An equal one is no change.
    pub fn set_section(&mut self, file: SourceFile, section: Option<Arc<Metadata>>) {
        if *file.section(self) != section {
            file.set_section(self).to(section);
        }
    }

    /// Sets the levels of codes in a file. Equal ones are no change.
    pub fn set_levels(&mut self, file: SourceFile, levels: &Levels) {
        if file.levels(self) != levels {
            file.set_levels(self).to(levels.clone());
        }
    }

    /// Sets whether modules see the prelude.
    pub fn set_prelude(&mut self, seen: bool) {
        let settings = Settings::get(self);
        if settings.prelude_files(self).is_empty() == seen {
            let files = if seen { self.prelude.to_vec() } else { Vec::new() };
            settings.set_prelude_files(self).to(files);
        }
    }

    /// Frees memos that newer ones have replaced. Salsa keeps them until the next revision, because
    /// another handle could borrow them; `&mut self` rules that out. After a `/` that turns half of a
    /// long module into a comment is deleted again, all its memos would exist twice.
    pub fn free_replaced(&mut self) {
        salsa::Database::trigger_lru_eviction(self);
    }

    /// Returns the number of `file` among the files of the prelude, if it is one.
    pub fn prelude_number(&self, file: SourceFile) -> Option<usize> {
        self.prelude.iter().position(|prelude| *prelude == file)
    }

    /// Returns a token that cancels the queries of this handle from any thread.
    pub fn cancellation(&self) -> salsa::CancellationToken {
        salsa::Database::cancellation_token(self)
    }

    /// Sets whether modules are analysed exactly as by TVM.
    pub fn set_tvm(&mut self, tvm: bool) {
        let settings = Settings::get(self);
        if settings.tvm(self) != tvm {
            settings.set_tvm(self).to(tvm);
        }
    }
}

/// A log of executed queries: `body(Id(400))`.
#[derive(Clone, Default)]
pub struct QueryLog {
    ran: Arc<Mutex<Vec<String>>>,
    /// The number of queries until one panics; 0 for never.
    left: Arc<AtomicUsize>,
}

impl QueryLog {
    fn with<R>(&self, use_log: impl FnOnce(&mut Vec<String>) -> R) -> R {
        use_log(&mut self.ran.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Makes the `number`-th query from now panic, for tests of recovery; 0 for none.
    pub fn panic_in(&self, number: usize) {
        self.left.store(number, Ordering::Relaxed);
    }

    fn panic_if_due(&self) {
        let count = |left: usize| left.checked_sub(1);
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        assert!(before != Ok(1), "a test asked for a panic in this query");
    }

    /// Returns the queries executed since the last call.
    pub fn take(&self) -> Vec<String> {
        self.with(std::mem::take)
    }
}

/// The data types of modules, by file and number.
type TypesOfModules = FxHashMap<(salsa::Id, u32), Arc<ModuleTypes>>;

/// The results of previous revisions, from which queries reuse unchanged parts.
///
/// Every query returns the same result with an empty cache; `results_do_not_depend_on_the_cache`
/// checks that.
#[derive(Clone, Default)]
pub struct Cache {
    entries: Arc<Mutex<FxHashMap<DefKey, Entry>>>,
    /// The data types of each module of each file.
    types: Arc<Mutex<TypesOfModules>>,
}

/// The types of a definition, and the inputs of inference other than those of units.
#[derive(Clone)]
pub(crate) struct Inferred {
    pub(crate) body: Arc<Body>,
    pub(crate) scopes: Arc<Scopes>,
    pub(crate) inference: Arc<Inference>,
    pub(crate) types: Arc<ModuleTypes>,
    pub(crate) metadata: Option<Arc<Metadata>>,
}

#[derive(Clone, Default)]
struct Entry {
    lowered: Option<Previous>,
    scopes: Option<(Arc<Body>, Arc<Scopes>)>,
    inferred: Option<Inferred>,
}

impl Cache {
    fn with<R>(&self, use_entries: impl FnOnce(&mut FxHashMap<DefKey, Entry>) -> R) -> R {
        // Each write is complete, so that a poisoned lock protects valid data.
        let mut entries = self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        use_entries(&mut entries)
    }

    pub(crate) fn lowered(&self, key: &DefKey) -> Option<Previous> {
        panic_if_requested("lower", &key.name);
        self.with(|entries| entries.get(key).and_then(|entry| entry.lowered.clone()))
    }

    pub(crate) fn set_lowered(&self, key: &DefKey, previous: Previous) {
        self.with(|entries| entries.entry(key.clone()).or_default().lowered = Some(previous));
    }

    pub(crate) fn scopes(&self, key: &DefKey) -> Option<(Arc<Body>, Arc<Scopes>)> {
        self.with(|entries| entries.get(key).and_then(|entry| entry.scopes.clone()))
    }

    pub(crate) fn set_scopes(&self, key: &DefKey, body: Arc<Body>, scopes: Arc<Scopes>) {
        self.with(|entries| {
            entries.entry(key.clone()).or_default().scopes = Some((body, scopes));
        });
    }

    pub(crate) fn inferred(&self, key: &DefKey) -> Option<Inferred> {
        panic_if_requested("infer", &key.name);
        self.with(|entries| entries.get(key).and_then(|entry| entry.inferred.clone()))
    }

    pub(crate) fn set_inferred(&self, key: &DefKey, inferred: Inferred) {
        self.with(|entries| entries.entry(key.clone()).or_default().inferred = Some(inferred));
    }

    /// Returns the data types of a module, in the same allocation as before if they are equal, so
    /// that definitions compare them by pointer.
    pub(crate) fn share_types(
        &self,
        file: SourceFile,
        module: u32,
        types: ModuleTypes,
    ) -> Arc<ModuleTypes> {
        use salsa::plumbing::AsId;
        let mut known = self.types.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let key = (file.as_id(), module);
        if let Some(before) = known.get(&key).filter(|before| ***before == types) {
            return before.clone();
        }
        let types = Arc::new(types);
        known.insert(key, types.clone());
        types
    }

    /// Evicts the data types of modules of `file` from number `count` on, which no longer exist.
    pub(crate) fn keep_types(&self, file: SourceFile, count: usize) {
        use salsa::plumbing::AsId;
        let id = file.as_id();
        let mut types = self.types.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        types.retain(|(of, module), _| *of != id || (*module as usize) < count);
    }

    /// Evicts everything of `file`, which has been closed or replaced.
    pub fn forget(&self, file: SourceFile) {
        use salsa::plumbing::AsId;
        let id = file.as_id();
        self.with(|entries| entries.retain(|key, _| key.file != id));
        let mut types = self.types.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        types.retain(|(file, _), _| *file != id);
    }

    /// Evicts definitions that `file` no longer has. `now` yields the `count` definitions with a body
    /// that it has. Each letter typed in `def @attention` makes another definition.
    pub(crate) fn keep(&self, file: SourceFile, count: usize, now: impl Fn() -> FxHashSet<DefKey>) {
        use salsa::plumbing::AsId;
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
}
