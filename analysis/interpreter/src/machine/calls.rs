//! The active calls of a run, for a debugger.

use semantics::SourceFile;
use syntax::TextRange;

use super::{Frame, references::References, retention::Retention};
use crate::value::Value;

/// The active calls of a run.
pub struct Calls<'r> {
    pub(super) frames: &'r [Frame],
    pub(super) stack: &'r mut [Value],
    pub(super) retention: &'r Retention,
    pub(super) references: &'r References,
    pub(super) lowest: &'r mut usize,
    pub(super) passed: u64,
    pub(super) entered: u64,
    pub(super) fuel: u64,
    pub(super) has_large: bool,
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
    /// Its value; [`Value::Empty`] if it has none yet, [`Value::Released`] if it has none any more.
    pub value: Value,
    /// True if the function is a function expression and took it from around.
    pub is_captured: bool,
}

impl<'r> Calls<'r> {
    /// Returns the number of events that the run has passed over since the last one that was received.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Returns the number of active calls. A tail call replaces its caller.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number in the run of the call with a number of calls inside of it.
    pub fn serial(&self, inner: usize) -> u64 {
        self.frame(inner).map_or(0, |frame| frame.serial)
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
    /// [`TraceLevel::Points`](crate::TraceLevel::Points) has any.
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
        let depth = self.frames.len().saturating_sub(inner);
        let has_value = |old: &&mut Value| !matches!(old, Value::Empty | Value::Released);
        match self.stack.get_mut(at).filter(has_value) {
            Some(slot) => {
                *slot = value;
                *self.lowest = depth.min(*self.lowest);
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
