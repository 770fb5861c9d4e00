//! The places where a text may have a directive: a comment such as `// relay: allow(unused-binding)`.
//!
//! They are found by their spelling, independent of tokens, and updated by each reparse: a text without
//! any costs one search when it is read, and a search of the inserted text for each edit.

use rowan::{TextRange, TextSize};

use crate::source::Source;

/// The spellings with which a directive begins.
const SPELLINGS: [&[u8]; 2] = [b"relay: allow", b"relay:allow"];
/// The length of the longest spelling.
const LONGEST: usize = SPELLINGS[0].len();

/// Returns the offsets at which a directive may begin, in order.
pub(crate) fn find(text: &str) -> Vec<TextSize> {
    let text = text.as_bytes();
    // Both spellings begin with it.
    let starts = memchr::memmem::find_iter(text, b"relay:");
    let starts = starts.filter(|&at| SPELLINGS.iter().any(|s| text[at..].starts_with(s)));
    starts.map(|at| TextSize::new(at as u32)).collect()
}

/// Returns the offsets for `text` after an edit, which replaced a range by `inserted` bytes. The
/// offsets were `before` the edit.
pub(crate) fn update(
    before: &[TextSize],
    text: &dyn Source,
    replaced: TextRange,
    inserted: usize,
) -> Vec<TextSize> {
    let (start, end) = (usize::from(replaced.start()), usize::from(replaced.end()));
    let inserted_end = start + inserted;
    // A directive that begins here or later, and before the edit, reaches into it.
    let mut from = start.saturating_sub(LONGEST - 1);
    while !text.is_boundary(from) {
        from -= 1;
    }
    let until = text.boundary_from(inserted_end + LONGEST - 1);
    let part = text.part(from..until).unwrap_or_default();
    let kept = before.iter().copied().filter(|&at| usize::from(at) < from);
    let near = find(&part).into_iter().map(|at| at + TextSize::new(from as u32));
    let near = near.filter(|&at| usize::from(at) < inserted_end);
    let moved = before.iter().filter(|&&at| usize::from(at) >= end);
    let moved = moved.map(|&at| TextSize::new((usize::from(at) - end + inserted_end) as u32));
    kept.chain(near).chain(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every edit of a text, of up to the length of a directive, leads to the offsets of a new search.
    #[test]
    fn updated_offsets_equal_found_ones() {
        let text = "// relay: allow(a)\n/* ä𝄞relay:allow(b) */ relay: allowrelay:allow";
        let before = find(text);
        assert_eq!(before.len(), 4);
        let boundaries: Vec<usize> =
            (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect();
        for &start in &boundaries {
            for &end in boundaries.iter().filter(|&&end| end >= start && end - start < 40) {
                for insert in
                    ["", "r", " ", "ä", "relay:", "relay: allow", ": allow", "relay:allow("]
                {
                    let range = TextRange::new((start as u32).into(), (end as u32).into());
                    let mut after = text.to_owned();
                    after.replace_range(start..end, insert);
                    let updated = update(&before, &after, range, insert.len());
                    assert_eq!(updated, find(&after), "{range:?} {insert:?}");
                }
            }
        }
    }
}
