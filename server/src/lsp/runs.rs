//! `relay.run`: runs a function while the user keeps typing.
//!
//! Each run has its own thread, and its own database with the tree of the document at the time of
//! the request: a snapshot of the owner's database would block changes until the run ends. A run is
//! cancelled within milliseconds, by `$/cancelRequest` or by the button of its progress, also while
//! it reads its arguments from files. While it is inside an operation that cannot be interrupted,
//! the response and the end of the progress do not wait for it.

mod call;
mod cancel;
mod fields;
mod remembered;
mod results;
mod value;
pub(super) mod weight;

use std::{
    cell::OnceCell,
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use clock::Instant;
use interpreter::{TraceLevel, Value};
use parking_lot::Mutex;
use semantics::{Code, Database, Def, View, metadata::Metadata};
use serde::Deserialize;
use syntax::Encoding;
use tokio::sync::{
    mpsc::{WeakUnboundedSender, unbounded_channel},
    oneshot,
};
use tower_lsp::{
    jsonrpc::{Error, ErrorCode, Result},
    lsp_types::{ExecuteCommandParams, MessageType, NumberOrString, Position, Url},
};

use super::{
    config::Config,
    documents::Document,
    live::{Rerun, RunRecord, Watcher},
    outgoing::{Message, Outbox, Progress},
    overlays::{DocumentVersion, Overlays},
    tasks,
};
use crate::{
    panics::{Interrupt, guarded},
    protocol::{
        RecalledArguments, RecalledStatus, RememberedArguments, RunResponse, RunResult, RunStatus,
    },
    report::overlay::Overlay,
    run::{
        execute::{Ending, PreparedRun, Repeatable, Selection, execute},
        failure,
        profile::Profile,
        tensor_view::ViewOptions,
    },
};
use call::{CallObserver, CallParams, WantedCall};
pub(super) use cancel::{Cancel, CancelGuard};
pub(super) use remembered::Entry;
pub(super) use results::setting;
use results::{LiveObserver, ResultParts};
use value::{FoundValue, ValueObserver, ValueParams, ValueUse};

/// The command that runs a function.
pub(super) const RUN: &str = "relay.run";
/// The command that hides the values of the last run of a document.
pub(super) const CLEAR: &str = "relay.clearValues";
/// The largest number of runs at once.
const MAX_RUNS: usize = 4;
/// The number of operator calls that are measured in a run.
const MAX_MEASURED: u64 = 1 << 17;
/// The stack size, for the deepest nesting that settings allow.
const STACK: usize = 16 << 20;
/// The time after which a run shows progress.
pub(super) const DELAY: Duration = Duration::from_millis(100);
/// The time that a cancelled run has to respond with its last position.
const GRACE: Duration = Duration::from_millis(5);

/// The active runs.
#[derive(Clone, Default)]
pub(super) struct Runs {
    by_token: Arc<Mutex<HashMap<NumberOrString, Cancel>>>,
    active: Arc<AtomicUsize>,
    started: Arc<AtomicU64>,
}

impl Runs {
    /// Cancels the run whose progress has this token, if any.
    pub(super) fn cancel(&self, token: &NumberOrString) {
        if let Some(cancel) = self.by_token.lock().get(token) {
            cancel.cancel();
        }
    }

    /// Takes the place of a run, which the progress with the token of the client, or else a new one, cancels.
    ///
    /// # Errors
    /// There are too many runs.
    pub(super) fn slot(&self, token: Option<NumberOrString>, cancel: &Cancel) -> Result<RunSlot> {
        if self.active.fetch_add(1, Ordering::Relaxed) >= MAX_RUNS {
            self.active.fetch_sub(1, Ordering::Relaxed);
            return Err(Error {
                code: ErrorCode::InternalError,
                message: format!(
                    "{MAX_RUNS} functions are already running: cancel one of them first"
                )
                .into(),
                data: None,
            });
        }
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let token = token.unwrap_or_else(|| NumberOrString::String(format!("relay/run/{number}")));
        self.by_token.lock().insert(token.clone(), cancel.clone());
        Ok(RunSlot { runs: self.clone(), token })
    }
}

/// The place of a run among the active ones, until it is dropped.
pub(super) struct RunSlot {
    runs: Runs,
    token: NumberOrString,
}

impl RunSlot {
    /// Returns the token of the progress.
    pub(super) fn token(&self) -> &NumberOrString {
        &self.token
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.runs.by_token.lock().remove(&self.token);
        self.runs.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The parameters of `relay.run`.
#[derive(Clone, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
struct RunParams {
    uri: Url,
    /// `@main`
    function: Option<String>,
    /// A position in the function or bare expression, if no function is named.
    position: Option<Position>,
    /// The same as a byte offset.
    offset: Option<u32>,
    /// The arguments; others are taken from those that are remembered.
    #[serde(default, flatten)]
    inputs: RememberedArguments,
    /// Remembers the arguments for the next run.
    #[serde(default)]
    remember: bool,
    /// Takes no remembered arguments: those of a form are all that the user wants.
    #[serde(default)]
    exact: bool,
    /// Returns a weight, or the result or one value of a variable of the last run, which is repeated up to that value.
    value: Option<ValueParams>,
    /// Shows the values of one call of a function of the last run, which is repeated up to that call.
    call: Option<CallParams>,
    /// What the view of that value shows, which is then part of the result.
    view: Option<ViewOptions>,
    /// The `.npy` file to write that value to.
    save: Option<Url>,
    /// Returns the remembered arguments and runs nothing.
    #[serde(default)]
    recall: bool,
}

/// A request to run a function.
pub(super) struct RunRequest {
    params: RunParams,
    token: Option<NumberOrString>,
    cancel: Cancel,
    reply: oneshot::Sender<Result<RunResponse>>,
}

/// The future reply. Dropping it cancels the run.
pub(super) struct RunReply {
    receiver: oneshot::Receiver<Result<RunResponse>>,
    guard: CancelGuard,
}

impl RunReply {
    /// Waits for the reply.
    pub(super) async fn wait(self) -> Result<RunResponse> {
        let RunReply { mut receiver, guard } = self;
        let reply = tokio::select! {
            biased;
            reply = &mut receiver => reply,
            () = guard.0.0.cancelled.notified() => {
                match tasks::within(GRACE, &mut receiver).await {
                    Some(reply) => reply,
                    None => return Ok(RunOutcome::cancelled().response),
                }
            }
        };
        drop(guard);
        // Fails if the thread could not be started.
        reply.unwrap_or_else(|_| Err(Error::internal_error()))
    }
}

impl RunRequest {
    /// Creates a request from the parameters of the command.
    ///
    /// # Errors
    /// The arguments do not have the form of [`RunParams`].
    pub(super) fn new(command: ExecuteCommandParams) -> Result<(RunRequest, RunReply)> {
        let argument = command.arguments.into_iter().next().unwrap_or_default();
        let params: RunParams = serde_json::from_value(argument).map_err(|error| {
            let form = "{\"uri\": …, \"function\": \"@main\"}";
            Error::invalid_params(format!("`{RUN}` takes an object such as {form}: {error}"))
        })?;
        let (reply, receiver) = oneshot::channel();
        let cancel = Cancel::default();
        let token = command.work_done_progress_params.work_done_token;
        let future = RunReply { receiver, guard: CancelGuard(cancel.clone()) };
        Ok((RunRequest { params, token, cancel, reply }, future))
    }

    /// Returns the document.
    pub(super) fn uri(&self) -> &Url {
        &self.params.uri
    }

    /// Fails the request without a run.
    pub(super) fn refuse(self, error: Error) {
        // Fails if the client has cancelled the request.
        let _ = self.reply.send(Err(error));
    }
}

/// The state of the server that a run uses, as of its start.
pub(super) struct RunContext {
    pub(super) document: Document,
    /// The metadata section, if the document is a code view.
    pub(super) section: Option<Arc<Metadata>>,
    pub(super) config: Arc<Config>,
    pub(super) encoding: Encoding,
    /// The workspace folder, or the folder of the file.
    pub(super) folder: Option<PathBuf>,
    /// The files that may have the weights of the document.
    pub(super) weights: Vec<PathBuf>,
    /// True if the run is done before [`start`] returns, where there are no threads.
    pub(super) inline: bool,
    /// True if the client shows progress.
    pub(super) progress: bool,
    /// True if the client shows the result of the command.
    pub(super) shows_result: bool,
    pub(super) outgoing: Outbox,
    /// The last run of the document.
    pub(super) last: Option<Arc<RunRecord>>,
    /// Receives the times of the run.
    pub(super) overlays: Arc<Overlays>,
    /// Receives the record of the run.
    pub(super) finished: Box<dyn FnOnce(RunRecord) + Send>,
}

impl RunContext {
    /// Returns the last run of the document.
    ///
    /// # Errors
    /// Nothing was run, or the text has changed since.
    fn last_run(&self) -> std::result::Result<&RunRecord, String> {
        let no_run = "nothing was run in this file since it was opened: run a function first";
        let record: &RunRecord = self.last.as_deref().ok_or(no_run)?;
        match record.is_of(&self.document) {
            true => Ok(record),
            false => {
                Err("the text has changed since the last run: run the function again".to_owned())
            }
        }
    }
}

/// Starts a run on a thread of its own, if there are threads.
pub(super) fn start(runs: &Runs, request: RunRequest, context: RunContext) {
    let slot = match runs.slot(request.token.clone(), &request.cancel) {
        Ok(slot) => slot,
        Err(error) => return request.refuse(error),
    };
    let inline = context.inline;
    let work = move || {
        let RunRequest { params, token, cancel, reply } = request;
        let create = token.is_none();
        let token = slot.token().clone();
        let (sender, messages) = unbounded_channel();
        let progress = sender.downgrade();
        cancel.set_progress(sender);
        // Shown as soon as the name of the function is known.
        let has_progress = context.progress || !create;
        let mut unnamed = has_progress.then(|| (token.clone(), messages));
        let mut announce = |name: &str| {
            let Some((token, messages)) = unnamed.take() else { return };
            context.outgoing.send(Message::Progress(Progress {
                token,
                title: format!("Running {name}"),
                cancellable: true,
                create,
                delay: DELAY,
                messages,
            }));
        };
        if let Some(name) = &params.function {
            announce(&format!("@{}", name.trim_start_matches('@')));
        }
        let outcome = guarded(|| run(&params, &context, &cancel, &progress, &mut announce));
        cancel.end_progress();
        let outcome = match outcome {
            Ok(outcome) => outcome.unwrap_or_else(RunOutcome::failure),
            Err(Interrupt::Cancelled(_)) => RunOutcome::cancelled(),
            Err(Interrupt::Panicked(panicked)) => {
                let mut error = Error::internal_error();
                error.message = panicked.message("this run").into();
                // Fails if the client has cancelled the request.
                let _ = reply.send(Err(error));
                return;
            }
        };
        if let Some(record) = outcome.record {
            (context.finished)(record);
        }
        if !context.shows_result
            && !cancel.is_cancelled()
            && let RunResponse::Result(result) = &outcome.response
        {
            let is_done = result.status == RunStatus::Done;
            let level = if is_done { MessageType::INFO } else { MessageType::ERROR };
            context.outgoing.send(Message::Show(level, result.title.clone()));
        }
        // Fails if the client has cancelled the request.
        let _ = reply.send(Ok(outcome.response));
        drop(slot);
        drop(outcome.values);
    };
    if inline {
        return work();
    }
    // If it fails, the closure is dropped with the request, whose reply becomes an internal error.
    let _ = thread::Builder::new().name("run".into()).stack_size(STACK).spawn(work);
}

/// The outcome of a request to run.
struct RunOutcome {
    response: RunResponse,
    record: Option<RunRecord>,
    /// The values, which are dropped after the response is sent: that is slow for large ones.
    values: Vec<Value>,
}

/// Why a request to run has no result.
struct RunRefusal {
    code: Code,
    message: String,
}

impl From<String> for RunRefusal {
    fn from(message: String) -> RunRefusal {
        RunRefusal { code: Code::RunInput, message }
    }
}

impl RunRefusal {
    fn untyped(message: String) -> RunRefusal {
        RunRefusal { code: Code::RunUntyped, message }
    }

    /// Returns why a run had not one of the values or calls that the last run had.
    fn fewer(what: &str, ending: Ending) -> RunRefusal {
        match ending {
            Ending::Refused(error) => error.message.into(),
            Ending::Failed(fault) => {
                RunRefusal { code: fault.kind.code(), message: failure::message(&fault) }
            }
            Ending::Done(_) => {
                let files = "the files of its arguments have changed";
                format!("the run had fewer {what} this time: {files}").into()
            }
        }
    }
}

impl RunOutcome {
    /// Returns the outcome of a run that failed before its start.
    fn failure(refusal: RunRefusal) -> RunOutcome {
        RunOutcome::of(results::failure(refusal.code, refusal.message, None, None))
    }

    fn cancelled() -> RunOutcome {
        let message = "the run was cancelled".to_owned();
        RunOutcome::failure(RunRefusal { code: Code::RunCancelled, message })
    }

    fn of(result: RunResult) -> RunOutcome {
        let response = RunResponse::Result(Box::new(result));
        RunOutcome { response, record: None, values: Vec::new() }
    }
}

fn run(
    params: &RunParams,
    context: &RunContext,
    cancel: &Cancel,
    progress: &WeakUnboundedSender<String>,
    announce: &mut dyn FnMut(&str),
) -> std::result::Result<RunOutcome, RunRefusal> {
    let begin = Instant::now();
    let document = &context.document;
    if let Some(problem) = &document.problem {
        return Err(RunRefusal::untyped(problem.message.clone()));
    }
    let mut db = Database::new();
    db.set_up(&context.config.setup.clone().of_runs());
    let file = db.add_file(document.text.clone(), context.config.limits.parse);
    db.set_section(file, context.section.clone());
    cancel.set_analysis(Some(db.cancellation()));
    let db = &db;
    let found = params.value.as_ref().map(|value| value.find(db, file, context));
    let wanted = match found.transpose()? {
        Some(FoundValue::Weight(weight)) => {
            let usage = ValueUse::new(params, context, cancel, None)?;
            return RunOutcome::weight(weight, &usage);
        }
        Some(FoundValue::Computed(wanted)) => Some(wanted),
        None => None,
    };
    let wanted_call = params.call.map(|call| call.find(db, file, context)).transpose()?;
    let rerun = wanted.as_ref().map(|wanted| wanted.rerun);
    let rerun = rerun.or(wanted_call.as_ref().map(WantedCall::rerun));
    let selection = rerun.map_or_else(|| params.selection(context), Rerun::selection);
    let def = selection.find(db, file)?;
    let name = failure::name_of(db, def);
    let memory = Entry::new(context.folder.as_deref(), &params.uri, def.name(db));
    if params.recall {
        let remembered = memory.recall()?;
        let status = RecalledStatus::Recalled;
        let parameters = View::new(db, def).map(|view| fields::of(&view)).unwrap_or_default();
        let recalled = RecalledArguments { status, function: name, parameters, remembered };
        let response = RunResponse::Recalled(recalled);
        return Ok(RunOutcome { response, record: None, values: Vec::new() });
    }
    announce(&name);
    let prepared = prepare(db, def, &name, context)?.cancelled_by(cancel.0.flag.clone());
    let (chosen, repeated) = (OnceCell::new(), OnceCell::new());
    let inputs = || {
        let function = def.name(db).to_string();
        let rerun = match rerun {
            Some(rerun) => rerun.clone(),
            None => {
                let recalled =
                    if params.exact { RememberedArguments::default() } else { memory.recall()? };
                Rerun { function, given: params.inputs.clone(), recalled }
            }
        };
        let outside = context.config.outside_files;
        let inputs = rerun.given.inputs(&rerun.recalled, memory.folder(), outside)?;
        // Empty: inputs are read once.
        let _ = chosen.set(rerun.given.clone().or(rerun.recalled.clone()));
        let _ = repeated.set(rerun);
        Ok(inputs)
    };
    if let Some(wanted) = &wanted {
        let usage = ValueUse::new(params, context, cancel, Some(wanted.rerun))?;
        let mut observer = ValueObserver::new(file, wanted, cancel);
        let ran = execute(&prepared, inputs, &mut observer);
        let found = observer.into_value(&ran);
        return RunOutcome::value(wanted, found, ran, (&name, &usage));
    }
    let watcher = Watcher::new(file, &document.text, progress);
    if let Some(wanted) = &wanted_call {
        let mut observer = CallObserver::new(file, wanted, watcher);
        let mut runs = Repeatable::new(&prepared);
        runs.trace(TraceLevel::Points);
        let ran = runs.run(inputs, &mut observer);
        return wanted.outcome(observer, ran);
    }
    let mut observer = LiveObserver {
        watcher,
        profile: Profile::of_first(MAX_MEASURED),
        values: Vec::new(),
        memory: params.remember.then_some((&memory, &chosen)),
        note: None,
    };
    let ran = execute(&prepared, inputs, &mut observer);
    let whole = begin.elapsed();
    // Queries on the first handle stay cancelled after a cancelled run; those on a clone do not.
    let db = &db.clone();
    let seed =
        chosen.get().and_then(|chosen: &RememberedArguments| chosen.seed).unwrap_or_default();
    let shown = ResultParts { db, file, def, name: &name, params, context, cancel, seed, whole };
    let (result, mark) = shown.render(&ran, &observer);
    let is_done = result.status == RunStatus::Done;
    // The values of a run that was cancelled are those of an arbitrary moment.
    let is_cancelled = result.status == RunStatus::Cancelled;
    let mut outcome = RunOutcome::of(result);
    if ran.arguments.is_some() && !is_cancelled {
        let done = is_done.then(|| (def.name(db).to_string(), ran.time));
        let rerun = repeated.into_inner().unwrap_or_default();
        let functions = ide::shapes::structure(db, file);
        let times = Overlay::of_times(&observer.profile.times(file), &functions);
        context.overlays.store(DocumentVersion::of(document), times);
        let record = RunRecord::new(db, file, document, observer.watcher, mark, done, rerun);
        outcome.record = Some(record);
    }
    outcome.values = observer.values;
    if let Ending::Done(value) = ran.ending {
        outcome.values.push(value);
    }
    Ok(outcome)
}

/// Prepares a run of a function, which stops at errors of the document.
fn prepare<'db>(
    db: &'db Database,
    def: Def<'db>,
    name: &str,
    context: &RunContext,
) -> std::result::Result<PreparedRun<'db>, RunRefusal> {
    let file = def.file(db);
    let mut prepared = PreparedRun::new(db, def, context.config.run.clone())
        .ok_or_else(|| RunRefusal::untyped(format!("{name} cannot be analysed")))?;
    if !file.parse(db).errors.is_empty() || !semantics::is_fully_typed(db, file) {
        prepared = prepared.stopping_at(&semantics::check_file(db, file));
    }
    match prepared.header_error() {
        Some(error) => {
            let summary = failure::summary_of(error);
            Err(RunRefusal::untyped(format!("{name} cannot be called: {summary}")))
        }
        None => Ok(prepared),
    }
}

impl RunParams {
    /// Returns the choice of the definition.
    fn selection(&self, context: &RunContext) -> Selection<'_> {
        if let Some(name) = &self.function {
            return Selection::Named(name);
        }
        match (self.position, self.offset) {
            (Some(position), _) => {
                let offset = context.document.offset(position, context.encoding);
                offset.map_or(Selection::Main, Selection::At)
            }
            (None, Some(offset)) => Selection::At(offset.into()),
            (None, None) => Selection::Main,
        }
    }
}
