//! The state of a session that workers share.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;
use tower_lsp::jsonrpc::{Error, ErrorCode};

use super::{
    bases::Bases, code_views::CodeViews, layered::LayerRequests, live::LiveResults, logs::Logs,
    overlays::Overlays, semantic_tokens::TokenCache, workspace::Workspace,
};
use crate::panics::CaughtPanic;

/// The state of a session that workers share; documents and settings are in the snapshot.
#[derive(Default)]
pub(super) struct Session {
    /// The semantic tokens that the client has.
    pub(super) tokens: TokenCache,
    /// The values of the last run of each document.
    pub(super) live: LiveResults,
    /// What runs have told of the calls of documents.
    pub(super) overlays: Arc<Overlays>,
    /// The documents whose layers are known.
    pub(super) layered: LayerRequests,
    /// The metadata sections of files that are shown as code views.
    pub(super) code_views: CodeViews,
    /// The requested logs.
    pub(super) logs: Logs,
    /// The sides of comparisons that are not open documents.
    pub(super) bases: Arc<Bases>,
    /// The files of the workspace.
    pub(super) workspace: Workspace,
    /// The internal errors that were reported to the client.
    pub(super) faults: Faults,
}

/// The internal errors that were reported to the client, by their places in the source of the
/// server, which bounds their number.
#[derive(Default)]
pub(super) struct Faults(Mutex<HashSet<String>>);

impl Faults {
    /// Records an error. Returns true if it was not reported before.
    pub(super) fn is_new(&self, panicked: &CaughtPanic) -> bool {
        let mut reported = self.0.lock();
        panicked.is_own() && reported.insert(panicked.site.clone())
    }

    /// Returns the error of a request that panicked. An editor sends a dozen requests after each
    /// keystroke and shows a message for each that fails with `InternalError`; after the first, the
    /// others fail with `ContentModified`, which editors ignore silently.
    pub(super) fn error(&self, panicked: &CaughtPanic) -> Error {
        let (code, message) = if self.is_new(panicked) {
            (ErrorCode::InternalError, panicked.message("this request"))
        } else {
            let message = "this request failed with an internal error that was reported before";
            (ErrorCode::ContentModified, message.to_owned())
        };
        Error { code, message: message.into(), data: None }
    }
}
