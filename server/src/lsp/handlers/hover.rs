//! `textDocument/hover`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind},
};

use crate::lsp::owner::Snapshot;

pub(in crate::lsp) fn handle(snapshot: &Snapshot, params: HoverParams) -> Result<Option<Hover>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    let hover = ide::hover::hover(&snapshot.db, document.file, offset);
    Ok(hover.map(|hover| Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value: hover.markdown,
        }),
        range: Some(document.range(hover.range, snapshot.encoding)),
    }))
}
