//! `textDocument/hover`

use syntax::TextSize;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Hover, HoverContents, HoverParams, TextDocumentPositionParams, Url},
};

use crate::{
    lsp::{documents::Document, runs::weight, snapshot::Snapshot},
    report::escape::percent_encoded,
    weights::NamedArrays,
};

/// The command that explains a shape.
const WHY: &str = "relay.whyShape";
/// The command that shows a tensor of the last run, or a weight.
pub(super) const VIEW: &str = "relay.viewTensor";
/// The commands that show the values of another call.
const PREVIOUS: &str = "relay.previousCall";
const NEXT: &str = "relay.nextCall";

/// Returns the links of a hover to what explains and shows the expression, for clients that announce these commands.
fn links(snapshot: &Snapshot, at: &TextDocumentPositionParams, links: &[(&str, &str)]) -> String {
    let arguments = serde_json::json!([at.text_document.uri, at.position]).to_string();
    // Escapes all characters with a meaning in links or in Markdown.
    let arguments = percent_encoded(&arguments, b"-_.");
    let known = links.iter().filter(|(_, command)| snapshot.client.runs(command));
    let links = known.map(|(text, command)| format!("[{text}](command:{command}?{arguments})"));
    let line = links.collect::<Vec<_>>().join(" · ");
    if line.is_empty() { line } else { format!("\n\n{line}") }
}

/// Returns the value of the variable at an offset in the last run, and the links to it.
fn live_value(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
    (offset, has_shape): (TextSize, bool),
) -> (String, Vec<(&'static str, &'static str)>) {
    let shown = || {
        let placed = snapshot.session.live.of(&snapshot.db, uri, document)?;
        let range = ide::live::variable_at(&snapshot.db, document.file, offset)?;
        let value = placed.value(range)?;
        let mut links = Vec::new();
        links.extend(has_shape.then_some(("View Tensor", VIEW)));
        if value.is_one_of_several() {
            links.extend([("Previous Call", PREVIOUS), ("Next Call", NEXT)]);
        }
        Some((format!("\n\n{}", value.markdown()), links))
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
    let has_shape = hover.as_ref().is_some_and(|hover| hover.has_shape);
    let place = (offset, has_shape);
    let (value, shown) = live_value(snapshot, &at.text_document.uri, document, place);
    let mut all = Vec::new();
    all.extend(has_shape.then_some(("Why this shape?", WHY)));
    let view = ("View Tensor", VIEW);
    let uri = &at.text_document.uri;
    let files = || snapshot.session.workspace.weights_of(uri, &snapshot.config.weights);
    let is_weight = || weight::is_at(&snapshot.db, document.file, offset, files);
    all.extend((has_shape && shown.is_empty() && is_weight()).then_some(view));
    all.extend(shown);
    let value = layer + &value + &known_names(snapshot, document, offset);
    let markup = snapshot.client.features.markup.hover;
    Ok(hover.map(|hover| {
        let markdown = hover.markdown + &value + &links(snapshot, at, &all);
        let range = Some(document.range(hover.range, snapshot.encoding));
        Hover { contents: HoverContents::Markup(markup.content(markdown)), range }
    }))
}
