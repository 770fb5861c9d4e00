//! The server at the edges of the protocol: methods of no account, clients that go without a word,
//! messages that are too long, documents that are opened again, and panics.

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
fn requests_of_implementations_are_not_found_and_notifications_are_ignored() {
    let mut client = Client::spawn();
    // Before `initialize`, too.
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

/// A server whose pipes the test holds itself.
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

    /// The exit code and what was written to standard error; nothing if the server stays.
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
fn the_server_ends_with_the_process_that_initialize_names() {
    // Gone and asked for, gone and not asked for, gone before the server starts.
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

/// Also while it has nothing to say: a server that waits for its next message waits for ever.
#[cfg(unix)]
#[test]
fn the_server_ends_when_nobody_reads_what_it_says() {
    let mut server = Bare::start(&json!({ "processId": null, "capabilities": {} }));
    assert_eq!(server.end(Duration::from_millis(300)), None);
    drop(server.child.stdout.take());
    let (code, said) = server.end(PATIENCE).expect("the server ends");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("standard output") && said.lines().count() == 1, "{said}");
}

#[test]
fn the_server_ends_at_a_message_of_more_than_a_gigabyte() {
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
fn an_announced_gigabyte_takes_no_room_before_it_comes() {
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

/// Neovim 0.12 keeps the name of the result when a buffer is loaded again, and drops the
/// diagnostics.
#[test]
fn pulled_results_do_not_outlive_the_document() {
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
        // While it is open, a result is not sent twice.
        ask["previousResultId"] = last.clone();
        let unchanged = client.request("textDocument/diagnostic", ask);
        assert_eq!(unchanged["result"]["kind"], "unchanged", "round {round}: {unchanged}");
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    }
}

/// The answers to the requests that an editor makes by itself.
fn ask_for_everything(client: &mut Client, uri: &str) -> Vec<Value> {
    let ids = ask_everything(client, uri);
    ids.into_iter().map(|id| client.answer(id)).collect()
}

/// The requests that an editor makes by itself.
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
fn a_document_whose_analysis_panics_says_so_once_and_recovers_with_the_next_edit() {
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
        // Many at once: workers run into the panic of one another.
        for _ in 0..3 {
            let ids: Vec<i64> = (0..8).flat_map(|_| ask_everything(&mut client, URI)).collect();
            for id in ids {
                let answer = client.answer(id);
                let is_silent = answer["error"]["code"] == -32801;
                assert!(is_silent || answer.get("result").is_some(), "{stage}: {answer}");
            }
        }
        // The other document is as it was.
        for answer in ask_for_everything(&mut client, OTHER) {
            assert!(answer.get("result").is_some(), "{stage}: {answer}");
        }
        // An edit that leaves the fault changes nothing that has been said.
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
fn a_request_that_panics_is_answered_with_an_error_and_the_next_is_not() {
    let mut client = Client::start_with_panics("infer:@boom");
    // A client that asks for diagnostics is told by whatever it asks for first.
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

/// The parser panics on the thread that applies edits: the text is parsed as a whole.
#[test]
fn an_edit_whose_reparse_panics_is_applied() {
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
