//! From the path of an output to the place that it names.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{Folder, Place, Slot};

/// The largest number of links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Where the links of a path lead.
pub(super) struct End {
    /// A path that is not a link, or the last link if it is one to an open file.
    pub(super) path: PathBuf,
    /// True for a link to an open file: `/proc/self/fd/1`, to which `/dev/stdout` leads. Its text need
    /// not be a path.
    pub(super) is_descriptor: bool,
}

/// Follows the links of a path, of which the last may lead to a file that does not exist.
///
/// # Errors
/// There are too many links, or a folder does not exist.
pub(super) fn end_of_links(path: &Path) -> io::Result<End> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::symlink_metadata(&path) {
            Ok(data) if data.file_type().is_symlink() => {}
            Ok(_) => return Ok(End { path, is_descriptor: false }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // A path such as `none/a.relay` names no place for a file.
                fs::metadata(folder_of(&path))?;
                return Ok(End { path, is_descriptor: false });
            }
            Err(error) => return Err(error),
        }
        let folder = fs::canonicalize(folder_of(&path))?;
        if cfg!(target_os = "linux") && folder.starts_with("/proc") && folder.ends_with("fd") {
            return Ok(End { path, is_descriptor: true });
        }
        path = folder.join(fs::read_link(&path)?);
    }
    Err(io::Error::other("it is a link to itself, or leads through too many links"))
}

/// Returns the folder of a path.
pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("/"),
    }
}

/// Returns the place that a path names.
pub(super) fn place(path: &Path) -> io::Result<Place> {
    let end = end_of_links(path)?;
    if end.is_descriptor {
        return Ok(match own_descriptor(&end.path) {
            Some(1) => Place::Stdout,
            Some(2) => Place::Stderr,
            _ => Place::Other(end.path),
        });
    }
    match fs::symlink_metadata(&end.path) {
        Ok(data) if data.is_dir() => {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        Ok(data) if !data.is_file() => return Ok(Place::Other(end.path)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let name = end.path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    Ok(Place::File(Slot { folder: Folder::of_user(&folder_of(&end.path))?, name }))
}

/// Returns the number of a descriptor of this process.
fn own_descriptor(path: &Path) -> Option<u32> {
    let own = fs::canonicalize("/proc/self/fd").ok()?;
    let folder = fs::canonicalize(folder_of(path)).ok()?;
    // The threads of a process share its descriptors: `/proc/thread-self/fd`.
    let process = own.parent()?;
    folder.starts_with(process).then(|| path.file_name()?.to_str()?.parse().ok())?
}

/// Returns a standard stream as a file. Opening it by a path would start at its beginning if it is a file, and fail if it
/// is a socket.
#[cfg(unix)]
pub(super) fn stream(stream: impl std::os::fd::AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
pub(super) fn stream<T>(_stream: T) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
