//! The values that the first of two runs gives to the second one.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use interpreter::{PendingCall, Value};
use operators::Operator;
use rustc_hash::FxHashMap;
use types::{Attrs, Type};

/// The number of a pair, and the how manyth of its calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) pair: usize,
    pub(super) count: usize,
}

/// A call of an operator of the first run. Its arguments are kept, so that no other ones get their places in memory.
pub(super) struct GivenCall {
    operator: &'static Operator,
    attrs: Attrs,
    args: Vec<Value>,
    result: Type,
}

impl GivenCall {
    pub(super) fn of(call: &PendingCall<'_>) -> GivenCall {
        let PendingCall { operator, attrs, args, result, .. } = *call;
        GivenCall { operator, attrs: attrs.clone(), args: args.to_vec(), result: result.clone() }
    }

    /// Returns true if another call surely has the same result.
    pub(super) fn is(&self, call: &PendingCall<'_>) -> bool {
        let is_same = |(a, b): (&Value, &Value)| a.is_identical(b, MAX_LEAVES);
        std::ptr::eq(self.operator, call.operator)
            && self.attrs == *call.attrs
            && self.result == *call.result
            && self.args.len() == call.args.len()
            && self.args.iter().zip(call.args).all(is_same)
    }
}

/// A value of the first run.
pub(super) struct GivenValue {
    pub(super) value: Value,
    /// The call that it is the result of, if there was one.
    pub(super) call: Option<GivenCall>,
}

/// The bytes of values that are kept before the first run waits for the second one.
const AHEAD: usize = 64 << 20;

/// The arguments by the names of their parameters.
type NamedValues = Vec<(String, Value)>;

#[derive(Default)]
struct State {
    values: FxHashMap<Key, GivenValue>,
    /// The size of the values in bytes.
    kept: usize,
    arguments: Option<NamedValues>,
    /// The second run waits for a value, which the first one may compute late.
    is_awaited: bool,
    /// The first run has ended.
    is_finished: bool,
    /// The second run has ended.
    is_abandoned: bool,
}

/// Values on their way from the first run to the second one.
#[derive(Default)]
pub(super) struct Exchange {
    state: Mutex<State>,
    changed: Condvar,
}

/// Ends the run of a side when it is dropped, also by a panic.
pub(super) struct Abandon<'e>(&'e Exchange, fn(&mut State));

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        (self.1)(&mut self.0.lock());
        self.0.changed.notify_all();
    }
}

impl Exchange {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Each change is complete, so that a poisoned lock protects valid data.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a guard whose drop ends the first run.
    pub(super) fn finish(&self) -> Abandon<'_> {
        Abandon(self, |state| state.is_finished = true)
    }

    /// Returns a guard whose drop ends the second run.
    pub(super) fn abandon(&self) -> Abandon<'_> {
        Abandon(self, |state| {
            state.is_abandoned = true;
            state.values.clear();
        })
    }

    pub(super) fn set_arguments(&self, arguments: NamedValues) {
        self.lock().arguments = Some(arguments);
        self.changed.notify_all();
    }

    /// Waits for the arguments and takes them; `None` if the first run ended before.
    pub(super) fn arguments(&self) -> Option<NamedValues> {
        let mut state = self.lock();
        while state.arguments.is_none() && !state.is_finished {
            state = self.wait(state);
        }
        state.arguments.take()
    }

    /// Adds a value of the first run, which waits if it is far ahead.
    pub(super) fn give(&self, key: Key, given: GivenValue) {
        let mut state = self.lock();
        if state.is_abandoned {
            return;
        }
        state.kept += bytes(&given.value);
        state.values.insert(key, given);
        self.changed.notify_all();
        while state.kept > AHEAD && !state.is_awaited && !state.is_abandoned {
            state = self.wait(state);
        }
    }

    /// Waits for a value and takes it; `None` if the first run ends without it.
    pub(super) fn take(&self, key: Key) -> Option<GivenValue> {
        let mut state = self.lock();
        loop {
            if let Some(given) = state.values.remove(&key) {
                state.kept = state.kept.saturating_sub(bytes(&given.value));
                state.is_awaited = false;
                self.changed.notify_all();
                return Some(given);
            }
            if state.is_finished {
                return None;
            }
            state.is_awaited = true;
            self.changed.notify_all();
            state = self.wait(state);
        }
    }
}

/// The most parts of a value that are counted and compared.
pub(super) const MAX_LEAVES: usize = 1 << 16;

fn bytes(value: &Value) -> usize {
    let leaves = value.shared_leaves_within(MAX_LEAVES).unwrap_or_default();
    leaves.iter().map(|tensor| tensor.bytes()).sum()
}
