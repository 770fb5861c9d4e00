//! One of the calls of a function in the last run: the function that was run is run again, on the same arguments, up to
//! the end of that call, and the values of its variables are then those that the document shows.

use std::collections::HashMap;

use interpreter::{Calls, Event, Flow, Observer, PointKind, Value};
use semantics::{Database, SourceFile, View};
use serde::Deserialize;
use syntax::TextRange;
use tower_lsp::lsp_types::Position;

use super::{RunContext, RunOutcome, RunRefusal};
use crate::{
    lsp::live::{CallRecord, Rerun, RunRecord, Watcher},
    protocol::{RunResult, RunStatus},
    run::{
        execute::{RunObserver, RunReport},
        failure,
    },
};

/// The number of a call of a function.
#[derive(Clone, Copy, Deserialize, Debug)]
pub(super) struct CallParams {
    /// A place in the function.
    position: Position,
    /// The number in the order of evaluation, from 1.
    number: Option<u64>,
    /// Without a number: how many calls after the one whose values are shown, or before it if it is negative.
    #[serde(default)]
    step: i64,
}

/// A call of the last run.
pub(super) struct WantedCall<'r> {
    record: &'r RunRecord,
    /// The range of the definition.
    def: TextRange,
    /// The range of the point before its body.
    entry: TextRange,
    /// `@layer`
    name: String,
    number: u64,
    count: u64,
}

impl CallParams {
    /// Returns the call that is wanted.
    ///
    /// # Errors
    /// There is no such call: nothing was run, the text has changed, or there were fewer calls.
    pub(super) fn find<'r>(
        self,
        db: &Database,
        file: SourceFile,
        context: &'r RunContext,
    ) -> Result<WantedCall<'r>, String> {
        let record = context.last_run()?;
        let no_function = "there is no function here that was called in the last run";
        let offset = context.document.offset(self.position, context.encoding);
        let (_, def) =
            offset.and_then(|offset| semantics::def_at(db, file, offset)).ok_or(no_function)?;
        let view = View::new(db, def).ok_or(no_function)?;
        let points = interpreter::points(&view);
        let entry = points.iter().find(|point| point.kind == PointKind::Definition);
        let entry = entry.ok_or(no_function)?.range;
        let range = def.range(db);
        let (shown, count) = record.calls_of(range).ok_or(no_function)?;
        let name = failure::name_of(db, def);
        let number = self.number.unwrap_or(shown.saturating_add_signed(self.step));
        if !(1..=count).contains(&number) {
            let calls = ide::words::counted(count, "call");
            return Err(format!("{name} has {calls} in the last run: there is no call {number}"));
        }
        Ok(WantedCall { record, def: range, entry, name, number, count })
    }
}

impl WantedCall<'_> {
    /// Returns what repeats the run.
    pub(super) fn rerun(&self) -> &Rerun {
        self.record.rerun()
    }

    /// Returns the outcome of a run for one call. The document then shows the values of that call.
    pub(super) fn outcome(
        &self,
        observer: CallObserver<'_>,
        ran: RunReport,
    ) -> Result<RunOutcome, RunRefusal> {
        let CallObserver { call, watcher, numbers, .. } = observer;
        if call.is_none() {
            return Err(RunRefusal::fewer("calls", ran.ending));
        }
        let WantedCall { record, def, name, number, count, .. } = self;
        let call = CallRecord { def: *def, number: *number, count: *count };
        let title = format!("{name}: call {number} of {count}");
        let (record, lines) = record.with_call(&call, watcher, &numbers);
        let mut outcome = RunOutcome::of(RunResult {
            status: RunStatus::Done,
            text: format!("{title}\n\n{lines}"),
            title,
            ..RunResult::default()
        });
        outcome.record = Some(record);
        Ok(outcome)
    }
}

/// Observes the values of variables in one call, and ends the run after it.
pub(super) struct CallObserver<'r> {
    file: SourceFile,
    def: TextRange,
    entry: TextRange,
    /// The number of calls up to the one that is wanted.
    left: u64,
    /// The number of that call in the run, and its depth, once it has begun.
    call: Option<(u64, usize)>,
    watcher: Watcher<'r>,
    /// The number of values that each variable has had.
    counts: HashMap<TextRange, u64>,
    /// The numbers of the values in the call among those of their variables.
    numbers: HashMap<TextRange, u64>,
}

impl<'r> CallObserver<'r> {
    pub(super) fn new(
        file: SourceFile,
        wanted: &WantedCall<'_>,
        watcher: Watcher<'r>,
    ) -> CallObserver<'r> {
        let WantedCall { def, entry, number, .. } = *wanted;
        CallObserver {
            file,
            def,
            entry,
            left: number,
            call: None,
            watcher,
            counts: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    /// Begins with the call if it is the one that is wanted. Its parameters have their values.
    fn enter(&mut self, calls: &Calls<'_>) {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return;
        }
        self.call = Some((calls.serial(0), calls.depth()));
        for variable in calls.variables(0) {
            if !matches!(variable.value, Value::Empty | Value::Released) {
                self.record(variable.name, &variable.value);
            }
        }
    }

    /// Records a value in the call.
    fn record(&mut self, name: TextRange, value: &Value) {
        self.numbers.insert(name, self.counts.get(&name).copied().unwrap_or_default());
        self.watcher.bound((self.file, name), value);
    }
}

impl RunObserver for CallObserver<'_> {}

impl Observer for CallObserver<'_> {
    fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
        if let Some((serial, depth)) = self.call {
            let inner = calls.depth().checked_sub(depth);
            if inner.is_none_or(|inner| calls.serial(inner) != serial) {
                return Flow::End;
            }
        }
        match event {
            Event::Reached
                if self.call.is_none() && calls.place() == Some((self.file, self.entry)) =>
            {
                self.enter(calls);
            }
            Event::Bound(name, value) if self.def.contains_range(name) => {
                *self.counts.entry(name).or_default() += 1;
                if self.call.is_some_and(|(serial, _)| calls.serial(0) == serial) {
                    self.record(name, value);
                }
            }
            _ => {}
        }
        Flow::Continue
    }
}
