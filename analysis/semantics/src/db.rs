//! The database: inputs and settings.

#![expect(missing_docs, reason = "what salsa generates carries no documentation")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use salsa::{Durability, Setter};
use syntax::{ParseLimits, Text};

use crate::{
    content::{Content, Revision},
    diagnostic::Levels,
    metadata::Metadata,
    prelude,
    previous::{Computed, Previous},
};

/// A file. Its text is the input, and its tree is the result of a query.
#[salsa::input(debug)]
pub struct SourceFile {
    /// The text.
    #[returns(ref)]
    pub(crate) content: Content,
    /// True for files of the prelude.
    #[returns(copy)]
    pub is_prelude: bool,
    /// The metadata section of the file whose code this is, in which one line replaces the section.
    #[returns(ref)]
    pub section: Option<Arc<Metadata>>,
    /// The levels that the user gave to codes in this file.
    #[returns(ref)]
    pub levels: Levels,
    /// The last results of its definitions.
    #[default]
    #[returns(ref)]
    pub(crate) previous: Arc<Previous>,
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
    /// Returns where queries put their results, to be earlier ones after the next change.
    fn computed(&self) -> &Computed;
}

/// The database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    // Dropped before the storage: when salsa has waited for other handles, they have dropped theirs.
    computed: Arc<Computed>,
    prelude: Arc<[SourceFile]>,
    // Dropped last, because salsa waits for other handles.
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn computed(&self) -> &Computed {
        &self.computed
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
        let mut db = Database { computed: Arc::default(), prelude: Arc::default(), storage };
        let prelude = (0..prelude::COUNT).map(|number| {
            SourceFile::builder(Content::Prelude(number), true, None, Levels::default())
                .durability(Durability::HIGH)
                .new(&db)
        });
        let prelude: Vec<SourceFile> = prelude.collect();
        Settings::new(&db, false, prelude.clone());
        db.prelude = prelude.into();
        db
    }

    /// Adds a file.
    pub fn add_file(&self, text: impl Into<Text>, limits: ParseLimits) -> SourceFile {
        let content = Content::Text(Revision { text: text.into(), limits }, None);
        SourceFile::new(self, content, false, None, Levels::default())
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

    /// Returns what queries have computed, after those of other handles have ended.
    pub(crate) fn finish_queries(&mut self) -> Option<&mut Computed> {
        salsa::Database::trigger_cancellation(self);
        // No other handle is left.
        Arc::get_mut(&mut self.computed)
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
