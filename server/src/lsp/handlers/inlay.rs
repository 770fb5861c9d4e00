//! `textDocument/inlayHint`

use std::collections::HashMap;

use ide::{
    inlay::{HintKind, hints},
    markdown::code_block,
};
use semantics::Database;
use serde_json::{Value, json};
use syntax::{Node, SyntaxKind, TextRange, TextSize};
use tower_lsp::{
    jsonrpc::Result,
    lsp_types::{
        Command, InlayHint, InlayHintKind, InlayHintLabel, InlayHintLabelPart, InlayHintParams,
        InlayHintTooltip, Url,
    },
};

use super::hover::VIEW;
use crate::lsp::{documents::Document, live::LiveValue, snapshot::Snapshot};

pub(in crate::lsp) fn handle(
    snapshot: &Snapshot,
    params: InlayHintParams,
) -> Result<Option<Vec<InlayHint>>> {
    let document = snapshot.document(&params.text_document.uri)?;
    let uri = &params.text_document.uri;
    let hints = document.parts().iter().filter_map(|part| {
        let range = part.part_in(params.range, snapshot.encoding)?;
        Some(part_hints(snapshot, uri, part, range))
    });
    let hints: Vec<Vec<InlayHint>> = hints.collect();
    Ok((!hints.is_empty()).then(|| hints.into_iter().flatten().collect()))
}

fn part_hints(
    snapshot: &Snapshot,
    uri: &Url,
    document: &Document,
    range: TextRange,
) -> Vec<InlayHint> {
    let encoding = snapshot.encoding;
    let enabled = snapshot.config.hints;
    let found = hints(&snapshot.db, document.file, &document.lines, range, enabled);
    let found = found.into_iter().map(|hint| InlayHint {
        position: document.position(hint.at, encoding),
        label: InlayHintLabel::String(hint.text),
        kind: match hint.kind {
            HintKind::Type => Some(InlayHintKind::TYPE),
            HintKind::Parameter => Some(InlayHintKind::PARAMETER),
            HintKind::BlockEnd => None,
        },
        text_edits: None,
        tooltip: hint.tooltip.map(|ty| tooltip(snapshot, code_block(&ty))),
        padding_left: (hint.kind == HintKind::BlockEnd).then_some(true),
        padding_right: (hint.kind == HintKind::Parameter).then_some(true),
        data: None,
    });
    let mut found: Vec<InlayHint> = found.collect();
    if snapshot.config.values {
        values(snapshot, uri, document, range, &mut found);
    }
    found
}

/// Returns the hints with the values of the last run: at the end of the line of a binding, so that
/// the call stays visible, and after each parameter of a line with several. A shape that the line
/// shows is not repeated. Values are placed before the comments that TVM prints, most of which are
/// wider than a window.
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
    let shown: Vec<(u32, &LiveValue)> = shown
        .filter(|value| range.contains_inclusive(value.range.end()))
        .map(|value| (document.lines.line_at(value.range.start()), value))
        .collect();
    let mut types: HashMap<u32, String> = HashMap::new();
    for hint in found.iter() {
        if let InlayHintLabel::String(label) = &hint.label {
            *types.entry(hint.position.line).or_default() += label;
        }
    }
    for (at, (line, value)) in shown.iter().enumerate() {
        let is_same = |other: Option<&(u32, &LiveValue)>| other.is_some_and(|(l, _)| l == line);
        let is_alone = !is_same(at.checked_sub(1).and_then(|before| shown.get(before)))
            && !is_same(shown.get(at + 1));
        let line_range = document.lines.line_content(&document.text, *line).filter(|_| is_alone);
        // The code that may show the shape already: the line, or the declaration of a parameter.
        let code = line_range
            .or_else(|| parameter(&snapshot.db, document, value.range))
            .unwrap_or(value.range);
        let text = &document.text[code];
        // `(2, 3)` of `(2, 3) min …`, as types write it.
        let first = value.shown();
        let shape = first.line.split_inclusive(')').next().unwrap_or_default().replace(",)", ")");
        let is_hinted = || is_alone && types.get(line).is_some_and(|types| types.contains(&shape));
        let is_known = text.contains(&shape) || is_hinted();
        let label = if is_known && !first.brief.is_empty() { &first.brief } else { &first.line };
        let offset = code.start() + TextSize::of(code_of(text));
        let text = format!("= {label}{}", value.number());
        found.push(InlayHint {
            position: document.position(offset, snapshot.encoding),
            label: match value.is_tensor() && snapshot.client.runs(VIEW) {
                true => {
                    let at = document.position(value.range.start(), snapshot.encoding);
                    clickable(text, vec![json!(uri), json!(at), json!(value.shown_number())])
                }
                false => InlayHintLabel::String(text),
            },
            kind: None,
            text_edits: None,
            tooltip: Some(tooltip(snapshot, value.markdown())),
            padding_left: Some(true),
            padding_right: Some(true),
            data: None,
        });
    }
}

/// Returns a label that opens the view of a value: that with a number, of the variable at a position of a document.
fn clickable(text: String, value: Vec<Value>) -> InlayHintLabel {
    let command = Command {
        title: "View Tensor".to_owned(),
        command: VIEW.to_owned(),
        arguments: Some(value),
    };
    InlayHintLabel::LabelParts(vec![InlayHintLabelPart {
        value: text,
        command: Some(command),
        ..InlayHintLabelPart::default()
    }])
}

/// Returns a tooltip in the format that the client takes in hovers. A bare string would be shown with its backquotes.
fn tooltip(snapshot: &Snapshot, markdown: String) -> InlayHintTooltip {
    InlayHintTooltip::MarkupContent(snapshot.client.features.markup.hover.content(markdown))
}

/// Returns a line without the comment that TVM prints at its end.
fn code_of(line: &str) -> &str {
    let is_printed = |at: &usize| {
        let comment = line[at + 2..].trim_start();
        let is_last = comment
            .find("*/")
            .is_some_and(|end| comment[end + 2..].trim_matches([' ', ';']).is_empty());
        is_last && (comment.starts_with("ty=") || comment.starts_with("span="))
    };
    match line.rfind("/*").filter(is_printed) {
        Some(at) => line[..at].trim_end(),
        None => line.trim_end(),
    }
}

/// Returns the range of a parameter with its type, if `name` is the name of one.
fn parameter(db: &Database, document: &Document, name: TextRange) -> Option<TextRange> {
    let parse = document.file.parse(db);
    let path = Node::root(&parse.green).path_to(name);
    let parameter = path.into_iter().rev().find(|node| node.kind() == SyntaxKind::PARAM)?;
    Some(parameter.range())
}

#[cfg(test)]
mod tests {
    use super::code_of;

    #[test]
    fn values_precede_printed_comments() {
        let cases = [
            ("  %0 = f(%x) /* ty=int32 span=a:1 */;", "  %0 = f(%x)"),
            ("  %0 = f(%x /* ty=int32 */);", "  %0 = f(%x /* ty=int32 */);"),
            ("  %0 = f(%x /* ty=int32 */) /* span=a */", "  %0 = f(%x /* ty=int32 */)"),
            ("  %0 = f(%x); /* mine */", "  %0 = f(%x); /* mine */"),
            ("  %0 = f(%x); /* ty= open", "  %0 = f(%x); /* ty= open"),
            ("", ""),
        ];
        for (line, code) in cases {
            assert_eq!(code_of(line), code);
        }
    }
}
