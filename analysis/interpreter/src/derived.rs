//! What kernels derive from their arguments, kept for later runs.
//!
//! A convolution transforms its weights before it multiplies, which takes a third of its time for small planes. Most
//! weights are the same in each run of a machine. What is derived from them is kept from the second run on, so that a
//! single run needs no more memory.

use std::{any::Any, sync::Arc};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// The maximum number of bytes that are kept.
const MAX_BYTES: usize = 128 << 20;
/// The divisor of the memory limit that gives the maximum of bytes, if that is less.
const MEMORY_DIVISOR: u64 = 16;
/// The maximum number of sources that are remembered.
const MAX_SOURCES: usize = 1 << 12;

/// The address of the elements that something is derived from, and the sizes that it depends on. Their type follows
/// from the type of what is derived.
pub(crate) type SourceKey = (usize, [usize; 2]);

/// What is known of a source.
pub(crate) enum Lookup<T> {
    /// What was derived from it.
    Derived(Arc<T>),
    /// An earlier run used elements at this address: what is derived now is worth keeping.
    Repeated,
    /// Nothing.
    New,
}

/// What was derived from tensors that are kept with it: their elements do not change, and nothing else takes their
/// address.
#[derive(Debug)]
pub(crate) struct DerivedCache {
    state: Mutex<State>,
    /// The maximum number of bytes.
    capacity: usize,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the run.
    run: u64,
    /// The last run that used each source.
    sources: FxHashMap<SourceKey, u64>,
    kept: FxHashMap<SourceKey, Entry>,
    /// The sum of the sizes of `kept`.
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    derived: Arc<dyn Any + Send + Sync>,
    /// The tensor.
    _source: Box<dyn Any + Send + Sync>,
    bytes: usize,
    /// The last run that used it.
    used: u64,
}

impl DerivedCache {
    /// Creates an empty cache for runs with a memory limit.
    pub(crate) fn new(memory: Option<u64>) -> DerivedCache {
        let limit = memory.map_or(MAX_BYTES as u64, |memory| memory / MEMORY_DIVISOR);
        let capacity = usize::try_from(limit).map_or(MAX_BYTES, |limit| limit.min(MAX_BYTES));
        DerivedCache { state: Mutex::default(), capacity }
    }

    /// Begins a run. Drops what the last one did not use.
    pub(crate) fn begin_run(&self) {
        let unused: Vec<Entry> = {
            let state = &mut *self.state.lock();
            let last = state.run;
            state.run += 1;
            let unused = state.kept.extract_if(|_, kept| kept.used < last);
            let unused: Vec<Entry> = unused.map(|(_, kept)| kept).collect();
            state.bytes -= unused.iter().map(|kept| kept.bytes).sum::<usize>();
            unused
        };
        // Without the lock.
        drop(unused);
    }

    /// Looks for what was derived from a source, and remembers that this run used it.
    pub(crate) fn find<T: Any + Send + Sync>(&self, key: SourceKey) -> Lookup<T> {
        let state = &mut *self.state.lock();
        if let Some(kept) = state.kept.get_mut(&key)
            && let Ok(derived) = kept.derived.clone().downcast()
        {
            kept.used = state.run;
            return Lookup::Derived(derived);
        }
        if state.sources.len() >= MAX_SOURCES {
            state.sources.clear();
        }
        match state.sources.insert(key, state.run) {
            Some(run) if run < state.run => Lookup::Repeated,
            _ => Lookup::New,
        }
    }

    /// Keeps what was derived from a tensor, if there is room. The tensor must be shared, so that nothing writes to it.
    pub(crate) fn keep<T: Any + Send + Sync>(
        &self,
        key: SourceKey,
        source: impl Any + Send + Sync,
        derived: &Arc<T>,
        bytes: usize,
    ) {
        let state = &mut *self.state.lock();
        if state.bytes.saturating_add(bytes) > self.capacity || state.kept.contains_key(&key) {
            return;
        }
        let (derived, used) = (derived.clone(), state.run);
        state.bytes += bytes;
        state.kept.insert(key, Entry { derived, _source: Box::new(source), bytes, used });
    }

    /// Returns the number of bytes that are kept.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        let kept = {
            let state = &mut *self.state.lock();
            state.bytes = 0;
            std::mem::take(&mut state.kept)
        };
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(cache: &DerivedCache, address: usize) -> Option<u32> {
        match cache.find::<u32>((address, [1, 1])) {
            Lookup::Derived(number) => Some(*number),
            Lookup::Repeated => {
                cache.keep((address, [1, 1]), "a tensor", &Arc::new(address as u32), 1 << 20);
                None
            }
            Lookup::New => None,
        }
    }

    #[test]
    fn what_two_runs_use_is_kept_for_the_third() {
        let cache = DerivedCache::new(None);
        for expected in [None, None, Some(5), Some(5)] {
            cache.begin_run();
            assert_eq!(derived(&cache, 5), expected);
        }
        // Twice in one run is not enough, and other sizes or types are not the same.
        assert_eq!([derived(&cache, 6), derived(&cache, 6)], [None, None]);
        assert!(matches!(cache.find::<u32>((5, [1, 2])), Lookup::New));
        assert!(!matches!(cache.find::<u64>((5, [1, 1])), Lookup::Derived(_)));
    }

    #[test]
    fn what_a_run_does_not_use_is_dropped() {
        let cache = DerivedCache::new(None);
        for _ in 0..3 {
            cache.begin_run();
            derived(&cache, 5);
        }
        cache.begin_run();
        cache.begin_run();
        assert_eq!(derived(&cache, 5), None);
        assert_eq!(cache.bytes(), 1 << 20, "it is kept again");
        cache.clear();
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn caches_are_bounded() {
        let cache = DerivedCache::new(Some(32 << 20));
        for _ in 0..2 {
            cache.begin_run();
            for address in 0..2 * MAX_SOURCES {
                derived(&cache, address);
            }
            for address in 0..8 {
                derived(&cache, address);
            }
        }
        let state = cache.state.lock();
        assert!(
            state.bytes <= 2 << 20 && state.kept.len() == 2 && state.sources.len() <= MAX_SOURCES
        );
    }
}
