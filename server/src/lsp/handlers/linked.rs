//! `textDocument/linkedEditingRange`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{LinkedEditingRangeParams, LinkedEditingRanges},
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: LinkedEditingRangeParams,
) -> Result<Option<LinkedEditingRanges>> {
    let (document, offset) = snapshot.place(&params.text_document_position_params)?;
    let found = ide::linked::linked_ranges(&snapshot.db, document.file, offset);
    Ok(found.map(|ranges| LinkedEditingRanges {
        ranges: ranges.iter().map(|range| document.range(*range, snapshot.encoding)).collect(),
        word_pattern: Some("%?[A-Za-z_][A-Za-z0-9_/]*".into()),
    }))
}
