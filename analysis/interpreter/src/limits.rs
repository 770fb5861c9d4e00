//! Limits of an evaluation.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use clock::Instant;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{
    fault::{Fault, FaultKind},
    pool::BufferPool,
};

/// Limits of an evaluation; `None` means unlimited.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// The number of calls of functions and operators.
    pub fuel: Option<u64>,
    /// The size of all values that are alive at the same time, in bytes. Larger allocations fail.
    ///
    /// The temporary memory of an operator counts, too, if the memory of the process is
    /// [metered](crate::Machine::metered). Otherwise it may take as much again during the call.
    pub memory: Option<u64>,
    /// The time from the beginning, which is [`Machine::begin`](crate::Machine::begin) if arguments
    /// are read first.
    pub time: Option<Duration>,
    /// The number of active calls, which is the depth of recursion apart from tail calls.
    pub depth: Option<usize>,
}

impl Limits {
    /// Returns limits for unattended runs: a billion calls, eight gigabytes, ten minutes, recursion of ten
    /// million.
    pub fn generous() -> Limits {
        Limits {
            fuel: Some(1_000_000_000),
            memory: Some(8 << 30),
            time: Some(Duration::from_secs(600)),
            depth: Some(10_000_000),
        }
    }

    /// Returns these limits, overridden by those of `over`.
    pub fn overlaid(&self, over: &Limits) -> Limits {
        Limits {
            fuel: over.fuel.or(self.fuel),
            memory: over.memory.or(self.memory),
            time: over.time.or(self.time),
            depth: over.depth.or(self.depth),
        }
    }
}

/// The limits of a run in progress, which are checked repeatedly.
#[derive(Clone, Debug)]
pub struct Watch {
    cancelled: Arc<AtomicBool>,
    deadline: Option<(Instant, Duration)>,
    memory: Option<u64>,
    /// The size of values that are alive outside of the work, as far as known, in bytes.
    live: u64,
    meter: Option<Meter>,
    /// Buffers that the run has dropped.
    pool: Arc<BufferPool>,
    /// Values that are being dropped.
    discards: Arc<Discards>,
}

/// Measures the memory that the process has allocated since the run began.
#[derive(Clone, Copy, Debug)]
struct Meter {
    /// Returns the bytes of the large blocks that are allocated.
    count: fn() -> u64,
    before: u64,
}

/// The number of values of a run that another thread is about to drop.
#[derive(Debug, Default)]
pub(crate) struct Discards {
    pending: Mutex<usize>,
    dropped: Condvar,
}

impl Discards {
    fn pending(&self) -> MutexGuard<'_, usize> {
        self.pending.lock()
    }

    /// Counts a value that will be dropped.
    pub(crate) fn begin(&self) {
        *self.pending() += 1;
    }

    /// Counts a value that has been dropped.
    pub(crate) fn end(&self) {
        *self.pending() -= 1;
        self.dropped.notify_all();
    }

    /// Waits until all values are dropped, as long as `poll` allows it.
    fn wait(&self, poll: impl Fn() -> Result<(), Fault>) -> Result<(), Fault> {
        let mut pending = self.pending();
        while *pending > 0 {
            // On the thread that drops them, work that was abandoned is followed by later values. It
            // must not wait for them.
            poll()?;
            self.dropped.wait_for(&mut pending, Duration::from_millis(2));
        }
        Ok(())
    }
}

impl Watch {
    /// Creates a watch whose time begins now. The work ends soon after the flag is set.
    pub fn new(limits: &Limits, cancelled: Arc<AtomicBool>) -> Watch {
        Watch::with_pool(limits, cancelled, Arc::new(BufferPool::new(limits.memory)))
    }

    /// Creates a watch for a run that uses the buffers of earlier runs.
    pub(crate) fn with_pool(
        limits: &Limits,
        cancelled: Arc<AtomicBool>,
        pool: Arc<BufferPool>,
    ) -> Watch {
        let deadline = limits.time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        let (live, meter) = (0, None);
        pool.derived.begin_run();
        let discards = Arc::default();
        Watch { cancelled, deadline, memory: limits.memory, live, meter, pool, discards }
    }

    /// Counts the memory that the process allocates from now on towards the memory limit.
    pub(crate) fn metered(mut self, count: Option<fn() -> u64>) -> Watch {
        self.meter = count.map(|count| Meter { count, before: count() });
        self
    }

    /// Sets the values that are being dropped.
    pub(crate) fn with_discards(mut self, discards: &Arc<Discards>) -> Watch {
        self.discards = discards.clone();
        self
    }

    /// Checks that the run may continue.
    ///
    /// # Errors
    /// The run was cancelled, or its time is over.
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

    /// Like [`poll`](Watch::poll), without the time limit.
    pub(crate) fn poll_cancelled(&self) -> Result<(), Fault> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Fault::new(FaultKind::Cancelled, "the evaluation was cancelled"));
        }
        Ok(())
    }

    /// Checks that a value of this size is allowed on its own: an operator may return it in place
    /// of an argument.
    ///
    /// # Errors
    /// It exceeds the memory limit.
    pub(crate) fn fits(&self, bytes: u64) -> Result<(), Fault> {
        match self.memory {
            Some(limit) if bytes > limit => Err(memory_fault(limit, bytes)),
            _ => Ok(()),
        }
    }

    /// Checks that this many bytes may be allocated in addition to those in use.
    ///
    /// # Errors
    /// The sum exceeds the memory limit.
    pub(crate) fn allow(&self, bytes: u64) -> Result<(), Fault> {
        if self.fits(self.used().saturating_add(bytes)).is_ok() {
            return Ok(());
        }
        // The measure includes values that are being dropped.
        self.discards.wait(|| self.poll())?;
        self.pool.clear();
        self.fits(self.used().saturating_add(bytes))
    }

    /// Returns the bytes in use.
    fn used(&self) -> u64 {
        let grown = |meter: Meter| (meter.count)().saturating_sub(meter.before);
        // Both include large values; the first includes small ones, the second temporary memory.
        self.live.max(self.meter.map_or(0, grown))
    }

    /// Returns the buffers that the run has dropped.
    pub(crate) fn pool(&self) -> &BufferPool {
        &self.pool
    }

    /// Counts bytes that stay allocated.
    pub(crate) fn charge(&mut self, bytes: u64) {
        self.live = self.live.saturating_add(bytes);
    }

    /// Returns the same limits for work while `live` bytes are in use elsewhere.
    pub(crate) fn with_live(&self, live: u64) -> Watch {
        Watch { live, ..self.clone() }
    }
}

/// Returns the failure of values that need more than the memory limit.
pub(crate) fn memory_fault(limit: u64, bytes: u64) -> Fault {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Fault::new(
        FaultKind::Memory,
        format!("the values need {} MiB, and the memory limit is {} MiB", mib(bytes), mib(limit)),
    )
}
