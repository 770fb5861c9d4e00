//! `textDocument/formatting`, `rangeFormatting`, `onTypeFormatting`

use syntax::format::Style;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        DocumentFormattingParams, DocumentOnTypeFormattingParams, DocumentRangeFormattingParams,
        TextEdit,
    },
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

/// Returns the style of a document: that of the client, or that of its project.
fn style(snapshot: &Snapshot, document: &Document) -> Style {
    snapshot.config.style.or(document.project.style).unwrap_or_default()
}

fn convert(
    snapshot: &Snapshot,
    document: &Document,
    edits: Vec<(syntax::TextRange, String)>,
) -> Option<Vec<TextEdit>> {
    let edits = edits
        .into_iter()
        .map(|(range, text)| TextEdit::new(document.range(range, snapshot.encoding), text));
    Some(edits.collect())
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let document = snapshot.document(&params.text_document.uri)?;
    if document.problem.is_some() || document.host.is_some() || document.origin.is_some() {
        return Ok(None);
    }
    let style = style(snapshot, document);
    let edits = syntax::format::format(&document.text, &document.parse(&snapshot.db), style);
    Ok(convert(snapshot, document, edits))
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
    if document.problem.is_some() || document.host.is_some() || document.origin.is_some() {
        return Ok(None);
    }
    let range = syntax::TextRange::new(start.min(end), end.max(start));
    let style = style(snapshot, document);
    let edits = ide::on_type::range(&document.text, &document.parse(&snapshot.db), range, style);
    Ok(convert(snapshot, document, edits))
}

pub(in crate::lsp) fn handle_on_type(
    snapshot: &Snapshot,
    params: DocumentOnTypeFormattingParams,
) -> Result<Option<Vec<TextEdit>>> {
    let (document, offset) = snapshot.place(&params.text_document_position)?;
    if document.problem.is_some() || document.host.is_some() || document.origin.is_some() {
        return Ok(None);
    }
    let (parse, style) = (document.parse(&snapshot.db), style(snapshot, document));
    let edits = ide::on_type::on_type(&document.text, &parse, offset, &params.ch, style);
    Ok(convert(snapshot, document, edits))
}
