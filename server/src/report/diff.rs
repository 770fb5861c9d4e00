//! Differences between modules, for people, programs and browsers.

mod html;
mod human;
mod json;

pub(crate) use html::html;
pub(crate) use human::{fact_text, human};
pub(crate) use json::json;
use syntax::{Encoding, LineIndex, TextRange};

/// One side of a comparison, as it is shown.
pub(crate) struct Shown<'t> {
    /// What the user called it.
    pub(crate) name: &'t str,
    /// Its text.
    pub(crate) text: &'t str,
    /// Its lines.
    pub(crate) lines: &'t LineIndex,
    /// Where the text begins in the file that the user named: a module in a log does not begin it.
    pub(crate) offset: usize,
    /// The number of lines before it in that file.
    pub(crate) first_line: u32,
}

impl<'t> Shown<'t> {
    /// The line and column of a place, from 1, columns in characters.
    pub(crate) fn position(&self, range: TextRange) -> (u32, u32) {
        let at = self.lines.line_column(range.start(), Encoding::Utf32);
        (at.line + self.first_line + 1, at.column + 1)
    }

    /// The text of a place.
    pub(crate) fn slice(&self, range: TextRange) -> &'t str {
        self.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default()
    }
}

/// What a run costs.
pub(crate) struct Cost {
    /// The function.
    pub(crate) name: String,
    /// Calls of operators.
    pub(crate) calls: u64,
    /// Elements of weights and constants.
    pub(crate) params: String,
    /// Multiply-accumulates.
    pub(crate) macs: String,
    /// The most memory for results.
    pub(crate) peak: String,
}

/// What a run costs on both sides, where that is known.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) before: Option<Cost>,
    pub(crate) after: Option<Cost>,
}
