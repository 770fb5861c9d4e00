//! Files of modules, read piece by piece.
//!
//! They are not mapped into memory: a program that truncates a mapped file ends every process that reads it
//! at that moment. What is read is checked against the state of the file instead.

use std::{
    fs::{File, Metadata},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The state of a file, by which later changes are detected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The length in bytes.
    pub length: u64,
    /// The modification time, if the system provides it.
    modified: Option<SystemTime>,
    /// The numbers of device and inode, which change when the file is replaced.
    inode: (u64, u64),
}

impl Stamp {
    /// Returns the state from what the system says of a file.
    pub fn of(data: &Metadata) -> Stamp {
        #[cfg(unix)]
        let inode = {
            use std::os::unix::fs::MetadataExt;
            (data.dev(), data.ino())
        };
        #[cfg(not(unix))]
        let inode = (0, 0);
        Stamp { length: data.len(), modified: data.modified().ok(), inode }
    }

    /// Returns the state of the file at a path.
    ///
    /// # Errors
    /// There is no such file.
    pub fn at(path: &Path) -> io::Result<Stamp> {
        Ok(Stamp::of(&std::fs::metadata(path)?))
    }

    /// Returns the state of an open file.
    ///
    /// # Errors
    /// The system does not return it.
    pub fn of_file(file: &File) -> io::Result<Stamp> {
        Ok(Stamp::of(&file.metadata()?))
    }

    /// Formats the stamp as an opaque text for clients.
    pub fn text(&self) -> String {
        let modified = self.modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let (device, inode) = self.inode;
        format!("{}-{}-{device}-{inode}", self.length, modified.unwrap_or_default().as_nanos())
    }
}

/// Opens a regular file for reading, through links. Other kinds are rejected before they are opened: opening
/// a pipe waits for its other end, and opening a device may have effects.
///
/// # Errors
/// It cannot be read, or is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let regular = |data: std::fs::Metadata| match data.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is not a regular file")),
    };
    regular(std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    // Something else may have replaced it meanwhile.
    regular(file.metadata()?)?;
    Ok(file)
}

/// A file of a module, of which parts are read on demand.
#[derive(Debug)]
pub struct ModuleFile {
    file: File,
    path: PathBuf,
    stamp: Stamp,
}

impl ModuleFile {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read, or is not a regular file.
    pub fn open(path: &Path) -> io::Result<ModuleFile> {
        let file = open_file(path)?;
        let stamp = Stamp::of_file(&file)?;
        Ok(ModuleFile { file, path: path.to_owned(), stamp })
    }

    /// Returns the path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the state of the file when it was opened.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Returns the file, whose position no function here depends on.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Fails if the file has changed since it was opened. It may be replaced: the handle keeps the old one.
    ///
    /// # Errors
    /// It has changed.
    pub fn check_unchanged(&self) -> io::Result<()> {
        match Stamp::of_file(&self.file)? == self.stamp {
            true => Ok(()),
            false => Err(changed()),
        }
    }

    /// Reads bytes of the file in the state in which it was opened.
    ///
    /// # Errors
    /// They cannot be read, or the file has changed.
    pub fn read_exact_at(&self, to: &mut [u8], at: u64) -> io::Result<()> {
        self.check_unchanged()?;
        match read_exact_at(&self.file, to, at) {
            // It was truncated meanwhile.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(changed()),
            read => read,
        }
    }
}

fn changed() -> io::Error {
    io::Error::other("it has changed since it was opened")
}

/// The text of a section in a file, read on demand.
#[derive(Debug)]
pub struct FileText {
    file: ModuleFile,
    /// The offset of the section in the file.
    start: u64,
}

impl FileText {
    /// Returns the text of a file from an offset on.
    pub fn new(file: ModuleFile, start: u64) -> FileText {
        FileText { file, start }
    }

    /// Returns the file.
    pub fn file(&self) -> &ModuleFile {
        &self.file
    }

    /// Returns the offset of the section in the file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the length of the section in bytes.
    pub fn length(&self) -> u64 {
        self.file.stamp.length.saturating_sub(self.start)
    }

    /// Reads bytes of the section.
    ///
    /// # Errors
    /// They cannot be read, or the file has changed since it was opened.
    pub fn read_exact_at(&self, to: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(to, self.start.saturating_add(at))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, at)
}

// Without a read that leaves the position alone: a platform without files, as WebAssembly.
#[cfg(not(any(unix, windows)))]
fn read_exact_at(mut file: &File, to: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(to)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut to: &mut [u8], mut at: u64) -> io::Result<()> {
    while !to.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, to, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                to = &mut to[count..];
                at += count as u64;
            }
        }
    }
    Ok(())
}
