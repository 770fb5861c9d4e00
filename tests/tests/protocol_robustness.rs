//! Robustness of the server: messages that are not valid, unknown methods, clients that end without a
//! shutdown, oversized messages, reopened documents, changes out of order, and panics.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use relay_tests::{
    client::{Client, at, binary},
    figures::WATCHDOG,
};
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
        let child = Command::new(binary())
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let mut bare = Bare { child };
        bare.write(&body.to_string());
        bare.read_message();
        bare
    }

    fn write(&mut self, body: &str) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it reads");
    }

    /// Returns the next message as it was written.
    fn read_message(&mut self) -> String {
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
        let mut body = vec![0; length];
        stdout.read_exact(&mut body).expect("a body");
        String::from_utf8(body).expect("text")
    }

    /// Returns the next response. Other messages of the server are skipped.
    fn read_response(&mut self) -> String {
        loop {
            let body = self.read_message();
            let message: Value = serde_json::from_str(&body).expect("JSON");
            if message.get("method").is_none() {
                return body;
            }
        }
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

const PATIENCE: Duration = WATCHDOG;

/// Starts a server in which [`SMALL`] is open.
fn bare() -> Bare {
    let mut server = Bare::start(&json!({ "processId": null, "capabilities": {} }));
    server.write(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    let document = json!({ "uri": URI, "languageId": "relay", "version": 1, "text": SMALL });
    let open = json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } });
    server.write(&open.to_string());
    server
}

#[test]
fn identifiers_come_back_as_they_were_sent() {
    let mut server = bare();
    let document = json!({ "textDocument": { "uri": URI } }).to_string();
    for id in [
        "0",
        "-7",
        "2147483648",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "1.5",
        "1e2",
        "null",
        "\"\"",
        "\"1\"",
        r#""\u00e4\"\ud83d\ude00""#,
    ] {
        for (method, params, part) in [
            ("textDocument/foldingRange", &*document, "\"result\":["),
            // Its result is written as text.
            ("textDocument/semanticTokens/full", &*document, "\"data\":["),
            ("textDocument/foldingRange", "{}", "-32602"),
            ("relay/unknown", "[]", "-32601"),
            ("$/unknown", "[]", "-32601"),
            ("", "{}", "-32601"),
        ] {
            server.write(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
            ));
            let body = server.read_response();
            let ends = [format!("\"id\":{id}}}"), format!("\"id\":{id},")];
            assert!(ends.iter().any(|end| body.contains(end)), "{id}: {body}");
            assert!(body.contains(part), "{method} {id}: {body}");
        }
    }
}

#[test]
fn messages_that_are_not_valid_are_answered_and_skipped() {
    let mut server = bare();
    let (invalid, unreadable) = ("-32600", "-32700");
    for (body, id, code) in [
        (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, "\"a\"", invalid),
        (
            r#"{"jsonrpc":"2.0","id":18446744073709551616,"method":null}"#,
            "18446744073709551616",
            invalid,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":"x"}"#, "1", invalid),
        (r#"{"jsonrpc":"2.0","id":1,"method":"shutdown","params":0}"#, "1", invalid),
        (r#"{"jsonrpc":"2.0","method":"exit","params":false}"#, "null", invalid),
        (r#"{"id":1.5,"method":"shutdown"}"#, "1.5", invalid),
        (r#"{"jsonrpc":"1.0","id":3,"method":"shutdown"}"#, "3", invalid),
        (r#"{"method":"exit"}"#, "null", invalid),
        (r#"{"jsonrpc":"2.0","id":{},"method":"shutdown"}"#, "null", invalid),
        (r#"{"jsonrpc":"2.0","id":1}"#, "null", invalid),
        (r#"{"jsonrpc":"2.0","id":1,"method":"shutdown""#, "null", unreadable),
        ("{}", "null", invalid),
        ("\"shutdown\"", "null", invalid),
        // The protocol has no batches. Nothing in one is done.
        ("[]", "null", invalid),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]"#, "null", invalid),
        (r#" [{"jsonrpc":"2.0","method":"exit"},7]"#, "null", invalid),
        (r#"[{"jsonrpc":"2.0","method":"exit"}"#, "null", unreadable),
    ] {
        server.write(body);
        let answer = server.read_response();
        let parts = [
            format!("\"id\":{id}}}"),
            format!("\"code\":{code}"),
            "\"jsonrpc\":\"2.0\"".to_owned(),
        ];
        assert!(parts.iter().all(|part| answer.contains(part)), "{body}: {answer}");
        // The session goes on, with one answer for each message.
        server.write(r#"{"jsonrpc":"2.0","id":"next","method":"relay/unknown"}"#);
        assert!(server.read_response().contains("\"next\""), "{body}");
    }
    // A notification without a name is unknown, and ignored as such.
    server.write(r#"{"jsonrpc":"2.0","method":""}"#);
    server.write(r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#);
    assert!(server.read_response().contains("\"result\":null"));
    server.write(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    assert_eq!(server.end(PATIENCE).map(|(code, _)| code), Some(Some(0)));
}

/// Asserts that the one diagnostic of a document says that its text is lost, for whatever version.
fn assert_lost(message: &Value) {
    let found = &message["params"]["diagnostics"];
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{message}");
    assert_eq!((&found[0]["code"], &found[0]["severity"]), (&json!("out-of-sync"), &json!(1)));
    assert!(
        found[0]["message"].as_str().is_some_and(|text| text.contains("close this file")),
        "{found}"
    );
    assert!(message["params"].get("version").is_none(), "{message}");
}

#[test]
fn change_out_of_order_loses_the_text_until_it_is_whole_again() {
    let of = |uri: &str| json!({ "textDocument": { "uri": uri } });
    // An older version, and the same one again.
    for stale in [4, 5] {
        let mut client = Client::start();
        client.open(OTHER, SMALL);
        client.diagnostics(OTHER, 1);
        client.open(URI, SMALL);
        client.edit(URI, 5, (1, 0), (1, 0), "  ");
        client.edit(URI, stale, (1, 0), (1, 4), "%z");
        // Those of versions 1 and 5 are published, too, unless a later change arrives before.
        let lost = client.wait_for("diagnostics without a version", |message| {
            message["params"]["uri"] == URI && message["params"].get("version").is_none()
        });
        assert_lost(&lost);
        // No answer is computed from a text that may be another one, and none is shown as an error.
        for method in ["documentSymbol", "foldingRange", "codeLens", "semanticTokens/full"] {
            let answer = client.request(&format!("textDocument/{method}"), of(URI));
            assert_eq!(answer["error"]["code"], -32801, "{method}: {answer}");
        }
        let mut format = of(URI);
        format["options"] = json!({ "tabSize": 2, "insertSpaces": true });
        let answer = client.request("textDocument/formatting", format);
        assert_eq!(answer["error"]["code"], -32801, "{answer}");
        let answer = client.request("textDocument/hover", at(URI, 1, 7));
        assert_eq!(answer["error"]["code"], -32801, "{answer}");
        let sides = json!({ "before": { "uri": URI }, "after": { "uri": OTHER } });
        let answer = client.request("relay/compare", sides);
        assert_eq!(answer["error"]["code"], -32801, "{answer}");
        let answer = client.request("workspace/symbol", json!({ "query": "main" }));
        assert_eq!(answer["result"].as_array().map(Vec::len), Some(1), "{answer}");
        // Further changes, of whatever version, do not bring the text back. It is said once.
        for version in [1, 6, 7] {
            client.edit(URI, version, (0, 0), (0, 0), "// more\n");
        }
        let settings = json!({ "relay": { "limits": { "nesting": 100 } } });
        client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
        let hover = client.request("textDocument/hover", at(OTHER, 1, 7));
        assert!(hover["result"].is_object(), "{hover}");
        let unread = client.drain(Duration::from_millis(300));
        let of_method = |method: &str| {
            unread.iter().filter(|message| message["method"] == method).collect::<Vec<_>>()
        };
        let again = of_method("textDocument/publishDiagnostics");
        let of_known_text =
            |message: &&Value| message["params"]["version"].as_i64().is_some_and(|v| v <= 5);
        assert!(again.iter().all(|m| m["params"]["uri"] != URI || of_known_text(m)), "{again:#?}");
        assert_eq!(of_method("window/showMessage"), [] as [&Value; 0]);
        let logged = of_method("window/logMessage");
        assert_eq!(logged.len(), 1, "{logged:#?}");
        let text = logged[0]["params"]["message"].as_str().unwrap_or_default();
        assert!(text.contains(&format!("version {stale}")) && text.contains("version 5"), "{text}");

        // The whole text, or the document opened again, is enough.
        if stale == 4 {
            client.replace(URI, 8, &SMALL.replace("%x, %x", "%x, %z"));
        } else {
            client.notify("textDocument/didClose", of(URI));
            assert_eq!(client.diagnostics(URI, 0), json!([]));
            client.open(URI, &SMALL.replace("%x, %x", "%x, %z"));
        }
        let found = client.diagnostics(URI, 1);
        let codes: Vec<&Value> =
            found.as_array().expect("a list").iter().map(|d| &d["code"]).collect();
        assert!(codes.contains(&&json!("unknown-variable")), "{found}");
        client.edit(URI, 9, (1, 10), (1, 12), "%x");
        let hover = client.request("textDocument/hover", at(URI, 1, 11));
        assert!(hover["result"].is_object(), "{hover}");
        assert_eq!(client.finish(), Some(0));
    }
}

/// The text of a change of the whole document is that of the client, whatever its version.
#[test]
fn whole_text_is_taken_with_any_version() {
    let mut client = Client::start();
    client.open(URI, SMALL);
    client.edit(URI, 5, (1, 0), (1, 0), "  ");
    client.replace(URI, 2, &SMALL.replace("%x, %x", "%x, %z"));
    let found = client.wait_for("diagnostics of the text", |message| {
        message["params"]["diagnostics"].to_string().contains("unknown-variable")
    });
    assert_eq!(found["params"]["version"], 2, "{found}");
    client.edit(URI, 3, (1, 10), (1, 12), "%x");
    let found = client.wait_for("diagnostics of version 3", |message| {
        message["params"]["uri"] == URI && message["params"]["version"] == 3
    });
    assert!(!found.to_string().contains("unknown-variable"), "{found}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn lost_text_is_told_to_a_client_that_pulls_and_in_other_languages() {
    let abilities = json!({ "textDocument": { "diagnostic": {} } });
    let mut client = Client::start_with(abilities, Value::Null);
    let text = format!("```relay\n{}```\n", SMALL.replace("%x, %x", "%x, %z"));
    for (uri, language) in [(URI, "relay"), ("file:///work/a.md", "markdown")] {
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let codes = |client: &mut Client| -> Vec<Value> {
            let ask = json!({ "textDocument": { "uri": uri } });
            let answer = client.request("textDocument/diagnostic", ask);
            let items = answer["result"]["items"].as_array().expect("items");
            items.iter().map(|item| item["code"].clone()).collect()
        };
        assert!(codes(&mut client).contains(&json!("unknown-variable")), "{uri}");
        client.edit(uri, 1, (2, 10), (2, 12), "%x");
        assert_eq!(codes(&mut client), ["out-of-sync"], "{uri}");
        client.replace(uri, 2, &text);
        let found = codes(&mut client);
        assert!(found.contains(&json!("unknown-variable")), "{uri}: {found:?}");
        assert!(!found.contains(&json!("out-of-sync")), "{uri}: {found:?}");
    }
    assert_eq!(client.finish(), Some(0));
}

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
    // Longer than what fits into a pipe: the server has read most of it when this returns.
    client.raw(&[b' '; 1_000_000]);
    if let (Some(before), Some(after)) = (before, client.resident()) {
        // Half of the declared length; what else is resident varies by far less.
        assert!(after < before + (512 << 20), "{before} bytes, then {after}");
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
