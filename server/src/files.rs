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
/// permissions are kept.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> std::io::Result<()> {
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
        file.sync_all()
    });
    let moved = written.and_then(|()| std::fs::rename(&beside, path));
    if moved.is_err() {
        // A failure only leaves a temporary file.
        let _ = std::fs::remove_file(&beside);
    }
    moved
}
