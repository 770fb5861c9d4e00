//! `relay-analyzer check`

use std::{io::Write, path::PathBuf, sync::Arc};

use rayon::prelude::*;
use semantics::{Code, Severity};
use serde_json::Value;
use syntax::TextRange;

use super::{CheckArgs, Failure, Format, Outcome, fix::fix, named_files};
use crate::{
    analyzer::Analyzer,
    input::{self, Input},
    panics,
    report::{self, Checked, Summary, stderr},
};

/// The number of files that are checked before the first of them is reported: enough to keep all
/// cores busy, few enough for early output.
const CHUNK: usize = 64;

pub(super) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    if args.fix && args.paths.iter().any(|path| path.as_os_str() == "-") {
        return Err("`--fix` cannot write to standard input".to_owned().into());
    }
    let (files, mut outcome) = named_files(&args.paths);
    let least = args.severity.map(Severity::from).unwrap_or(match args.format {
        Format::Human | Format::Github => Severity::Info,
        Format::Json | Format::Sarif => Severity::Hint,
    });
    let mut out = std::io::BufWriter::new(anstream::stdout());
    let mut summary = Summary::default();
    let mut sarif = Vec::new();
    let answer = |analyzer: &mut Analyzer, path: &PathBuf| -> Result<FileResult, String> {
        let mut input = input::read(path, args.reading.max_code())?;
        let mut fixed = None;
        if args.fix {
            // A panic is reported when the file is checked.
            let fixed_count = panics::caught(|| fix(analyzer, path, &mut input));
            match fixed_count {
                Ok(fixed_count) => fixed = fixed_count?,
                Err(_) => *analyzer = Analyzer::new(args.tvm),
            }
        }
        Ok(FileResult { fixed, ..check(analyzer, input, least, args) })
    };
    for chunk in files.chunks(CHUNK) {
        let answers: Vec<Result<FileResult, String>> = match chunk {
            [path] => {
                let mut analyzer = Analyzer::new(args.tvm);
                let answers = vec![answer(&mut analyzer, path)];
                // Dropping the databases takes a tenth of the time; the end of the process frees
                // them at once.
                std::mem::forget(analyzer);
                answers
            }
            _ => chunk
                .par_iter()
                .map_init(|| Analyzer::new(args.tvm), |analyzer, path| answer(analyzer, path))
                .collect(),
        };
        for result in answers {
            match result {
                Ok(FileResult { checked, report, panicked, fixed }) => {
                    summary.add(&checked);
                    if let Some(count) = fixed.filter(|_| !args.quiet) {
                        out.flush()?;
                        let what = ide::words::counted(count as u64, "problem");
                        stderr::note(&format!("`{}`: {what} fixed", checked.path));
                    }
                    if panicked {
                        outcome = Outcome::Unusable;
                    } else if checked.counts[Severity::Error as usize] > 0 {
                        outcome = outcome.max(Outcome::Errors);
                    }
                    match report {
                        Report::Text(text) => out.write_all(text.as_bytes())?,
                        Report::Sarif(results) => sarif.push(results),
                    }
                }
                Err(message) => {
                    out.flush()?;
                    stderr::error(&message);
                    outcome = Outcome::Unusable;
                }
            }
        }
    }
    match args.format {
        Format::Sarif => report::sarif(sarif, &mut out)?,
        // A file that cannot be read makes the outcome unusable.
        Format::Human if !args.quiet && (summary.files() > 0 || outcome == Outcome::Clean) => {
            write!(out, "{}", summary.text(least))?;
        }
        Format::Human | Format::Json | Format::Github => {}
    }
    out.flush()?;
    Ok(outcome)
}

/// The result of a file.
struct FileResult {
    checked: Checked,
    report: Report,
    /// True if the analysis panicked, which is the only diagnostic.
    panicked: bool,
    /// The number of problems that were fixed.
    fixed: Option<usize>,
}

enum Report {
    Text(String),
    Sarif(Vec<Value>),
}

/// Checks a file and formats the report. A panic of either affects this file only.
fn check(analyzer: &mut Analyzer, input: Input, least: Severity, args: &CheckArgs) -> FileResult {
    let looked = analyzer.guarded(|analyzer| analyzer.check(&input.text));
    let mut panicked = looked.is_err();
    let (parse, mut diagnostics) = match looked {
        Ok(looked) => (looked.parse, looked.diagnostics.to_vec()),
        Err(panicked) => (Arc::new(syntax::parse("")), vec![*panicked]),
    };
    if let Some(problem) = input.problem {
        if problem.code == Code::InvalidUtf8 {
            // The replacement characters are not from the user.
            diagnostics.retain(|d| d.code != Code::UnknownCharacter);
            diagnostics.insert(0, problem);
        } else {
            diagnostics = vec![problem];
        }
    }
    diagnostics.retain(|diagnostic| !args.disable.contains(&diagnostic.code));
    let mut checked = Checked::new(input.path, input.text, parse, diagnostics, least);
    let write = |checked: &Checked| match args.format {
        Format::Human => Report::Text(report::human(checked)),
        Format::Json => Report::Text(report::json_line(checked)),
        Format::Github => Report::Text(report::github(checked)),
        Format::Sarif => Report::Sarif(report::sarif_results(checked)),
    };
    let report = panics::caught(|| write(&checked)).unwrap_or_else(|fault| {
        panicked = true;
        checked.diagnostics = vec![fault.diagnostic(TextRange::default())];
        write(&checked)
    });
    FileResult { checked, report, panicked, fixed: None }
}
