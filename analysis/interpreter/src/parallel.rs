//! Parallel loops for the run of the calling thread.

use std::sync::{Mutex, PoisonError};

use crate::interrupt::{RunHandle, spend};

/// The number of elements above which a loop runs on several threads: some tens of microseconds, in
/// which another thread wakes up.
const MIN_PARALLEL: usize = 1 << 17;
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
    let is_parallel = total.saturating_mul(cost) > MIN_PARALLEL;
    let batches =
        if is_parallel { rayon::current_num_threads().saturating_mul(BATCHES) } else { 1 };
    let per_batch = count.div_ceil(batches).max(1);
    let parts = elements.chunks_mut(size.saturating_mul(per_batch)).enumerate();
    each_item(parts, count.div_ceil(per_batch), &|(part, chunks)| {
        for (at, chunk) in chunks.chunks_mut(size).enumerate() {
            spend(1);
            work(part * per_batch + at, chunk);
        }
    });
}

/// Calls `work` on each thread of the pool, at most `count` of them, for the run of the calling
/// thread. The calls share one queue of items.
fn on_each_thread(count: usize, work: &(dyn Fn() + Sync)) {
    let threads = rayon::current_num_threads().min(count);
    if threads < 2 {
        return work();
    }
    let run = RunHandle::current();
    // This thread begins at once; others join when they have woken up.
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| {
                let _previous = run.enter();
                work();
            });
        }
        work();
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
