//! Interruption of kernels.
//!
//! `%0 = nn.dense(%x, %w)` on large matrices takes seconds, but cancellation and the time limit
//! must take effect within milliseconds. So loops over elements report their progress: [`spend`]
//! counts elements, and regularly checks whether the run may continue. If not, the thread unwinds
//! to where the machine called the kernel, and the call fails with the reason. Nothing is printed,
//! and panic hooks are not called. A kernel may be interrupted at any call of [`spend`]: it owns
//! everything that it writes to, so that incomplete results are dropped.
//!
//! Other threads work for the same run in the loops of [`parallel`](crate::parallel); nothing else
//! starts threads. A failed allocation ends a kernel in the same way as an interruption; see
//! [`allocate`](crate::allocate).
//!
//! The unit of progress is an element, or work that takes as long: a few nanoseconds. Outside of a
//! run, as in the test of a helper, [`spend`] does nothing.

use std::{
    cell::{Cell, RefCell},
    fmt,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind},
    sync::{Arc, atomic::AtomicBool},
};

use crate::{
    fault::Fault,
    limits::{Limits, Watch},
    pool::BufferPool,
};

/// The number of elements between checks of the clock: less than half a millisecond for nearly all
/// operations.
const POLL_EVERY: usize = 1 << 15;
/// The number of elements per iteration of an interruptible loop.
pub(crate) const PIECE: usize = 1 << 13;

thread_local! {
    /// The number of elements until the next check.
    static BUDGET: Cell<usize> = const { Cell::new(0) };
    /// The run that this thread works for.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// The payload of unwinding.
struct UnwindPayload(Fault);

/// The payload of the panic that ends the program on targets without unwinding, from which the panic
/// hook learns the reason.
#[derive(Debug)]
pub struct FatalFault(Fault);

impl fmt::Display for FatalFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn unwind(fault: Fault) -> ! {
    match cfg!(panic = "unwind") {
        true => resume_unwind(Box::new(UnwindPayload(fault))),
        false => panic_any(FatalFault(fault)),
    }
}

impl Watch {
    /// Does work within the limits: it ends at calls of [`poll`](crate::poll) and allocations of
    /// tensors.
    ///
    /// # Errors
    /// A limit was reached, or the flag is set.
    pub fn within<R>(&self, work: impl FnOnce() -> R) -> Result<R, Fault> {
        let previous = enter(Some(self.clone()));
        let done = catch_unwind(AssertUnwindSafe(work));
        drop(previous);
        done.map_err(|payload| match payload.downcast::<UnwindPayload>() {
            Ok(interrupted) => interrupted.0,
            Err(payload) => resume_unwind(payload),
        })
    }
}

/// Does work for a run that has ended, such as displaying its result. The work ends soon after the
/// flag is set, at calls of [`poll`] and allocations of tensors.
///
/// # Errors
/// The flag was set.
pub fn until_cancelled<R>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> Result<R, Fault> {
    Watch::new(&Limits::default(), flag.clone()).within(work)
}

/// The previous run of a thread, which is restored on drop.
pub(crate) struct PreviousRun(Option<Watch>);

impl Drop for PreviousRun {
    #[inline]
    fn drop(&mut self) {
        WATCH.set(self.0.take());
    }
}

/// Makes this thread work for a run.
#[inline]
fn enter(watch: Option<Watch>) -> PreviousRun {
    PreviousRun(WATCH.replace(watch))
}

/// Counts elements that have been processed. Unwinds if the run is to end.
#[inline]
pub(crate) fn spend(elements: usize) {
    BUDGET.with(|budget| match budget.get().checked_sub(elements) {
        Some(rest) => budget.set(rest),
        None => {
            // If the run is to end, all further work of the thread ends as well.
            budget.set(0);
            poll();
            budget.set(POLL_EVERY);
        }
    });
}

/// Checks whether the run of this thread may continue, before work that cannot be divided. Unwinds
/// if the run is to end; an [`Observer`](crate::Observer) that processes a large value should call
/// this regularly. Does nothing outside of a run.
#[cold]
pub fn poll() {
    if let Err(fault) = WATCH.with_borrow(|watch| watch.as_ref().map_or(Ok(()), Watch::poll)) {
        raise(fault);
    }
}

/// Unwinds to where the run of this thread called the work.
///
/// # Panics
/// If this thread is not in a run.
pub(crate) fn raise(fault: Fault) -> ! {
    if WATCH.with_borrow(Option::is_none) {
        panic!("{fault}");
    }
    unwind(fault);
}

/// Checks that this many bytes may be allocated for the run of this thread, if there is one.
///
/// # Errors
/// In addition to the bytes in use, they exceed the memory limit.
pub(crate) fn allow(bytes: u64) -> Result<(), Fault> {
    WATCH.with_borrow(|watch| watch.as_ref().map_or(Ok(()), |watch| watch.allow(bytes)))
}

/// Counts bytes that stay allocated, such as an argument that was read, towards the memory limit of
/// the work of this thread. They are forgotten at the end of [`Watch::within`].
pub fn charge(bytes: u64) {
    WATCH.with_borrow_mut(|watch| {
        if let Some(watch) = watch {
            watch.charge(bytes);
        }
    });
}

/// Uses the buffer pool of the run that this thread works for, if there is one.
pub(crate) fn with_pool<R>(f: impl FnOnce(&BufferPool) -> R) -> Option<R> {
    WATCH.with_borrow(|watch| watch.as_ref().map(|watch| f(watch.pool())))
}

/// The run of a thread, for other threads that work for it.
pub(crate) struct RunHandle(Option<Watch>);

impl RunHandle {
    /// Returns the run of this thread.
    pub(crate) fn current() -> RunHandle {
        RunHandle(WATCH.with_borrow(Clone::clone))
    }

    /// Makes this thread work for the run.
    pub(crate) fn enter(&self) -> PreviousRun {
        enter(self.0.clone())
    }

    /// Counts elements like [`spend`], on a thread that has not entered the run.
    #[inline]
    pub(crate) fn spend(&self, elements: usize) {
        BUDGET.with(|budget| match budget.get().checked_sub(elements) {
            Some(rest) => budget.set(rest),
            None => {
                budget.set(0);
                if let Err(fault) = self.0.as_ref().map_or(Ok(()), Watch::poll) {
                    // A thread of the pool may have no run of its own.
                    unwind(fault);
                }
                budget.set(POLL_EVERY);
            }
        });
    }
}

/// Counts each item of a loop as an element.
pub(crate) fn watched<I: Iterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.inspect(|_| spend(1))
}

/// Splits elements into interruptible chunks.
pub(crate) fn pieces<T>(elements: &[T]) -> impl Iterator<Item = &[T]> {
    elements.chunks(PIECE).inspect(|piece| spend(piece.len()))
}

/// Splits elements for writing into interruptible chunks.
pub(crate) fn pieces_mut<T>(elements: &mut [T]) -> impl Iterator<Item = &mut [T]> {
    elements.chunks_mut(PIECE).inspect(|piece| spend(piece.len()))
}

/// Splits the numbers below `count` into interruptible ranges.
pub(crate) fn ranges(count: usize) -> impl Iterator<Item = Range<usize>> {
    let piece = move |from: usize| from..count.min(from + PIECE);
    (0..count).step_by(PIECE).map(piece).inspect(|piece| spend(piece.len()))
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::Ordering, time::Duration};

    use super::*;
    use crate::fault::FaultKind;

    fn watch(time: Option<Duration>, cancelled: bool) -> Watch {
        let limits = Limits { time, ..Limits::default() };
        Watch::new(&limits, Arc::new(AtomicBool::new(cancelled)))
    }

    #[test]
    fn work_ends_at_calls_of_spend() {
        spend(usize::MAX);
        let going = watch(None, false);
        assert_eq!(going.within(|| watched(0..100_000).sum::<u64>()).ok(), Some(4_999_950_000));
        let stopped = watch(None, true);
        let fault = stopped.within(|| watched(0..).for_each(|_: u64| {})).expect_err("it ends");
        assert_eq!(fault.kind, FaultKind::Cancelled);
        let late = watch(Some(Duration::from_millis(2)), false);
        let fault = late.within(|| watched(0u64..).for_each(|_| {}));
        assert!(fault.is_err());
        // A run that has ended interrupts nothing.
        poll();
    }

    #[test]
    fn work_after_a_run_is_cancellable() {
        let flag = Arc::new(AtomicBool::new(false));
        let filled = || crate::Tensor::scalar(2i64).filled(&[3, 100_000]);
        let tensor =
            until_cancelled(&flag, filled).expect("it is not cancelled").expect("a tensor");
        assert_eq!((tensor.shape(), tensor.get_f64(299_999)), (&[3usize, 100_000][..], Some(2.0)));
        assert!(filled().is_some_and(|other| other.to_i64s() == tensor.to_i64s()));
        flag.store(true, Ordering::Relaxed);
        assert!(until_cancelled(&flag, filled).is_err_and(|f| f.kind == FaultKind::Cancelled));
    }

    #[test]
    fn inner_runs_do_not_end_outer_ones() {
        let (outer, inner) = (watch(None, false), watch(None, true));
        let ended = outer.within(|| {
            assert!(inner.within(poll).is_err());
            poll();
            3
        });
        assert_eq!(ended.ok(), Some(3));
    }

    #[test]
    #[should_panic(expected = "original message")]
    fn other_panics_are_propagated() {
        let going = watch(None, false);
        let _ = going.within(|| panic!("original message"));
    }
}
