//! Splits a module into its code and its metadata section.

use std::{fmt, str::Utf8Error};

use syntax::SyntaxKind;

/// The two parts of a module, whose concatenation is its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split<'t> {
    /// The text before the section.
    pub code: &'t str,
    /// From `#[metadata]` to the end of the text; empty if there is no section.
    pub section: &'t str,
}

/// The reason that a text cannot be split.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SplitError {
    /// It is not UTF-8.
    NotText(Utf8Error),
    /// It contains several modules.
    Several,
    /// It is larger than 4 GB, the limit for texts.
    TooLarge,
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SplitError::NotText(error) => {
                write!(f, "the byte at {} is not UTF-8", error.valid_up_to())
            }
            SplitError::Several => f.write_str("it contains several modules, like a log of passes"),
            SplitError::TooLarge => f.write_str("it is larger than 4 GB"),
        }
    }
}

impl std::error::Error for SplitError {}

/// Splits a module.
///
/// # Errors
/// It is not UTF-8 or too large, or code follows the section.
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
