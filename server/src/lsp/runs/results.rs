//! The result of a run for editors: its value, the tensors of it, the profile, and the variables with NaN or Inf.

use std::{cell::OnceCell, time::Duration};

use clock::Instant;
use ide::words;
use interpreter::{CallMeasurement, Fault, FaultKind, Observer, Tensor, Value};
use semantics::{Code, Database, Def, Diagnostic, SourceFile};
use syntax::TextRange;
use tower_lsp::lsp_types::Range;

use super::{RunContext, RunParams, cancel::Cancel, remembered::Entry};
use crate::{
    lsp::live::Watcher,
    protocol::{
        NotFinite, Profile, RememberedArguments, RunError, RunResult, RunStatus, Score, StartedRun,
        TensorFacts, TensorText,
    },
    run::{
        self,
        arguments::Arguments,
        execute::{Ending, RunObserver, RunReport},
        failure::{self, Places},
        profile, show,
        summary::Summary,
        top,
    },
};

/// The largest number of elements of a tensor that the response lists; larger ones are summarised.
const MAX_ELEMENTS: usize = 1000;
/// The largest number of tensors of a result in the response.
const MAX_TENSORS: usize = 50;
/// The largest number of rows of each table of the profile.
const MAX_ROWS: usize = 100;

/// Observes the values of variables and the times of operators in a run.
pub(super) struct LiveObserver<'r> {
    pub(super) watcher: Watcher<'r>,
    pub(super) profile: profile::Profile,
    /// The arguments, which are dropped after the response is sent.
    pub(super) values: Vec<Value>,
    /// Where the arguments are remembered, if requested, and these arguments once they were read.
    pub(super) memory: Option<(&'r Entry, &'r OnceCell<RememberedArguments>)>,
    /// Why they could not be remembered.
    pub(super) note: Option<String>,
}

impl RunObserver for LiveObserver<'_> {
    fn started(&mut self, arguments: &Arguments) {
        self.values = arguments.values.clone();
        let chosen = self.memory.and_then(|(memory, chosen)| Some((memory, chosen.get()?)));
        self.note = chosen.and_then(|(memory, chosen)| memory.write(chosen).err());
    }
}

impl Observer for LiveObserver<'_> {
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        let begin = Instant::now();
        self.watcher.bound(place, value);
        self.profile.add_observed(begin.elapsed());
    }

    fn measures(&self) -> bool {
        self.profile.measures()
    }

    fn called(&mut self, call: &CallMeasurement<'_>) {
        let begin = Instant::now();
        self.profile.called(call);
        self.profile.add_observed(begin.elapsed());
    }
}

/// Returns the result of a run that failed before its start.
pub(super) fn failure(
    code: Code,
    message: String,
    help: Option<&str>,
    range: Option<Range>,
) -> RunResult {
    let is_cancelled = code == Code::RunCancelled;
    let whole = match help {
        Some(help) => format!("{message}\n{help}"),
        None => message.clone(),
    };
    RunResult {
        status: if is_cancelled { RunStatus::Cancelled } else { RunStatus::Failed },
        title: message,
        text: format!("error[{code}]: {whole}"),
        error: Some(RunError {
            code: code.name(),
            message: whole,
            help: None,
            arguments: Vec::new(),
            trace: Vec::new(),
            omitted: 0,
            range,
        }),
        ..RunResult::default()
    }
}

/// What the result of a run is made of.
pub(super) struct ResultParts<'r> {
    pub(super) db: &'r Database,
    pub(super) file: SourceFile,
    pub(super) def: Def<'r>,
    pub(super) name: &'r str,
    pub(super) params: &'r RunParams,
    pub(super) context: &'r RunContext,
    pub(super) cancel: &'r Cancel,
    pub(super) seed: u64,
    pub(super) whole: Duration,
}

impl ResultParts<'_> {
    /// Returns the result, and the diagnostic of a failure in the document.
    pub(super) fn render(
        &self,
        ran: &RunReport,
        observer: &LiveObserver<'_>,
    ) -> (RunResult, Option<Diagnostic>) {
        let Some(arguments) = &ran.arguments else {
            let diagnostic = ran.diagnostic(self.db, self.def, setting);
            let result = diagnostic.map(|diagnostic| {
                let range = self.range(diagnostic.range);
                let help = diagnostic.help.as_deref();
                failure(diagnostic.code, diagnostic.message.clone(), help, Some(range))
            });
            let cancelled =
                || failure(Code::RunCancelled, "the run was cancelled".into(), None, None);
            return (result.unwrap_or_else(cancelled), None);
        };
        let uri = &self.params.uri;
        let file_name = uri.path().rsplit('/').next().unwrap_or_default();
        let time = ide::words::duration(ran.time);
        let random = arguments.random(self.seed);
        let mut head = format!("{} of {file_name}: {time}", self.name);
        if let Some(random) = &random {
            head += &format!("; {random}");
        }
        for warning in arguments.warnings.iter().chain(&observer.note) {
            head += &format!("\n{warning}");
        }
        let started = StartedRun {
            function: self.name.to_owned(),
            uri: uri.clone(),
            version: self.context.document.version,
            time: ran.time.into(),
            whole: self.whole.into(),
            drawn: arguments.drawn.clone(),
            seed: self.seed,
            random,
            warnings: arguments.warnings.clone(),
        };
        let shown = match &ran.ending {
            Ending::Done(value) => ShownValue::of(value, self.cancel),
            Ending::Failed(fault) => Err(fault.clone()),
            Ending::Refused(error) => Err(Fault::new(FaultKind::Input, error.message.clone())),
        };
        // The response to a cancelled run does not wait for its tables.
        let has_tables = !self.cancel.is_cancelled();
        let profile = has_tables.then(|| self.profile(ran, observer));
        let not_finite = has_tables.then(|| self.not_finite(observer));
        let started = Some(started);
        match shown {
            Ok(ShownValue { title, text, value, tensors }) => {
                let result = RunResult {
                    status: RunStatus::Done,
                    title: format!("{}: {title} in {time}", self.name),
                    text: format!("{head}\n\n{text}"),
                    started,
                    value: Some(value),
                    tensors: Some(tensors),
                    profile,
                    not_finite,
                    ..RunResult::default()
                };
                (result, None)
            }
            Err(fault) => {
                let is_cancelled = fault.kind == FaultKind::Cancelled;
                let message = match &ran.stopped {
                    _ if is_cancelled => format!("{} was cancelled after {time}", self.name),
                    Some(error) => {
                        let line = self.range(error.range).start.line + 1;
                        let error = failure::summary_of(error);
                        format!("{} stopped at the error on line {line}: {error}", self.name)
                    }
                    None => failure::message(&fault),
                };
                let code = fault.kind.code();
                let lines = &self.context.document.lines;
                let mut places = Places::new(self.db, self.file, file_name, lines);
                let diagnostic = failure::diagnostic(self.db, self.def, &fault, setting);
                let trace = places.trace(&fault);
                let result = RunResult {
                    status: if is_cancelled { RunStatus::Cancelled } else { RunStatus::Failed },
                    text: format!("{head}\n\nerror[{code}]: {message}\n{trace}"),
                    title: message,
                    started,
                    error: Some(places.error(&fault, Some(self.range(diagnostic.range)))),
                    profile,
                    not_finite,
                    ..RunResult::default()
                };
                // The error at which a run stopped is marked by itself.
                let is_marked = !is_cancelled && ran.stopped.is_none();
                (result, is_marked.then_some(diagnostic))
            }
        }
    }

    fn range(&self, range: TextRange) -> Range {
        self.context.document.range(range, self.context.encoding)
    }

    /// Returns the profile, with ranges in the document.
    fn profile(&self, ran: &RunReport, observer: &LiveObserver<'_>) -> Profile<Option<Range>> {
        let mut place =
            |(of, range): (SourceFile, TextRange)| (of == self.file).then(|| self.range(range));
        let layers = self.context.config.layers;
        observer.profile.document(self.db, ran.time, MAX_ROWS, layers, &mut place)
    }

    /// Returns the variables with NaN or Inf, in the order of evaluation.
    fn not_finite(&self, observer: &LiveObserver<'_>) -> Vec<NotFinite> {
        let text = &self.context.document.text;
        let variables = observer.watcher.not_finite().iter().map(|variable| {
            let name = text.get(std::ops::Range::<usize>::from(variable.range));
            let number = |count: usize| words::number(count as u64);
            let counts = [(variable.nan, "NaN"), (variable.infinite, "Inf")];
            let counts = counts.into_iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> =
                counts.map(|(count, what)| format!("{} {what}", number(count))).collect();
            NotFinite {
                name: name.unwrap_or_default().to_owned(),
                range: self.range(variable.range),
                nan: variable.nan,
                infinite: variable.infinite,
                elements: variable.elements,
                text: format!("{} of {}", counts.join(", "), number(variable.elements)),
            }
        });
        variables.collect()
    }
}

/// Returns the setting of a limit.
pub(in crate::lsp) fn setting(limit: &str) -> String {
    format!("relay.run.{limit}")
}

/// A value, formatted.
pub(super) struct ShownValue {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) value: serde_json::Value,
    pub(super) tensors: Vec<TensorText>,
}

impl ShownValue {
    /// Formats a value. That is slow for a large one, and can be cancelled.
    pub(super) fn of(value: &Value, cancel: &Cancel) -> Result<ShownValue, Fault> {
        interpreter::until_cancelled(&cancel.0.flag, || ShownValue {
            value: run::json::within(value, MAX_ELEMENTS),
            title: title(value),
            text: show::human(value),
            tensors: tensors(value),
        })
    }
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

/// Returns the first tensors of a result with summaries of their elements.
fn tensors(value: &Value) -> Vec<TensorText> {
    let mut found = Vec::new();
    collect(value, "result".to_owned(), &mut found);
    found
}

fn collect(value: &Value, name: String, found: &mut Vec<TensorText>) {
    if found.len() >= MAX_TENSORS {
        return;
    }
    match value {
        Value::Tensor(tensor) => found.push(describe(tensor, name)),
        Value::Tuple(_) => {
            for (at, field) in value.as_tuple().unwrap_or_default().iter().enumerate() {
                collect(field, format!("{name}.{at}"), found);
            }
        }
        other => found.push(TensorText { name, text: show::human(other), tensor: None }),
    }
}

fn describe(tensor: &Tensor, name: String) -> TensorText {
    let summary = Summary::of(tensor);
    let text = show::human(&Value::from(tensor.clone()));
    let is_scalar = tensor.shape().is_empty();
    // The first line of an array is its type and summary.
    let rows = text.split_once('\n').filter(|_| !is_scalar).map_or(&*text, |(_, rows)| rows);
    let scores = top::scores(tensor).map(|scores| {
        let score = |(position, value): (Vec<usize>, f64)| Score {
            place: format!("{position:?}"),
            position,
            value,
            text: format!("{value:.4}"),
        };
        scores.into_iter().map(score).collect()
    });
    let facts =
        TensorFacts { elements: tensor.len(), brief: summary.brief(), ty: summary.ty, scores };
    TensorText { name, text: rows.to_owned(), tensor: Some(facts) }
}
