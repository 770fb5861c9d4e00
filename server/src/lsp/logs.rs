//! The logs that were asked for: which modules they have, so that showing one reads no other.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use weights::Stamp;

use crate::input::{Log, read_log};

/// The most logs that are kept, with an open file each.
const MAX_LOGS: usize = 4;

/// The logs that were asked for, the latest last.
#[derive(Default)]
pub(super) struct Logs(Mutex<Vec<(PathBuf, Stamp, Arc<Log>)>>);

impl Logs {
    /// Returns the log at a path. It is searched for modules again if the file has changed.
    ///
    /// # Errors
    /// The message for a file that cannot be read or is not text.
    pub(super) fn get(&self, path: &Path) -> Result<Arc<Log>, String> {
        let stamp = Stamp::at(path).ok();
        let is_same = |known: &(PathBuf, Stamp, Arc<Log>)| known.0 == path;
        {
            let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = logs.iter().position(is_same) {
                let known = logs.remove(at);
                if stamp == Some(known.1) {
                    let log = known.2.clone();
                    logs.push(known);
                    return Ok(log);
                }
            }
        }
        let log = Arc::new(read_log(path)?);
        // What is held as a text, such as that of an archive, is not worth its memory.
        if let Some(stamp) = stamp.filter(|_| log.is_file()) {
            let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            logs.retain(|known| !is_same(known));
            if logs.len() >= MAX_LOGS {
                logs.remove(0);
            }
            logs.push((path.to_owned(), stamp, log.clone()));
        }
        Ok(log)
    }
}
