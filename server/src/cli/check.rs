//! `relay-analyzer check`

mod printer;
mod watch;

use std::{path::PathBuf, sync::Arc};

use rayon::prelude::*;
use semantics::{Code, Level, Severity, apply_levels};
use syntax::TextRange;

use super::{
    Failure, Outcome,
    check_args::{CheckArgs, Format},
    fix::{FixedText, fix, unified},
    found_files,
    settings::FileSettings,
};
use crate::{
    analyzer::{Analysis, Analyzer, Options},
    embedded::{self, Language},
    files::replace_text,
    input::{self, Input},
    panics,
    progress::Progress,
    project::Project,
    report::{self, CheckReport, escape},
};
use printer::Printer;

/// The number of files that are checked before the first of them is reported: enough to keep all
/// cores busy, few enough for early output.
const CHUNK: usize = 64;

pub(super) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    // The parser does not demand an option that excludes another one that is given, as `--batch` does with paths.
    let batch_only = [args.types, args.tokens, args.rendered];
    let names = ["--types", "--tokens", "--rendered"];
    if let Some((_, name)) = batch_only.iter().zip(names).find(|(is_given, _)| **is_given) {
        let other = match args.types {
            true => "; `relay-analyzer types` prints the types in files",
            false => "",
        };
        return Err(format!("`{name}` requires `--batch`{other}").into());
    }
    if (args.fix || args.diff) && args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err("`--fix` cannot write to standard input".to_owned().into());
    }
    if args.watch {
        return watch::run(args);
    }
    let (files, problems) = found_files(args.paths());
    let jobs = jobs(files, args, &mut FileSettings::new(&args.settings))?;
    let progress = Progress::new(jobs.len() > 1, jobs.len(), "files");
    let mut printer = Printer::new(args, &problems);
    for chunk in jobs.chunks(CHUNK) {
        let results: Vec<Result<FileResult, String>> = match chunk {
            [job] => {
                let mut analyzer = Analyzer::default();
                let results = vec![job.run(&mut analyzer, args)];
                // Dropping the databases takes a tenth of the time; the end of the process frees
                // them at once.
                std::mem::forget(analyzer);
                results
            }
            _ => all(&chunk.iter().collect::<Vec<_>>(), args, &progress),
        };
        progress.suspend(|| results.iter().try_for_each(|result| printer.print(result)))?;
    }
    drop(progress);
    printer.finish()
}

/// Checks files in parallel.
fn all(jobs: &[&Job], args: &CheckArgs, progress: &Progress) -> Vec<Result<FileResult, String>> {
    let one = |analyzer: &mut Analyzer, job: &&Job| {
        let result = job.run(analyzer, args);
        progress.advance(1);
        result
    };
    jobs.par_iter().map_init(Analyzer::default, one).collect()
}

/// Returns the settings of an analysis: those of the project below the arguments.
pub(super) fn options(project: &Project, args: &CheckArgs) -> Options {
    let mut options = Options::from(project);
    options.setup.rules = args.tvm.unwrap_or(options.setup.rules);
    args.level.iter().for_each(|&(lint, level)| options.levels.set(lint, level));
    args.disable.iter().for_each(|&lint| options.levels.set(lint, Level::Allow));
    options
}

/// A file to check, and its settings.
struct Job {
    path: PathBuf,
    options: Arc<Options>,
    max_code: u64,
    /// The language that Relay is embedded in.
    language: Option<Language>,
}

/// Returns the jobs for files.
///
/// # Errors
/// A `relay.toml` has problems.
fn jobs(
    files: Vec<PathBuf>,
    args: &CheckArgs,
    settings: &mut FileSettings<'_>,
) -> Result<Vec<Job>, Failure> {
    let mut last: Option<(Arc<Project>, Arc<Options>)> = None;
    let mut job = |path: PathBuf| {
        let project = settings.of(&path)?;
        let known = last.take().filter(|(known, _)| Arc::ptr_eq(known, &project));
        let options = known.map_or_else(|| Arc::new(options(&project, args)), |known| known.1);
        let max_code = args.reading.max_code_in(&project);
        last = Some((project, options.clone()));
        let language = Language::of_path(&path);
        Ok(Job { path, options, max_code, language })
    };
    files.into_iter().map(&mut job).collect()
}

/// The result of a file.
struct FileResult {
    checked: CheckReport,
    report: Report,
    /// True if the analysis panicked, which is the only diagnostic.
    panicked: bool,
    /// The number of problems that were fixed.
    fixed: Option<usize>,
    /// The changes of the fixes, which are not written.
    diff: Option<String>,
}

enum Report {
    Text(String),
    Sarif(Vec<report::sarif::SarifResult>),
}

impl Job {
    /// Reads the file, applies fixes if requested, and checks it.
    fn run(&self, analyzer: &mut Analyzer, args: &CheckArgs) -> Result<FileResult, String> {
        analyzer.set_options(&self.options);
        let mut input = self.read()?;
        let (mut count, mut diff) = (None, None);
        if args.fix || args.diff {
            // A panic is reported when the file is checked.
            match panics::caught(|| fix(analyzer, &input, self.language)) {
                Ok(Some(FixedText { text, count: fixed })) if args.diff => {
                    diff = Some(unified(&input.path, &input.text, &text));
                    (input.text, count) = (text, Some(fixed));
                }
                Ok(Some(FixedText { text, count: fixed })) => {
                    replace_text(&self.path, input.stamp, &text).map_err(|error| {
                        format!("cannot write `{}`: {error}", escape::terminal(&input.path))
                    })?;
                    (input.text, count) = (text, Some(fixed));
                }
                Ok(None) => {}
                Err(_) => *analyzer = Analyzer::new(&self.options),
            }
        }
        let analysis = self.analysis(analyzer, args, &input.text, Analyzer::check);
        Ok(FileResult { fixed: count, diff, ..self.report(analysis, input, args) })
    }

    /// Reads the file.
    fn read(&self) -> Result<Input, String> {
        let mut input = input::read(&self.path, self.max_code)?;
        if let Some(language) = self.language.filter(|_| input.problem.is_none()) {
            input.problem = embedded::problem_of(&input.text, language);
        }
        Ok(input)
    }

    /// Checks a text, or the blocks of Relay in it, with diagnostics in places of the text.
    fn analysis(
        &self,
        analyzer: &mut Analyzer,
        args: &CheckArgs,
        text: &str,
        check: impl Fn(&mut Analyzer, &str) -> Analysis,
    ) -> Result<Analysis, Box<semantics::Diagnostic>> {
        let Some(language) = self.language else {
            return checked_with_fixes(analyzer, args, |analyzer| check(analyzer, text));
        };
        let mut diagnostics = Vec::new();
        let blocks = panics::caught(|| embedded::blocks(text, language))
            .map_err(|fault| Box::new(fault.diagnostic(TextRange::default())))?;
        for block in blocks {
            let found = checked_with_fixes(analyzer, args, |analyzer| check(analyzer, &block.text));
            let found = found.map_err(|panicked| Box::new(block.mapping.placed(*panicked)))?;
            diagnostics.extend(found.diagnostics.iter().map(|d| block.mapping.placed(d.clone())));
        }
        let parse = Arc::new(syntax::parse(""));
        Ok(Analysis { parse, diagnostics: Arc::new(diagnostics), releases: None })
    }

    /// Formats the report of a file. A panic affects this file only.
    fn report(
        &self,
        analysis: Result<Analysis, Box<semantics::Diagnostic>>,
        input: Input,
        args: &CheckArgs,
    ) -> FileResult {
        let mut panicked = analysis.is_err();
        let (parse, mut diagnostics, releases) = match analysis {
            Ok(analysis) => (analysis.parse, analysis.diagnostics.to_vec(), analysis.releases),
            Err(panicked) => (Arc::new(syntax::parse("")), vec![*panicked], None),
        };
        if let Some(problem) = input.problem {
            if problem.code == Code::InvalidUtf8 {
                // The replacement characters are not from the user.
                diagnostics.retain(|d| d.code != Code::UnknownCharacter);
                diagnostics.insert(0, problem);
            } else {
                diagnostics = vec![problem];
            }
            apply_levels(&self.options.levels, &mut diagnostics);
        }
        let mut checked =
            CheckReport::new(input.path, input.text, parse, diagnostics, least_severity(args));
        checked.releases = releases;
        let write = |checked: &CheckReport| match args.format {
            Format::Human => Report::Text(report::human(checked)),
            Format::Json => Report::Text(report::json_line(checked)),
            Format::Github => Report::Text(report::github(checked)),
            Format::Sarif => Report::Sarif(report::sarif::results(checked)),
        };
        let report = panics::caught(|| write(&checked)).unwrap_or_else(|fault| {
            panicked = true;
            checked.diagnostics = vec![fault.diagnostic(TextRange::default())];
            write(&checked)
        });
        FileResult { checked, report, panicked, fixed: None, diff: None }
    }

    /// Checks the next version of the file that `analyzer` has checked before.
    fn run_next(&self, analyzer: &mut Analyzer, args: &CheckArgs) -> Result<FileResult, String> {
        analyzer.set_options(&self.options);
        let input = self.read()?;
        let analysis = self.analysis(analyzer, args, &input.text, Analyzer::check_next);
        Ok(self.report(analysis, input, args))
    }
}

/// Runs a check. Where the output has fixes, those that do not help are left out.
fn checked_with_fixes(
    analyzer: &mut Analyzer,
    args: &CheckArgs,
    check: impl Fn(&mut Analyzer) -> Analysis,
) -> Result<Analysis, Box<semantics::Diagnostic>> {
    analyzer.guarded(|analyzer| {
        let mut analysis = check(analyzer);
        if matches!(args.format, Format::Json | Format::Sarif) {
            analyzer.retain_helpful_fixes(&mut analysis);
        }
        analysis
    })
}

/// Returns the lowest severity that is reported.
fn least_severity(args: &CheckArgs) -> Severity {
    args.severity.unwrap_or(match args.format {
        Format::Human | Format::Github => Severity::Info,
        Format::Json | Format::Sarif => Severity::Hint,
    })
}
