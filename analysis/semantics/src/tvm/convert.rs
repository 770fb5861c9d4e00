//! Conversion of a whole file to TVM's text format.

use std::collections::BTreeMap;

use syntax::{ParseLimits, TextRange, TextSize};

use crate::{
    check::all_diagnostics,
    db::{Database, SourceFile},
    diagnostic::{Code, Diagnostic, Fix, Severity},
};

/// The maximum number of rounds of fixes. Only overlapping fixes need further rounds, so that a few
/// are enough in practice; the limit guarantees termination.
const MAX_ROUNDS: usize = 32;

/// The result of a conversion.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The converted text.
    pub text: String,
    /// The remaining errors, with ranges in the new text. Empty if TVM accepts the text.
    pub left: Vec<Diagnostic>,
}

/// Converts a text so that TVM can read it, and preserves its meaning: applies the fixes of the
/// codes of TVM until none is left.
///
/// A text with syntax errors is returned unchanged.
pub fn to_tvm(text: &str) -> Conversion {
    let limits = ParseLimits::default();
    let mut db = Database::new();
    let file = db.add_file(text, limits);
    let mut text = text.to_owned();
    let is_broken = file.parse(&db).errors.iter().any(|error| !error.kind.is_compat());
    for _ in 0..if is_broken { 0 } else { MAX_ROUNDS } {
        let next = round(&db, file, &text);
        if next == text {
            break;
        }
        text = next;
        db.set_text(file, text.as_str(), limits);
    }
    db.set_tvm(true);
    let mut left = all_diagnostics(&db, file);
    left.retain(|diagnostic| diagnostic.severity == Severity::Error);
    Conversion { text, left }
}

fn round(db: &Database, file: SourceFile, text: &str) -> String {
    let found = all_diagnostics(db, file);
    let of_group = |diagnostic: &&Diagnostic| diagnostic.code.is_tvm();
    // The other fixes are those of the clean text.
    if let Some(pasted) = found.iter().find(|diagnostic| diagnostic.code == Code::PastedText)
        && let Some(clean) = pasted.fixes.first()
    {
        return apply(text, [clean]);
    }
    apply(text, found.iter().filter(of_group).filter_map(|diagnostic| diagnostic.fixes.first()))
}

/// Applies fixes to a text, each as a whole. A fix that overlaps an earlier one is skipped, because
/// it may be outdated; checking the new text finds it again otherwise.
pub fn apply<'f>(text: &str, fixes: impl IntoIterator<Item = &'f Fix>) -> String {
    let mut edits: BTreeMap<(TextSize, TextSize), &'f str> = BTreeMap::new();
    for fix in fixes {
        if fix.edits.iter().all(|(range, with)| is_free(&edits, *range, with)) {
            for (range, with) in fix.edits.iter() {
                edits.insert((range.start(), range.end()), with);
            }
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for ((start, end), with) in edits {
        let (start, end) = (usize::from(start), usize::from(end));
        // Ranges outside of the text are ignored.
        let Some(between) = text.get(done..start) else { continue };
        out += between;
        out += with;
        done = end;
    }
    out += text.get(done..).unwrap_or_default();
    out
}

/// Returns true if an edit overlaps none of `edits`. It may be adjacent to one, or equal to one.
fn is_free(edits: &BTreeMap<(TextSize, TextSize), &str>, range: TextRange, with: &str) -> bool {
    let (start, end) = (range.start(), range.end());
    if let Some(known) = edits.get(&(start, end)) {
        return !range.is_empty() && *known == with;
    }
    let mut before = edits.range(..=(end, TextSize::new(u32::MAX))).rev();
    before
        .by_ref()
        .take_while(|((_, other_end), _)| *other_end >= start)
        .all(|((other_start, other_end), _)| *other_end <= start || end <= *other_start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let edits = edits
            .iter()
            .map(|&(start, end, text)| (TextRange::new(start.into(), end.into()), text.to_owned()));
        Fix { title: String::new(), edits: edits.collect() }
    }

    #[test]
    fn overlapping_fixes_are_skipped() {
        let fixes = [
            fix(&[(0, 0, "("), (2, 2, ")")]),
            // Adjacent to the end of the first fix.
            fix(&[(2, 4, "X")]),
            // The same range as in the first fix.
            fix(&[(0, 0, "["), (1, 1, "]")]),
            fix(&[(2, 4, "X"), (5, 5, "!")]),
            fix(&[(3, 5, "Y")]),
        ];
        assert_eq!(apply("abcdef", &fixes), "(ab)Xe!f");
        assert_eq!(apply("abcdef", &fixes[4..]), "abcYf");
    }
}
