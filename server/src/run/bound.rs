//! The values of variables before the error at which a run of the command line stops.

use std::collections::HashMap;

use interpreter::Value;
use semantics::SourceFile;
use syntax::TextRange;

use super::summary;
use crate::protocol::BoundValue;

/// The number of variables whose values are kept: later ones are left out.
const MAX_KEPT: usize = 10_000;
/// The number of variables that a table lists, the last before the error.
const MAX_ROWS: usize = 40;

/// The first values of variables, in the order of evaluation.
#[derive(Default)]
pub(crate) struct BoundValues {
    pub(crate) values: Vec<BoundValue>,
    /// The file of the variables and its text.
    of: Option<(SourceFile, String)>,
    by_place: HashMap<TextRange, usize>,
}

impl BoundValues {
    /// Keeps the values of the variables of a file.
    pub(crate) fn keep(&mut self, file: SourceFile, text: &str) {
        self.of = Some((file, text.to_owned()));
    }

    /// Records a value of a variable.
    pub(crate) fn bound(&mut self, (file, range): (SourceFile, TextRange), value: &Value) {
        let Some((_, text)) = self.of.as_ref().filter(|(of, _)| *of == file) else { return };
        if let Some(&at) = self.by_place.get(&range) {
            self.values[at].times += 1;
            return;
        }
        if self.values.len() >= MAX_KEPT {
            return;
        }
        let name = text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default().to_owned();
        let text = summary::line(value, &summary::of_value(value));
        self.by_place.insert(range, self.values.len());
        self.values.push(BoundValue { name, text, times: 1 });
    }

    /// Returns the last values, one per line.
    pub(crate) fn table(&self) -> String {
        let omitted = self.values.len().saturating_sub(MAX_ROWS);
        let shown = &self.values[omitted..];
        let width = shown.iter().map(|value| value.name.chars().count()).max().unwrap_or(0);
        let mut out = match omitted {
            0 => String::new(),
            _ => format!("  … {omitted} values before these …\n"),
        };
        for BoundValue { name, text, times } in shown {
            let number = if *times == 1 { String::new() } else { format!(" (1 of {times})") };
            out += &format!("  {name:width$} = {text}{number}\n");
        }
        out
    }
}
