//! `textDocument/prepareRename`, `textDocument/rename`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{PrepareRenameResponse, RenameParams, TextDocumentPositionParams, WorkspaceEdit},
};

use crate::lsp::{request::request_failed, snapshot::Snapshot};

pub(in crate::lsp) fn prepare(
    snapshot: &Snapshot,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>> {
    let (document, offset) = snapshot.place(&params)?;
    if document.host.is_some() {
        return Ok(None);
    }
    let found =
        ide::rename::prepare(&snapshot.db, document.file, offset).map_err(request_failed)?;
    Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
        range: document.range(found.range, snapshot.encoding),
        placeholder: found.name,
    }))
}

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: RenameParams,
) -> Result<Option<WorkspaceEdit>> {
    let (document, offset) = snapshot.place(&params.text_document_position)?;
    let uri = params.text_document_position.text_document.uri;
    let edits = ide::rename::rename(&snapshot.db, document.file, offset, &params.new_name)
        .map_err(request_failed)?;
    let edits = edits.iter().map(|(range, text)| {
        let edit = document.text_edit(*range, text, snapshot.encoding);
        edit.ok_or_else(|| request_failed(format!("this string literal cannot contain `{text}`")))
    });
    Ok(Some(WorkspaceEdit::new([(uri, edits.collect::<Result<_>>()?)].into())))
}
