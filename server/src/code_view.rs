//! Modules with large metadata sections as their code.
//!
//! One line replaces the section. Saving writes the code; every other byte is copied from the file
//! to a new one that replaces it.

use std::{
    collections::BTreeSet,
    fmt,
    io::{self, Read, Seek, SeekFrom, Write},
    ops::Range,
    path::Path,
    sync::Arc,
};

use semantics::metadata::Metadata;
use weights::{
    CONSTANT, FileText, FoldedLine, Mapping, Section, Split, Stamp, Weights, drop_entries,
    folded_line, is_folded, split, split_and_scan,
};

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
    /// The line of the section is that of another state of the file, with other numbers of constants.
    OtherConstants {
        /// The number of constants that the line says.
        expected: u32,
        /// The number of constants in the file.
        found: usize,
    },
    /// The line of the section lists constants to remove that do not exist.
    MalformedDrops,
    /// The section is not formatted as by TVM, so that entries cannot be removed.
    OtherFormat,
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
            Refusal::OtherConstants { expected, found } => write!(
                f,
                "the code is for a section with {expected} constants, and the file has {found}: read it again, \
                 or delete the line of the section to save the code as it is"
            ),
            Refusal::MalformedDrops => f.write_str(
                "the line of the section lists constants to drop that do not exist: correct or delete the list",
            ),
            Refusal::OtherFormat => f.write_str(
                "its metadata section is not formatted as by TVM, and its constants cannot be dropped: \
                 delete the list of constants from the line of the section",
            ),
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
    let (Split { code, section }, scanned) =
        split_and_scan(mapping.bytes()).map_err(|error| Refusal::File(error.to_string()))?;
    if section.is_empty() || is_folded(section) {
        return Err(Refusal::NoSection);
    }
    let text = format!("{code}{}\n", folded_line(&scanned, section.len()));
    let (start, length) = (code.len() as u64, section.len() as u64);
    let weights = Weights::of_file(scanned, mapping.into_text(start));
    Ok(CodeView { text, metadata: Arc::new(Metadata::of(weights)), stamp, start, section: length })
}

/// The text of a code view.
pub(crate) struct ViewText<'t> {
    /// The code.
    pub(crate) code: &'t str,
    /// The line that replaces the section, unless it was deleted.
    line: Option<FoldedLine>,
}

impl ViewText<'_> {
    /// Returns true if constants are to be removed.
    pub(crate) fn drops(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.drops.as_ref().is_none_or(|it| !it.is_empty()))
    }

    /// Returns the constants to remove from a section: those that the code still uses are kept.
    fn drops_from(&self, section: &Section) -> Result<BTreeSet<u32>, Refusal> {
        let Some(line) = &self.line else { return Ok(BTreeSet::new()) };
        let found = section.entries(CONSTANT).len();
        if let Some(expected) = line.constants.filter(|&count| count as usize != found) {
            return Err(Refusal::OtherConstants { expected, found });
        }
        let drops = line.drops.as_ref().ok_or(Refusal::MalformedDrops)?;
        let used = semantics::mentioned_constants(self.code);
        Ok(drops.difference(&used).copied().collect())
    }
}

/// Separates the code of a text from the line that replaces the section.
pub(crate) fn view_of(text: &str) -> Result<ViewText<'_>, Refusal> {
    let Split { code, section } =
        split(text.as_bytes()).map_err(|error| Refusal::File(error.to_string()))?;
    if section.is_empty() {
        return Ok(ViewText { code, line: None });
    }
    if !is_folded(section) {
        return Err(Refusal::OwnSection);
    }
    let after = section.split_once('\n').map_or("", |(_, after)| after);
    if !after.trim().is_empty() {
        return Err(Refusal::AfterSection);
    }
    Ok(ViewText { code, line: Some(FoldedLine::parse(section)) })
}

/// Returns the code of a text in which one line replaces the section.
pub(crate) fn code_of(text: &str) -> Result<&str, Refusal> {
    view_of(text).map(|view| view.code)
}

/// The section of a file that is written after changed code.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    /// The file.
    pub(crate) path: &'s Path,
    /// The state of the file, in which it is read.
    pub(crate) stamp: Stamp,
    /// The offset of the section.
    pub(crate) start: u64,
}

/// Writes a file from the code of a view and the section of a source. Returns the code that was written
/// if constants were removed: their successors have other numbers.
pub(crate) fn write(
    source: Source<'_>,
    scanned: Option<&Section>,
    view: &ViewText<'_>,
    to: &Path,
) -> Result<Option<String>, Refusal> {
    let scan;
    let scanned = match scanned {
        // The scan takes longer than copying.
        None if view.drops() => {
            scan = open(source.path)?;
            Some(scan.metadata.weights().section())
        }
        scanned => scanned,
    };
    let drops = scanned.map(|scanned| view.drops_from(scanned)).transpose()?;
    let Some((scanned, drops)) = scanned.zip(drops.filter(|drops| !drops.is_empty())) else {
        copy(source, view.code, &[], to)?;
        return Ok(None);
    };
    let mapping = Mapping::open(source.path)?;
    if mapping.stamp() != source.stamp {
        return Err(Refusal::Changed);
    }
    let section = usize::try_from(source.start).ok().and_then(|from| mapping.bytes().get(from..));
    let section = section.and_then(|section| std::str::from_utf8(section).ok());
    let removal = section.and_then(|section| drop_entries(section, scanned, &drops));
    let removal = removal.ok_or(Refusal::OtherFormat)?;
    // The section is copied through the file; see `Mapping`.
    drop(mapping);
    let code = semantics::renumber_constants(view.code, &removal.numbers);
    copy(source, &code, &removal.edits, to)?;
    Ok(Some(code))
}

/// Writes code and the section of a source with edits, which are in order.
fn copy(
    source: Source<'_>,
    code: &str,
    edits: &[(Range<usize>, String)],
    to: &Path,
) -> Result<(), Refusal> {
    let Source { path, stamp, start } = source;
    let mut file = weights::open_file(path)?;
    let mut changed = Stamp::of_file(&file)? != stamp;
    if changed {
        return Err(Refusal::Changed);
    }
    files::write_and_sync_later(to, |out| {
        out.write_all(code.as_bytes())?;
        let mut at = start;
        let end = edits.iter().map(|(range, text)| (start + range.start as u64, text, range.len()));
        for (until, text, skipped) in end.chain([(stamp.length, &String::new(), 0)]) {
            out.flush()?;
            file.seek(SeekFrom::Start(at))?;
            let length = until.saturating_sub(at);
            // Between files the system copies without this process.
            changed |= io::copy(&mut (&mut file).take(length), out.get_mut())? != length;
            out.write_all(text.as_bytes())?;
            at = until + skipped as u64;
        }
        // A mixture of two versions must not replace the file.
        changed |= Stamp::of_file(&file)? != stamp || Stamp::at(path).ok() != Some(stamp);
        if changed { Err(io::Error::other("it has changed")) } else { Ok(()) }
    })
    .map_err(|error| if changed { Refusal::Changed } else { error.into() })
}

/// A section of a file that is known from a scan.
pub(crate) struct KnownSection {
    /// The state of the file.
    pub(crate) stamp: Stamp,
    /// The offset of the section in that state.
    pub(crate) start: u64,
    /// The section.
    pub(crate) metadata: Arc<Metadata>,
}

/// The result of saving a view.
pub(crate) struct SavedView {
    /// The new state of the written file.
    pub(crate) stamp: Stamp,
    /// The offset of the section in it.
    pub(crate) start: u64,
    /// The view of the written file if constants were removed.
    pub(crate) view: Option<CodeView>,
}

/// Saves the code of a view, in its file or with a copy of its section in another file.
pub(crate) fn save(
    path: &Path,
    stamp: &str,
    text: &str,
    known: Option<KnownSection>,
    output: Option<&Path>,
) -> Result<SavedView, Refusal> {
    let view = view_of(text)?;
    let now = Stamp::at(path)?;
    if now.text() != stamp {
        return Err(Refusal::Changed);
    }
    let known = known.filter(|known| known.stamp == now);
    let start = match &known {
        Some(known) => known.start,
        None => {
            let section = section_of(path)?;
            if section.stamp() != now {
                return Err(Refusal::Changed);
            }
            section.start()
        }
    };
    let scanned = known.as_ref().map(|known| known.metadata.weights().section());
    let output = output.unwrap_or(path);
    let code = write(Source { path, stamp: now, start }, scanned, &view, output)?;
    match code {
        Some(_) => {
            let view = open(output)?;
            Ok(SavedView { stamp: view.stamp, start: view.start, view: Some(view) })
        }
        None => {
            let start = view.code.len() as u64;
            Ok(SavedView { stamp: Stamp::at(output)?, start, view: None })
        }
    }
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
