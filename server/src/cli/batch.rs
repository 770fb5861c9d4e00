//! `relay-analyzer check --batch`: reads a text per line, and writes a result per line in the same
//! order.

use std::{
    io::{BufRead, Write},
    path::Path,
    sync::Arc,
};

use semantics::{Diagnostic, Severity};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Failure, Outcome,
    check::options,
    check_args::CheckArgs,
    settings::{FileSettings, refusal},
};
use crate::{
    analyzer::Analyzer,
    report::{self, Checked},
};

#[derive(Deserialize)]
struct Request {
    id: Value,
    text: String,
    /// The file name in excerpts, and the file whose `relay.toml` counts.
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn run(args: &CheckArgs) -> Result<Outcome, Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut input = std::io::stdin().lock();
    let mut analyzer = Analyzer::default();
    let mut settings = FileSettings::new(&args.settings);
    let mut outcome = Outcome::Clean;
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let request: Request = match serde_json::from_slice(&line) {
            Ok(request) => request,
            Err(error) => {
                let message = format!(
                    "line {number} of standard input is not `{{\"id\": …, \"text\": \"…\"}}`: {error}"
                );
                writeln!(out, "{}", json!({ "id": null, "error": message }))?;
                out.flush()?;
                outcome = Outcome::Unusable;
                continue;
            }
        };
        let path = Path::new(request.path.as_deref().unwrap_or("-"));
        let project = match settings.loaded(path) {
            None => Arc::default(),
            Some(loaded) if loaded.problems.is_empty() => loaded.project.clone(),
            Some(loaded) => {
                let mut message = refusal(&loaded);
                if let Some(first) = loaded.problems.first() {
                    message = format!("{message} ({})", first.message);
                }
                writeln!(out, "{}", json!({ "id": request.id, "error": message }))?;
                out.flush()?;
                outcome = Outcome::Unusable;
                continue;
            }
        };
        analyzer.set_options(&options(&project, args));
        let (answer, reached) = match analyzer.guarded(|analyzer| check(analyzer, &request, args)) {
            Ok(answered) => answered,
            Err(panicked) => (failure(&request.id, &panicked), Outcome::Unusable),
        };
        serde_json::to_writer(&mut out, &answer).map_err(std::io::Error::from)?;
        writeln!(out)?;
        // The client may wait for this result before it sends the next text.
        out.flush()?;
        outcome = outcome.max(reached);
    }
    Ok(outcome)
}

/// Checks one text.
fn check(analyzer: &mut Analyzer, request: &Request, args: &CheckArgs) -> (Value, Outcome) {
    let looked = analyzer.check(&request.text);
    let least = args.severity.map_or(Severity::Hint, Severity::from);
    let path = request.path.as_deref().unwrap_or("-").to_owned();
    let found = looked.diagnostics.to_vec();
    let checked = Checked::new(path, request.text.clone(), looked.parse, found, least);
    let diagnostics: Vec<_> = checked
        .diagnostics
        .iter()
        .map(|d| {
            let rendered = args.rendered.then(|| report::excerpt(&checked, d));
            report::JsonDiagnostic::new(d, checked.lines()).with_excerpt(rendered)
        })
        .collect();
    let is_wrong = diagnostics.iter().any(|d| d.severity == "error");
    let mut answer = json!({ "id": request.id, "diagnostics": diagnostics });
    if args.types {
        answer["types"] = json!(report::json_types(analyzer.types()));
    }
    if args.tokens {
        answer["tokens"] = json!(report::json_tokens(analyzer.highlights()));
    }
    (answer, if is_wrong { Outcome::Errors } else { Outcome::Clean })
}

/// Returns the result of a text whose analysis panicked.
fn failure(id: &Value, panicked: &Diagnostic) -> Value {
    let help = panicked.help.as_deref().unwrap_or_default();
    json!({ "id": id, "error": format!("{}; {help}", panicked.message) })
}
