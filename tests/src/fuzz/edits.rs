//! Fuzz targets of incremental reparsing and analysis.

use semantics::{Database, SourceFile, check_file, types_in};
use syntax::{Edit, Parse, ParseLimits, TextRange, TextSize, parse};

use super::{SEPARATOR, text::text_of};

/// The largest number of edits; further ones are ignored.
const MAX_EDITS: usize = 64;

/// Splits an input into a text and its edits: [`Kind::Edits`](super::Kind::Edits).
fn script(input: &[u8]) -> (String, Vec<String>) {
    let script = text_of(input);
    let mut parts = script.split(SEPARATOR).map(str::to_owned);
    (parts.next().unwrap_or_default(), parts.take(MAX_EDITS).collect())
}

/// Parses an edit. Positions past the end are clamped to the end, positions inside a character to its
/// start.
fn edit(text: &str, written: &str) -> Edit {
    let (at, rest) = written.split_once(' ').unwrap_or((written, ""));
    let (length, insert) = rest.split_once(' ').unwrap_or((rest, ""));
    let number = |text: &str| text.parse::<usize>().unwrap_or_default();
    let boundary = |at: usize| {
        let near = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
        near.unwrap_or_default()
    };
    let start = boundary(number(at));
    let end = boundary(start.saturating_add(number(length))).max(start);
    let size = |at: usize| TextSize::new(at as u32);
    Edit { range: TextRange::new(size(start), size(end)), insert: insert.to_owned() }
}

fn errors(parse: &Parse) -> Vec<String> {
    let mut errors: Vec<_> =
        parse.errors.iter().map(|error| format!("{:?} {:?}", error.range, error.kind)).collect();
    errors.sort();
    errors
}

/// Returns the lines around the first node in which two trees differ.
fn first_difference(part: &Parse, full: &Parse) -> String {
    let (part, full) = (format!("{:#?}", part.syntax()), format!("{:#?}", full.syntax()));
    let (part, full): (Vec<_>, Vec<_>) = (part.lines().collect(), full.lines().collect());
    let same = part.iter().zip(&full).take_while(|(part, full)| part == full).count();
    let show = |lines: &[&str]| {
        lines[same.saturating_sub(4).min(lines.len())..(same + 8).min(lines.len())].join("\n")
    };
    format!("in part:\n{}\nin full:\n{}", show(&part), show(&full))
}

/// Checks that the tree after each edit equals that of a full parse.
pub fn reparse(input: &[u8]) {
    let (mut text, edits) = script(input);
    let mut parsed = parse(&text);
    for (number, written) in edits.iter().enumerate() {
        let edit = edit(&text, written);
        edit.apply(&mut text);
        let full = parse(&text);
        if let Some(part) = parsed.reparse_part(&text, &edit) {
            assert!(part.green.to_string() == text, "text is lost by edit {number}");
            if part.green != full.green {
                let difference = first_difference(&part, &full);
                panic!("the tree differs after edit {number}: {difference}\nof {text:?}");
            }
            let (part, full) = (errors(&part), errors(&full));
            assert!(part == full, "the errors differ after edit {number}: {part:?}, not {full:?}");
        }
        parsed = parsed.reparse(&text, &edit);
        assert!(parsed.green == full.green, "what is shared differs after edit {number}");
    }
}

/// Checks that types and diagnostics after each edit equal those of a fresh database, in both modes.
pub fn edits(input: &[u8]) {
    let (text, edits) = script(input);
    for strict in [false, true] {
        let mut text = text.clone();
        let mut db = Database::new();
        db.set_tvm(strict);
        let file = db.add_file(&text, ParseLimits::default());
        types_in(&db, file);
        check_file(&db, file);
        for (number, written) in edits.iter().enumerate() {
            let edit = edit(&text, written);
            edit.apply(&mut text);
            db.apply(file, &edit);
            compare(&db, file, &text, strict, number);
        }
    }
}

fn compare(db: &Database, file: SourceFile, text: &str, strict: bool, number: usize) {
    let mut fresh = Database::new();
    fresh.set_tvm(strict);
    let fresh_file = fresh.add_file(text, ParseLimits::default());
    let about = || format!("after edit {number}, strict {strict}, of {text:?}");
    let (after, fresh_types) = (types_in(db, file), types_in(&fresh, fresh_file));
    if after != fresh_types {
        let differ = after.iter().zip(&fresh_types).find(|(after, fresh)| after != fresh);
        panic!("the types differ: {differ:?} {}", about());
    }
    let (after, fresh) = (check_file(db, file), check_file(&fresh, fresh_file));
    if after != fresh {
        let differ = after.iter().zip(fresh.iter()).find(|(after, fresh)| after != fresh);
        let counts = (after.len(), fresh.len());
        panic!("the findings differ: {counts:?} {differ:?} {}", about());
    }
}
