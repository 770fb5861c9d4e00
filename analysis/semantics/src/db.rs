//! The database: inputs, and what is remembered between runs.

#![expect(missing_docs, reason = "what salsa generates carries no documentation")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use rustc_hash::{FxHashMap, FxHashSet};
use salsa::{Durability, Setter};
use syntax::{Parse, ParseLimits};

use crate::{
    body::{Body, Name},
    infer::Inference,
    item::DefKind,
    lower::Previous,
    metadata::Metadata,
    module::ModuleTypes,
    prelude,
    provoke::panic_if_asked,
    scope::Scopes,
};

/// A file, parsed.
///
/// The text is not here: it is in the tree, and an edit makes the next tree from the last.
#[salsa::input(debug)]
pub struct SourceFile {
    /// Where the tree comes from.
    #[returns(ref)]
    source: Source,
    /// The file is the prelude.
    #[returns(copy)]
    pub is_prelude: bool,
}

/// Where the tree of a file comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// It is there.
    Parsed(Arc<Parse>),
    /// The prelude's file of this number, read when it is asked for.
    Prelude(usize),
}

impl SourceFile {
    /// The tree and what was wrong with the text.
    pub fn parse(self, db: &dyn salsa::Database) -> Arc<Parse> {
        match self.source(db) {
            Source::Parsed(parse) => parse.clone(),
            Source::Prelude(number) => prelude::file(*number).parse.clone(),
        }
    }
}

/// What the user chose.
#[salsa::input(singleton)]
pub struct Settings {
    /// Whether texts are read exactly as TVM reads them.
    #[returns(copy)]
    pub strict: bool,
    /// The files of the prelude, if modules see it; [`crate::prelude`] says what is where.
    #[returns(ref)]
    pub(crate) prelude_files: Vec<SourceFile>,
}

/// What queries need of a database.
#[salsa::db]
pub trait Db: salsa::Database {
    /// What was computed for a definition last time. Results never depend on it.
    fn cache(&self) -> &Cache;
}

/// The database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    cache: Cache,
    prelude: Arc<[SourceFile]>,
    // Dropped last: the storage ends when no handle is left.
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
    /// A database with the prelude and default settings.
    pub fn new() -> Database {
        Database::with_log(None)
    }

    /// A database that writes down which queries run.
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
            SourceFile::builder(source, true).durability(Durability::HIGH).new(&db)
        });
        let prelude: Vec<SourceFile> = prelude.collect();
        Settings::new(&db, false, prelude.clone());
        db.prelude = prelude.into();
        db
    }

    /// A new file.
    pub fn add_file(&self, text: &str, limits: ParseLimits) -> SourceFile {
        SourceFile::new(self, Source::Parsed(Arc::new(syntax::parse_with(text, limits))), false)
    }

    /// Gives a file its next tree; equal trees change nothing.
    pub fn set_parse(&mut self, file: SourceFile, parse: Arc<Parse>) {
        if !Arc::ptr_eq(&file.parse(self), &parse) {
            file.set_source(self).to(Source::Parsed(parse));
        }
    }

    /// Chooses whether modules see the prelude.
    pub fn set_prelude(&mut self, seen: bool) {
        let settings = Settings::get(self);
        if settings.prelude_files(self).is_empty() == seen {
            let files = if seen { self.prelude.to_vec() } else { Vec::new() };
            settings.set_prelude_files(self).to(files);
        }
    }

    /// Frees what newer results have replaced. It stays until the next change otherwise, since
    /// somebody could be reading it; here it is known that nobody does. A `/` in a long module makes
    /// a comment of half of it, and taking it out again leaves everything behind twice.
    pub fn free_replaced(&mut self) {
        salsa::Database::trigger_lru_eviction(self);
    }

    /// The number of `file` among the files of the prelude, if it is one.
    pub fn prelude_number(&self, file: SourceFile) -> Option<usize> {
        self.prelude.iter().position(|prelude| *prelude == file)
    }

    /// Ends the queries that run on this handle, from any thread.
    pub fn cancellation(&self) -> salsa::CancellationToken {
        salsa::Database::cancellation_token(self)
    }

    /// Chooses whether texts are read exactly as TVM reads them.
    pub fn set_strict(&mut self, strict: bool) {
        let settings = Settings::get(self);
        if settings.strict(self) != strict {
            settings.set_strict(self).to(strict);
        }
    }
}

/// The queries that ran: `body(Id(400))`.
#[derive(Clone, Default)]
pub struct QueryLog {
    ran: Arc<Mutex<Vec<String>>>,
    /// How many queries may begin before one panics; 0 for never.
    left: Arc<AtomicUsize>,
}

impl QueryLog {
    fn with<R>(&self, use_log: impl FnOnce(&mut Vec<String>) -> R) -> R {
        use_log(&mut self.ran.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Makes the query that begins as the `number`-th from now panic, for tests of what follows;
    /// 0 for none.
    pub fn panic_in(&self, number: usize) {
        self.left.store(number, Ordering::Relaxed);
    }

    fn panic_if_due(&self) {
        let count = |left: usize| left.checked_sub(1);
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        assert!(before != Ok(1), "a test asked for a panic in this query");
    }

    /// What ran since the last time.
    pub fn take(&self) -> Vec<String> {
        self.with(std::mem::take)
    }
}

/// Names a definition across revisions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DefKey {
    pub(crate) file: salsa::Id,
    pub(crate) module: u32,
    pub(crate) kind: DefKind,
    pub(crate) name: Name,
    pub(crate) occurrence: u32,
}

/// The data types of modules, by file and number.
type TypesOfModules = FxHashMap<(salsa::Id, u32), Arc<ModuleTypes>>;

/// What was computed for definitions last time, so that the next time starts from there.
///
/// A value here only ever saves work: every query gives the same result with an empty cache, which
/// is tested.
#[derive(Clone, Default)]
pub struct Cache {
    entries: Arc<Mutex<FxHashMap<DefKey, Entry>>>,
    /// The data types of each module of each file.
    types: Arc<Mutex<TypesOfModules>>,
}

/// The types of a definition, and what they were found from beside what its units name.
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
        // A poisoned lock means that a thread died between two complete writes.
        let mut entries = self.entries.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        use_entries(&mut entries)
    }

    pub(crate) fn lowered(&self, key: &DefKey) -> Option<Previous> {
        panic_if_asked("lower", &key.name);
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
        panic_if_asked("infer", &key.name);
        self.with(|entries| entries.get(key).and_then(|entry| entry.inferred.clone()))
    }

    pub(crate) fn set_inferred(&self, key: &DefKey, inferred: Inferred) {
        self.with(|entries| entries.entry(key.clone()).or_default().inferred = Some(inferred));
    }

    /// The data types of a module, in the very memory of the last ones if they are equal. Each
    /// definition compares those that it was inferred with to these.
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

    /// Forgets the data types of modules that `file` has no more, of which it has `count`.
    pub(crate) fn keep_types(&self, file: SourceFile, count: usize) {
        use salsa::plumbing::AsId;
        let id = file.as_id();
        let mut types = self.types.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        types.retain(|(of, module), _| *of != id || (*module as usize) < count);
    }

    /// Forgets what belongs to `file`: it has been closed, or gave way to another text.
    pub fn forget(&self, file: SourceFile) {
        use salsa::plumbing::AsId;
        let id = file.as_id();
        self.with(|entries| entries.retain(|key, _| key.file != id));
        let mut types = self.types.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        types.retain(|(file, _), _| *file != id);
    }

    /// Forgets definitions that `file` has no more, of which `now` gives the `count` with a body that it has:
    /// each letter that is typed in `def @attention` makes another definition, and a `}` in the
    /// middle of a long one makes two.
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
        // Tens of thousands of types can go with them: outside of the lock.
        drop(gone);
    }

    /// How many definitions are remembered.
    pub fn len(&self) -> usize {
        self.with(|entries| entries.len())
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
