//! `relay-analyzer check --fix`

use std::{io::IsTerminal, ops::Range};

use anstyle::{AnsiColor, Style};
use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};
use semantics::Code;
use syntax::{TextRange, TextSize};

use crate::{
    analyzer::Analyzer,
    embedded::{self, Language},
    input::Input,
    report::escape,
};

/// The largest number of rounds: a fix may enable another, and few do so again.
const MAX_ROUNDS: usize = 64;
/// The number of unchanged lines around a change.
const CONTEXT: u32 = 3;

/// A text with all fixes that need no choice.
pub(super) struct FixedText {
    pub(super) text: String,
    /// The number of fixed problems.
    pub(super) count: usize,
}

/// Applies all fixes that need no choice to a text, or to the blocks of Relay in it; `None` if there is
/// nothing to fix.
pub(super) fn fix(
    analyzer: &mut Analyzer,
    input: &Input,
    language: Option<Language>,
) -> Option<FixedText> {
    // Replaced or converted text must not be written back.
    if input.problem.is_some() || input.saved.is_some() {
        return None;
    }
    let Some(language) = language else { return fix_text(analyzer, &input.text) };
    let mut all = FixedText { text: input.text.clone(), count: 0 };
    // From the last block to the first, so that the places of the others stay right.
    for (number, block) in embedded::blocks(&input.text, language).iter().enumerate().rev() {
        if let Some(fixed) = fix_text(analyzer, &block.text)
            && let Some(text) = embedded::replaced(&all.text, language, number, block, &fixed.text)
        {
            (all.text, all.count) = (text, all.count + fixed.count);
        }
    }
    (all.text != input.text).then_some(all)
}

fn fix_text(analyzer: &mut Analyzer, original: &str) -> Option<FixedText> {
    let mut found = codes(analyzer, original);
    let before = found.len();
    let mut text = original.to_owned();
    // The text before the last rounds, none of which changed what is found.
    let mut stable = text.clone();
    let mut is_done = false;
    for _ in 0..MAX_ROUNDS {
        let (db, file) = analyzer.database();
        let everywhere = TextRange::empty(TextSize::new(0));
        // An error means that there is nothing to fix, or that a fix would break something.
        let Ok(edits) = ide::actions::resolve(db, file, everywhere, "fix-all") else {
            is_done = true;
            break;
        };
        let next = ide::edit::apply_all(&text, &edits);
        let now = codes(analyzer, &next);
        if now != found {
            stable.clone_from(&next);
        }
        (text, found) = (next, now);
    }
    if !is_done {
        // A fix that leaves its finding fixes nothing.
        text = stable;
    }
    if text == original {
        return None;
    }
    let count = before.saturating_sub(codes(analyzer, &text).len());
    Some(FixedText { text, count })
}

/// Returns the codes that are found in a text, sorted.
fn codes(analyzer: &mut Analyzer, text: &str) -> Vec<Code> {
    let mut codes: Vec<Code> =
        analyzer.check(text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    codes.sort_unstable();
    codes
}

/// Formats the changes of a file as a unified diff, as `patch` takes it.
pub(super) fn unified(path: &str, before: &str, after: &str) -> String {
    let lines = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &lines);
    diff.postprocess_lines(&lines);
    let hunks: Vec<Hunk> = diff.hunks().collect();
    let is_terminal = std::io::stdout().is_terminal();
    let bold = Style::new().bold();
    let path = escape::terminal(path);
    let mut out = format!("{bold}--- {path}{bold:#}\n{bold}+++ {path}{bold:#}\n");
    // Hunks share a header where the lines of context between them meet.
    for hunks in hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else { continue };
        let above = first.before.start.min(CONTEXT);
        let below = (lines.before.len() as u32 - last.before.end).min(CONTEXT);
        let style = AnsiColor::Cyan.on_default();
        let old = range(first.before.start - above..last.before.end + below);
        let new = range(first.after.start - above..last.after.end + below);
        out += &format!("{style}@@ -{old} +{new} @@{style:#}\n");
        let mut print = |sign: char, style: Style, side: &[Token], range: Range<u32>| {
            let range = range.start as usize..range.end as usize;
            for &line in side.get(range).unwrap_or_default() {
                let line = lines.interner[line];
                let content = line.strip_suffix('\n').unwrap_or(line);
                // Escape sequences are shown as text on a terminal, and written as they are to a
                // pipe or a file.
                let shown = match is_terminal {
                    true => escape::terminal(content),
                    false => content.into(),
                };
                out += &format!("{style}{sign}{shown}{style:#}\n");
                if content.len() == line.len() {
                    out += "\\ No newline at end of file\n";
                }
            }
        };
        let mut at = first.before.start - above;
        for hunk in hunks {
            print(' ', Style::new(), &lines.before, at..hunk.before.start);
            print('-', AnsiColor::Red.on_default(), &lines.before, hunk.before.clone());
            print('+', AnsiColor::Green.on_default(), &lines.after, hunk.after.clone());
            at = hunk.before.end;
        }
        print(' ', Style::new(), &lines.before, at..at + below);
    }
    out
}

/// The lines of a hunk as its header names them: they count from 1, and an empty range names the line
/// before it.
fn range(lines: Range<u32>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    /// Applies a unified diff strictly: every line of context must be where its hunk says.
    fn apply(before: &str, diff: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let mut new = String::new();
        let (mut at, mut is_new) = (0, false);
        for line in diff.lines().skip(2) {
            if let Some(header) = line.strip_prefix("@@ -") {
                let (start, rest) = header.split_once([',', ' ']).expect("a range");
                let is_empty = rest.starts_with("0 ");
                let start = start.parse::<usize>().expect("a line") - usize::from(!is_empty);
                assert!(at <= start, "{diff}");
                new.extend(old[at..start].iter().copied());
                at = start;
            } else if line.starts_with('\\') {
                if is_new {
                    assert_eq!(new.pop(), Some('\n'));
                }
            } else {
                is_new = !line.starts_with('-');
                if !line.starts_with('+') {
                    assert_eq!(old[at].trim_end_matches('\n'), &line[1..], "{diff}");
                    at += 1;
                }
                if is_new {
                    new = new + &line[1..] + "\n";
                }
            }
        }
        new.extend(old[at..].iter().copied());
        new
    }

    #[test]
    fn a_unified_diff_applied_to_the_text_before_is_the_text_after() {
        let mut random = fastrand::Rng::with_seed(7);
        for round in 0..500 {
            let count = random.usize(..40);
            let mut lines: Vec<String> = (0..count).map(|_| random.u8(..9).to_string()).collect();
            let ends = [random.bool(), random.bool()];
            let text = |lines: &[String], ends: bool| {
                lines.join("\n") + if ends && !lines.is_empty() { "\n" } else { "" }
            };
            let before = text(&lines, ends[0]);
            for _ in 0..random.usize(..6) {
                let at = random.usize(..=lines.len());
                match random.u8(..3) {
                    0 => lines.insert(at, random.u8(..9).to_string()),
                    1 if at < lines.len() => drop(lines.remove(at)),
                    _ if at < lines.len() => lines[at] = format!("changed {round}"),
                    _ => {}
                }
            }
            let after = text(&lines, ends[1]);
            let diff = strip_str(&unified("a.relay", &before, &after)).to_string();
            assert_eq!(apply(&before, &diff), after, "{diff}");
        }
    }
}
