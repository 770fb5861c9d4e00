//! Events: everything that makes the owner act, and the mailbox in which they arrive.

use std::sync::mpsc::{Receiver, Sender, channel};

use tower_lsp::lsp_types::{
    TextDocumentContentChangeEvent, TextDocumentItem, Url, VersionedTextDocumentIdentifier,
};

use super::{
    abilities::ClientAbilities, live::Kept, request::Request, runs::RunRequest, workers::Finished,
};

/// Something that makes the owner act.
pub(super) enum Event {
    /// What the client can do, once.
    Client(Box<ClientAbilities>),
    /// The client has the answer to `initialize`: from now on it may be asked. Many cannot before,
    /// and refuse.
    Initialized,
    /// A document was opened.
    Open(TextDocumentItem),
    /// A document was changed.
    Change(VersionedTextDocumentIdentifier, Vec<TextDocumentContentChangeEvent>),
    /// A document was closed.
    Close(Url),
    /// Folders of the workspace have come or gone.
    Folders { added: Vec<Url>, removed: Vec<Url> },
    /// Settings, as the client has them.
    Settings(serde_json::Value),
    /// The client may have new settings: ask.
    SettingsChanged,
    /// The client asked for the diagnostics of a document.
    Pulled,
    /// A request to answer.
    Request(Request),
    /// A function to run.
    Run(Box<RunRequest>),
    /// A function of a document was run.
    Ran(Url, Box<Kept>),
    /// What the last run of a document has left is not wanted any more.
    ClearValues(Url),
    /// A worker is idle again.
    Finished(usize, Finished),
}

/// Where everything arrives.
#[derive(Clone)]
pub(super) struct Mailbox(Sender<Event>);

impl Mailbox {
    pub(super) fn send(&self, event: Event) {
        // The owner ends with the process only.
        let _ = self.0.send(event);
    }
}

/// A mailbox, and what arrives there.
pub(super) fn mailbox() -> (Mailbox, Receiver<Event>) {
    let (sender, receiver) = channel();
    (Mailbox(sender), receiver)
}
