//! Requests that workers answer, and their replies.

use semantics::Cancelled;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tracing::Span;

use super::{
    runs::{Cancel, CancelGuard},
    snapshot::Snapshot,
};
use crate::panics::{Interrupt, guarded};

/// The behaviour of a request when the text changes before it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Retry {
    /// Its parameters are positions in the old text: it fails with `ContentModified`.
    Never,
    /// It concerns a whole document: it is retried on the new text.
    Always,
}

/// Answers a request from a snapshot, or with an error.
type Answer = Box<dyn FnMut(Result<&Snapshot>) -> RequestOutcome + Send>;

/// A request for a worker.
pub(super) struct Request {
    pub(super) retry: Retry,
    answer: Answer,
    cancel: Cancel,
    /// The span of the message.
    span: Span,
}

/// The outcome of running a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RequestOutcome {
    /// It was answered or cancelled.
    Done,
    /// A change of the text cancelled its queries.
    Interrupted,
}

/// The future reply to a request. Dropping it cancels the request.
pub(super) struct Reply<R> {
    receiver: oneshot::Receiver<Result<R>>,
    _guard: CancelGuard,
}

impl<R> Reply<R> {
    /// Waits for the reply.
    pub(super) async fn wait(self) -> Result<R> {
        match self.receiver.await {
            Ok(answer) => answer,
            // The owner has ended, and the process is ending.
            Err(_) => Err(Error::internal_error()),
        }
    }
}

impl Request {
    /// Creates a request that `handler` answers from a snapshot.
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
        let mut sender = Some(sender);
        let answer = move |snapshot: Result<&Snapshot>| {
            let answer = match snapshot {
                Ok(snapshot) => match guarded(|| handler(snapshot, params.clone())) {
                    Ok(answer) => answer,
                    Err(Interrupt::Cancelled(Cancelled::Local)) => return RequestOutcome::Done,
                    Err(Interrupt::Cancelled(_)) => return RequestOutcome::Interrupted,
                    Err(Interrupt::Panicked(caught)) => Err(snapshot.session.faults.error(&caught)),
                },
                Err(error) => Err(error),
            };
            if let Some(sender) = sender.take() {
                // Fails if the client has cancelled the request.
                let _ = sender.send(answer);
            }
            RequestOutcome::Done
        };
        let cancel = Cancel::default();
        let request = Request {
            retry,
            answer: Box::new(answer),
            cancel: cancel.clone(),
            span: Span::current(),
        };
        (request, Reply { receiver, _guard: CancelGuard(cancel) })
    }

    /// Returns true if the reply was dropped.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Answers the request on this thread.
    pub(super) fn run(&mut self, snapshot: &Snapshot) -> RequestOutcome {
        let _message = self.span.enter();
        let _answer = tracing::debug_span!("answer").entered();
        self.cancel.set_analysis(Some(snapshot.db.cancellation()));
        let is_cancelled = self.is_cancelled();
        let ran = if is_cancelled { RequestOutcome::Done } else { (self.answer)(Ok(snapshot)) };
        self.cancel.set_analysis(None);
        ran
    }

    /// Fails the request.
    pub(super) fn refuse(mut self, error: Error) {
        (self.answer)(Err(error));
    }
}

/// Returns the error of a valid request that cannot be fulfilled. Editors show the message.
pub(super) fn request_failed(message: String) -> Error {
    // `RequestFailed`
    Error { code: ErrorCode::ServerError(-32803), message: message.into(), data: None }
}

/// Returns the error of a request whose positions refer to an old text.
pub(super) fn content_modified() -> Error {
    Error {
        code: ErrorCode::ContentModified,
        message: "the document has changed since the request was made".into(),
        data: None,
    }
}
