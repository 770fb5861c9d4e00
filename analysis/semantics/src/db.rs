//! The database: inputs and settings.

#![expect(missing_docs, reason = "what salsa generates carries no documentation")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use salsa::{Durability, Setter};
use syntax::{ParseLimits, Text};
use types::Release;

use crate::{
    content::{Content, Revision},
    declared::DeclaredOperators,
    diagnostic::Levels,
    metadata::Metadata,
    prelude,
    previous::{ComputedResults, PreviousResults},
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
    #[returns(ref)]
    pub(crate) previous: Arc<PreviousResults>,
}

/// The rules by which modules are analysed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Rules {
    /// Those of this project: text of all releases is read, and types are inferred.
    #[default]
    General,
    /// Exactly those of a release of TVM.
    Tvm(Release),
}

impl Rules {
    /// Parses `true`, which is 0.14, `false`, or a release such as `0.8`.
    pub fn parse(text: &str) -> Option<Rules> {
        match text {
            "true" => Some(Rules::of(true)),
            "false" => Some(Rules::of(false)),
            text => Release::parse(text).map(Rules::Tvm),
        }
    }

    /// Returns the rules of TVM 0.14, or the general ones.
    pub fn of(tvm: bool) -> Rules {
        if tvm { Rules::Tvm(Release::DEFAULT) } else { Rules::General }
    }
}

/// The settings of the database that do not depend on the file.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// The rules.
    pub rules: Rules,
    /// The release of the modules that may be of it, instead of the one nearest to 0.14.
    pub assumed: Option<Release>,
    /// True if modules see the prelude.
    pub prelude: bool,
    /// The operators of the project.
    pub operators: DeclaredOperators,
}

impl Default for Setup {
    fn default() -> Setup {
        let operators = DeclaredOperators::default();
        Setup { rules: Rules::General, assumed: None, prelude: true, operators }
    }
}

impl Setup {
    /// Returns the settings of a database.
    pub fn of(db: &dyn Db) -> Setup {
        let settings = Settings::get(db);
        Setup {
            rules: settings.rules(db),
            assumed: settings.assumed(db),
            prelude: !settings.prelude_files(db).is_empty(),
            operators: settings.operators(db).clone(),
        }
    }

    /// Returns the settings for runs: the general rules, which reject less, with the meanings of the release.
    pub fn of_runs(mut self) -> Setup {
        if let Rules::Tvm(release) = std::mem::take(&mut self.rules) {
            self.assumed = Some(release);
        }
        self
    }
}

/// Settings of the user.
#[salsa::input(singleton)]
pub struct Settings {
    /// The rules by which modules are analysed.
    #[returns(copy)]
    pub rules: Rules,
    /// The release that printed modules which do not tell, if another file says it.
    #[returns(copy)]
    pub(crate) assumed: Option<Release>,
    /// The files of the prelude in the order of [`crate::prelude`]; empty if modules do not see it.
    #[returns(ref)]
    pub(crate) prelude_files: Vec<SourceFile>,
    /// The operators of the project.
    #[returns(ref)]
    pub operators: DeclaredOperators,
}

/// The database as queries see it.
#[salsa::db]
pub trait Db: salsa::Database {
    /// Returns where queries put their results, to be earlier ones after the next change.
    fn computed(&self) -> &ComputedResults;
}

/// The database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    // Dropped before the storage: when salsa has waited for other handles, they have dropped theirs.
    computed: Arc<ComputedResults>,
    prelude: Arc<[SourceFile]>,
    // Dropped last, because salsa waits for other handles.
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn computed(&self) -> &ComputedResults {
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
            let (levels, previous) = (Levels::default(), PreviousResults::none());
            SourceFile::builder(Content::Prelude(number), true, None, levels, previous)
                .durability(Durability::HIGH)
                .new(&db)
        });
        let prelude: Vec<SourceFile> = prelude.collect();
        let operators = DeclaredOperators::default();
        Settings::new(&db, Rules::General, None, prelude.clone(), operators);
        db.prelude = prelude.into();
        db
    }

    /// Adds a file.
    pub fn add_file(&self, text: impl Into<Text>, limits: ParseLimits) -> SourceFile {
        let content = Content::Text(Revision { text: text.into(), limits }, None);
        SourceFile::new(self, content, false, None, Levels::default(), PreviousResults::none())
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

    /// Applies settings. Equal ones invalidate nothing.
    pub fn set_up(&mut self, setup: &Setup) {
        self.set_rules(setup.rules);
        self.set_prelude(setup.prelude);
        let settings = Settings::get(self);
        if settings.assumed(self) != setup.assumed {
            settings.set_assumed(self).to(setup.assumed);
        }
        if *settings.operators(self) != setup.operators {
            settings.set_operators(self).to(setup.operators.clone());
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
    pub(crate) fn finish_queries(&mut self) -> Option<&mut ComputedResults> {
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

    /// Sets whether modules are analysed exactly as by TVM 0.14.
    pub fn set_tvm(&mut self, tvm: bool) {
        self.set_rules(Rules::of(tvm));
    }

    /// Sets the rules by which modules are analysed.
    pub fn set_rules(&mut self, rules: Rules) {
        let settings = Settings::get(self);
        if settings.rules(self) != rules {
            settings.set_rules(self).to(rules);
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
        use_log(&mut self.ran.lock())
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
