//! Sees `shutdown` and `exit` go by.
//!
//! After `exit`, tower-lsp reads on until standard input closes, and a client that keeps the pipe
//! open would be left with a process that does nothing.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::oneshot;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};
use tower_service::Service;

use super::{farewell::Farewell, framing::UNREADABLE};

/// The service, with an eye on the end of the session.
pub(super) struct Gate<S> {
    inner: S,
    shut_down: bool,
    exited: Option<oneshot::Sender<Farewell>>,
}

impl<S> Gate<S> {
    /// The gate, and a future that is there when the client has said `exit`.
    pub(super) fn new(inner: S) -> (Gate<S>, impl Future<Output = Farewell>) {
        let (sender, receiver) = oneshot::channel();
        let gate = Gate { inner, shut_down: false, exited: Some(sender) };
        let farewell = async move {
            match receiver.await {
                Ok(farewell) => farewell,
                // The gate went with the server, which then speaks for itself.
                Err(_) => std::future::pending().await,
            }
        };
        (gate, farewell)
    }
}

impl<S> Service<Request> for Gate<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Option<Response>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let request = without_null(request);
        match request.method() {
            "shutdown" => self.shut_down = true,
            "exit" => {
                let farewell = if self.shut_down { Farewell::Proper } else { Farewell::Abrupt };
                if let Some(exited) = self.exited.take() {
                    // Nobody listens only if the server has ended already.
                    let _ = exited.send(farewell);
                }
            }
            UNREADABLE => {
                let answer = Response::from_error(Id::Null, error(&request));
                return Box::pin(async move { Ok(Some(answer)) });
            }
            method if method.starts_with("$/") => {
                // Notifications of this kind may be left alone, requests may not; tower-lsp answers
                // neither.
                if let Some(id) = request.id() {
                    let answer = Response::from_error(id.clone(), Error::method_not_found());
                    return Box::pin(async move { Ok(Some(answer)) });
                }
            }
            _ => {}
        }
        Box::pin(self.inner.call(request))
    }
}

/// `"params": null` means none: Emacs ends a session with it, and tower-lsp would refuse it.
fn without_null(request: Request) -> Request {
    if request.params() != Some(&serde_json::Value::Null) {
        return request;
    }
    let (method, id, _) = request.into_parts();
    let request = Request::build(method);
    match id {
        Some(id) => request.id(id).finish(),
        None => request.finish(),
    }
}

/// The error that a message deserves that could not be read.
fn error(request: &Request) -> Error {
    let params = request.params();
    let code = params.and_then(|params| params["code"].as_i64()).unwrap_or(-32700);
    let reason = params.and_then(|params| params["reason"].as_str()).unwrap_or_default();
    let mut error = Error::new(ErrorCode::from(code));
    error.message = format!("this is no message of the protocol: {reason}").into();
    error
}
