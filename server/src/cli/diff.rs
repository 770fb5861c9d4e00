//! `relay-analyzer diff`

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use diff::{Comparand, Options};
use ide::{
    layers::{FunctionLayers, Grouping, structure_by_layer},
    shapes::FunctionShapes,
};
use semantics::{Diagnostic, Setup};
use syntax::{LineIndex, TextSize};
use types::{Release, Releases};

use super::{CodeLimit, Failure, Outcome, write_json};
use crate::{
    allocator,
    analyzer::{self, Analyzer},
    input::{self, NamedModule, read_module},
    progress::Progress,
    protocol::{Cost, Totals},
    report::{
        diff::{self as report, Runs, ShownModule, cost},
        escape,
        shapes::MergedShapes,
        stderr,
    },
    run::{compare::Side, execute::Selection},
};

/// The arguments of `diff`.
#[derive(Args)]
pub(super) struct DiffArgs {
    /// The old module: a file, or a module of a log by index or pass, as in `run.log#7` or
    /// `run.log#FuseOps` (the last of that name)
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The new module, likewise
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Compare one function, which may have another name in the new module
    #[arg(long, value_name = "@NAME[=@NAME]")]
    function: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value = "human")]
    format: DiffFormat,
    /// Run the functions that differ on random inputs, and compare their results
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    reading: CodeLimit,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// A summary, and each kind of change once
    Human,
    /// One JSON document with every pair of expressions
    Json,
    /// An HTML page with both texts
    Html,
}

pub(super) fn run(args: &DiffArgs) -> Result<Outcome, Failure> {
    // The second analysis has the memory of the first.
    allocator::return_freed_pages();
    // Two texts are read and analysed, then compared.
    let progress = Progress::new(true, 5, "steps");
    let read = |path| {
        let read = read_module(path, args.reading.max_code());
        progress.advance(1);
        read
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let functions = args.function.as_deref().map(|names| {
        let (a, b) = names.split_once('=').unwrap_or((names, names));
        (global(a), global(b))
    });
    let names = functions.as_ref().map(|(a, b)| (a.as_str(), b.as_str()));
    let is_same = before.text == after.text;
    // One after the other: only one analysis is in memory.
    let prepare = |module, name| {
        let prepared = PreparedModule::new(module, name, !is_same, None);
        progress.advance(1);
        prepared
    };
    let prepared =
        (prepare(&before, names.map(|names| names.0)), prepare(&after, names.map(|names| names.1)));
    let errors = [&prepared.0, &prepared.1].map(|side| match side {
        Err(PreparationError::Syntax(error)) => Some(&**error),
        _ => None,
    });
    if errors.iter().any(Option::is_some) {
        drop(progress);
        refuse([(&args.before, &before), (&args.after, &after)], errors);
        return Ok(Outcome::Unusable);
    }
    let (a, b) = (prepared.0?, prepared.1?);
    let options = Options { functions: names.map(|(a, b)| (a.into(), b.into())) };
    let mut found = diff::compare_prepared(a.comparand, b.comparand, &options);
    if !found.equal
        && let Some(release) = common_release(a.releases, b.releases)
    {
        let again = |module, name| PreparedModule::new(module, name, false, Some(release));
        let a = again(&before, names.map(|names| names.0))?;
        let b = again(&after, names.map(|names| names.1))?;
        let other = diff::compare_prepared(a.comparand, b.comparand, &options);
        if other.equal {
            stderr::note(&format!("both are read as modules of TVM {release}, as one of them is"));
            found = other;
        }
    }
    progress.advance(1);
    let (lines_a, lines_b) = (LineIndex::new(&before.text), LineIndex::new(&after.text));
    let (shown_a, shown_b) =
        (shown(&before, &lines_a, &a.layers), shown(&after, &lines_b, &b.layers));
    let totals = match found.equal {
        true => Totals::default(),
        false => Totals { before: a.cost, after: b.cost },
    };
    drop(progress);
    let runs = match args.run && !found.equal {
        true => run_both(&before, &after, &found),
        false => Vec::new(),
    };
    // The report has no styles, and what a stream without them drops would be missing in the script of a page.
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    match args.format {
        DiffFormat::Json => {
            let mut document = report::json(&found, (&shown_a, &shown_b), &totals);
            document.runs = runs
                .iter()
                .map(|(name, runs)| report::JsonRun::of(name, runs, (&shown_a, &shown_b)))
                .collect();
            write_json(&mut out, &document)?;
        }
        DiffFormat::Human => {
            write!(out, "{}", report::human(&found, (&shown_a, &shown_b), &totals).text)?;
            for (name, runs) in &runs {
                write!(out, "{}", report::run_text(name, runs, (&shown_a, &shown_b)))?;
            }
        }
        DiffFormat::Html => {
            let mut analyzer = Analyzer::default();
            analyzer.parse(&before.text);
            let (db, file) = analyzer.database();
            let (shapes, layers) = structure_by_layer(db, file, Grouping::default());
            let end = TextSize::new(after.text.len() as u32);
            let merged = MergedShapes::new(&found, (&shapes, &layers), shapes_of(&after.text), end);
            write!(out, "{}", report::html(&found, (&shown_a, &shown_b), &totals, &merged))?;
        }
    }
    out.flush()?;
    drop(out);
    Ok(if found.equal { Outcome::Clean } else { Outcome::Errors })
}

/// Returns the shape reports of a module, with its layers.
pub(super) fn shapes_of(text: &str) -> (Vec<FunctionShapes>, Vec<FunctionLayers>) {
    let mut analyzer = Analyzer::default();
    analyzer.parse(text);
    analyzer.shapes(None, Grouping::default())
}

/// A module that was analysed, without its analysis.
pub(super) struct PreparedModule {
    pub(super) comparand: Comparand,
    /// The cost of running it, or the named function.
    cost: Option<Cost>,
    /// The layers of its functions, if its cost is computed.
    pub(super) layers: Vec<FunctionLayers>,
    /// The releases of TVM that may have printed it.
    releases: Releases,
}

/// Returns the release that both modules may be of, if each by itself is taken for one of another. A call
/// such as `nn.batch_matmul(%a, %b)` of TVM 0.7 does not say its release, which a saved module does.
fn common_release(a: Releases, b: Releases) -> Option<Release> {
    a.and(b).nearest().filter(|_| a.nearest() != b.nearest())
}

/// The reason that a module is not compared.
pub(super) enum PreparationError {
    /// It has syntax errors, of which this is the first.
    Syntax(Box<Diagnostic>),
    Other(String),
}

impl From<String> for PreparationError {
    fn from(message: String) -> PreparationError {
        PreparationError::Other(message)
    }
}

impl From<PreparationError> for Failure {
    fn from(reason: PreparationError) -> Failure {
        match reason {
            PreparationError::Syntax(error) => error.message.to_string().into(),
            PreparationError::Other(message) => message.into(),
        }
    }
}

impl PreparedModule {
    /// Analyses a module, of which a named function must exist. Its cost and its layers are computed if the modules may
    /// differ. A module that does not tell its release has the assumed one.
    pub(super) fn new(
        side: &NamedModule,
        name: Option<&str>,
        with_cost: bool,
        assumed: Option<Release>,
    ) -> Result<PreparedModule, PreparationError> {
        let setup = Setup { assumed, ..Setup::default() };
        let mut analyzer = Analyzer::new(&analyzer::Options { setup, ..Default::default() });
        analyzer.parse(&side.text);
        let (db, file) = analyzer.database();
        if let Some(error) = semantics::first_syntax_error(db, file) {
            return Err(PreparationError::Syntax(Box::new(error)));
        }
        if let Some(name) = name {
            Selection::Named(name)
                .find(db, file)
                .map_err(|message| format!("{}: {message}", escape::terminal(&side.name)))?;
        }
        let nothing = || "there is nothing to compare".to_owned();
        let module = semantics::module(db, file, 0).ok_or_else(nothing)?;
        let prepared = PreparedModule {
            cost: if with_cost { cost(db, file, name) } else { None },
            layers: match with_cost {
                true => ide::layers::layers(db, file, Grouping::default()).clone(),
                false => Vec::new(),
            },
            comparand: Comparand::new(db, module),
            releases: match semantics::possible_releases(db, module) {
                // Its text names the release if it is not that of 0.14.
                all if side.is_saved => all.nearest().map_or(all, Releases::only),
                all => all,
            },
        };
        drop(analyzer);
        allocator::collect();
        Ok(prepared)
    }
}

/// Runs both versions of each function that differs.
fn run_both(
    before: &NamedModule,
    after: &NamedModule,
    found: &diff::ModuleDiff,
) -> Vec<(String, Runs)> {
    let mut runs = Vec::new();
    let different: Vec<_> = found.functions.iter().filter(|function| !function.equal).collect();
    let progress = Progress::new(true, different.len(), "functions");
    for function in different {
        if let (Some(one), Some(other)) = (&function.before, &function.after) {
            let sides = (
                Side { text: &before.text, function: named(&one.name) },
                Side { text: &after.text, function: named(&other.name) },
            );
            runs.push((one.name.to_string(), Runs::of(sides, function)));
        }
        progress.advance(1);
    }
    runs
}

/// Returns the name of a function; `None` for a bare expression.
fn named(name: &str) -> Option<&str> {
    (!name.is_empty()).then_some(name)
}

/// Says why the modules are not compared: a part of a module that is not read would count as removed, and
/// two such modules as equal.
pub(super) fn refuse(sides: [(&PathBuf, &NamedModule); 2], errors: [Option<&Diagnostic>; 2]) {
    let [(path_a, before), (path_b, after)] = sides;
    let tell = |side: &NamedModule, role: &str, error: &Diagnostic| {
        let (line, column) = shown(side, &LineIndex::new(&side.text), &[]).position(error.range);
        stderr::error(&format!(
            "`{}`, {role}, has a syntax error in line {line}, column {column}: {}",
            escape::terminal(&side.name),
            error.message
        ));
    };
    let is_same = before.name == after.name && before.text == after.text;
    match errors {
        [Some(error), Some(_)] if is_same => tell(before, "the module of both sides", error),
        [a, b] => {
            a.iter().for_each(|error| tell(before, "the module before", error));
            b.iter().for_each(|error| tell(after, "the module after", error));
        }
    }
    let paths = [path_a, path_b].into_iter().zip(errors).filter(|(_, error)| error.is_some());
    let mut files: Vec<String> = paths.map(|(path, _)| input::shown(&file_of(path))).collect();
    files.dedup();
    stderr::note(&format!(
        "only modules without syntax errors are compared; `relay-analyzer check {}` shows all errors",
        files.join(" ")
    ));
}

/// Returns the file of a module, which may be in a log: `run.log` of `run.log#7`.
fn file_of(name: &Path) -> PathBuf {
    let log = name.to_str().and_then(|text| text.rsplit_once('#')).filter(|_| !name.exists());
    log.map_or_else(|| name.to_owned(), |(log, _)| PathBuf::from(log))
}

pub(super) fn shown<'t>(
    side: &'t NamedModule,
    lines: &'t LineIndex,
    layers: &'t [FunctionLayers],
) -> ShownModule<'t> {
    ShownModule {
        name: &side.name,
        text: &side.text,
        lines,
        offset: side.offset,
        first_line: side.first_line,
        layers,
    }
}

/// Normalises a name: `main` is `@main`.
pub(super) fn global(name: &str) -> String {
    format!("@{}", name.trim_start_matches('@'))
}
