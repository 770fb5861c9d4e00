//! Snapshots of a run at a point, from which a debugger goes on again.
//!
//! Values are immutable, so that a snapshot shares them with the run; only references are written, and their contents
//! are stored. Frames that have not changed since the previous snapshot are shared with it: a recursion has each of
//! its frames once, however many snapshots there are of it.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{
    Frame, Run,
    calls::Calls,
    retention::{RetainedVariable, bytes_of},
};
use crate::{
    allocate::no_memory,
    fault::Fault,
    value::{Reference, SLOT, Value},
};

/// The largest number of parts of values, besides those of the slots, that a snapshot has.
const MAX_PARTS: usize = 1 << 14;
/// The number of bytes from which a value is counted.
const MAX_SCALAR: u64 = 512;
/// The largest size of a retained value that a snapshot contains, in bytes.
const MAX_RETAINED: u64 = 4 << 10;

/// A run at a point.
#[derive(Debug)]
pub struct Snapshot {
    /// The snapshot that has the frames below.
    below: Option<Arc<Snapshot>>,
    /// The number of frames in `below`.
    shared: usize,
    /// The number of slots in `below`.
    base: usize,
    frames: Vec<Frame>,
    stack: Vec<Value>,
    /// The references of the run, with their contents.
    references: Vec<(Arc<Reference>, Value)>,
    entered: u64,
    fuel: u64,
    has_large: bool,
    exempt: Arc<FxHashSet<usize>>,
    budget: u64,
    bytes: u64,
}

impl Snapshot {
    /// Returns the number of bytes that it holds, without those that it shares with the previous snapshot or with the
    /// arguments of the run. Values that the run holds as well are included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of calls that had been entered.
    pub fn entered(&self) -> u64 {
        self.entered
    }

    /// Returns the number of bytes that the snapshots of the run should hold at most.
    pub fn budget(&self) -> u64 {
        self.budget
    }
}

impl Calls<'_> {
    /// Takes a snapshot, at a point. `previous` is that of the last call, or the one from which the run goes on. `None`
    /// if it would hold more than the budget of all snapshots, or the run has many references.
    pub fn snapshot(&mut self, previous: Option<&Arc<Snapshot>>) -> Option<Arc<Snapshot>> {
        // The innermost of the frames that were there all the time may have changed.
        let mut shared = self.lowest.saturating_sub(1);
        let mut below = previous;
        // Each of them has fewer frames than the one before.
        while let Some(snapshot) = below.filter(|snapshot| snapshot.shared >= shared) {
            below = snapshot.below.as_ref();
        }
        if below.is_none() {
            shared = 0;
        }
        let frames = self.frames.get(shared..)?;
        let base = frames.first()?.base;
        let mut stack = self.stack.get(base..)?.to_vec();
        let large = |entry: &&RetainedVariable| entry.bytes > MAX_RETAINED && entry.at >= base;
        for entry in self.retention.entries().filter(large) {
            if let Some(slot) = stack.get_mut(entry.at - base) {
                *slot = Value::Released;
            }
        }
        let references = self.references.contents()?;
        let budget = self.retention.budget();
        let exempt = self.retention.exempted();
        let mut bytes = size_of_val(frames) as u64;
        let mut left = MAX_PARTS + 4 * stack.len();
        let contents = references.iter().map(|(_, content)| content);
        for value in stack.iter().chain(contents) {
            bytes += match value {
                Value::Empty | Value::Released => SLOT,
                // The run mostly holds the scalars of its frames as well.
                value => match bytes_of(value, exempt, &mut left)? {
                    ..MAX_SCALAR => SLOT,
                    bytes => bytes,
                },
            };
            if bytes > budget {
                return None;
            }
        }
        let mut frames = frames.to_vec();
        // The point is reached again.
        let innermost = frames.last_mut()?;
        innermost.pc = innermost.pc.checked_sub(1)?;
        *self.lowest = self.frames.len();
        Some(Arc::new(Snapshot {
            below: below.cloned(),
            shared,
            base,
            frames,
            stack,
            references,
            entered: self.entered,
            fuel: self.fuel,
            has_large: self.has_large,
            exempt: exempt.clone(),
            budget,
            bytes,
        }))
    }
}

impl Run<'_, '_, '_> {
    /// Continues from a snapshot.
    ///
    /// # Errors
    /// There is no memory for the frames.
    pub(super) fn restore(&mut self, snapshot: &Arc<Snapshot>) -> Result<(), Fault> {
        let depth = snapshot.shared + snapshot.frames.len();
        let slots = snapshot.base + snapshot.stack.len();
        let reserved = self.stack.try_reserve(slots).and_then(|()| self.frames.try_reserve(depth));
        reserved.map_err(|_| no_memory(SLOT * slots as u64))?;
        // The innermost snapshot first, each with the frames that it has of those below.
        let mut parts = vec![(&**snapshot, snapshot.frames.len(), snapshot.stack.len())];
        let mut above = &**snapshot;
        while let Some(below) = &above.below {
            let frames = above.shared.saturating_sub(below.shared);
            parts.push((below, frames, above.base.saturating_sub(below.base)));
            above = below;
        }
        for (part, frames, slots) in parts.into_iter().rev() {
            self.frames.extend(part.frames.iter().take(frames).cloned());
            self.stack.extend(part.stack.iter().take(slots).cloned());
        }
        for (cell, content) in &snapshot.references {
            cell.set(content.clone());
            self.references.add(&Value::Ref(cell.clone()));
        }
        (self.entered, self.fuel) = (snapshot.entered, snapshot.fuel);
        self.has_large = snapshot.has_large;
        self.retention.restore(snapshot.exempt.clone(), snapshot.budget);
        self.lowest = self.frames.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Event, Flow, Observer,
        machine::observed::{run, zeros},
    };

    /// Records all points and variables, and takes snapshots at the points.
    #[derive(Default)]
    struct Recorder {
        log: Vec<String>,
        /// Each with the length of the log before its point.
        snapshots: Vec<(usize, Arc<Snapshot>)>,
        /// The number of points without a snapshot.
        without: usize,
    }

    impl Observer for Recorder {
        fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
            if let Event::Reached = event {
                let previous = self.snapshots.last().map(|(_, snapshot)| snapshot);
                match calls.snapshot(previous) {
                    Some(snapshot) => self.snapshots.push((self.log.len(), snapshot)),
                    None => self.without += 1,
                }
            }
            let variables = calls.variables(0);
            self.log.push(format!("{event:?} {} {variables:?}", calls.depth()));
            Flow::Continue
        }

        fn retains(&self) -> bool {
            true
        }
    }

    const COUNTING: &str = "
        def @count(%r: ref(int32), %n: int32) -> int32 {
          let %old = ref_read(%r);
          if (equal(%n, 0)) { %old } else {
            let %u = ref_write(%r, add(%old, %n));
            let %rest = @count(%r, subtract(%n, 1));
            subtract(%rest, %n)
          }
        }
        def @main(%n: int32) {
          let %r = ref(0);
          let %f = fn (%m: int32) { let %a = @count(%r, %m); add(%a, %n) };
          let %a = %f(%n);
          let %b = %f(3);
          add(%b, ref_read(%r))
        }";

    /// A run from any snapshot is the rest of the run, with the contents of references of that moment.
    #[test]
    fn runs_go_on_from_snapshots() {
        let number = Value::from(crate::Tensor::scalar(4));
        let mut whole = Recorder::default();
        let result = run(COUNTING, vec![number], &mut whole, |machine, whole| {
            assert!(whole.snapshots.len() > 20 && whole.without == 0);
            // The last one first: the references have other contents then.
            for (at, snapshot) in whole.snapshots.iter().rev() {
                let mut rest = Recorder::default();
                machine.resume(snapshot, &mut rest).expect("a result");
                assert_eq!(rest.log, whole.log[*at..]);
            }
        });
        let result = result.expect("a result");
        assert_eq!(result.as_tensor().and_then(|tensor| tensor.get_f64(0)), Some(30.0));
    }

    const DEEP: &str = "
        def @deep(%n: int32) -> int32 {
          if (equal(%n, 0)) { 0 } else {
            let %rest = @deep(subtract(%n, 1));
            add(%rest, 1)
          }
        }
        def @main(%n: int32) { @deep(%n) }";

    /// Adds up the bytes of snapshots with and without those before.
    #[derive(Default)]
    struct Deep {
        last: Option<Arc<Snapshot>>,
        shared: u64,
        alone: u64,
    }

    impl Observer for Deep {
        fn event(&mut self, event: Event<'_>, calls: &mut Calls<'_>) -> Flow {
            if let Event::Reached = event {
                let lowest = *calls.lowest;
                self.alone += calls.snapshot(None).map_or(0, |snapshot| snapshot.bytes());
                *calls.lowest = lowest;
                self.last = calls.snapshot(self.last.as_ref());
                self.shared += self.last.as_ref().map_or(0, |snapshot| snapshot.bytes());
            }
            Flow::Continue
        }
    }

    #[test]
    fn frames_of_a_recursion_are_shared() {
        let mut observer = Deep::default();
        run(DEEP, vec![crate::Tensor::scalar(300).into()], &mut observer, |_, _| {})
            .expect("a result");
        let Deep { last, shared, alone } = observer;
        assert!(last.is_some_and(|last| last.entered() == 302), "all calls were entered");
        assert!(shared * 20 < alone, "{shared} of {alone} bytes");
    }

    /// Values larger than the budget prevent snapshots, unless they are arguments.
    #[test]
    fn snapshots_have_a_budget() {
        let count = 5 << 20;
        let text = format!(
            "def @main(%x: Tensor[({count}), float32]) {{
               let %y = exp(%x);
               let %z = sum(%y);
               add(%z, add(sum(%y), sum(%x)))
             }}"
        );
        let mut observer = Recorder::default();
        run(&text, vec![zeros(count)], &mut observer, |_, _| {}).expect("a result");
        // Before the definition and before `%y`; not before `%z` and the result.
        assert_eq!((observer.snapshots.len(), observer.without), (2, 2));
        assert!(observer.snapshots.iter().all(|(_, one)| one.bytes() < one.budget()));
    }
}
