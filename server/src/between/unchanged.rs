//! Expressions that a pass did not change, as the texts before and after it show.
//!
//! A pass changes a few statements of a long module, or none. To analyse and compare two modules of two
//! megabytes takes a hundred milliseconds, to compare their texts one. An expression is the same in both
//! if its text is, and all names in it have the same meaning: that is so
//!
//! - if the texts are equal up to the end of its line,
//! - if the whole definition around it is equal, or
//! - if it follows the only place where the texts differ, and uses no name that is bound there.
//!
//! The comparison of the modules finds no change in it, which a test of [`history`](super::history) holds.

use std::ops::Range;

use memchr::memmem;
use rustc_hash::FxHashSet;
use syntax::{TextRange, TextSize};

/// Returns the range in `after` of the expression at `range` in `before`, if the texts show that it is the
/// same. The order of the two makes no difference.
pub(super) fn moved(before: &str, after: &str, range: TextRange) -> Option<TextRange> {
    let expression = before.get(Range::<usize>::from(range))?;
    let own = Range::<usize>::from(range);
    // A constant is what the metadata section says.
    let section = |text: &str| memmem::rfind(text.as_bytes(), SECTION).unwrap_or(text.len());
    if expression.contains("meta[") && before[section(before)..] != after[section(after)..] {
        return None;
    }
    let line_end = memchr::memchr(b'\n', &before.as_bytes()[own.end..]);
    let line_end = line_end.map_or(before.len(), |at| own.end + at + 1);
    let start = if before.get(..line_end) == after.get(..line_end) {
        own.start
    } else {
        in_same_definition(before, after, &own)
            .or_else(|| after_change(before, after, &own, expression))?
    };
    Some(TextRange::at(TextSize::try_from(start).ok()?, range.len()))
}

/// The first bytes of the metadata section.
const SECTION: &[u8] = b"#[metadata]";

/// Returns the start of the expression if the definition around it is equal in both texts, and its name
/// begins a single definition in each.
fn in_same_definition(before: &str, after: &str, own: &Range<usize>) -> Option<usize> {
    let definition = definition_around(before, own)?;
    let text = &before[definition.clone()];
    // The name of a function ends with its parameters.
    let head = text.split_inclusive(['(', '[']).next()?;
    let start = only_line_start(after, head)?;
    let is_same = only_line_start(before, head) == Some(definition.start)
        && after.get(start..start + text.len()) == Some(text);
    is_same.then(|| own.start - definition.start + start)
}

/// Returns the range of the definition around an expression, from the line that begins with `def` to the
/// line that begins with `}`, as a log is divided into definitions.
fn definition_around(text: &str, own: &Range<usize>) -> Option<Range<usize>> {
    let (before, after) = text.split_at_checked(own.end)?;
    let start = match before.rfind("\ndef @") {
        Some(at) => at + 1,
        None => before.starts_with("def @").then_some(0)?,
    };
    let end = own.end + after.find("\n}")? + 2;
    (start <= own.start).then_some(start..end)
}

/// Returns the offset of the only line that begins with `head`.
fn only_line_start(text: &str, head: &str) -> Option<usize> {
    let is_start = |&at: &usize| at == 0 || text.as_bytes()[at - 1] == b'\n';
    let mut found = memmem::find_iter(text.as_bytes(), head.as_bytes()).filter(is_start);
    found.next().filter(|_| found.next().is_none())
}

/// Returns the start of an expression that follows the lines in which the texts differ, if they bind none
/// of its names, and neither begin nor end a function.
fn after_change(before: &str, after: &str, own: &Range<usize>, expression: &str) -> Option<usize> {
    let (old, new) = difference(before, after);
    if own.start < old.end {
        return None;
    }
    let changed = [before.get(old.clone())?, after.get(new.clone())?];
    let is_statements = |text: &str| {
        is_balanced(text) && !text.lines().any(|line| line.starts_with(['d', 't', '#']))
    };
    if !changed.into_iter().all(is_statements) {
        return None;
    }
    let bound: FxHashSet<&str> = changed.into_iter().flat_map(str::lines).flat_map(bound).collect();
    let is_free = names(expression).all(|name| !bound.contains(name));
    is_free.then(|| own.start - old.end + new.end)
}

/// Returns true if a text closes what it opens, and nothing else: a branch, a function or a comment.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0;
    for bracket in text.bytes().filter(|byte| b"{}()".contains(byte)) {
        depth += if matches!(bracket, b'{' | b'(') { 1 } else { -1 };
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && text.matches("/*").count() == text.matches("*/").count()
}

/// Returns the names that a line may bind: `%a` in `let %a = add(%b, %c);`, and all names of a line with a
/// function, a branch or a pattern.
fn bound(line: &str) -> impl Iterator<Item = &str> {
    let is_plain = |value: &str| !["fn", "let", "{", "=>"].iter().any(|word| value.contains(word));
    match line.split_once(" = ") {
        Some((binding, value)) if is_plain(value) => names(binding),
        _ => names(line),
    }
}

/// Returns the names of local variables in a text, up to a `.`: `%input` in `%input.1`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('%').skip(1).map(|rest| {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        rest.split(|c| !is_name(c)).next().unwrap_or_default()
    })
}

/// Returns the whole lines in which two texts differ: all others are equal.
fn difference(before: &str, after: &str) -> (Range<usize>, Range<usize>) {
    let (a, b) = (before.as_bytes(), after.as_bytes());
    let equal = common(a.chunks(CHUNK), b.chunks(CHUNK), |a, b| common_bytes(a.iter(), b.iter()));
    let start = memchr::memrchr(b'\n', &a[..equal]).map_or(0, |at| at + 1);
    let (rest_a, rest_b) = (&a[start..], &b[start..]);
    let equal = common(rest_a.rchunks(CHUNK), rest_b.rchunks(CHUNK), |a, b| {
        common_bytes(a.iter().rev(), b.iter().rev())
    });
    let (end_a, end_b) = (a.len() - equal, b.len() - equal);
    let begins_line = |text: &[u8], at: usize| at == 0 || text[at - 1] == b'\n';
    let rest_of_line = match begins_line(a, end_a) && begins_line(b, end_b) {
        true => 0,
        false => memchr::memchr(b'\n', &a[end_a..]).map_or(equal, |at| at + 1),
    };
    (start..end_a + rest_of_line, start..end_b + rest_of_line)
}

/// The number of bytes that are compared at once.
const CHUNK: usize = 4 << 10;

/// Returns the number of bytes that two sequences of chunks have in common, of which `of_chunks` are in the
/// first two that differ.
fn common<'t>(
    mut a: impl Iterator<Item = &'t [u8]>,
    mut b: impl Iterator<Item = &'t [u8]>,
    of_chunks: impl Fn(&[u8], &[u8]) -> usize,
) -> usize {
    let mut equal = 0;
    while let (Some(a), Some(b)) = (a.next(), b.next()) {
        if a != b {
            return equal + of_chunks(a, b);
        }
        equal += a.len();
    }
    equal
}

fn common_bytes<'t>(a: impl Iterator<Item = &'t u8>, b: impl Iterator<Item = &'t u8>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
def @f(%x: int32) {
  %x
}
def @main(%x: int32, %y: int32) {
  let %a = add(%x, 1);
  let %b = add(%y, 2);
  let %c = add(%b, 3);
  multiply(%a, %c)
}
";

    /// Returns the text in `after` to which an expression of [`TEXT`] has moved.
    fn moved_to<'t>(after: &'t str, expression: &str) -> Option<&'t str> {
        let at = TEXT.find(expression).expect("the expression");
        let range = TextRange::at((at as u32).into(), TextSize::of(expression));
        let to = moved(TEXT, after, range)?;
        after.get(Range::<usize>::from(to))
    }

    #[test]
    fn expressions_around_a_change_are_the_same() {
        let changed = TEXT.replace("add(%y, 2)", "subtract(%y, 2)");
        for expression in ["add(%x, 1)", "multiply(%a, %c)", "%x: int32, %y", "%x\n"] {
            assert_eq!(moved_to(&changed, expression), Some(expression));
        }
        // `%b` is what has changed.
        for expression in ["add(%y, 2)", "add(%b, 3)"] {
            assert_eq!(moved_to(&changed, expression), None, "{expression}");
        }
        // Nor are names that it only uses.
        let used = TEXT.replace("let %b = add(%y, 2)", "let %q = add(%a, %c)");
        assert_eq!(moved_to(&used, "multiply(%a, %c)"), Some("multiply(%a, %c)"));
        for inner in ["fn (%c) { %y }", "(let %c = %y; %y)", "match (%y) { P(%c) => %c }"] {
            let inner = TEXT.replace("add(%y, 2)", inner);
            assert_eq!(moved_to(&inner, "multiply(%a, %c)"), None, "{inner}");
        }
        let longer = TEXT.replace("  let %c", "  let %d = %y;\n  let %c");
        assert_eq!(moved_to(&longer, "add(%b, 3)"), Some("add(%b, 3)"));
        assert_eq!(moved_to(TEXT, "add(%b, 3)"), Some("add(%b, 3)"));
    }

    #[test]
    fn definitions_may_move() {
        let first = "def @g() {\n  1\n}\n";
        let (f, main) = TEXT.split_at(TEXT.find("def @main").expect("a function"));
        for after in [first.to_owned() + main + f, main.to_owned() + first] {
            assert_eq!(moved_to(&after, "add(%b, 3)"), Some("add(%b, 3)"));
        }
        // A second definition of the name.
        let twice = f.to_owned() + first + main + "def @main(%x: int32) {\n  %x\n}\n";
        assert_eq!(moved_to(&twice, "add(%b, 3)"), None);
    }

    #[test]
    fn what_texts_do_not_show_is_not_decided() {
        // The number of the graph variable.
        let renamed = TEXT.replace("%y", "%z");
        assert_eq!(moved_to(&renamed, "add(%b, 3)"), None);
        // The end of a function, and the beginning of another.
        let divided =
            TEXT.replace("  let %c", "  %b\n}\ndef @other(%a: int32, %b: int32) {\n  let %c");
        assert_eq!(moved_to(&divided, "multiply(%a, %c)"), None);
        // A branch around the rest, and a branch, a call and a comment that end in it.
        for inserted in ["if (%q) {", "} else {", "f(", "/*"] {
            let inside = TEXT.replace("  let %c", &format!("  {inserted}\n  let %c"));
            assert_eq!(moved_to(&inside, "multiply(%a, %c)"), None, "{inserted}");
        }
        // The metadata section of a constant.
        let constant = |number: u32| {
            format!(
                "def @main() {{\n  meta[relay.Constant][0]\n}}\n#[metadata]\n{{\"{number}\"}}\n"
            )
        };
        let (one, other) = (constant(1), constant(2));
        let range = TextRange::at(16.into(), TextSize::of("meta[relay.Constant][0]"));
        assert_eq!(moved(&one, &one, range), Some(range));
        assert_eq!(moved(&one, &other, range), None);
    }

    #[test]
    fn differences_are_whole_lines() {
        for (before, after, old, new) in [
            ("a\nb\nc\n", "a\nx\nc\n", "b\n", "x\n"),
            ("a\nbc\nd\n", "a\nxc\nd\n", "bc\n", "xc\n"),
            ("a\nc\n", "a\nb\nc\n", "", "b\n"),
            ("a\na\n", "a\na\na\n", "", "a\n"),
            ("ab", "ac", "ab", "ac"),
            ("a\n", "a\n", "", ""),
            ("", "a", "", "a"),
        ] {
            let (a, b) = difference(before, after);
            assert_eq!((&before[a.clone()], &after[b.clone()]), (old, new), "{before:?} {after:?}");
            assert_eq!(before[..a.start], after[..b.start]);
            assert_eq!(before[a.end..], after[b.end..]);
        }
        let long = "x\n".repeat(10_000);
        let (a, b) = difference(&(long.clone() + "y\n" + &long), &(long.clone() + "z\n" + &long));
        assert_eq!((a.len(), b.len()), (2, 2));
    }
}
