//! A whole file to TVM's text.

use std::{collections::BTreeMap, sync::Arc};

use syntax::{ParseLimits, TextRange, TextSize};

use crate::{
    check,
    db::{Database, SourceFile},
    diagnostic::{Diagnostic, Fix, Severity, code_of},
};

/// How often what a fix uncovers is fixed in turn. Fixes wait for each other only where they touch
/// the same place, so that a handful of rounds is enough; the bound is for what nobody thought of.
const MAX_ROUNDS: usize = 32;

/// A file as TVM takes it, as far as it can be rewritten.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The text.
    pub text: String,
    /// What TVM still refuses, and what is wrong for anyone, with places in the new text. Empty if
    /// TVM would take the file.
    pub left: Vec<Diagnostic>,
}

/// Rewrites a text so that TVM can read it, without changing what it means: applies the fixes of
/// the group `tvm-compat` until none is left.
///
/// A text with syntax errors stays as it is.
pub fn to_tvm(text: &str) -> Converted {
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
        db.set_parse(file, Arc::new(syntax::parse_with(&text, limits)));
    }
    db.set_strict(true);
    let mut left = check::everything(&db, file);
    left.retain(|diagnostic| diagnostic.severity == Severity::Error);
    Converted { text, left }
}

fn round(db: &Database, file: SourceFile, text: &str) -> String {
    let found = check::everything(db, file);
    let of_group = |diagnostic: &&Diagnostic| code_of(diagnostic.code).is_some_and(|c| c.tvm);
    apply(text, found.iter().filter(of_group).filter_map(|diagnostic| diagnostic.fixes.first()))
}

/// Applies fixes to a text, each as a whole. What touches the same place as one before it is left
/// out: it may no longer be right, and is found again in the new text if it is.
pub fn apply<'f>(text: &str, fixes: impl IntoIterator<Item = &'f Fix>) -> String {
    let mut edits: BTreeMap<(TextSize, TextSize), &'f str> = BTreeMap::new();
    for fix in fixes {
        if fix.edits.iter().all(|(range, with)| is_free(&edits, *range, with)) {
            for (range, with) in &fix.edits {
                edits.insert((range.start(), range.end()), with);
            }
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for ((start, end), with) in edits {
        let (start, end) = (usize::from(start), usize::from(end));
        // Places are those of this text; what is not would be left as it is.
        let Some(between) = text.get(done..start) else { continue };
        out += between;
        out += with;
        done = end;
    }
    out += text.get(done..).unwrap_or_default();
    out
}

/// Whether a change touches none of `edits`: it may stand against another, or replace the same by
/// the same.
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
    fn fixes_that_touch_wait() {
        let fixes = [
            fix(&[(0, 0, "("), (2, 2, ")")]),
            // Against the end of the first: it may go in front of what follows.
            fix(&[(2, 4, "X")]),
            // The same place as the first.
            fix(&[(0, 0, "["), (1, 1, "]")]),
            fix(&[(2, 4, "X"), (5, 5, "!")]),
            fix(&[(3, 5, "Y")]),
        ];
        assert_eq!(apply("abcdef", &fixes), "(ab)Xe!f");
        assert_eq!(apply("abcdef", &fixes[4..]), "abcYf");
    }
}
