//! `textDocument/foldingRange`

use ide::folding::{FoldKind, folds, of_layers};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams},
};

use crate::lsp::snapshot::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: FoldingRangeParams,
) -> Result<Option<Vec<FoldingRange>>> {
    let document = snapshot.document(&params.text_document.uri)?;
    snapshot.session.layered.record(document);
    let mut found = folds(&snapshot.db, document.file, &document.lines);
    let grouping = snapshot.config.layers;
    found.extend(of_layers(&snapshot.db, document.file, grouping, &document.lines));
    let found = found.into_iter().map(|fold| {
        let range = document.range(fold.range, snapshot.encoding);
        FoldingRange {
            start_line: range.start.line,
            start_character: Some(range.start.character),
            end_line: range.end.line,
            end_character: Some(range.end.character),
            kind: match fold.kind {
                FoldKind::Block | FoldKind::List | FoldKind::Layer => None,
                FoldKind::Comment => Some(FoldingRangeKind::Comment),
                FoldKind::Tir | FoldKind::Metadata => Some(FoldingRangeKind::Region),
            },
            collapsed_text: None,
        }
    });
    Ok(Some(found.collect()))
}
