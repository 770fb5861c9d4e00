//! Replacing a file.

use std::{
    ffi::{OsStr, OsString},
    fs::{File, Metadata, TryLockError},
    hash::{BuildHasher, RandomState},
    io::{self, BufWriter, Seek, SeekFrom},
};

use weights::Stamp;

use super::{
    BUFFER, Folder, Slot, WriteError,
    attributes::{Attributes, is_linked},
};

/// The number of random names that are tried for a new file.
const TRIES: usize = 8;
/// The number of times that files are exchanged while other programs replace the same file.
const MAX_EXCHANGES: usize = 64;

/// Writes a file, or replaces it, see [`super::Target::write`].
pub(super) fn replace(
    slot: &Slot,
    expected: Option<Stamp>,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<Stamp, WriteError> {
    let Slot { folder, name } = slot;
    // What is not a file, such as a link in an untrusted folder, is replaced as a name.
    let before = folder.state(name)?.filter(Metadata::is_file);
    if expected.is_some() && before.as_ref().map(Stamp::of) != expected {
        return Err(WriteError::Changed);
    }
    let old = match before {
        Some(data) => {
            folder.check_writable(name)?;
            let file = folder.open_file(name)?;
            let attributes = Attributes::of(&file, &data)?;
            Some((file, attributes, is_linked(&data)))
        }
        None => None,
    };
    let mut draft = Draft::create(folder, old.is_some())?;
    let mut out = BufWriter::with_capacity(BUFFER, draft.file.try_clone()?);
    content(&mut out)?;
    // The handle must be closed before the file is renamed on some systems.
    drop(out.into_inner().map_err(io::IntoInnerError::into_error)?);
    let Some((old, attributes, has_links)) = old else {
        draft.file.sync_all()?;
        let stamp = Stamp::of_file(&draft.file)?;
        draft.publish(name)?;
        return Ok(stamp);
    };
    if draft.is_elsewhere || has_links || attributes.apply(&draft.file).is_err() {
        return in_place(slot, expected, draft);
    }
    draft.file.sync_all()?;
    let stamp = Stamp::of_file(&draft.file)?;
    let published = match expected {
        Some(expected) => draft.publish_over(name, expected, old),
        None => {
            drop(old);
            draft.publish(name).map_err(WriteError::from)
        }
    };
    match published {
        // A file that is mounted by itself, as in containers, cannot be renamed.
        Err(WriteError::Io(error)) if error.kind() == io::ErrorKind::ResourceBusy => {
            in_place(slot, expected, draft)
        }
        published => published.map(|()| stamp),
    }
}

/// A new file with a random name, which is removed unless it is published.
struct Draft {
    folder: Folder,
    name: OsString,
    file: File,
    /// True if it is in the folder for temporary files, because the other one takes no new file.
    is_elsewhere: bool,
    is_published: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_published {
            // The first error is returned, not that of the cleanup.
            let _ = self.folder.remove(&self.name);
        }
    }
}

impl Draft {
    /// Creates a new file beside the one that is written. If one exists and its folder takes no
    /// other, it is created in the folder for temporary files.
    fn create(folder: &Folder, exists: bool) -> io::Result<Draft> {
        match Draft::create_in(folder, exists) {
            Err(error)
                if exists
                    && matches!(
                        error.kind(),
                        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                    ) =>
            {
                // The folder is shared by all users: the file is only for this one.
                let folder = Folder::of_user(&std::env::temp_dir())?;
                let mut draft = Draft::create_in(&folder, true)?;
                draft.is_elsewhere = true;
                Ok(draft)
            }
            created => created,
        }
    }

    fn create_in(folder: &Folder, is_private: bool) -> io::Result<Draft> {
        let mut last = io::ErrorKind::AlreadyExists.into();
        for _ in 0..TRIES {
            // A new `RandomState` is seeded by the system, so the hash of any value is random. The
            // name does not contain that of the file, which may have the greatest length.
            let random = RandomState::new().hash_one(());
            let name = OsString::from(format!(".relay-{random:016x}.tmp"));
            match folder.create_file(&name, is_private) {
                Ok(file) => {
                    let folder = folder.clone();
                    return Ok(Draft {
                        folder,
                        name,
                        file,
                        is_elsewhere: false,
                        is_published: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    /// Renames the file over whatever has the name.
    fn publish(&mut self, name: &OsStr) -> io::Result<()> {
        self.folder.rename(&self.name, name)?;
        self.finish();
        Ok(())
    }

    /// Renames the file over one in a state. Another program may replace that file until the last
    /// moment: both are exchanged, and exchanged again if the wrong one was taken out. That is only right
    /// if no two of them do so at once, so the old file is locked meanwhile.
    fn publish_over(&mut self, name: &OsStr, expected: Stamp, old: File) -> Result<(), WriteError> {
        // Without support for locks, only the state of the file is compared.
        if let Err(TryLockError::WouldBlock) = old.try_lock() {
            return Err(WriteError::Changed);
        }
        let state =
            |name: &OsStr| Ok::<_, io::Error>(self.folder.state(name)?.map(|it| Stamp::of(&it)));
        if state(name)? != Some(expected) {
            return Err(WriteError::Changed);
        }
        match self.folder.exchange(&self.name, name) {
            Ok(true) => {}
            Ok(false) => return Ok(self.publish(name)?),
            // It was removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(WriteError::Changed);
            }
            Err(error) => return Err(error.into()),
        }
        // From here on the name of the draft is that of the file which was taken out.
        if state(&self.name)? == Some(expected) {
            // A failure only leaves the old file under another name.
            let _ = self.folder.remove(&self.name);
            self.finish();
            return Ok(());
        }
        // What was taken out is not removed unless it is back in its place or was replaced there.
        self.is_published = true;
        let mut given = Stamp::of_file(&self.file).ok();
        for _ in 0..MAX_EXCHANGES {
            let taken = state(&self.name)?;
            match self.folder.exchange(&self.name, name) {
                Ok(_) => {}
                // The file was removed after it was replaced.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(self.superseded());
                }
                Err(error) => return Err(self.kept(error)),
            }
            // If another program has replaced the file again, its file was taken out now, and it is the
            // newest.
            if state(&self.name)? == given {
                return Err(self.superseded());
            }
            given = taken;
        }
        Err(self.kept(io::Error::other("other programs replace it all the time")))
    }

    /// The error if another program has changed the file first. What has the name of the draft is removed.
    fn superseded(&mut self) -> WriteError {
        self.is_published = false;
        WriteError::Changed
    }

    /// An error while the name of the draft is that of a file of another program.
    fn kept(&self, error: io::Error) -> WriteError {
        let name = self.name.display();
        let message = format!("{error}; what another program has written is in `{name}`");
        io::Error::new(error.kind(), message).into()
    }

    fn finish(&mut self) {
        self.is_published = true;
        // The file is complete for every reader, and on the disk; an error delays only its name.
        let _ = self.folder.sync();
    }
}

/// Writes a file in place: its other hard links are to have the new content, or its folder takes no new
/// file. Until it is complete, a copy of its old content is beside the new content.
fn in_place(slot: &Slot, expected: Option<Stamp>, draft: Draft) -> Result<Stamp, WriteError> {
    let mut file = slot.folder.open_for_writing(&slot.name)?;
    // Another server may save the same file. Without support for locks, only the state of the file is compared.
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(match expected {
            Some(_) => WriteError::Changed,
            None => {
                io::Error::new(io::ErrorKind::ResourceBusy, "another program is writing it").into()
            }
        });
    }
    if let Some(expected) = expected
        && Stamp::of_file(&file)? != expected
    {
        return Err(WriteError::Changed);
    }
    let mut copy = Draft::create(&slot.folder, true)?;
    io::copy(&mut file, &mut copy.file)?;
    copy.file.sync_all()?;
    if let Err(error) = overwrite(&mut file, &draft.file) {
        let restored = overwrite(&mut file, &copy.file);
        if restored.is_err() {
            copy.is_published = true;
            let name = copy.name.display();
            let place =
                if copy.is_elsewhere { "the folder for temporary files" } else { "its folder" };
            let message = format!("{error}; its old content is in `{name}` in {place}");
            return Err(io::Error::new(error.kind(), message).into());
        }
        return Err(error.into());
    }
    Ok(Stamp::of_file(&file)?)
}

/// Replaces the content of a file by that of another one.
fn overwrite(file: &mut File, mut content: &File) -> io::Result<()> {
    content.seek(SeekFrom::Start(0))?;
    file.seek(SeekFrom::Start(0))?;
    let length = io::copy(&mut content, file)?;
    file.set_len(length)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::Write,
        path::{Path, PathBuf},
        sync::Barrier,
    };

    use super::*;
    use crate::files::Target;

    fn temporary(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("relay-replace-{name}-{}", std::process::id()));
        // It may be left over from an earlier test run.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        path
    }

    fn target(path: &Path, stamp: Stamp) -> Target {
        Target::new(path).expect("a file").in_state(stamp)
    }

    fn is_changed(written: Result<Option<Stamp>, WriteError>) -> bool {
        matches!(written, Err(WriteError::Changed))
    }

    fn names(path: &Path) -> usize {
        fs::read_dir(path).expect("a folder").count()
    }

    /// Replaces a file as editors do: a new file is renamed.
    fn replace_as_editor(path: &Path, text: &str) {
        let other = path.with_extension("editor");
        fs::write(&other, text).expect("a file");
        fs::rename(other, path).expect("it is replaced");
    }

    #[test]
    fn files_are_replaced_in_the_state_in_which_they_were_read() {
        let root = temporary("states");
        let path = root.join("a");
        let changes: [fn(&Path); 4] = [
            |path| replace_as_editor(path, "others"),
            |path| fs::write(path, "other").expect("a file"),
            |path| fs::remove_file(path).expect("a file"),
            |path| {
                fs::remove_file(path).expect("a file");
                fs::create_dir(path).expect("a folder");
            },
        ];
        for change in changes {
            fs::write(&path, "before").expect("a file");
            let stamp = Stamp::at(&path).expect("a state");
            // Before it is written, and while it is.
            let written = target(&path, stamp).write(|out| {
                change(&path);
                out.write_all(b"after")
            });
            assert!(is_changed(written));
            let found = fs::read_to_string(&path).ok();
            assert_ne!(found.as_deref(), Some("after"));
            if path.is_file() {
                assert!(is_changed(target(&path, stamp).write_text("after")));
                assert_eq!(fs::read_to_string(&path).ok(), found);
            }
            assert!(names(&root) <= 1);
            if path.is_dir() {
                fs::remove_dir(&path).expect("a folder");
            }
        }
        fs::write(&path, "before").expect("a file");
        let stamp = Stamp::at(&path).expect("a state");
        let written = target(&path, stamp).write_text("after").expect("it is written");
        // The returned state is that of the written file.
        assert_eq!(written, Stamp::at(&path).ok());
        assert_eq!(fs::read_to_string(&path).expect("a file"), "after");
        // A failure only leaves a temporary folder.
        let _ = fs::remove_dir_all(&root);
    }

    /// A file that another program replaces at any moment has the content of that program, whose
    /// replacement is unconditional.
    #[test]
    fn replacement_by_another_program_at_the_same_moment_is_kept() {
        let root = temporary("race");
        let path = root.join("a");
        let (mut written, mut refused) = (0, 0);
        for round in 0..300 {
            fs::write(&path, "before").expect("a file");
            let stamp = Stamp::at(&path).expect("a state");
            let other = root.join("other");
            let text = format!("other {round}");
            fs::write(&other, &text).expect("a file");
            let barrier = Barrier::new(2);
            let own = std::thread::scope(|scope| {
                scope.spawn(|| {
                    barrier.wait();
                    fs::rename(&other, &path).expect("it is replaced");
                });
                target(&path, stamp).write(|out| {
                    out.write_all(b"own")?;
                    barrier.wait();
                    Ok(())
                })
            });
            match own {
                Ok(_) => written += 1,
                Err(WriteError::Changed) => refused += 1,
                Err(error) => panic!("{error}"),
            }
            assert_eq!(fs::read_to_string(&path).expect("a file"), text);
            assert_eq!(names(&root), 1);
        }
        eprintln!("{written} written before the other program, {refused} refused");
        // A failure only leaves a temporary folder.
        let _ = fs::remove_dir_all(&root);
    }

    /// Of several writers that have read the same state, one succeeds, and the file has its content. Also
    /// if it has other hard links.
    #[test]
    fn one_of_several_writers_succeeds() {
        let root = temporary("several");
        for round in 0..2000 {
            let path = root.join("a");
            fs::write(&path, "before").expect("a file");
            if round % 2 == 1 {
                let _ = fs::remove_file(root.join("b"));
                fs::hard_link(&path, root.join("b")).expect("a link");
            }
            let stamp = Stamp::at(&path).expect("a state");
            let barrier = Barrier::new(4);
            let texts = ["one", "two", "three", "four"];
            let own: Vec<bool> = std::thread::scope(|scope| {
                let write = |text: &'static str| {
                    barrier.wait();
                    target(&path, stamp).write_text(text).is_ok()
                };
                let threads = texts.map(|text| scope.spawn(move || write(text)));
                threads.map(|thread| thread.join().expect("no panic")).to_vec()
            });
            let found = fs::read_to_string(&path).expect("a file");
            let winners: Vec<&str> = texts
                .into_iter()
                .zip(&own)
                .filter(|(_, won)| **won)
                .map(|(text, _)| text)
                .collect();
            assert_eq!(winners, [found.as_str()], "{round}");
            fs::remove_file(&path).expect("a file");
        }
        // A failure only leaves a temporary folder.
        let _ = fs::remove_dir_all(&root);
    }

    #[test]
    fn failing_content_leaves_the_file() {
        let root = temporary("fails");
        let path = root.join("a");
        for exists in [false, true] {
            if exists {
                fs::write(&path, "before").expect("a file");
            }
            let written = Target::new(&path).expect("a target").write(|out| {
                out.write_all(&[b'x'; 3 << 20])?;
                Err(io::Error::other("it is incomplete"))
            });
            assert!(matches!(written, Err(WriteError::Io(_))));
            assert_eq!(fs::read_to_string(&path).ok(), exists.then(|| "before".to_owned()));
            assert_eq!(names(&root), usize::from(exists));
        }
        // A failure only leaves a temporary folder.
        let _ = fs::remove_dir_all(&root);
    }
}
