//! Modules with large metadata sections as their code.
//!
//! One line replaces the section. Saving writes the code; every other byte is copied from the file
//! to a new one that replaces it.

use std::{
    fmt, fs,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::Arc,
};

use semantics::metadata::Metadata;
use weights::{FileText, Mapping, Section, Split, Stamp, Weights, folded_line, is_folded, split};

use crate::files;

/// The code of a file.
pub(crate) struct CodeView {
    /// The code, and the line that replaces the section.
    pub(crate) text: String,
    /// The section, which is read from the file on demand.
    pub(crate) metadata: Arc<Metadata>,
    /// The state of the file.
    pub(crate) stamp: Stamp,
    /// The offset of the section in the file.
    pub(crate) start: u64,
    /// The length of the section in bytes.
    pub(crate) section: u64,
}

/// The reason that a code view is not opened or saved.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The file has no section.
    NoSection,
    /// The file was written since it was opened.
    Changed,
    /// Text follows the line of the section, where it would be lost.
    AfterSection,
    /// The text has a section of its own.
    OwnSection,
    /// The file cannot be read or written, or is not a module.
    File(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoSection => f.write_str("it has no metadata section"),
            Refusal::Changed => f.write_str("the file has changed on disk since it was opened"),
            Refusal::AfterSection => f.write_str(
                "text follows the line of the metadata section and would be lost: move it above the line",
            ),
            Refusal::OwnSection => f.write_str("it has a metadata section of its own"),
            Refusal::File(message) => f.write_str(message),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::File(error.to_string())
    }
}

/// Opens a file as its code.
pub(crate) fn open(path: &Path) -> Result<CodeView, Refusal> {
    let mapping = Mapping::open(path)?;
    let stamp = mapping.stamp();
    let Split { code, section } =
        split(mapping.bytes()).map_err(|error| Refusal::File(error.to_string()))?;
    if section.is_empty() || is_folded(section) {
        return Err(Refusal::NoSection);
    }
    let scanned = Section::scan(section);
    let text = format!("{code}{}\n", folded_line(&scanned, section.len()));
    let (start, length) = (code.len() as u64, section.len() as u64);
    let weights = Weights::of_file(scanned, mapping.into_text(start));
    Ok(CodeView { text, metadata: Arc::new(Metadata::of(weights)), stamp, start, section: length })
}

/// Returns the code of a text in which one line replaces the section.
pub(crate) fn code_of(text: &str) -> Result<&str, Refusal> {
    let Split { code, section } =
        split(text.as_bytes()).map_err(|error| Refusal::File(error.to_string()))?;
    if section.is_empty() {
        return Ok(code);
    }
    if !is_folded(section) {
        return Err(Refusal::OwnSection);
    }
    let after = section.split_once('\n').map_or("", |(_, after)| after);
    if after.trim().is_empty() { Ok(code) } else { Err(Refusal::AfterSection) }
}

/// Replaces the code of a file whose section starts at `from`, and copies the section.
pub(crate) fn copy(
    source: &Path,
    from: u64,
    stamp: Stamp,
    code: &str,
    to: &Path,
) -> Result<(), Refusal> {
    let mut file = fs::File::open(source)?;
    let mut changed = Stamp::of_file(&file)? != stamp;
    if changed {
        return Err(Refusal::Changed);
    }
    file.seek(SeekFrom::Start(from))?;
    files::write_and_sync_later(to, |out| {
        out.write_all(code.as_bytes())?;
        out.flush()?;
        let length = stamp.length.saturating_sub(from);
        // Between files the system copies without this process.
        let copied = io::copy(&mut (&mut file).take(length), out.get_mut())?;
        // A mixture of two versions must not replace the file.
        changed = copied != length
            || Stamp::of_file(&file)? != stamp
            || Stamp::at(source).ok() != Some(stamp);
        if changed { Err(io::Error::other("it has changed")) } else { Ok(()) }
    })
    .map_err(|error| if changed { Refusal::Changed } else { error.into() })
}

/// Saves the code of a view, in its file or with a copy of its section in another file. `known` is the
/// offset of the section in a state of the file, if known. Returns the new state of the written file,
/// and the offset of the section in it.
pub(crate) fn save(
    path: &Path,
    stamp: &str,
    text: &str,
    known: Option<(Stamp, u64)>,
    output: Option<&Path>,
) -> Result<(Stamp, u64), Refusal> {
    let code = code_of(text)?;
    let now = Stamp::at(path)?;
    if now.text() != stamp {
        return Err(Refusal::Changed);
    }
    let start = match known.filter(|(known, _)| *known == now) {
        Some((_, start)) => start,
        None => {
            let section = section_of(path)?;
            if section.stamp() != now {
                return Err(Refusal::Changed);
            }
            section.start()
        }
    };
    let output = output.unwrap_or(path);
    copy(path, start, now, code, output)?;
    Ok((Stamp::at(output)?, code.len() as u64))
}

/// Finds the section of a file without scanning it.
pub(crate) fn section_of(path: &Path) -> Result<FileText, Refusal> {
    let mapping = Mapping::open(path)?;
    let Split { code, section } =
        split(mapping.bytes()).map_err(|error| Refusal::File(error.to_string()))?;
    if section.is_empty() || is_folded(section) {
        return Err(Refusal::NoSection);
    }
    let start = code.len() as u64;
    Ok(mapping.into_text(start))
}
