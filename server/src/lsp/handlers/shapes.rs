//! `relay/shapes` and `relay/whyShape`: what the protocol has no request for.

use ide::why::{Why, why_shape};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{
        ExecuteCommandOptions, ExecuteCommandParams, Location, Position, Range,
        TextDocumentIdentifier, TextDocumentPositionParams, Url, WorkDoneProgressOptions,
    },
};

use crate::{
    lsp::{documents::Document, runs::RUN, snapshot::Snapshot},
    report::shapes::JsonFunction,
};

/// The command that answers as `relay/whyShape` does, for editors that run commands only.
const WHY: &str = "relay.whyShape.text";

/// The commands that the server runs.
pub(in crate::lsp) fn commands() -> ExecuteCommandOptions {
    ExecuteCommandOptions {
        commands: vec![WHY.to_owned(), RUN.to_owned()],
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
