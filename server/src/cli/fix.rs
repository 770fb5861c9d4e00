//! `relay-analyzer check --fix`

use std::{io::IsTerminal, time::Duration};

use anstyle::AnsiColor;
use similar::{ChangeTag, TextDiff};
use syntax::{TextRange, TextSize};

use crate::{analyzer::Analyzer, input::Input, report::escape};

/// The largest number of rounds: a fix may enable another.
const MAX_ROUNDS: usize = 8;
/// The longest time in which the shortest diff is searched; after it the diff is merely correct.
const DIFF_TIME: Duration = Duration::from_secs(2);
/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// A text with all fixes that need no choice.
pub(super) struct Fixed {
    pub(super) text: String,
    /// The number of fixed problems.
    pub(super) count: usize,
}

/// Applies all fixes that need no choice to a text; `None` if there is nothing to fix.
pub(super) fn fix(analyzer: &mut Analyzer, input: &Input) -> Option<Fixed> {
    // Replaced or converted text must not be written back.
    if input.problem.is_some() || input.saved.is_some() {
        return None;
    }
    let before = analyzer.check(&input.text).diagnostics.len();
    let mut text = input.text.clone();
    for _ in 0..MAX_ROUNDS {
        let (db, file) = analyzer.database();
        let everywhere = TextRange::empty(TextSize::new(0));
        // An error means that there is nothing to fix, or that a fix would break something.
        let Ok(edits) = ide::actions::resolve(db, file, everywhere, "fix-all") else { break };
        text = ide::edit::apply_all(&text, &edits);
        analyzer.check(&text);
    }
    if text == input.text {
        return None;
    }
    let count = before.saturating_sub(analyzer.check(&text).diagnostics.len());
    Some(Fixed { text, count })
}

/// Formats the changes of a file as a unified diff, as `patch` takes it.
pub(super) fn unified(path: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after);
    // What a terminal would interpret is only kept for programs.
    let is_terminal = std::io::stdout().is_terminal();
    let shown = |line: &str| match is_terminal {
        true => escape::terminal(line).into_owned(),
        false => line.to_owned(),
    };
    let bold = anstyle::Style::new().bold();
    let path = escape::terminal(path);
    let mut out = format!("{bold}--- {path}{bold:#}\n{bold}+++ {path}{bold:#}\n");
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        let style = AnsiColor::Cyan.on_default();
        out += &format!("{style}{}{style:#}\n", hunk.header());
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', AnsiColor::Red.on_default()),
                ChangeTag::Insert => ('+', AnsiColor::Green.on_default()),
                ChangeTag::Equal => (' ', anstyle::Style::new()),
            };
            let line = change.value();
            let content = line.strip_suffix('\n').unwrap_or(line);
            out += &format!("{style}{sign}{}{style:#}\n", shown(content));
            if content.len() == line.len() {
                out += "\\ No newline at end of file\n";
            }
        }
    }
    out
}
