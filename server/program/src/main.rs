//! The program `relay-analyzer`.

use std::{
    alloc::{GlobalAlloc, Layout},
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
};

use libmimalloc_sys::{mi_collect, mi_option_set, mi_option_t};
use mimalloc::MiMalloc;
use server::Allocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator(MiMalloc);

/// The size in bytes from which a block is large.
const LARGE: usize = 64 << 10;

/// The bytes of the large blocks that are allocated.
static LARGE_BYTES: AtomicU64 = AtomicU64::new(0);

fn large_bytes() -> u64 {
    LARGE_BYTES.load(Ordering::Relaxed)
}

/// An allocator whose large blocks are counted. Rust cannot tell a run that its operators have dropped a
/// vector, and to count all blocks would take a fiftieth of the time of a check.
struct CountingAllocator(MiMalloc);

impl CountingAllocator {
    #[inline]
    fn added(block: *mut u8, size: usize) {
        if size >= LARGE && !block.is_null() {
            LARGE_BYTES.fetch_add(size as u64, Ordering::Relaxed);
        }
    }

    #[inline]
    fn removed(size: usize) {
        if size >= LARGE {
            LARGE_BYTES.fetch_sub(size as u64, Ordering::Relaxed);
        }
    }
}

#[expect(unsafe_code, reason = "the functions of an allocator; they call those of mimalloc")]
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = unsafe { self.0.alloc(layout) };
        CountingAllocator::added(block, layout.size());
        block
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let block = unsafe { self.0.alloc_zeroed(layout) };
        CountingAllocator::added(block, layout.size());
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        CountingAllocator::removed(layout.size());
        unsafe { self.0.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let moved = unsafe { self.0.realloc(block, layout, size) };
        if !moved.is_null() {
            CountingAllocator::added(moved, size);
            CountingAllocator::removed(layout.size());
        }
        moved
    }
}

/// `mi_option_purge_delay` of mimalloc 2: the time until freed pages are returned to the system, in
/// milliseconds. The bindings have no name for it.
const PURGE_DELAY: mi_option_t = 15;

fn main() -> ExitCode {
    server::main(Allocator { return_freed_pages, collect, large_bytes })
}

/// Makes the allocator return freed pages to the system at once. By default it waits for 10 ms, and then for
/// the next allocation: an idle session would keep 10 MiB more.
#[expect(unsafe_code, reason = "a function of C; it stores a number, on any thread")]
fn return_freed_pages() {
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

/// Takes back what other threads have freed of this thread's heap, and returns free pages to the system.
#[expect(unsafe_code, reason = "a function of C, without conditions")]
fn collect() {
    unsafe { mi_collect(true) }
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    #[test]
    #[expect(unsafe_code, reason = "a function of C, without conditions")]
    fn the_option_is_the_purge_delay() {
        assert_eq!(10, unsafe { mi_option_get(super::PURGE_DELAY) });
        super::return_freed_pages();
        assert_eq!(0, unsafe { mi_option_get(super::PURGE_DELAY) });
    }
}
