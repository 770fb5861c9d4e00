//! `relay-analyzer shapes`

use std::io::Write;

use semantics::Severity;
use serde_json::json;
use syntax::{Encoding, LineIndex, TextRange};

use super::{Failure, Outcome, ShapesArgs, ShapesFormat, complain};
use crate::{analyzer::Analyzer, input, report::shapes};

pub(super) fn run(args: &ShapesArgs) -> Result<Outcome, Failure> {
    let input = input::read(&args.path, args.reading.max_code())?;
    let mut outcome = Outcome::Clean;
    if let Some(problem) = &input.problem {
        complain(&format!("{}: {}", input.path, problem.message));
        outcome = Outcome::Unusable;
    }
    let mut analyzer = Analyzer::new(false);
    let looked = analyzer.check(&input.text);
    if looked.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        complain(&format!(
            "{}: there are errors, and what rests on them is not counted: `relay-analyzer check` shows them",
            input.path
        ));
        outcome = outcome.max(Outcome::Errors);
    }
    // `main` is `@main`.
    let name = args.function.as_ref().map(|name| format!("@{}", name.trim_start_matches('@')));
    let functions = analyzer.shapes(name.as_deref());
    if let Some(name) = name.filter(|_| functions.is_empty()) {
        return Err(format!("{}: there is no function `{name}`", input.path).into());
    }
    let lines = LineIndex::new(&input.text);
    let place = |range: TextRange| {
        let at = |offset| {
            let at = lines.line_column(offset, Encoding::Utf32);
            json!({ "line": at.line + 1, "column": at.column + 1 })
        };
        json!({ "start": at(range.start()), "end": at(range.end()) })
    };
    let text = match args.format {
        ShapesFormat::Table => shapes::table(&functions, &lines),
        ShapesFormat::Csv => shapes::csv(&functions, &lines),
        ShapesFormat::Dot => shapes::dot(&functions),
        ShapesFormat::Html => shapes::html(&input.path, &functions, &lines),
        ShapesFormat::Json => {
            let functions: Vec<_> = functions.iter().map(|f| shapes::json(f, &place)).collect();
            format!("{}\n", json!({ "path": input.path, "functions": functions }))
        }
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(outcome)
}
