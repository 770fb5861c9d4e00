//! Edits of a text.

use syntax::TextRange;

/// What replaces what.
pub type Edits = Vec<(TextRange, String)>;

/// Applies edits, which stand in order and do not overlap; one that does is left out.
pub fn apply<'e>(text: &str, edits: impl IntoIterator<Item = (TextRange, &'e str)>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (range, with) in edits {
        let (start, end) = (usize::from(range.start()), usize::from(range.end()));
        let Some(between) = text.get(done..start) else { continue };
        if text.get(start..end).is_none() {
            continue;
        }
        out += between;
        out += with;
        done = end;
    }
    out += text.get(done..).unwrap_or_default();
    out
}

/// Applies edits as they were collected.
pub fn apply_all(text: &str, edits: &[(TextRange, String)]) -> String {
    let mut sorted: Vec<(TextRange, &str)> =
        edits.iter().map(|(range, with)| (*range, with.as_str())).collect();
    sorted.sort_by_key(|(range, _)| (range.start(), range.end()));
    apply(text, sorted)
}
