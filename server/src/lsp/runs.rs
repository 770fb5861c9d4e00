//! `relay.run`: runs a function while the user keeps typing.
//!
//! Each run has its own thread, and its own database with the tree of the document at the time of
//! the request: a snapshot of the owner's database would block changes until the run ends. A run is
//! cancelled within milliseconds, by `$/cancelRequest` or by the button of its progress, also while
//! it reads its arguments from files. While it is inside an operation that cannot be interrupted,
//! the response and the end of the progress do not wait for it.

mod cancel;
mod folder;
mod remembered;
mod results;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use clock::Instant;
use interpreter::{Fault, FaultKind, Machine, Value};
use semantics::{
    Code, Database, Def, DefKind, Diagnostic, Severity, SourceFile, View, metadata::Metadata,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};
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
    live::{RunRecord, Watcher},
    outgoing::{Message, Outgoing, Progress},
    tasks,
};
use crate::{
    panics::{Interrupt, guarded},
    run::{
        self,
        arguments::{self, ArgumentError},
        failure::{self, Places},
        profile::Profile,
        show,
    },
};
use cancel::{Cancel, lock};
use remembered::Remembered;
use results::Observed;

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
const DELAY: Duration = Duration::from_millis(100);
/// The time that a cancelled run has to respond with its last position.
const GRACE: Duration = Duration::from_millis(5);
/// The largest number of elements of a tensor that the response lists; larger ones are summarised.
const MAX_ELEMENTS: usize = 1000;

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
        if let Some(cancel) = lock(&self.by_token).get(token) {
            cancel.cancel();
        }
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
    inputs: Remembered,
    /// Remembers the arguments for the next run.
    #[serde(default)]
    remember: bool,
    /// Returns the remembered arguments and runs nothing.
    #[serde(default)]
    recall: bool,
}

/// A request to run a function.
pub(super) struct RunRequest {
    params: RunParams,
    token: Option<NumberOrString>,
    cancel: Cancel,
    reply: oneshot::Sender<Result<Option<Json>>>,
}

/// The future reply. Dropping it cancels the run.
pub(super) struct RunReply {
    receiver: oneshot::Receiver<Result<Option<Json>>>,
    guard: Guard,
}

struct Guard(Cancel);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl RunReply {
    /// Waits for the reply.
    pub(super) async fn wait(self) -> Result<Option<Json>> {
        let RunReply { mut receiver, guard } = self;
        let reply = tokio::select! {
            biased;
            reply = &mut receiver => reply,
            () = guard.0.0.cancelled.notified() => {
                match tasks::within(GRACE, &mut receiver).await {
                    Some(reply) => reply,
                    None => return Ok(Some(Outcome::cancelled().response)),
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
        let future = RunReply { receiver, guard: Guard(cancel.clone()) };
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
    /// True if the run is done before [`start`] returns, where there are no threads.
    pub(super) inline: bool,
    /// True if the client shows progress.
    pub(super) progress: bool,
    /// True if the client shows the result of the command.
    pub(super) shows_result: bool,
    pub(super) outgoing: Outgoing,
    /// Receives the record of the run.
    pub(super) finished: Box<dyn FnOnce(RunRecord) + Send>,
}

/// Starts a run on a thread of its own, if there are threads.
pub(super) fn start(runs: &Runs, request: RunRequest, context: RunContext) {
    if runs.active.fetch_add(1, Ordering::Relaxed) >= MAX_RUNS {
        runs.active.fetch_sub(1, Ordering::Relaxed);
        let message = format!("{MAX_RUNS} functions are already running: cancel one of them first");
        request.refuse(Error {
            code: ErrorCode::InternalError,
            message: message.into(),
            data: None,
        });
        return;
    }
    let (runs, active) = (runs.clone(), runs.active.clone());
    let inline = context.inline;
    let number = runs.started.fetch_add(1, Ordering::Relaxed);
    let work = move || {
        let RunRequest { params, token, cancel, reply } = request;
        let create = token.is_none();
        let token = token.unwrap_or_else(|| NumberOrString::String(format!("relay/run/{number}")));
        lock(&runs.by_token).insert(token.clone(), cancel.clone());
        let (sender, messages) = unbounded_channel();
        let progress = sender.downgrade();
        cancel.set_progress(sender);
        if context.progress || !create {
            let title = format!("Running {}", params.function.as_deref().unwrap_or("expression"));
            context.outgoing.send(Message::Progress(Progress {
                token: token.clone(),
                title,
                cancellable: true,
                create,
                delay: DELAY,
                messages,
            }));
        }
        let outcome = guarded(|| run(&params, &context, &cancel, &progress));
        lock(&cancel.0.progress).take();
        lock(&runs.by_token).remove(&token);
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(Interrupt::Cancelled(_)) => Outcome::cancelled(),
            Err(Interrupt::Panicked(panicked)) => {
                let mut error = Error::internal_error();
                error.message = panicked.message("this run").into();
                // Fails if the client has cancelled the request.
                let _ = reply.send(Err(error));
                runs.active.fetch_sub(1, Ordering::Relaxed);
                return;
            }
        };
        if let Some(record) = outcome.record {
            (context.finished)(record);
        }
        if !context.shows_result && !cancel.is_cancelled() && !params.recall {
            let title = outcome.response["title"].as_str().unwrap_or_default().to_owned();
            let level = if outcome.is_failure { MessageType::ERROR } else { MessageType::INFO };
            context.outgoing.send(Message::Show(level, title));
        }
        // Fails if the client has cancelled the request.
        let _ = reply.send(Ok(Some(outcome.response)));
        runs.active.fetch_sub(1, Ordering::Relaxed);
        drop(outcome.values);
    };
    if inline {
        return work();
    }
    let spawned = thread::Builder::new().name("run".into()).stack_size(STACK).spawn(work);
    if spawned.is_err() {
        // The closure is dropped with the request, whose reply becomes an internal error.
        active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The outcome of a run.
struct Outcome {
    response: Json,
    is_failure: bool,
    record: Option<RunRecord>,
    /// The values, which are dropped after the response is sent: that is slow for large ones.
    values: Vec<Value>,
}

impl Outcome {
    fn failure(code: Code, message: String) -> Outcome {
        let status = if code == Code::RunCancelled { "cancelled" } else { "failed" };
        let response = json!({
            "status": status, "title": message, "text": format!("error[{code}]: {message}"),
            "error": { "code": code.name(), "message": message },
        });
        Outcome { response, is_failure: true, record: None, values: Vec::new() }
    }

    fn cancelled() -> Outcome {
        Outcome::failure(Code::RunCancelled, "the run was cancelled".to_owned())
    }
}

fn run(
    params: &RunParams,
    context: &RunContext,
    cancel: &Cancel,
    progress: &WeakUnboundedSender<String>,
) -> Outcome {
    let begin = Instant::now();
    let document = &context.document;
    if let Some(problem) = &document.problem {
        return Outcome::failure(Code::RunUntyped, problem.message.clone());
    }
    let mut db = Database::new();
    db.set_prelude(context.config.prelude);
    let file = db.add_file(document.text.clone(), context.config.limits.parse);
    db.set_section(file, context.section.clone());
    cancel.set_analysis(db.cancellation());
    let db = &db;
    let def = match choose(db, file, params, context) {
        Ok(def) => def,
        Err(message) => return Outcome::failure(Code::RunInput, message),
    };
    let name = match def.name(db).as_str() {
        "" => "expression".to_owned(),
        name => name.to_owned(),
    };
    let memory = remembered::Entry::new(context.folder.as_deref(), &params.uri, &name);
    if params.recall {
        return match memory.recall() {
            Ok(known) => Outcome {
                response: json!({ "status": "recalled", "function": name, "remembered": known }),
                is_failure: false,
                record: None,
                values: Vec::new(),
            },
            Err(message) => Outcome::failure(Code::RunInput, message),
        };
    }
    let Some(view) = View::new(db, def) else {
        let message = format!("{name} cannot be analysed");
        return Outcome::failure(Code::RunUntyped, message);
    };
    let doubtful = !file.parse(db).errors.is_empty() || view.has_type_errors();
    if doubtful && let Some(error) = first_error(db, def) {
        let message = format!("{name} has an error: {error}");
        return Outcome::failure(Code::RunUntyped, message);
    }
    let mut machine =
        Machine::new(db).limited(context.config.run.clone()).cancelled_by(cancel.0.flag.clone());
    // Reading the arguments counts towards the limits.
    let watch = machine.begin();
    let mut function = |name: &str| {
        let mut defs = semantics::all_defs(db, file);
        let def = defs.find(|def| def.kind(db) == DefKind::Fn && def.name(db) == name)?;
        let ty = View::new(db, def)?.inference.signature.clone()?;
        Some((machine.function(def)?, ty))
    };
    let mut gather = || {
        let recalled = memory.recall()?;
        let inputs =
            params.inputs.inputs(&recalled, memory.folder(), context.config.outside_files)?;
        let arguments = arguments::gather(&view, &inputs, &mut function)?;
        Ok((params.inputs.clone().or(recalled), arguments))
    };
    let gathered: std::result::Result<_, ArgumentError> = match watch.within(&mut gather) {
        Ok(gathered) => gathered,
        // Cancelled, or over a limit before the function runs.
        Err(fault) => {
            let diagnostic = failure::diagnostic(db, def, &fault, setting);
            return context.failed(fault.kind, &diagnostic);
        }
    };
    let (chosen, arguments) = match gathered {
        Ok(gathered) => gathered,
        Err(error) => {
            let kind = FaultKind::Input;
            return context.failed(kind, &error.diagnostic(kind.code(), def.range(db)));
        }
    };
    let note = match params.remember.then(|| memory.write(&chosen)) {
        Some(Err(message)) => Some(message),
        _ => None,
    };
    let watcher = Watcher::new(file, &document.text, progress);
    let mut observed = Observed { watcher, profile: Profile::of_first(MAX_MEASURED) };
    let drawn: Vec<String> = arguments.drawn.iter().map(|name| format!("%{name}")).collect();
    let seed = chosen.seed.unwrap_or_default();
    let mut values = arguments.values.clone();
    let ran = Instant::now();
    let result = machine.run(def, arguments.values, Some(&mut observed));
    let (took, whole) = (ran.elapsed(), begin.elapsed());
    // Queries on the first handle stay cancelled after a cancelled run; those on a clone do not.
    let db = &db.clone();
    let lines = &document.lines;
    let file_name = params.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
    let mut response = json!({
        "function": name, "uri": params.uri, "version": document.version,
        "milliseconds": took.as_secs_f64() * 1e3, "wholeMilliseconds": whole.as_secs_f64() * 1e3,
        "drawn": arguments.drawn, "seed": seed,
    });
    let mut head = format!("{name} of {file_name}: {}", duration(took));
    match drawn.as_slice() {
        [] => {}
        [one] => head += &format!(", random {one} (seed {seed})"),
        many => head += &format!(", {} random arguments (seed {seed})", many.len()),
    }
    for warning in arguments.warnings.iter().chain(&note) {
        head += &format!("\n{warning}");
    }
    if !arguments.warnings.is_empty() {
        response["warnings"] = json!(arguments.warnings);
    }
    // Printing a large value is slow, and can be cancelled.
    let show = |value: Value| {
        let texts = || {
            let machine = run::json::within(&value, MAX_ELEMENTS);
            (title(&value), show::human(&value), machine, results::tensors(&value))
        };
        Ok((interpreter::until_cancelled(&cancel.0.flag, texts)?, value))
    };
    let (fault, value) = match result.and_then(show) {
        Ok(((title, text, machine, tensors), value)) => {
            response["status"] = json!("done");
            response["title"] = json!(format!("{name}: {title} in {}", duration(took)));
            response["text"] = json!(format!("{head}\n\n{text}"));
            response["value"] = machine;
            response["tensors"] = tensors;
            (None, Some(value))
        }
        Err(fault) => (Some(fault), None),
    };
    let mut mark = None;
    if let Some(fault) = &fault {
        let was_stopped = fault.kind == FaultKind::Cancelled;
        let mut places = Places::new(db, file, &file_name, lines);
        fill_failure(&mut response, fault, &mut places, &head);
        response["status"] = json!(if was_stopped { "cancelled" } else { "failed" });
        let diagnostic = failure::diagnostic(db, def, fault, setting);
        let range = document.range(diagnostic.range, context.encoding);
        response["error"]["range"] = json!(range);
        mark = (!was_stopped).then_some(diagnostic);
    }
    // The response to a cancelled run does not wait for its tables.
    if !cancel.is_cancelled() {
        response["profile"] = observed.profile(db, file, document, context.encoding, took);
        response["notFinite"] = observed.not_finite(document, context.encoding);
    }
    let done = fault.is_none().then(|| (def.name(db).to_string(), took));
    let record = RunRecord::new(db, file, document, observed.watcher, mark, done);
    values.extend(value);
    Outcome { response, is_failure: fault.is_some(), record: Some(record), values }
}

/// Returns the setting of a limit.
fn setting(limit: &str) -> String {
    format!("relay.run.{limit}")
}

impl RunContext {
    /// Returns the outcome of a run that failed before its start.
    fn failed(&self, kind: FaultKind, diagnostic: &Diagnostic) -> Outcome {
        let message = match &diagnostic.help {
            Some(help) => format!("{}\n{help}", diagnostic.message),
            None => diagnostic.message.clone(),
        };
        let mut outcome = Outcome::failure(kind.code(), message);
        outcome.response["title"] = json!(diagnostic.message);
        let range = self.document.range(diagnostic.range, self.encoding);
        outcome.response["error"]["range"] = json!(range);
        outcome
    }
}

/// Returns the message of the first error in a definition.
fn first_error(db: &Database, def: Def<'_>) -> Option<String> {
    let range = def.range(db);
    let found = semantics::check_file(db, def.file(db));
    let mut errors = found.iter().filter(|d| d.severity == Severity::Error);
    let error = errors.find(|d| range.contains_range(d.range))?;
    error.message.lines().next().map(str::to_owned)
}

fn fill_failure(response: &mut Json, fault: &Fault, places: &mut Places<'_>, head: &str) {
    let message = failure::message(fault);
    let code = fault.kind.code();
    response["title"] = json!(message);
    response["text"] =
        json!(format!("{head}\n\nerror[{code}]: {message}\n{}", places.trace(fault)));
    response["error"] = places.json(fault);
}

/// Describes a value in one line.
fn title(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) if tensor.shape().is_empty() => show::human(value),
        Value::Tensor(tensor) => tensor.ty().to_string(),
        Value::Tuple(_) if value.as_tuple().is_some_and(|fields| fields.len() <= 4) => {
            let fields = value.as_tuple().unwrap_or_default().iter();
            let fields = fields.map(|field| match field {
                Value::Tensor(tensor) => tensor.ty().to_string(),
                other => other.describe(),
            });
            format!("({})", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.describe(),
    }
}

/// Formats a duration, as in `12.3 ms` and `2.50 s`.
pub(super) fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds => format!("{:.1} ms", seconds * 1e3),
    }
}

/// Finds the function or bare expression that `params` names.
fn choose<'db>(
    db: &'db Database,
    file: SourceFile,
    params: &RunParams,
    context: &RunContext,
) -> std::result::Result<Def<'db>, String> {
    let runs = |def: &Def<'db>| matches!(def.kind(db), DefKind::Fn | DefKind::Expr);
    let defs = || semantics::all_defs(db, file).filter(runs);
    if let Some(name) = &params.function {
        let name = if name.starts_with('@') { name.clone() } else { format!("@{name}") };
        return defs().find(|def| def.name(db).as_str() == name).ok_or_else(|| {
            let named = defs().filter(|def| def.kind(db) == DefKind::Fn);
            let names: Vec<&str> = named.map(|def| def.name(db).as_str()).collect();
            arguments::no_function(&name, &names)
        });
    }
    let offset = match (params.position, params.offset) {
        (Some(position), _) => context.document.offset(position, context.encoding),
        (None, Some(offset)) => Some(offset.into()),
        (None, None) => None,
    };
    match offset {
        Some(offset) => ide::place::def_at(db, file, offset)
            .map(|(_, def)| def)
            .filter(runs)
            .ok_or_else(|| "there is no function at this position".to_owned()),
        None => {
            let named = defs().find(|def| def.name(db).as_str() == "@main");
            named.or_else(|| defs().next()).ok_or_else(|| "this file has no function".to_owned())
        }
    }
}
