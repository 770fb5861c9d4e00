//! `relay.run`: functions that run while the person goes on typing.
//!
//! Each run has a thread of its own and a database of its own, made of the tree that the document
//! had when the run was asked for: nothing that a change would have to wait for. It ends within
//! milliseconds of being stopped, by `$/cancelRequest` or by the button of its progress: also while
//! it reads its arguments from files. Where it is in the middle of something that cannot be divided,
//! the answer and the end of the progress do not wait for it.

mod folder;
mod remembered;
mod results;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use interpreter::{Fault, FaultKind, Machine, Value};
use semantics::{
    CancellationToken, Database, Def, DefKind, Diagnostic, Severity, SourceFile, View,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use syntax::Encoding;
use tokio::sync::{
    Notify,
    mpsc::{UnboundedSender, WeakUnboundedSender, unbounded_channel},
    oneshot,
};
use tower_lsp::{
    jsonrpc::{Error, ErrorCode, Result},
    lsp_types::{ExecuteCommandParams, MessageType, NumberOrString, Position, Url},
};

use super::{
    config::Config,
    documents::Document,
    event::{Event, Mailbox},
    live::{Kept, Watcher},
    outgoing::{Message, Outgoing, Progress},
};
use crate::{
    panics::{Interrupt, guarded},
    run::{
        self,
        arguments::{self, Lack},
        failure::{self, Places},
        profile::Profile,
        show,
    },
};
use remembered::Remembered;
use results::Observed;

/// The command.
pub(super) const RUN: &str = "relay.run";
/// The command that forgets the values of the last run of a document.
pub(super) const CLEAR: &str = "relay.clearValues";
/// How many functions may run at once.
const MOST: usize = 4;
/// How many calls of operators are measured in a run.
const MOST_MEASURED: u64 = 1 << 17;
/// Room for the stack of the deepest nesting that settings allow.
const STACK: usize = 16 << 20;
/// Runs that take longer than this show a progress.
const DELAY: Duration = Duration::from_millis(100);
/// A run that is stopped has so long to tell how far it went; then the answer goes out without it.
const GRACE: Duration = Duration::from_millis(5);
/// Tensors with more elements than this are summed up for machines.
const MOST_ELEMENTS: usize = 1000;

/// Ends a run.
#[derive(Clone, Default)]
pub(super) struct Stop(Arc<StopState>);

#[derive(Default)]
struct StopState {
    flag: Arc<AtomicBool>,
    /// Ends the analysis, before the function runs.
    analysis: Mutex<Option<CancellationToken>>,
    /// Keeps the progress going.
    reports: Mutex<Option<UnboundedSender<String>>>,
    /// Wakes who waits for the answer.
    stopped: Notify,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stop {
    /// Ends the run within milliseconds.
    fn stop(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
        if let Some(token) = &*lock(&self.0.analysis) {
            token.cancel();
        }
        self.0.stopped.notify_one();
        lock(&self.0.reports).take();
    }

    /// Begins what says where the run is, to `reports`: it ends with the run, or with being stopped.
    fn reporting(&self, reports: UnboundedSender<String>) {
        *lock(&self.0.reports) = Some(reports);
        if self.is_wanted() {
            self.stop();
        }
    }

    fn is_wanted(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// The analysis that is to end, too.
    fn ends(&self, token: CancellationToken) {
        *lock(&self.0.analysis) = Some(token);
        if self.is_wanted() {
            self.stop();
        }
    }
}

/// The runs that are under way, by the token of their progress.
#[derive(Clone, Default)]
pub(super) struct Runs {
    by_token: Arc<Mutex<HashMap<NumberOrString, Stop>>>,
    running: Arc<AtomicUsize>,
    started: Arc<AtomicU64>,
}

impl Runs {
    /// Ends the run whose progress has this token; other progress cannot be ended.
    pub(super) fn stop(&self, token: &NumberOrString) {
        if let Some(stop) = lock(&self.by_token).get(token) {
            stop.stop();
        }
    }
}

/// What `relay.run` is given.
#[derive(Clone, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
struct Wanted {
    uri: Url,
    /// `@main`
    function: Option<String>,
    /// A place in the function or bare expression, where no function is named.
    position: Option<Position>,
    /// The same as a byte offset.
    offset: Option<u32>,
    /// Arguments; what is remembered counts for the others.
    #[serde(default, flatten)]
    inputs: Remembered,
    /// Writes the arguments down for the next run.
    #[serde(default)]
    remember: bool,
    /// Answers what is remembered, and runs nothing.
    #[serde(default)]
    recall: bool,
}

/// A run that is asked for.
pub(super) struct RunRequest {
    wanted: Wanted,
    token: Option<NumberOrString>,
    stop: Stop,
    answer: oneshot::Sender<Result<Option<Json>>>,
}

/// The answer, still to come. Dropping it ends the run.
pub(super) struct RunReply {
    receiver: oneshot::Receiver<Result<Option<Json>>>,
    guard: Guard,
}

struct Guard(Stop);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl RunReply {
    /// Waits for the answer.
    pub(super) async fn wait(self) -> Result<Option<Json>> {
        let RunReply { mut receiver, guard } = self;
        let answer = tokio::select! {
            biased;
            answer = &mut receiver => answer,
            () = guard.0.0.stopped.notified() => {
                match tokio::time::timeout(GRACE, &mut receiver).await {
                    Ok(answer) => answer,
                    Err(_) => return Ok(Some(Ended::stopped().shown)),
                }
            }
        };
        drop(guard);
        // A thread that is gone has said nothing.
        answer.unwrap_or_else(|_| Err(Error::internal_error()))
    }
}

impl RunRequest {
    /// A run, as the command asks for it.
    ///
    /// # Errors
    /// The arguments make no sense.
    pub(super) fn new(params: ExecuteCommandParams) -> Result<(RunRequest, RunReply)> {
        let argument = params.arguments.into_iter().next().unwrap_or_default();
        let wanted: Wanted = serde_json::from_value(argument).map_err(|error| {
            let form = "{\"uri\": …, \"function\": \"@main\"}";
            Error::invalid_params(format!("`{RUN}` takes an object such as {form}: {error}"))
        })?;
        let (answer, receiver) = oneshot::channel();
        let stop = Stop::default();
        let token = params.work_done_progress_params.work_done_token;
        let reply = RunReply { receiver, guard: Guard(stop.clone()) };
        Ok((RunRequest { wanted, token, stop, answer }, reply))
    }

    /// The document that it is about.
    pub(super) fn uri(&self) -> &Url {
        &self.wanted.uri
    }

    /// Ends it without a run.
    pub(super) fn refuse(self, error: Error) {
        // Nobody may wait any more.
        let _ = self.answer.send(Err(error));
    }
}

/// What a run sees: a document as it was, and settings.
pub(super) struct Sight {
    pub(super) document: Document,
    pub(super) config: Arc<Config>,
    pub(super) encoding: Encoding,
    /// The folder of the workspace, or that of the file.
    pub(super) folder: Option<PathBuf>,
    /// The client shows progress.
    pub(super) progress: bool,
    /// The client shows what the command answers.
    pub(super) shows: bool,
    pub(super) outgoing: Outgoing,
    pub(super) mailbox: Mailbox,
}

/// Starts a run on a thread of its own.
pub(super) fn start(runs: &Runs, request: RunRequest, sight: Sight) {
    if runs.running.fetch_add(1, Ordering::Relaxed) >= MOST {
        runs.running.fetch_sub(1, Ordering::Relaxed);
        let message = format!("{MOST} functions are running already: stop one of them first");
        request.refuse(Error {
            code: ErrorCode::InternalError,
            message: message.into(),
            data: None,
        });
        return;
    }
    let (runs, slot) = (runs.clone(), runs.running.clone());
    let number = runs.started.fetch_add(1, Ordering::Relaxed);
    let work = move || {
        let RunRequest { wanted, token, stop, answer } = request;
        let create = token.is_none();
        let token = token.unwrap_or_else(|| NumberOrString::String(format!("relay/run/{number}")));
        lock(&runs.by_token).insert(token.clone(), stop.clone());
        let (sender, messages) = unbounded_channel();
        let reports = sender.downgrade();
        stop.reporting(sender);
        if sight.progress || !create {
            let title = format!("Running {}", wanted.function.as_deref().unwrap_or("expression"));
            sight.outgoing.send(Message::Progress(Progress {
                token: token.clone(),
                title,
                cancellable: true,
                create,
                delay: DELAY,
                messages,
            }));
        }
        let ended = guarded(|| run(&wanted, &sight, &stop, &reports));
        lock(&stop.0.reports).take();
        lock(&runs.by_token).remove(&token);
        let ended = match ended {
            Ok(ended) => ended,
            Err(Interrupt::Cancelled(_)) => Ended::stopped(),
            Err(Interrupt::Panicked(panicked)) => {
                let mut error = Error::internal_error();
                error.message = panicked.message("this run").into();
                // Nobody may wait any more.
                let _ = answer.send(Err(error));
                runs.running.fetch_sub(1, Ordering::Relaxed);
                return;
            }
        };
        if let Some(kept) = ended.kept {
            sight.mailbox.send(Event::Ran(wanted.uri.clone(), Box::new(kept)));
        }
        if !sight.shows && !stop.is_wanted() && !wanted.recall {
            let title = ended.shown["title"].as_str().unwrap_or_default().to_owned();
            let level = if ended.is_failure { MessageType::ERROR } else { MessageType::INFO };
            sight.outgoing.send(Message::Show(level, title));
        }
        // Nobody waits for the answer of a request that was cancelled.
        let _ = answer.send(Ok(Some(ended.shown)));
        runs.running.fetch_sub(1, Ordering::Relaxed);
        drop(ended.values);
    };
    let spawned = thread::Builder::new().name("run".into()).stack_size(STACK).spawn(work);
    if spawned.is_err() {
        // The request went with the closure: its answer is an internal error.
        slot.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How a run ended.
struct Ended {
    /// The answer.
    shown: Json,
    is_failure: bool,
    kept: Option<Kept>,
    /// To be let go of when the answer is out: that takes a while for what is large.
    values: Vec<Value>,
}

impl Ended {
    fn failure(code: &str, message: String) -> Ended {
        let status = if code == FaultKind::Cancelled.code() { "cancelled" } else { "failed" };
        let shown = json!({
            "status": status, "title": message, "text": format!("error[{code}]: {message}"),
            "error": { "code": code, "message": message },
        });
        Ended { shown, is_failure: true, kept: None, values: Vec::new() }
    }

    fn stopped() -> Ended {
        Ended::failure(FaultKind::Cancelled.code(), "the run was stopped".to_owned())
    }
}

fn run(
    wanted: &Wanted,
    sight: &Sight,
    stop: &Stop,
    reports: &WeakUnboundedSender<String>,
) -> Ended {
    let begin = Instant::now();
    let document = &sight.document;
    if let Some(problem) = &document.problem {
        return Ended::failure(FaultKind::Untyped.code(), problem.message.clone());
    }
    let mut db = Database::new();
    db.set_prelude(sight.config.prelude);
    let file = db.add_file("", sight.config.limits.parse);
    db.set_parse(file, document.parse.clone());
    stop.ends(db.cancellation());
    let db = &db;
    let def = match choose(db, file, wanted, sight) {
        Ok(def) => def,
        Err(message) => return Ended::failure(FaultKind::Input.code(), message),
    };
    let name = match def.name(db).as_str() {
        "" => "expression".to_owned(),
        name => name.to_owned(),
    };
    let memory = remembered::Place::new(sight.folder.as_deref(), &wanted.uri, &name);
    if wanted.recall {
        return match memory.recall() {
            Ok(known) => Ended {
                shown: json!({ "status": "recalled", "function": name, "remembered": known }),
                is_failure: false,
                kept: None,
                values: Vec::new(),
            },
            Err(message) => Ended::failure(FaultKind::Input.code(), message),
        };
    }
    let Some(view) = View::new(db, def) else {
        let message = format!("{name} cannot be read");
        return Ended::failure(FaultKind::Untyped.code(), message);
    };
    let doubtful = !document.parse.errors.is_empty() || semantics::has_type_errors(&view);
    if doubtful && let Some(error) = first_error(db, def) {
        let message = format!("{name} has an error: {error}");
        return Ended::failure(FaultKind::Untyped.code(), message);
    }
    let mut machine =
        Machine::new(db).limited(sight.config.run.clone()).cancelled_by(stop.0.flag.clone());
    // The arguments count for the limits.
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
            wanted.inputs.inputs(&recalled, memory.folder(), sight.config.outside_files)?;
        let arguments = arguments::gather(&view, &inputs, &mut function)?;
        Ok((wanted.inputs.clone().or(recalled), arguments))
    };
    let gathered: std::result::Result<_, Lack> = match watch.within(&mut gather) {
        Ok(gathered) => gathered,
        // Stopped, or a limit is reached before the function runs.
        Err(fault) => {
            let diagnostic = failure::diagnostic(db, def, &fault, setting);
            return sight.failed(fault.kind, &diagnostic);
        }
    };
    let (chosen, arguments) = match gathered {
        Ok(gathered) => gathered,
        Err(lack) => {
            let kind = FaultKind::Input;
            return sight.failed(kind, &lack.diagnostic(kind.code(), def.range(db)));
        }
    };
    let note = match wanted.remember.then(|| memory.write(&chosen)) {
        Some(Err(message)) => Some(message),
        _ => None,
    };
    let watcher = Watcher::new(file, &document.text, reports);
    let mut observed = Observed { watcher, profile: Profile::of_first(MOST_MEASURED) };
    let drawn: Vec<String> = arguments.drawn.iter().map(|name| format!("%{name}")).collect();
    let seed = chosen.seed.unwrap_or_default();
    let mut values = arguments.values.clone();
    let ran = Instant::now();
    let result = machine.run(def, arguments.values, Some(&mut observed));
    let (took, whole) = (ran.elapsed(), begin.elapsed());
    // A handle of its own: queries on the other one have ended with a run that was stopped.
    let db = &db.clone();
    let lines = &document.lines;
    let file_name = wanted.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
    let mut shown = json!({
        "function": name, "uri": wanted.uri, "version": document.version,
        "milliseconds": took.as_secs_f64() * 1e3, "wholeMilliseconds": whole.as_secs_f64() * 1e3,
        "drawn": arguments.drawn, "seed": seed,
    });
    let mut head = format!("{name} of {file_name}: {}", duration(took));
    match drawn.as_slice() {
        [] => {}
        [one] => head += &format!(", {one} drawn from seed {seed}"),
        many => head += &format!(", {} arguments drawn from seed {seed}", many.len()),
    }
    for warning in arguments.warnings.iter().chain(&note) {
        head += &format!("\n{warning}");
    }
    if !arguments.warnings.is_empty() {
        shown["warnings"] = json!(arguments.warnings);
    }
    // To look at a large value takes a while.
    let show = |value: Value| {
        let texts = || {
            let machine = run::json::within(&value, MOST_ELEMENTS);
            (title(&value), show::human(&value), machine, results::tensors(&value))
        };
        Ok((interpreter::while_wanted(&stop.0.flag, texts)?, value))
    };
    let (fault, value) = match result.and_then(show) {
        Ok(((title, text, machine, tensors), value)) => {
            shown["status"] = json!("done");
            shown["title"] = json!(format!("{name}: {title} in {}", duration(took)));
            shown["text"] = json!(format!("{head}\n\n{text}"));
            shown["value"] = machine;
            shown["tensors"] = tensors;
            (None, Some(value))
        }
        Err(fault) => (Some(fault), None),
    };
    let mut mark = None;
    if let Some(fault) = &fault {
        let was_stopped = fault.kind == FaultKind::Cancelled;
        let mut places = Places::new(db, file, &file_name, lines);
        fill_failure(&mut shown, fault, &mut places, &head);
        shown["status"] = json!(if was_stopped { "cancelled" } else { "failed" });
        let diagnostic = failure::diagnostic(db, def, fault, setting);
        let range = document.range(diagnostic.range, sight.encoding);
        shown["error"]["range"] = json!(range);
        mark = (!was_stopped).then_some(diagnostic);
    }
    // Whoever has stopped a run does not wait for its tables.
    if !stop.is_wanted() {
        shown["profile"] = observed.profile(db, file, document, sight.encoding, took);
        shown["notFinite"] = observed.trail(document, sight.encoding);
    }
    let done = fault.is_none().then(|| (def.name(db).to_string(), took));
    let kept = Kept::new(db, file, document, observed.watcher, mark, done);
    values.extend(value);
    Ended { shown, is_failure: fault.is_some(), kept: Some(kept), values }
}

/// Where a limit is set.
fn setting(limit: &str) -> String {
    format!("relay.run.{limit}")
}

impl Sight {
    /// The end of a run that has not begun.
    fn failed(&self, kind: FaultKind, diagnostic: &Diagnostic) -> Ended {
        let message = match &diagnostic.help {
            Some(help) => format!("{}\n{help}", diagnostic.message),
            None => diagnostic.message.clone(),
        };
        let mut ended = Ended::failure(kind.code(), message);
        ended.shown["title"] = json!(diagnostic.message);
        let range = self.document.range(diagnostic.range, self.encoding);
        ended.shown["error"]["range"] = json!(range);
        ended
    }
}

/// What the check says against a definition, if it says anything: not all that is odd is wrong.
fn first_error(db: &Database, def: Def<'_>) -> Option<String> {
    let range = def.range(db);
    let found = semantics::check_file(db, def.file(db));
    let mut errors = found.iter().filter(|d| d.severity == Severity::Error);
    let error = errors.find(|d| range.contains_range(d.range))?;
    error.message.lines().next().map(str::to_owned)
}

fn fill_failure(shown: &mut Json, fault: &Fault, places: &mut Places<'_>, head: &str) {
    let message = failure::message(fault);
    let code = fault.kind.code();
    shown["title"] = json!(message);
    shown["text"] = json!(format!("{head}\n\nerror[{code}]: {message}\n{}", places.trace(fault)));
    shown["error"] = places.json(fault);
}

/// What a value is, for one line.
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

/// `12.3 ms`, `2.50 s`
pub(super) fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds >= 1.0 => format!("{seconds:.2} s"),
        seconds => format!("{:.1} ms", seconds * 1e3),
    }
}

/// The definition that is meant.
fn choose<'db>(
    db: &'db Database,
    file: SourceFile,
    wanted: &Wanted,
    sight: &Sight,
) -> std::result::Result<Def<'db>, String> {
    let runs = |def: &Def<'db>| matches!(def.kind(db), DefKind::Fn | DefKind::Expr);
    let defs = || semantics::all_defs(db, file).filter(runs);
    if let Some(name) = &wanted.function {
        let name = if name.starts_with('@') { name.clone() } else { format!("@{name}") };
        return defs().find(|def| def.name(db).as_str() == name).ok_or_else(|| {
            let named = defs().filter(|def| def.kind(db) == DefKind::Fn);
            let names: Vec<&str> = named.map(|def| def.name(db).as_str()).collect();
            arguments::no_function(&name, &names)
        });
    }
    let offset = match (wanted.position, wanted.offset) {
        (Some(position), _) => sight.document.offset(position, sight.encoding),
        (None, Some(offset)) => Some(offset.into()),
        (None, None) => None,
    };
    match offset {
        Some(offset) => ide::place::def_at(db, file, offset)
            .map(|(_, def)| def)
            .filter(runs)
            .ok_or_else(|| "there is no function at this place".to_owned()),
        None => {
            let named = defs().find(|def| def.name(db).as_str() == "@main");
            named.or_else(|| defs().next()).ok_or_else(|| "this file has no function".to_owned())
        }
    }
}
