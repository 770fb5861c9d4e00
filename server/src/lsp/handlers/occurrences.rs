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
    let found = ide::references::references(&snapshot.db, document.file, offset);
    let convert = |reference: &ide::references::Reference| DocumentHighlight {
        range: document.range(reference.range, snapshot.encoding),
        kind: Some(if reference.is_definition {
            DocumentHighlightKind::WRITE
        } else {
            DocumentHighlightKind::READ
        }),
    };
    Ok(found.map(|found| found.iter().map(convert).collect()))
}
