//! The cancellation of a run.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use semantics::CancellationToken;
use tokio::sync::{Notify, mpsc::UnboundedSender};

/// Cancels a run.
#[derive(Clone, Default)]
pub(super) struct Cancel(pub(super) Arc<CancelState>);

/// The state that a run shares with those who cancel it.
#[derive(Default)]
pub(super) struct CancelState {
    pub(super) flag: Arc<AtomicBool>,
    /// Cancels the analysis that precedes the run.
    analysis: Mutex<Option<CancellationToken>>,
    /// Sends progress; the progress ends when it is dropped.
    pub(super) progress: Mutex<Option<UnboundedSender<String>>>,
    /// Wakes the task that waits for the reply.
    pub(super) cancelled: Notify,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cancel {
    pub(super) fn cancel(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
        if let Some(token) = &*lock(&self.0.analysis) {
            token.cancel();
        }
        self.0.cancelled.notify_one();
        lock(&self.0.progress).take();
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// Sets the sender of progress.
    pub(super) fn set_progress(&self, progress: UnboundedSender<String>) {
        *lock(&self.0.progress) = Some(progress);
        if self.is_cancelled() {
            self.cancel();
        }
    }

    /// Sets the token of the analysis.
    pub(super) fn set_analysis(&self, token: CancellationToken) {
        *lock(&self.0.analysis) = Some(token);
        if self.is_cancelled() {
            self.cancel();
        }
    }
}
