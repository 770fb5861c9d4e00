//! Damage of a pasted text, and what TVM said in it.

use std::collections::BTreeMap;

use syntax::{Damage, Node, Parse, SyntaxError, TextRange};

use super::MergedDiagnostics;
use crate::diagnostic::{Code, Diagnostic};

/// The most characters of a message of TVM that are shown.
const MAX_SAID: usize = 300;

/// Reports the damage of a file, as one finding.
pub(super) fn check(parse: &Parse, findings: &mut MergedDiagnostics<'_>) {
    let mut counts: BTreeMap<Damage, u32> = BTreeMap::new();
    let mut first: Option<TextRange> = None;
    for error in &parse.errors {
        if let Some((damage, count)) = error.kind.damage() {
            let total = counts.entry(damage).or_default();
            *total = total.saturating_add(count);
            let is_first = first.is_none_or(|first| error.range.start() < first.start());
            first = if is_first { Some(error.range) } else { first };
        }
    }
    let Some(first) = first else { return };
    let kinds = counts.iter().map(|(damage, count)| format!("{}: {count}", damage.words()));
    let kinds = kinds.collect::<Vec<_>>().join("; ");
    let diagnostic = Diagnostic::new(Code::PastedText, first, format!("pasted text: {kinds}"));
    let edits = syntax::cleaning(parse);
    findings.add(match edits.is_empty() {
        true => diagnostic.help("what was cut is not checked"),
        false => diagnostic.fix("Clean the pasted text", edits),
    });
}

/// Returns what TVM said about the expression before it, in a module that it rejected.
pub(super) fn said(root: Node<'_>, error: &SyntaxError) -> Diagnostic {
    let text = root.token_at(error.range.start()).map_or("", |token| token.text());
    let text = text.trim_start_matches(['#', ' ']).trim_end_matches([';', ' ', '\n', '\r']);
    // A message of several lines is one sentence.
    let mut said: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = said.char_indices().nth(MAX_SAID) {
        said.truncate(end);
        said.push('…');
    }
    Diagnostic::new(Code::MessageOfTvm, error.range, format!("TVM said: {said}"))
}
