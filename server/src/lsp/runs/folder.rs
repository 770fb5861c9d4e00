//! Access to a folder of an untrusted workspace, which may contain symbolic links.
//!
//! No link is followed, neither for the folder nor for a file in it. On Unix all operations are
//! relative to a handle of the folder, so that it cannot be replaced by a link between two of them. A
//! file is replaced atomically: a new file with an unpredictable name is written and renamed.

use std::{
    hash::{BuildHasher, RandomState},
    io::{self, Read, Write},
    path::Path,
};

/// The number of random names that are tried for a new file.
const TRIES: usize = 8;

/// A folder.
pub(super) struct Folder(system::Handle);

impl Folder {
    /// Opens an existing folder.
    ///
    /// # Errors
    /// It does not exist, is a link, or is not a folder.
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        match std::fs::symlink_metadata(path)?.file_type() {
            kind if kind.is_symlink() => Err(io::Error::other("the folder is a link")),
            kind if kind.is_dir() => Ok(Folder(system::Handle::open(path)?)),
            _ => Err(io::Error::other("this is not a folder")),
        }
    }

    /// Opens a folder, or creates it.
    ///
    /// # Errors
    /// It cannot be created, is a link, or is not a folder.
    pub(super) fn create(path: &Path) -> io::Result<Folder> {
        match std::fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Folder::open(path),
        }
    }

    /// Reads a text file of at most `max_size` bytes.
    ///
    /// # Errors
    /// It cannot be read, is larger, or is not a regular file.
    pub(super) fn read(&self, name: &str, max_size: u64) -> io::Result<String> {
        let file = self.0.read(name)?;
        let data = file.metadata()?;
        if !data.is_file() {
            return Err(io::Error::other("this is not a regular file"));
        }
        let mut text = String::new();
        // It may grow while it is read.
        file.take(max_size + 1).read_to_string(&mut text)?;
        if text.len() as u64 > max_size {
            return Err(io::Error::other(format!("the file is larger than {} MB", max_size >> 20)));
        }
        Ok(text)
    }

    /// Replaces a file atomically: a reader finds the old text or the new one.
    ///
    /// # Errors
    /// It cannot be written; it is unchanged.
    pub(super) fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            // A new `RandomState` is seeded by the system, so the hash of any value is random.
            let random = RandomState::new().hash_one(());
            let draft = format!(".{name}.{random:016x}");
            let mut file = match self.0.create(&draft) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    last = error;
                    continue;
                }
                Err(error) => return Err(error),
            };
            let written =
                file.write_all(text.as_bytes()).and_then(|()| self.0.rename(&draft, name));
            if written.is_err() {
                // The first error is returned, not that of the cleanup.
                let _ = self.0.remove(&draft);
            }
            return written;
        }
        Err(last)
    }
}

#[cfg(unix)]
mod system {
    use std::{fs::File, io, os::fd::OwnedFd, path::Path};

    use rustix::fs::{self, AtFlags, Mode, OFlags};

    /// A handle of a folder.
    pub(super) struct Handle(OwnedFd);

    impl Handle {
        pub(super) fn open(path: &Path) -> io::Result<Handle> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(Handle(fs::open(path, flags, Mode::empty())?))
        }

        pub(super) fn read(&self, name: &str) -> io::Result<File> {
            // Without `NONBLOCK`, opening a pipe waits for its other end.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            match fs::openat(&self.0, name, flags, Mode::empty()) {
                Err(rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => {
                    Err(io::Error::other("the file is a link"))
                }
                opened => Ok(opened?.into()),
            }
        }

        pub(super) fn create(&self, name: &str) -> io::Result<File> {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
            Ok(fs::openat(&self.0, name, flags, mode)?.into())
        }

        pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            Ok(fs::renameat(&self.0, from, &self.0, to)?)
        }

        pub(super) fn remove(&self, name: &str) -> io::Result<()> {
            Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::{
        fs::{self, File, OpenOptions},
        io,
        path::{Path, PathBuf},
    };

    /// The path of a folder.
    pub(super) struct Handle(PathBuf);

    impl Handle {
        pub(super) fn open(path: &Path) -> io::Result<Handle> {
            Ok(Handle(path.to_owned()))
        }

        pub(super) fn read(&self, name: &str) -> io::Result<File> {
            let path = self.0.join(name);
            match fs::symlink_metadata(&path)?.file_type().is_symlink() {
                true => Err(io::Error::other("the file is a link")),
                false => File::open(path),
            }
        }

        pub(super) fn create(&self, name: &str) -> io::Result<File> {
            OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
        }

        pub(super) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            fs::rename(self.0.join(from), self.0.join(to))
        }

        pub(super) fn remove(&self, name: &str) -> io::Result<()> {
            fs::remove_file(self.0.join(name))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A folder of the system that the test may fill.
    fn temporary(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("relay-folder-{name}-{}", std::process::id()));
        // It may be left over from an earlier test run.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        path
    }

    fn names(path: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(path).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> =
            names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_replaced_atomically() {
        let root = temporary("whole");
        let path = root.join("notes");
        let missing = Folder::open(&path).err().map(|error| error.kind());
        assert_eq!(missing, Some(io::ErrorKind::NotFound));
        let folder = Folder::create(&path).expect("a folder");
        let missing = folder.read("a", 10).err().map(|error| error.kind());
        assert_eq!(missing, Some(io::ErrorKind::NotFound));
        for text in ["first", "", "second"] {
            folder.replace("a", text).expect("it is written");
            assert_eq!(folder.read("a", 10).expect("a text"), text);
            // No temporary file is left.
            assert_eq!(names(&path), ["a"]);
        }
        assert!(folder.read("a", 6).is_ok() && folder.read("a", 5).is_err());
        // A folder cannot be replaced by a file, and no temporary file is left.
        std::fs::create_dir(path.join("b")).expect("a folder");
        assert!(folder.replace("b", "text").is_err() && folder.read("b", 10).is_err());
        assert_eq!(names(&path), ["a", "b"]);
        assert!(Folder::create(&path.join("a")).is_err());
        // A failure only leaves a temporary folder.
        let _ = std::fs::remove_dir_all(&root);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        use std::os::unix::fs::symlink;

        let root = temporary("links");
        let (real, path) = (root.join("real"), root.join("notes"));
        std::fs::create_dir(&real).expect("a folder");
        std::fs::write(real.join("secret"), "secret").expect("a file");
        symlink(&real, &path).expect("a link");
        let error = Folder::create(&path).err().expect("it is a link").to_string();
        assert_eq!(error, "the folder is a link");
        assert!(Folder::open(&path).is_err());
        std::fs::remove_file(&path).expect("a link");
        let folder = Folder::create(&path).expect("a folder");
        symlink(real.join("secret"), path.join("a")).expect("a link");
        let error = folder.read("a", 100).expect_err("it is a link").to_string();
        assert_eq!(error, "the file is a link");
        // The link is replaced, not its target.
        folder.replace("a", "text").expect("it is written");
        assert_eq!(std::fs::read_to_string(real.join("secret")).expect("a file"), "secret");
        assert_eq!(folder.read("a", 100).expect("a text"), "text");
        assert!(std::fs::symlink_metadata(path.join("a")).is_ok_and(|data| data.is_file()));
        // Opening a pipe does not block.
        let pipe = path.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe");
        assert!(folder.read("pipe", 100).is_err());
        // A failure only leaves a temporary folder.
        let _ = std::fs::remove_dir_all(&root);
    }

    #[test]
    fn random_names_are_distinct() {
        let names: std::collections::HashSet<u64> =
            (0..1000).map(|_| RandomState::new().hash_one(())).collect();
        assert_eq!(names.len(), 1000);
    }
}
