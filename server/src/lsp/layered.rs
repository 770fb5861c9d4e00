//! The documents whose layers are known.
//!
//! The layers of a long function cost as much as a hundred edits of it. The outline and folding, which editors ask for
//! once the user rests, compute them; a hover right after an edit does not wait for them. A second one has them.

use std::collections::HashMap;

use parking_lot::Mutex;

use super::documents::Document;

/// The size of a text in bytes up to which a hover computes layers.
const MAX_SMALL: usize = 16 << 10;
/// The number of documents that are remembered.
const MAX_DOCUMENTS: usize = 1_024;

/// The versions of documents for which something asked for layers.
#[derive(Default)]
pub(super) struct LayerRequests(Mutex<HashMap<u64, i32>>);

impl LayerRequests {
    /// Records that the layers of a document are asked for. Returns true if they were before, or if it is short.
    pub(super) fn record(&self, document: &Document) -> bool {
        let mut known = self.0.lock();
        if known.len() > MAX_DOCUMENTS {
            known.clear();
        }
        let before = known.insert(document.opened, document.version);
        before == Some(document.version) || document.text.len() <= MAX_SMALL
    }
}
