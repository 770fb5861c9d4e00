//! One of the values of a variable in the last run, which is not kept: the function is run again, on the same
//! arguments, up to that value.

use std::sync::atomic::Ordering;

use interpreter::{Observer, Value};
use semantics::{Code, Database, SourceFile};
use serde::Deserialize;
use syntax::TextRange;
use tower_lsp::lsp_types::Position;

use super::{
    RunContext, RunOutcome,
    cancel::Cancel,
    results::{ShownValue, failure},
};
use crate::{
    lsp::live::Rerun,
    protocol::{RunResult, RunStatus, ValueView},
    run::{
        self,
        arguments::Arguments,
        execute::{Ending, RunObserver, RunReport},
        tensor_view::{NamedTensor, ViewOptions},
    },
};

/// The number of a value of a variable.
#[derive(Clone, Copy, Deserialize, Debug)]
pub(super) struct ValueParams {
    /// A place where the variable is bound or used.
    pub(super) position: Position,
    /// The number of the value in the order of evaluation, from 1.
    pub(super) number: u64,
}

/// A value of the last run.
pub(super) struct WantedValue<'r> {
    /// The range of the name of the variable.
    range: TextRange,
    name: String,
    number: u64,
    /// The number of values of the variable.
    count: u64,
    /// The run.
    pub(super) rerun: &'r Rerun,
}

impl ValueParams {
    /// Returns the value that is wanted.
    ///
    /// # Errors
    /// There is no such value: nothing was run, the text has changed, or the variable has fewer values.
    pub(super) fn find<'r>(
        self,
        db: &Database,
        file: SourceFile,
        context: &'r RunContext,
    ) -> Result<WantedValue<'r>, String> {
        let document = &context.document;
        let record = context.last_run()?;
        let no_variable = "there is no variable with a value of the last run here";
        let offset = document.offset(self.position, context.encoding).ok_or(no_variable)?;
        let range = ide::live::variable_at(db, file, offset).ok_or(no_variable)?;
        let count = record.count_of(range).ok_or(no_variable)?;
        let name = document.text.collected().get(std::ops::Range::<usize>::from(range));
        let name = name.unwrap_or_default().to_owned();
        let number = self.number;
        if !(1..=count).contains(&number) {
            let values = ide::words::counted(count, "value");
            return Err(format!("{name} has {values} in the last run: there is no value {number}"));
        }
        Ok(WantedValue { range, name, number, count, rerun: record.rerun() })
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
}

/// Waits for one value of a variable, and stops the run then.
pub(super) struct ValueObserver<'r> {
    place: (SourceFile, TextRange),
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
        ValueObserver { place: (file, wanted.range), left: wanted.number, found: None, cancel }
    }

    /// Returns the value, if the run had it.
    pub(super) fn into_value(self) -> Option<Value> {
        if self.found.is_some() {
            self.cancel.0.flag.store(false, Ordering::Relaxed);
        }
        self.found
    }
}

impl RunObserver for ValueObserver<'_> {
    fn started(&mut self, _: &Arguments) {}
}

impl Observer for ValueObserver<'_> {
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        if place != self.place || self.left == 0 {
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

impl RunOutcome {
    /// Returns the outcome of a run for one value, of the function with this name, with the view that is wanted.
    pub(super) fn value(
        wanted: &WantedValue<'_>,
        found: Option<Value>,
        ran: RunReport,
        (function, cancel, view): (&str, &Cancel, Option<&ViewOptions>),
    ) -> RunOutcome {
        let Some(value) = found else {
            return match ran.ending {
                Ending::Refused(error) => RunOutcome::failure(Code::RunInput, error.message),
                Ending::Failed(fault) => {
                    RunOutcome::failure(fault.kind.code(), run::failure::message(&fault))
                }
                Ending::Done(_) => {
                    let message = "the run had fewer values this time: the files of its arguments \
                                   have changed";
                    RunOutcome::failure(Code::RunInput, message.to_owned())
                }
            };
        };
        let WantedValue { name, number, count, .. } = wanted;
        let view = match view.map(|options| wanted.view(options, &value)).transpose() {
            Ok(view) => view.map(Box::new),
            Err(message) => return RunOutcome::failure(Code::RunInput, message),
        };
        let result = match ShownValue::of(&value, cancel) {
            Ok(ShownValue { title, text, value, tensors }) => RunResult {
                status: RunStatus::Done,
                title: format!("{name} ({number} of {count}): {title}"),
                text: format!(
                    "{name}, value {number} of {count} in the run of {function}\n\n{text}"
                ),
                started: None,
                error: None,
                value: Some(value),
                tensors: Some(tensors),
                profile: None,
                not_finite: None,
                view,
            },
            Err(fault) => failure(fault.kind.code(), run::failure::message(&fault), None, None),
        };
        RunOutcome { values: vec![value], ..RunOutcome::of(result) }
    }
}
