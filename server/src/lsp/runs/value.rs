//! A value that a request wants: the result of the last run or one of the values of a variable in it, which are not kept,
//! so that the function is run again, on the same arguments, up to that value; or a weight, which needs no run.

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use interpreter::{Observer, Value};
use semantics::{Database, SourceFile};
use serde::Deserialize;
use syntax::TextRange;
use tower_lsp::lsp_types::Position;

use super::{
    RunContext, RunOutcome, RunParams, RunRefusal,
    cancel::Cancel,
    results::{ShownValue, failure},
    weight::{self, Weight},
};
use crate::{
    files::{Claims, Target},
    input::shown,
    lsp::{code_views::file_of, live::Rerun},
    paths,
    protocol::{RunResult, RunStatus, ValueView},
    run::{
        self,
        execute::{Ending, RunObserver, RunReport},
        tensor_view::{NamedTensor, ViewOptions},
    },
};

/// The value that a request wants: one of a variable, the result, or a weight.
#[derive(Clone, Deserialize, Debug)]
pub(super) struct ValueParams {
    /// A place where the variable is bound or used, or that of a constant; without it, the result of the run is wanted.
    position: Option<Position>,
    /// The number of the value in the order of evaluation, from 1.
    #[serde(default = "first")]
    number: u64,
    /// The part of a tuple, as the tensors of a result are named: `result.0`.
    part: Option<String>,
}

/// Returns the number of the first value.
fn first() -> u64 {
    1
}

/// The value that was found for a request.
pub(super) enum FoundValue<'r> {
    /// It is known without a run.
    Weight(Weight),
    /// It is computed again.
    Computed(WantedValue<'r>),
}

/// A value of the last run.
pub(super) struct WantedValue<'r> {
    /// The range of the name of the variable; `None` for the result.
    range: Option<TextRange>,
    name: String,
    number: u64,
    /// The number of values of the variable.
    count: u64,
    /// The indices of the part that is wanted.
    path: Vec<usize>,
    /// The run.
    pub(super) rerun: &'r Rerun,
}

impl ValueParams {
    /// Returns the value that is wanted.
    ///
    /// # Errors
    /// There is no such value: nothing was run, the text has changed, or the variable has fewer values.
    pub(super) fn find<'r>(
        &self,
        db: &Database,
        file: SourceFile,
        context: &'r RunContext,
    ) -> Result<FoundValue<'r>, String> {
        let path = self.path()?;
        let suffix: String = path.iter().map(|index| format!(".{index}")).collect();
        let Some(position) = self.position else {
            let rerun = context.last_run()?.rerun();
            let name = format!("result{suffix}");
            let wanted = WantedValue { range: None, name, number: 1, count: 1, path, rerun };
            return Ok(FoundValue::Computed(wanted));
        };
        let document = &context.document;
        let no_variable = "there is no variable with a value of the last run here";
        let offset = document.offset(position, context.encoding).ok_or(no_variable)?;
        if let Some(constant) = weight::constant_at(db, file, offset) {
            return constant.map(FoundValue::Weight);
        }
        let Some(range) = ide::live::variable_at(db, file, offset) else {
            context.last_run()?;
            return Err(no_variable.to_owned());
        };
        let name = document.text.collected().get(std::ops::Range::<usize>::from(range));
        let name = name.unwrap_or_default();
        let counted = context
            .last_run()
            .and_then(|record| Ok((record, record.count_of(range).ok_or(no_variable)?)));
        let (record, count) = match counted {
            Ok(counted) => counted,
            Err(message) => {
                let weight = weight::parameter(db, file, offset, &context.weights);
                return weight.unwrap_or(Err(message)).map(FoundValue::Weight);
            }
        };
        let number = self.number;
        if !(1..=count).contains(&number) {
            let values = ide::words::counted(count, "value");
            return Err(format!("{name} has {values} in the last run: there is no value {number}"));
        }
        let name = format!("{name}{suffix}");
        let rerun = record.rerun();
        Ok(FoundValue::Computed(WantedValue {
            range: Some(range),
            name,
            number,
            count,
            path,
            rerun,
        }))
    }

    /// Returns the indices of the part that is wanted.
    ///
    /// # Errors
    /// The part is not written as `result.0`.
    fn path(&self) -> Result<Vec<usize>, String> {
        let indices = self.part.iter().flat_map(|part| part.split('.').skip(1));
        let parsed = indices.map(str::parse).collect::<Result<_, _>>();
        parsed.map_err(|_| {
            let part = self.part.as_deref().unwrap_or_default();
            format!("`{part}` is no part of a value, such as `result.0`")
        })
    }
}

impl WantedValue<'_> {
    /// Returns the view of the value.
    ///
    /// # Errors
    /// The message for a value that is no tensor, and for a slice that does not fit.
    fn view(&self, options: &ViewOptions, value: &Value) -> Result<ValueView, String> {
        let Value::Tensor(tensor) = value else {
            return Err(format!("{} is {}: only tensors have views", self.name, value.describe()));
        };
        let tensor = options.view(NamedTensor { name: &self.name, tensor }, None)?;
        Ok(ValueView { number: self.number, count: self.count, tensor })
    }

    /// Returns the part of a value that is wanted; `None` if the value has no such part.
    fn part(&self, value: &Value) -> Option<Value> {
        let mut part = value;
        for &index in &self.path {
            part = part.as_tuple()?.get(index)?;
        }
        Some(part.clone())
    }
}

/// Waits for one value of a variable, and stops the run then.
pub(super) struct ValueObserver<'r> {
    /// The variable; none if the result is wanted.
    place: Option<(SourceFile, TextRange)>,
    left: u64,
    found: Option<Value>,
    cancel: &'r Cancel,
}

impl ValueObserver<'_> {
    pub(super) fn new<'r>(
        file: SourceFile,
        wanted: &WantedValue<'_>,
        cancel: &'r Cancel,
    ) -> ValueObserver<'r> {
        let place = wanted.range.map(|range| (file, range));
        ValueObserver { place, left: wanted.number, found: None, cancel }
    }

    /// Returns the value, if the run had it.
    pub(super) fn into_value(self, ran: &RunReport) -> Option<Value> {
        if self.found.is_some() {
            self.cancel.0.flag.store(false, Ordering::Relaxed);
        }
        match &ran.ending {
            Ending::Done(result) if self.place.is_none() => Some(result.clone()),
            _ => self.found,
        }
    }
}

impl RunObserver for ValueObserver<'_> {}

impl Observer for ValueObserver<'_> {
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        if Some(place) != self.place || self.left == 0 {
            return;
        }
        self.left -= 1;
        if self.left == 0 {
            self.found = Some(value.clone());
            // The rest of the run is of no use.
            self.cancel.0.flag.store(true, Ordering::Relaxed);
        }
    }
}

/// What is done with a value.
pub(super) struct ValueUse<'r> {
    view: Option<&'r ViewOptions>,
    /// The file to write it to.
    target: Option<Target>,
    cancel: &'r Cancel,
}

impl ValueUse<'_> {
    /// Returns what a request does with a value of a run.
    ///
    /// # Errors
    /// The value cannot be written to the file that the request names.
    pub(super) fn new<'r>(
        params: &'r RunParams,
        context: &RunContext,
        cancel: &'r Cancel,
        rerun: Option<&Rerun>,
    ) -> Result<ValueUse<'r>, String> {
        let target = params.save.as_ref().map(|uri| {
            let path = paths::of_uri(uri);
            let path = path.ok_or_else(|| format!("{uri} is not a file of this machine"))?;
            if path.extension().is_none_or(|extension| extension != "npy") {
                return Err(format!("`{}` is no `.npy` file: name one", shown(&path)));
            }
            // No file that the run reads is replaced.
            let folder = context.folder.as_deref().unwrap_or(Path::new(""));
            let all = rerun.iter().flat_map(|rerun| [&rerun.given, &rerun.recalled]);
            let read: Vec<PathBuf> = all.flat_map(|arguments| arguments.files(folder)).collect();
            let claims = Claims::default().read_all(&file_of(&params.uri)).read_all(&read);
            claims.read_all(&context.weights).write_regular(&path)
        });
        Ok(ValueUse { view: params.view.as_ref(), target: target.transpose()?, cancel })
    }

    /// Writes a value to the file. Returns a title of that.
    ///
    /// # Errors
    /// The message for a value that is no tensor, or a file that cannot be written.
    fn saved(target: &Target, value: &Value) -> Result<String, String> {
        let Value::Tensor(tensor) = value else {
            return Err(format!("only tensors can be saved, not {}", value.describe()));
        };
        let written = target.write(|out| arrays::write_npy(out, tensor));
        written.map_err(|error| target.error(&error))?;
        Ok(format!("saved {}", tensor.ty()))
    }
}

impl RunOutcome {
    /// Returns the outcome of a run for one value, of the function with this name, with the view that is wanted.
    pub(super) fn value(
        wanted: &WantedValue<'_>,
        found: Option<Value>,
        ran: RunReport,
        (function, usage): (&str, &ValueUse<'_>),
    ) -> Result<RunOutcome, RunRefusal> {
        let value = found.ok_or_else(|| RunRefusal::fewer("values", ran.ending))?;
        let WantedValue { name, number, count, .. } = wanted;
        let value = wanted.part(&value).ok_or_else(|| format!("the value has no part `{name}`"))?;
        let view = usage.view.map(|options| wanted.view(options, &value)).transpose()?;
        let head = format!("{name}, value {number} of {count} in the run of {function}");
        RunOutcome::shown(value, (&format!("{name} ({number} of {count})"), &head), view, usage)
    }

    /// Returns the outcome of a request for a weight, for which nothing is run.
    pub(super) fn weight(weight: Weight, usage: &ValueUse<'_>) -> Result<RunOutcome, RunRefusal> {
        let Weight { name, tensor } = weight;
        let named = NamedTensor { name: &name, tensor: &tensor };
        let view = usage.view.map(|options| options.view(named, None)).transpose()?;
        let view = view.map(|tensor| ValueView { number: 1, count: 1, tensor });
        RunOutcome::shown(Value::from(tensor), (&name, &name), view, usage)
    }

    /// Returns the outcome with a value, which has a title and a head above its text.
    fn shown(
        value: Value,
        (name, head): (&str, &str),
        view: Option<ValueView>,
        usage: &ValueUse<'_>,
    ) -> Result<RunOutcome, RunRefusal> {
        let saved =
            usage.target.as_ref().map(|target| ValueUse::saved(target, &value)).transpose()?;
        let result = match ShownValue::of(&value, usage.cancel) {
            Ok(ShownValue { title, text, value, tensors }) => RunResult {
                status: RunStatus::Done,
                title: format!("{name}: {}", saved.unwrap_or(title)),
                text: format!("{head}\n\n{text}"),
                value: Some(value),
                tensors: Some(tensors),
                view: view.map(Box::new),
                ..RunResult::default()
            },
            Err(fault) => failure(fault.kind.code(), run::failure::message(&fault), None, None),
        };
        Ok(RunOutcome { values: vec![value], ..RunOutcome::of(result) })
    }
}
