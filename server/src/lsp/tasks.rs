//! Tasks of a session: on tokio's runtime, or on the pool that an embedded server polls.

use std::{cell::RefCell, time::Duration};

use futures_executor::{LocalPool, LocalSpawner};
use futures_util::{FutureExt, task::LocalSpawnExt};

thread_local! {
    /// The pool of the embedded server that runs on this thread.
    static SPAWNER: RefCell<Option<LocalSpawner>> = const { RefCell::new(None) };
}

/// The tasks of an embedded server.
pub(super) struct Pool(LocalPool);

impl Pool {
    /// Creates a pool without tasks.
    pub(super) fn new() -> Pool {
        Pool(LocalPool::new())
    }

    /// Does work whose tasks go to this pool, then polls tasks until none can go on.
    pub(super) fn run<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let previous = SPAWNER.replace(Some(self.0.spawner()));
        let result = work();
        self.0.run_until_stalled();
        SPAWNER.set(previous);
        result
    }
}

/// Starts a task.
pub(super) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    match SPAWNER.with_borrow(Clone::clone) {
        // Fails if the server was dropped.
        Some(spawner) => drop(spawner.spawn_local(task)),
        None => drop(tokio::spawn(task)),
    }
}

/// Returns true if the server is embedded: it has no timers, and nothing happens while it works.
pub(super) fn is_embedded() -> bool {
    SPAWNER.with_borrow(Option::is_some)
}

/// Waits for a future, at most for a time. An embedded server does not wait at all.
pub(super) async fn within<R>(time: Duration, future: impl Future<Output = R>) -> Option<R> {
    if !is_embedded() {
        return tokio::time::timeout(time, future).await.ok();
    }
    future.now_or_never()
}
