//! Folders, and the files in them by name.
//!
//! On Unix all operations are relative to a handle of the folder, and follow no link: between two of
//! them, neither the folder nor a file can be replaced by a link.

use std::{
    ffi::OsStr,
    fs::{File, Metadata},
    io::{self, Read},
    path::Path,
};

use super::{Place, Slot, Target};

pub(crate) use system::Folder;

impl Folder {
    /// Opens a folder that the user names. Links are followed.
    ///
    /// # Errors
    /// It does not exist, or is not a folder.
    pub(super) fn of_user(path: &Path) -> io::Result<Folder> {
        Folder::handle(path, true)
    }

    /// Opens an existing folder of an untrusted workspace.
    ///
    /// # Errors
    /// It does not exist, is a link, or is not a folder.
    pub(crate) fn open(path: &Path) -> io::Result<Folder> {
        match std::fs::symlink_metadata(path)?.file_type() {
            kind if kind.is_symlink() => Err(io::Error::other("the folder is a link")),
            kind if kind.is_dir() => Folder::handle(path, false),
            _ => Err(io::Error::other("this is not a folder")),
        }
    }

    /// Opens a folder of an untrusted workspace, or creates it.
    ///
    /// # Errors
    /// It cannot be created, is a link, or is not a folder.
    pub(crate) fn create(path: &Path) -> io::Result<Folder> {
        match std::fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Folder::open(path),
        }
    }

    /// Opens a folder in which only this user can create files, or creates it: others may have created
    /// it before, in a shared folder such as `/tmp`.
    ///
    /// # Errors
    /// It cannot be created, is a link, or belongs to another user.
    pub(crate) fn private(path: &Path) -> io::Result<Folder> {
        system::create_private(path)?;
        let folder = Folder::open(path)?;
        match folder.make_private()? {
            true => Ok(folder),
            false => Err(io::Error::other("the folder belongs to another user")),
        }
    }

    /// Reads a text file of at most `max_size` bytes.
    ///
    /// # Errors
    /// It cannot be read, is larger, or is not a regular file.
    pub(crate) fn read(&self, name: &str, max_size: u64) -> io::Result<String> {
        let file = self.open_file(OsStr::new(name))?;
        let mut text = String::new();
        // It may grow while it is read.
        file.take(max_size + 1).read_to_string(&mut text)?;
        if text.len() as u64 > max_size {
            return Err(io::Error::other(format!(
                "the file is larger than {} MiB",
                max_size >> 20
            )));
        }
        Ok(text)
    }

    /// Returns the place of a file. A link in its place is replaced, not followed.
    pub(crate) fn target(&self, name: &str) -> Target {
        let slot = Slot { folder: self.clone(), name: name.into() };
        Target { path: name.into(), place: Place::File(slot), expected: None }
    }

    /// Opens a regular file for reading.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let file = self.open_for_reading(name)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("this is not a regular file")),
        }
    }

    /// Returns the state of what has a name; `None` if it is free.
    pub(super) fn state(&self, name: &OsStr) -> io::Result<Option<Metadata>> {
        match self.metadata(name) {
            Ok(data) => Ok(Some(data)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(unix)]
mod system {
    use std::{
        ffi::OsStr,
        fs::{DirBuilder, File, Metadata, Permissions},
        io,
        os::fd::OwnedFd,
        os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        path::Path,
        sync::Arc,
    };

    use rustix::fs::{self, Access, AtFlags, Mode, OFlags};

    /// A folder, by its handle.
    #[derive(Clone)]
    pub(crate) struct Folder(Arc<OwnedFd>);

    /// Creates a folder for this user alone, unless it exists.
    pub(super) fn create_private(path: &Path) -> io::Result<()> {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            created => created,
        }
    }

    impl Folder {
        pub(super) fn handle(path: &Path, follows: bool) -> io::Result<Folder> {
            let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            flags.set(OFlags::NOFOLLOW, !follows);
            Ok(Folder(Arc::new(fs::open(path, flags, Mode::empty())?)))
        }

        /// Takes the right to write from other users. Returns false for a folder of another user.
        pub(super) fn make_private(&self) -> io::Result<bool> {
            let folder = File::from(self.0.try_clone()?);
            let data = folder.metadata()?;
            if data.uid() != rustix::process::geteuid().as_raw() {
                return Ok(false);
            }
            // As earlier versions created it with a common `umask`.
            if data.mode() & 0o022 != 0 {
                folder.set_permissions(Permissions::from_mode(data.mode() & 0o755))?;
            }
            Ok(true)
        }

        fn open_at(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
            // Without `NONBLOCK`, opening a pipe waits for its other end.
            let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            match fs::openat(&*self.0, name, flags, Mode::empty()) {
                Err(rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => {
                    Err(io::Error::other("the file is a link"))
                }
                opened => Ok(opened?.into()),
            }
        }

        pub(super) fn open_for_reading(&self, name: &OsStr) -> io::Result<File> {
            self.open_at(name, OFlags::RDONLY)
        }

        /// Opens an existing file for reading and writing.
        pub(in crate::files) fn open_for_writing(&self, name: &OsStr) -> io::Result<File> {
            self.open_at(name, OFlags::RDWR)
        }

        pub(super) fn metadata(&self, name: &OsStr) -> io::Result<Metadata> {
            // A handle that cannot be read from or written to, also of a link, takes no permission.
            #[cfg(any(target_os = "linux", target_os = "android"))]
            let flags = OFlags::PATH;
            #[cfg(not(any(target_os = "linux", target_os = "android")))]
            let flags = OFlags::RDONLY;
            self.open_at(name, flags)?.metadata()
        }

        /// Fails if this process may not write to a file.
        pub(in crate::files) fn check_writable(&self, name: &OsStr) -> io::Result<()> {
            Ok(fs::accessat(&*self.0, name, Access::WRITE_OK, AtFlags::EACCESS)?)
        }

        /// Creates a file, for this user alone or with the usual mode.
        pub(in crate::files) fn create_file(
            &self,
            name: &OsStr,
            is_private: bool,
        ) -> io::Result<File> {
            let flags =
                OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(if is_private { 0o600 } else { 0o666 });
            Ok(fs::openat(&*self.0, name, flags, mode)?.into())
        }

        /// Gives a file another name, which may be taken.
        pub(in crate::files) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            Ok(fs::renameat(&*self.0, from, &*self.0, to)?)
        }

        /// Exchanges the names of two files at once. Returns false where that is not possible.
        pub(in crate::files) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<bool> {
            #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
            {
                use rustix::io::Errno;
                let flags = fs::RenameFlags::EXCHANGE;
                match fs::renameat_with(&*self.0, one, &*self.0, other, flags) {
                    // A file system or a kernel without this operation.
                    Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
                    done => Ok(done.map(|()| true)?),
                }
            }
            #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
            {
                let _ = (one, other);
                Ok(false)
            }
        }

        /// Removes a file.
        pub(in crate::files) fn remove(&self, name: &OsStr) -> io::Result<()> {
            Ok(fs::unlinkat(&*self.0, name, AtFlags::empty())?)
        }

        /// Writes the names of the folder to the disk.
        pub(in crate::files) fn sync(&self) -> io::Result<()> {
            Ok(fs::fsync(&*self.0)?)
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::{
        ffi::OsStr,
        fs::{self, File, Metadata, OpenOptions},
        io,
        path::{Path, PathBuf},
    };

    /// A folder, by its path.
    #[derive(Clone)]
    pub(crate) struct Folder(PathBuf);

    pub(super) fn create_private(path: &Path) -> io::Result<()> {
        // Folders of a user are private.
        fs::create_dir_all(path)
    }

    impl Folder {
        pub(super) fn handle(path: &Path, _follows: bool) -> io::Result<Folder> {
            match fs::metadata(path)?.is_dir() {
                true => Ok(Folder(path.to_owned())),
                false => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub(super) fn make_private(&self) -> io::Result<bool> {
            Ok(true)
        }

        fn open_at(&self, name: &OsStr, options: &OpenOptions) -> io::Result<File> {
            let path = self.0.join(name);
            match fs::symlink_metadata(&path)?.file_type().is_symlink() {
                true => Err(io::Error::other("the file is a link")),
                false => options.open(path),
            }
        }

        pub(super) fn open_for_reading(&self, name: &OsStr) -> io::Result<File> {
            self.open_at(name, OpenOptions::new().read(true))
        }

        pub(in crate::files) fn open_for_writing(&self, name: &OsStr) -> io::Result<File> {
            self.open_at(name, OpenOptions::new().read(true).write(true))
        }

        pub(super) fn metadata(&self, name: &OsStr) -> io::Result<Metadata> {
            fs::symlink_metadata(self.0.join(name))
        }

        pub(in crate::files) fn check_writable(&self, name: &OsStr) -> io::Result<()> {
            match self.metadata(name)?.permissions().readonly() {
                true => Err(io::ErrorKind::PermissionDenied.into()),
                false => Ok(()),
            }
        }

        pub(in crate::files) fn create_file(
            &self,
            name: &OsStr,
            _is_private: bool,
        ) -> io::Result<File> {
            OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
        }

        pub(in crate::files) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            fs::rename(self.0.join(from), self.0.join(to))
        }

        pub(in crate::files) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> io::Result<bool> {
            Ok(false)
        }

        pub(in crate::files) fn remove(&self, name: &OsStr) -> io::Result<()> {
            fs::remove_file(self.0.join(name))
        }

        pub(in crate::files) fn sync(&self) -> io::Result<()> {
            Ok(())
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
            folder.target("a").write_text(text).expect("it is written");
            assert_eq!(folder.read("a", 10).expect("a text"), text);
            // No temporary file is left.
            assert_eq!(names(&path), ["a"]);
        }
        assert!(folder.read("a", 6).is_ok() && folder.read("a", 5).is_err());
        // A folder cannot be replaced by a file, and no temporary file is left.
        std::fs::create_dir(path.join("b")).expect("a folder");
        assert!(folder.target("b").write_text("text").is_err() && folder.read("b", 10).is_err());
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
        folder.target("a").write_text("text").expect("it is written");
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

    #[cfg(unix)]
    #[test]
    fn private_folders_are_for_one_user() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let root = temporary("private");
        let path = root.join("own");
        let mode = || std::fs::metadata(&path).expect("a folder").permissions().mode() & 0o777;
        assert!(Folder::private(&path).is_ok());
        assert_eq!(mode(), 0o700);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o777)).expect("a mode");
        assert!(Folder::private(&path).is_ok());
        assert_eq!(mode(), 0o755);
        symlink(&path, root.join("link")).expect("a link");
        assert!(Folder::private(&root.join("link")).is_err());
        // Only root may give a folder to another user.
        if std::os::unix::fs::chown(&path, Some(1234), None).is_ok() {
            let error = Folder::private(&path).err().expect("another user's").to_string();
            assert_eq!(error, "the folder belongs to another user");
        }
        // A failure only leaves a temporary folder.
        let _ = std::fs::remove_dir_all(&root);
    }
}
