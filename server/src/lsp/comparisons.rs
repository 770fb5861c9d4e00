//! `relay/compareValues`, `relay/comparedTensors` and `relay/passErrors`: runs modules on the same arguments, and compares
//! what they compute.
//!
//! A comparison has its own thread and its own databases: a snapshot of the owner's database would block changes until
//! the runs end. It counts as a run, shows progress as one, and ends soon after the request or its progress is
//! cancelled; the response does not wait for that.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use diff::{Comparand, Options};
use ide::layers::{FunctionLayers, Grouping};
use serde::Deserialize;
use syntax::{Encoding, LineColumn, LineIndex, TextRange};
use tokio::sync::{
    mpsc::{UnboundedSender, unbounded_channel},
    oneshot,
};
use tower_lsp::{
    jsonrpc::{Error, Result},
    lsp_types::{NumberOrString, Position, Range, TextDocumentIdentifier, Url},
};

use super::{
    config::Config,
    convert,
    event::{Event, Mailbox},
    handlers::between::{Side, log_of},
    outgoing::Progress,
    overlays::{DocumentVersion, Overlays},
    request::request_failed,
    runs::{Cancel, CancelGuard, DELAY, Entry, Runs, setting},
    snapshot::Snapshot,
    tasks,
};
use crate::{
    analyzer::Analyzer,
    input::Log,
    panics,
    protocol::{
        PassError, PassErrorState, PassErrors, RememberedArguments, TensorView, ValueComparison,
    },
    report::{
        compare::{self as report, Calls, error_amount, error_overlays, value_comparison},
        diff::ShownModule,
        escape::terminal,
    },
    run::{
        arguments::Inputs,
        bisect::{LogRuns, NoModuleRun, Obstacle},
        compare::{
            self, CallPair, Candidate, Comparison, ComparisonSettings, NotRun, candidates,
            compare_with, values_of,
        },
        execute::Selection,
        tensor_view::{NamedTensor, ViewOptions},
    },
};

/// The stack size, for the deepest nesting that is parsed.
const STACK: usize = 16 << 20;

/// How functions of both modules are run.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunChoice {
    /// `@main`
    function: Option<String>,
    /// The arguments; others are those that are remembered of the first module, or else random.
    #[serde(default, flatten)]
    inputs: RememberedArguments,
    /// Takes no remembered arguments.
    #[serde(default)]
    exact: bool,
    /// The token of the progress, if the client shows its own.
    work_done_token: Option<NumberOrString>,
}

/// The parameters of `relay/compareValues`.
#[derive(Clone, Deserialize)]
pub(super) struct ValuesParams {
    before: Side,
    after: Side,
    #[serde(flatten)]
    run: RunChoice,
}

/// The parameters of `relay/comparedTensors`.
#[derive(Clone, Deserialize)]
pub(super) struct TensorsParams {
    #[serde(flatten)]
    modules: ValuesParams,
    pair: PairRanges,
    /// What the view shows.
    #[serde(default)]
    view: ViewOptions,
}

/// The calls of a pair.
#[derive(Clone, Copy, Deserialize)]
struct PairRanges {
    before: Range,
    after: Range,
}

/// The parameters of `relay/passErrors`.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PassErrorsParams {
    text_document: TextDocumentIdentifier,
    #[serde(flatten)]
    run: RunChoice,
}

/// The state of the server that a comparison uses, as of its start.
pub(super) struct Context {
    run: RunChoice,
    config: Arc<Config>,
    encoding: Encoding,
    /// The document whose remembered arguments are used, and its workspace folder.
    uri: Url,
    folder: Option<PathBuf>,
    /// Receives the errors of open documents.
    overlays: Arc<Overlays>,
}

/// Two modules to compare.
pub(super) struct Modules {
    before: NamedText,
    after: NamedText,
    context: Context,
}

/// A pair of calls whose values are shown.
pub(super) struct PairTensors {
    modules: Modules,
    pair: PairRanges,
    view: ViewOptions,
}

/// A log whose modules are compared with the first one.
pub(super) struct Passes {
    log: Arc<Log>,
    context: Context,
}

struct NamedText {
    name: String,
    text: String,
    /// The document, if it is an open one.
    document: Option<DocumentVersion>,
}

impl Context {
    fn new(snapshot: &Snapshot, uri: Url, run: RunChoice) -> Context {
        let folder = snapshot.session.workspace.folder_of(&uri);
        let (config, encoding) = (snapshot.config.clone(), snapshot.encoding);
        let overlays = snapshot.session.overlays.clone();
        Context { run, config, encoding, uri, folder, overlays }
    }

    /// Returns the arguments of a function with those that are remembered.
    fn inputs(&self, function: &str) -> std::result::Result<Inputs, String> {
        let memory = Entry::new(self.folder.as_deref(), &self.uri, function);
        let recalled =
            if self.run.exact { RememberedArguments::default() } else { memory.recall()? };
        self.run.inputs.inputs(&recalled, memory.folder(), self.config.outside_files)
    }

    /// Returns the limits and tolerances of a comparison.
    fn setting(&self, cancel: &Cancel) -> ComparisonSettings<'_> {
        ComparisonSettings {
            cancelled: cancel.0.flag.clone(),
            limit_name: setting,
            ..ComparisonSettings::new(&self.config.run)
        }
    }
}

/// Reads the modules of a request.
pub(super) fn modules(snapshot: &Snapshot, params: ValuesParams) -> Result<Modules> {
    let ValuesParams { before, after, run } = params;
    let context = Context::new(snapshot, before.uri().clone(), run);
    let named = |side: Side| {
        let document = side.open_document(snapshot).map(DocumentVersion::of);
        Ok::<_, Error>(NamedText { name: side.name(), text: side.text(snapshot)?, document })
    };
    Ok(Modules { before: named(before)?, after: named(after)?, context })
}

/// Reads the modules of a request for the values of a pair.
pub(super) fn tensors(snapshot: &Snapshot, params: TensorsParams) -> Result<PairTensors> {
    let TensorsParams { modules: both, pair, view } = params;
    Ok(PairTensors { modules: modules(snapshot, both)?, pair, view })
}

/// Reads the log of a request.
pub(super) fn passes(snapshot: &Snapshot, params: PassErrorsParams) -> Result<Passes> {
    let uri = params.text_document.uri;
    let log = log_of(snapshot, &uri)?;
    Ok(Passes { log, context: Context::new(snapshot, uri, params.run) })
}

/// A comparison that can be done on a thread of its own.
pub(super) trait Task: Send + 'static {
    /// The response.
    type Answer: Send + 'static;

    /// Returns the token of the client and the title of the progress.
    fn progress(&self) -> (Option<NumberOrString>, String);

    /// Does the work, which sends its steps.
    ///
    /// # Errors
    /// The message for the user.
    fn work(&self, cancel: &Cancel, steps: &Steps) -> std::result::Result<Self::Answer, String>;
}

/// Receives the steps of a comparison.
pub(super) struct Steps(tokio::sync::mpsc::WeakUnboundedSender<String>);

impl Steps {
    fn tell(&self, step: impl Into<String>) {
        // There is no receiver after a cancellation.
        if let Some(sender) = self.0.upgrade() {
            let _ = sender.send(step.into());
        }
    }
}

/// Does a comparison on a thread of its own. Dropping the future cancels it.
pub(super) async fn run<T: Task>(runs: &Runs, mailbox: &Mailbox, task: T) -> Result<T::Answer> {
    // A thread does not wake the tasks of an embedded server, and a browser has none.
    if tasks::is_embedded() {
        let message = "modules are run side by side on threads, which a browser does not have: \
                       compare them in an editor on your computer";
        return Err(request_failed(message.to_owned()));
    }
    let cancel = Cancel::default();
    let (token, title) = task.progress();
    let create = token.is_none();
    let slot = runs.slot(token, &cancel)?;
    let (sender, messages): (UnboundedSender<String>, _) = unbounded_channel();
    let steps = Steps(sender.downgrade());
    cancel.set_progress(sender);
    mailbox.send(Event::Progress(Progress {
        token: slot.token().clone(),
        title,
        cancellable: true,
        create,
        delay: DELAY,
        messages,
    }));
    let (reply, receiver) = oneshot::channel();
    let guard = CancelGuard(cancel.clone());
    let work = move || {
        let done = panics::caught(|| task.work(&cancel, &steps));
        let done = done.unwrap_or_else(|panicked| Err(panicked.message("this comparison")));
        cancel.end_progress();
        // Fails if the client has cancelled the request.
        let _ = reply.send(done.map_err(request_failed));
        drop(slot);
    };
    let spawned = thread::Builder::new().name("compare".into()).stack_size(STACK).spawn(work);
    if let Err(error) = spawned {
        return Err(request_failed(format!("no thread can be started: {error}")));
    }
    let cancelled = guard.0.clone();
    tokio::select! {
        biased;
        answer = receiver => answer.unwrap_or_else(|_| Err(Error::internal_error())),
        () = cancelled.0.cancelled.notified() => Err(Error::request_cancelled()),
    }
}

/// A module that is ready to be compared.
struct PreparedComparand {
    comparand: Comparand,
    layers: Vec<FunctionLayers>,
    lines: LineIndex,
}

impl NamedText {
    fn prepare(&self) -> std::result::Result<PreparedComparand, String> {
        let mut analyzer = Analyzer::default();
        analyzer.parse(&self.text);
        let (db, file) = analyzer.database();
        let lines = LineIndex::new(&self.text);
        let name = terminal(&self.name);
        if let Some(error) = semantics::first_syntax_error(db, file) {
            let at = lines.line_column(error.range.start(), Encoding::Utf32);
            let (line, column) = (at.line + 1, at.column + 1);
            return Err(format!(
                "`{name}` has a syntax error in line {line}, column {column}: {}",
                error.message
            ));
        }
        let module = semantics::module(db, file, 0);
        let module = module.ok_or_else(|| format!("`{name}` has no module to compare"))?;
        let layers = ide::layers::layers(db, file, Grouping::default()).clone();
        Ok(PreparedComparand { comparand: Comparand::new(db, module), layers, lines })
    }

    /// Returns the name of the function that is run, which is empty for a bare expression.
    fn function_name(&self, function: Option<&str>) -> std::result::Result<String, String> {
        let mut analyzer = Analyzer::default();
        analyzer.parse(&self.text);
        let (db, file) = analyzer.database();
        let def = function.map_or(Selection::Main, Selection::Named).find(db, file)?;
        Ok(def.name(db).to_string())
    }

    /// Returns the range of a call in the text.
    fn call(&self, at: Range, context: &Context) -> std::result::Result<TextRange, String> {
        let lines = LineIndex::new(&self.text);
        let offset = |Position { line, character }: Position| {
            let at = LineColumn { line, column: character };
            lines.offset(at, context.encoding)
        };
        let (start, end) = offset(at.start).zip(offset(at.end)).unwrap_or_default();
        match start < end {
            true => Ok(TextRange::new(start, end)),
            false => Err(format!("`{}` has no call there", terminal(&self.name))),
        }
    }

    fn shown<'t>(&'t self, lines: &'t LineIndex, layers: &'t [FunctionLayers]) -> ShownModule<'t> {
        ShownModule { name: &self.name, text: &self.text, lines, offset: 0, first_line: 0, layers }
    }

    fn side<'t>(&'t self, function: Option<&'t str>) -> compare::Side<'t> {
        compare::Side { text: &self.text, function }
    }
}

/// Returns the message for modules that cannot be compared.
fn message_of(reason: NotRun) -> String {
    let help = reason.help.map(|help| format!(": {help}")).unwrap_or_default();
    format!("the modules cannot be compared: {}{help}", reason.message)
}

impl Task for Modules {
    type Answer = ValueComparison;

    fn progress(&self) -> (Option<NumberOrString>, String) {
        let names = [&self.before.name, &self.after.name].map(|name| terminal(name));
        let title = format!("Running {} and {}", names[0], names[1]);
        (self.context.run.work_done_token.clone(), title)
    }

    fn work(&self, cancel: &Cancel, steps: &Steps) -> std::result::Result<ValueComparison, String> {
        let Modules { before, after, context } = self;
        let end = || match cancel.is_cancelled() {
            true => Err("the comparison was cancelled".to_owned()),
            false => Ok(()),
        };
        steps.tell("pairing calls");
        let function = context.run.function.as_deref();
        let inputs = context.inputs(&before.function_name(function)?)?;
        let a = before.prepare()?;
        end()?;
        let b = after.prepare()?;
        end()?;
        let found = diff::compare_prepared(a.comparand, b.comparand, &Options::default());
        let candidates = candidates(&found.functions);
        let pairs: Vec<CallPair> = candidates.iter().filter_map(Candidate::call_pair).collect();
        end()?;
        let calls = ide::words::counted(pairs.len() as u64, "pair");
        steps.tell(format!("comparing {calls} of calls"));
        let sides = (before.side(function), after.side(function));
        let setting = ComparisonSettings { summarizes: true, ..context.setting(cancel) };
        let compared = compare_with(sides, &pairs, &inputs, &setting).map_err(message_of)?;
        let shown = (before.shown(&a.lines, &a.layers), after.shown(&b.lines, &b.layers));
        let random = compared.arguments.random(inputs.seed.unwrap_or_default());
        let is_guess = found.functions.iter().any(|function| function.is_guess);
        let guess = "the modules have little in common: the pairs are a guess".to_owned();
        let notes = is_guess.then_some(guess).into_iter().chain(random);
        let notes = notes.chain(compared.arguments.warnings.iter().cloned());
        let place_a = |range: TextRange| convert::range(&a.lines, range, context.encoding);
        let place_b = |range: TextRange| convert::range(&b.lines, range, context.encoding);
        let calls = Calls::of(&candidates);
        let places: (&dyn Fn(TextRange) -> _, &dyn Fn(TextRange) -> _) = (&place_a, &place_b);
        let sides = (&shown.0, &shown.1);
        let overlays = error_overlays(&compared, &calls, sides);
        for (of, overlay) in [(before, overlays.0), (after, overlays.1)] {
            if let Some(document) = of.document {
                context.overlays.store(document, overlay);
            }
        }
        Ok(value_comparison(&compared, &calls, sides, notes.collect(), places))
    }
}

impl Task for PairTensors {
    type Answer = TensorView;

    fn progress(&self) -> (Option<NumberOrString>, String) {
        self.modules.progress()
    }

    fn work(&self, cancel: &Cancel, _: &Steps) -> std::result::Result<TensorView, String> {
        let PairTensors { modules: Modules { before, after, context }, pair, view } = self;
        let function = context.run.function.as_deref();
        let inputs = context.inputs(&before.function_name(function)?)?;
        let (one, other) = (before.call(pair.before, context)?, after.call(pair.after, context)?);
        let calls = CallPair { before: one, after: other, is_one_operator: false };
        let sides = (before.side(function), after.side(function));
        let values = values_of(sides, calls, &inputs, &context.setting(cancel));
        let (one, other) = values.map_err(message_of)?;
        let (Some(one), Some(other)) = (one.as_tensor(), other.as_tensor()) else {
            return Err("only tensors have views: the calls have other values".to_owned());
        };
        let shown = NamedTensor { name: &before.name, tensor: one };
        view.view(shown, Some(NamedTensor { name: &after.name, tensor: other }))
    }
}

impl Task for Passes {
    type Answer = PassErrors;

    fn progress(&self) -> (Option<NumberOrString>, String) {
        let title = format!("Running the modules of {}", terminal(&short(&self.log.path)));
        (self.context.run.work_done_token.clone(), title)
    }

    fn work(&self, cancel: &Cancel, steps: &Steps) -> std::result::Result<PassErrors, String> {
        let Passes { log, context } = self;
        let count = log.modules.len();
        let function = context.run.function.clone();
        let runs = LogRuns {
            log,
            // Arguments are not remembered of a log.
            inputs: context.inputs(function.as_deref().unwrap_or("@main"))?,
            function,
            setting: context.setting(cancel),
        };
        let first = runs.first().map_err(|reason| match reason {
            NoModuleRun::Unreadable(message) => message,
            NoModuleRun::Obstacle(at, obstacle) => {
                let reason = obstacle_text(&obstacle);
                format!("no module can be run; module {at}: {reason}")
            }
        })?;
        let mut modules = Vec::new();
        for index in first.index..count {
            if cancel.is_cancelled() {
                return Err("the comparison was cancelled".to_owned());
            }
            steps.tell(format!("module {} of {count}", index + 1));
            let module = runs.module(index)?;
            modules.push(match runs.compare(&first.module, &module) {
                Ok(compared) => pass_error(index, &compared.comparison),
                Err(reason) => {
                    let detail = obstacle_text(&Obstacle::of(&module, reason));
                    let state = PassErrorState::NotRun;
                    PassError { index, state, error: None, text: "not run".to_owned(), detail }
                }
            });
        }
        let differs = modules.iter().find(|module| module.state == PassErrorState::Differs);
        let summary = match differs {
            Some(module) => {
                let pass = log.modules[module.index].pass.as_deref();
                let pass = pass.map(|pass| format!(" (`{}`)", terminal(pass))).unwrap_or_default();
                let (at, first) = (module.index, first.index);
                format!("module {at}{pass} is the first that differs from module {first}")
            }
            None => format!("all modules that can be run compute what module {} does", first.index),
        };
        Ok(PassErrors { first: first.index, summary, modules })
    }
}

/// Returns the error of a module that was run.
fn pass_error(index: usize, compared: &Comparison) -> PassError {
    let state = match compared.is_equal {
        true => PassErrorState::Equal,
        false => PassErrorState::Differs,
    };
    let error = compared.result.as_ref().map(error_amount);
    let text = match &error {
        _ if compared.is_hidden() => "calls differ",
        Some(error) => &error.text,
        None => "other type",
    };
    let text = text.to_owned();
    PassError { index, state, error, text, detail: report::result_text(compared) }
}

/// Returns the reason that a module cannot be run, with the line in the log.
fn obstacle_text(obstacle: &Obstacle) -> String {
    let code = obstacle.code.as_ref().map(|code| format!(" [{code}]")).unwrap_or_default();
    let line = obstacle.position.map(|(line, _)| format!("line {line}: ")).unwrap_or_default();
    format!("{line}{}{code}", obstacle.message)
}

/// Returns the last part of a path.
fn short(path: &str) -> String {
    let name = Path::new(path).file_name();
    name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
