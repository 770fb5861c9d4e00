//! `relay-analyzer diff`

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use diff::Options;
use semantics::{Database, Def, DefKind, SourceFile};
use serde_json::{Value, json};
use syntax::LineIndex;

use super::{Failure, Outcome, Reading};
use crate::{
    analyzer::Analyzer,
    input::{NamedModule, read_module},
    progress::Progress,
    report::{
        diff::{self as report, Cost, Shown, Totals, cost, cost_json},
        escape, stderr,
    },
    run::{
        agree::{Runs, agree},
        arguments::no_function,
    },
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
    reading: Reading,
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
    // Two texts are read and parsed, then compared, and their costs summed up.
    let progress = Progress::new(true, 6, "steps");
    let read = |path| {
        let read = read_module(path, args.reading.max_code());
        progress.advance(1);
        read
    };
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let mut analyzers = (Analyzer::default(), Analyzer::default());
    let (one, other) = (&mut analyzers.0, &mut analyzers.1);
    let broken = rayon::join(|| load(one, &before), || load(other, &after));
    progress.advance(2);
    let ((db_a, file_a), (db_b, file_b)) = (analyzers.0.database(), analyzers.1.database());
    let functions = args.function.as_deref().map(|names| {
        let (a, b) = names.split_once('=').unwrap_or((names, names));
        (global(a), global(b))
    });
    if let Some((name_a, name_b)) = &functions {
        check_function(db_a, file_a, name_a, &before)?;
        check_function(db_b, file_b, name_b, &after)?;
    }
    let options = Options {
        functions: functions.clone().map(|(a, b)| (a.as_str().into(), b.as_str().into())),
    };
    let (Some(a), Some(b)) =
        (semantics::module(db_a, file_a, 0), semantics::module(db_b, file_b, 0))
    else {
        return Err("there is nothing to compare".to_owned().into());
    };
    let found = diff::compare((db_a, a), (db_b, b), &options);
    progress.advance(1);
    let (lines_a, lines_b) = (LineIndex::new(&before.text), LineIndex::new(&after.text));
    let (shown_a, shown_b) = (shown(&before, &lines_a), shown(&after, &lines_b));
    let totals = match found.equal {
        true => Totals::default(),
        false => {
            let name = |side: usize| {
                functions.as_ref().map(|names| if side == 0 { &names.0 } else { &names.1 })
            };
            Totals {
                before: cost(db_a, file_a, name(0).map(String::as_str)),
                after: cost(db_b, file_b, name(1).map(String::as_str)),
            }
        }
    };
    drop(progress);
    let runs = match args.run {
        true => run_both((db_a, file_a), (db_b, file_b), &found),
        false => Vec::new(),
    };
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        DiffFormat::Json => {
            let mut document = report::json(&found, (&shown_a, &shown_b), totals_json(&totals));
            document.runs = runs
                .iter()
                .map(|(name, runs)| report::run_json(name, runs, (&shown_a, &shown_b)))
                .collect();
            serde_json::to_writer(&mut out, &document).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        DiffFormat::Human => {
            write!(out, "{}", report::human(&found, (&shown_a, &shown_b), &totals))?;
            for (name, runs) in &runs {
                write!(out, "{}", report::run_text(name, runs, (&shown_a, &shown_b)))?;
            }
        }
        DiffFormat::Html => {
            write!(out, "{}", report::html(&found, (&shown_a, &shown_b), &totals))?;
        }
    }
    out.flush()?;
    drop(out);
    for (is_broken, side) in [(broken.0, &before), (broken.1, &after)] {
        if is_broken {
            stderr::warning(&format!(
                "`{}` has syntax errors, so only its valid parts were compared; `relay-analyzer check` shows the errors",
                escape::terminal(&side.name)
            ));
        }
    }
    // Dropping the databases is slow; the end of the process frees them at once.
    std::mem::forget(analyzers);
    let is_equal = found.equal && !broken.0 && !broken.1;
    Ok(if is_equal { Outcome::Clean } else { Outcome::Errors })
}

/// Runs both versions of each function that differs.
fn run_both(
    (db_a, file_a): (&Database, SourceFile),
    (db_b, file_b): (&Database, SourceFile),
    found: &diff::ModuleDiff,
) -> Vec<(String, Runs)> {
    let mut runs = Vec::new();
    let different: Vec<_> = found.functions.iter().filter(|function| !function.equal).collect();
    let progress = Progress::new(true, different.len(), "functions");
    for function in different {
        let (Some(before), Some(after)) = (&function.before, &function.after) else { continue };
        let def_a = semantics::all_defs(db_a, file_a).find(|d| d.range(db_a) == before.range);
        let def_b = semantics::all_defs(db_b, file_b).find(|d| d.range(db_b) == after.range);
        if let (Some(def_a), Some(def_b)) = (def_a, def_b) {
            let found = agree((db_a, def_a), (db_b, def_b), &function.pairs, 0);
            runs.push((before.name.to_string(), found));
        }
        progress.advance(1);
    }
    runs
}

/// Parses a module. Returns true if it has syntax errors.
fn load(analyzer: &mut Analyzer, side: &NamedModule) -> bool {
    analyzer.parse(&side.text);
    let (db, file) = analyzer.database();
    file.parse(db).errors.iter().any(|error| !error.kind.is_compat())
}

fn shown<'t>(side: &'t NamedModule, lines: &'t LineIndex) -> Shown<'t> {
    Shown {
        name: &side.name,
        text: &side.text,
        lines,
        offset: side.offset,
        first_line: side.first_line,
    }
}

/// Normalises a name: `main` is `@main`.
fn global(name: &str) -> String {
    format!("@{}", name.trim_start_matches('@'))
}

fn check_function(
    db: &Database,
    file: SourceFile,
    name: &str,
    side: &NamedModule,
) -> Result<(), String> {
    let is_function = |def: &Def<'_>| def.kind(db) == DefKind::Fn;
    let names: Vec<&str> = semantics::all_defs(db, file)
        .filter(is_function)
        .map(|def| def.name(db).as_str())
        .collect();
    match names.contains(&name) {
        true => Ok(()),
        false => Err(format!("{}: {}", escape::terminal(&side.name), no_function(name, &names))),
    }
}

fn totals_json(totals: &Totals) -> Value {
    let side = |cost: &Option<Cost>| cost.as_ref().map(cost_json);
    json!({ "before": side(&totals.before), "after": side(&totals.after) })
}
