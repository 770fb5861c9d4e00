//! `relay/shapes`, `relay/shapesOfFile` and `relay/whyShape`: what the protocol has no request for.

use ide::why::{Why, why_shape};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syntax::{LineIndex, TextRange};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{
        ExecuteCommandOptions, ExecuteCommandParams, Location, Position, Range,
        TextDocumentIdentifier, TextDocumentPositionParams, Url, WorkDoneProgressOptions,
    },
};

use super::rename::refused;
use crate::{
    analyzer::Analyzer,
    input,
    lsp::{
        documents::Document,
        runs::{CLEAR, RUN},
        snapshot::Snapshot,
    },
    report::shapes::JsonFunction,
};

/// The command that answers as `relay/whyShape` does, for editors that run commands only.
const WHY: &str = "relay.whyShape.text";

/// The commands that the server runs.
pub(in crate::lsp) fn commands() -> ExecuteCommandOptions {
    ExecuteCommandOptions {
        commands: vec![WHY.to_owned(), RUN.to_owned(), CLEAR.to_owned()],
        work_done_progress_options: WorkDoneProgressOptions::default(),
    }
}

/// What `relay/shapes` is asked with.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ShapesParams {
    text_document: TextDocumentIdentifier,
    /// `@main`; without it, every function that computes something.
    #[serde(default)]
    function: Option<String>,
}

/// What `relay/shapes` answers.
#[derive(Serialize)]
pub(in crate::lsp) struct Report {
    /// The version of the document that it is about.
    version: i32,
    functions: Vec<JsonFunction<Range>>,
}

/// The shape report of a document.
pub(in crate::lsp) fn report(snapshot: &Snapshot, params: ShapesParams) -> Result<Report> {
    let document = snapshot.document(&params.text_document.uri)?;
    let found = ide::shapes::shapes(&snapshot.db, document.file, params.function.as_deref());
    let place = |range: TextRange| document.range(range, snapshot.encoding);
    let functions = found.iter().map(|f| JsonFunction::new(f, &place)).collect();
    Ok(Report { version: document.version, functions })
}

/// What `relay/shapesOfFile` is asked with.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct FileParams {
    uri: Url,
}

/// The shape report of a file that the editor does not send: VS Code keeps those over 50 MB from its
/// extensions. It is read from disk each time, into a database of its own.
pub(in crate::lsp) fn report_file(snapshot: &Snapshot, params: FileParams) -> Result<Report> {
    let path = params.uri.to_file_path().map_err(|()| {
        Error::invalid_params(format!("{} is not a file of this machine", params.uri))
    })?;
    let input = input::read(&path, snapshot.config.limits.code as u64).map_err(refused)?;
    if let Some(problem) = input.problem {
        return Err(refused(problem.message));
    }
    let lines = LineIndex::new(&input.text);
    let place = |range: TextRange| {
        let at = |offset| {
            let at = lines.line_column(offset, snapshot.encoding);
            Position::new(at.line, at.column)
        };
        Range::new(at(range.start()), at(range.end()))
    };
    let mut analyzer = Analyzer::new(snapshot.config.tvm);
    analyzer.parse(&input.text);
    let found = analyzer.shapes(None);
    let functions = found.iter().map(|f| JsonFunction::new(f, &place)).collect();
    Ok(Report { version: 0, functions })
}

/// Why the expression at a place has its shape; `null` where no tensor is.
pub(in crate::lsp) fn why(
    snapshot: &Snapshot,
    params: TextDocumentPositionParams,
) -> Result<Value> {
    let (document, offset) = snapshot.place(&params)?;
    let why = why_shape(&snapshot.db, document.file, offset);
    Ok(why.map_or(Value::Null, |why| json_why(snapshot, &params.text_document.uri, document, &why)))
}

fn json_why(snapshot: &Snapshot, uri: &Url, document: &Document, why: &Why) -> Value {
    let range = |range| document.range(range, snapshot.encoding);
    let dimensions = why.dimensions.iter().map(|dimension| {
        let steps = dimension.steps.iter().map(|step| {
            let location = Location::new(uri.clone(), range(step.range));
            json!({ "location": location, "message": step.message })
        });
        json!({
            "field": dimension.field, "axis": dimension.axis, "size": dimension.size,
            "steps": steps.collect::<Vec<_>>(),
        })
    });
    json!({
        "expression": why.expression,
        "type": why.ty,
        "range": range(why.range),
        "dimensions": dimensions.collect::<Vec<_>>(),
        "markdown": why.markdown(),
    })
}

/// Runs a command of the server's.
pub(in crate::lsp) fn execute(
    snapshot: &Snapshot,
    params: ExecuteCommandParams,
) -> Result<Option<Value>> {
    if params.command != WHY {
        return Err(Error::invalid_params(format!("there is no command `{}`", params.command)));
    }
    let mut arguments = params.arguments.into_iter();
    let wants = || Error::invalid_params(format!("`{WHY}` takes a URI and a position"));
    let uri: Url =
        arguments.next().and_then(|uri| serde_json::from_value(uri).ok()).ok_or_else(wants)?;
    let position: Position =
        arguments.next().and_then(|at| serde_json::from_value(at).ok()).ok_or_else(wants)?;
    let place = TextDocumentPositionParams::new(TextDocumentIdentifier::new(uri), position);
    why(snapshot, place).map(Some)
}
