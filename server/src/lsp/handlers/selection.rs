//! `textDocument/selectionRange`

use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{Range, SelectionRange, SelectionRangeParams},
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: SelectionRangeParams,
) -> Result<Option<Vec<SelectionRange>>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let answers = params.positions.iter().map(|&position| {
        let offset = document.offset(position, snapshot.encoding);
        let offset = offset.unwrap_or(document.lines.text_len());
        let ranges = ide::selection::ranges(&snapshot.db, document.file, offset);
        // Each range has a parent, the next larger one.
        let nested = ranges.iter().rev().fold(None, |parent, range| {
            let range = document.range(*range, snapshot.encoding);
            Some(SelectionRange { range, parent: parent.map(Box::new) })
        });
        // The protocol requires an answer for each position.
        let here = SelectionRange { range: Range::new(position, position), parent: None };
        nested.unwrap_or(here)
    });
    Ok(Some(answers.collect()))
}
