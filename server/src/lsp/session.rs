//! What a session remembers beside its documents, for every worker to see.

use super::{handlers::tokens, workspace::Workspace};

/// What a session remembers.
#[derive(Default)]
pub(super) struct Session {
    /// The tokens that the client has of each document.
    pub(super) tokens: tokens::Sent,
    /// The files of the workspace.
    pub(super) workspace: Workspace,
}
