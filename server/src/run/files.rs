//! Files that arguments are read from.

use std::{
    fs::{File, FileType, OpenOptions},
    io,
    path::{Component, Path, PathBuf},
};

use arrays::{FileReader, Source};

/// A file that an argument is read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Named {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The folder that it must not lie outside of, where somebody else than the user has named it.
    pub(crate) within: Option<PathBuf>,
}

impl Named {
    /// Opens the file, and tells its length. Pipes and devices are not waited for.
    ///
    /// # Errors
    /// A sentence: it is no file, cannot be read, or lies elsewhere.
    pub(crate) fn open(&self) -> Result<Source<FileReader>, String> {
        let shown = self.path.display();
        let fail = |error: io::Error| format!("cannot read `{shown}`: {error}");
        let path = match &self.within {
            Some(folder) => inside(&self.path, folder)?,
            None => self.path.clone(),
        };
        // Looked at before it is opened: to open a device may do something.
        let plain = |kind: FileType| match kind.is_file() {
            true => Ok(()),
            false => Err(format!("cannot read `{shown}`: it is {}, not a file", name_of(kind))),
        };
        plain(std::fs::metadata(&path).map_err(fail)?.file_type())?;
        let file = open(&path).map_err(fail)?;
        let data = file.metadata().map_err(fail)?;
        // It may be another one by now.
        plain(data.file_type())?;
        Ok(Source::new(FileReader::from(file), data.len()))
    }
}

/// Opens a file to be read; of a pipe nobody waits for the other end.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

/// The path of a file in a folder, with all links followed.
fn inside(path: &Path, folder: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let outside = || {
        format!(
            "`{shown}` lies outside of the workspace, and is named in a file of the workspace: set \
             `relay.run.outsideFiles` to `true` in your own settings to read such files"
        )
    };
    // By its letters first: to ask for a name of another machine is to talk to it.
    let below = path.strip_prefix(folder).map_err(|_| outside())?;
    if !below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(outside());
    }
    let real = |path: &Path| {
        path.canonicalize().map_err(|error| format!("cannot read `{shown}`: {error}"))
    };
    let (path, folder) = (real(path)?, real(folder)?);
    if path.starts_with(folder) { Ok(path) } else { Err(outside()) }
}

fn name_of(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "something else" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(named: Named, what: &str) {
        let error = named.open().err().expect(what);
        assert!(error.contains(what), "{error}");
    }

    fn plain(path: impl Into<PathBuf>) -> Named {
        Named { path: path.into(), within: None }
    }

    /// A folder of the system that the test may fill.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("relay-files-{name}-{}", std::process::id()));
        // It may be left over.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(path.join("in/deep")).expect("a folder");
        std::fs::write(path.join("in/deep/a.npy"), b"abc").expect("a file");
        std::fs::write(path.join("out.npy"), b"abc").expect("a file");
        path
    }

    #[test]
    fn only_files_are_read() {
        let root = folder("kinds");
        assert!(plain(root.join("out.npy")).open().is_ok());
        says(plain(&root), "it is a folder, not a file");
        says(plain(root.join("none.npy")), "cannot read");
        #[cfg(unix)]
        {
            says(plain("/dev/zero"), "it is a device, not a file");
            let pipe = root.join("pipe.npy");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.is_ok_and(|status| status.success()), "a pipe");
            says(plain(pipe), "it is a pipe, not a file");
            let ring = root.join("ring.npy");
            std::os::unix::fs::symlink(&ring, &ring).expect("a link");
            says(plain(ring), "cannot read");
            // Data sets are often links to where they really are.
            let link = root.join("link.npy");
            std::os::unix::fs::symlink(root.join("out.npy"), &link).expect("a link");
            assert!(plain(link).open().is_ok());
        }
        // What is left over harms nobody.
        let _ = std::fs::remove_dir_all(&root);
    }

    #[test]
    fn files_of_the_workspace_lie_in_it() {
        let root = folder("inside");
        let within = Some(root.join("in"));
        let named = |path: &str| Named { path: root.join("in").join(path), within: within.clone() };
        for path in ["deep/a.npy", "./deep/a.npy"] {
            assert!(named(path).open().is_ok(), "{path}");
        }
        let there = root.join("in/deep/a.npy");
        assert!(named(&there.display().to_string()).open().is_ok());
        for path in ["../out.npy", "deep/../../out.npy", "/etc/hostname", "//server/share/a.npy"] {
            says(named(path), "lies outside of the workspace");
        }
        says(named("deep/none.npy"), "cannot read");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&root, root.join("in/up")).expect("a link");
            says(named("up/out.npy"), "lies outside of the workspace");
            std::os::unix::fs::symlink(root.join("out.npy"), root.join("in/l.npy"))
                .expect("a link");
            says(named("l.npy"), "lies outside of the workspace");
            std::os::unix::fs::symlink("deep/a.npy", root.join("in/m.npy")).expect("a link");
            assert!(named("m.npy").open().is_ok());
            // The folder itself may be reached through one.
            let through = root.join("in/up/in");
            let linked = Named { path: through.join("deep/a.npy"), within: Some(through) };
            assert!(linked.open().is_ok());
        }
        // What is left over harms nobody.
        let _ = std::fs::remove_dir_all(&root);
    }
}
