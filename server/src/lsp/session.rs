//! What a session remembers beside its documents, for every worker to see.

use std::sync::OnceLock;

use super::{handlers::tokens, live::Live, parcels::Parcels, workspace::Workspace};

/// What a session remembers.
#[derive(Default)]
pub(super) struct Session {
    /// The tokens that the client has of each document.
    pub(super) tokens: tokens::Sent,
    /// Where long answers wait.
    pub(super) parcels: Parcels,
    /// The client colours words by a grammar, too.
    has_grammar: OnceLock<bool>,
    /// Commands that the client runs when they are clicked.
    commands: OnceLock<Vec<String>>,
    /// What variables were bound to when documents were run.
    pub(super) live: Live,
    /// The files of the workspace.
    pub(super) workspace: Workspace,
}

impl Session {
    pub(super) fn new(parcels: Parcels) -> Session {
        Session { parcels, ..Session::default() }
    }

    /// Learns which commands the client runs when they are clicked, and whether it colours words by
    /// a grammar, too.
    pub(super) fn set_client(&self, commands: Vec<String>, has_grammar: bool) {
        // A client says it once.
        let _ = self.commands.set(commands);
        let _ = self.has_grammar.set(has_grammar);
    }

    /// Whether the client colours words by a grammar, too.
    pub(super) fn has_grammar(&self) -> bool {
        self.has_grammar.get().copied().unwrap_or(false)
    }

    /// Whether the client runs `command` when it is clicked.
    pub(super) fn runs(&self, command: &str) -> bool {
        self.commands.get().is_some_and(|known| known.iter().any(|name| name == command))
    }
}
