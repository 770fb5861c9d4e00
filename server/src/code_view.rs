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

use ide::edit::line_break;
use semantics::metadata::Metadata;
use weights::{
    CONSTANT, FileText, FoldedLine, Module, ModuleFile, Section, Split, Stamp, Weights,
    drop_entries, folded_line, is_folded, split,
};

use crate::files::{Identity, Target, WriteError};

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

impl From<WriteError> for Refusal {
    fn from(error: WriteError) -> Refusal {
        match error {
            WriteError::Changed => Refusal::Changed,
            WriteError::Io(error) => error.into(),
        }
    }
}

/// Reads a file with a section.
pub(crate) fn module_of(file: ModuleFile) -> Result<Module, Refusal> {
    let module = Module::read(file).map_err(io::Error::other)?;
    let section = module.outline.text();
    match section.is_empty() || is_folded(section) {
        true => Err(Refusal::NoSection),
        false => Ok(module),
    }
}

/// Returns the code of a module with the line that replaces its section of `length` bytes.
pub(crate) fn folded(code: &str, section: &Section, length: usize) -> String {
    format!("{code}{}{}", folded_line(section, length), line_break(code))
}

/// Opens a file as its code.
pub(crate) fn open(path: &Path) -> Result<CodeView, Refusal> {
    let module = module_of(ModuleFile::open(path)?)?;
    let length = usize::try_from(module.text.length()).unwrap_or(usize::MAX);
    let text = folded(&module.code, &module.section, length);
    let (stamp, start, section) =
        (module.text.file().stamp(), module.text.start(), module.text.length());
    let weights = Weights::of_file(module.section, module.text);
    Ok(CodeView { text, metadata: Arc::new(Metadata::of(weights)), stamp, start, section })
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

/// The section of a file that is written after changed code.
#[derive(Clone, Copy)]
pub(crate) struct Source<'s> {
    /// Its text.
    pub(crate) text: &'s FileText,
    /// The scanned section, to which the line in the code must fit, if it is known.
    pub(crate) section: Option<&'s Section>,
}

/// What was written.
pub(crate) struct WriteOutcome {
    /// The state of the file; `None` for what is not a file.
    stamp: Option<Stamp>,
    /// The offset of the section.
    start: u64,
    /// True if constants were removed: their successors have other numbers.
    is_renumbered: bool,
}

/// Writes a file from the code of a view and the section of a source.
pub(crate) fn write(
    source: Source<'_>,
    view: &ViewText<'_>,
    to: &Target,
) -> Result<WriteOutcome, Refusal> {
    if !view.drops() {
        source.section.map(|section| view.drops_from(section)).transpose()?;
        return copy(source.text, view.code, &[], to);
    }
    let file = source.text.file();
    let module = module_of(ModuleFile::open(file.path())?)?;
    if module.text.file().stamp() != file.stamp() {
        return Err(Refusal::Changed);
    }
    let drops = view.drops_from(&module.section)?;
    if drops.is_empty() {
        return copy(&module.text, view.code, &[], to);
    }
    let removal = drop_entries(&module.outline, &module.section, &drops);
    let removal = removal.ok_or(Refusal::OtherFormat)?;
    let code = semantics::renumber_constants(view.code, &removal.numbers);
    let written = copy(&module.text, &code, &removal.edits, to)?;
    Ok(WriteOutcome { is_renumbered: true, ..written })
}

/// Writes code and the section of a source with edits, which are in order.
fn copy(
    source: &FileText,
    code: &str,
    edits: &[(Range<usize>, String)],
    to: &Target,
) -> Result<WriteOutcome, Refusal> {
    let mut changed = false;
    let written = to.write(|out| {
        // An offset in another state of the file would write the weights from the middle of something.
        let mut head = [0; 2];
        changed = source.read_exact_at(&mut head, 0).is_err() || &head != b"#[";
        if changed {
            return Err(io::Error::other("it has changed"));
        }
        out.write_all(code.as_bytes())?;
        let mut file = source.file().file();
        let (mut at, length) = (0, usize::try_from(source.length()).unwrap_or(usize::MAX));
        let end = (length..length, String::new());
        for (range, text) in edits.iter().chain([&end]) {
            out.flush()?;
            file.seek(SeekFrom::Start(source.start() + at as u64))?;
            let part = range.start.saturating_sub(at) as u64;
            // Between files the system copies without this process.
            changed |= io::copy(&mut file.take(part), out.get_mut())? != part;
            out.write_all(text.as_bytes())?;
            at = range.end;
        }
        // A mixture of two versions must not replace the file.
        changed |= source.file().check_unchanged().is_err();
        if changed { Err(io::Error::other("it has changed")) } else { Ok(()) }
    });
    match written {
        Err(_) if changed => Err(Refusal::Changed),
        written => {
            let start = code.len() as u64;
            Ok(WriteOutcome { stamp: written?, start, is_renumbered: false })
        }
    }
}

/// A section of a file that is known from a scan.
#[derive(Clone)]
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
    let file = ModuleFile::open(path)?;
    let now = file.stamp();
    if now.text() != stamp {
        return Err(Refusal::Changed);
    }
    // The file itself may be named as the output.
    let is_same = |other: &Path| Identity::at(other).ok() == Identity::at(path).ok();
    let output = output.filter(|output| !is_same(output));
    let target = match output {
        Some(output) => Target::regular(output)?,
        None => Target::regular(path)?.in_state(now),
    };
    let known = known.filter(|known| known.stamp == now);
    let written = match &known {
        Some(known) => {
            let text = FileText::new(file, known.start);
            let section = Some(known.metadata.weights().section());
            write(Source { text: &text, section }, &view, &target)?
        }
        None => {
            let Module { text, section, .. } = module_of(file)?;
            write(Source { text: &text, section: Some(&section) }, &view, &target)?
        }
    };
    let WriteOutcome { stamp, start, is_renumbered } = written;
    // A file has a state.
    let stamp = stamp.ok_or(Refusal::Changed)?;
    if !is_renumbered {
        return Ok(SavedView { stamp, start, view: None });
    }
    let view = open(output.unwrap_or(path))?;
    match view.stamp == stamp {
        true => Ok(SavedView { stamp, start, view: Some(view) }),
        false => Err(Refusal::Changed),
    }
}
