//! Writing files. Everything that the program writes goes through [`Target::write`].
//!
//! - A file has its old content or its new one, whatever happens: the new content is written to a file
//!   with a random name in the same folder, synced, and renamed. Mode, owner and extended attributes are
//!   those of the file that it replaces. Where they cannot be copied, where the file has other hard links
//!   or its folder takes no new file, it is written in place, with a copy of the old content beside it
//!   until it is complete.
//! - A file that was read before is replaced only in the state in which it was read ([`Stamp`]), also if
//!   another program replaces it at that moment.
//! - Links are followed, also to files that do not exist yet. Pipes and devices are written through.
//! - The files that a command reads and writes are compared first, see [`Claims`].

mod attributes;
mod claims;
mod folder;
mod identity;
mod replace;
mod resolve;
#[cfg(not(target_arch = "wasm32"))]
mod scratch;

use std::{
    ffi::OsString,
    fmt,
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

pub(crate) use claims::{Claims, cannot_write};
pub(crate) use folder::Folder;
pub(crate) use identity::Identity;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use scratch::Scratch;
use weights::Stamp;

/// The size of the buffer of a file that is written, in bytes.
const BUFFER: usize = 1 << 20;

/// A place to write to.
pub(crate) struct Target {
    /// The path by which it was named, for messages.
    path: PathBuf,
    place: Place,
    /// The state in which an existing file is replaced; `None` for any.
    expected: Option<Stamp>,
}

enum Place {
    /// A file that exists, or a name that is free.
    File(Slot),
    /// Standard output, if the path leads to it.
    Stdout,
    /// Standard error, likewise.
    Stderr,
    /// Something that is not a file: a pipe, a terminal or another device. Also a file that is open
    /// under a descriptor of a process, as `/dev/fd/3` names it, which is appended to.
    Other(PathBuf),
}

/// A name in a folder.
struct Slot {
    folder: Folder,
    name: OsString,
}

/// A reason that nothing was written.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// The file was changed by another program since it was read.
    Changed,
    /// The system reports an error.
    Io(io::Error),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::Io(error)
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Changed => f.write_str(
                "another program has changed it since it was read: nothing was written, run the command again",
            ),
            WriteError::Io(error) => error.fmt(f),
        }
    }
}

impl Target {
    /// Finds what a path names, which need not exist; `-` is standard output. Nothing is created or changed.
    ///
    /// # Errors
    /// It is a folder, lies in a folder that does not exist, or a link leads nowhere.
    pub(crate) fn new(path: &Path) -> io::Result<Target> {
        let place = match path.as_os_str() == "-" {
            true => Place::Stdout,
            false => resolve::place(path)?,
        };
        Ok(Target { path: path.to_owned(), place, expected: None })
    }

    /// Does the same for a file that a client names: a pipe may block forever, and standard output
    /// belongs to the protocol.
    ///
    /// # Errors
    /// As above, and it exists and is not a regular file.
    pub(crate) fn regular(path: &Path) -> io::Result<Target> {
        let target = Target::new(path)?;
        match target.place {
            Place::File(_) => Ok(target),
            _ => Err(io::Error::other("it is not a regular file")),
        }
    }

    /// Returns a target that is only replaced in a state.
    pub(crate) fn in_state(self, stamp: Stamp) -> Target {
        Target { expected: Some(stamp), ..self }
    }

    /// Writes `content`. Returns the state of the written file, `None` if it is not a file.
    ///
    /// # Errors
    /// The error of `content`, or that of the system. The file is as it was before.
    pub(crate) fn write(
        &self,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<Option<Stamp>, WriteError> {
        let file = match &self.place {
            Place::File(slot) => return replace::replace(slot, self.expected, content).map(Some),
            Place::Stdout => resolve::stream(io::stdout())?,
            Place::Stderr => resolve::stream(io::stderr())?,
            Place::Other(path) => File::options().append(true).open(path)?,
        };
        let mut out = BufWriter::with_capacity(BUFFER, file);
        content(&mut out)?;
        out.flush()?;
        Ok(None)
    }

    /// Writes a text.
    ///
    /// # Errors
    /// As [`Target::write`].
    pub(crate) fn write_text(&self, text: &str) -> Result<Option<Stamp>, WriteError> {
        self.write(|out| out.write_all(text.as_bytes()))
    }

    /// Returns true if it was named with an extension.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|own| own == extension)
    }

    /// Formats an error of writing it.
    pub(crate) fn error(&self, error: &WriteError) -> String {
        cannot_write(&self.path, error)
    }
}

/// Replaces a file that was read in a state by a text.
///
/// # Errors
/// As [`Target::write`].
pub(crate) fn replace_text(
    path: &Path,
    stamp: Option<Stamp>,
    text: &str,
) -> Result<(), WriteError> {
    let target = Target::new(path)?;
    let target = match stamp {
        Some(stamp) => target.in_state(stamp),
        None => target,
    };
    target.write_text(text).map(drop)
}
