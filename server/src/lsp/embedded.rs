//! A language server inside of another program, as in a web worker: it takes messages one by one, works
//! when it is told to, and starts no thread.
//!
//! It is the server of [`serve`](super::serve) without its edges: the same service, owner and handlers,
//! with a worker that works at once instead of threads, and a pool of tasks instead of tokio's runtime.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{
    backend::Backend,
    event,
    exit::ExitReason,
    outgoing,
    owner::Owner,
    runs::Runs,
    service,
    stdout::{PendingMessages, StdoutWriter},
    tasks::Pool,
    transport::Handler,
    workers::Workers,
};

/// A language server that the embedding program drives.
pub struct EmbeddedServer {
    tasks: Pool,
    handler: Handler<Backend>,
    owner: Owner,
    messages: PendingMessages,
    /// Kept for those that announce the end of the session.
    _exits: UnboundedReceiver<ExitReason>,
}

impl Default for EmbeddedServer {
    /// Starts a session.
    fn default() -> EmbeddedServer {
        let mut tasks = Pool::new();
        let (exits, exited) = unbounded_channel();
        let (writer, messages) = StdoutWriter::channel();
        let (handler, owner) = tasks.run(|| {
            let (mailbox, inbox) = event::mailbox();
            let runs = Runs::default();
            let mut owner = None;
            let (service, socket) = service(mailbox.clone(), runs.clone(), exits, |client| {
                let outgoing = outgoing::start(client, writer.clone());
                let workers = Workers::inline(&mailbox);
                owner = Some(Owner::new(inbox, mailbox.clone(), outgoing, runs, workers));
            });
            (Handler::new(service, socket, writer), owner)
        });
        // The service calls the function that makes its owner.
        let owner = owner.expect("the service was built");
        EmbeddedServer { tasks, handler, owner, messages, _exits: exited }
    }
}

impl EmbeddedServer {
    /// Takes a message of the client. [`work`](Self::work) does the work for it.
    pub fn receive(&mut self, body: &[u8]) {
        let handler = &mut self.handler;
        // It waits only while too many calls are active, which is never the case here.
        self.tasks.run(|| handler.handle(body).now_or_never());
    }

    /// Handles an event or does a piece of work. Returns the time until there is more to do, zero if
    /// there is now; `None` if nothing is to be done before the next message.
    pub fn work(&mut self) -> Option<Duration> {
        let owner = &mut self.owner;
        self.tasks.run(|| owner.advance())
    }

    /// Returns the next message for the client, without a header.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.messages.take()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Sends a message, works until nothing is to be done, and returns the messages for the client.
    fn answers(server: &mut EmbeddedServer, message: &Value) -> Vec<Value> {
        server.receive(message.to_string().as_bytes());
        let mut all = Vec::new();
        while server.work().is_some() {
            while let Some(body) = server.take() {
                all.push(serde_json::from_slice(&body).expect("JSON"));
            }
        }
        while let Some(body) = server.take() {
            all.push(serde_json::from_slice(&body).expect("JSON"));
        }
        all
    }

    fn request(server: &mut EmbeddedServer, id: u32, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let all = answers(server, &message);
        all.into_iter().find(|answer| answer["id"] == id).expect("an answer")
    }

    fn notify(server: &mut EmbeddedServer, method: &str, params: Value) -> Vec<Value> {
        answers(server, &json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    #[test]
    fn session_without_threads_answers_like_the_server() {
        let mut server = EmbeddedServer::default();
        let before = request(&mut server, 1, "textDocument/hover", json!({}));
        assert_eq!(before["error"]["code"], -32002, "{before}");
        let initialized = request(&mut server, 2, "initialize", json!({ "capabilities": {} }));
        assert!(initialized["result"]["capabilities"]["hoverProvider"].as_bool().unwrap_or(false));
        notify(&mut server, "initialized", json!({}));
        let uri = "untitled:a.relay";
        let text =
            "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2, 3), float32]) {\n  nn.relu(%y)\n}\n";
        let document = json!({ "uri": uri, "languageId": "relay", "version": 1, "text": text });
        let opened =
            notify(&mut server, "textDocument/didOpen", json!({ "textDocument": document }));
        let published = |messages: &[Value]| {
            let found = messages.iter().find(|m| m["method"] == "textDocument/publishDiagnostics");
            found.map(|m| m["params"]["diagnostics"].as_array().map_or(0, Vec::len))
        };
        assert_eq!(published(&opened), Some(1), "{opened:?}");
        let at = |character: u32| json!({ "line": 2, "character": character });
        let change = json!({ "range": { "start": at(10), "end": at(12) }, "text": "%x" });
        let changed = notify(
            &mut server,
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [change] }),
        );
        assert_eq!(published(&changed), Some(0), "{changed:?}");
        let place = json!({ "textDocument": { "uri": uri }, "position": at(11) });
        let hover = request(&mut server, 3, "textDocument/hover", place);
        assert!(hover.to_string().contains("Tensor[(2, 3), float32]"), "{hover}");
        let run =
            json!({ "command": "relay.run", "arguments": [{ "uri": uri, "function": "@main" }] });
        let run = request(&mut server, 4, "workspace/executeCommand", run);
        assert_eq!(run["result"]["status"], "done", "{run}");
        let side = json!({ "uri": uri });
        let sides = json!({ "before": side, "after": side });
        let refused = request(&mut server, 6, "relay/compareValues", sides);
        assert!(refused["error"]["message"].to_string().contains("a browser"), "{refused}");
        assert_eq!(request(&mut server, 5, "shutdown", Value::Null)["result"], Value::Null);
    }

    #[test]
    fn messages_are_answered_as_by_the_server() {
        let mut server = EmbeddedServer::default();
        request(&mut server, 1, "initialize", json!({ "capabilities": {} }));
        for (message, answer) in [
            (
                r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":""}"#,
                r#""id":18446744073709551616}"#,
            ),
            (r#"{"jsonrpc":"2.0","id":-1.50,"method":7}"#, r#""id":-1.50}"#),
            (
                r#"{"jsonrpc":"2.0","id":"\u0061","method":"shutdown","params":1}"#,
                r#""id":"\u0061"}"#,
            ),
            (r#"{"id":2,"method":"shutdown"}"#, r#""id":2}"#),
            (r#"[{"jsonrpc":"2.0","id":3,"method":"shutdown"}]"#, r#""id":null}"#),
            ("{", r#""id":null}"#),
        ] {
            server.receive(message.as_bytes());
            while server.work().is_some() {}
            let body = String::from_utf8(server.take().expect("an answer")).expect("text");
            assert!(body.contains("\"error\"") && body.ends_with(answer), "{message}: {body}");
            assert_eq!(server.take(), None, "{message}");
        }
    }

    #[test]
    fn cancelled_request_is_answered_once() {
        let mut server = EmbeddedServer::default();
        request(&mut server, 1, "initialize", json!({ "capabilities": {} }));
        let uri = "untitled:a.relay";
        let document =
            json!({ "uri": uri, "languageId": "relay", "version": 1, "text": "def @f() { 1 }" });
        notify(&mut server, "textDocument/didOpen", json!({ "textDocument": document }));
        let ask = json!({ "jsonrpc": "2.0", "id": 2, "method": "relay/health",
            "params": { "textDocument": { "uri": uri } } });
        server.receive(ask.to_string().as_bytes());
        let cancelled = notify(&mut server, "$/cancelRequest", json!({ "id": 2 }));
        let answers: Vec<&Value> = cancelled.iter().filter(|message| message["id"] == 2).collect();
        assert!(answers.len() == 1 && answers[0]["error"]["code"] == -32800, "{cancelled:?}");
    }
}
