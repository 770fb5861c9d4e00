//! Events, to which the owner reacts, and the mailbox in which they arrive.

use std::sync::{
    Arc,
    mpsc::{Receiver, Sender, channel},
};

use tower_lsp::lsp_types::{
    TextDocumentContentChangeEvent, TextDocumentItem, Url, VersionedTextDocumentIdentifier,
    WorkspaceEdit,
};

use super::{
    abilities::ClientAbilities,
    handlers::diagnostics::DocumentDiagnostics,
    live::{RunRecord, RunTicket},
    outgoing::Progress,
    request::Request,
    runs::RunRequest,
};

/// An event.
pub(super) enum Event {
    /// `initialize`.
    Client(Arc<ClientAbilities>),
    /// `initialized`: requests to the client are allowed from now on; many clients reject earlier
    /// ones.
    Initialized,
    /// A document was opened.
    Open(TextDocumentItem),
    /// A document was changed.
    Change(VersionedTextDocumentIdentifier, Vec<TextDocumentContentChangeEvent>),
    /// A document was closed.
    Close(Url),
    /// Workspace folders were added or removed.
    Folders { added: Vec<Url>, removed: Vec<Url> },
    /// The settings.
    Settings(serde_json::Value),
    /// The settings changed, and must be requested.
    SettingsChanged,
    /// Files changed that the server registered for.
    FilesChanged(Vec<Url>),
    /// The client pulled the diagnostics of a document.
    Pulled,
    /// A request for a worker.
    Request(Request),
    /// A request to run a function.
    Run(Box<RunRequest>),
    /// A run of a function of a document ended.
    Ran(Url, RunTicket, Box<RunRecord>),
    /// A request to hide the values of the last run of a document.
    ClearValues(Url),
    /// The progress of an operation, which the client may show.
    Progress(Progress),
    /// An edit that the client is to apply.
    Apply(WorkspaceEdit),
    /// A worker finished its job and is idle.
    Finished(usize, JobResult),
}

impl Event {
    /// Returns the name of the event in the log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Event::Client(_) => "client",
            Event::Initialized => "initialized",
            Event::Open(_) => "open",
            Event::Change(..) => "change",
            Event::Close(_) => "close",
            Event::Folders { .. } => "folders",
            Event::Settings(_) => "settings",
            Event::SettingsChanged => "settings changed",
            Event::FilesChanged(_) => "files changed",
            Event::Pulled => "pulled",
            Event::Request(_) => "request",
            Event::Run(_) => "run",
            Event::Ran(..) => "ran",
            Event::ClearValues(_) => "clear values",
            Event::Progress(_) => "progress",
            Event::Apply(_) => "apply",
            Event::Finished(..) => "finished",
        }
    }
}

/// The result of a worker's job.
pub(super) enum JobResult {
    /// A request was answered.
    Request,
    /// A request was interrupted by a change, and must be tried again.
    Retry(Request),
    /// The diagnostics of a document were computed.
    Diagnostics(Box<DocumentDiagnostics>),
}

/// The sending end of the mailbox.
#[derive(Clone)]
pub(super) struct Mailbox(Sender<Event>);

impl Mailbox {
    pub(super) fn send(&self, event: Event) {
        // The owner receives until the process ends.
        let _ = self.0.send(event);
    }
}

/// Returns both ends of a mailbox.
pub(super) fn mailbox() -> (Mailbox, Receiver<Event>) {
    let (sender, receiver) = channel();
    (Mailbox(sender), receiver)
}
