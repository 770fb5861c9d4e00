//! The definitions in the files of the workspace.
//!
//! A separate thread scans the folders, first when the session starts, then on requests if the last
//! scan is stale. Only definitions are kept, not syntax trees.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use clock::Instant;
use ide::symbols::{SymbolKind, listed};
use parking_lot::{Condvar, Mutex};
use semantics::{Database, test_panic::panic_if_requested};
use syntax::{Encoding, LineIndex};
use tower_lsp::lsp_types::{Range, Url};

use super::convert;
use crate::{panics, paths};

/// The age from which a scan is stale.
const STALE: Duration = Duration::from_secs(2);
/// The longest time that a request waits for the first scan.
const FIRST_SCAN: Duration = Duration::from_secs(2);
/// The largest number of files that are read.
const MAX_FILES: usize = 20_000;
/// The largest number of entries of a folder and its subfolders that are visited.
const MAX_ENTRIES: usize = 1_000_000;

/// A file of the workspace.
#[derive(Debug)]
pub(super) struct WorkspaceFile {
    pub(super) uri: Url,
    /// Its definitions.
    pub(super) symbols: Vec<WorkspaceSymbol>,
    /// Its modification time and length when it was read.
    stamp: (Option<SystemTime>, u64),
}

/// A definition in a file of the workspace.
#[derive(Debug)]
pub(super) struct WorkspaceSymbol {
    pub(super) name: String,
    pub(super) kind: SymbolKind,
    pub(super) range: Range,
    pub(super) of: Option<String>,
}

type Files = BTreeMap<PathBuf, Arc<WorkspaceFile>>;

/// The files of the workspace.
#[derive(Default)]
pub(super) struct Workspace {
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    folders: Vec<PathBuf>,
    /// Set if the folders changed since the last scan.
    folders_changed: bool,
    files: Arc<Files>,
    scanning: bool,
    /// The time of the last scan.
    scanned: Option<Instant>,
}

impl Workspace {
    /// Returns the workspace folders.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.state.0.lock().folders.clone()
    }

    /// Returns the innermost workspace folder of a file, or the file's own folder if there is none.
    pub(super) fn folder_of(&self, uri: &Url) -> Option<PathBuf> {
        let path = paths::of_uri(uri)?;
        let folders = self.folders().into_iter().filter(|folder| path.starts_with(folder));
        let folder = folders.max_by_key(|folder| folder.components().count());
        folder.or_else(|| Some(path.parent()?.to_owned()))
    }

    /// Resolves a path: an absolute path is unchanged, a relative one is joined to the first folder that
    /// has the file, or to the first folder.
    pub(super) fn find(&self, path: &Path) -> PathBuf {
        let folders = self.folders();
        let mut places = folders.iter().map(|folder| folder.join(path));
        let first = folders.first().map(|folder| folder.join(path));
        places.find(|place| place.is_file()).or(first).unwrap_or_else(|| path.to_owned())
    }

    /// Returns the files with the weights of a module: those beside it that have its name, then those of the settings, of
    /// which the last one counts.
    pub(super) fn weights_of(&self, module: &Url, settings: &[PathBuf]) -> Vec<PathBuf> {
        let module = paths::of_uri(module);
        let beside = |end| module.as_ref().map(|module| module.with_extension(end));
        let beside = ["npz", "params"].into_iter().filter_map(beside).filter(|path| path.is_file());
        beside.chain(settings.iter().map(|path| self.find(path))).collect()
    }

    /// Adds and removes folders.
    pub(super) fn change_folders(&self, added: &[Url], removed: &[Url]) {
        let paths =
            |uris: &[Url]| -> Vec<PathBuf> { uris.iter().filter_map(paths::of_uri).collect() };
        let (added, removed) = (paths(added), paths(removed));
        let mut state = self.state.0.lock();
        state.folders.retain(|folder| !removed.contains(folder) && !added.contains(folder));
        state.folders.extend(added);
        state.folders_changed = true;
    }

    /// Scans the folders in the background if the last scan is stale.
    pub(super) fn scan(&self, encoding: Encoding) {
        let mut state = self.state.0.lock();
        let is_fresh = state.scanned.is_some_and(|scanned| scanned.elapsed() < STALE);
        if state.scanning || is_fresh && !state.folders_changed {
            return;
        }
        if state.folders.is_empty() {
            state.files = Arc::default();
            state.scanned = Some(Instant::now());
            return;
        }
        state.scanning = true;
        state.folders_changed = false;
        let shared = self.state.clone();
        let (folders, known) = (state.folders.clone(), state.files.clone());
        let scan = move || {
            let files = panics::caught(|| read(&folders, &known, encoding));
            let mut state = shared.0.lock();
            if let Ok(files) = files {
                state.files = Arc::new(files);
            }
            state.scanning = false;
            state.scanned = Some(Instant::now());
            shared.1.notify_all();
        };
        if thread::Builder::new().name("workspace".into()).spawn(scan).is_err() {
            state.scanning = false;
        }
    }

    /// Returns the files of the last scan by path. Waits for the first scan up to [`FIRST_SCAN`], unless
    /// the request is cancelled.
    pub(super) fn files(&self, db: &Database, encoding: Encoding) -> Arc<Files> {
        self.scan(encoding);
        let deadline = Instant::now() + FIRST_SCAN;
        let mut state = self.state.0.lock();
        while state.scanning && state.scanned.is_none() && Instant::now() < deadline {
            let pause = Duration::from_millis(2);
            self.state.1.wait_for(&mut state, pause);
            poll(db);
        }
        state.files.clone()
    }
}

/// Unwinds if the request is cancelled, by the client or by a change.
fn poll(db: &Database) {
    use semantics::Db;
    let db: &dyn Db = db;
    db.unwind_if_revision_cancelled();
}

fn read(folders: &[PathBuf], known: &Files, encoding: Encoding) -> Files {
    let mut files = Files::new();
    for folder in folders {
        // Files that cannot be read are reported when they are opened.
        for path in crate::input::contents(folder, MAX_ENTRIES).files {
            if files.len() >= MAX_FILES {
                return files;
            }
            let Ok(data) = std::fs::symlink_metadata(&path) else { continue };
            let stamp = (data.modified().ok(), data.len());
            if let Some(file) = known.get(&path).filter(|file| file.stamp == stamp) {
                files.insert(path, file.clone());
                continue;
            }
            let Ok(input) = crate::input::read_found(&path, crate::input::MAX_CODE) else {
                continue;
            };
            let Some(uri) = paths::uri_of(&path) else { continue };
            // A panic omits the file.
            let Ok(symbols) = panics::caught(|| symbols(&input.text, encoding)) else { continue };
            files.insert(path, Arc::new(WorkspaceFile { uri, symbols, stamp }));
        }
    }
    files
}

fn symbols(text: &str, encoding: Encoding) -> Vec<WorkspaceSymbol> {
    let lines = LineIndex::new(text);
    panic_if_requested("parse", text);
    let found = listed(&syntax::parse(text)).into_iter().map(|symbol| WorkspaceSymbol {
        name: symbol.name,
        kind: symbol.kind,
        range: convert::range(&lines, symbol.range, encoding),
        of: symbol.of,
    });
    found.collect()
}
