//! `relay-analyzer shapes`

use std::{io::Write, path::Path};

use semantics::Severity;
use serde::Serialize;
use syntax::{Encoding, LineIndex, TextRange};

use super::{Failure, Outcome, ShapesArgs, ShapesFormat, complain, named_files, panic_message};
use crate::{
    analyzer::Analyzer,
    input,
    report::{
        escape,
        shapes::{self, JsonFunction},
    },
};

/// The answer as JSON, one line a file. Lines and columns count from 1, columns in characters.
#[derive(Serialize)]
struct Document<'a> {
    path: &'a str,
    functions: Vec<JsonFunction<Place>>,
}

#[derive(Serialize)]
struct Place {
    start: At,
    end: At,
}

#[derive(Serialize)]
struct At {
    line: u32,
    column: u32,
}

pub(super) fn run(args: &ShapesArgs) -> Result<Outcome, Failure> {
    let (files, mut outcome) = named_files(&args.paths);
    let is_single =
        matches!(args.format, ShapesFormat::Csv | ShapesFormat::Html | ShapesFormat::Dot);
    if is_single && files.len() > 1 {
        return Err(format!("this format takes one file, and {} are named", files.len()).into());
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut analyzer = Analyzer::new(false);
    for (number, path) in files.iter().enumerate() {
        if files.len() > 1 && args.format == ShapesFormat::Table {
            let gap = if number > 0 { "\n" } else { "" };
            writeln!(out, "{gap}{}", input::shown(path))?;
        }
        match report(&mut analyzer, path, args, &mut out) {
            Ok(found) => outcome = outcome.max(found),
            Err(Failure::Gone) => return Err(Failure::Gone),
            Err(Failure::Message(message)) => {
                out.flush()?;
                complain(&message);
                outcome = Outcome::Unusable;
            }
        }
    }
    out.flush()?;
    Ok(outcome)
}

/// Reports one file.
fn report(
    analyzer: &mut Analyzer,
    path: &Path,
    args: &ShapesArgs,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let input = input::read(path, args.reading.max_code())?;
    let mut outcome = Outcome::Clean;
    if let Some(problem) = &input.problem {
        complain(&format!("{}: {}", escape::terminal(&input.path), problem.message));
        outcome = Outcome::Unusable;
    }
    // `main` is `@main`.
    let name = args.function.as_ref().map(|name| format!("@{}", name.trim_start_matches('@')));
    let report = analyzer.guarded(|analyzer| {
        let looked = analyzer.check(&input.text);
        let is_wrong = looked.diagnostics.iter().any(|d| d.severity == Severity::Error);
        (is_wrong, analyzer.shapes(name.as_deref()))
    });
    let (is_wrong, functions) = report.map_err(|panicked| panic_message(&input.path, &panicked))?;
    if is_wrong {
        complain(&format!(
            "{}: there are errors, and what follows from them is assumed or not counted: `relay-analyzer check` shows them",
            escape::terminal(&input.path)
        ));
        outcome = outcome.max(Outcome::Errors);
    }
    if let Some(name) = name.filter(|_| functions.is_empty()) {
        let path = escape::terminal(&input.path);
        return Err(format!("{path}: there is no function `{name}`").into());
    }
    let lines = LineIndex::new(&input.text);
    let place = |range: TextRange| {
        let at = |offset| {
            let at = lines.line_column(offset, Encoding::Utf32);
            At { line: at.line + 1, column: at.column + 1 }
        };
        Place { start: at(range.start()), end: at(range.end()) }
    };
    match args.format {
        ShapesFormat::Table => write!(out, "{}", shapes::table(&functions, &lines))?,
        ShapesFormat::Csv => write!(out, "{}", shapes::csv(&functions, &lines))?,
        ShapesFormat::Dot => write!(out, "{}", shapes::dot(&functions))?,
        ShapesFormat::Html => write!(out, "{}", shapes::html(&input.path, &functions, &lines))?,
        ShapesFormat::Json => {
            let functions = functions.iter().map(|f| JsonFunction::new(f, &place)).collect();
            let document = Document { path: &input.path, functions };
            serde_json::to_writer(&mut *out, &document).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
    }
    Ok(outcome)
}
