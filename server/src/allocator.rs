//! The allocator of the process, as far as the server controls it.
//!
//! An allocator with a heap for each thread, such as mimalloc, keeps what another thread has freed until
//! the thread that allocated it comes by. The owner of a session frees what workers have computed, and
//! an idle worker allocates nothing: it is told to [`collect`].

use std::sync::OnceLock;

use interpreter::{Limits, Machine};
use semantics::Database;

/// The functions of the program's allocator.
#[derive(Clone, Copy)]
pub struct Allocator {
    /// Makes freed pages return to the system at once, for a process that runs for days or needs much memory.
    pub return_freed_pages: fn(),
    /// Returns the free memory of the calling thread's heap to the system, including what other threads
    /// have freed.
    pub collect: fn(),
    /// Returns the bytes of the large blocks that are allocated, such as the elements of tensors.
    pub large_bytes: fn() -> u64,
}

static ALLOCATOR: OnceLock<Allocator> = OnceLock::new();

/// Sets the allocator of the process. Only the first one counts.
pub(crate) fn set(allocator: Allocator) {
    let _ = ALLOCATOR.set(allocator);
}

/// Makes freed pages return to the system at once.
pub(crate) fn return_freed_pages() {
    if let Some(allocator) = ALLOCATOR.get() {
        (allocator.return_freed_pages)();
    }
}

/// Returns the free memory of the calling thread's heap to the system.
pub(crate) fn collect() {
    if let Some(allocator) = ALLOCATOR.get() {
        (allocator.collect)();
    }
}

/// Returns a machine whose runs have these limits.
pub(crate) fn limited_machine(db: &Database, limits: Limits) -> Machine<'_> {
    let machine = Machine::new(db).limited(limits);
    match ALLOCATOR.get() {
        Some(allocator) => machine.metered(allocator.large_bytes),
        None => machine,
    }
}
