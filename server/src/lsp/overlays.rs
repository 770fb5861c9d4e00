//! What runs have told of the calls of documents: the times of the last one, and errors against another module.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::documents::Document;
use crate::{protocol::ColouringKey, report::overlay::Overlay};

/// The number of documents that are remembered.
const MAX_DOCUMENTS: usize = 64;

/// A version of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct DocumentVersion {
    opened: u64,
    version: i32,
}

impl DocumentVersion {
    pub(super) fn of(document: &Document) -> DocumentVersion {
        DocumentVersion { opened: document.opened, version: document.version }
    }
}

/// The overlays of documents. An edit of a document ends those of its text.
#[derive(Default)]
pub(super) struct Overlays(Mutex<HashMap<u64, (i32, Vec<Overlay>)>>);

impl Overlays {
    /// Stores an overlay of a document instead of an earlier one of the same kind.
    pub(super) fn store(&self, of: DocumentVersion, overlay: Overlay) {
        let mut known = self.0.lock();
        if known.len() >= MAX_DOCUMENTS && !known.contains_key(&of.opened) {
            known.clear();
        }
        let (version, overlays) = known.entry(of.opened).or_insert((of.version, Vec::new()));
        match (*version).cmp(&of.version) {
            std::cmp::Ordering::Greater => return,
            std::cmp::Ordering::Less => overlays.clear(),
            std::cmp::Ordering::Equal => overlays.retain(|own| own.key() != overlay.key()),
        }
        *version = of.version;
        overlays.push(overlay);
    }

    /// Returns the overlays of the text of a document.
    pub(super) fn of(&self, document: &Document) -> Vec<Overlay> {
        let known = self.0.lock();
        let own = known.get(&document.opened).filter(|(version, _)| *version == document.version);
        own.map_or_else(Vec::new, |(_, list)| list.clone())
    }

    /// Removes the times of a document, whose values are hidden.
    pub(super) fn forget(&self, document: &Document) {
        if let Some((_, list)) = self.0.lock().get_mut(&document.opened) {
            list.retain(|one| one.key() != ColouringKey::Time);
        }
    }
}
