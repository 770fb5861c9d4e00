//! The transport: decodes messages from standard input, drives `tower-lsp`'s service and client
//! socket, and writes responses to standard output.
//!
//! `tower_lsp::Server` would do this, but it ends the session at the first message that it cannot
//! decode, reads on after `exit` until standard input closes, and serialises each result twice, to
//! a tree of values and then to text, on the thread that reads the client's messages. For the
//! 90,000 semantic tokens of a long module that takes longer than computing them: a worker
//! serialises such a result itself, and its handler passes it to [`respond_raw`].

use std::{cell::RefCell, sync::Arc, time::Duration};

use futures_util::{FutureExt, Sink, SinkExt, StreamExt};
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tokio::{
    io::AsyncBufRead,
    sync::{Semaphore, mpsc::UnboundedReceiver},
};
use tower_lsp::{
    ClientSocket, ExitedError, LanguageServer, LspService,
    jsonrpc::{Error, ErrorCode, Request, Response, Result},
};
use tower_service::Service;
use tracing::Instrument;

use super::{
    exit::ExitReason,
    framing::{Frame, FrameReader},
    message::{Identifier, Message, Refusal, decode},
    stdout::StdoutWriter,
    tasks,
};

/// The largest number of calls at once. A request counts until it is answered: with `tower-lsp`'s
/// default of four, four slow requests would block the `$/cancelRequest` that could end them.
const MAX_CALLS: u32 = 256;

/// The time that calls have to finish after `exit`.
pub(super) const EXIT_GRACE: Duration = Duration::from_millis(200);

/// The `result` of a response as JSON text.
#[derive(Debug)]
pub(super) struct RawResponse(pub(super) String);

tokio::task_local! {
    /// The raw response of the call that the current task polls.
    ///
    /// `tower-lsp`'s handlers return values, and do not see the identifier of their request. The
    /// alternative, to call the worker without the service, would lose `$/cancelRequest` and the
    /// checks of the session's state.
    static RAW: RefCell<Option<RawResponse>>;
}

/// Makes `response` the response to the current request if its handler returns a value; that value
/// is ignored.
pub(super) fn respond_raw(response: RawResponse) {
    RAW.with(|raw| raw.replace(Some(response)));
}

/// Serves a client until the session ends: by `exit`, by the end of `input`, or for a reason from
/// `exits`.
pub(super) async fn serve<S: LanguageServer>(
    input: impl AsyncBufRead + Unpin,
    (service, socket): (LspService<S>, ClientSocket),
    writer: StdoutWriter,
    mut exits: UnboundedReceiver<ExitReason>,
) -> ExitReason {
    let mut handler = Handler::new(service, socket, writer);
    let calls = handler.calls.clone();
    let reason = tokio::select! {
        // A client may send `exit` and close its pipes at once.
        biased;
        reason = handler.read(input) => reason,
        Some(reason) = exits.recv() => reason,
    };
    if reason.client_reads() {
        let _ = tokio::time::timeout(EXIT_GRACE, calls.acquire_many(MAX_CALLS)).await;
    }
    reason
}

/// Handles the messages of the client.
pub(super) struct Handler<S> {
    service: LspService<S>,
    /// Takes the client's responses to requests of the server.
    responses: ResponseSink,
    writer: StdoutWriter,
    /// A permit for each call that may still start.
    calls: Arc<Semaphore>,
    is_shut_down: bool,
}

/// The sink of [`ClientSocket::split`], whose name `tower-lsp` does not export.
type ResponseSink = Box<dyn Sink<Response, Error = ExitedError> + Send + Unpin>;

impl<S: LanguageServer> Handler<S> {
    /// Starts the task that writes the requests of the server.
    pub(super) fn new(service: LspService<S>, socket: ClientSocket, writer: StdoutWriter) -> Self {
        let (mut requests, responses) = socket.split();
        let out = writer.clone();
        tasks::spawn(async move {
            while let Some(request) = requests.next().await {
                out.write(&request);
            }
        });
        let calls = Arc::new(Semaphore::new(MAX_CALLS as usize));
        Handler { service, responses: Box::new(responses), writer, calls, is_shut_down: false }
    }

    /// Reads and handles messages up to `exit` or the end of the input.
    async fn read(&mut self, input: impl AsyncBufRead + Unpin) -> ExitReason {
        let mut frames = FrameReader::new(input);
        loop {
            match frames.next().await {
                Ok(Frame::Body(body)) => {
                    if let Some(reason) = self.handle(body).await {
                        return reason;
                    }
                }
                Ok(Frame::Malformed(reason)) => {
                    self.refuse(Refusal::anonymous(ErrorCode::ParseError, &reason));
                }
                Ok(Frame::Oversized) => return ExitReason::Oversized,
                Ok(Frame::End) | Err(_) => {
                    // All messages that were read are answered.
                    let _ = self.calls.acquire_many(MAX_CALLS).await;
                    return ExitReason::InputClosed;
                }
            }
        }
    }

    /// Handles a message. Returns the reason if it ends the session.
    pub(super) async fn handle(&mut self, body: &[u8]) -> Option<ExitReason> {
        match decode(body) {
            Ok(Message::Call(request, id)) => {
                let exits = request.method() == "exit";
                self.is_shut_down |= request.method() == "shutdown";
                self.call(request, id).await;
                let reason = match self.is_shut_down {
                    true => ExitReason::AfterShutdown,
                    false => ExitReason::WithoutShutdown,
                };
                return exits.then_some(reason);
            }
            // Fails after `exit` only.
            Ok(Message::Response(response)) => {
                let _ = self.responses.send(response).await;
            }
            Err(refusal) => self.refuse(refusal),
        }
        None
    }

    /// Answers a message that is not valid.
    fn refuse(&self, refusal: Refusal) {
        self.writer.write(&Answer::new(&refusal.id, &Err(refusal.error)));
    }

    /// Calls the service. The handler runs up to its first `await` before this returns, so that
    /// requests and changes reach the owner in the order in which they arrive; the rest runs as a
    /// task.
    async fn call(&mut self, request: Request, id: Option<Identifier>) {
        if let Some(id) = &id
            && request.method().starts_with("$/")
        {
            // Such notifications may be ignored, requests may not; the service ignores both.
            self.writer.write(&Answer::new(id, &Err(Error::method_not_found())));
            return;
        }
        // Neither is closed before `exit`.
        let Ok(permit) = self.calls.clone().acquire_owned().await else { return };
        if std::future::poll_fn(|context| self.service.poll_ready(context)).await.is_err() {
            return;
        }
        let known = id.as_ref().map(Identifier::text);
        let span = tracing::debug_span!("message", method = request.method(), id = known);
        let handler = span.in_scope(|| self.service.call(request)).instrument(span);
        let writer = self.writer.clone();
        let mut call = Box::pin(RAW.scope(RefCell::default(), async move {
            if let (Ok(Some(response)), Some(id)) = (handler.await, id) {
                respond(&writer, &id, response);
            }
            drop(permit);
        }));
        if (&mut call).now_or_never().is_none() {
            tasks::spawn(call);
        }
    }
}

/// Writes the response to the current request.
fn respond(writer: &StdoutWriter, id: &Identifier, response: Response) {
    let raw = RAW.with(RefCell::take);
    match (raw, response.into_parts().1) {
        (Some(RawResponse(result)), Ok(_)) => {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.text());
            writer.write_body(body.into_bytes());
        }
        (_, result) => writer.write(&Answer::new(id, &result)),
    }
}

/// The response to a request, with the identifier that the client sent.
#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Error>,
    id: &'a RawValue,
}

impl<'a> Answer<'a> {
    fn new(id: &'a Identifier, result: &'a Result<Value>) -> Answer<'a> {
        let (result, error) = (result.as_ref().ok(), result.as_ref().err());
        Answer { jsonrpc: "2.0", result, error, id: id.value() }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::mpsc::unbounded_channel;
    use tower_lsp::lsp_types::{InitializeParams, InitializeResult};

    use super::*;

    struct Server;

    impl Server {
        async fn raw(&self) -> Result<Value> {
            tokio::task::yield_now().await;
            respond_raw(RawResponse(r#"{"data":[1,2]}"#.to_owned()));
            Ok(Value::Null)
        }

        async fn plain(&self) -> Result<Value> {
            Ok(json!([3]))
        }

        async fn endless(&self) -> Result<Value> {
            respond_raw(RawResponse("4".to_owned()));
            std::future::pending().await
        }
    }

    #[tower_lsp::async_trait]
    impl LanguageServer for Server {
        async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
            Ok(InitializeResult::default())
        }

        async fn shutdown(&self) -> Result<()> {
            Ok(())
        }
    }

    /// Serves messages after `initialize`, and returns the bodies written after its response.
    fn served(messages: &[&str]) -> (ExitReason, Vec<String>) {
        let initialize =
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}"#;
        let all = std::iter::once(&initialize).chain(messages);
        let input: String =
            all.map(|body| format!("Content-Length: {}\r\n\r\n{body}", body.len())).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let (writer, written) = StdoutWriter::channel();
        let (_exits, exited) = unbounded_channel();
        let reason = runtime.expect("a runtime").block_on(async {
            let service = LspService::build(|_| Server)
                .custom_method("raw", Server::raw)
                .custom_method("plain", Server::plain)
                .custom_method("endless", Server::endless)
                .finish();
            serve(input.as_bytes(), service, writer, exited).await
        });
        let body = |message: Vec<u8>| String::from_utf8(message).expect("UTF-8");
        (reason, std::iter::from_fn(|| written.take()).map(body).skip(1).collect())
    }

    #[test]
    fn raw_response_replaces_the_value_of_its_request_only() {
        let (reason, written) = served(&[
            r#"{"jsonrpc":"2.0","id":"a\"b","method":"raw"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"plain"}"#,
        ]);
        assert_eq!(reason, ExitReason::InputClosed);
        let expected = [
            r#"{"jsonrpc":"2.0","result":[3],"id":2}"#,
            r#"{"jsonrpc":"2.0","id":"a\"b","result":{"data":[1,2]}}"#,
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn cancelled_request_has_no_raw_response() {
        let (_, written) = served(&[
            r#"{"jsonrpc":"2.0","id":1,"method":"endless"}"#,
            r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#,
        ]);
        assert!(written.len() == 1 && written[0].contains("-32800"), "{written:?}");
    }

    #[test]
    fn exit_ends_the_session_before_the_input() {
        let exit = r#"{"jsonrpc":"2.0","method":"exit","params":null}"#;
        let plain = r#"{"jsonrpc":"2.0","id":2,"method":"plain"}"#;
        assert_eq!(served(&[exit, plain]), (ExitReason::WithoutShutdown, vec![]));
        let shutdown = r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":null}"#;
        let response = r#"{"jsonrpc":"2.0","result":null,"id":1}"#.to_owned();
        assert_eq!(served(&[shutdown, exit, plain]), (ExitReason::AfterShutdown, vec![response]));
    }

    #[test]
    fn undecodable_messages_are_answered_and_skipped() {
        let plain = r#"{"jsonrpc":"2.0","id":2,"method":"plain"}"#;
        for (body, code) in [
            ("{\"broken\"", -32700),
            ("[]", -32600),
            ("7", -32600),
            ("", -32700),
            ("{\"jsonrpc\":\"2.0\"}", -32600),
            ("{\"jsonrpc\":\"1.0\",\"method\":\"exit\"}", -32600),
            ("[{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}]", -32600),
        ] {
            let (_, written) = served(&[body, plain]);
            assert_eq!(written.len(), 2, "{body}: {written:?}");
            assert!(written[0].contains(&code.to_string()), "{body}: {written:?}");
        }
    }

    #[test]
    fn identifiers_come_back_as_they_were_sent() {
        for id in ["18446744073709551616", "-1.50", "1e3", "null", r#""\u0061""#] {
            let message = |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#);
            let messages = [
                message(r#""method":"plain""#),
                message(r#""method":"$/x""#),
                message(r#""method":"""#),
                message(r#""method":7"#),
                message(r#""method":"endless""#),
                format!(r#"{{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":{id}}}}}"#),
                message(r#""method":"raw""#),
            ];
            let (_, written) = served(&messages.each_ref().map(String::as_str));
            let expected = ["[3]", "-32601", "-32601", "-32600", "-32800", "[1,2]"];
            assert_eq!(written.len(), expected.len(), "{written:?}");
            for (answer, part) in written.iter().zip(expected) {
                let parts = [format!(r#""id":{id},"#), format!(r#""id":{id}}}"#)];
                assert!(parts.iter().any(|id| answer.contains(id)), "{id}: {answer}");
                assert!(answer.contains(part), "{part}: {answer}");
            }
        }
    }

    #[test]
    fn unknown_request_of_the_protocol_is_answered() {
        let (_, written) = served(&[
            r#"{"jsonrpc":"2.0","id":5,"method":"$/unknown"}"#,
            r#"{"jsonrpc":"2.0","method":"$/unknown"}"#,
        ]);
        assert!(written.len() == 1 && written[0].contains("-32601"), "{written:?}");
    }
}
