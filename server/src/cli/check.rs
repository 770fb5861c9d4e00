//! `relay-analyzer check`

use std::io::Write;

use rayon::prelude::*;
use semantics::Severity;

use super::{CheckArgs, Failure, Format, Outcome, complain};
use crate::{
    analyzer::Analyzer,
    input,
    report::{self, Checked, Summary},
};

/// How many files are looked at before the first of them is reported: enough to keep every core
/// busy, few enough to show something soon.
const CHUNK: usize = 64;

pub(super) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    let files = input::files(&args.paths)?;
    let least = args.severity.map(Severity::from).unwrap_or(match args.format {
        Format::Human | Format::Github => Severity::Info,
        Format::Json | Format::Sarif => Severity::Hint,
    });
    let mut out = std::io::BufWriter::new(anstream::stdout());
    let mut summary = Summary::default();
    let mut outcome = Outcome::Clean;
    let mut sarif = Vec::new();
    let check = |analyzer: &mut Analyzer, path: &std::path::PathBuf| -> Result<Checked, String> {
        let input = input::read(path, args.reading.max_code())?;
        let looked = analyzer.check(&input.text);
        let mut diagnostics = looked.diagnostics.to_vec();
        if let Some(problem) = input.problem {
            if problem.code == "invalid-utf8" {
                // What replaced the bytes is not the user's.
                diagnostics.retain(|d| d.code != "unknown-character");
                diagnostics.insert(0, problem);
            } else {
                diagnostics = vec![problem];
            }
        }
        Ok(Checked::new(input.path, input.text, looked.parse, diagnostics, least))
    };
    let answer = |analyzer: &mut Analyzer, path| {
        let checked = check(analyzer, path)?;
        let text = match args.format {
            Format::Human => report::human(&checked),
            Format::Json => report::json_line(&checked),
            Format::Github => report::github(&checked),
            Format::Sarif => String::new(),
        };
        Ok((checked, text))
    };
    for chunk in files.chunks(CHUNK) {
        let checked: Vec<Result<(Checked, String), String>> = match chunk {
            [path] => {
                let mut analyzer = Analyzer::new(args.tvm);
                let checked = vec![answer(&mut analyzer, path)];
                // The end of the process frees at once what would be taken apart piece by piece,
                // for a tenth of the whole time.
                std::mem::forget(analyzer);
                checked
            }
            _ => chunk
                .par_iter()
                .map_init(|| Analyzer::new(args.tvm), |analyzer, path| answer(analyzer, path))
                .collect(),
        };
        for result in checked {
            match result {
                Ok((checked, text)) => {
                    out.write_all(text.as_bytes())?;
                    summary.add(&checked);
                    if checked.counts[Severity::Error as usize] > 0 {
                        outcome = outcome.max(Outcome::Errors);
                    }
                    if args.format == Format::Sarif {
                        sarif.push(report::sarif_results(&checked));
                    }
                }
                Err(message) => {
                    out.flush()?;
                    complain(&message);
                    outcome = Outcome::Unusable;
                }
            }
        }
    }
    match args.format {
        Format::Sarif => report::sarif(sarif, &mut out)?,
        Format::Human => write!(out, "{}", summary.text(least))?,
        Format::Json | Format::Github => {}
    }
    out.flush()?;
    Ok(outcome)
}
