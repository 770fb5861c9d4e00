//! What a session remembers beside its documents, for every worker to see.

use std::{
    collections::HashSet,
    sync::{Mutex, OnceLock, PoisonError},
};

use tower_lsp::jsonrpc::{Error, ErrorCode};

use super::{handlers::tokens, live::Live, parcels::Parcels, workspace::Workspace};
use crate::panics::Panicked;

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
    /// Internal errors that the client has been told of.
    pub(super) faults: Faults,
}

/// Internal errors that the client has been told of, by the places in the program where they
/// happened: there are no more of them than lines of the program.
#[derive(Default)]
pub(super) struct Faults(Mutex<HashSet<String>>);

impl Faults {
    /// Returns whether the client hears of an error for the first time.
    pub(super) fn is_new(&self, panicked: &Panicked) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        panicked.is_own() && told.insert(panicked.site.clone())
    }

    /// Returns the error of a request that panicked. An editor makes a dozen requests after each
    /// keystroke and shows a message for each that fails: after the first, the others end with the
    /// code that means "no answer for this text", which editors take in silence.
    pub(super) fn error(&self, panicked: &Panicked) -> Error {
        let (code, message) = if self.is_new(panicked) {
            (ErrorCode::InternalError, panicked.message("this request"))
        } else {
            let message = "an internal error that was reported before ended this request";
            (ErrorCode::ContentModified, message.to_owned())
        };
        Error { code, message: message.into(), data: None }
    }
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
