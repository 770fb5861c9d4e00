//! Parallel loops for the run of the calling thread.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rayon::{ThreadPool, ThreadPoolBuilder, Yield};

use crate::interrupt::{RunHandle, spend};

/// The number of elements above which a loop runs on several threads: some microseconds, in which a helper
/// that spins notices it.
const MIN_PARALLEL: usize = 1 << 14;
/// The number of batches of chunks per thread. Chunks differ in time: with one batch each, threads
/// would wait for the slowest.
const BATCHES: usize = 8;

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
    on_each_thread(count, &|| {
        loop {
            // A separate statement, so that the lock is released before the work.
            let item = items.lock().next();
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
    let is_parallel = total.saturating_mul(cost) > MIN_PARALLEL;
    let batches = if is_parallel { threads().saturating_mul(BATCHES) } else { 1 };
    let per_batch = count.div_ceil(batches).max(1);
    let parts = elements.chunks_mut(size.saturating_mul(per_batch)).enumerate();
    each_item(parts, count.div_ceil(per_batch), &|(part, chunks)| {
        for (at, chunk) in chunks.chunks_mut(size).enumerate() {
            spend(1);
            work(part * per_batch + at, chunk);
        }
    });
}

/// The time for which a thread spins before it sleeps. A network is hundreds of loops of less than a
/// millisecond, and waking a thread takes a tenth of one.
const SPIN: Duration = Duration::from_micros(200);

/// The threads that join the one of a run in its loops. A pool of their own, because a pool with another
/// thread that sleeps would wake it for each loop.
static HELPERS: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
    let count = rayon::current_num_threads().checked_sub(1).filter(|&count| count > 0)?;
    let builder = ThreadPoolBuilder::new().num_threads(count);
    builder.thread_name(|number| format!("helper-{number}")).build().ok()
});

/// The number of helpers that spin between loops.
static AWAKE: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of threads of a loop.
pub(crate) fn threads() -> usize {
    HELPERS.as_ref().map_or(1, |helpers| helpers.current_num_threads() + 1)
}

/// Does the work of a helper until there has been none for a while.
fn stay_awake() {
    let mut idle_since = Instant::now();
    while idle_since.elapsed() < SPIN {
        match rayon::yield_now() {
            Some(Yield::Executed) => idle_since = Instant::now(),
            _ => std::hint::spin_loop(),
        }
    }
    AWAKE.fetch_sub(1, Ordering::Relaxed);
}

/// Calls `work` on each thread, at most `count` of them, for the run of the calling thread. The calls
/// share one queue of items.
fn on_each_thread(count: usize, work: &(dyn Fn() + Sync)) {
    let Some(helpers) = HELPERS.as_ref().filter(|_| count > 1) else { return work() };
    let wanted = helpers.current_num_threads().min(count - 1);
    let run = RunHandle::current();
    let unfinished = AtomicUsize::new(wanted);
    helpers.in_place_scope(|scope| {
        for _ in 0..wanted {
            scope.spawn(|_| {
                let _previous = run.enter();
                work();
                unfinished.fetch_sub(1, Ordering::Release);
            });
        }
        let awake = AWAKE.load(Ordering::Relaxed);
        for _ in awake..wanted {
            AWAKE.fetch_add(1, Ordering::Relaxed);
            helpers.spawn(stay_awake);
        }
        // This thread begins at once; helpers join when they have woken up.
        work();
        // A helper waits at the end of the scope by doing the work of others.
        if helpers.current_thread_index().is_none() {
            let end = Instant::now();
            while unfinished.load(Ordering::Acquire) > 0 && end.elapsed() < SPIN {
                std::hint::spin_loop();
            }
        }
    });
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests choose their sizes")]
mod tests {
    use std::sync::{Arc, atomic::AtomicBool};

    use super::*;
    use crate::{
        fault::FaultKind,
        limits::{Limits, Watch},
    };

    fn watch(cancelled: bool) -> Watch {
        Watch::new(&Limits::default(), Arc::new(AtomicBool::new(cancelled)))
    }

    #[test]
    fn other_threads_end_as_well() {
        let stopped = watch(true);
        let mut numbers = vec![0u8; 1 << 20];
        let fault = stopped.within(|| each_chunk(&mut numbers, 16, 1, &|_, part| part.fill(1)));
        assert_eq!(fault.map_err(|fault| fault.kind), Err(FaultKind::Cancelled));
        assert!(numbers.contains(&0));
        let going = watch(false);
        let fill = |numbers: &mut [u8]| {
            each_chunk(numbers, 16, 1, &|at, part| {
                part.iter_mut().for_each(|x| *x += 1 + (at % 2) as u8);
            });
        };
        for count in [0, 1, 15, 16, 17, 1000, 1 << 20] {
            let mut numbers = vec![0u8; count];
            assert!(going.within(|| fill(&mut numbers)).is_ok());
            let wanted = (0..count).map(|k| 1 + (k / 16 % 2) as u8);
            assert!(numbers.into_iter().eq(wanted), "{count}");
        }
    }
}
