//! `relay/shapes`, `relay/shapesOfFile` and `relay/whyShape`

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
    analyzer::{Analyzer, Options},
    input,
    lsp::{
        convert,
        documents::Document,
        runs::{CLEAR, RUN},
        snapshot::Snapshot,
    },
    paths,
    report::shapes::JsonFunction,
};

/// The command form of `relay/whyShape`, for editors that cannot send custom requests.
const WHY: &str = "relay.whyShape.text";

/// Returns the commands of the server.
pub(in crate::lsp) fn commands() -> ExecuteCommandOptions {
    ExecuteCommandOptions {
        commands: vec![WHY.to_owned(), RUN.to_owned(), CLEAR.to_owned()],
        work_done_progress_options: WorkDoneProgressOptions::default(),
    }
}

/// The parameters of `relay/shapes`.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ShapesParams {
    text_document: TextDocumentIdentifier,
    /// The function, as in `@main`; all functions with calls if it is missing.
    #[serde(default)]
    function: Option<String>,
}

/// The response to `relay/shapes`.
#[derive(Serialize)]
pub(in crate::lsp) struct Report {
    /// The version of the document.
    version: i32,
    functions: Vec<JsonFunction<Range>>,
}

/// Returns the shape report of a document.
pub(in crate::lsp) fn report(snapshot: &Snapshot, params: ShapesParams) -> Result<Report> {
    let document = snapshot.document(&params.text_document.uri)?;
    let found = ide::shapes::shapes(&snapshot.db, document.file, params.function.as_deref());
    let place = |range: TextRange| document.range(range, snapshot.encoding);
    let functions = found.iter().map(|f| JsonFunction::new(f, &place)).collect();
    Ok(Report { version: document.version, functions })
}

/// The parameters of `relay/shapesOfFile`.
#[derive(Clone, Deserialize)]
pub(in crate::lsp) struct FileParams {
    uri: Url,
}

/// Returns the shape report of a file that the editor does not open: VS Code hides files over 50 MB
/// from its extensions. The file is read and analysed for each request.
pub(in crate::lsp) fn report_file(snapshot: &Snapshot, params: FileParams) -> Result<Report> {
    let path = paths::of_uri(&params.uri)
        .ok_or_else(|| Error::invalid_params(format!("{} is not a local file", params.uri)))?;
    let input = input::read_file(&path, snapshot.config.limits.code as u64).map_err(refused)?;
    if let Some(problem) = input.problem {
        return Err(refused(problem.message));
    }
    let lines = LineIndex::new(&input.text);
    let place = |range: TextRange| convert::range(&lines, range, snapshot.encoding);
    let mut analyzer = Analyzer::new(&Options { tvm: snapshot.config.tvm, ..Options::default() });
    analyzer.parse(&input.text);
    let found = analyzer.shapes(None);
    let functions = found.iter().map(|f| JsonFunction::new(f, &place)).collect();
    Ok(Report { version: 0, functions })
}

/// Explains the shape of the expression at a position; `null` if it is not a tensor.
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

/// Runs a command.
pub(in crate::lsp) fn execute(
    snapshot: &Snapshot,
    params: ExecuteCommandParams,
) -> Result<Option<Value>> {
    if params.command != WHY {
        return Err(Error::invalid_params(format!("unknown command `{}`", params.command)));
    }
    let mut arguments = params.arguments.into_iter();
    let invalid = || Error::invalid_params(format!("`{WHY}` takes a URI and a position"));
    let uri: Url =
        arguments.next().and_then(|uri| serde_json::from_value(uri).ok()).ok_or_else(invalid)?;
    let position: Position =
        arguments.next().and_then(|at| serde_json::from_value(at).ok()).ok_or_else(invalid)?;
    let place = TextDocumentPositionParams::new(TextDocumentIdentifier::new(uri), position);
    why(snapshot, place).map(Some)
}
