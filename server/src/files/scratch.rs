//! A folder for files that other programs read.

use std::path::{Path, PathBuf};

/// A temporary folder, which is removed in the end.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// Creates a folder, whose name contains that of a command.
    ///
    /// # Errors
    /// The message if it cannot be created.
    pub(crate) fn new(command: &str) -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("relay-{command}-{}", std::process::id()));
        let made = std::fs::create_dir_all(&path);
        made.map_err(|error| format!("cannot create `{}`: {error}", path.display()))?;
        Ok(Scratch(path))
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A failure leaves temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
