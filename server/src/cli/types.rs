//! `relay-analyzer types`

use std::{io::Write, path::Path};

use super::{
    Failure, Outcome, TypesArgs, named_files, panic_message, report_problem, reported, write_json,
};
use crate::{analyzer::Analyzer, input, protocol::TypedFile, report};

pub(super) fn run(args: &TypesArgs) -> Result<Outcome, Failure> {
    let (files, mut outcome) = named_files(&args.paths);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut analyzer = Analyzer::default();
    for path in files {
        outcome = outcome.max(reported(write_types(&mut analyzer, &path, args, &mut out))?);
    }
    out.flush()?;
    Ok(outcome)
}

/// Writes the types of a file.
fn write_types(
    analyzer: &mut Analyzer,
    path: &Path,
    args: &TypesArgs,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let input = input::read(path, args.reading.max_code())?;
    let outcome = report_problem(&input);
    let types = analyzer.guarded(|analyzer| {
        analyzer.check(&input.text);
        report::json_types(analyzer.types())
    });
    let types = types.map_err(|panicked| panic_message(&input.path, &panicked))?;
    write_json(out, &TypedFile { path: &input.path, types })?;
    Ok(outcome)
}
