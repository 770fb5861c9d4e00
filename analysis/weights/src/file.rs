//! Files of modules: scanned through a mapping, then read piece by piece.

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
    /// The inode number, which changes when the file is replaced.
    inode: u64,
}

impl Stamp {
    fn of(data: &Metadata) -> Stamp {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(data);
        #[cfg(not(unix))]
        let inode = 0;
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
        format!("{}-{}-{}", self.length, modified.unwrap_or_default().as_nanos(), self.inode)
    }
}

/// A file that is mapped into memory while it is scanned.
///
/// The mapping is dropped after the scan: a program that truncates the file while its pages are read
/// would kill this process. Tensors are read from [`FileText`] instead, where such a change is an
/// error.
pub struct Mapping {
    map: Option<memmap2::Mmap>,
    file: File,
    path: PathBuf,
    stamp: Stamp,
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

impl Mapping {
    /// Maps a file.
    ///
    /// # Errors
    /// It cannot be read, or is not a regular file.
    pub fn open(path: &Path) -> io::Result<Mapping> {
        let file = open_file(path)?;
        let stamp = Stamp::of_file(&file)?;
        // An empty file cannot be mapped.
        let map = if stamp.length == 0 { None } else { Some(map(&file)?) };
        Ok(Mapping { map, file, path: path.to_owned(), stamp })
    }

    /// Returns the bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// Returns the state of the file when it was opened.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Drops the mapping. The bytes from `start` on are then read on demand.
    pub fn into_text(self, start: u64) -> FileText {
        FileText { file: self.file, path: self.path, stamp: self.stamp, start }
    }
}

#[expect(unsafe_code, reason = "no safe function maps a file")]
fn map(file: &File) -> io::Result<memmap2::Mmap> {
    // SAFETY: the mapping is private and read-only, and lives no longer than a scan. Bytes that
    // another program changes meanwhile are validated as UTF-8 and as JSON before they are used, and if
    // the file is replaced, as by editors and TVM's tools, the mapping keeps the old bytes.
    unsafe { memmap2::Mmap::map(file) }
}

/// The text of a section in a file, read on demand.
#[derive(Debug)]
pub struct FileText {
    file: File,
    path: PathBuf,
    stamp: Stamp,
    /// The offset of the section in the file.
    start: u64,
}

impl FileText {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the state of the file when it was scanned.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Returns the offset of the section in the file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Reads bytes of the section.
    ///
    /// # Errors
    /// They cannot be read, or the file has changed since it was scanned.
    pub fn read_exact_at(&self, to: &mut [u8], at: u64) -> io::Result<()> {
        let now = Stamp::of(&self.file.metadata()?);
        if now != self.stamp {
            return Err(io::Error::other("it has changed since it was opened"));
        }
        read_exact_at(&self.file, to, self.start.saturating_add(at))
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
