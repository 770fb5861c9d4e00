//! A pool of buffers for the tensors of a run.
//!
//! A network creates a tensor of the same size for each of its layers, and drops the previous one.
//! Allocating each from the system, and filling it with zeros that a kernel overwrites, takes as
//! long as elementwise operators themselves. So a run keeps a bounded number of the buffers that it
//! has dropped.

use std::any::Any;

use parking_lot::Mutex;

use crate::derived::DerivedCache;

/// The least number of elements of a buffer that is worth keeping.
pub(crate) const MIN_LEN: usize = 1 << 13;
/// The maximum number of elements of a buffer that is kept.
pub(crate) const MAX_LEN: usize = 1 << 21;
/// The maximum number of bytes that are kept.
const MAX_BYTES: usize = 24 << 20;
/// The divisor of the memory limit that gives the maximum of bytes, if that is less.
const MEMORY_DIVISOR: u64 = 16;
/// The maximum number of buffers that are kept.
const MAX_BUFFERS: usize = 32;

/// Buffers that are not in use.
#[derive(Debug)]
pub(crate) struct BufferPool {
    buffers: Mutex<Buffers>,
    /// The maximum number of bytes.
    capacity: usize,
    /// What kernels derived from the tensors of earlier runs.
    pub(crate) derived: DerivedCache,
}

#[derive(Debug, Default)]
struct Buffers {
    all: Vec<Buffer>,
    /// The sum of the sizes of `all`.
    bytes: usize,
}

#[derive(Debug)]
struct Buffer {
    /// A `Vec` of any element type.
    elements: Box<dyn Any + Send>,
    count: usize,
    bytes: usize,
}

impl BufferPool {
    /// Creates an empty pool for a run with a memory limit.
    pub(crate) fn new(memory: Option<u64>) -> BufferPool {
        let limit = memory.map_or(MAX_BYTES as u64, |memory| memory / MEMORY_DIVISOR);
        let capacity = usize::try_from(limit).map_or(MAX_BYTES, |limit| limit.min(MAX_BYTES));
        BufferPool { buffers: Mutex::default(), capacity, derived: DerivedCache::new(memory) }
    }

    /// Takes a buffer of `count` elements, whose values are unspecified, from the pool.
    pub(crate) fn take<T: 'static>(&self, count: usize) -> Option<Vec<T>> {
        if !(MIN_LEN..=MAX_LEN).contains(&count) {
            return None;
        }
        let buffer = {
            let mut buffers = self.buffers.lock();
            // The one that was used last is in the caches.
            let fits = |buffer: &Buffer| buffer.count == count && buffer.elements.is::<Vec<T>>();
            let at = buffers.all.iter().rposition(fits)?;
            let buffer = buffers.all.remove(at);
            buffers.bytes -= buffer.bytes;
            buffer
        };
        buffer.elements.downcast().ok().map(|elements| *elements)
    }

    /// Drops all buffers, and what was derived from tensors.
    pub(crate) fn clear(&self) {
        self.derived.clear();
        let dropped = {
            let mut buffers = self.buffers.lock();
            std::mem::take(&mut *buffers)
        };
        drop(dropped);
    }

    /// Puts a buffer into the pool. Returns it if the pool does not keep it.
    pub(crate) fn put<T: Send + 'static>(&self, elements: Vec<T>) -> Option<Vec<T>> {
        let (count, bytes) = (elements.len(), size_of_val(elements.as_slice()));
        if !(MIN_LEN..=MAX_LEN).contains(&count) || bytes > self.capacity {
            return Some(elements);
        }
        let buffer = Buffer { elements: Box::new(elements), count, bytes };
        let mut buffers = self.buffers.lock();
        // The oldest ones are dropped.
        while buffers.bytes + bytes > self.capacity || buffers.all.len() >= MAX_BUFFERS {
            let oldest = buffers.all.remove(0);
            buffers.bytes -= oldest.bytes;
        }
        buffers.bytes += bytes;
        buffers.all.push(buffer);
        None
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests choose their sizes")]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_reused_by_type_and_length() {
        let pool = BufferPool::new(None);
        assert!(pool.take::<f32>(MIN_LEN).is_none());
        assert!(pool.put(vec![1f32; MIN_LEN]).is_none());
        assert!(pool.take::<f32>(MIN_LEN + 1).is_none() && pool.take::<i32>(MIN_LEN).is_none());
        assert_eq!(pool.take::<f32>(MIN_LEN), Some(vec![1f32; MIN_LEN]));
        assert!(pool.take::<f32>(MIN_LEN).is_none());
        assert!(pool.put(vec![1f32; MIN_LEN - 1]).is_some());
    }

    #[test]
    fn pools_are_bounded() {
        let pool = BufferPool::new(None);
        for _ in 0..100 {
            pool.put(vec![0f64; MAX_LEN]);
            pool.put(vec![0u8; MIN_LEN]);
        }
        let buffers = pool.buffers.lock();
        assert!(buffers.bytes <= MAX_BYTES && buffers.all.len() <= MAX_BUFFERS);
        assert_eq!(buffers.bytes, buffers.all.iter().map(|buffer| buffer.bytes).sum::<usize>());
        let small = BufferPool::new(Some(1 << 20));
        small.put(vec![0f64; MIN_LEN]);
        small.put(vec![0f32; MIN_LEN]);
        assert!(small.take::<f64>(MIN_LEN).is_none() || small.capacity >= 8 * MIN_LEN);
    }
}
