//! The cancellation of a run or of another request.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;
use semantics::CancellationToken;
use tokio::sync::{Notify, mpsc::UnboundedSender};

/// Cancels a run or another request.
#[derive(Clone, Default)]
pub(in crate::lsp) struct Cancel(pub(in crate::lsp) Arc<CancelState>);

/// Cancels a run or another request when it is dropped.
pub(in crate::lsp) struct CancelGuard(pub(in crate::lsp) Cancel);

impl Drop for CancelGuard {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// The state that a run shares with those who cancel it.
#[derive(Default)]
pub(in crate::lsp) struct CancelState {
    pub(in crate::lsp) flag: Arc<AtomicBool>,
    /// Cancels the analysis in progress.
    analysis: Mutex<Option<CancellationToken>>,
    /// Sends progress; the progress ends when it is dropped.
    pub(in crate::lsp) progress: Mutex<Option<UnboundedSender<String>>>,
    /// Wakes the task that waits for the reply.
    pub(in crate::lsp) cancelled: Notify,
}

impl Cancel {
    pub(in crate::lsp) fn cancel(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
        if let Some(token) = &*self.0.analysis.lock() {
            token.cancel();
        }
        self.0.cancelled.notify_one();
        self.0.progress.lock().take();
    }

    pub(in crate::lsp) fn is_cancelled(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed)
    }

    /// Ends the progress.
    pub(in crate::lsp) fn end_progress(&self) {
        self.0.progress.lock().take();
    }

    /// Sets the sender of progress.
    pub(in crate::lsp) fn set_progress(&self, progress: UnboundedSender<String>) {
        *self.0.progress.lock() = Some(progress);
        if self.is_cancelled() {
            self.cancel();
        }
    }

    /// Sets the token of the analysis in progress, if there is one.
    pub(in crate::lsp) fn set_analysis(&self, token: Option<CancellationToken>) {
        *self.0.analysis.lock() = token;
        if self.is_cancelled() {
            self.cancel();
        }
    }
}
