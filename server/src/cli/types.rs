//! `relay-analyzer types`

use std::io::Write;

use super::{Failure, Outcome, TypesArgs, named_files, panic_message};
use crate::{
    analyzer::Analyzer,
    input,
    protocol::TypedFile,
    report::{self, escape, stderr},
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
        if let Some(problem) = &input.problem {
            stderr::error(&format!("{}: {}", escape::terminal(&input.path), problem.message));
            outcome = Outcome::Unusable;
        }
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
        let line = TypedFile { path: &input.path, types };
        serde_json::to_writer(&mut out, &line).map_err(std::io::Error::from)?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(outcome)
}
