//! Robustness of the server: unknown methods, clients that end without a shutdown, oversized messages,
//! reopened documents, and panics.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use relay_tests::client::{Client, at, binary};
use serde_json::{Value, json};

const URI: &str = "file:///work/a.relay";
const OTHER: &str = "file:///work/b.relay";
const SMALL: &str = "def @main(%x: Tensor[(2, 3), float32]) {\n  add(%x, %x)\n}\n";
const BOOM: &str = "def @main(%x: int32) -> int32 { @boom(%x) }\ndef @boom(%x: int32) { %x }\n";

#[test]
fn unknown_methods_are_errors_and_unknown_notifications_ignored() {
    let mut client = Client::spawn();
    // Also before `initialize`.
    for name in ["$/unknown", "$/", "$/unreadable", "$/cancelRequest", "$/progress"] {
        let answer = client.request(name, json!({ "id": 1 }));
        assert_eq!(answer["error"]["code"], -32601, "{name}: {answer}");
    }
    drop(client);
    let mut client = Client::start();
    for name in ["$/unknown", "$/", "$/unreadable", "$/cancelRequest", "$/setTrace", "$/progress"] {
        for params in [Value::Null, json!({}), json!([1]), json!({ "value": "off", "id": 99 })] {
            let answer = client.request(name, params.clone());
            assert_eq!(answer["error"]["code"], -32601, "{name}: {answer}");
            client.notify(name, params);
        }
        let message = json!({ "jsonrpc": "2.0", "id": "a string", "method": name });
        client.send(&message);
        let answer = client.wait_for(name, |message| message["id"] == "a string");
        assert_eq!(answer["error"]["code"], -32601, "{name}: {answer}");
    }
    assert_eq!(client.drain(Duration::from_millis(200)), [] as [Value; 0]);
    assert_eq!(client.finish(), Some(0));
}

/// A server with direct access to its pipes.
struct Bare {
    child: Child,
}

impl Bare {
    fn start(params: &Value) -> Bare {
        let mut child = Command::new(binary())
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let body = body.to_string();
        let stdin = child.stdin.as_mut().expect("a pipe");
        write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
        let mut bare = Bare { child };
        bare.read_message();
        bare
    }

    fn read_message(&mut self) {
        let mut stdout = BufReader::with_capacity(1, self.child.stdout.as_mut().expect("a pipe"));
        let mut length = 0;
        loop {
            let mut line = String::new();
            stdout.read_line(&mut line).expect("a header");
            match line.trim().strip_prefix("Content-Length:") {
                Some(value) => length = value.trim().parse().expect("a length"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        stdout.read_exact(&mut vec![0; length]).expect("a body");
    }

    /// Returns the exit code and standard error, or `None` if the server does not exit.
    fn end(&mut self, patience: Duration) -> Option<(Option<i32>, String)> {
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.child.try_wait() {
                let mut said = String::new();
                let stderr = self.child.stderr.as_mut().expect("a pipe");
                stderr.read_to_string(&mut said).expect("text");
                return Some((status.code(), said));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

#[cfg(unix)]
#[test]
fn server_exits_with_the_client_process() {
    // The parent ends after a request, without a request, and before the server starts.
    for way in ["reaped", "zombie", "before"] {
        let mut parent = Command::new("sleep").arg("1000").spawn().expect("a process");
        if way == "before" {
            parent.kill().expect("it is there");
            parent.wait().expect("it ends");
        }
        let mut server = Bare::start(&json!({ "processId": parent.id(), "capabilities": {} }));
        if way != "before" {
            assert_eq!(server.end(Duration::from_millis(300)), None, "the parent is there");
            parent.kill().expect("it is there");
        }
        if way == "reaped" {
            parent.wait().expect("it ends");
        }
        let (code, said) = server.end(PATIENCE).expect("the server ends");
        assert_eq!(code, Some(1), "{way}: {said}");
        assert!(said.contains("has ended") && said.lines().count() == 1, "{way}: {said}");
        parent.wait().expect("it ends");
    }
    let own = json!({ "processId": std::process::id(), "capabilities": {} });
    assert_eq!(Bare::start(&own).end(Duration::from_millis(500)), None);
}

/// Also while the server is idle, as otherwise it would wait for a message forever.
#[cfg(unix)]
#[test]
fn server_exits_when_its_output_is_closed() {
    let mut server = Bare::start(&json!({ "processId": null, "capabilities": {} }));
    assert_eq!(server.end(Duration::from_millis(300)), None);
    drop(server.child.stdout.take());
    let (code, said) = server.end(PATIENCE).expect("the server ends");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("standard output") && said.lines().count() == 1, "{said}");
}

#[test]
fn server_exits_after_an_oversized_message() {
    for length in ["1073741825", "18446744073709551615", "99999999999999999999999"] {
        let mut server = Bare::start(&json!({ "processId": null, "capabilities": {} }));
        let stdin = server.child.stdin.as_mut().expect("a pipe");
        write!(stdin, "Content-Length: {length}\r\n\r\n{{").expect("it reads");
        let (code, said) = server.end(PATIENCE).expect("the server ends");
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("1073741824 bytes") && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn declared_length_allocates_no_memory() {
    let mut client = Client::start();
    client.open(URI, SMALL);
    client.diagnostics(URI, 1);
    let before = client.resident();
    client.raw(b"Content-Length: 1073741824\r\n\r\n");
    client.raw(&[b' '; 100_000]);
    std::thread::sleep(Duration::from_millis(300));
    if let (Some(before), Some(after)) = (before, client.resident()) {
        assert!(after < before + (32 << 20), "{before} bytes, then {after}");
    }
}

/// When Neovim 0.12 reloads a buffer, it keeps the id of the last result, but drops its diagnostics.
#[test]
fn pulled_result_ids_end_with_the_document() {
    let abilities = json!({ "textDocument": { "diagnostic": {} } });
    let mut client = Client::start_with(abilities, Value::Null);
    let mut last = Value::Null;
    for round in 0..3 {
        client.open(URI, "def @main(%x: int32) { %z }");
        let mut ask = json!({ "textDocument": { "uri": URI }, "previousResultId": last });
        let full = client.request("textDocument/diagnostic", ask.clone());
        assert_eq!(full["result"]["kind"], "full", "round {round}: {full}");
        assert!(!full["result"]["items"].as_array().expect("items").is_empty());
        last = full["result"]["resultId"].clone();
        // While the document is open, an equal result is not sent again.
        ask["previousResultId"] = last.clone();
        let unchanged = client.request("textDocument/diagnostic", ask);
        assert_eq!(unchanged["result"]["kind"], "unchanged", "round {round}: {unchanged}");
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    }
}

/// Sends the requests that an editor sends automatically, and returns the responses.
fn ask_for_everything(client: &mut Client, uri: &str) -> Vec<Value> {
    let ids = ask_everything(client, uri);
    ids.into_iter().map(|id| client.answer(id)).collect()
}

/// Sends the requests that an editor sends automatically.
fn ask_everything(client: &mut Client, uri: &str) -> Vec<i64> {
    let document = json!({ "textDocument": { "uri": uri } });
    let mut hints = document.clone();
    hints["range"] =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 2, "character": 0 } });
    let mut ids = vec![client.ask("textDocument/hover", at(uri, 0, 11))];
    ids.push(client.ask("textDocument/inlayHint", hints));
    for method in
        ["documentSymbol", "foldingRange", "codeLens", "documentLink", "semanticTokens/full"]
    {
        ids.push(client.ask(&format!("textDocument/{method}"), document.clone()));
    }
    ids
}

#[test]
fn panic_in_analysis_is_reported_once_until_the_next_edit() {
    for stage in ["parse:@boom(%x:", "lower:@boom", "infer:@boom"] {
        let mut client = Client::start_with_panics(stage);
        client.open(OTHER, SMALL);
        client.diagnostics(OTHER, 1);
        client.open(URI, BOOM);
        let found = client.diagnostics(URI, 1);
        let found = found.as_array().expect("a list");
        assert_eq!(found.len(), 1, "{stage}: {found:#?}");
        assert_eq!(found[0]["code"], "internal-error", "{stage}: {found:#?}");
        let message = found[0]["message"].as_str().expect("a text");
        assert!(message.contains("/issues") && message.contains(".rs:"), "{stage}: {message}");
        // Concurrent requests encounter the same panic.
        for _ in 0..3 {
            let ids: Vec<i64> = (0..8).flat_map(|_| ask_everything(&mut client, URI)).collect();
            for id in ids {
                let answer = client.answer(id);
                let is_silent = answer["error"]["code"] == -32801;
                assert!(is_silent || answer.get("result").is_some(), "{stage}: {answer}");
            }
        }
        // The other document is not affected.
        for answer in ask_for_everything(&mut client, OTHER) {
            assert!(answer.get("result").is_some(), "{stage}: {answer}");
        }
        // After an edit that does not fix the cause, nothing is reported again.
        client.edit(URI, 2, (0, 0), (0, 0), "// more\n");
        let hover = client.request("textDocument/hover", at(OTHER, 1, 7));
        assert!(hover.get("result").is_some(), "{stage}: {hover}");
        client.edit(URI, 3, (0, 0), (1, 0), "");
        client.replace(URI, 4, &BOOM.replace("@boom", "@calm"));
        let found = client.diagnostics(URI, 4);
        let codes: Vec<&Value> =
            found.as_array().expect("a list").iter().map(|found| &found["code"]).collect();
        assert_eq!(codes, ["tvm-version"], "{stage}");
        for answer in ask_for_everything(&mut client, URI) {
            assert!(answer.get("result").is_some(), "{stage}: {answer}");
        }
        let unread = client.drain(Duration::from_millis(100));
        let shown = unread.iter().filter(|message| message["method"] == "window/showMessage");
        assert_eq!(shown.count(), 0, "{stage}: {unread:#?}");
        let logged = unread.iter().filter(|message| message["method"] == "window/logMessage");
        assert!(logged.count() <= 1, "{stage}: {unread:#?}");
        assert_eq!(client.finish(), Some(0), "{stage}");
    }
}

#[test]
fn panic_in_a_request_is_an_error_of_that_request() {
    let mut client = Client::start_with_panics("infer:@boom");
    // A pulling client gets the error with its first request.
    let settings = json!({ "diagnostics": { "delivery": "pull" } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    client.open(URI, BOOM);
    let hover = client.request("textDocument/hover", at(URI, 0, 11));
    let code = &hover["error"]["code"];
    assert!(*code == -32603 || *code == -32801, "{hover}");
    let pulled =
        client.request("textDocument/diagnostic", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(pulled["result"]["items"][0]["code"], "internal-error", "{pulled}");
    client.open(OTHER, SMALL);
    let hover = client.request("textDocument/hover", at(OTHER, 1, 7));
    assert!(hover["result"].is_object(), "{hover}");
    client.replace(URI, 2, SMALL);
    let hover = client.request("textDocument/hover", at(URI, 1, 7));
    assert!(hover["result"].is_object(), "{hover}");
}

/// The parser panics on the thread that applies edits, which then parses the whole text.
#[test]
fn edit_is_applied_if_its_reparse_panics() {
    let mut client = Client::start_with_panics("edit:%boom");
    client.open(URI, SMALL);
    client.diagnostics(URI, 1);
    client.edit(URI, 2, (1, 10), (1, 12), "%boom");
    let found = client.diagnostics(URI, 2);
    let codes: Vec<&Value> = found.as_array().expect("a list").iter().map(|d| &d["code"]).collect();
    assert!(codes.contains(&&json!("unknown-variable")), "{found}");
    assert!(!codes.contains(&&json!("internal-error")), "{found}");
    client.edit(URI, 3, (1, 10), (1, 15), "%x");
    let hover = client.request("textDocument/hover", at(URI, 1, 11));
    assert!(
        hover["result"]["contents"]["value"].as_str().is_some_and(|v| v.contains("%x: Tensor")),
        "{hover}"
    );
}
