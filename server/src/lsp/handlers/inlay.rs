//! `textDocument/inlayHint`

use ide::inlay::{HintKind, hints};
use syntax::TextRange;
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams, InlayHintTooltip, Url},
};

use crate::lsp::{documents::Document, snapshot::Snapshot};

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
    let mut found: Vec<InlayHint> = found.collect();
    if snapshot.config.values {
        values(snapshot, &params.text_document.uri, document, range, &mut found);
    }
    Ok(Some(found))
}

/// What variables were bound to when the document was run last, behind their names and types.
fn values(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
    range: TextRange,
    found: &mut Vec<InlayHint>,
) {
    let Some(placed) = snapshot.session.live.of(&snapshot.db, uri, document) else { return };
    let first = placed.values.partition_point(|value| value.range.end() < range.start());
    let shown = placed.values[first..].iter().take_while(|v| v.range.start() <= range.end());
    for value in shown.filter(|value| range.contains_inclusive(value.range.end())) {
        let tooltip = format!("in the last run{}", value.of_several());
        found.push(InlayHint {
            position: document.position(value.range.end(), snapshot.encoding),
            label: InlayHintLabel::String(format!("= {}", value.line)),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(tooltip)),
            padding_left: Some(true),
            padding_right: Some(true),
            data: None,
        });
    }
}
