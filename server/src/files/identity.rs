//! Which paths are one file.

use std::{ffi::OsString, fs::Metadata, io, path::Path};

/// What a path leads to, after all links: two paths with one identity are one file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Identity {
    /// Something that exists: device and inode number.
    #[cfg(unix)]
    Inode(u64, u64),
    /// Something that exists, by its real path.
    #[cfg(not(unix))]
    Path(std::path::PathBuf),
    /// A name that is free in a folder.
    Free(Box<Identity>, OsString),
}

impl Identity {
    /// Returns the identity of an open file, or of what a path leads to.
    #[cfg(unix)]
    pub(crate) fn of(data: &Metadata, _path: &Path) -> io::Result<Identity> {
        use std::os::unix::fs::MetadataExt;
        Ok(Identity::Inode(data.dev(), data.ino()))
    }

    /// Returns the identity of an open file, or of what a path leads to.
    #[cfg(not(unix))]
    pub(crate) fn of(_data: &Metadata, path: &Path) -> io::Result<Identity> {
        path.canonicalize().map(Identity::Path)
    }

    /// Returns the identity of what exists at a path, after all links.
    ///
    /// # Errors
    /// There is nothing.
    pub(crate) fn at(path: &Path) -> io::Result<Identity> {
        Identity::of(&std::fs::metadata(path)?, path)
    }

    /// Returns the identity of standard input.
    ///
    /// # Errors
    /// It is closed, or the platform does not tell.
    pub(crate) fn of_stdin() -> io::Result<Identity> {
        Identity::of(&super::resolve::stream(io::stdin())?.metadata()?, Path::new("-"))
    }

    /// Returns the identity of a file to write, which need not exist.
    ///
    /// # Errors
    /// Its folder does not exist.
    pub(crate) fn of_target(path: &Path) -> io::Result<Identity> {
        match Identity::at(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let end = super::resolve::end_of_links(path)?;
                let folder = Identity::at(&super::resolve::folder_of(&end.path))?;
                let name = end.path.file_name().unwrap_or_default().to_owned();
                Ok(Identity::Free(Box::new(folder), name))
            }
            found => found,
        }
    }
}
