//! Differences between modules as text, JSON and HTML.

mod cost;
mod html;
mod human;
mod json;
mod layers;
mod replaces;
mod values;

pub(crate) use cost::cost;
pub(crate) use html::html;
pub(crate) use human::{Place, Report, change_note, change_text, headline, human};
use ide::layers::{FunctionLayers, Part, function_around};
pub(crate) use json::json;
use syntax::{Encoding, LineIndex, TextRange};
pub(crate) use values::{JsonRun, Runs, run_text};

/// A module of a comparison, as it is displayed.
pub(crate) struct ShownModule<'t> {
    /// The name that the user gave.
    pub(crate) name: &'t str,
    /// The text.
    pub(crate) text: &'t str,
    /// The line starts.
    pub(crate) lines: &'t LineIndex,
    /// The offset of the text in its file, which may be a log.
    pub(crate) offset: usize,
    /// The number of lines before it in the file.
    pub(crate) first_line: u32,
    /// The layers of its functions.
    pub(crate) layers: &'t [FunctionLayers],
}

impl<'t> ShownModule<'t> {
    /// Returns the line and the column in characters of a range in the file, from 1.
    pub(crate) fn position(&self, range: TextRange) -> (u32, u32) {
        let at = self.lines.line_column(range.start(), Encoding::Utf32);
        (at.line + self.first_line + 1, at.column + 1)
    }

    /// Returns the layers around a range, the outermost first.
    pub(crate) fn layers_around(&self, range: TextRange) -> Vec<&'t Part> {
        let around = function_around(self.layers, range);
        around.map_or_else(Vec::new, |function| function.around(range))
    }

    /// Returns the text of a range.
    pub(crate) fn slice(&self, range: TextRange) -> &'t str {
        self.text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default()
    }
}

/// Returns a range as byte offsets in the file.
pub(crate) fn bytes(range: TextRange, side: &ShownModule<'_>) -> [usize; 2] {
    [usize::from(range.start()) + side.offset, usize::from(range.end()) + side.offset]
}
