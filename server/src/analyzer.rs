//! A database that analyses one text after another, as commands need it.

use std::sync::Arc;

use semantics::{Database, Diagnostic, SourceFile, test_panic::panic_if_requested};
use syntax::{Parse, ParseLimits};

use crate::panics;

/// Analyses texts one by one.
pub(crate) struct Analyzer {
    db: Database,
    file: SourceFile,
    limits: ParseLimits,
    strict: bool,
}

/// The result of a check.
pub(crate) struct Analysis {
    /// The syntax tree.
    pub(crate) parse: Arc<Parse>,
    /// The diagnostics.
    pub(crate) diagnostics: Arc<Vec<Diagnostic>>,
}

impl Analyzer {
    /// Creates an analyzer. `strict` makes TVM incompatibilities errors.
    pub(crate) fn new(strict: bool) -> Analyzer {
        let mut db = Database::new();
        db.set_strict(strict);
        let limits = ParseLimits::default();
        let file = db.add_file("", limits);
        Analyzer { db, file, limits, strict }
    }

    /// Runs `work` on one text. If it panics, returns the panic as a diagnostic and resets the
    /// analyzer for the next text.
    ///
    /// # Errors
    /// The diagnostic of the panic.
    pub(crate) fn guarded<R>(
        &mut self,
        mut work: impl FnMut(&mut Analyzer) -> R,
    ) -> Result<R, Box<Diagnostic>> {
        panics::caught(|| work(self)).map_err(|panicked| {
            // Queries are never cancelled here: no other thread changes the database.
            let at = panics::locate(&self.db, self.file).unwrap_or_default();
            *self = Analyzer::new(self.strict);
            Box::new(panicked.diagnostic(at))
        })
    }

    /// Parses and checks a text.
    pub(crate) fn check(&mut self, text: &str) -> Analysis {
        let parse = self.parse(text);
        let _check = tracing::debug_span!("check").entered();
        Analysis { parse, diagnostics: semantics::check_file(&self.db, self.file) }
    }

    /// Parses a text without checking it.
    pub(crate) fn parse(&mut self, text: &str) -> Arc<Parse> {
        let _parse = tracing::debug_span!("parse", bytes = text.len()).entered();
        panic_if_requested("parse", text);
        let parse = Arc::new(syntax::parse_with(text, self.limits));
        self.db.set_parse(self.file, parse.clone());
        parse
    }

    /// Returns the shape report of the last text, for one function if `name` is given.
    pub(crate) fn shapes(&self, name: Option<&str>) -> Vec<ide::shapes::FunctionShapes> {
        ide::shapes::shapes(&self.db, self.file, name)
    }

    /// Returns the database and the file of the last text.
    pub(crate) fn database(&self) -> (&Database, SourceFile) {
        (&self.db, self.file)
    }

    /// Returns the semantic tokens of the last text.
    pub(crate) fn highlights(&self) -> ide::highlight::Highlights {
        ide::highlight::highlight(&self.db, self.file, None)
    }

    /// Returns the types in the last text.
    pub(crate) fn types(&self) -> Vec<semantics::TypeAt> {
        semantics::types_in(&self.db, self.file)
    }
}
