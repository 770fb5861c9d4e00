//! `textDocument/documentHighlight`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams},
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    let found = ide::occurrences::occurrences(&snapshot.db, document.file, offset);
    let convert = |occurrence: &ide::occurrences::Occurrence| DocumentHighlight {
        range: document.range(occurrence.range, snapshot.encoding),
        kind: Some(if occurrence.is_write {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    };
    Ok(found.map(|found| found.iter().map(convert).collect()))
}
