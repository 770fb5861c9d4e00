//! Limits of an evaluation.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    fault::{Fault, FaultKind},
    interrupt,
    spare::Spare,
};

/// Limits of an evaluation; what is `None` is not limited.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Calls of functions and operators.
    pub fuel: Option<u64>,
    /// Bytes of all values that are alive together. No allocation that is larger is made; what an
    /// operator needs beside its result, and a result whose size shows only when it is there, may
    /// take as much again while the call lasts.
    pub memory: Option<u64>,
    /// Time from the beginning, which is that of [`Machine::begin`](crate::Machine::begin) where
    /// arguments are read before.
    pub time: Option<Duration>,
    /// Calls that are under way together: how deep a recursion goes that is not in tail position.
    pub depth: Option<usize>,
}

impl Limits {
    /// Limits for runs that nobody watches: a billion calls, eight gigabytes, ten minutes,
    /// recursion of ten million.
    pub fn generous() -> Limits {
        Limits {
            fuel: Some(1_000_000_000),
            memory: Some(8 << 30),
            time: Some(Duration::from_secs(600)),
            depth: Some(10_000_000),
        }
    }

    /// Returns these limits with those that `over` has, which take precedence.
    pub fn overlaid(&self, over: &Limits) -> Limits {
        Limits {
            fuel: over.fuel.or(self.fuel),
            memory: over.memory.or(self.memory),
            time: over.time.or(self.time),
            depth: over.depth.or(self.depth),
        }
    }
}

/// The limits of work that has begun: asked again and again whether to go on.
#[derive(Clone, Debug)]
pub struct Watch {
    cancelled: Arc<AtomicBool>,
    deadline: Option<(Instant, Duration)>,
    memory: Option<u64>,
    /// Bytes of what is alive beside the work, where they are known.
    held: u64,
    /// Buffers of what the run has dropped.
    spare: Arc<Spare>,
}

impl Watch {
    /// Begins: time counts from now on. The flag ends the work soon after it is set.
    pub fn new(limits: &Limits, cancelled: Arc<AtomicBool>) -> Watch {
        let deadline = limits.time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        let spare = Arc::new(Spare::new(limits.memory));
        Watch { cancelled, deadline, memory: limits.memory, held: 0, spare }
    }

    /// Does work within the limits: it ends where it calls [`poll`](crate::poll), and where tensors
    /// are made.
    ///
    /// # Errors
    /// A limit was reached, or the flag set.
    pub fn within<R>(&self, work: impl FnOnce() -> R) -> Result<R, Fault> {
        interrupt::scope(self, work)
    }

    /// Returns true if the run may go on.
    ///
    /// # Errors
    /// The user has asked to stop, or the time is over.
    pub fn poll(&self) -> Result<(), Fault> {
        self.poll_cancelled()?;
        match self.deadline {
            Some((deadline, limit)) if Instant::now() >= deadline => Err(Fault::new(
                FaultKind::Time,
                format!("the evaluation took longer than {limit:?}, its time limit"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns true if the user has asked to stop, without a look at the clock.
    pub(crate) fn poll_cancelled(&self) -> Result<(), Fault> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Fault::new(FaultKind::Cancelled, "the evaluation was cancelled"));
        }
        Ok(())
    }

    /// Returns true if a value of so many bytes is allowed, whatever else there is: an operator may
    /// give it in the place of an argument.
    ///
    /// # Errors
    /// It alone is more than the memory limit.
    pub(crate) fn fits(&self, bytes: u64) -> Result<(), Fault> {
        match self.memory {
            Some(limit) if bytes > limit => Err(memory_fault(limit, bytes)),
            _ => Ok(()),
        }
    }

    /// Returns true if so many bytes may be allocated beside what is held.
    ///
    /// # Errors
    /// Together they are more than the memory limit.
    pub(crate) fn allow(&self, bytes: u64) -> Result<(), Fault> {
        self.fits(self.held.saturating_add(bytes))
    }

    /// Buffers of what the run has dropped.
    pub(crate) fn spare(&self) -> &Spare {
        &self.spare
    }

    /// Counts bytes that stay.
    pub(crate) fn hold(&mut self, bytes: u64) {
        self.held = self.held.saturating_add(bytes);
    }

    /// The same limits for work beside which so many bytes are alive.
    pub(crate) fn holding(&self, bytes: u64) -> Watch {
        Watch { held: bytes, ..self.clone() }
    }
}

pub(crate) fn memory_fault(limit: u64, bytes: u64) -> Fault {
    let mb = |bytes: u64| bytes.div_ceil(1 << 20);
    Fault::new(
        FaultKind::Memory,
        format!("the values need {} MB, and the memory limit is {} MB", mb(bytes), mb(limit)),
    )
}
