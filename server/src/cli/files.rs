//! Writing files back.

use std::{io::Write, path::Path};

/// Replaces a file atomically, so that nothing is lost if the disk is full. Links and permissions
/// are kept.
pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = std::fs::canonicalize(path)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    let written = std::fs::File::create_new(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.set_permissions(std::fs::metadata(&path)?.permissions())?;
        file.sync_all()
    });
    let moved = written.and_then(|()| std::fs::rename(&beside, &path));
    if moved.is_err() {
        // A failure only leaves a temporary file.
        let _ = std::fs::remove_file(&beside);
    }
    moved
}
