//! `textDocument/hover`

use syntax::TextSize;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Hover, HoverContents, HoverParams, TextDocumentPositionParams, Url},
};

use crate::{
    lsp::{documents::Document, snapshot::Snapshot},
    weights::NamedArrays,
};

/// The command that explains a shape, of clients that announce it.
const WHY: &str = "relay.whyShape";

/// Returns a link to the explanation of the shape, for clients that run commands from a hover.
fn why_link(snapshot: &Snapshot, at: &TextDocumentPositionParams, has_shape: bool) -> String {
    if !has_shape || !snapshot.session.runs(WHY) {
        return String::new();
    }
    let arguments = serde_json::json!([at.text_document.uri, at.position]).to_string();
    // Escapes all characters with a meaning in links or in Markdown.
    let arguments: String = arguments
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect();
    format!("\n\n[Why this shape?](command:{WHY}?{arguments})")
}

/// Returns the value of the variable at an offset in the last run.
fn live_value(snapshot: &Snapshot, uri: &Url, document: &Document, offset: TextSize) -> String {
    let shown = || {
        let placed = snapshot.session.live.of(&snapshot.db, uri, document)?;
        let range = ide::live::variable_at(&snapshot.db, document.file, offset)?;
        let value = placed.value(range)?;
        Some(format!("\n\n{}", value.markdown()))
    };
    shown().unwrap_or_default()
}

/// Returns the arrays, from the files in the settings, that equal the constant at an offset, and the
/// errors of files that could not be compared.
fn known_names(snapshot: &Snapshot, document: &Document, offset: TextSize) -> String {
    if snapshot.config.weights.is_empty() {
        return String::new();
    }
    let Some((metadata, array)) = ide::hover::constant_at(&snapshot.db, document.file, offset)
    else {
        return String::new();
    };
    let weights = metadata.weights();
    let tensor = weights.section().header(array).zip(weights.payload(array));
    let Some((header, payload)) = tensor else { return String::new() };
    let mut out = String::new();
    for path in &snapshot.config.weights {
        let path = snapshot.session.workspace.find(path);
        let found = NamedArrays::open(std::slice::from_ref(&path))
            .and_then(|known| known.name_of(header, &payload));
        let file = ide::markdown::code_span(&path.to_string_lossy());
        match found {
            Ok(Some(name)) => {
                out += &format!("\n\nequal to {} of {file}", ide::markdown::code_span(&name));
            }
            Ok(None) => {}
            // The message may quote names of arrays, which are untrusted.
            Err(error) => {
                let error = ide::markdown::escaped(&error);
                out += &format!("\n\nnot compared with {file}: {error}");
            }
        }
    }
    out
}

pub(in crate::lsp) fn handle(snapshot: &Snapshot, params: HoverParams) -> Result<Option<Hover>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    let hover = ide::hover::hover(&snapshot.db, document.file, offset);
    let at = &params.text_document_position_params;
    let layer = match snapshot.session.layered.record(document) {
        true => ide::hover::layer(&snapshot.db, document.file, offset, snapshot.config.layers),
        false => None,
    };
    let layer = layer.map_or_else(String::new, |layer| format!("\n\n{layer}"));
    let value = layer
        + &live_value(snapshot, &at.text_document.uri, document, offset)
        + &known_names(snapshot, document, offset);
    Ok(hover.map(|hover| Hover {
        contents: HoverContents::Markup(
            snapshot
                .features
                .markup
                .hover
                .content(hover.markdown + &value + &why_link(snapshot, at, hover.has_shape)),
        ),
        range: Some(document.range(hover.range, snapshot.encoding)),
    }))
}
