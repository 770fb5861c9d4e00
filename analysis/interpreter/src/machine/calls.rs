//! The active calls of a run, for a debugger.

use operators::Operator;
use semantics::SourceFile;
use syntax::TextRange;

use super::{Frame, Run, observer::Measured};
use crate::{
    fault::{Fault, FaultKind},
    value::Value,
};

/// An event at which a debugger can stop.
#[derive(Debug)]
pub enum Event<'e> {
    /// The [point](crate::Point) at the place of the innermost call is reached: what follows it is not evaluated yet.
    Reached,
    /// The variable whose name is at this range got this value.
    Bound(TextRange, &'e Value),
    /// The operator is about to be called.
    Calling(&'static Operator),
    /// An operator was called; only if the observer [measures](super::Observer::measures).
    Called(&'e Measured<'e>),
    /// The run fails, and ends after this event.
    Failed(&'e Fault),
}

/// What a run does after an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// It goes on.
    Continue,
    /// It goes on, and asks the observer again what it receives.
    Refresh,
    /// It ends with [`FaultKind::Cancelled`].
    End,
}

/// The active calls of a run.
pub struct Calls<'r> {
    frames: &'r [Frame],
    stack: &'r mut [Value],
}

/// An active call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The number of the call in the run. It is the same whenever the run is repeated.
    pub serial: u64,
    /// The definition: `@main`; empty for a bare expression.
    pub function: String,
    /// The file, and the range of the instruction that is being executed.
    pub place: (SourceFile, TextRange),
}

/// A variable of a call.
#[derive(Clone, Debug)]
pub struct CallVariable {
    /// The range of its name where it is bound.
    pub name: TextRange,
    /// Its value; [`Value::Empty`] if it has none yet.
    pub value: Value,
    /// True if the function is a function expression and took it from around.
    pub is_captured: bool,
}

impl<'r> Calls<'r> {
    pub(super) fn new(frames: &'r [Frame], stack: &'r mut [Value]) -> Calls<'r> {
        Calls { frames, stack }
    }

    /// Returns the number of active calls. A tail call replaces its caller.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number of the innermost call in the run.
    pub fn serial(&self) -> u64 {
        self.frames.last().map_or(0, |frame| frame.serial)
    }

    /// Returns the place of the innermost call.
    pub fn place(&self) -> Option<(SourceFile, TextRange)> {
        self.frames.last().map(place)
    }

    /// Returns the call with a number of calls inside of it: 0 is the innermost.
    pub fn call(&self, inner: usize) -> Option<Call> {
        let frame = self.frame(inner)?;
        let function = frame.proc.name.to_string();
        Some(Call { serial: frame.serial, function, place: place(frame) })
    }

    /// Returns the variables of a call in the order of their names in the text. Only code with
    /// [`Tracing::Frames`](crate::Tracing::Frames) has any.
    pub fn variables(&self, inner: usize) -> Vec<CallVariable> {
        let Some(frame) = self.frame(inner) else { return Vec::new() };
        let value = |slot: u32| self.stack.get(frame.base + slot as usize).cloned();
        let variables = frame.proc.variables.iter().map(|variable| CallVariable {
            name: variable.name,
            value: value(variable.slot).unwrap_or(Value::Empty),
            is_captured: variable.is_captured,
        });
        variables.collect()
    }

    /// Replaces the value of a variable that has one. Returns false if there is no such variable.
    pub fn set(&mut self, inner: usize, name: TextRange, value: Value) -> bool {
        let Some(frame) = self.frame(inner) else { return false };
        let mut variables = frame.proc.variables.iter();
        let Some(variable) = variables.find(|variable| variable.name == name) else { return false };
        let at = frame.base + variable.slot as usize;
        match self.stack.get_mut(at).filter(|old| !matches!(old, Value::Empty)) {
            Some(slot) => {
                *slot = value;
                true
            }
            None => false,
        }
    }

    fn frame(&self, inner: usize) -> Option<&'r Frame> {
        self.frames.get(self.frames.len().checked_sub(inner + 1)?)
    }
}

fn place(frame: &Frame) -> (SourceFile, TextRange) {
    let range = frame.proc.places.get(frame.pc.saturating_sub(1)).copied();
    (frame.proc.file, range.unwrap_or_default())
}

impl Run<'_, '_, '_> {
    /// Sends an event to the observer.
    pub(super) fn event(&mut self, event: Event<'_>) -> Result<(), Fault> {
        let Some(observer) = &mut self.observer else { return Ok(()) };
        let flow = observer.event(event, &mut Calls::new(&self.frames, &mut self.stack));
        self.follow(flow)
    }

    /// Does what the observer answers.
    pub(super) fn follow(&mut self, flow: Flow) -> Result<(), Fault> {
        match flow {
            Flow::Continue => Ok(()),
            Flow::Refresh => {
                self.measures = self.observer.as_ref().is_some_and(|seen| seen.measures());
                Ok(())
            }
            Flow::End => Err(Fault::new(FaultKind::Cancelled, "the debugger ended the run")),
        }
    }
}
