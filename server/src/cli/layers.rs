//! `relay-analyzer layers`

use std::{io::Write, path::PathBuf};

use clap::{Args, ValueEnum};
use ide::layers::Grouping;
use syntax::LineIndex;

use super::{
    Choices, CodeLimit, Failure, Outcome, diff::global, one_of, shapes::checked, write_json,
};
use crate::{
    analyzer::Analyzer,
    input,
    report::{escape, layers},
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
    #[arg(long, value_parser = one_of(EVIDENCE), default_value = "names")]
    layers: Grouping,
    /// The output format
    #[arg(long, value_enum, default_value = "tree")]
    format: LayersFormat,
    #[command(flatten)]
    reading: CodeLimit,
}

const EVIDENCE: Choices<Grouping> = &[
    ("flat", "None: only functions", Grouping::Flat),
    ("found", "What is computed, and what repeats itself", Grouping::Found),
    ("names", "Names of weights and places in the framework's program as well", Grouping::Names),
];

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LayersFormat {
    /// A tree with numbers of calls, shapes of results, and lines
    Tree,
    /// One JSON document
    Json,
}

pub(super) fn run(args: &LayersArgs) -> Result<Outcome, Failure> {
    let input = input::read(&args.path, args.reading.max_code())?;
    let name = args.function.as_deref().map(global);
    let mut analyzer = Analyzer::default();
    let (outcome, functions) =
        checked(&mut analyzer, &input, "layers may be missing", |analyzer| {
            let (db, file) = analyzer.database();
            let mut functions = ide::layers::layers(db, file, args.layers).clone();
            functions.retain(|function| name.as_ref().is_none_or(|name| function.name == *name));
            functions
        })?;
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
