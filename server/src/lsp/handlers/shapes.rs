//! `relay/shapes`, `relay/shapesOfFile` and `relay/whyShape`

use ide::why;
use semantics::Step;
use serde::Deserialize;
use serde_json::Value;
use syntax::{LineIndex, TextRange};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{
        ExecuteCommandOptions, ExecuteCommandParams, Location, TextDocumentIdentifier,
        TextDocumentPositionParams, Url, WorkDoneProgressOptions,
    },
};

use super::{
    FileParams,
    actions::APPLY,
    between::{Side, merged_shapes},
};
#[cfg(not(target_arch = "wasm32"))]
use crate::lsp::reductions::REDUCE;
use crate::{
    analyzer::{Analyzer, Options},
    input,
    lsp::{
        convert,
        documents::Document,
        request::request_failed,
        runs::{CLEAR, RUN},
        snapshot::Snapshot,
    },
    paths,
    protocol::{Dimension, Function, ShapeExplanation, ShapeReport, ShapeStep},
};

/// The command form of `relay/whyShape`, for editors that cannot send custom requests.
const WHY: &str = "relay.whyShape.text";

/// Returns the commands of the server.
pub(in crate::lsp) fn commands() -> ExecuteCommandOptions {
    let commands = [WHY, RUN, CLEAR, APPLY].map(str::to_owned).to_vec();
    // Browsers have no threads.
    #[cfg(not(target_arch = "wasm32"))]
    let commands = [commands, vec![REDUCE.to_owned()]].concat();
    ExecuteCommandOptions {
        commands,
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
    /// The module before: the report has the calls that were removed, too, and colours by difference.
    #[serde(default)]
    before: Option<Side>,
}

/// Returns the shape report of a document.
pub(in crate::lsp) fn report(snapshot: &Snapshot, params: ShapesParams) -> Result<ShapeReport> {
    let document = snapshot.document(&params.text_document.uri)?;
    let name = params.function.as_deref();
    let grouping = snapshot.config.layers;
    let (found, layers) = ide::layers::shapes_by_layer(&snapshot.db, document.file, name, grouping);
    let mut overlays = snapshot.session.overlays.of(document);
    let version = document.version;
    let Some(before) = params.before else {
        let place = |range: TextRange| document.range(range, snapshot.encoding);
        let functions = Function::list(&found, &layers, &overlays, &place);
        return Ok(ShapeReport { version, functions });
    };
    let merged = merged_shapes(snapshot, before, document, (found, layers))?;
    overlays.push(merged.overlay.clone());
    let place = |range: TextRange| document.range(merged.place(range), snapshot.encoding);
    let functions = Function::list(&merged.functions, &merged.layers, &overlays, &place);
    Ok(ShapeReport { version, functions })
}

/// Returns the shape report of a file that the editor does not open: VS Code hides files over 50 MB
/// from its extensions. The file is read and analysed for each request.
pub(in crate::lsp) fn report_file(snapshot: &Snapshot, params: FileParams) -> Result<ShapeReport> {
    let path = paths::of_uri(&params.uri)
        .ok_or_else(|| Error::invalid_params(format!("{} is not a local file", params.uri)))?;
    let input =
        input::read_file(&path, snapshot.config.limits.code as u64).map_err(request_failed)?;
    if let Some(problem) = input.problem {
        return Err(request_failed(problem.message));
    }
    let lines = LineIndex::new(&input.text);
    let place = |range: TextRange| convert::range(&lines, range, snapshot.encoding);
    let mut analyzer =
        Analyzer::new(&Options { setup: snapshot.config.setup.clone(), ..Options::default() });
    analyzer.parse(&input.text);
    let (found, layers) = analyzer.shapes(None, snapshot.config.layers);
    let functions = Function::list(&found, &layers, &[], &place);
    Ok(ShapeReport { version: 0, functions })
}

/// Explains the shape of the expression at a position; `None` if it is not a tensor.
pub(in crate::lsp) fn why(
    snapshot: &Snapshot,
    params: TextDocumentPositionParams,
) -> Result<Option<ShapeExplanation>> {
    let (document, offset) = snapshot.place(&params)?;
    let found = why::why_shape(&snapshot.db, document.file, offset);
    Ok(found.map(|found| convert(snapshot, &params.text_document.uri, document, found)))
}

fn convert(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
    why: why::ShapeExplanation,
) -> ShapeExplanation {
    let range = |range| document.range(range, snapshot.encoding);
    let step = |step: Step| ShapeStep {
        message: step.message(),
        location: Location::new(uri.clone(), range(step.range)),
    };
    let markdown = why.markdown();
    let dimension = |dimension: why::Dimension| Dimension {
        field: dimension.field,
        axis: dimension.axis,
        size: dimension.size,
        steps: dimension.steps.into_iter().map(step).collect(),
    };
    ShapeExplanation {
        expression: why.expression,
        ty: why.ty,
        range: range(why.range),
        dimensions: why.dimensions.into_iter().map(dimension).collect(),
        markdown,
    }
}

/// Runs the command form of `relay/whyShape`.
pub(in crate::lsp) fn execute(
    snapshot: &Snapshot,
    params: ExecuteCommandParams,
) -> Result<Option<ShapeExplanation>> {
    if params.command != WHY {
        return Err(Error::invalid_params(format!("unknown command `{}`", params.command)));
    }
    let mut arguments = params.arguments;
    // Others are ignored.
    arguments.truncate(2);
    let (uri, position) = serde_json::from_value(Value::Array(arguments))
        .map_err(|_| Error::invalid_params(format!("`{WHY}` takes a URI and a position")))?;
    let place = TextDocumentPositionParams::new(TextDocumentIdentifier::new(uri), position);
    why(snapshot, place)
}
