//! `textDocument/inlayHint`

use ide::inlay::{HintKind, hints};
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams, InlayHintTooltip},
};

use crate::lsp::owner::Snapshot;

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: InlayHintParams,
) -> Result<Option<Vec<InlayHint>>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let encoding = snapshot.encoding;
    let Some(start) = document.offset(params.range.start, encoding) else { return Ok(None) };
    // Editors ask up to the line behind the last.
    let end = document.offset(params.range.end, encoding).unwrap_or(document.lines.text_len());
    let range = TextRange::new(start, end.max(start));
    let wanted = snapshot.config.hints;
    let found = hints(&snapshot.db, document.file, &document.lines, range, wanted);
    let found = found.into_iter().map(|hint| InlayHint {
        position: document.position(hint.at, encoding),
        label: InlayHintLabel::String(hint.text),
        kind: match hint.kind {
            HintKind::Type => Some(InlayHintKind::TYPE),
            HintKind::Parameter => Some(InlayHintKind::PARAMETER),
            HintKind::BlockEnd => None,
        },
        text_edits: None,
        tooltip: hint.tooltip.map(InlayHintTooltip::String),
        padding_left: (hint.kind == HintKind::BlockEnd).then_some(true),
        padding_right: (hint.kind == HintKind::Parameter).then_some(true),
        data: None,
    });
    Ok(Some(found.collect()))
}
