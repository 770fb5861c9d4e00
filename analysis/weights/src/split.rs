//! A module as its code and its section.

use std::{fmt, str::Utf8Error};

use syntax::SyntaxKind;

use crate::section::{CONSTANT, Section};

/// How the line begins that replaces a section.
pub const FOLDED: &str = "#[metadata] folded:";

/// A module in two parts, which together are its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split<'t> {
    /// What precedes the section.
    pub code: &'t str,
    /// From `#[metadata]` to the end of the text; empty if there is no section.
    pub section: &'t str,
}

/// Why a text is not separated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SplitError {
    /// It is not UTF-8.
    NotText(Utf8Error),
    /// There are several modules in it.
    Several,
    /// It is larger than a text may be, 4 GB.
    TooLarge,
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SplitError::NotText(error) => {
                write!(f, "the byte at {} is not UTF-8", error.valid_up_to())
            }
            SplitError::Several => f.write_str("it has several modules, as the log of passes has"),
            SplitError::TooLarge => f.write_str("it is larger than 4 GB"),
        }
    }
}

impl std::error::Error for SplitError {}

/// Separates a module.
///
/// # Errors
/// It is not a text, or code follows the section.
pub fn split(bytes: &[u8]) -> Result<Split<'_>, SplitError> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(SplitError::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(SplitError::NotText)?;
    let mut start = 0;
    for (kind, end) in syntax::tokens(text) {
        let end = usize::from(end);
        if kind == SyntaxKind::METADATA {
            if end < text.len() {
                return Err(SplitError::Several);
            }
            return Ok(Split { code: &text[..start], section: &text[start..] });
        }
        start = end;
    }
    Ok(Split { code: text, section: "" })
}

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
    out += &format!(" {:.1} MB", length as f64 / 1e6);
    out
}
