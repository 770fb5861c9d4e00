//! Writing files back.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

/// Replaces a file atomically by a text. Links and permissions are kept.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    write(path, |out| out.write_all(text.as_bytes()))
}

/// Writes a file, or replaces it atomically, so that nothing is lost if the disk is full. Links and
/// permissions are kept. The file is on the disk when this returns.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    replace_by(path, content, |file| file.sync_all()).map(drop)
}

/// Does the same, and returns before the file is on the disk, as copying a file does: waiting for
/// hundreds of megabytes takes several times as long as writing them. The rename is atomic for all
/// programs. Through a failure of power the old file or the new one is kept by file systems that
/// write a file which replaces another one before they forget the other, such as ext4 and btrfs.
pub(crate) fn write_and_sync_later(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    // Closing the last handle of a file that was replaced frees its pages, which takes longer than copying
    // them if others are written to the disk at the same time.
    let replaced = weights::open_file(path);
    let file = replace_by(path, content, |_| Ok(()))?;
    let sync = move || {
        // An error is of no more use to anybody: the file is complete for every reader.
        let _ = file.sync_all();
        drop(replaced);
    };
    // A process that ends leaves it to the system.
    let _ = std::thread::Builder::new().name("sync".to_owned()).spawn(sync);
    Ok(())
}

fn replace_by(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    sync: impl FnOnce(&File) -> std::io::Result<()>,
) -> std::io::Result<File> {
    let before = std::fs::canonicalize(path);
    let path = before.as_deref().unwrap_or(path);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = File::create_new(&beside).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        content(&mut out)?;
        let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        if before.is_ok() {
            file.set_permissions(std::fs::metadata(path)?.permissions())?;
        }
        sync(&file)?;
        Ok(file)
    });
    let moved = written.and_then(|file| std::fs::rename(&beside, path).map(|()| file));
    if moved.is_err() {
        // A failure only leaves a temporary file.
        let _ = std::fs::remove_file(&beside);
    }
    moved
}
