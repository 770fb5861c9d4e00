//! Reports of diagnostics and other results, for terminals and for machines.

pub(crate) mod columns;
pub(crate) mod compare;
pub(crate) mod diff;
pub(crate) mod escape;
mod human;
pub(crate) mod layers;
mod machine;
pub(crate) mod overlay;
mod page;
pub(crate) mod sarif;
pub(crate) mod shapes;
pub(crate) mod stderr;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

pub(crate) use human::{excerpt, human};
pub(crate) use machine::{github, json_line, json_tokens, json_types};
use semantics::{Diagnostic, Severity};
use syntax::{LineIndex, Parse, TextRange};
use types::Releases;

/// A checked file and its diagnostics.
pub(crate) struct CheckReport {
    /// The path.
    pub(crate) path: String,
    /// The text.
    pub(crate) text: String,
    lines: OnceLock<LineIndex>,
    /// The reported diagnostics, in the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The number of diagnostics of each severity, reported or not.
    pub(crate) counts: [usize; 4],
    /// The releases of TVM that printed the file, if 0.14 is none of them.
    pub(crate) releases: Option<Releases>,
    // Dropping the tree is slow, and is done after the report.
    _parse: Arc<Parse>,
}

impl CheckReport {
    /// Creates a report of the diagnostics from severity `least`.
    pub(crate) fn new(
        path: String,
        text: String,
        parse: Arc<Parse>,
        mut diagnostics: Vec<Diagnostic>,
        least: Severity,
    ) -> CheckReport {
        let mut counts = [0; 4];
        for diagnostic in &diagnostics {
            counts[diagnostic.severity as usize] += 1;
        }
        diagnostics.retain(|d| d.severity >= least);
        let (lines, releases) = (OnceLock::new(), None);
        CheckReport { path, text, lines, diagnostics, counts, releases, _parse: parse }
    }

    /// Returns the line starts. Most files have no diagnostics and need none.
    pub(crate) fn lines(&self) -> &LineIndex {
        self.lines.get_or_init(|| LineIndex::new(&self.text))
    }
}

/// Returns the lines of a range: `12–40`.
fn line_range(range: TextRange, lines: &LineIndex) -> String {
    let (first, last) = (lines.line_at(range.start()) + 1, lines.line_at(range.end()) + 1);
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// The totals of several files.
#[derive(Default)]
pub(crate) struct Summary {
    files: usize,
    counts: [usize; 4],
    /// The number of files that other releases than 0.14 printed.
    releases: BTreeMap<String, usize>,
}

impl Summary {
    pub(crate) fn add(&mut self, checked: &CheckReport) {
        self.files += 1;
        if let Some(releases) = checked.releases {
            *self.releases.entry(releases.to_string()).or_default() += 1;
        }
        for (sum, count) in self.counts.iter_mut().zip(checked.counts) {
            *sum += count;
        }
    }

    /// Returns the number of files.
    pub(crate) fn files(&self) -> usize {
        self.files
    }

    /// Formats the totals of what is reported, as in `2 errors, 1 warning in 3 files`. With `tells_hidden`, hints
    /// that are not reported are mentioned: the user did not ask to hide them.
    pub(crate) fn text(&self, least: Severity, tells_hidden: bool) -> String {
        let counted = |n: usize, one: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {one}s"),
        };
        let hints = self.counts[Severity::Hint as usize];
        let severities = [
            (Severity::Error, "error"),
            (Severity::Warning, "warning"),
            (Severity::Info, "info"),
            (Severity::Hint, "hint"),
        ];
        let shown = severities.into_iter().filter_map(|(severity, one)| {
            let count = self.counts[severity as usize];
            (count > 0 && least <= severity).then(|| counted(count, one))
        });
        let shown: Vec<String> = shown.collect();
        let found = if shown.is_empty() { "no errors".to_owned() } else { shown.join(", ") };
        let files = counted(self.files, "file");
        let hints = match hints > 0 && tells_hidden && least > Severity::Hint {
            true => format!(" ({} not shown: `--severity hint`)", counted(hints, "hint")),
            false => String::new(),
        };
        let printed = match (self.files, self.releases.iter().next()) {
            (_, None) => String::new(),
            (1, Some((releases, _))) => format!(", printed by TVM {releases}"),
            _ => {
                let counted = self.releases.iter();
                let counted: Vec<String> = counted
                    .map(|(releases, count)| format!("{count} printed by TVM {releases}"))
                    .collect();
                format!(" ({})", counted.join(", "))
            }
        };
        format!("{found} in {files}{printed}{hints}\n")
    }
}
