//! A cache of the module offsets of requested logs, so that showing a module reads only that module.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use weights::Stamp;

use crate::input::{Log, read_log_file};

/// The largest number of cached logs, each with an open file.
const MAX_LOGS: usize = 4;

/// The requested logs, the most recent last.
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
        let known = self.0.lock().iter().find(|known| is_same(known)).cloned();
        let log = match known {
            Some((_, of, log)) if stamp == Some(of) => log,
            _ => Arc::new(read_log_file(path)?),
        };
        // A log whose whole text is in memory, such as one from an archive, is not cached.
        if let Some(stamp) = stamp.filter(|_| log.is_file()) {
            let mut logs = self.0.lock();
            logs.retain(|known| !is_same(known));
            if logs.len() >= MAX_LOGS {
                logs.remove(0);
            }
            logs.push((path.to_owned(), stamp, log.clone()));
        }
        Ok(log)
    }
}
