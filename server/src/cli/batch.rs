//! `relay-analyzer check --batch`: reads a text per line, and writes a result per line in the same
//! order.

use std::{
    io::{BufRead, Write},
    path::Path,
    sync::Arc,
};

use semantics::Severity;
use serde::Deserialize;
use serde_json::Value;

use super::{
    Failure, Outcome,
    check::options,
    check_args::CheckArgs,
    settings::{FileSettings, refusal},
};
use crate::{
    analyzer::Analyzer,
    protocol::{self, BatchAnswer, CheckedText, FailedCheck},
    report::{self, CheckReport},
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
    if args.settings.config.is_some() {
        // One file for all texts: a problem in it is no answer to any of them.
        settings.of(Path::new("-"))?;
    }
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
                write(&failure(&Value::Null, message), &mut out)?;
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
                write(&failure(&request.id, message), &mut out)?;
                outcome = Outcome::Unusable;
                continue;
            }
        };
        analyzer.set_options(&options(&project, args));
        let (answer, reached) = match analyzer.guarded(|analyzer| check(analyzer, &request, args)) {
            Ok(answered) => answered.map_err(std::io::Error::from)?,
            Err(panicked) => {
                let help = panicked.help.as_deref().unwrap_or_default();
                let message = format!("{}; {help}", panicked.message);
                (failure(&request.id, message), Outcome::Unusable)
            }
        };
        write(&answer, &mut out)?;
        outcome = outcome.max(reached);
    }
    Ok(outcome)
}

/// Checks one text, and returns the answer as JSON.
fn check(
    analyzer: &mut Analyzer,
    request: &Request,
    args: &CheckArgs,
) -> serde_json::Result<(Vec<u8>, Outcome)> {
    let mut looked = analyzer.check(&request.text);
    analyzer.retain_helpful_fixes(&mut looked);
    let least = args.severity.unwrap_or(Severity::Hint);
    let path = request.path.as_deref().unwrap_or("-").to_owned();
    let found = looked.diagnostics.to_vec();
    let checked = CheckReport::new(path, request.text.clone(), looked.parse, found, least);
    let convert = |d| {
        let rendered = args.rendered.then(|| report::excerpt(&checked, d));
        protocol::Diagnostic::new(d, checked.lines(), rendered)
    };
    let answer = CheckedText {
        id: &request.id,
        diagnostics: checked.diagnostics.iter().map(convert).collect(),
        types: args.types.then(|| report::json_types(analyzer.types())),
        tokens: args.tokens.then(|| report::json_tokens(analyzer.highlights())),
    };
    let is_wrong = checked.diagnostics.iter().any(|d| d.severity == Severity::Error);
    let outcome = if is_wrong { Outcome::Errors } else { Outcome::Clean };
    Ok((serde_json::to_vec(&BatchAnswer::Checked(answer))?, outcome))
}

/// Returns the answer for a text that was not checked as JSON.
fn failure(id: &Value, error: String) -> Vec<u8> {
    // Texts serialise without errors.
    serde_json::to_vec(&BatchAnswer::Failed(FailedCheck { id, error })).unwrap_or_default()
}

/// Writes an answer at once: the client may wait for it before it sends the next text.
fn write(answer: &[u8], out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(answer)?;
    out.write_all(b"\n")?;
    out.flush()
}
