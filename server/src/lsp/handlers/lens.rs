//! `textDocument/codeLens`

use ide::lens::{Lens, LensKind, lenses};
use serde::Serialize;
use serde_json::json;
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{CodeLens, CodeLensParams, Command, Location, Position, Url},
};

use crate::lsp::{documents::Document, runs::RUN, snapshot::Snapshot};

/// The command that shows references, of editors that announce it.
const SHOW_REFERENCES: &str = "relay.showReferences";
/// The command that debugs a function, of editors that announce it.
const DEBUG: &str = "relay.debug";
/// The command that wraps a long header, of editors that announce it.
const WRAP_HEADER: &str = "relay.wrapHeader";

/// The argument of [`RUN`]: a function, or the bare expression at a position.
#[derive(Serialize)]
struct RunArgument<'l> {
    uri: &'l Url,
    position: Position,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<&'l str>,
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: CodeLensParams,
) -> Result<Option<Vec<CodeLens>>> {
    let uri = &params.text_document.uri;
    let document = snapshot.document(uri)?;
    let mut found = lenses(&snapshot.db, document.file);
    // A lens without a command would have no use.
    let wraps = snapshot.client.runs(WRAP_HEADER);
    found.retain(|lens| wraps || !matches!(lens.kind, LensKind::LongHeader(_)));
    // The debugger reads the file itself.
    let is_module = std::path::Path::new(uri.path())
        .extension()
        .is_some_and(|extension| extension == "relay" || extension == "rly");
    let debugs = is_module && uri.scheme() == "file" && snapshot.client.runs(DEBUG);
    let converted = found.iter().flat_map(|lens| {
        let run = convert(snapshot, uri, document, lens);
        let debug = debug_lens(&run, lens).filter(|_| debugs);
        [Some(run), debug].into_iter().flatten()
    });
    Ok(Some(converted.collect()))
}

/// Returns the lens beside the one that runs a function.
fn debug_lens(run: &CodeLens, lens: &Lens) -> Option<CodeLens> {
    let LensKind::Run { .. } = &lens.kind else { return None };
    let arguments = run.command.as_ref()?.arguments.clone();
    let command = Command::new("Debug".to_owned(), DEBUG.to_owned(), arguments);
    Some(CodeLens { range: run.range, command: Some(command), data: None })
}

fn convert(snapshot: &Snapshot, uri: &Url, document: &Document, lens: &Lens) -> CodeLens {
    let range = document.range(lens.range, snapshot.encoding);
    // An empty command shows a title that cannot be clicked.
    let line = |at| document.range(TextRange::empty(at), snapshot.encoding).start.line;
    let mut command = Command::new(lens.title(&line), String::new(), None);
    match &lens.kind {
        LensKind::References(places)
            if !places.is_empty() && snapshot.client.runs(SHOW_REFERENCES) =>
        {
            let places: Vec<Location> = places
                .iter()
                .map(|place| Location::new(uri.clone(), document.range(*place, snapshot.encoding)))
                .collect();
            command.command = SHOW_REFERENCES.to_owned();
            command.arguments = Some(vec![json!(uri), json!(range.start), json!(places)]);
        }
        LensKind::LongHeader(_) => {
            command.command = WRAP_HEADER.to_owned();
            command.arguments = Some(vec![json!(uri), json!(range.start)]);
        }
        LensKind::Run { name, .. } => {
            command.command = RUN.to_owned();
            if let Some(time) = snapshot.session.live.time_of(uri, name) {
                command.title += &format!(" · {}", ide::words::duration(time));
            }
            let function = Some(name.as_str()).filter(|name| !name.is_empty());
            let argument = RunArgument { uri, position: range.start, function };
            command.arguments = Some(vec![json!(argument)]);
        }
        _ => {}
    }
    CodeLens { range, command: Some(command), data: None }
}
