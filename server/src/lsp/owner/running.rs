//! Runs, as the owner sees them: what they start with, and what they leave behind.

use tower_lsp::{jsonrpc::Error, lsp_types::Url};

use super::Owner;
use crate::lsp::{
    abilities::Refreshes,
    live::Kept,
    outgoing::Message,
    runs::{self, RunRequest, Sight},
};

impl Owner {
    /// Starts a run: it has a copy of all that it needs, so that nothing here waits for it.
    pub(super) fn start_run(&mut self, request: RunRequest) {
        let Some(document) = self.documents.get(request.uri()) else {
            let message = format!("the document {} is not open: open it first", request.uri());
            request.refuse(Error::invalid_params(message));
            return;
        };
        let sight = Sight {
            document: document.clone(),
            config: self.config.clone(),
            encoding: self.client.encoding,
            folder: self.session.workspace.folder_of(request.uri()),
            progress: self.client.progress,
            shows: self.session.runs(runs::RUN),
            outgoing: self.outgoing.clone(),
            mailbox: self.mailbox.clone(),
        };
        runs::start(&self.runs, request, sight);
    }

    /// Shows what a run leaves behind.
    pub(super) fn ran(&mut self, uri: Url, kept: Kept) {
        if self.documents.get(&uri).is_some() {
            self.session.live.keep(uri.clone(), kept);
            self.values_changed(uri);
        }
    }

    /// Forgets what the last run has left behind.
    pub(super) fn clear_values(&mut self, uri: Url) {
        self.session.live.forget(&uri);
        if self.documents.get(&uri).is_some() {
            self.values_changed(uri);
        }
    }

    /// The values of the last run are others: hints, lenses and marks show them.
    fn values_changed(&mut self, uri: Url) {
        self.published.entry(uri).or_default().dirty = true;
        let Refreshes { hints, lenses, .. } = self.client.refreshes;
        let messages = [(hints, Message::RefreshHints), (lenses, Message::RefreshLenses)];
        for (_, message) in messages.into_iter().filter(|(wanted, _)| *wanted) {
            self.outgoing.send(message);
        }
        if !self.is_pushing() && self.client.pulls {
            self.outgoing.send(Message::RefreshDiagnostics);
        }
    }
}
