//! `textDocument/formatting`, `rangeFormatting`, `onTypeFormatting`

use syntax::{Parse, TextRange, format::Style};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        DocumentFormattingParams, DocumentOnTypeFormattingParams, DocumentRangeFormattingParams,
        TextEdit,
    },
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

/// Returns the edits that `find` finds in a document of Relay, for the tree and the style: that of the client, or that
/// of the project.
fn edits(
    snapshot: &Snapshot,
    document: &Document,
    find: impl FnOnce(&Parse, Style) -> Vec<(TextRange, String)>,
) -> Option<Vec<TextEdit>> {
    if document.problem.is_some() || document.host.is_some() || document.origin.is_some() {
        return None;
    }
    let style = snapshot.config.style.or(document.project.style).unwrap_or_default();
    let edits = find(&document.file.parse(&snapshot.db), style)
        .into_iter()
        .map(|(range, text)| TextEdit::new(document.range(range, snapshot.encoding), text));
    Some(edits.collect())
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let find = |parse: &Parse, style| syntax::format::format(&document.text, parse, style);
    Ok(edits(snapshot, document, find))
}

pub(in crate::lsp) fn handle_range(
    snapshot: &Snapshot,
    params: DocumentRangeFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let (Some(start), Some(end)) = (
        document.offset(params.range.start, snapshot.encoding),
        document.offset(params.range.end, snapshot.encoding),
    ) else {
        return Ok(None);
    };
    let range = TextRange::new(start.min(end), end.max(start));
    let find = |parse: &Parse, style| ide::on_type::range(&document.text, parse, range, style);
    Ok(edits(snapshot, document, find))
}

pub(in crate::lsp) fn handle_on_type(
    snapshot: &Snapshot,
    params: DocumentOnTypeFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let (document, offset) = snapshot.place(&params.text_document_position)?;
    let find = |parse: &Parse, style| {
        ide::on_type::on_type(&document.text, parse, offset, &params.ch, style)
    };
    Ok(edits(snapshot, document, find))
}
