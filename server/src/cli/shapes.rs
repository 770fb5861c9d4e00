//! `relay-analyzer shapes`

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use ide::layers::Grouping;
use saved::Plan;
use semantics::Severity;
use syntax::{Encoding, LineIndex, TextRange};

use super::{
    CodeLimit, Failure, Outcome, diff::global, named_files, panic_message, report_problem,
    reported, write_json,
};
use crate::{
    analyzer::Analyzer,
    input::{self, Input},
    protocol::{self, Function, LineRange, ShapesDocument},
    report::{escape, shapes, stderr},
};

#[derive(Args)]
pub(super) struct ShapesArgs {
    /// Files, folders, or `-` for standard input; `csv`, `html` and `dot` take one file
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The function to report, such as `@main`; all functions with calls if omitted
    #[arg(long, value_name = "@NAME")]
    function: Option<String>,
    /// The rows of a table and of CSV
    #[arg(long, value_enum, default_value = "call")]
    by: ShapeRows,
    /// The output format
    #[arg(long, value_enum, default_value = "table")]
    format: ShapesFormat,
    #[command(flatten)]
    reading: CodeLimit,
}

/// The rows of a shape report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapeRows {
    /// Each call
    Call,
    /// Each layer, with the totals of its calls
    Layer,
    /// Each result: in a table, those that are live at the peak
    Memory,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapesFormat {
    /// Columns for a terminal
    Table,
    /// One JSON document
    Json,
    /// One line per call, for spreadsheets
    Csv,
    /// An HTML page
    Html,
    /// A graph for Graphviz
    Dot,
}

pub(super) fn run(args: &ShapesArgs) -> Result<Outcome, Failure> {
    let (files, mut outcome) = named_files(&args.paths);
    let is_single =
        matches!(args.format, ShapesFormat::Csv | ShapesFormat::Html | ShapesFormat::Dot);
    if is_single && files.len() > 1 {
        return Err(format!("this format takes one file, found {}", files.len()).into());
    }
    let has_rows = matches!(args.format, ShapesFormat::Table | ShapesFormat::Csv);
    if args.by != ShapeRows::Call && !has_rows {
        return Err("`--by` is for tables and CSV; JSON and HTML have all of it".to_owned().into());
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut analyzer = Analyzer::default();
    for (number, path) in files.iter().enumerate() {
        if files.len() > 1 && args.format == ShapesFormat::Table {
            let gap = if number > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{}", input::shown(path))?;
        }
        let found = report(&mut analyzer, path, args, &mut out);
        if matches!(found, Err(Failure::Message(_))) {
            out.flush()?;
        }
        outcome = outcome.max(reported(found)?);
    }
    out.flush()?;
    Ok(outcome)
}

/// Reports a file.
fn report(
    analyzer: &mut Analyzer,
    path: &Path,
    args: &ShapesArgs,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let input = input::read(path, args.reading.max_code())?;
    let saved = input.saved.as_ref();
    let plan = saved.and_then(|saved| saved.plan.as_ref());
    if let Some(plan) = plan.filter(|_| saved.is_some_and(|saved| saved.is_plan_only)) {
        match args.format {
            ShapesFormat::Table => out.write_all(plan_text(plan).as_bytes())?,
            ShapesFormat::Json => {
                let functions = Vec::new();
                let document =
                    ShapesDocument { path: &input.path, functions, plan: Some(json_plan(plan)) };
                write_json(out, &document)?;
            }
            _ => {
                let path = escape::terminal(&input.path);
                let message =
                    format!("{path}: the plan of a compiled module is shown as a table or as JSON");
                return Err(message.into());
            }
        }
        return Ok(Outcome::Clean);
    }
    let name = args.function.as_deref().map(global);
    let (outcome, (functions, layers)) =
        checked(analyzer, &input, "shapes may be assumed or missing", |analyzer| {
            analyzer.shapes(name.as_deref(), Grouping::default())
        })?;
    if let Some(name) = name.filter(|_| functions.is_empty()) {
        let path = escape::terminal(&input.path);
        return Err(format!("{path}: there is no function `{name}`").into());
    }
    let lines = LineIndex::new(&input.text);
    let place = |range: TextRange| {
        let at = |offset| {
            let at = lines.line_column(offset, Encoding::Utf32);
            protocol::LineColumn { line: at.line + 1, column: at.column + 1 }
        };
        LineRange { start: at(range.start()), end: at(range.end()) }
    };
    match args.format {
        ShapesFormat::Table => {
            let table = match args.by {
                ShapeRows::Call => shapes::table(&functions, &lines, terminal_width()),
                ShapeRows::Layer => shapes::layer_table(&functions, &lines, terminal_width()),
                ShapeRows::Memory => shapes::memory_table(&functions, &lines, terminal_width()),
            };
            write!(out, "{table}")?;
            if let Some(plan) = plan {
                write!(out, "\n{}", plan_text(plan))?;
            }
        }
        ShapesFormat::Csv => {
            let rows = match args.by {
                ShapeRows::Call => shapes::csv(&functions, &lines),
                ShapeRows::Layer => shapes::layer_csv(&functions, &lines),
                ShapeRows::Memory => shapes::memory_csv(&functions, &lines),
            };
            write!(out, "{rows}")?;
        }
        ShapesFormat::Dot => write!(out, "{}", shapes::dot(&functions))?,
        ShapesFormat::Html => {
            let title = if input.path == "-" { "Shapes" } else { &input.path };
            write!(out, "{}", shapes::html(title, &functions, &layers, &lines))?;
        }
        ShapesFormat::Json => {
            let functions = Function::list(&functions, &layers, &[], &place);
            let plan = plan.map(json_plan);
            let document = ShapesDocument { path: &input.path, functions, plan };
            write_json(out, &document)?;
        }
    }
    Ok(outcome)
}

/// Checks a file, and returns a report of it. Its problems and errors are told, with what they do to the report.
pub(super) fn checked<R>(
    analyzer: &mut Analyzer,
    input: &Input,
    consequence: &str,
    report: impl Fn(&Analyzer) -> R,
) -> Result<(Outcome, R), Failure> {
    let outcome = report_problem(input);
    let found = analyzer.guarded(|analyzer| {
        let analysis = analyzer.check(&input.text);
        let has_errors = analysis.diagnostics.iter().any(|d| d.severity == Severity::Error);
        (has_errors, report(analyzer))
    });
    let (has_errors, report) = found.map_err(|panicked| panic_message(&input.path, &panicked))?;
    if !has_errors {
        return Ok((outcome, report));
    }
    stderr::error(&format!(
        "{}: the file has errors, so {consequence}: `relay-analyzer check` reports them",
        escape::terminal(&input.path)
    ));
    Ok((outcome.max(Outcome::Errors), report))
}

/// Returns the number of columns if standard output is a terminal.
fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(width.0))
}

/// The plan of a compiled module for people.
fn plan_text(plan: &Plan) -> String {
    let (bytes, counted) = (ide::words::bytes, ide::words::counted);
    format!(
        "graph executor: {} in {}: {} of inputs and parameters, {} of activations ({} without sharing)\n",
        counted(plan.tensors as u64, "tensor"),
        counted(plan.storages as u64, "storage"),
        bytes(plan.argument_bytes),
        bytes(plan.activation_bytes),
        bytes(plan.unshared_bytes),
    )
}

fn json_plan(plan: &Plan) -> protocol::Plan {
    let Plan { tensors, storages, argument_bytes, activation_bytes, unshared_bytes } = *plan;
    protocol::Plan { tensors, storages, argument_bytes, activation_bytes, unshared_bytes }
}
