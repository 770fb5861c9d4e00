//! The server as a client sees it: order, cancellation, odd input, the end.

use std::time::{Duration, Instant};

use relay_tests::{
    client::{Client, at},
    corpus,
};
use serde_json::{Value, json};

const URI: &str = "file:///work/a.relay";
const SMALL: &str = "def @main(%x: Tensor[(2, 3), float32]) {\n  add(%x, %x)\n}\n";

fn shown(answer: &Value) -> &str {
    answer["result"]["contents"]["value"].as_str().unwrap_or("nothing")
}

#[test]
fn a_session() {
    let mut client = Client::start();
    client.open(URI, SMALL);
    assert_eq!(client.diagnostics(URI, 1).as_array().map(Vec::len), Some(1), "the version hint");
    let hover = client.request("textDocument/hover", at(URI, 1, 7));
    assert!(shown(&hover).contains("%x: Tensor[(2, 3), float32]"), "{hover}");
    let jump = client.request("textDocument/definition", at(URI, 1, 7));
    assert_eq!(jump["result"][0]["range"]["start"], json!({ "line": 0, "character": 10 }));
    let mut references = at(URI, 0, 11);
    references["context"] = json!({ "includeDeclaration": true });
    let references = client.request("textDocument/references", references);
    assert_eq!(references["result"].as_array().map(Vec::len), Some(3));
    let symbols =
        client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(symbols["result"][0]["name"], "@main");
    client.edit(URI, 2, (1, 6), (1, 8), "%y");
    let found = client.diagnostics(URI, 2);
    assert_eq!(found[1]["code"], "unknown-variable", "{found}");
    assert_eq!(client.drain(Duration::from_millis(100)), [] as [Value; 0]);
    assert_eq!(client.finish(), Some(0));
}

/// Emacs without a package for Markdown asks for plain text, and would show fences as they are.
#[test]
fn texts_are_markdown_where_the_client_prefers_it() {
    let document = |formats: Value| {
        json!({ "textDocument": {
            "hover": { "contentFormat": formats },
            "completion": { "completionItem": { "documentationFormat": formats } },
            "signatureHelp": { "signatureInformation": { "documentationFormat": formats } },
        } })
    };
    for (abilities, kind) in [
        (document(json!(["markdown", "plaintext"])), "markdown"),
        (document(json!(["plaintext", "markdown"])), "plaintext"),
        (document(json!(["plaintext"])), "plaintext"),
        (json!({}), "plaintext"),
    ] {
        let mut client = Client::start_with(abilities, Value::Null);
        client.open(URI, SMALL);
        let hover = client.request("textDocument/hover", at(URI, 1, 7));
        let item = json!({
            "label": "add", "data": { "uri": URI, "kind": "operator", "name": "add", "of": null },
        });
        let entry = client.request("completionItem/resolve", item);
        let help = client.request("textDocument/signatureHelp", at(URI, 1, 7));
        let texts = [
            &hover["result"]["contents"],
            &entry["result"]["documentation"],
            &help["result"]["signatures"][0]["documentation"],
        ];
        assert_eq!(texts[0]["kind"], kind, "{hover}");
        for text in texts {
            // Plain documentation is a string.
            let value = text.as_str().or(text["value"].as_str()).unwrap_or_default();
            assert_eq!(text["kind"] == "markdown", kind == "markdown", "{text}");
            assert!(!value.is_empty(), "{text}");
            let is_laid_out = value.contains("```") || value.contains("**");
            assert!(kind == "markdown" || !is_laid_out, "{value}");
        }
        assert!(shown(&hover).contains("%x: Tensor[(2, 3), float32]"), "{hover}");
    }
}

#[test]
fn pulled_diagnostics_equal_pushed_ones() {
    let mut client = Client::start();
    client.open(URI, "def @main(%x: int32) { %z }");
    let pushed = client.diagnostics(URI, 1);
    let ask = json!({ "textDocument": { "uri": URI } });
    let pulled = client.request("textDocument/diagnostic", ask.clone());
    assert_eq!(pulled["result"]["items"], pushed);
    let mut again = ask;
    again["previousResultId"] = pulled["result"]["resultId"].clone();
    let again = client.request("textDocument/diagnostic", again);
    assert_eq!(again["result"]["kind"], "unchanged");
}

#[test]
fn diagnostics_are_sent_only_when_they_change() {
    let mut client = Client::start();
    client.open(URI, SMALL);
    client.diagnostics(URI, 1);
    client.edit(URI, 2, (2, 1), (2, 1), "\n\n");
    assert_eq!(client.drain(Duration::from_millis(300)), [] as [Value; 0]);
}

/// Helix drops diagnostics of another version than its text, as those that meet the next keystroke
/// on their way.
#[test]
fn diagnostics_that_may_have_been_dropped_are_sent_again() {
    let abilities = json!({ "textDocument": { "publishDiagnostics": { "versionSupport": true } } });
    let mut client = Client::start_with(abilities, Value::Null);
    client.open(URI, SMALL);
    let first = client.diagnostics(URI, 1);
    // The change was made before they can have been seen.
    client.edit(URI, 2, (2, 1), (2, 1), "\n");
    assert_eq!(client.diagnostics(URI, 2), first);
    std::thread::sleep(Duration::from_millis(500));
    client.edit(URI, 3, (2, 1), (2, 1), "\n");
    assert_eq!(client.drain(Duration::from_millis(300)), [] as [Value; 0]);
}

/// Each request is answered for the text as it was when the request was sent, or not at all.
#[test]
fn a_burst_of_changes_between_hovers() {
    let mut client = Client::start();
    client.open(URI, "def @main(%x: Tensor[(1000), float32]) {\n  %x\n}\n");
    let mut asked = Vec::new();
    for version in 2..60 {
        client.edit(URI, version, (0, 22), (0, 26), &format!("{}", 1000 + version));
        asked.push((version, client.ask("textDocument/hover", at(URI, 1, 3))));
    }
    for (version, id) in asked {
        let answer = client.answer(id);
        if answer["error"]["code"] == -32801 {
            continue;
        }
        let wanted = format!("%x: Tensor[({}), float32]", 1000 + version);
        assert!(shown(&answer).contains(&wanted), "{version}: {answer}");
    }
    let last = client.request("textDocument/hover", at(URI, 1, 3));
    assert!(shown(&last).contains("(1059)"), "{last}");
}

#[test]
fn a_cancelled_request_ends_and_others_go_on() {
    let mut client = Client::start();
    client.open(URI, &corpus::chain(20_000));
    // Many requests at once, all but one of them cancelled at once.
    let ids: Vec<i64> = (0..64)
        .map(|_| client.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": URI } })))
        .collect();
    for id in &ids[1..] {
        client.notify("$/cancelRequest", json!({ "id": id }));
    }
    for id in &ids[1..] {
        let answer = client.answer(*id);
        assert!(answer["error"]["code"] == -32800 || answer.get("result").is_some(), "{answer}");
    }
    assert!(client.answer(ids[0]).get("result").is_some());
    let hover = client.request("textDocument/hover", at(URI, 3, 4));
    assert!(hover.get("result").is_some());
}

#[test]
fn exit_ends_the_process_though_the_pipe_stays_open() {
    let mut client = Client::start();
    client.open(URI, SMALL);
    assert!(client.request("shutdown", Value::Null).get("error").is_none());
    client.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(client.exit_code(Duration::from_secs(10)), Some(0));
    let mut abrupt = Client::start();
    abrupt.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(abrupt.exit_code(Duration::from_secs(10)), Some(1));
    let mut gone = Client::start();
    gone.hang_up();
    assert_eq!(gone.exit_code(Duration::from_secs(10)), Some(0));
}

/// Emacs sends `"params": null` with what takes none.
#[test]
fn null_for_no_params() {
    let mut client = Client::start();
    client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "shutdown", "params": null }));
    let answer = client.answer(7);
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 7, "result": null }));
    client.send(&json!({ "jsonrpc": "2.0", "method": "exit", "params": null }));
    assert_eq!(client.exit_code(Duration::from_secs(5)), Some(0));
}

#[test]
fn requests_that_cannot_be_answered_get_an_error() {
    let mut client = Client::start();
    let hover = client.request("textDocument/hover", at("file:///closed.relay", 0, 0));
    assert_eq!(hover["error"]["code"], -32602);
    assert!(hover["error"]["message"].as_str().is_some_and(|m| m.contains("not open")), "{hover}");
    client.open(URI, SMALL);
    let far = client.request("textDocument/hover", at(URI, 999, 0));
    assert_eq!(far["error"]["code"], -32602, "{far}");
    let unknown = client.request("textDocument/telepathy", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let malformed = client.request("textDocument/hover", json!({ "position": "here" }));
    assert_eq!(malformed["error"]["code"], -32602, "{malformed}");
    let hover = client.request("textDocument/hover", at(URI, 1, 7));
    assert!(shown(&hover).contains("%x"));
}

#[test]
fn odd_messages_and_odd_edits() {
    let mut client = Client::start();
    client.raw(b"Content-Length: 9\r\n\r\n{\"broken\"");
    client.raw(b"Content-Length: 2\r\n\r\n[]");
    client.open(URI, SMALL);
    client.diagnostics(URI, 1);
    // Out of order, for a closed document, past the end, backwards.
    client.edit(URI, 1, (0, 0), (0, 3), "lost");
    client.edit("file:///closed.relay", 2, (0, 0), (0, 0), "x");
    client.edit(URI, 5, (90, 0), (95, 3), "// end\n");
    client.edit(URI, 6, (0, 9), (0, 4), "@f");
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": "file:///never" } }));
    let symbols =
        client.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(symbols["result"][0]["name"], "@f", "{symbols}");
    let logs: Vec<Value> = client
        .drain(Duration::from_millis(100))
        .into_iter()
        .filter(|message| message["method"] == "window/logMessage")
        .collect();
    assert_eq!(logs.len(), 6, "{logs:#?}");
}

#[test]
fn documents_without_a_file() {
    let mut client = Client::start();
    for uri in ["untitled:Untitled-1", "vscode-notebook-cell:/a#b", "git:/a.relay?ref"] {
        client.open(uri, SMALL);
        client.diagnostics(uri, 1);
        let jump = client.request("textDocument/definition", at(uri, 1, 7));
        assert_eq!(jump["result"][0]["uri"], uri, "{jump}");
    }
}

#[test]
fn columns_count_what_was_agreed_on() {
    let text = "def @main(%x: int32) {\n  /* 𝄞ä */ %x\n}\n";
    for (encoding, column) in [("utf-8", 16), ("utf-16", 13), ("utf-32", 12)] {
        let offered = json!({ "general": { "positionEncodings": [encoding] } });
        let mut client = Client::start_with(offered, Value::Null);
        client.open(URI, text);
        let hover = client.request("textDocument/hover", at(URI, 1, column));
        let start = &hover["result"]["range"]["start"]["character"];
        assert_eq!(*start, column - 1, "{encoding}: {hover}");
    }
}

#[test]
fn settings_take_effect_and_bad_ones_are_named() {
    let mut client = Client::start_with(json!({}), json!({ "tvm": true, "colour": 1 }));
    let shown = client.expect("window/showMessage");
    assert!(shown["params"]["message"].as_str().is_some_and(|m| m.contains("relay.colour")));
    client.open(URI, SMALL);
    let found = client.diagnostics(URI, 1);
    assert_eq!((&found[0]["code"], &found[0]["severity"]), (&json!("tvm-version"), &json!(1)));
    let settings = json!({ "relay": { "diagnostics": { "disabled": ["tvm-version"] } } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert_eq!(client.diagnostics(URI, 1), json!([]));
}

#[test]
fn a_client_that_answers_questions_is_asked_for_settings() {
    let abilities = json!({
        "workspace": { "configuration": true, "didChangeConfiguration": { "dynamicRegistration": true } },
        "window": { "workDoneProgress": true },
    });
    let mut client = Client::start_with(abilities, Value::Null);
    let register = client.expect("client/registerCapability");
    client.send(&json!({ "jsonrpc": "2.0", "id": register["id"], "result": null }));
    let question = client.expect("workspace/configuration");
    assert_eq!(question["params"]["items"][0]["section"], "relay");
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": [{ "tvm": true }] }));
    client.open(URI, &format!("{}// {}\n", SMALL, "long ".repeat(300_000)));
    let create = client.expect("window/workDoneProgress/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": create["id"], "result": null }));
    let begin = client.expect("$/progress");
    assert_eq!(begin["params"]["value"]["kind"], "begin");
    let end = client.expect("$/progress");
    assert_eq!(end["params"]["value"]["kind"], "end");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn fixes_are_offered() {
    let mut client = Client::start();
    client.open(URI, "def @main(%x: int32) { ad(%x, %x) }");
    client.diagnostics(URI, 1);
    let params = json!({
        "textDocument": { "uri": URI },
        "range": relay_tests::client::range((0, 24), (0, 24)),
        "context": { "diagnostics": [] },
    });
    let actions = client.request("textDocument/codeAction", params);
    let edit = &actions["result"][0]["edit"]["changes"][URI][0];
    assert_eq!(edit["newText"], "add", "{actions}");
}

/// A keystroke in a big module is answered while the next one arrives: nothing queues up.
#[test]
fn typing_in_a_long_module() {
    let mut client = Client::start();
    client.open(URI, &corpus::chain(10_000));
    client.diagnostics(URI, 1);
    let start = Instant::now();
    for version in 2..40 {
        let text = if version % 2 == 0 { "q" } else { "" };
        let end = if version % 2 == 0 { 7 } else { 8 };
        client.edit(URI, version, (5_000, 7), (5_000, end), text);
        client.diagnostics(URI, version);
    }
    assert!(start.elapsed() < Duration::from_secs(30));
}
