//! Files with arguments.

use std::{
    fs::{File, FileType, OpenOptions},
    io,
    ops::Range,
    path::{Component, Path, PathBuf},
};

use arrays::{FileReader, ReaderAt, Source};

/// A file with an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ArgumentFile {
    /// The path.
    pub(crate) path: PathBuf,
    /// The folder in which it must lie, if it is named by an untrusted workspace and not by the
    /// user.
    pub(crate) within: Option<PathBuf>,
    /// The part of the file to read; `None` for all of it.
    pub(crate) part: Option<Range<u64>>,
}

/// A part of a file, or all of it.
pub(crate) struct Part {
    file: FileReader,
    from: u64,
}

impl ReaderAt for Part {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buf, offset.saturating_add(self.from))
    }
}

impl ArgumentFile {
    /// Opens the file. Pipes and devices are rejected.
    ///
    /// # Errors
    /// The message for a file that is not regular, cannot be read, or lies outside the folder.
    pub(crate) fn open(&self) -> Result<Source<Part>, String> {
        let shown = self.path.display();
        let fail = |error: io::Error| format!("cannot read `{shown}`: {error}");
        let path = match &self.within {
            Some(folder) => inside(&self.path, folder)?,
            None => self.path.clone(),
        };
        // The check precedes opening, as opening a device may have effects.
        let plain = |kind: FileType| match kind.is_file() {
            true => Ok(()),
            false => Err(format!("cannot read `{shown}`: it is {}, not a file", name_of(kind))),
        };
        plain(std::fs::metadata(&path).map_err(fail)?.file_type())?;
        let file = open(&path).map_err(fail)?;
        let data = file.metadata().map_err(fail)?;
        // The file may have been replaced since.
        plain(data.file_type())?;
        let file = FileReader::from(file);
        Ok(match &self.part {
            Some(part) => {
                // The file may be shorter by now.
                let end = part.end.min(data.len());
                Source::new(Part { file, from: part.start }, end.saturating_sub(part.start))
            }
            None => Source::new(Part { file, from: 0 }, data.len()),
        })
    }
}

/// Opens a file for reading. Without `NONBLOCK`, opening a pipe waits for its other end.
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

/// Resolves the path of a file, which must lie in a folder after all links are followed.
fn inside(path: &Path, folder: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let outside = || {
        format!(
            "`{shown}` lies outside the workspace, and is named by a file of the workspace: set \
             `relay.run.outsideFiles` to `true` in your own settings to read such files"
        )
    };
    // The path is checked before it is resolved: resolving a network path contacts another machine.
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

    fn fails_with(named: ArgumentFile, what: &str) {
        let error = named.open().err().expect(what);
        assert!(error.contains(what), "{error}");
    }

    fn plain(path: impl Into<PathBuf>) -> ArgumentFile {
        ArgumentFile { path: path.into(), within: None, part: None }
    }

    /// Creates a temporary folder.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("relay-files-{name}-{}", std::process::id()));
        // It may be left over from an earlier test run.
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
        fails_with(plain(&root), "it is a folder, not a file");
        fails_with(plain(root.join("none.npy")), "cannot read");
        #[cfg(unix)]
        {
            fails_with(plain("/dev/zero"), "it is a device, not a file");
            let pipe = root.join("pipe.npy");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            assert!(made.is_ok_and(|status| status.success()), "a pipe");
            fails_with(plain(pipe), "it is a pipe, not a file");
            let ring = root.join("ring.npy");
            std::os::unix::fs::symlink(&ring, &ring).expect("a link");
            fails_with(plain(ring), "cannot read");
            // Files of data sets are often links.
            let link = root.join("link.npy");
            std::os::unix::fs::symlink(root.join("out.npy"), &link).expect("a link");
            assert!(plain(link).open().is_ok());
        }
        // A failure only leaves a temporary folder.
        let _ = std::fs::remove_dir_all(&root);
    }

    #[test]
    fn files_named_by_the_workspace_must_lie_in_it() {
        let root = folder("inside");
        let within = Some(root.join("in"));
        let named = |path: &str| ArgumentFile {
            path: root.join("in").join(path),
            within: within.clone(),
            part: None,
        };
        for path in ["deep/a.npy", "./deep/a.npy"] {
            assert!(named(path).open().is_ok(), "{path}");
        }
        let there = root.join("in/deep/a.npy");
        assert!(named(&there.display().to_string()).open().is_ok());
        for path in ["../out.npy", "deep/../../out.npy", "/etc/hostname", "//server/share/a.npy"] {
            fails_with(named(path), "lies outside the workspace");
        }
        fails_with(named("deep/none.npy"), "cannot read");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&root, root.join("in/up")).expect("a link");
            fails_with(named("up/out.npy"), "lies outside the workspace");
            std::os::unix::fs::symlink(root.join("out.npy"), root.join("in/l.npy"))
                .expect("a link");
            fails_with(named("l.npy"), "lies outside the workspace");
            std::os::unix::fs::symlink("deep/a.npy", root.join("in/m.npy")).expect("a link");
            assert!(named("m.npy").open().is_ok());
            // The folder itself may be reached through a link.
            let through = root.join("in/up/in");
            let linked = ArgumentFile {
                path: through.join("deep/a.npy"),
                within: Some(through),
                part: None,
            };
            assert!(linked.open().is_ok());
        }
        // A failure only leaves a temporary folder.
        let _ = std::fs::remove_dir_all(&root);
    }
}
