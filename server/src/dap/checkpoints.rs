//! Snapshots of the run, from which it is repeated up to an earlier event.
//!
//! They are taken at points, a short time apart. If there are too many, or they hold too many bytes, every second one is
//! dropped and the time is doubled, so that they stay spread over the run.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use interpreter::{Calls, Snapshot};
use rustc_hash::FxHashMap;

use super::position::Position;

/// The time between checkpoints at the beginning of a run.
const INTERVAL: Duration = Duration::from_millis(20);
/// The largest number of checkpoints.
const MAX: usize = 128;
/// The number of events between two looks at the clock.
const EVENTS: u64 = 16;

/// A snapshot of the run, and of what its observer had counted.
#[derive(Clone)]
pub(super) struct Checkpoint {
    pub(super) snapshot: Arc<Snapshot>,
    /// The moment before that of its point.
    pub(super) moment: u64,
    /// The numbers of times that breakpoints with hit conditions were reached.
    pub(super) hits: FxHashMap<i64, u64>,
    /// The version of the breakpoints that were counted.
    pub(super) version: u64,
}

impl Checkpoint {
    /// Returns the position of its point.
    pub(super) fn position(&self) -> Position {
        Position { moment: self.moment + 1, results: 0 }
    }
}

/// The checkpoints of a run.
pub(super) struct Checkpoints {
    /// By their moments.
    all: Vec<Checkpoint>,
    bytes: u64,
    interval: Duration,
    /// The time of the last one, or of the beginning of the repetition.
    last: Instant,
    /// The last snapshot, or that from which the run goes on.
    previous: Option<Arc<Snapshot>>,
}

impl Checkpoints {
    pub(super) fn new() -> Checkpoints {
        Checkpoints {
            all: Vec::new(),
            bytes: 0,
            interval: INTERVAL,
            last: Instant::now(),
            previous: None,
        }
    }

    /// Begins a repetition, from a snapshot or from the beginning.
    pub(super) fn begin(&mut self, from: Option<&Arc<Snapshot>>) {
        self.previous = from.cloned();
        self.last = Instant::now();
    }

    /// Returns true if it is time for another one. `is_long` is true after an event that may have taken long.
    pub(super) fn is_due(&self, moment: u64, is_long: bool) -> bool {
        (is_long || moment.is_multiple_of(EVENTS)) && self.last.elapsed() >= self.interval
    }

    /// Takes a checkpoint at a point.
    pub(super) fn take(
        &mut self,
        calls: &mut Calls<'_>,
        moment: u64,
        hits: &FxHashMap<i64, u64>,
        version: u64,
    ) {
        let at = self.all.partition_point(|other| other.moment < moment);
        if self.all.get(at).is_some_and(|next| next.moment == moment) {
            return;
        }
        match calls.snapshot(self.previous.as_ref()) {
            Some(snapshot) => {
                self.previous = Some(snapshot.clone());
                self.bytes += snapshot.bytes();
                let budget = snapshot.budget();
                self.all.insert(at, Checkpoint { snapshot, moment, hits: hits.clone(), version });
                while self.all.len() > MAX || (self.bytes > budget && self.all.len() > 1) {
                    self.thin_out();
                }
            }
            // Large snapshots take long.
            None => self.interval *= 2,
        }
        self.last = Instant::now();
    }

    fn thin_out(&mut self) {
        let mut number = 0;
        self.all.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.bytes = self.all.iter().map(|checkpoint| checkpoint.snapshot.bytes()).sum();
        self.interval *= 2;
    }

    /// Returns the last checkpoint that `is_before` holds for; it holds for those up to a moment.
    pub(super) fn last_before(
        &self,
        is_before: impl Fn(&Checkpoint) -> bool,
    ) -> Option<&Checkpoint> {
        self.all.get(self.all.partition_point(is_before).checked_sub(1)?)
    }

    /// Drops the checkpoints whose points are at a position or after it.
    pub(super) fn forget_from(&mut self, at: Position) {
        self.all.retain(|checkpoint| checkpoint.position() < at);
        self.bytes = self.all.iter().map(|checkpoint| checkpoint.snapshot.bytes()).sum();
    }
}
