//! The values of variables after their last use.
//!
//! A run releases a value at its last use, and operators may work in its memory. While a debugger is looking, the
//! variables of active calls keep their values as long as these are small together: of more, the first ones are
//! released.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use syntax::TextRange;

use super::Run;
use crate::value::{SLOT, TENSOR_OVERHEAD, Value};

/// The least number of bytes of retained values.
const MIN_BUDGET: u64 = 4 << 20;
/// The least number of bytes of snapshots: the frames of a deep recursion take some.
const MIN_SNAPSHOTS: u64 = 16 << 20;
/// The part of the bytes of the arguments that retained values may have.
const PART: u64 = 32;
/// The largest number of parts of a value that is retained.
const MAX_PARTS: usize = 1 << 8;

/// The values that variables keep after their last use.
pub(super) struct Retention {
    /// True if variables keep their values.
    pub(super) is_on: bool,
    /// The ranges of the names of variables that keep their values in any case.
    pinned: Arc<FxHashSet<TextRange>>,
    /// The addresses of the arguments of the run, which are not released anyway.
    exempt: Arc<FxHashSet<usize>>,
    budget: u64,
    /// The bytes of the entries.
    bytes: u64,
    /// The oldest first. Those of inner calls follow those of outer ones.
    entries: VecDeque<RetainedVariable>,
}

/// A variable that keeps its value.
#[derive(Clone, Copy)]
pub(super) struct RetainedVariable {
    /// The number of its call.
    serial: u64,
    /// Its index in the stack.
    pub(super) at: usize,
    /// The bytes of the value.
    pub(super) bytes: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention {
            is_on: false,
            pinned: Arc::default(),
            exempt: Arc::default(),
            budget: MIN_BUDGET,
            bytes: 0,
            entries: VecDeque::new(),
        }
    }
}

impl Retention {
    /// Sets the arguments of the run. They cost nothing, and the budget follows their size.
    pub(super) fn exempt(&mut self, args: &[Value]) {
        let tensors = args.iter().filter_map(Value::shared);
        let bytes: u64 = tensors.clone().map(|tensor| tensor.bytes() as u64).sum();
        self.exempt = Arc::new(tensors.map(|tensor| tensor.address()).collect());
        self.budget = MIN_BUDGET.max(bytes / PART);
    }

    /// Returns the addresses of the arguments of the run.
    pub(super) fn exempted(&self) -> &Arc<FxHashSet<usize>> {
        &self.exempt
    }

    /// Returns the largest number of bytes that all snapshots of the run may hold.
    pub(super) fn budget(&self) -> u64 {
        self.budget.max(MIN_SNAPSHOTS)
    }

    /// Sets the addresses and the budget of the run that a snapshot is of.
    pub(super) fn restore(&mut self, exempt: Arc<FxHashSet<usize>>, budget: u64) {
        (self.exempt, self.budget) = (exempt, budget);
    }

    /// Returns the variables that keep their values.
    pub(super) fn entries(&self) -> impl Iterator<Item = &RetainedVariable> {
        self.entries.iter()
    }

    /// Sets what the observer needs.
    pub(super) fn set(&mut self, is_on: bool, pinned: Arc<FxHashSet<TextRange>>) {
        (self.is_on, self.pinned) = (is_on, pinned);
    }

    /// Returns the bytes of a value; `None` if it is too large to be retained, or of unknown size.
    fn bytes_of(&self, value: &Value) -> Option<u64> {
        let bytes = bytes_of(value, &self.exempt, &mut { MAX_PARTS })?;
        (bytes <= self.budget / 2).then_some(bytes)
    }
}

/// Returns the bytes of a value without those at `known` addresses; `None` if it has more parts than are `left`.
pub(super) fn bytes_of(value: &Value, known: &FxHashSet<usize>, left: &mut usize) -> Option<u64> {
    let mut bytes = 0;
    let mut contents: SmallVec<[Value; 4]> = smallvec![value.clone()];
    while let Some(value) = contents.pop() {
        *left = left.checked_sub(1)?;
        bytes += 2 * SLOT;
        match &value {
            Value::Tensor(tensor) if known.contains(&tensor.address()) => {}
            Value::Tensor(tensor) => bytes += tensor.held() as u64 + TENSOR_OVERHEAD,
            Value::Tuple(_) => {
                contents.extend(value.as_tuple().unwrap_or_default().iter().cloned())
            }
            Value::Data(data) => contents.extend(data.fields().iter().cloned()),
            Value::Closure(closure) => contents.extend(closure.captured().iter().cloned()),
            Value::Ref(cell) => contents.push(cell.get()),
            Value::Unknown(_) | Value::Empty | Value::Released => {}
        }
        if contents.len() > *left {
            return None;
        }
    }
    Some(bytes)
}

impl Run<'_, '_, '_> {
    /// Returns the value of a variable at its last use. The variable keeps it if it may.
    pub(super) fn last_use(&mut self, at: usize) -> Value {
        if !self.retention.is_on {
            return std::mem::replace(&mut self.stack[at], Value::Released);
        }
        self.retained(at)
    }

    #[cold]
    fn retained(&mut self, at: usize) -> Value {
        if self.is_pinned(at) {
            return self.stack[at].clone();
        }
        let Some(bytes) = self.retention.bytes_of(&self.stack[at]) else {
            return std::mem::replace(&mut self.stack[at], Value::Released);
        };
        let serial = self.frames.last().map_or(0, |frame| frame.serial);
        self.retention.bytes += bytes;
        self.retention.entries.push_back(RetainedVariable { serial, at, bytes });
        let value = self.stack[at].clone();
        while self.retention.bytes > self.retention.budget
            && let Some(oldest) = self.retention.entries.pop_front()
        {
            self.retention.bytes -= oldest.bytes;
            let old = std::mem::replace(&mut self.stack[oldest.at], Value::Released);
            self.discard([old]);
        }
        value
    }

    fn is_pinned(&self, at: usize) -> bool {
        if self.retention.pinned.is_empty() {
            return false;
        }
        let Some(frame) = self.frames.last() else { return false };
        let mut variables = frame.proc.variables.iter();
        variables.any(|variable| {
            frame.base + variable.slot as usize == at
                && self.retention.pinned.contains(&variable.name)
        })
    }

    /// Drops the values of a call that has ended, the last one of the frames.
    pub(super) fn leave(&mut self, serial: u64, base: usize) {
        self.lowest = self.lowest.min(self.frames.len());
        while let Some(last) = self.retention.entries.back().filter(|last| last.serial == serial) {
            self.retention.bytes -= last.bytes;
            self.retention.entries.pop_back();
        }
        self.truncate(base);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Calls, Event, Flow, Observer,
        machine::observed::{names, run, zeros},
    };

    /// Records the variables with a value at the last point of a run.
    struct LastPoint<'t> {
        text: &'t str,
        retains: bool,
        pinned: &'t [&'t str],
        found: Vec<&'t str>,
    }

    impl Observer for LastPoint<'_> {
        fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
            if let Event::Reached = event {
                self.found = names(self.text, calls);
            }
            Flow::Continue
        }

        fn retains(&self) -> bool {
            self.retains
        }

        fn pinned(&self) -> Arc<FxHashSet<TextRange>> {
            let range = |name: &&str| {
                let at = self.text.find(&format!("let {name} ")).expect("a binding") + 4;
                TextRange::at((at as u32).into(), (name.len() as u32).into())
            };
            Arc::new(self.pinned.iter().map(range).collect())
        }
    }

    fn at_the_end<'t>(
        text: &'t str,
        args: Vec<Value>,
        retains: bool,
        pinned: &'t [&'t str],
    ) -> Vec<&'t str> {
        let mut observer = LastPoint { text, retains, pinned, found: Vec::new() };
        run(text, args, &mut observer, |_, _| {}).expect("a result");
        observer.found
    }

    /// Four variables of 1.5 MiB, of which the last one is still used at the end.
    const CHAIN: &str = "
        def @main(%x: Tensor[(1), float32]) {
          let %a = broadcast_to(%x, shape=[393216]);
          let %b = exp(%a);
          let %c = exp(%b);
          let %d = exp(%c);
          sum(%d)
        }";

    #[test]
    fn the_oldest_values_are_released_first() {
        assert_eq!(at_the_end(CHAIN, vec![zeros(1)], false, &[]), ["%d"]);
        assert_eq!(at_the_end(CHAIN, vec![zeros(1)], true, &[]), ["%b", "%c", "%d"]);
    }

    #[test]
    fn pinned_values_are_kept() {
        assert_eq!(
            at_the_end(CHAIN, vec![zeros(1)], true, &["%a"]),
            ["%x", "%a", "%b", "%c", "%d"]
        );
    }

    #[test]
    fn arguments_cost_nothing() {
        let text = "
            def @main(%x: Tensor[(1048576), float32]) {
              let %a = strided_slice(%x, begin=[0], end=[393216]);
              let %b = exp(%a);
              let %c = exp(%b);
              sum(%c)
            }";
        assert_eq!(at_the_end(text, vec![zeros(1 << 20)], true, &[]), ["%x", "%a", "%b", "%c"]);
    }

    #[test]
    fn calls_that_have_ended_keep_nothing() {
        let text = "
            def @inner(%x: Tensor[(1), float32]) {
              let %e = broadcast_to(%x, shape=[393216]);
              let %f = exp(%e);
              let %g = exp(%f);
              sum(%g)
            }
            def @main(%x: Tensor[(1), float32]) {
              let %r = @inner(%x);
              let %s = @inner(%x);
              let %a = broadcast_to(%r, shape=[393216]);
              let %b = exp(%a);
              let %c = exp(%b);
              add(%s, sum(%c))
            }";
        let found = at_the_end(text, vec![zeros(1)], true, &[]);
        // `%x` was the oldest value in the second call.
        assert_eq!(found, ["%r", "%s", "%a", "%b", "%c"]);
    }

    #[test]
    fn the_parts_of_a_value_are_counted_to_a_limit() {
        let one = zeros(256);
        let bytes = |value: &Value, known: &FxHashSet<usize>, parts: usize| {
            bytes_of(value, known, &mut { parts })
        };
        let none = FxHashSet::default();
        let single = bytes(&one, &none, 1).expect("one part");
        assert!(single >= 1024, "{single}");
        let pair = Value::tuple([one.clone(), one.clone()]);
        assert!(bytes(&pair, &none, 3).is_some_and(|bytes| bytes > 2 * 1024));
        assert_eq!(bytes(&pair, &none, 2), None);
        let known: FxHashSet<usize> =
            one.shared().map(|tensor| tensor.address()).into_iter().collect();
        assert!(bytes(&pair, &known, 3).is_some_and(|bytes| bytes < 1024));
    }
}
