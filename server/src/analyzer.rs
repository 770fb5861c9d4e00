//! A database for one text after another, as commands use it.

use std::sync::Arc;

use semantics::{Database, Diagnostic, SourceFile, provoke::panic_if_asked};
use syntax::{Parse, ParseLimits};

use crate::panics;

/// Looks at texts one by one.
pub(crate) struct Analyzer {
    db: Database,
    file: SourceFile,
    limits: ParseLimits,
    strict: bool,
}

/// A text that has been looked at.
pub(crate) struct Looked {
    /// Its tree.
    pub(crate) parse: Arc<Parse>,
    /// What is wrong with it.
    pub(crate) diagnostics: Arc<Vec<Diagnostic>>,
}

impl Analyzer {
    /// `strict`: what TVM refuses is an error.
    pub(crate) fn new(strict: bool) -> Analyzer {
        let mut db = Database::new();
        db.set_strict(strict);
        let limits = ParseLimits::default();
        let file = db.add_file("", limits);
        Analyzer { db, file, limits, strict }
    }

    /// Does what is to be done with one text. If that panics, gives the diagnostic that says so, and
    /// begins anew: the next text is as the first.
    pub(crate) fn guarded<R>(
        &mut self,
        mut work: impl FnMut(&mut Analyzer) -> R,
    ) -> Result<R, Box<Diagnostic>> {
        panics::caught(|| work(self)).map_err(|panicked| {
            // Nothing here changes the database while it is asked.
            let at = panics::locate(&self.db, self.file).unwrap_or_default();
            *self = Analyzer::new(self.strict);
            Box::new(panicked.diagnostic(at))
        })
    }

    /// Parses and checks a text.
    pub(crate) fn check(&mut self, text: &str) -> Looked {
        panic_if_asked("parse", text);
        let parse = Arc::new(syntax::parse_with(text, self.limits));
        self.db.set_parse(self.file, parse.clone());
        Looked { parse, diagnostics: semantics::check_file(&self.db, self.file) }
    }

    /// Parses a text without checking it.
    pub(crate) fn parse(&mut self, text: &str) {
        panic_if_asked("parse", text);
        let parse = Arc::new(syntax::parse_with(text, self.limits));
        self.db.set_parse(self.file, parse);
    }

    /// What the functions of the text that was checked last compute; with a name, those of it.
    pub(crate) fn shapes(&self, name: Option<&str>) -> Vec<ide::shapes::FunctionShapes> {
        ide::shapes::shapes(&self.db, self.file, name)
    }

    /// The database, and the text that was checked last in it.
    pub(crate) fn database(&self) -> (&Database, SourceFile) {
        (&self.db, self.file)
    }

    /// The types in the text that was checked last.
    pub(crate) fn types(&self) -> Vec<semantics::TypeAt> {
        semantics::types_in(&self.db, self.file)
    }
}
