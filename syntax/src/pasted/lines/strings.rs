//! Text whose lines are strings of Python, as a program writes it:
//!
//! ```text
//! text = (
//!     "def @main(%x: float32) {\n"
//!     "  exp(%x)\n"
//!     "}"
//! )
//! ```

use std::ops::Range;

use super::{Scan, Tally};
use crate::Damage;

/// Returns true if most lines of a text are strings, and one of them begins an item.
pub(super) fn decide(text: &str, mut tally: Tally) -> bool {
    if tally.begins_item {
        // A metadata section is JSON, which has strings of its own.
        return false;
    }
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let inside = inside(line).map(|at| &line[at]).filter(|inside| !inside.is_empty());
        let begins_item = inside.is_some_and(super::begins_item);
        if begins_item && inside.is_some_and(|inside| inside.contains("\\n")) {
            // One string with all lines of a module.
            return true;
        }
        tally.add(inside.is_some(), begins_item);
    }
    tally.decides()
}

/// Returns the range of what the string on a line contains, without the line break at its end: that of the line is
/// enough. The bracket after the last string is a line without content.
pub(super) fn inside(line: &str) -> Option<Range<usize>> {
    let code = line.trim_end();
    let start = code.len() - code.trim_start().len();
    if matches!(&code[start..], ")" | "]") {
        return Some(code.len()..code.len());
    }
    if !code[start..].starts_with('"') {
        return None;
    }
    // What is between two strings: `" \\`, `" +`, `",`, `")`.
    let string = code.trim_end_matches(['\\', '+', ',', ')', ' ', '\t']).strip_suffix('"')?;
    let content = string.get(start + 1..)?;
    let escapes = content.bytes().rev().take_while(|byte| *byte == b'\\').count();
    if escapes % 2 == 1 {
        return None;
    }
    let content = content.strip_suffix("\\n").unwrap_or(content);
    Some(start + 1..start + 1 + content.len())
}

impl Scan<'_> {
    /// Takes a line that begins at `start` and is a string with its content at `inside`.
    pub(super) fn string(&mut self, start: usize, line: &str, inside: Range<usize>) {
        let end = line.trim_end_matches(['\r', '\n']).len();
        self.is_escaped = true;
        // A line begins after its quote, as the grammar sees it.
        self.push(start, start + inside.start, Damage::Escape, 1, "", true);
        self.line(start + inside.start, &line[inside.clone()]);
        if inside.end < end {
            self.push(start + inside.end, start + end, Damage::Escape, 1, "", false);
        }
    }
}
