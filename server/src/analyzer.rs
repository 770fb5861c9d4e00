//! A database that analyses one text after another, as commands need it.

use std::sync::Arc;

use ide::{
    layers::{FunctionLayers, Grouping, shapes_by_layer},
    shapes::FunctionShapes,
};
use semantics::{Database, Diagnostic, Levels, Setup, Severity, SourceFile};
use syntax::{Parse, ParseLimits};
use types::Releases;

use crate::{panics, project::Project};

/// The settings of an analysis.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Options {
    /// The settings of the database.
    pub(crate) setup: Setup,
    /// The levels of codes.
    pub(crate) levels: Levels,
    /// The limits of the parser.
    pub(crate) limits: ParseLimits,
}

impl From<&Project> for Options {
    fn from(project: &Project) -> Options {
        let (setup, levels) = (project.setup(), project.levels.clone());
        let mut options = Options { setup, levels, ..Options::default() };
        options.limits.depth = project.nesting.unwrap_or(options.limits.depth);
        options
    }
}

/// Analyses texts one by one.
pub(crate) struct Analyzer {
    db: Database,
    file: SourceFile,
    options: Options,
}

/// The result of a check.
pub(crate) struct Analysis {
    /// The syntax tree.
    pub(crate) parse: Arc<Parse>,
    /// The diagnostics.
    pub(crate) diagnostics: Arc<Vec<Diagnostic>>,
    /// The releases of TVM that printed the file, if 0.14 is none of them.
    pub(crate) releases: Option<Releases>,
}

impl Default for Analyzer {
    fn default() -> Analyzer {
        let db = Database::new();
        let file = db.add_file("", ParseLimits::default());
        Analyzer { db, file, options: Options::default() }
    }
}

impl Analyzer {
    /// Creates an analyzer.
    pub(crate) fn new(options: &Options) -> Analyzer {
        let mut analyzer = Analyzer::default();
        analyzer.set_options(options);
        analyzer
    }

    /// Sets the settings of the next analyses.
    pub(crate) fn set_options(&mut self, options: &Options) {
        if self.options != *options {
            self.db.set_up(&options.setup);
            self.db.set_levels(self.file, &options.levels);
            self.options = options.clone();
        }
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
            *self = Analyzer::new(&self.options);
            Box::new(panicked.diagnostic(at))
        })
    }

    /// Parses and checks a text.
    pub(crate) fn check(&mut self, text: &str) -> Analysis {
        let parse = self.parse(text);
        let _check = tracing::debug_span!("check").entered();
        self.analysis(parse)
    }

    /// Like [`Analyzer::check`], for the next version of the last text: what did not change is not
    /// analysed again.
    pub(crate) fn check_next(&mut self, text: &str) -> Analysis {
        self.db.replace_text(self.file, text, self.options.limits);
        let parse = self.file.parse(&self.db);
        self.analysis(parse)
    }

    /// Removes the fixes that lead to no fewer errors from an analysis of the last text, for outputs that have
    /// fixes.
    pub(crate) fn retain_helpful_fixes(&self, analysis: &mut Analysis) {
        let has_fix = |d: &Diagnostic| d.severity == Severity::Error && !d.fixes.is_empty();
        if analysis.diagnostics.iter().any(has_fix) {
            let mut found = analysis.diagnostics.to_vec();
            semantics::retain_helpful_fixes(&self.db, self.file, &mut found);
            analysis.diagnostics = Arc::new(found);
        }
    }

    fn analysis(&self, parse: Arc<Parse>) -> Analysis {
        Analysis {
            parse,
            diagnostics: semantics::check_file(&self.db, self.file),
            releases: semantics::other_releases(&self.db, self.file),
        }
    }

    /// Parses a text without checking it.
    pub(crate) fn parse(&mut self, text: &str) -> Arc<Parse> {
        self.db.set_text(self.file, text, self.options.limits);
        self.file.parse(&self.db)
    }

    /// Returns the shape report of the last text with totals by layer, for one function if `name` is given.
    pub(crate) fn shapes(
        &self,
        name: Option<&str>,
        grouping: Grouping,
    ) -> (Vec<FunctionShapes>, Vec<FunctionLayers>) {
        shapes_by_layer(&self.db, self.file, name, grouping)
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

#[cfg(test)]
mod tests {
    use semantics::{Code, Level, Rules, Severity};

    use super::*;

    const TEXT: &str = "def @f(%x: int32) { %x }\ndef @g(%x: int32) { let %a = 1; @f(%x) }\n";

    #[test]
    fn next_version_of_a_text_is_analysed_incrementally() {
        let (db, log) = Database::with_query_log();
        let file = db.add_file("", ParseLimits::default());
        let mut analyzer = Analyzer { db, file, options: Options::default() };
        let bodies = || log.take().into_iter().filter(|query| query.starts_with("body(")).count();
        analyzer.check_next(TEXT);
        assert_eq!(bodies(), 2);
        analyzer.check_next(&TEXT.replace("let %a = 1", "let %a = 2"));
        assert_eq!(bodies(), 1);
        analyzer.check_next(&TEXT.replace("let %a = 1", "let %a = 2"));
        assert_eq!(bodies(), 0);
    }

    #[test]
    fn options_of_a_project_hold_until_others_are_set() {
        let mut project =
            Project { tvm: Some(Rules::of(true)), prelude: Some(false), ..Project::default() };
        let lint = semantics::Lint::new(Code::UnusedBinding).expect("it has a level");
        project.levels.set(lint, Level::Report(Severity::Info));
        let mut analyzer = Analyzer::new(&Options::from(&project));
        let severity = |analyzer: &mut Analyzer, code: Code| {
            let found = analyzer.check(TEXT).diagnostics;
            found.iter().find(|d| d.code == code).map(|d| d.severity)
        };
        assert_eq!(severity(&mut analyzer, Code::UnusedBinding), Some(Severity::Info));
        assert_eq!(severity(&mut analyzer, Code::TvmVersion), Some(Severity::Error));
        analyzer.set_options(&Options::default());
        assert_eq!(severity(&mut analyzer, Code::UnusedBinding), Some(Severity::Warning));
        assert_eq!(severity(&mut analyzer, Code::TvmVersion), Some(Severity::Hint));
    }
}
