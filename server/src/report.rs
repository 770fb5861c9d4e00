//! What is wrong, told to people and to machines.

pub(crate) mod diff;
pub(crate) mod escape;
mod human;
mod machine;
pub(crate) mod shapes;

use std::sync::Arc;

pub(crate) use human::human;
pub(crate) use machine::{JsonDiagnostic, github, json_line, json_types, sarif, sarif_results};
use semantics::{Diagnostic, Severity};
use syntax::{LineIndex, Parse};

/// A file that was checked, with what is to be reported of it.
pub(crate) struct Checked {
    /// Its path.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
    /// Where its lines begin.
    pub(crate) lines: LineIndex,
    /// What is reported, in the order of the text.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// How many findings of each severity there are, reported or not.
    pub(crate) counts: [usize; 4],
    // The tree is let go with the rest, after the report.
    _parse: Arc<Parse>,
}

impl Checked {
    /// `least`: the least severity that is reported.
    pub(crate) fn new(
        path: String,
        text: String,
        parse: Arc<Parse>,
        mut diagnostics: Vec<Diagnostic>,
        least: Severity,
    ) -> Checked {
        let mut counts = [0; 4];
        for diagnostic in &diagnostics {
            counts[diagnostic.severity as usize] += 1;
        }
        diagnostics.retain(|d| d.severity >= least);
        let lines = LineIndex::new(&text);
        Checked { path, text, lines, diagnostics, counts, _parse: parse }
    }
}

/// What is said at the end.
#[derive(Default)]
pub(crate) struct Summary {
    files: usize,
    counts: [usize; 4],
}

impl Summary {
    pub(crate) fn add(&mut self, checked: &Checked) {
        self.files += 1;
        for (sum, count) in self.counts.iter_mut().zip(checked.counts) {
            *sum += count;
        }
    }

    /// The number of files that were checked.
    pub(crate) fn files(&self) -> usize {
        self.files
    }

    /// `2 errors, 1 warning in 3 files`
    pub(crate) fn text(&self, least: Severity) -> String {
        let named = |severity: Severity, one: &str| match self.counts[severity as usize] {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {one}s")),
        };
        let shown: Vec<String> = [
            named(Severity::Error, "error"),
            named(Severity::Warning, "warning"),
            named(Severity::Info, "remark").filter(|_| least <= Severity::Info),
            named(Severity::Hint, "hint").filter(|_| least <= Severity::Hint),
        ]
        .into_iter()
        .flatten()
        .collect();
        let found = if shown.is_empty() { "no errors".to_owned() } else { shown.join(", ") };
        let files = match self.files {
            1 => "1 file".to_owned(),
            n => format!("{n} files"),
        };
        let hints = match self.counts[Severity::Hint as usize] {
            hints if hints > 0 && least > Severity::Hint => {
                let hints = if hints == 1 { "1 hint".to_owned() } else { format!("{hints} hints") };
                format!(" ({hints} not shown: `--severity hint`)")
            }
            _ => String::new(),
        };
        format!("{found} in {files}{hints}\n")
    }
}
