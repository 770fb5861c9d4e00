//! The owner: the one thread that changes documents and the database.
//!
//! It empties the mailbox in order. A change of a document is applied at once, to the text, the
//! tree and the database; requests and diagnostics go to workers that are idle, each with a
//! snapshot of what the documents are at that moment.

mod running;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use semantics::{Database, SourceFile};
use syntax::{LineIndex, ParseLimits};
use tokio::sync::mpsc::unbounded_channel;
use tower_lsp::lsp_types::{
    ClientCapabilities, MessageType, NumberOrString, TextDocumentContentChangeEvent,
    TextDocumentItem, Url, VersionedTextDocumentIdentifier,
};

use super::{
    abilities::{ClientAbilities, Refreshes},
    config::{self, Config, Delivery},
    documents::{Document, Documents, parse},
    event::{Event, Mailbox},
    handlers::diagnostics::{self, Checked},
    outgoing::{Message, Outgoing, Progress},
    parcels::Parcels,
    published::Published,
    request::{Ran, Request, Retry, content_modified},
    runs::Runs,
    session::Session,
    snapshot::Snapshot,
    workers::{Finished, Workers},
};
use crate::panics;

/// How long a change waits for requests that were made before it, so that they are answered
/// rather than sent back.
const GRACE: Duration = Duration::from_millis(5);
/// The most changes that are applied before the tree is made.
const MOST_JOINED: usize = 256;
/// Texts from this many bytes on show a progress while they are looked at first.
const LARGE: usize = 1 << 20;
/// A client that has asked for diagnostics this often asks after every change.
const PULLS: u32 = 3;

struct Owner {
    db: Database,
    documents: Arc<Documents>,
    config: Arc<Config>,
    client: ClientAbilities,
    /// A file for every URI that was ever open: the database never frees one.
    files: HashMap<Url, SourceFile>,
    published: HashMap<Url, Published>,
    /// How many documents have been opened.
    opened: u64,
    pulls: u32,
    queue: VecDeque<Request>,
    /// Events that arrived while a change waited.
    later: VecDeque<Event>,
    workers: Workers,
    session: Arc<Session>,
    inbox: Receiver<Event>,
    mailbox: Mailbox,
    outgoing: Outgoing,
    runs: Runs,
    /// Something ran since what its results replaced was freed.
    untidy: bool,
}

/// Starts the owner.
pub(super) fn start(
    inbox: Receiver<Event>,
    mailbox: Mailbox,
    outgoing: Outgoing,
    runs: Runs,
    parcels: Parcels,
) {
    let run = move || {
        let owner = Owner {
            db: Database::new(),
            documents: Arc::default(),
            config: Arc::default(),
            client: ClientAbilities::of(&ClientCapabilities::default()),
            files: HashMap::new(),
            published: HashMap::new(),
            opened: 0,
            pulls: 0,
            queue: VecDeque::new(),
            later: VecDeque::new(),
            workers: Workers::start(&mailbox),
            session: Arc::new(Session::new(parcels)),
            inbox,
            mailbox,
            outgoing,
            runs,
            untidy: false,
        };
        owner.run();
    };
    let started = thread::Builder::new().name("owner".into()).stack_size(16 << 20).spawn(run);
    if let Err(error) = started {
        crate::cli::complain(&format!("the server cannot start a thread: {error}"));
        std::process::exit(2);
    }
}

impl Owner {
    fn run(mut self) {
        loop {
            let event = match self.later.pop_front() {
                Some(event) => event,
                None => match self.pause() {
                    None => match self.next_or_rest() {
                        Some(event) => event,
                        None => return,
                    },
                    Some(pause) => match self.inbox.recv_timeout(pause) {
                        Ok(event) => event,
                        Err(RecvTimeoutError::Timeout) => {
                            self.dispatch(true);
                            continue;
                        }
                        Err(RecvTimeoutError::Disconnected) => return,
                    },
                },
            };
            self.act_guarded(event);
            // Requests go out in order; diagnostics when everything that has arrived is in.
            self.dispatch(false);
            if self.later.is_empty() {
                match self.inbox.try_recv() {
                    Ok(event) => self.later.push_back(event),
                    Err(_) => self.dispatch(true),
                }
            }
        }
    }

    /// Waits for an event; nothing is due before one comes.
    fn next_or_rest(&mut self) -> Option<Event> {
        if let Ok(event) = self.inbox.try_recv() {
            return Some(event);
        }
        if self.untidy && self.workers.busy() == 0 && self.queue.is_empty() {
            self.untidy = false;
            self.db.free_replaced();
        }
        self.inbox.recv().ok()
    }

    /// Acts, and lives on if that panics. What can panic for the sake of a text is caught where it
    /// is done; what is left is not known, and the session goes on without it.
    fn act_guarded(&mut self, event: Event) {
        let mut event = Some(event);
        let acted = panics::caught(|| event.take().map(|event| self.act(event)));
        if let Err(panicked) = acted {
            let message = panicked.message("what a message of the editor asked for");
            self.outgoing.send(Message::Show(MessageType::ERROR, message));
        }
    }

    fn act(&mut self, event: Event) {
        match event {
            Event::Client(client) => {
                self.client = *client;
                let commands = std::mem::take(&mut self.client.commands);
                self.session.set_client(commands, self.client.has_grammar);
            }
            Event::Initialized => {
                if self.client.watch_configuration {
                    self.outgoing.send(Message::WatchSettings);
                }
                self.ask_settings();
                self.session.workspace.look(self.client.encoding);
            }
            Event::Folders { added, removed } => {
                self.session.workspace.change_folders(&added, &removed);
            }
            Event::Open(item) => self.open(item),
            Event::Change(id, changes) => {
                let (id, changes) = self.with_following(id, changes);
                self.change(&id, changes);
            }
            Event::Close(uri) => self.close(&uri),
            Event::Settings(settings) => self.configure(&settings),
            Event::SettingsChanged => self.ask_settings(),
            Event::Pulled => {
                self.pulls = self.pulls.saturating_add(1);
                self.retract();
            }
            Event::Run(request) => self.start_run(*request),
            Event::Ran(uri, kept) => self.ran(uri, *kept),
            Event::ClearValues(uri) => self.clear_values(uri),
            Event::Request(request) => self.queue.push_back(request),
            Event::Finished(worker, finished) => {
                self.workers.finished(worker);
                self.untidy = true;
                match finished {
                    Finished::Request(None) => {}
                    Finished::Request(Some(request)) => self.queue.push_front(request),
                    Finished::Diagnostics(checked) => self.checked(*checked),
                }
            }
        }
    }

    fn ask_settings(&mut self) {
        if self.client.configuration {
            self.outgoing.send(Message::AskSettings(self.mailbox.clone()));
        }
    }

    fn log(&self, text: String) {
        self.outgoing.send(Message::Log(MessageType::WARNING, text));
    }

    // Documents.

    fn open(&mut self, item: TextDocumentItem) {
        self.settle();
        let uri = item.uri;
        if self.documents.get(&uri).is_some() {
            self.log(format!("{uri} was opened a second time; its text is the newer one"));
        }
        let (parse, problem) = parse(&item.text, self.config.limits);
        let file = match self.files.get(&uri) {
            Some(&file) => file,
            None => {
                let file = self.db.add_file("", ParseLimits::default());
                self.files.insert(uri.clone(), file);
                file
            }
        };
        self.db.set_parse(file, parse.clone());
        let state = self.published.entry(uri.clone()).or_default();
        state.dirty = true;
        if self.client.progress && item.text.len() >= LARGE {
            let (done, messages) = unbounded_channel();
            state.progress = Some(done);
            let name = uri.path().rsplit('/').next().unwrap_or_default().to_owned();
            self.outgoing.send(Message::Progress(Progress {
                token: NumberOrString::String(format!("relay/load/{uri}/{}", item.version)),
                title: format!("Reading {name}"),
                cancellable: false,
                create: true,
                delay: Duration::ZERO,
                messages,
            }));
        }
        self.opened += 1;
        let document = Document {
            file,
            opened: self.opened,
            version: item.version,
            lines: Arc::new(LineIndex::new(&item.text)),
            text: Arc::new(item.text),
            parse,
            sound: None,
            problem,
        };
        Arc::make_mut(&mut self.documents).insert(uri, document);
    }

    /// Joins a change with those of the same document that have arrived right after it: nobody has
    /// asked for anything in between.
    fn with_following(
        &mut self,
        mut id: VersionedTextDocumentIdentifier,
        mut changes: Vec<TextDocumentContentChangeEvent>,
    ) -> (VersionedTextDocumentIdentifier, Vec<TextDocumentContentChangeEvent>) {
        let version = self.documents.get(&id.uri).map(|document| document.version);
        if version.is_none_or(|version| id.version <= version) {
            // It is ignored, and the others may not be.
            return (id, changes);
        }
        // Somebody who never stops is shown something all the same.
        while changes.len() < MOST_JOINED {
            let Some(event) = self.later.pop_front().or_else(|| self.inbox.try_recv().ok()) else {
                break;
            };
            match event {
                Event::Change(next, more) if next.uri == id.uri && next.version > id.version => {
                    id = next;
                    changes.extend(more);
                }
                event @ Event::Finished(..) => self.act(event),
                event => {
                    self.later.push_front(event);
                    break;
                }
            }
        }
        (id, changes)
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
        if version <= document.version {
            let has = document.version;
            self.log(format!(
                "a change of {uri} to version {version} was ignored: it has version {has} already"
            ));
            return;
        }
        self.settle();
        let (encoding, limits) = (self.client.encoding, self.config.limits);
        let documents = Arc::make_mut(&mut self.documents);
        let Some(document) = documents.get_mut(uri) else { return };
        document.version = version;
        let oddities = document.edit(changes, encoding, limits);
        let (file, parse) = (document.file, document.parse.clone());
        // Waits until the workers have let go of their snapshots, and tells them to.
        self.db.set_parse(file, parse);
        let state = self.published.entry(uri.clone()).or_default();
        state.text_changed();
        for oddity in oddities {
            self.log(format!("{uri}: {}", oddity.0));
        }
    }

    fn close(&mut self, uri: &Url) {
        if self.documents.get(uri).is_none() {
            self.log(format!("{uri} was closed, and was not open"));
            return;
        }
        self.settle();
        self.session.tokens.forget(uri);
        self.session.live.forget(uri);
        let removed = Arc::make_mut(&mut self.documents).remove(uri);
        if let Some(document) = removed {
            self.db.set_parse(document.file, Arc::new(syntax::parse("")));
            semantics::Db::cache(&self.db).forget(document.file);
        }
        let had = self.published.remove(uri).and_then(|state| state.items);
        if had.is_some_and(|items| !items.is_empty()) {
            self.outgoing.diagnostics(uri, &[], None);
        }
    }

    fn configure(&mut self, settings: &serde_json::Value) {
        let (config, complaints) = config::read(settings);
        if !complaints.is_empty() {
            self.outgoing.send(Message::Show(MessageType::WARNING, complaints.join("\n")));
        }
        if config == *self.config {
            return;
        }
        self.settle();
        let limits = config.limits;
        let reparse = limits != self.config.limits;
        let other_way = config.delivery != self.config.delivery;
        self.db.set_strict(config.tvm);
        self.db.set_prelude(config.prelude);
        self.config = Arc::new(config);
        let documents = Arc::make_mut(&mut self.documents);
        let uris: Vec<Url> = documents.iter().map(|(uri, _)| uri.clone()).collect();
        for uri in uris {
            if let Some(document) = documents.get_mut(&uri).filter(|_| reparse) {
                (document.parse, document.problem) = parse(&document.text, limits);
                self.db.set_parse(document.file, document.parse.clone());
            }
            self.published.entry(uri).or_default().dirty = true;
        }
        self.retract();
        if !self.published.is_empty() {
            self.refresh();
        }
        // Whether the client knows this request cannot be asked: `lsp-types` calls the ability
        // `diagnostic`, and the protocol `diagnostics`. One that does not refuses it, and asks
        // again with the next change.
        let asks = other_way || !self.is_pushing();
        if asks && self.client.pulls && !self.published.is_empty() {
            self.outgoing.send(Message::RefreshDiagnostics);
        }
    }

    /// Has the client ask again for what settings change without a change of the text.
    fn refresh(&self) {
        let Refreshes { hints, tokens, lenses } = self.client.refreshes;
        let messages = [
            (hints, Message::RefreshHints),
            (tokens, Message::RefreshTokens),
            (lenses, Message::RefreshLenses),
        ];
        for (_, message) in messages.into_iter().filter(|(wanted, _)| *wanted) {
            self.outgoing.send(message);
        }
    }

    /// Before a change: lets requests that were made before it finish, for a moment. Those that do
    /// not are interrupted by the change.
    fn settle(&mut self) {
        let deadline = Instant::now() + GRACE;
        loop {
            self.dispatch(false);
            let waiting = self.workers.busy() > self.diagnostics_running();
            if !waiting && self.queue.is_empty() {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(event @ Event::Finished(..)) => self.act(event),
                Ok(event) => self.later.push_back(event),
                Err(_) => break,
            }
        }
        // What never began speaks of a text that is no more.
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
            writing: self.client.writing,
        }
    }

    /// Gives work to idle workers: requests first, then diagnostics if nothing more has arrived.
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
                    Ran::Done => Finished::Request(None),
                    Ran::Interrupted if request.retry == Retry::Always => {
                        Finished::Request(Some(request))
                    }
                    Ran::Interrupted => {
                        request.refuse(content_modified());
                        Finished::Request(None)
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
                    Finished::Diagnostics(Box::new(diagnostics::check(snapshot, uri)))
                }),
            );
        }
    }

    fn is_pushing(&self) -> bool {
        match self.config.delivery {
            Delivery::Push => true,
            Delivery::Pull => false,
            Delivery::Auto => !self.client.pulls && self.pulls < PULLS,
        }
    }

    /// Takes back what was sent to a client that asks from now on: editors keep what they were
    /// sent apart from what they asked for, and would show each diagnostic twice.
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

    /// A document whose diagnostics are due.
    fn next_dirty(&self) -> Option<Url> {
        let now = Instant::now();
        let mut due = self
            .published
            .iter()
            .filter(|(_, state)| state.dirty && !state.running && state.wait(now).is_zero());
        due.next().map(|(uri, _)| uri.clone())
    }

    /// How long to wait for more before diagnostics that are put off are due.
    fn pause(&self) -> Option<Duration> {
        if !self.workers.has_idle() {
            return None;
        }
        let now = Instant::now();
        let waiting = self.published.values().filter(|state| state.dirty && !state.running);
        waiting.map(|state| state.wait(now)).min()
    }

    /// Diagnostics have been computed.
    fn checked(&mut self, checked: Checked) {
        if let Some(panicked) = &checked.panicked {
            self.log(panicked.message(&format!("the analysis of {}", checked.uri)));
        }
        let Some(state) = self.published.get_mut(&checked.uri) else { return };
        state.running = false;
        let Some((items, version)) = checked.items else {
            // The text changed meanwhile.
            state.dirty = true;
            return;
        };
        // The first look at a text says nothing about what an edit of it costs.
        if state.changed.is_some() {
            state.cost = checked.took;
        }
        state.progress = None;
        let current = self.documents.get(&checked.uri).map(|document| document.version);
        if current != Some(version) {
            state.dirty = true;
            return;
        }
        let is_known = state.items.as_ref().is_some_and(|before| *before == items);
        let is_there = !(state.doubtful && self.client.drops);
        if (is_known && is_there) || !self.is_pushing() {
            return;
        }
        self.outgoing.diagnostics(&checked.uri, &items, Some(version));
        if let Some(state) = self.published.get_mut(&checked.uri) {
            state.sent(items);
        }
    }
}
