//! The owner: the thread that schedules, and the only one that changes documents and the database.
//!
//! It receives events in order. A change is applied at once to the text, the tree and the database;
//! requests and diagnostics are given to idle workers, each with a snapshot of the current state.

mod opening;
mod projects;
mod running;
mod turns;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, mpsc::Receiver},
    thread,
    time::Duration,
};

use clock::Instant;
use semantics::{Database, SourceFile};
use tower_lsp::lsp_types::{
    ApplyWorkspaceEditParams, ClientCapabilities, MessageType, TextDocumentContentChangeEvent, Url,
    VersionedTextDocumentIdentifier,
    request::{
        ApplyWorkspaceEdit, CodeLensRefresh, InlayHintRefreshRequest, SemanticTokensRefresh,
        WorkspaceDiagnosticRefresh,
    },
};

use super::{
    abilities::{ClientAbilities, Refreshes},
    config::{self, Config, Delivery},
    documents::Documents,
    event::{Event, JobResult, Mailbox},
    handlers::diagnostics::{self, DocumentDiagnostics},
    outgoing::{Message, Outbox},
    published::PublicationState,
    request::{Request, RequestOutcome, Retry, content_modified},
    runs::Runs,
    session::Session,
    snapshot::Snapshot,
    workers::Workers,
};
use crate::{panics, report::stderr};
use projects::ProjectState;

/// The time that a change waits for earlier requests, so that they are answered and not refused.
const GRACE: Duration = Duration::from_millis(5);
/// The largest number of changes that are reparsed together.
const MAX_BATCH: usize = 256;
/// The size in bytes from which the first check of a document shows progress.
const LARGE: usize = 1 << 20;
/// The number of pulls after which a client is taken to pull diagnostics after every change.
const MIN_PULLS: u32 = 3;

/// The state that the owner's thread has for itself.
pub(super) struct Owner {
    db: Database,
    documents: Arc<Documents>,
    config: Arc<Config>,
    /// The settings as the client sent them.
    settings: serde_json::Value,
    projects: ProjectState,
    client: Arc<ClientAbilities>,
    /// Closed files, for the next documents and blocks: the database never frees files.
    closed_files: Vec<SourceFile>,
    /// Closed files of which results are still in memory.
    just_closed: Vec<SourceFile>,
    published: HashMap<Url, PublicationState>,
    /// The number of documents opened so far.
    opened: u64,
    /// The number of times that the client pulled diagnostics.
    pulls: u32,
    queue: VecDeque<Request>,
    /// Events received while a change waited.
    deferred: VecDeque<Event>,
    workers: Workers,
    session: Arc<Session>,
    inbox: Receiver<Event>,
    mailbox: Mailbox,
    outgoing: Outbox,
    runs: Runs,
    /// Set when a job finished since replaced memos were last freed.
    has_garbage: bool,
}

/// Starts the owner's thread.
pub(super) fn start(inbox: Receiver<Event>, mailbox: Mailbox, outgoing: Outbox, runs: Runs) {
    let run = move || {
        let workers = Workers::start(&mailbox);
        Owner::new(inbox, mailbox, outgoing, runs, workers).run();
    };
    let started = thread::Builder::new().name("owner".into()).stack_size(16 << 20).spawn(run);
    if let Err(error) = started {
        stderr::error(&format!("the server cannot start a thread: {error}"));
        std::process::exit(2);
    }
}

impl Owner {
    /// Creates an owner, which gives jobs to these workers.
    pub(super) fn new(
        inbox: Receiver<Event>,
        mailbox: Mailbox,
        outgoing: Outbox,
        runs: Runs,
        workers: Workers,
    ) -> Owner {
        Owner {
            db: Database::new(),
            documents: Arc::default(),
            config: Arc::default(),
            settings: serde_json::Value::Null,
            projects: ProjectState::default(),
            client: Arc::new(ClientAbilities::of(&ClientCapabilities::default())),
            closed_files: Vec::new(),
            just_closed: Vec::new(),
            published: HashMap::new(),
            opened: 0,
            pulls: 0,
            queue: VecDeque::new(),
            deferred: VecDeque::new(),
            workers,
            session: Arc::default(),
            inbox,
            mailbox,
            outgoing,
            runs,
            has_garbage: false,
        }
    }

    /// Handles an event, and reports a panic. Panics caused by a text are caught closer to their
    /// cause; this is the last resort that keeps the session alive.
    fn handle_guarded(&mut self, event: Event) {
        let mut event = Some(event);
        let handled = panics::caught(|| event.take().map(|event| self.handle(event)));
        if let Err(panicked) = handled {
            let message = panicked.message("a message of the editor");
            self.outgoing.send(Message::Show(MessageType::ERROR, message));
        }
    }

    fn handle(&mut self, event: Event) {
        let _event = tracing::trace_span!("event", name = event.name()).entered();
        match event {
            Event::Client(client) => self.client = client,
            Event::Initialized => {
                if self.client.watch_configuration {
                    self.outgoing.send(Message::watch_settings());
                }
                if self.client.watch_files {
                    self.outgoing.send(Message::watch_files());
                }
                self.request_settings();
                self.read_projects();
                self.session.workspace.scan(self.client.encoding);
            }
            Event::Folders { added, removed } => {
                self.session.workspace.change_folders(&added, &removed);
                if self.projects.is_read() {
                    self.read_projects();
                }
            }
            Event::Open(item) => self.open(item),
            Event::Change(id, changes) => {
                let (id, changes) = self.with_following(id, changes);
                self.change(&id, changes);
                self.read_stale_projects();
            }
            Event::Close(uri) => self.close(&uri),
            Event::Settings(settings) => self.configure(settings),
            Event::FilesChanged(uris) => self.files_changed(&uris),
            Event::SettingsChanged => self.request_settings(),
            Event::Pulled => {
                self.pulls = self.pulls.saturating_add(1);
                self.retract();
            }
            Event::Run(request) => self.start_run(*request),
            Event::Ran(uri, ticket, record) => self.ran(uri, &ticket, *record),
            Event::ClearValues(uri) => self.clear_values(uri),
            Event::Progress(progress) => {
                // Dropped, if the client shows none.
                if self.client.progress || !progress.create {
                    self.outgoing.send(Message::Progress(progress));
                }
            }
            Event::Apply(edit) => {
                let params = ApplyWorkspaceEditParams { label: None, edit };
                self.outgoing.send(Message::request::<ApplyWorkspaceEdit>(params));
            }
            Event::Request(request) => self.queue.push_back(request),
            Event::Finished(worker, finished) => {
                self.workers.finished(worker);
                self.has_garbage = true;
                match finished {
                    JobResult::Request => {}
                    JobResult::Retry(request) => self.queue.push_front(request),
                    JobResult::Diagnostics(checked) => self.checked(*checked),
                }
            }
        }
    }

    fn request_settings(&mut self) {
        if self.client.configuration {
            let mailbox = self.mailbox.clone();
            let receive = move |settings| mailbox.send(Event::Settings(settings));
            self.outgoing.send(Message::RequestSettings(Box::new(receive)));
        }
    }

    fn log(&self, text: String) {
        self.outgoing.send(Message::Log(MessageType::WARNING, text));
    }

    // Documents.

    /// Joins a change with the changes of the same document that directly follow it in the mailbox,
    /// so that they are reparsed together.
    fn with_following(
        &mut self,
        mut id: VersionedTextDocumentIdentifier,
        mut changes: Vec<TextDocumentContentChangeEvent>,
    ) -> (VersionedTextDocumentIdentifier, Vec<TextDocumentContentChangeEvent>) {
        let version = self.documents.get(&id.uri).map(|document| document.version);
        if version.is_none_or(|version| id.version <= version) {
            // The text is lost with this change; one that follows may have all of it.
            return (id, changes);
        }
        // The limit keeps results coming to a client that never stops sending changes.
        while changes.len() < MAX_BATCH {
            let Some(event) = self.deferred.pop_front().or_else(|| self.inbox.try_recv().ok())
            else {
                break;
            };
            match event {
                Event::Change(next, more) if next.uri == id.uri && next.version > id.version => {
                    id = next;
                    changes.extend(more);
                }
                event @ Event::Finished(..) => self.handle(event),
                event => {
                    self.deferred.push_front(event);
                    break;
                }
            }
        }
        (id, changes)
    }

    /// Parses a file that has changed, not on the worker that first needs its tree: trees on the heaps of
    /// several threads leave holes in each. A panic is reported by the requests that need the tree.
    fn parse(&self, file: SourceFile) {
        drop(panics::caught(|| file.parse(&self.db)));
    }

    fn change(
        &mut self,
        id: &VersionedTextDocumentIdentifier,
        changes: Vec<TextDocumentContentChangeEvent>,
    ) {
        let (uri, version) = (&id.uri, id.version);
        let Some(document) = self.documents.get(uri) else {
            self.log(format!("a change of {uri} was ignored: the document is not open"));
            return;
        };
        let is_whole = changes.iter().any(|change| change.range.is_none());
        if !is_whole && (version <= document.version || !document.is_in_sync()) {
            self.lose(uri, version);
            return;
        }
        if version <= document.version || !document.is_in_sync() {
            // The same version may have another text than before.
            self.session.live.forget(uri);
        }
        self.finish_requests();
        let (encoding, limits) = (self.client.encoding, self.config.limits);
        let documents = Arc::make_mut(&mut self.documents);
        let Some(document) = documents.get_mut(uri) else { return };
        document.version = version;
        let file = document.file;
        // Cancels the workers' queries, and waits until they have dropped their snapshots.
        let invalid = document.edit(&mut self.db, changes, encoding, limits);
        self.parse(file);
        // The text of a code view changes when its file was written again, too.
        if let Some(section) = self.session.code_views.known(uri) {
            self.db.set_section(file, Some(section));
        }
        self.embed(uri, false);
        let state = self.published.entry(uri.clone()).or_default();
        state.text_changed();
        for edit in invalid {
            self.log(format!("{uri}: {}", edit.0));
        }
    }

    /// Records that a document can no longer have the text of the client. The first such change is
    /// reported; those that follow change nothing.
    fn lose(&mut self, uri: &Url, version: i32) {
        let Some(document) = self.documents.get(uri).filter(|document| document.is_in_sync())
        else {
            return;
        };
        self.log(format!(
            "a change of {uri} to version {version} cannot be applied: it is at version {}",
            document.version
        ));
        self.finish_requests();
        let limits = self.config.limits;
        let documents = Arc::make_mut(&mut self.documents);
        if let Some(document) = documents.get_mut(uri) {
            document.lose(&mut self.db, version, limits);
        }
        self.embed(uri, false);
        self.published.entry(uri.clone()).or_default().text_changed();
    }

    fn configure(&mut self, settings: serde_json::Value) {
        self.settings = settings;
        let problems = self.apply_settings();
        if !problems.is_empty() {
            self.outgoing.send(Message::Show(MessageType::WARNING, problems.join("\n")));
        }
    }

    /// Applies the settings of the client and of projects. Returns a message for each setting of the
    /// client that is invalid.
    fn apply_settings(&mut self) -> Vec<String> {
        let project = self.session_project();
        let (config, problems) = config::read(&self.settings, &project);
        let levels_changed = self.documents.iter().any(|(_, document)| {
            *document.file.levels(&self.db) != config.levels(&document.project)
        });
        if config == *self.config && !levels_changed {
            return problems;
        }
        self.finish_requests();
        let limits = config.limits;
        let reparse = limits != self.config.limits;
        let delivery_changed = config.delivery != self.config.delivery;
        self.db.set_up(&config.setup);
        self.config = Arc::new(config);
        let documents = Arc::make_mut(&mut self.documents);
        let uris: Vec<Url> = documents.keys().cloned().collect();
        for uri in &uris {
            if let Some(document) = documents.get_mut(uri) {
                self.db.set_levels(document.file, &self.config.levels(&document.project));
                if reparse && document.host.is_none() {
                    document.write_all(&mut self.db, limits);
                }
            }
        }
        for uri in uris {
            self.embed(&uri, reparse);
            self.published.entry(uri).or_default().dirty = true;
        }
        self.retract();
        if !self.published.is_empty() {
            self.refresh(true);
        }
        // The capability for this request cannot be read: `lsp-types` calls it `diagnostic`, the
        // protocol `diagnostics`. A client without it responds with an error, and pulls with the
        // next change.
        let refresh = delivery_changed || !self.is_pushing();
        if refresh && self.client.pulls && !self.published.is_empty() {
            self.outgoing.send(Message::request::<WorkspaceDiagnosticRefresh>(()));
        }
        problems
    }

    /// Makes the client pull again what depends on the settings, or all but tokens, which show no values of a run.
    fn refresh(&self, with_tokens: bool) {
        let Refreshes { hints, tokens, lenses } = self.client.refreshes;
        if hints {
            self.outgoing.send(Message::request::<InlayHintRefreshRequest>(()));
        }
        if tokens && with_tokens {
            self.outgoing.send(Message::request::<SemanticTokensRefresh>(()));
        }
        if lenses {
            self.outgoing.send(Message::request::<CodeLensRefresh>(()));
        }
    }

    /// Waits up to [`GRACE`] for requests that precede a change. Those still running are interrupted
    /// by the change; those still queued are refused unless they can be answered for the new text.
    fn finish_requests(&mut self) {
        let deadline = Instant::now() + GRACE;
        loop {
            self.dispatch(false);
            let is_answering = self.workers.busy() > self.diagnostics_running();
            if !is_answering && self.queue.is_empty() {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.next_within(left) {
                Some(event @ Event::Finished(..)) => self.handle(event),
                Some(event) => self.deferred.push_back(event),
                None => break,
            }
        }
        let (kept, refused) = std::mem::take(&mut self.queue)
            .into_iter()
            .partition(|request| request.retry == Retry::Always);
        self.queue = kept;
        let refused: VecDeque<Request> = refused;
        refused.into_iter().for_each(|request| request.refuse(content_modified()));
    }

    // Work.

    fn diagnostics_running(&self) -> usize {
        self.published.values().filter(|state| state.running).count()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            db: self.db.clone(),
            documents: self.documents.clone(),
            config: self.config.clone(),
            encoding: self.client.encoding,
            session: self.session.clone(),
            client: self.client.clone(),
        }
    }

    /// Gives jobs to idle workers: requests first, then diagnostics if `with_diagnostics`.
    fn dispatch(&mut self, with_diagnostics: bool) {
        while self.workers.has_idle() {
            let Some(mut request) = self.queue.pop_front() else { break };
            if request.is_cancelled() {
                continue;
            }
            let snapshot = self.snapshot();
            self.workers.run(
                snapshot,
                Box::new(move |snapshot| match request.run(snapshot) {
                    RequestOutcome::Done => JobResult::Request,
                    RequestOutcome::Interrupted if request.retry == Retry::Always => {
                        JobResult::Retry(request)
                    }
                    RequestOutcome::Interrupted => {
                        request.refuse(content_modified());
                        JobResult::Request
                    }
                }),
            );
        }
        while with_diagnostics && self.workers.has_idle() {
            let Some(uri) = self.next_dirty() else { break };
            let Some(state) = self.published.get_mut(&uri) else { break };
            state.dirty = false;
            state.running = true;
            let snapshot = self.snapshot();
            self.workers.run(
                snapshot,
                Box::new(move |snapshot| {
                    JobResult::Diagnostics(Box::new(diagnostics::check(snapshot, uri)))
                }),
            );
        }
    }

    /// Returns true if diagnostics are published, false if the client pulls them.
    fn is_pushing(&self) -> bool {
        match self.config.delivery {
            Delivery::Push => true,
            Delivery::Pull => false,
            Delivery::Auto => !self.client.pulls && self.pulls < MIN_PULLS,
        }
    }

    /// Clears the published diagnostics of a client that pulls from now on: editors keep published
    /// and pulled diagnostics apart, and would show each of them twice.
    fn retract(&mut self) {
        if self.is_pushing() {
            return;
        }
        for (uri, state) in &mut self.published {
            if state.items.take().is_some_and(|items| !items.is_empty()) {
                self.outgoing.diagnostics(uri, &[], None);
            }
        }
    }

    /// Returns a document whose diagnostics are due.
    fn next_dirty(&self) -> Option<Url> {
        let now = Instant::now();
        let mut due = self
            .published
            .iter()
            .filter(|(_, state)| state.dirty && !state.running && state.until_due(now).is_zero());
        due.next().map(|(uri, _)| uri.clone())
    }

    /// Returns the time until debounced diagnostics are due.
    fn until_due(&self) -> Option<Duration> {
        if !self.workers.has_idle() {
            return None;
        }
        let now = Instant::now();
        let waiting = self.published.values().filter(|state| state.dirty && !state.running);
        waiting.map(|state| state.until_due(now)).min()
    }

    /// Publishes diagnostics that a worker computed, unless the text has changed.
    fn checked(&mut self, checked: DocumentDiagnostics) {
        if let Some(panicked) = &checked.panicked {
            self.log(panicked.message(&format!("the analysis of {}", checked.uri)));
        }
        let Some(state) = self.published.get_mut(&checked.uri) else { return };
        state.running = false;
        let Some((items, version)) = checked.items else {
            state.dirty = true;
            return;
        };
        // The first check of a text does not predict the cost of an edit.
        if state.changed.is_some() {
            state.cost = checked.took;
        }
        state.progress = None;
        let document = self.documents.get(&checked.uri);
        if document.map(|document| document.version) != Some(version) {
            state.dirty = true;
            return;
        }
        // The client has another version, and might drop what is said about this one.
        let version = document.filter(|document| document.is_in_sync()).map(|_| version);
        let is_published = state.items.as_ref().is_some_and(|published| *published == items);
        let may_be_dropped = state.raced && self.client.checks_versions;
        if (is_published && !may_be_dropped) || !self.is_pushing() {
            return;
        }
        self.outgoing.diagnostics(&checked.uri, &items, version);
        if let Some(state) = self.published.get_mut(&checked.uri) {
            state.sent(items);
        }
    }
}
