//! `relay-analyzer types`

use std::io::Write;

use serde_json::json;

use super::{Failure, Outcome, TypesArgs, complain};
use crate::{
    analyzer::Analyzer,
    input,
    report::{self, escape},
};

pub(super) fn run(args: &TypesArgs) -> Result<Outcome, Failure> {
    let files = input::files(&args.paths)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut analyzer = Analyzer::new(false);
    let mut outcome = Outcome::Clean;
    for path in files {
        let input = match input::read(&path, args.reading.max_code()) {
            Ok(input) => input,
            Err(message) => {
                complain(&message);
                outcome = Outcome::Unusable;
                continue;
            }
        };
        if let Some(problem) = &input.problem {
            complain(&format!("{}: {}", escape::terminal(&input.path), problem.message));
            outcome = Outcome::Unusable;
        }
        analyzer.check(&input.text);
        let line = json!({ "path": input.path, "types": report::json_types(analyzer.types()) });
        serde_json::to_writer(&mut out, &line).map_err(std::io::Error::from)?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(outcome)
}
