//! `textDocument/references`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Location, ReferenceParams},
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: ReferenceParams,
) -> Result<Option<Vec<Location>>> {
    let (document, offset) = snapshot.place(&params.text_document_position)?;
    let uri = &params.text_document_position.text_document.uri;
    let with_definition = params.context.include_declaration;
    let found = ide::references::references(&snapshot.db, document.file, offset);
    Ok(found.map(|found| {
        found
            .iter()
            .filter(|reference| with_definition || !reference.is_definition)
            .map(|reference| {
                Location::new(uri.clone(), document.range(reference.range, snapshot.encoding))
            })
            .collect()
    }))
}
