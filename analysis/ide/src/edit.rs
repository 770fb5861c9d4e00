//! Text edits.

use std::borrow::Cow;

use syntax::{TextRange, format::apply};

/// Ranges of a text and their replacements.
pub type Edits = Vec<(TextRange, String)>;

/// Returns the line break of a text: that of Windows if it contains any.
pub fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns a text with other line breaks.
pub fn with_line_break<'t>(text: &'t str, line_break: &str) -> Cow<'t, str> {
    match line_break == "\r\n" && text.contains('\n') {
        true => text.replace("\r\n", "\n").replace('\n', "\r\n").into(),
        false => text.into(),
    }
}

/// Sorts and applies edits.
pub fn apply_all(text: &str, edits: &[(TextRange, String)]) -> String {
    let mut sorted: Vec<(TextRange, &str)> =
        edits.iter().map(|(range, with)| (*range, with.as_str())).collect();
    sorted.sort_by_key(|(range, _)| (range.start(), range.end()));
    apply(text, &sorted)
}
