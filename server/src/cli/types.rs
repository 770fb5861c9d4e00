//! `relay-analyzer types`

use std::io::Write;

use super::{Failure, Outcome, TypesArgs, named_files, panic_message, report_problem, write_json};
use crate::{
    analyzer::Analyzer,
    input,
    protocol::TypedFile,
    report::{self, stderr},
};

pub(super) fn run(args: &TypesArgs) -> Result<Outcome, Failure> {
    let (files, mut outcome) = named_files(&args.paths);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut analyzer = Analyzer::default();
    for path in files {
        let input = match input::read(&path, args.reading.max_code()) {
            Ok(input) => input,
            Err(message) => {
                stderr::error(&message);
                outcome = Outcome::Unusable;
                continue;
            }
        };
        outcome = outcome.max(report_problem(&input));
        let types = analyzer.guarded(|analyzer| {
            analyzer.check(&input.text);
            report::json_types(analyzer.types())
        });
        let types = match types {
            Ok(types) => types,
            Err(panicked) => {
                stderr::error(&panic_message(&input.path, &panicked));
                outcome = Outcome::Unusable;
                continue;
            }
        };
        write_json(&mut out, &TypedFile { path: &input.path, types })?;
    }
    out.flush()?;
    Ok(outcome)
}
