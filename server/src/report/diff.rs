//! Differences between modules, for people, programs and browsers.

mod cost;
mod html;
mod human;
mod json;

pub(crate) use cost::{Cost, Totals, cost, cost_json};
pub(crate) use html::html;
pub(crate) use human::{change_text, headline, human};
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
