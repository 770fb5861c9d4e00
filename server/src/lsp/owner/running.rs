//! The start of a run of a function, and the display of its values afterwards.

use tower_lsp::{
    jsonrpc::Error,
    lsp_types::{Url, request::WorkspaceDiagnosticRefresh},
};

use super::Owner;
use crate::lsp::{
    event::Event,
    live::{RunRecord, RunTicket},
    outgoing::Message,
    runs::{self, RunContext, RunRequest},
};

impl Owner {
    /// Starts a run with a copy of all that it needs, so that no change waits for it.
    pub(super) fn start_run(&mut self, request: RunRequest) {
        let Some(document) = self.documents.get(request.uri()) else {
            let message = format!("the document {} is not open", request.uri());
            request.refuse(Error::invalid_params(message));
            return;
        };
        let (mailbox, uri) = (self.mailbox.clone(), request.uri().clone());
        let ticket = self.session.live.ticket(&uri);
        let context = RunContext {
            document: document.clone(),
            section: document.file.section(&self.db).clone(),
            config: self.config.clone(),
            encoding: self.client.encoding,
            folder: self.session.workspace.folder_of(request.uri()),
            weights: self.session.workspace.weights_of(request.uri(), &self.config.weights),
            inline: self.workers.are_inline(),
            progress: self.client.progress,
            shows_result: self.client.runs(runs::RUN),
            outgoing: self.outgoing.clone(),
            last: self.session.live.last(request.uri()),
            overlays: self.session.overlays.clone(),
            finished: Box::new(move |record| {
                mailbox.send(Event::Ran(uri, ticket, Box::new(record)))
            }),
        };
        runs::start(&self.runs, request, context);
    }

    /// Stores the record of a run and shows its values, unless values were removed since its start.
    pub(super) fn ran(&mut self, uri: Url, ticket: &RunTicket, record: RunRecord) {
        if self.documents.get(&uri).is_some() && self.session.live.store(&uri, ticket, record) {
            self.values_changed(uri);
        }
    }

    /// Removes the record of the last run, and those of runs that have not ended.
    pub(super) fn clear_values(&mut self, uri: Url) {
        self.session.live.forget(&uri);
        if let Some(document) = self.documents.get(&uri) {
            self.session.overlays.forget(document);
            self.values_changed(uri);
        }
    }

    /// Refreshes the hints, lenses and diagnostics that show the values of the last run.
    fn values_changed(&mut self, uri: Url) {
        self.published.entry(uri).or_default().dirty = true;
        self.refresh(false);
        if !self.is_pushing() && self.client.pulls {
            self.outgoing.send(Message::request::<WorkspaceDiagnosticRefresh>(()));
        }
    }
}
