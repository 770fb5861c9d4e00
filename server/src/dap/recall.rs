//! Values of a stopped run that were released: the run is repeated for them.

use std::{sync::Arc, time::Duration};

use interpreter::{Calls, Event, Flow, Limits, Observer, TraceLevel, Value};
use syntax::TextRange;

use super::{edits::Edits, evaluator::Evaluator, position::Position, runner::prepared};
use crate::{
    panics,
    run::execute::{Repeatable, RunObserver},
};

/// The longest time that a repetition takes.
const MAX_TIME: Duration = Duration::from_secs(10);

/// What is needed to repeat a run up to where it stopped.
#[derive(Clone)]
pub(super) struct Recall {
    pub(super) evaluator: Evaluator,
    /// The function of the launch.
    pub(super) function: Option<String>,
    /// Its arguments.
    pub(super) arguments: Arc<Vec<Value>>,
    /// The position of the stop.
    pub(super) at: Position,
    pub(super) edits: Edits,
}

impl Recall {
    /// Returns the values that variables had in a call, those that were found. Their names are given by their ranges.
    ///
    /// # Errors
    /// The repetition takes too long.
    pub(super) fn values(
        &self,
        serial: u64,
        names: &[TextRange],
    ) -> Result<Vec<(TextRange, Value)>, String> {
        let recall = || self.repeat(serial, names);
        panics::caught(recall).map_err(|panicked| panicked.message("the repetition"))?
    }

    fn repeat(&self, serial: u64, names: &[TextRange]) -> Result<Vec<(TextRange, Value)>, String> {
        let program = self.evaluator.program();
        let limits = Limits { time: Some(MAX_TIME), ..program.limits.clone() };
        let prepared = prepared(program, self.function.as_deref(), limits)?;
        let mut runs = Repeatable::new(&prepared);
        runs.trace(TraceLevel::Points);
        let mut search = ValueSearch {
            serial,
            names: names.to_vec(),
            found: Vec::new(),
            now: Position::default(),
            until: self.at,
            edits: &self.edits,
            is_complete: false,
        };
        runs.run_on((*self.arguments).clone(), &mut search);
        match search.is_complete || search.found.len() == names.len() {
            true => Ok(search.found),
            false => Err(format!(
                "the run up to here takes more than {} seconds: set a breakpoint before the use of the variable",
                MAX_TIME.as_secs()
            )),
        }
    }
}

/// Looks for the values of variables in a repetition.
struct ValueSearch<'s> {
    serial: u64,
    /// Those that were not found yet.
    names: Vec<TextRange>,
    found: Vec<(TextRange, Value)>,
    now: Position,
    until: Position,
    edits: &'s Edits,
    /// True if the repetition came to where the run stopped.
    is_complete: bool,
}

impl RunObserver for ValueSearch<'_> {}

impl Observer for ValueSearch<'_> {
    fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
        match &event {
            Event::Called(_) => self.now.results += 1,
            Event::Failed(_) => self.now.results = Position::FAILED,
            Event::Reached | Event::Bound(..) | Event::Calling(_) => self.now.advance(),
        }
        self.edits.repeat(calls, self.now);
        if let Event::Bound(name, value) = event
            && calls.serial(0) == self.serial
            && let Some(at) = self.names.iter().position(|wanted| *wanted == name)
        {
            self.names.swap_remove(at);
            self.found.push((name, value.clone()));
        }
        self.is_complete |= self.now >= self.until;
        match self.is_complete || self.names.is_empty() {
            true => Flow::End,
            false => Flow::Continue,
        }
    }

    fn measures(&self) -> bool {
        self.edits.needs_results()
    }
}
