//! `relay-analyzer layers`

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use ide::layers::{FunctionLayers, Grouping};
use semantics::Severity;
use syntax::LineIndex;

use super::{CodeLimit, Failure, Outcome, panic_message, report_problem, write_json};
use crate::{
    analyzer::Analyzer,
    input,
    report::{escape, layers, stderr},
};

/// The arguments of `layers`.
#[derive(Args)]
pub(super) struct LayersArgs {
    /// The file, or `-` for standard input
    path: PathBuf,
    /// The function to report, such as `@main`; all functions with calls if omitted
    #[arg(long, value_name = "@NAME")]
    function: Option<String>,
    /// The evidence for layers
    #[arg(long, value_enum, default_value = "names")]
    layers: Evidence,
    /// The output format
    #[arg(long, value_enum, default_value = "tree")]
    format: LayersFormat,
    #[command(flatten)]
    reading: CodeLimit,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Evidence {
    /// None: only functions
    Flat,
    /// What is computed, and what repeats itself
    Found,
    /// Names of weights and places in the framework's program as well
    Names,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayersFormat {
    /// A tree with numbers of calls, shapes of results, and lines
    Tree,
    /// One JSON document
    Json,
}

pub(super) fn run(args: &LayersArgs) -> Result<Outcome, Failure> {
    let input = input::read(&args.path, args.reading.max_code())?;
    let mut outcome = report_problem(&input);
    let grouping = match args.layers {
        Evidence::Flat => Grouping::Flat,
        Evidence::Found => Grouping::Found,
        Evidence::Names => Grouping::Names,
    };
    // `main` is `@main`.
    let name = args.function.as_ref().map(|name| format!("@{}", name.trim_start_matches('@')));
    let mut analyzer = Analyzer::default();
    let report = analyzer.guarded(|analyzer| {
        let analysis = analyzer.check(&input.text);
        let has_errors = analysis.diagnostics.iter().any(|d| d.severity == Severity::Error);
        let (db, file) = analyzer.database();
        let functions = ide::layers::layers(db, file, grouping).iter();
        let is_selected =
            |function: &&FunctionLayers| name.as_deref().is_none_or(|name| function.name == name);
        (has_errors, functions.filter(is_selected).cloned().collect::<Vec<_>>())
    });
    let (has_errors, functions) =
        report.map_err(|panicked| panic_message(&input.path, &panicked))?;
    if has_errors {
        stderr::error(&format!(
            "{}: the file has errors, so layers may be missing: `relay-analyzer check` reports them",
            escape::terminal(&input.path)
        ));
        outcome = outcome.max(Outcome::Errors);
    }
    if let Some(name) = name.filter(|_| functions.is_empty()) {
        let path = escape::terminal(&input.path);
        return Err(format!("{path}: there is no function `{name}` with calls").into());
    }
    let mut out = std::io::BufWriter::new(anstream::stdout().lock());
    match args.format {
        LayersFormat::Tree => {
            let lines = LineIndex::new(&input.text);
            write!(out, "{}", layers::tree(&functions, &lines))?;
        }
        LayersFormat::Json => write_json(&mut out, &layers::document(&input.path, &functions))?,
    }
    out.flush()?;
    Ok(outcome)
}
