//! Values that were set in a stopped run.

use interpreter::{Calls, Value};
use syntax::TextRange;

use super::position::Position;

/// A value that was set in a stopped run.
#[derive(Clone, Debug)]
struct Edit {
    at: Position,
    inner: usize,
    name: TextRange,
    value: Value,
}

/// The values that were set in a stopped run, which its repetitions set as well.
#[derive(Clone, Default, Debug)]
pub(super) struct Edits(Vec<Edit>);

impl Edits {
    /// Sets the variable of a call with a number of calls inside of it, now and in repetitions.
    pub(super) fn set(
        &mut self,
        calls: &mut Calls<'_>,
        at: Position,
        (inner, name): (usize, TextRange),
        value: Value,
    ) {
        if calls.set(inner, name, value.clone()) {
            self.0.push(Edit { at, inner, name, value });
        }
    }

    /// Sets what was set at a position.
    pub(super) fn repeat(&self, calls: &mut Calls<'_>, at: Position) {
        for edit in self.0.iter().filter(|edit| edit.at == at) {
            calls.set(edit.inner, edit.name, edit.value.clone());
        }
    }

    /// Returns true if nothing was set.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if something was set after an operator, and not at a point.
    pub(super) fn needs_results(&self) -> bool {
        self.0.iter().any(|edit| edit.at.has_results())
    }
}
