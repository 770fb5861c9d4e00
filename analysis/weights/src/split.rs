//! Splits a module into its code and its metadata section.

use std::fmt;

use memchr::memmem;
use syntax::SyntaxKind;

/// The number of bytes of a section with which the code before it is lexed: an unclosed string in the
/// code is closed by the next `"`, if any.
pub(crate) const HEAD: usize = 1 << 12;
/// The start of a section.
pub(crate) const MARKER: &[u8] = b"#[metadata]";

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
    /// It is not UTF-8 at this offset.
    NotText(usize),
    /// It contains several modules.
    Several,
    /// It is larger than 4 GB, the limit for texts.
    TooLarge,
}

impl fmt::Display for SplitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SplitError::NotText(at) => write!(f, "the byte at {at} is not UTF-8"),
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
    let split = split_at(bytes, section_start(bytes)?)?;
    match syntax::next_module(split.section.as_bytes()) {
        Some(_) => Err(SplitError::Several),
        None => Ok(split),
    }
}

fn split_at(bytes: &[u8], start: usize) -> Result<Split<'_>, SplitError> {
    let (code, section) = text_of(bytes)?.split_at(start);
    Ok(Split { code, section })
}

fn text_of(bytes: &[u8]) -> Result<&str, SplitError> {
    std::str::from_utf8(bytes).map_err(|error| SplitError::NotText(error.valid_up_to()))
}

/// Returns the offset of the metadata section, which is the length of the code.
fn section_start(bytes: &[u8]) -> Result<usize, SplitError> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(SplitError::TooLarge);
    }
    match first_section(bytes) {
        Some(at) => Ok(at),
        None => {
            let text = text_of(bytes)?;
            Ok(start_in(text).unwrap_or(text.len()))
        }
    }
}

/// Returns the offset of the first `#[metadata]`, if it is the section, as usual. Takes only the bytes up to
/// it and [`HEAD`] more.
pub(crate) fn first_section(bytes: &[u8]) -> Option<usize> {
    let at = memmem::find(bytes, MARKER)?;
    let head = &bytes[..bytes.len().min(at + HEAD)];
    let head = head.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    (start_in(head) == Some(at)).then_some(at)
}

/// Returns the offset of the section by the tokens of a text.
fn start_in(text: &str) -> Option<usize> {
    let mut start = 0;
    syntax::tokens(text).find_map(|(kind, end)| {
        let at = std::mem::replace(&mut start, usize::from(end));
        (kind == SyntaxKind::METADATA).then_some(at)
    })
}
