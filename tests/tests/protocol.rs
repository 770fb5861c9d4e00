//! The protocol of the server: order, cancellation, malformed input, shutdown.

use std::time::{Duration, Instant};

use relay_tests::{
    client::{Client, at, range},
    corpus,
    figures::{WATCHDOG, at_most},
};
use serde_json::{Value, json};

const URI: &str = "file:///work/a.relay";
const SMALL: &str = "def @main(%x: Tensor[(2, 3), float32]) {\n  add(%x, %x)\n}\n";

fn shown(answer: &Value) -> &str {
    answer["result"]["contents"]["value"].as_str().unwrap_or("nothing")
}

#[test]
fn session_from_initialize_to_exit() {
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

/// Emacs without a package for Markdown requests plain text, and would not render fences.
#[test]
fn documentation_uses_the_preferred_format() {
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
fn diagnostics_are_published_only_when_they_change() {
    let mut client = Client::start();
    client.open(URI, SMALL);
    client.diagnostics(URI, 1);
    client.edit(URI, 2, (2, 1), (2, 1), "\n\n");
    assert_eq!(client.drain(Duration::from_millis(300)), [] as [Value; 0]);
}

/// Helix drops diagnostics of another version than its text, such as those that cross a keystroke.
#[test]
fn diagnostics_of_an_outdated_version_are_published_again() {
    let abilities = json!({ "textDocument": { "publishDiagnostics": { "versionSupport": true } } });
    let mut client = Client::start_with(abilities, Value::Null);
    client.open(URI, SMALL);
    let first = client.diagnostics(URI, 1);
    // The change was made before the client could receive them, unless this process had to wait meanwhile: then
    // nothing is published, and the next text with other diagnostics gives another chance.
    let again = (1..50).find_map(|attempt| {
        let version = 3 * attempt;
        if attempt > 1 {
            client.replace(URI, version - 2, "def @main() { %nothing }\n");
            client.diagnostics(URI, version - 2);
            client.replace(URI, version - 1, SMALL);
            client.diagnostics(URI, version - 1);
        }
        client.edit(URI, version, (2, 1), (2, 1), "\n");
        client.drain(Duration::from_millis(500)).pop()
    });
    assert_eq!(again.expect("it is published again")["params"]["diagnostics"], first);
    // Long after.
    client.edit(URI, 200, (2, 1), (2, 1), "\n");
    assert_eq!(client.drain(Duration::from_millis(300)), [] as [Value; 0]);
}

/// Each request is answered for the text at the time of the request, or fails.
#[test]
fn requests_between_changes_use_the_text_at_their_time() {
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
fn cancelled_request_does_not_affect_others() {
    let mut client = Client::start();
    client.open(URI, &corpus::chain(20_000));
    // Many requests, all but one of them immediately cancelled.
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
fn exit_ends_the_process_with_open_pipes() {
    let mut client = Client::start();
    client.open(URI, SMALL);
    assert!(client.request("shutdown", Value::Null).get("error").is_none());
    client.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(client.exit_code(WATCHDOG), Some(0));
    let mut abrupt = Client::start();
    abrupt.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert_eq!(abrupt.exit_code(WATCHDOG), Some(1));
    let mut gone = Client::start();
    gone.hang_up();
    assert_eq!(gone.exit_code(WATCHDOG), Some(0));
}

/// Emacs sends `"params": null` for methods without parameters.
#[test]
fn null_params_are_accepted() {
    let mut client = Client::start();
    client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "shutdown", "params": null }));
    let answer = client.answer(7);
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 7, "result": null }));
    client.send(&json!({ "jsonrpc": "2.0", "method": "exit", "params": null }));
    assert_eq!(client.exit_code(WATCHDOG), Some(0));
}

#[test]
fn invalid_requests_get_an_error() {
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
fn malformed_messages_and_edits_are_survived() {
    let mut client = Client::start();
    client.raw(b"Content-Length: 9\r\n\r\n{\"broken\"");
    client.raw(b"Content-Length: 2\r\n\r\n[]");
    client.open(URI, SMALL);
    client.diagnostics(URI, 1);
    // For a closed document, past the end, backwards.
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
    assert_eq!(logs.len(), 5, "{logs:#?}");
}

#[test]
fn untitled_documents_are_analysed() {
    let mut client = Client::start();
    for uri in ["untitled:Untitled-1", "vscode-notebook-cell:/a#b", "git:/a.relay?ref"] {
        client.open(uri, SMALL);
        client.diagnostics(uri, 1);
        let jump = client.request("textDocument/definition", at(uri, 1, 7));
        assert_eq!(jump["result"][0]["uri"], uri, "{jump}");
    }
}

#[test]
fn columns_use_the_negotiated_encoding() {
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
fn settings_apply_and_invalid_ones_are_reported() {
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
fn settings_are_requested_from_the_client() {
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
fn quick_fixes_are_offered() {
    let mut client = Client::start();
    client.open(URI, "def @main(%x: int32) { ad(%x, %x) }");
    client.diagnostics(URI, 1);
    let params = json!({
        "textDocument": { "uri": URI },
        "range": range((0, 24), (0, 24)),
        "context": { "diagnostics": [] },
    });
    let actions = client.request("textDocument/codeAction", params);
    let edit = &actions["result"][0]["edit"]["changes"][URI][0];
    assert_eq!(edit["newText"], "add", "{actions}");
}

/// A convolution, for tests of the type at the cursor.
const CONVOLUTION: &str = "\
def @main(%x: Tensor[(2, 3, 8, 8), float32], %w: Tensor[(16, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=16, kernel_size=[3, 3]);
  nn.relu(%0)
}
";

#[test]
fn type_at_cursor() {
    let mut client = Client::start();
    client.open(URI, CONVOLUTION);
    let info = client.request("relay/typeAt", at(URI, 2, 4));
    let result = &info["result"];
    assert_eq!(result["version"], 1, "{info}");
    assert_eq!(result["source"], "nn.relu(%0)");
    assert_eq!(result["kind"], "call of `nn.relu`");
    assert_eq!(result["range"], range((2, 2), (2, 13)));
    assert_eq!(result["type"], json!(["Tensor[(2, 16, 4, 4), float32]"]));
    let axes = result["tensors"][0]["dimensions"].as_array().expect("axes");
    let letters: Vec<&str> = axes.iter().filter_map(|axis| axis["letter"].as_str()).collect();
    assert_eq!(letters, ["N", "C", "H", "W"]);
    assert_eq!(axes[1]["source"]["message"], "`channels` sets axis 1 to 16");
    assert_eq!(axes[1]["source"]["location"]["uri"], URI);
    assert_eq!(axes[2]["source"]["message"], "`nn.conv2d` computes 4 from 8 on axis 2");
    assert_eq!(axes[2]["origin"]["location"]["range"], range((0, 28), (0, 29)));
    assert_eq!(result["context"][0]["name"], "%0");
    assert_eq!(result["expected"], Value::Null);

    let weight = client.request("relay/typeAt", at(URI, 1, 22));
    let expected = &weight["result"]["expected"];
    assert_eq!(expected["place"], "`weight` of `nn.conv2d`", "{weight}");
    assert_eq!(expected["type"], "Tensor[(16, 3, 3, 3), float32]");
    let between = client.request("relay/typeAt", at(URI, 0, 3));
    assert_eq!(between["result"], Value::Null);
    let nowhere = client.request("relay/typeAt", at(URI, 90, 3));
    assert_eq!(nowhere["error"]["code"], -32602);
    assert_eq!(client.finish(), Some(0));
}

/// The cursor moves often, so the response must be as fast as a hover, even in a long module.
#[test]
fn type_at_cursor_is_fast_in_a_long_module() {
    let mut client = Client::start();
    client.open(URI, &corpus::chain(10_000));
    client.diagnostics(URI, 1);
    let mut times: Vec<Duration> = (0..60)
        .map(|step| {
            let start = Instant::now();
            let info = client.request("relay/typeAt", at(URI, 9_000 + step, 4));
            let axes = &info["result"]["tensors"][0]["dimensions"];
            assert_eq!(axes.as_array().map(Vec::len), Some(2), "{info}");
            start.elapsed()
        })
        .collect();
    times.sort();
    let median = times[times.len() / 2];
    at_most("type at the cursor in 10,000 bindings", median, Duration::from_millis(20));
}

#[test]
fn reading_view() {
    const TEXT: &str = "\
def @main(%x: Tensor[(2, 8), float32], %w: Tensor[(4, 8), float32]) {
  /* 🚀 */ %0 = nn.dense(%x, %w, units=4) /* ty=Tensor[(2, 4), float32] */;
  %1 = nn.relu(%0);
  nn.softmax(%1)
}
";
    let mut client = Client::start();
    client.open(URI, TEXT);
    let params = json!({ "textDocument": { "uri": URI } });
    let view = client.request("relay/readingView", params);
    let wanted = json!({
        "version": 1,
        "hidden": [[1, 43, 76]],
        "shapes": [[1, "2×4 f32"]],
        "dimmed": [[0, 39, 66], [1, 31, 33]],
        "chains": [[1, 2]],
        "summaries": ["relu ⇒ %1: 2×4 f32"],
        // The chain, then the function.
        "levels": [[1], [0]],
    });
    assert_eq!(view["result"], wanted);
    let text = client.request("relay/readingFormat", json!({ "textDocument": { "uri": URI } }));
    let text = text["result"].as_str().expect("a text");
    assert_eq!(
        text.split_whitespace().collect::<Vec<_>>(),
        TEXT.split_whitespace().collect::<Vec<_>>()
    );
    let none = client
        .request("relay/readingView", json!({ "textDocument": { "uri": "file:///none.relay" } }));
    assert_eq!(none["error"]["code"], -32602);
    assert_eq!(client.finish(), Some(0));
}

/// A status bar needs only numbers, not all symbols and diagnostics.
#[test]
fn health_counts_definitions_and_diagnostics() {
    const TEXT: &str = "\
#[version = \"0.0.5\"]
type Box { Full(int32) }
def @main(%aten::x.1: int32) {
  let %left = 1;
  2
}
def @other() { nn.relu(%nowhere) }
";
    let mut client = Client::start();
    client.open(URI, TEXT);
    let params = json!({ "textDocument": { "uri": URI } });
    let health = client.request("relay/health", params.clone())["result"].clone();
    assert_eq!((&health["functions"], &health["types"]), (&json!(2), &json!(1)), "{health}");
    assert_eq!((&health["errors"], &health["warnings"]), (&json!(1), &json!(1)), "{health}");
    assert_eq!((&health["tvm"], &health["names"]), (&json!(1), &json!(1)), "{health}");
    assert_eq!(health["first"], range((2, 10), (2, 20)));
    // It follows edits, and hidden diagnostics do not count.
    client.edit(URI, 2, (4, 2), (4, 3), "%left");
    let settings =
        json!({ "settings": { "relay": { "diagnostics": { "disabled": ["tvm-name"] } } } });
    client.notify("workspace/didChangeConfiguration", settings);
    let health = client.request("relay/health", params)["result"].clone();
    assert_eq!((&health["version"], &health["warnings"]), (&json!(2), &json!(0)), "{health}");
    assert_eq!((&health["tvm"], &health["first"]), (&json!(0), &Value::Null), "{health}");
    assert_eq!(health["releases"], Value::Null);
    client.edit(URI, 3, (0, 0), (1, 0), "v0.0.4\n");
    let params = json!({ "textDocument": { "uri": URI } });
    let health = client.request("relay/health", params)["result"].clone();
    assert_eq!(health["releases"], "0.5 to 0.6", "{health}");
    assert_eq!(client.finish(), Some(0));
}

/// A file that is not open is read from disk.
#[test]
fn shapes_of_a_file_on_disk() {
    let path = std::env::temp_dir().join(format!("relay-shapes-{}.relay", std::process::id()));
    let text = "def @main(%x: Tensor[(2, 8), float32]) {\n  nn.relu(%x)\n}\n#[metadata]\n{}\n";
    std::fs::write(&path, text).expect("a file");
    let mut client = Client::start();
    let uri = format!("file://{}", path.display());
    let report = client.request("relay/shapesOfFile", json!({ "uri": uri }));
    let function = &report["result"]["functions"][0];
    assert_eq!(
        (&function["name"], &function["rows"][0]["operator"]),
        (&json!("@main"), &json!("nn.relu")),
        "{report}"
    );
    assert_eq!(function["rows"][0]["range"], range((1, 2), (1, 13)));
    std::fs::remove_file(&path).expect("a file");
    let gone = client.request("relay/shapesOfFile", json!({ "uri": uri }));
    assert_eq!(gone["error"]["code"], -32803, "{gone}");
    let elsewhere = client.request("relay/shapesOfFile", json!({ "uri": "untitled:a" }));
    assert_eq!(elsewhere["error"]["code"], -32602, "{elsewhere}");
    assert_eq!(client.finish(), Some(0));
}

/// Changed settings refresh what depends on them, as far as the client supports it.
#[test]
fn settings_refresh_hints_tokens_and_lenses() {
    let refresh = json!({ "refreshSupport": true });
    let all = ["inlayHint", "semanticTokens", "codeLens"];
    for known in [&all[..], &all[..1], &[]] {
        let mut workspace = json!({});
        for name in known {
            workspace[*name] = refresh.clone();
        }
        let mut client =
            Client::start_with(json!({ "workspace": workspace }), json!({ "tvm": false }));
        client.open(URI, SMALL);
        client.diagnostics(URI, 1);
        let hints = json!({
            "textDocument": { "uri": URI },
            "range": range((0, 0), (3, 0)),
        });
        let before = client.request("textDocument/inlayHint", hints.clone());
        assert_eq!(before["result"][0]["label"], " -> Tensor[(2, 3), float32]", "{before}");
        let settings = json!({ "relay": { "inlayHints": { "types": false } } });
        client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
        let sent = client.drain(Duration::from_millis(200));
        let asked: Vec<&str> = sent
            .iter()
            .filter_map(|message| message["method"].as_str())
            .filter(|method| method.ends_with("/refresh"))
            .collect();
        let wanted: Vec<String> =
            known.iter().map(|name| format!("workspace/{name}/refresh")).collect();
        assert_eq!(asked, wanted);
        for message in sent.iter().filter(|message| !message["id"].is_null()) {
            client.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
        }
        let after = client.request("textDocument/inlayHint", hints);
        assert_eq!(after["result"], json!([]), "{after}");
        // Equal settings refresh nothing.
        let settings = json!({ "relay": { "inlayHints": { "types": false } } });
        client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
        assert_eq!(client.drain(Duration::from_millis(100)), [] as [Value; 0]);
        assert_eq!(client.finish(), Some(0));
    }
}

/// Clients without support for nested symbols get a flat list.
#[test]
fn symbols_are_nested_if_supported() {
    const TEXT: &str = "type T {\n  A,\n  B(int32),\n}\ndef @main() { A }\n";
    let params = json!({ "textDocument": { "uri": URI } });
    let abilities = |nested: bool| {
        let symbol = json!({ "hierarchicalDocumentSymbolSupport": nested });
        json!({ "textDocument": { "documentSymbol": symbol } })
    };
    let mut client = Client::start_with(abilities(true), Value::Null);
    client.open(URI, TEXT);
    let nested = client.request("textDocument/documentSymbol", params.clone());
    assert_eq!(nested["result"][0]["children"][1]["name"], "B", "{nested}");
    for abilities in [abilities(false), json!({})] {
        let mut client = Client::start_with(abilities, Value::Null);
        client.open(URI, TEXT);
        let flat = client.request("textDocument/documentSymbol", params.clone());
        let symbols = flat["result"].as_array().expect("symbols");
        let names: Vec<&str> = symbols.iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(names, ["T", "A", "B", "@main"], "{flat}");
        assert_eq!(symbols[2]["containerName"], "T");
        assert_eq!(symbols[2]["location"]["uri"], URI);
        assert_eq!(symbols[2]["location"]["range"]["start"], json!({ "line": 2, "character": 2 }));
        assert_eq!(symbols[0].get("selectionRange"), None);
        assert_eq!(client.finish(), Some(0));
    }
}

/// Keystrokes in a long module are processed as fast as they arrive.
#[test]
fn typing_in_a_long_module_is_fast() {
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
    at_most("38 edits of 10,000 bindings", start.elapsed(), Duration::from_secs(1));
}
