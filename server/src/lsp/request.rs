//! A request on its way: to a worker, and its answer back.

use std::sync::{Arc, Mutex, PoisonError};

use semantics::{CancellationToken, Cancelled};
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};

use super::snapshot::Snapshot;
use crate::panics::{Interrupt, guarded};

/// What a request does when the text changes under it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Retry {
    /// It speaks of places in the text that was: it ends with `ContentModified`.
    Never,
    /// It speaks of the document as it is: it begins anew.
    Always,
}

/// A request for a worker.
pub(super) struct Request {
    pub(super) retry: Retry,
    run: Box<dyn FnMut(&Snapshot) -> Ran + Send>,
    refuse: Box<dyn FnOnce(Error) + Send>,
    cancel: Cancel,
}

/// How a run of a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ran {
    /// It has its answer, or needs none any more.
    Done,
    /// The text changed under it.
    Interrupted,
}

/// Ends a request that nobody waits for any more.
#[derive(Clone, Default)]
struct Cancel(Arc<Mutex<CancelState>>);

#[derive(Default)]
struct CancelState {
    wanted: bool,
    running: Option<CancellationToken>,
}

impl Cancel {
    fn with<R>(&self, f: impl FnOnce(&mut CancelState) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The answer to a request, still to come. Dropping it ends the request.
pub(super) struct Reply<R> {
    receiver: oneshot::Receiver<Result<R>>,
    _guard: Guard,
}

struct Guard(Cancel);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.with(|state| {
            state.wanted = true;
            if let Some(token) = &state.running {
                token.cancel();
            }
        });
    }
}

impl<R> Reply<R> {
    /// Waits for the answer.
    pub(super) async fn wait(self) -> Result<R> {
        match self.receiver.await {
            Ok(answer) => answer,
            // The owner is gone, and the process with it.
            Err(_) => Err(Error::internal_error()),
        }
    }
}

impl Request {
    /// A request that `handler` answers from a snapshot.
    pub(super) fn new<P, R>(
        params: P,
        retry: Retry,
        handler: fn(&Snapshot, P) -> Result<R>,
    ) -> (Request, Reply<R>)
    where
        P: Clone + Send + 'static,
        R: Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let sender = Arc::new(Mutex::new(Some(sender)));
        let answer = {
            let sender = sender.clone();
            move |answer: Result<R>| {
                let sender = sender.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(sender) = sender {
                    // The client has cancelled the request if nobody takes the answer.
                    let _ = sender.send(answer);
                }
            }
        };
        let refuse = answer.clone();
        let run = move |snapshot: &Snapshot| {
            match guarded(|| handler(snapshot, params.clone())) {
                Ok(result) => answer(result),
                Err(Interrupt::Cancelled(Cancelled::Local)) => {}
                Err(Interrupt::Cancelled(_)) => return Ran::Interrupted,
                Err(Interrupt::Panicked(panicked)) => {
                    answer(Err(snapshot.session.faults.error(&panicked)));
                }
            }
            Ran::Done
        };
        let cancel = Cancel::default();
        let request = Request {
            retry,
            run: Box::new(run),
            refuse: Box::new(move |error| refuse(Err(error))),
            cancel: cancel.clone(),
        };
        (request, Reply { receiver, _guard: Guard(cancel) })
    }

    /// Whether nobody waits for the answer any more.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.with(|state| state.wanted)
    }

    /// Answers the request on this thread.
    pub(super) fn run(&mut self, snapshot: &Snapshot) -> Ran {
        let token = snapshot.db.cancellation();
        let go = self.cancel.with(|state| {
            state.running = Some(token);
            !state.wanted
        });
        let ran = if go { (self.run)(snapshot) } else { Ran::Done };
        self.cancel.with(|state| state.running = None);
        ran
    }

    /// Ends the request without an answer.
    pub(super) fn refuse(self, error: Error) {
        (self.refuse)(error);
    }
}

/// The error for a request whose places are no longer those of the text.
pub(super) fn content_modified() -> Error {
    Error {
        code: ErrorCode::ContentModified,
        message: "the document has changed since the request was made".into(),
        data: None,
    }
}
