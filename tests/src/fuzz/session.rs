//! Fuzz target of sessions with the language server: every request gets exactly one response,
//! notifications get none, there are no internal errors, and the server is responsive at the end.
//!
//! A script is a list of messages, each after the byte 1:
//!
//! ```text
//! open D TEXT             opens a document (D is a digit)
//! replace D TEXT          replaces its text
//! edit D L C L C TEXT     replaces a range of it
//! close D                 closes it
//! ask METHOD D L C        a request about a place in it
//! cancel N                cancels the request N before the last
//! raw JSON                any message; an `id` in it is replaced by an unused one
//! ```
//!
//! Documents stay open across scripts, so a failure may depend on earlier scripts: a failing script is
//! tried again on a new server. Each thread has one server, which runs [`SCRIPTS`] scripts.

use std::{cell::RefCell, collections::HashSet, time::Duration};

use serde_json::{Value, json};

use super::{SEPARATOR, mutate::Mutator, text::text_of};
use crate::client::{Client, range};

/// The number of scripts per server. Messages after the awaited responses are checked during the next
/// script, or at the end of the server.
const SCRIPTS: usize = 100;
/// The CPU time that the server may take for one script.
const MAX_SERVER_TIME: Duration = Duration::from_secs(4);
/// The largest number of messages of a script; further ones are ignored.
const MAX_MESSAGES: usize = 64;

/// The requests about places in documents.
const METHODS: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/typeDefinition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/documentLink",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/prepareCallHierarchy",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/semanticTokens/range",
    "textDocument/inlayHint",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/onTypeFormatting",
    "textDocument/linkedEditingRange",
    "textDocument/diagnostic",
    "workspace/symbol",
    "relay/shapes",
    "relay/whyShape",
    "relay/typeAt",
    "relay/readingView",
    "relay/readingFormat",
    "relay/shapesOfFile",
    "relay/convertFile",
    "relay/health",
    "callHierarchy/incomingCalls",
    "textDocument/unknown",
    "$/unknown",
];

/// Useless and malformed messages.
const RAW: &[&str] = &[
    r#"{"jsonrpc":"2.0","method":"$/progress"}"#,
    r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"textDocument/hover"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":[]}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"no"},"position":{"line":-1,"character":4294967296}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"workspace/executeCommand","params":{"command":"no"}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///fuzz/9.relay","version":-5},"contentChanges":[]}}"#,
    // Out of order: until the text is whole again, requests fail.
    r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///fuzz/0.relay","version":-5},"contentChanges":[]}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///fuzz/9.relay"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":"text"}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didSave","params":{"textDocument":{"uri":"file:///fuzz/0.relay"}}}"#,
    r#"{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{"relay":{"tvm":true}}}}"#,
    r#"{"jsonrpc":"2.0","method":"workspace/didChangeConfiguration","params":{"settings":{"relay":7}}}"#,
    r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"none"}}"#,
    r#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"verbose"}}"#,
    r#"{"jsonrpc":"2.0","id":7,"result":null}"#,
    r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#,
];

/// The allowed error codes of responses: unknown method, invalid parameters or request, cancelled,
/// content modified, request failed. The code of internal errors is not allowed.
const CODES: &[i64] = &[-32601, -32602, -32600, -32800, -32801, -32802, -32803];

/// Generates a random script.
pub(super) fn script(mutator: &mut Mutator<'_>) -> String {
    let mut script = String::new();
    for number in 0..mutator.rng.usize(3..14) {
        let document = mutator.rng.usize(0..2);
        let place = |mutator: &mut Mutator<'_>| {
            let (line, column) = (mutator.rng.u32(0..12), mutator.rng.u32(0..60));
            // Some positions are outside of every text.
            if mutator.rng.u8(0..30) == 0 { (u32::MAX, line) } else { (line, column) }
        };
        script.push(SEPARATOR);
        script += &match mutator.rng.u8(0..20) {
            _ if number == 0 => format!("open {document} {}", mutator.text()),
            0 => format!("open {document} {}", mutator.text()),
            1 => format!("replace {document} {}", mutator.text()),
            2..=4 => {
                let (line, column) = place(mutator);
                let length = mutator.rng.u32(0..3);
                let text = crate::edits::random(&mut mutator.rng, "").insert;
                format!(
                    "edit {document} {line} {column} {line} {} {text}",
                    column.wrapping_add(length)
                )
            }
            5 => format!("close {document}"),
            6 => format!("cancel {}", mutator.rng.usize(0..4)),
            7 => format!("raw {}", RAW[mutator.rng.usize(0..RAW.len())]),
            _ => {
                let method = METHODS[mutator.rng.usize(0..METHODS.len())];
                let (line, column) = place(mutator);
                format!("ask {method} {document} {line} {column}")
            }
        };
    }
    script
}

/// A server and its requests.
struct Session {
    client: Client,
    scripts: usize,
    /// The requests without a response.
    open: HashSet<String>,
    /// The requests of the script, in order.
    asked: Vec<i64>,
    version: i64,
    next_raw: usize,
}

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Sends the messages of a script to a server.
pub fn session(input: &[u8]) {
    let script = text_of(input);
    SESSION.with_borrow_mut(|kept| {
        // If this panics, no server is kept.
        let mut session = kept.take().unwrap_or_else(Session::new);
        for message in script.split(SEPARATOR).take(MAX_MESSAGES) {
            session.message(message);
        }
        session.end_script();
        if session.scripts < SCRIPTS {
            *kept = Some(session);
        } else {
            session.finish();
        }
    });
}

/// Ends the server of this thread, if there is one, and checks its remaining messages.
pub fn end_session() {
    if let Some(session) = SESSION.take() {
        session.finish();
    }
}

impl Session {
    fn new() -> Session {
        Session {
            client: Client::start(),
            scripts: 0,
            open: HashSet::new(),
            asked: Vec::new(),
            version: 1,
            next_raw: 0,
        }
    }

    fn message(&mut self, message: &str) {
        let (verb, rest) = message.split_once(' ').unwrap_or((message, ""));
        let word = |rest: &str| -> (String, String) {
            let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            (word.to_owned(), rest.to_owned())
        };
        let uri =
            |digit: &str| format!("file:///fuzz/{}.relay", digit.chars().next().unwrap_or('0'));
        match verb {
            "open" => {
                let (document, text) = word(rest);
                self.client.open(&uri(&document), &text);
            }
            "replace" => {
                let (document, text) = word(rest);
                self.version += 1;
                self.client.replace(&uri(&document), self.version, &text);
            }
            "edit" => {
                let (document, mut rest) = word(rest);
                let mut numbers = [0; 4];
                for number in &mut numbers {
                    let (next, after) = word(&rest);
                    *number = next.parse().unwrap_or_default();
                    rest = after;
                }
                self.version += 1;
                let [line, column, last, end] = numbers;
                self.client.edit(&uri(&document), self.version, (line, column), (last, end), &rest);
            }
            "close" => {
                let document = uri(rest);
                let params = json!({ "textDocument": { "uri": document } });
                self.client.notify("textDocument/didClose", params);
            }
            "ask" => {
                let (method, rest) = word(rest);
                let (document, rest) = word(&rest);
                let (line, column) = word(&rest);
                let number = |text: &str| text.parse::<u32>().unwrap_or_default();
                if !is_end(&method) {
                    let params = about(&uri(&document), number(&line), number(&column));
                    let id = self.client.ask(&method, params);
                    self.open.insert(json!(id).to_string());
                    self.asked.push(id);
                }
            }
            "cancel" => {
                let back = rest.parse().unwrap_or_default();
                if let Some(id) = self.asked.iter().rev().nth(back) {
                    self.client.notify("$/cancelRequest", json!({ "id": id }));
                }
            }
            "raw" => self.raw(rest),
            _ => {}
        }
    }

    /// Sends any message. Responses to invalid JSON, to messages without a method and to notifications with
    /// invalid parameters have no id.
    fn raw(&mut self, text: &str) {
        let Ok(mut message) = serde_json::from_str::<Value>(text) else { return };
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            if message.is_object() && (message.get("result").or(message.get("error"))).is_some() {
                self.client.send(&message);
            }
            return;
        };
        if is_end(&method) || method.is_empty() {
            return;
        }
        if matches!(message["id"], Value::Number(_) | Value::String(_)) {
            self.next_raw += 1;
            message["id"] = json!(format!("raw {}", self.next_raw));
            self.open.insert(message["id"].to_string());
        } else if let Some(message) = message.as_object_mut() {
            message.remove("id");
            if !matches!(
                message.get("params"),
                None | Some(Value::Null | Value::Object(_) | Value::Array(_))
            ) {
                return;
            }
        }
        message["jsonrpc"] = json!("2.0");
        self.client.send(&message);
    }

    /// Waits for all responses, and for that of a final request, which shows that the server is responsive.
    fn end_script(&mut self) {
        let before = self.client.cpu();
        let id = self.client.ask("$/there", Value::Null);
        self.open.insert(json!(id).to_string());
        while !self.open.is_empty() {
            let wanted = format!("the answers to {:?}", self.open);
            let message = self.client.wait_for(&wanted, |_| true);
            self.receive(&message);
        }
        if let (Some(before), Some(after)) = (before, self.client.cpu()) {
            let took = after.saturating_sub(before);
            assert!(took <= MAX_SERVER_TIME, "the server takes {took:?}");
        }
        self.asked.clear();
        self.scripts += 1;
    }

    fn receive(&mut self, message: &Value) {
        if message.get("method").is_some() {
            // The client announces no capability that allows requests of the server.
            assert!(message.get("id").is_none(), "the server asks: {message}");
            // An internal error during an edit is shown to the user.
            let is_error =
                message["method"] == "window/showMessage" && message["params"]["type"] == 1;
            assert!(!is_error, "internal error of the server: {message}");
            return;
        }
        let id = &message["id"];
        assert!(self.open.remove(&id.to_string()), "unexpected or duplicate response: {message}");
        let (result, error) = (message.get("result"), message.get("error"));
        assert!(result.is_some() != error.is_some(), "neither a result nor an error: {message}");
        if let Some(error) = error {
            let code = error["code"].as_i64().unwrap_or_default();
            assert!(CODES.contains(&code), "internal error of the server: {error}");
        }
    }

    fn finish(mut self) {
        for message in self.client.drain(Duration::from_millis(20)) {
            self.receive(&message);
        }
        assert_eq!(self.client.finish(), Some(0), "the server did not exit regularly");
    }
}

/// Returns true if a method ends the server.
fn is_end(method: &str) -> bool {
    matches!(method, "exit" | "shutdown")
}

/// Returns parameters for any request with a position.
fn about(uri: &str, line: u32, column: u32) -> Value {
    let place = json!({ "line": line, "character": column });
    let range = range((line, column), (line.saturating_add(3), column));
    json!({
        "textDocument": { "uri": uri },
        "position": place,
        "positions": [place],
        "range": range,
        "context": { "diagnostics": [], "includeDeclaration": true, "triggerKind": 1, "isRetrigger": false },
        "options": { "tabSize": 2, "insertSpaces": true },
        "newName": "renamed",
        "ch": "\n",
        "query": "ma",
        "previousResultId": "1",
        "item": {
            "name": "@main", "kind": 12, "uri": uri, "range": range, "selectionRange": range,
        },
    })
}
