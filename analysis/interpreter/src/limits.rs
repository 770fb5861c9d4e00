//! How far an evaluation may go.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::fault::{Fault, FaultKind};

/// Limits of an evaluation; what is `None` is not limited.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Calls of functions and operators.
    pub fuel: Option<u64>,
    /// Bytes of all values that are alive together.
    pub memory: Option<u64>,
    /// Time from the beginning.
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
}

/// Asked again and again whether to go on.
#[derive(Clone, Debug)]
pub struct Watch {
    cancelled: Arc<AtomicBool>,
    deadline: Option<(Instant, Duration)>,
    memory: Option<u64>,
}

impl Watch {
    pub(crate) fn new(limits: &Limits, cancelled: Arc<AtomicBool>) -> Watch {
        let deadline = limits.time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        Watch { cancelled, deadline, memory: limits.memory }
    }

    /// Whether to go on.
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

    /// Whether the user has asked to stop, without a look at the clock.
    pub(crate) fn poll_cancelled(&self) -> Result<(), Fault> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Fault::new(FaultKind::Cancelled, "the evaluation was cancelled"));
        }
        Ok(())
    }

    /// Whether a value of so many bytes may be made.
    ///
    /// # Errors
    /// It alone is more than the memory limit.
    pub fn allow(&self, bytes: u64) -> Result<(), Fault> {
        match self.memory {
            Some(limit) if bytes > limit => Err(memory_fault(limit, bytes)),
            _ => Ok(()),
        }
    }
}

pub(crate) fn memory_fault(limit: u64, bytes: u64) -> Fault {
    let mb = |bytes: u64| bytes.div_ceil(1 << 20);
    Fault::new(
        FaultKind::Memory,
        format!("the values need {} MB, and the memory limit is {} MB", mb(bytes), mb(limit)),
    )
}
