//! The files of the workspace, as far as the server knows them: what each defines, and where.
//!
//! Files are looked for and read by a thread of their own, first when the session begins, then
//! when somebody asks and the last look was a while ago. Their trees are not kept.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

use ide::symbols::{SymbolKind, listed};
use semantics::{Database, provoke::panic_if_asked};
use syntax::{Encoding, LineIndex};
use tower_lsp::lsp_types::{Position, Range, Url};

use crate::panics;

/// What was found this long ago is looked for again.
const STALE: Duration = Duration::from_secs(2);
/// The first question waits for the first look, but no longer than this.
const FIRST_LOOK: Duration = Duration::from_secs(2);
/// The most files that are read.
const MOST_FILES: usize = 20_000;
/// The most entries of a folder and those in it that are looked at.
const MOST_ENTRIES: usize = 1_000_000;

/// What a file of the workspace defines.
#[derive(Debug)]
pub(super) struct WorkspaceFile {
    /// The file.
    pub(super) uri: Url,
    /// What it defines.
    pub(super) symbols: Vec<WorkspaceSymbol>,
    /// Its time and length when it was read.
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
    /// The folders are others than those of the last look.
    moved: bool,
    files: Arc<Files>,
    looking: bool,
    looked: Option<Instant>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    /// The folders.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        lock(&self.state.0).folders.clone()
    }

    /// The innermost folder that a file is in; for a file that stands alone, the one it stands in.
    pub(super) fn folder_of(&self, uri: &Url) -> Option<PathBuf> {
        let path = uri.to_file_path().ok()?;
        let folders = self.folders().into_iter().filter(|folder| path.starts_with(folder));
        let folder = folders.max_by_key(|folder| folder.components().count());
        folder.or_else(|| Some(path.parent()?.to_owned()))
    }

    /// Adds folders and takes some away.
    pub(super) fn change_folders(&self, added: &[Url], removed: &[Url]) {
        let paths = |uris: &[Url]| -> Vec<PathBuf> {
            uris.iter().filter_map(|uri| uri.to_file_path().ok()).collect()
        };
        let (added, removed) = (paths(added), paths(removed));
        let mut state = lock(&self.state.0);
        state.folders.retain(|folder| !removed.contains(folder) && !added.contains(folder));
        state.folders.extend(added);
        state.moved = true;
    }

    /// Looks at the files in the background, unless that has been done a moment ago.
    pub(super) fn look(&self, encoding: Encoding) {
        let mut state = lock(&self.state.0);
        let is_fresh = state.looked.is_some_and(|looked| looked.elapsed() < STALE);
        if state.looking || is_fresh && !state.moved {
            return;
        }
        if state.folders.is_empty() {
            state.files = Arc::default();
            state.looked = Some(Instant::now());
            return;
        }
        state.looking = true;
        state.moved = false;
        let shared = self.state.clone();
        let (folders, known) = (state.folders.clone(), state.files.clone());
        let look = move || {
            let files = panics::caught(|| read(&folders, &known, encoding));
            let mut state = lock(&shared.0);
            if let Ok(files) = files {
                state.files = Arc::new(files);
            }
            state.looking = false;
            state.looked = Some(Instant::now());
            shared.1.notify_all();
        };
        if thread::Builder::new().name("workspace".into()).spawn(look).is_err() {
            state.looking = false;
        }
    }

    /// The files by path: those of the last look. Where there was none, waits for the first, for a
    /// while, and gives way to a change of a document.
    pub(super) fn files(&self, db: &Database, encoding: Encoding) -> Arc<Files> {
        self.look(encoding);
        let deadline = Instant::now() + FIRST_LOOK;
        let mut state = lock(&self.state.0);
        while state.looking && state.looked.is_none() && Instant::now() < deadline {
            let pause = Duration::from_millis(2);
            let waited = self.state.1.wait_timeout(state, pause);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            poll(db);
        }
        state.files.clone()
    }
}

/// Ends this request if a document has changed or nobody waits any more.
fn poll(db: &Database) {
    use semantics::Db;
    let db: &dyn Db = db;
    db.unwind_if_revision_cancelled();
}

fn read(folders: &[PathBuf], known: &Files, encoding: Encoding) -> Files {
    let mut files = Files::new();
    for folder in folders {
        // What cannot be read is said where it is opened.
        for path in crate::input::contents(folder, MOST_ENTRIES).files {
            if files.len() >= MOST_FILES {
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
            let Ok(uri) = Url::from_file_path(&path) else { continue };
            // A panic costs the file.
            let Ok(symbols) = panics::caught(|| symbols(&input.text, encoding)) else { continue };
            files.insert(path, Arc::new(WorkspaceFile { uri, symbols, stamp }));
        }
    }
    files
}

fn symbols(text: &str, encoding: Encoding) -> Vec<WorkspaceSymbol> {
    let lines = LineIndex::new(text);
    let at = |offset| {
        let at = lines.line_column(offset, encoding);
        Position::new(at.line, at.column)
    };
    panic_if_asked("parse", text);
    let found = listed(&syntax::parse(text)).into_iter().map(|symbol| WorkspaceSymbol {
        name: symbol.name,
        kind: symbol.kind,
        range: Range::new(at(symbol.range.start()), at(symbol.range.end())),
        of: symbol.of,
    });
    found.collect()
}
