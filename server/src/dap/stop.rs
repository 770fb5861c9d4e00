//! Stops of a run, and what the session and the run tell each other.

use std::sync::Arc;

use interpreter::{Call, CallVariable, Calls, Value};
use rustc_hash::FxHashSet;
use semantics::SourceFile;
use syntax::TextRange;

use super::{edits::Edits, position::Position, transport::Input};

/// The number of innermost calls that a stop shows.
const MAX_INNER: usize = 500;
/// The number of outermost calls that a stop shows.
const MAX_OUTER: usize = 100;

/// The kind of event that a repetition looks for.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A breakpoint or a filter that holds.
    Breakpoint,
    /// A point of one of the calls with these numbers.
    Point { calls: Arc<FxHashSet<u64>> },
    /// The point of a call at a place. Without one, the run returns to its origin.
    Place { serial: u64, place: TextRange, origin: Position },
}

/// What a run that goes on stops at.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    /// Breakpoints and filters.
    Breakpoint,
    /// The first point.
    Entry,
    /// The next point.
    Into,
    /// The next point of the same call, or of one around it.
    Over { serial: u64, depth: usize },
    /// The next point of a call around it.
    Out { depth: usize },
    /// A position, in a repeated run.
    Position { at: Position, reason: Reason },
    /// A position, in a repeated run that then goes on.
    Through { at: Position, then: Box<Goal> },
    /// The first point of a call, in a repeated run.
    Call { serial: u64 },
    /// The last event of a kind before a position, in repeated runs: the first ones search for it.
    Last { target: Target, before: Position },
}

impl Goal {
    /// Returns true while the run repeats what was reported before.
    pub(super) fn is_repetition(&self) -> bool {
        matches!(
            self,
            Goal::Position { .. } | Goal::Through { .. } | Goal::Call { .. } | Goal::Last { .. }
        )
    }
}

/// The reason of a stop.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Reason {
    Entry,
    Step,
    Pause,
    Goto,
    Breakpoint(Vec<i64>),
    FunctionBreakpoint(Vec<i64>),
    Exception(Exception),
}

/// The name of a filter, and what it found.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Exception {
    /// The filter; the code of a failure.
    pub(super) id: String,
    /// What was found.
    pub(super) description: String,
}

/// A run that stopped.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) reason: Reason,
    /// The calls, the innermost first.
    pub(super) calls: Vec<StoppedCall>,
    /// The number of calls in the middle that are left out, and the number of those before them.
    pub(super) omitted: Option<(usize, usize)>,
    /// The position.
    pub(super) at: Position,
    /// What was set in the run.
    pub(super) edits: Edits,
}

/// A call of a stopped run.
#[derive(Debug)]
pub(super) struct StoppedCall {
    pub(super) call: Call,
    /// The number of calls inside of it.
    pub(super) inner: usize,
    pub(super) variables: Vec<CallVariable>,
}

impl Stop {
    /// Records the calls of a run. The variables of other files are none of the program.
    pub(super) fn new(
        reason: Reason,
        calls: &Calls<'_>,
        file: SourceFile,
        (at, edits): (Position, Edits),
    ) -> Stop {
        let depth = calls.depth();
        let is_long = depth > MAX_INNER + MAX_OUTER;
        let shown = (0..depth)
            .filter(|inner| !is_long || *inner < MAX_INNER || *inner >= depth - MAX_OUTER);
        let stopped = shown.filter_map(|inner| {
            let call = calls.call(inner)?;
            let variables = match call.place.0 == file {
                true => calls.variables(inner),
                false => Vec::new(),
            };
            Some(StoppedCall { call, inner, variables })
        });
        let omitted = is_long.then(|| (depth - MAX_INNER - MAX_OUTER, MAX_INNER));
        Stop { reason, calls: stopped.collect(), omitted, at, edits }
    }
}

/// What the session tells a stopped run.
pub(super) enum Order {
    /// Goes on until a goal.
    Continue(Goal),
    /// Repeats the run until a goal.
    Repeat(Goal),
    /// Goes back by one step.
    StepBack,
    /// Goes back to the last breakpoint.
    ReverseContinue,
    /// Goes back to the last time that a call was at a point.
    Goto { serial: u64, place: TextRange },
    /// Replaces the value of a variable of a call with a number of calls inside of it.
    Set { inner: usize, name: TextRange, value: Value },
}

/// What a session waits for.
pub(super) enum SessionEvent {
    /// A message of the client, or its end.
    Input(Input),
    /// A report of the run.
    Report(Report),
}

/// What a run tells the session.
pub(super) enum Report {
    /// The run stopped.
    Stopped(Stop),
    /// A line for the console, with its place in the program.
    Line { text: String, place: Option<TextRange> },
    /// The run ended with a text for the console and an exit code.
    Ended { text: String, code: i64 },
}
