//! The line that replaces a section.
//!
//! `#[metadata] folded: 99 constants, 62.4 MB; saving drops 1, 4-7` says what the section holds, and which
//! constants are removed when the code is saved. The second part is an edit of the text like any other,
//! which undo takes back.

use std::{collections::BTreeSet, fmt::Write, ops::Range};

use crate::section::{CONSTANT, Section};

/// The start of the line that replaces a section.
pub const FOLDED: &str = "#[metadata] folded:";
/// The start of the part with the constants to remove.
const DROPS: &str = "; saving drops ";

/// Returns true if a section is the line that replaces one.
pub fn is_folded(section: &str) -> bool {
    section.starts_with(FOLDED)
}

/// Returns the line that replaces a section of `length` bytes, without a line break.
pub fn folded_line(section: &Section, length: usize) -> String {
    let mut out = FOLDED.to_owned();
    for (kind, entries) in section.kinds() {
        let noun = if entries.len() == 1 { "entry" } else { "entries" };
        let kind = if kind == CONSTANT { "constants" } else { kind.as_str() };
        match kind {
            "constants" if entries.len() == 1 => out += " 1 constant,",
            "constants" => out += &format!(" {} constants,", entries.len()),
            kind => out += &format!(" {} {noun} of {kind},", entries.len()),
        }
    }
    out += &format!(" {}", megabytes(length as u64));
    out
}

/// Formats the length of a section, as in `62.4 MB`.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// A parsed line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldedLine {
    /// The number of constants of the section, if the line says it.
    pub constants: Option<u32>,
    /// The constants to remove; `None` if the list is malformed.
    pub drops: Option<BTreeSet<u32>>,
    /// The range of the part with the constants to remove, empty without one.
    pub drops_range: Range<usize>,
}

impl FoldedLine {
    /// Parses the line at the start of a text.
    pub fn parse(text: &str) -> FoldedLine {
        let line = text.lines().next().unwrap_or_default().trim_end();
        // Without its trailing space, which an editor may have removed with the list.
        let marker = DROPS.trim_end();
        let start = line.find(marker).unwrap_or(line.len());
        let (facts, drops) = line.split_at(start);
        let number = |part: &str| {
            let words = part.trim().split_once(' ')?;
            matches!(words.1, "constant" | "constants").then(|| words.0.parse().ok())?
        };
        let constants = facts.strip_prefix(FOLDED).and_then(|f| f.split(',').find_map(number));
        let drops = match drops.strip_prefix(marker) {
            Some(list) => parse_numbers(list, constants.unwrap_or(0)),
            None => Some(BTreeSet::new()),
        };
        FoldedLine { constants, drops, drops_range: start..line.len() }
    }
}

/// Returns the part of a line with the constants to remove.
pub fn drops_part(drops: &BTreeSet<u32>) -> String {
    let mut out = String::new();
    let mut left = drops.iter().copied().peekable();
    while let Some(first) = left.next() {
        let mut last = first;
        while left.next_if_eq(&last.saturating_add(1)).is_some() {
            last += 1;
        }
        out += if out.is_empty() { DROPS } else { ", " };
        // Writing to a string cannot fail.
        let _ = if first == last { write!(out, "{first}") } else { write!(out, "{first}-{last}") };
    }
    out
}

/// Parses `1, 4-7`, with numbers less than `count`.
fn parse_numbers(list: &str, count: u32) -> Option<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= count {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_a_round_trip() {
        let mut random = 7u64;
        for _ in 0..200 {
            let mut drops = BTreeSet::new();
            for number in 0..70 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if random >> 62 != 0 {
                    drops.insert(number);
                }
            }
            let facts = format!("{FOLDED} 3 entries of IntImm, 70 constants, 1.2 MB");
            let line = format!("{facts}{}\r\nmore", drops_part(&drops));
            let parsed = FoldedLine::parse(&line);
            assert_eq!(parsed.constants, Some(70));
            assert_eq!(parsed.drops_range, facts.len()..line.len() - "\r\nmore".len());
            assert_eq!(parsed.drops, Some(drops));
        }
        assert_eq!(drops_part(&[1, 4, 5, 6, 9].into()), "; saving drops 1, 4-6, 9");
    }

    #[test]
    fn malformed_drops_are_found() {
        let line = format!("{FOLDED} 1 constant, 0.1 MB");
        assert_eq!(FoldedLine::parse(&line).drops, Some(BTreeSet::new()));
        for list in ["", "1", "0-4294967295", "1-0", "x", "0,", "-0", "0 1"] {
            assert_eq!(FoldedLine::parse(&format!("{line}{DROPS}{list}")).drops, None, "{list}");
        }
        assert_eq!(FoldedLine::parse(&format!("{FOLDED}{DROPS}0")).drops, None);
    }
}
