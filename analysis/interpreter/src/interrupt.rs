//! Interruption of kernels.
//!
//! `%0 = nn.dense(%x, %w)` on large matrices takes seconds, but cancellation and the time limit
//! must take effect within milliseconds. So loops over elements report their progress: [`spend`]
//! counts elements, and regularly checks whether the run may continue. If not, the thread unwinds
//! to where the machine called the kernel, and the call fails with the reason. Nothing is printed,
//! and panic hooks are not called. A kernel may be interrupted wherever it spends: it owns
//! everything that it writes to, so that incomplete results are dropped.
//!
//! Other threads work for the same run: parallel loops use [`each_item`] or [`each_chunk`], and
//! nothing else starts threads.
//!
//! A failed allocation ends a kernel in the same way; see [`allocate`](crate::allocate).
//!
//! The unit is an element, or work that takes as long: a few nanoseconds. Outside of a run, as in
//! the test of a helper, spending does nothing.

use std::{
    cell::{Cell, RefCell},
    fmt,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use crate::{
    allocate::room,
    fault::Fault,
    limits::{Limits, Watch},
    tensor::Element,
};

/// The number of elements between checks of the clock: less than half a millisecond for nearly all
/// operations.
const STEP: usize = 1 << 15;
/// The number of elements per iteration of an interruptible loop.
pub(crate) const PIECE: usize = 1 << 13;

thread_local! {
    /// The budget until the next check.
    static LEFT: Cell<usize> = const { Cell::new(0) };
    /// The run that this thread works for.
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// The payload of unwinding.
struct Interrupted(Fault);

/// The payload of the panic that ends the program where threads cannot unwind: the panic hook learns why.
#[derive(Debug)]
pub struct Ended(Fault);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn unwind(fault: Fault) -> ! {
    match cfg!(panic = "unwind") {
        true => resume_unwind(Box::new(Interrupted(fault))),
        false => panic_any(Ended(fault)),
    }
}

/// Does work for a run: gives what it gives, or why the run ends before.
pub(crate) fn scope<R>(watch: &Watch, work: impl FnOnce() -> R) -> Result<R, Fault> {
    let before = enter(Some(watch.clone()));
    let done = catch_unwind(AssertUnwindSafe(work));
    drop(before);
    done.map_err(|payload| match payload.downcast::<Interrupted>() {
        Ok(interrupted) => interrupted.0,
        Err(payload) => resume_unwind(payload),
    })
}

/// Does work for a run that has ended, such as displaying its result. The work ends soon after the
/// flag is set, at calls of [`poll`] and allocations of tensors.
///
/// # Errors
/// The flag was set.
pub fn while_wanted<R>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> Result<R, Fault> {
    scope(&Watch::new(&Limits::default(), flag.clone()), work)
}

/// The previous run of a thread, which is restored on drop.
struct Before(Option<Watch>);

impl Drop for Before {
    fn drop(&mut self) {
        WATCH.set(self.0.take());
    }
}

/// Makes this thread work for a run.
fn enter(watch: Option<Watch>) -> Before {
    Before(WATCH.replace(watch))
}

/// Counts elements that have been processed. Unwinds if the run is to end.
#[inline]
pub(crate) fn spend(elements: usize) {
    LEFT.with(|left| match left.get().checked_sub(elements) {
        Some(rest) => left.set(rest),
        None => {
            // If the run is to end, so is all further work of the thread.
            left.set(0);
            poll();
            left.set(STEP);
        }
    });
}

/// Checks whether the run of this thread may continue, before work that cannot be divided. Unwinds
/// if the run is to end; an [`Observer`](crate::Observer) that processes a large value should call
/// this regularly. Does nothing outside of a run.
#[cold]
pub fn poll() {
    if let Err(fault) = WATCH.with_borrow(|watch| watch.as_ref().map_or(Ok(()), Watch::poll)) {
        end(fault);
    }
}

/// Unwinds to where the run of this thread called the work.
///
/// # Panics
/// If this thread is not in a run.
pub(crate) fn end(fault: Fault) -> ! {
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
pub fn hold(bytes: u64) {
    WATCH.with_borrow_mut(|watch| {
        if let Some(watch) = watch {
            watch.hold(bytes);
        }
    });
}

/// The run of a thread, for callbacks on other threads.
pub(crate) struct Here(Option<Watch>);

impl Here {
    /// The run of this thread.
    pub(crate) fn new() -> Here {
        Here(WATCH.with_borrow(Clone::clone))
    }

    /// Like [`spend`], on any thread.
    #[inline]
    pub(crate) fn spend(&self, elements: usize) {
        LEFT.with(|left| match left.get().checked_sub(elements) {
            Some(rest) => left.set(rest),
            None => {
                left.set(0);
                if let Err(fault) = self.0.as_ref().map_or(Ok(()), Watch::poll) {
                    // A thread of the pool may have no run of its own.
                    unwind(fault);
                }
                left.set(STEP);
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

/// Applies `f` to each element.
pub(crate) fn mapped<T: Copy, U>(elements: &[T], f: impl Fn(T) -> U) -> Vec<U> {
    let mut all = room(elements.len());
    for piece in pieces(elements) {
        all.extend(piece.iter().map(|&element| f(element)));
    }
    all
}

/// `count` elements equal to `value`, allocated as [`room`](crate::room) does.
pub fn repeated<T: Copy>(value: T, count: usize) -> Vec<T> {
    let mut all = room(count);
    while all.len() < count {
        let piece = PIECE.min(count - all.len());
        spend(piece);
        all.extend(std::iter::repeat_n(value, piece));
    }
    all
}

/// `count` elements of any value, each of which is to be written: those of a buffer that the run has dropped,
/// if there is one of this size. Under the conditions of [`room`](crate::room).
pub(crate) fn unset<T: Element>(count: usize) -> Vec<T> {
    let spare = WATCH.with_borrow(|watch| watch.as_ref()?.spare().take::<T>(count));
    let mut all = match spare {
        // Within the memory limit, as a new one would be.
        Some(all) => match allow((count * size_of::<T>()) as u64) {
            Ok(()) => all,
            Err(fault) => end(fault),
        },
        None => repeated(T::default(), count),
    };
    if cfg!(debug_assertions) {
        // Elements that a kernel does not write become visible.
        all.fill(T::from_f64(f64::NAN));
    }
    all
}

/// Keeps a buffer for the run that this thread works for.
pub(crate) fn give_back<T: Element>(elements: Vec<T>) {
    WATCH.with_borrow(|watch| {
        if let Some(watch) = watch {
            watch.spare().give(elements);
        }
    });
}

/// The number of elements from which a loop is worth several threads: some tens of microseconds, in which another
/// thread wakes up.
const PARALLEL: usize = 1 << 17;
/// The number of batches of chunks per thread. Chunks differ in time: with one batch each, threads
/// would wait for the slowest.
const TURNS: usize = 8;

/// Processes `count` items in parallel, for the run of the calling thread.
///
/// The loop over the items is compiled once for each type of items, and the start of the threads
/// once: `work` is called through a pointer, which only pays off for long work per item.
pub(crate) fn each_item<I: Iterator + Send>(
    items: I,
    count: usize,
    work: &(dyn Fn(I::Item) + Sync),
) {
    let items = Mutex::new(items);
    together(count, &|| {
        loop {
            // A separate statement, so that the lock is released before the work.
            let item = items.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(item) = item else { break };
            spend(1);
            work(item);
        }
    });
}

/// Processes numbered chunks of `size` elements like [`each_item`], in parallel if that pays off.
/// An element takes as long as `cost` elements elsewhere.
pub(crate) fn each_chunk<T: Send>(
    elements: &mut [T],
    size: usize,
    cost: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    let size = size.max(1);
    let total = elements.len();
    let count = total.div_ceil(size);
    let worth = total.saturating_mul(cost) > PARALLEL;
    let turns = if worth { rayon::current_num_threads().saturating_mul(TURNS) } else { 1 };
    let many = count.div_ceil(turns).max(1);
    let parts = elements.chunks_mut(size.saturating_mul(many)).enumerate();
    each_item(parts, count.div_ceil(many), &|(part, chunks)| {
        for (at, chunk) in chunks.chunks_mut(size).enumerate() {
            spend(1);
            work(part * many + at, chunk);
        }
    });
}

/// Calls `work` on each thread of the pool, at most `count` of them, for the run of the calling
/// thread. The calls share one queue of items.
fn together(count: usize, work: &(dyn Fn() + Sync)) {
    let threads = rayon::current_num_threads().min(count);
    if threads < 2 {
        return work();
    }
    let watch = WATCH.with_borrow(Clone::clone);
    // This thread begins at once; others join when they have woken up.
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| {
                let _before = enter(watch.clone());
                work();
            });
        }
        work();
    });
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests choose their sizes")]
mod tests {
    use std::{sync::atomic::Ordering, time::Duration};

    use super::*;
    use crate::fault::FaultKind;

    fn watch(time: Option<Duration>, cancelled: bool) -> Watch {
        let limits = Limits { time, ..Limits::default() };
        Watch::new(&limits, Arc::new(AtomicBool::new(cancelled)))
    }

    #[test]
    fn work_ends_where_it_spends() {
        spend(usize::MAX);
        let going = watch(None, false);
        assert_eq!(scope(&going, || watched(0..100_000).sum::<u64>()).ok(), Some(4_999_950_000));
        let stopped = watch(None, true);
        let fault = scope(&stopped, || watched(0..).for_each(|_: u64| {})).expect_err("it ends");
        assert_eq!(fault.kind, FaultKind::Cancelled);
        let late = watch(Some(Duration::from_millis(2)), false);
        let fault = scope(&late, || watched(0u64..).for_each(|_| {}));
        assert!(fault.is_err());
        // A run that has ended interrupts nothing.
        poll();
    }

    #[test]
    fn work_around_a_run() {
        let flag = Arc::new(AtomicBool::new(false));
        let filled = || crate::Tensor::scalar(2i64).filled(&[3, 100_000]);
        let tensor = while_wanted(&flag, filled).expect("it is wanted").expect("a tensor");
        assert_eq!((tensor.shape(), tensor.get_f64(299_999)), (&[3usize, 100_000][..], Some(2.0)));
        assert!(filled().is_some_and(|other| other.to_i64s() == tensor.to_i64s()));
        flag.store(true, Ordering::Relaxed);
        assert!(while_wanted(&flag, filled).is_err_and(|f| f.kind == FaultKind::Cancelled));
    }

    #[test]
    fn helpers_end_as_well() {
        let stopped = watch(None, true);
        let mut numbers = vec![0u8; 1 << 20];
        let fault = scope(&stopped, || each_chunk(&mut numbers, 16, 1, &|_, part| part.fill(1)));
        assert_eq!(fault.map_err(|fault| fault.kind), Err(FaultKind::Cancelled));
        assert!(numbers.contains(&0));
        let going = watch(None, false);
        let fill = |numbers: &mut [u8]| {
            each_chunk(numbers, 16, 1, &|at, part| {
                part.iter_mut().for_each(|x| *x += 1 + (at % 2) as u8);
            });
        };
        for count in [0, 1, 15, 16, 17, 1000, 1 << 20] {
            let mut numbers = vec![0u8; count];
            assert!(scope(&going, || fill(&mut numbers)).is_ok());
            let wanted = (0..count).map(|k| 1 + (k / 16 % 2) as u8);
            assert!(numbers.into_iter().eq(wanted), "{count}");
        }
    }

    #[test]
    fn runs_within_runs() {
        let (outer, inner) = (watch(None, false), watch(None, true));
        let ended = scope(&outer, || {
            assert!(scope(&inner, poll).is_err());
            poll();
            3
        });
        assert_eq!(ended.ok(), Some(3));
    }

    #[test]
    #[should_panic(expected = "original message")]
    fn other_panics_go_on() {
        let going = watch(None, false);
        let _ = scope(&going, || panic!("original message"));
    }
}
