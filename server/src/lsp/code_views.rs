//! The metadata sections of files that are shown as their code.

use std::{
    collections::HashMap,
    hash::BuildHasher,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::{Mutex, MutexGuard};
use rustc_hash::FxBuildHasher;
use semantics::metadata::Metadata;
use tower_lsp::lsp_types::Url;
use weights::{FOLDED, Stamp};

use crate::{
    code_view::{self, CodeView, KnownSection},
    paths,
};

/// The scheme of documents that are the code of a file.
const SCHEME: &str = "relay-code";

/// The maximum number of sections that are kept: a client may ask for code without opening it.
const MAX_VIEWS: usize = 32;

/// The number of files that are saved at once; more may share a lock.
const SAVES: usize = 16;

/// The sections by file. An opened document uses the section that was read for its text, so that the
/// file is scanned once.
#[derive(Default)]
pub(super) struct CodeViews {
    sections: Mutex<HashMap<PathBuf, KnownSection>>,
    /// Held during a save, by the file: a save of the state that another save replaces is refused, so that
    /// the file has the content of a save that was acknowledged.
    saving: [Mutex<()>; SAVES],
}

impl CodeViews {
    /// Stores the section of a file that a client has asked for.
    pub(super) fn store(&self, path: PathBuf, view: &CodeView) {
        let mut views = self.sections.lock();
        // A file that the server has saved since has the same section.
        let is_known = views.get(&path).is_some_and(|known| known.stamp == view.stamp);
        if is_known {
            return;
        }
        if views.len() >= MAX_VIEWS {
            // The sections of open documents are scanned again on demand.
            views.clear();
        }
        let (stamp, start, metadata) = (view.stamp, view.start, view.metadata.clone());
        views.insert(path, KnownSection { stamp, start, metadata });
    }

    /// Returns the section of a file.
    pub(super) fn section_of(&self, path: &Path) -> Option<KnownSection> {
        self.sections.lock().get(path).cloned()
    }

    /// Waits until no other save of a file is in progress.
    pub(super) fn saving(&self, path: &Path) -> MutexGuard<'_, ()> {
        // A save gives the file another identity, but not another path.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let lock = FxBuildHasher.hash_one(path) as usize % SAVES;
        self.saving[lock].lock()
    }

    /// Records the state of a file whose code was saved. Its section is unchanged.
    pub(super) fn saved(&self, path: &Path, stamp: Stamp, start: u64) {
        let mut views = self.sections.lock();
        if let Some(known) = views.get_mut(path) {
            (known.stamp, known.start) = (stamp, start);
        }
    }

    /// Removes the section of a file whose document was closed.
    pub(super) fn forget(&self, uri: &Url) {
        if let Some(path) = file_of(uri) {
            self.sections.lock().remove(&path);
        }
    }

    /// Returns the section of a document if the file was read for it. The document itself may be the
    /// whole file.
    pub(super) fn known(&self, uri: &Url) -> Option<Arc<Metadata>> {
        self.section_of(&file_of(uri)?).map(|known| known.metadata)
    }

    /// Returns the section of a document that is the code of a file. An editor may keep the name of the
    /// file: its document then differs from the file by the line that replaces the section.
    pub(super) fn section(&self, uri: &Url, text: &str) -> Option<Arc<Metadata>> {
        let is_view = || memchr::memmem::find(text.as_bytes(), FOLDED.as_bytes()).is_some();
        let path = code_file(uri).or_else(|| paths::of_uri(uri).filter(|_| is_view()))?;
        self.known(uri).or_else(|| {
            // An editor that restores a session may open the document without asking for its text.
            let view = code_view::open(Path::new(&path)).ok()?;
            self.store(path.clone(), &view);
            Some(view.metadata)
        })
    }
}

/// Returns the file whose code a document is; `None` for other documents.
fn code_file(uri: &Url) -> Option<PathBuf> {
    if uri.scheme() != SCHEME {
        return None;
    }
    paths::of_uri(&Url::parse(&format!("file://{}", uri.path())).ok()?)
}

/// Returns the file of a `file:` or `relay-code:` URI.
pub(super) fn file_of(uri: &Url) -> Option<PathBuf> {
    code_file(uri).or_else(|| paths::of_uri(uri))
}
