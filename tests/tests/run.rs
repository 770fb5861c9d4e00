//! Runs in the editor: the command, its progress and cancellation, and the values of the last run.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use relay_tests::{
    arrays::Temporary,
    client::{Client, at, range},
    figures::{WATCHDOG, at_most},
    runs::{NET, URI, ask_run, client, marks, run, values},
};
use serde_json::{Value, json};

const FOREVER: &str = "\
#[version = \"0.0.5\"]
def @loop(%n: int32) -> int32 { @loop(%n + 1) }
def @main() -> int32 { @loop(0) }
";

fn lines(values: &[(u64, String)]) -> Vec<u64> {
    values.iter().map(|(line, _)| *line).collect()
}

#[test]
fn lens_runs_a_function() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, NET);
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    let lenses: Vec<Value> = lenses["result"].as_array().expect("lenses").clone();
    let runs: Vec<&Value> =
        lenses.iter().map(|lens| &lens["command"]).filter(|c| c["title"] == "▶ Run").collect();
    let named: Vec<&Value> = runs.iter().map(|run| &run["arguments"][0]["function"]).collect();
    assert_eq!(named, [&json!("@layer"), &json!("@other"), &json!("@main")]);
    let mut clicked = runs[2].clone();
    assert_eq!(clicked["command"], "relay.run");
    clicked["arguments"][0]["inputs"] = json!({ "x": [[1, 4]] });
    let result = run(&mut client, clicked["arguments"][0].clone());
    assert_eq!(result["status"], "done", "{result}");
    assert_eq!(result["value"]["tuple"][0]["data"], json!([1.0, 4.0]));
    assert_eq!(result["value"]["tuple"][1]["data"], json!([2]));
    assert_eq!(
        result["title"].as_str().map(|t| t.starts_with("@main: (Tensor[(1, 2)")),
        Some(true)
    );
    assert!(result["text"].as_str().is_some_and(|text| text.contains("[[1. 4.]]")), "{result}");
    assert_eq!(result["drawn"], json!([]));
    assert_eq!(client.finish(), Some(0));
}

/// Between definitions, the function is the one that the command line would run.
#[test]
fn position_before_the_functions_runs_main() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, NET);
    let at_start = json!({ "uri": URI, "position": { "line": 0, "character": 0 } });
    let result = run(&mut client, at_start);
    assert_eq!((&result["status"], &result["function"]), (&json!("done"), &json!("@main")));
}

#[test]
fn bare_expression_runs() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, "let %a = 2;\n%a * 21");
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    let lens = &lenses["result"][0]["command"];
    assert_eq!(lens["title"], "▶ Run", "{lenses}");
    let result = run(&mut client, lens["arguments"][0].clone());
    assert_eq!(result["value"]["data"], json!([42]), "{result}");
    let by_offset = run(&mut client, json!({ "uri": URI, "offset": 14 }));
    assert_eq!(by_offset["value"]["data"], json!([42]));
}

/// Clients without support for runs get a message.
#[test]
fn clients_without_support_get_a_message() {
    let mut client = Client::start();
    client.open(URI, NET);
    let result = run(&mut client, json!({ "uri": URI, "function": "@other" }));
    assert_eq!(result["drawn"], json!(["n"]));
    let message = client.expect("window/showMessage");
    let message = message["params"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("@other: ") && message.contains(" (int32) in "), "{message}");
}

#[test]
fn invalid_run_requests_are_errors() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, NET);
    for argument in [json!(null), json!({}), json!({ "uri": "file:///b.relay" }), json!(7)] {
        let params = json!({ "command": "relay.run", "arguments": [argument] });
        let answer = client.request("workspace/executeCommand", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let wrong = |client: &mut Client, argument: Value| {
        let result = run(client, argument);
        assert_eq!(result["status"], "failed", "{result}");
        result["error"]["code"].as_str().unwrap_or_default().to_owned()
    };
    let input = |name: &str, value: Value| json!({ "uri": URI, "function": "@main", "inputs": { name: value } });
    assert_eq!(wrong(&mut client, json!({ "uri": URI, "function": "@none" })), "run-input");
    assert_eq!(wrong(&mut client, input("x", json!("nowhere.npy"))), "run-input");
    assert_eq!(wrong(&mut client, input("x", json!([1, 2, 3]))), "run-input");
    assert_eq!(wrong(&mut client, input("y", json!(1))), "run-input");
    client.replace(URI, 2, &NET.replace("nn.relu(%x)", "nn.relu(%y)"));
    assert_eq!(wrong(&mut client, json!({ "uri": URI, "function": "@layer" })), "run-untyped");
    assert_eq!(client.finish(), Some(0));
}

/// A function with an error runs up to it, as its lens says; the values before it are shown.
#[test]
fn a_run_stops_at_an_error() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, &NET.replace("let %m = %n + 1;\n  %m", "let %m = %n + 1;\n  %m + %no"));
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    let titles: Vec<&str> = lenses["result"]
        .as_array()
        .expect("lenses")
        .iter()
        .filter_map(|lens| lens["command"]["title"].as_str())
        .filter(|title| title.starts_with('▶'))
        .collect();
    assert_eq!(titles, ["▶ Run", "▶ Run up to the error on line 9", "▶ Run"]);
    let inputs = json!({ "uri": URI, "function": "@other", "inputs": { "n": 41 } });
    let result = run(&mut client, inputs);
    assert_eq!(
        (&result["status"], &result["error"]["code"]),
        (&json!("failed"), &json!("run-untyped"))
    );
    let title =
        "@other stopped at the error on line 9: there is no variable `%no` here [unknown-variable]";
    assert_eq!(result["title"], title, "{result}");
    assert_eq!(result["error"]["range"], range((8, 7), (8, 10)), "{result}");
    assert_eq!(values(&mut client), [(6, "41".to_owned()), (7, "42".to_owned())]);
    // The error is marked once.
    assert_eq!(marks(&mut client), []);
    // So does one that it calls.
    let result = run(&mut client, json!({ "uri": URI, "function": "@main", "seed": 1 }));
    let title = result["title"].as_str().unwrap_or_default();
    assert!(title.starts_with("@main stopped at the error on line 9: "), "{result}");
    client.replace(URI, 2, &NET.replace("(%n: int32) -> int32", "(%n: int32) -> "));
    let result = run(&mut client, json!({ "uri": URI, "function": "@other" }));
    let title = result["title"].as_str().unwrap_or_default();
    assert!(title.starts_with("@other cannot be called: "), "{result}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn arguments_are_saved() {
    let temporary = Temporary::new("remembered");
    let folder = &temporary.0;
    std::fs::create_dir_all(folder.join("nets")).expect("a folder");
    let uri = format!("file://{}/nets/a.relay", folder.display());
    let file: PathBuf = folder.join(".relay/run.json");
    let mut client = Client::spawn();
    client.request(
        "initialize",
        json!({
            "processId": null, "rootUri": format!("file://{}", folder.display()),
            "capabilities": { "experimental": { "commands": { "commands": ["relay.run"] } } },
        }),
    );
    client.notify("initialized", json!({}));
    client.open(&uri, NET);
    let other = |extra: Value| {
        let mut argument = json!({ "uri": uri, "function": "@other" });
        for (key, value) in extra.as_object().expect("an object") {
            argument[key] = value.clone();
        }
        argument
    };
    let result = run(&mut client, other(json!({ "inputs": { "n": 41 }, "remember": true })));
    assert_eq!(result["value"]["data"], json!([42]), "{result}");
    let written = std::fs::read_to_string(&file).expect("the file is written");
    let written: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(written, json!({ "nets/a.relay": { "@other": { "inputs": { "n": 41 } } } }));
    assert_eq!(run(&mut client, other(json!({})))["value"]["data"], json!([42]));
    // Arguments of the request take precedence.
    assert_eq!(
        run(&mut client, other(json!({ "inputs": { "n": 1 } })))["value"]["data"],
        json!([2])
    );
    // The file may be written by hand.
    let hand = json!({ "nets/a.relay": { "@layer": { "inputs": { "x": "nets/x.npy" } }, "@other": { "seed": 5 } } });
    std::fs::write(&file, hand.to_string()).expect("the file can be written");
    let drawn = run(&mut client, other(json!({})));
    assert_eq!((&drawn["drawn"], &drawn["seed"]), (&json!(["n"]), &json!(5)));
    let ones = [1.0f32, 1.0].map(f32::to_le_bytes).concat();
    let npy = relay_tests::arrays::npy("<f4", "(1, 2)", &ones);
    std::fs::write(folder.join("nets/x.npy"), npy).expect("a file");
    let read = run(&mut client, json!({ "uri": uri, "function": "@layer" }));
    assert_eq!(read["value"]["data"], json!([0.0, 0.0]), "{read}");
    // Saved arguments for a prompt are returned without a run, even if they are invalid.
    let recalled = run(&mut client, json!({ "uri": uri, "function": "@open", "recall": true }));
    assert_eq!(recalled["remembered"], json!({}), "{recalled}");
    let recalled = run(
        &mut client,
        json!({ "uri": uri, "position": { "line": 2, "character": 3 }, "recall": true }),
    );
    assert_eq!(
        recalled,
        json!({
            "status": "recalled", "function": "@layer",
            "parameters": [{
                "name": "x", "title": "%x: Tensor[(1, 2), float32]",
                "accepts": "lists of numbers such as [[1, 2], [3, 4]], or the path of a .npy file; \
                            empty: random",
            }],
            "remembered": { "inputs": { "x": "nets/x.npy" } },
        })
    );
    std::fs::write(&file, "nonsense").expect("the file can be written");
    assert_eq!(run(&mut client, other(json!({ "recall": true })))["error"]["code"], "run-input");
    assert_eq!(run(&mut client, other(json!({})))["error"]["code"], "run-input");
}

/// Waits for the progress of a run, and returns its token.
fn progress(client: &mut Client) -> Value {
    let create = client.expect("window/workDoneProgress/create");
    client.send(&json!({ "jsonrpc": "2.0", "id": create["id"], "result": null }));
    let begin = client.wait_for("the begin of a progress", |message| {
        message["params"]["token"] == create["params"]["token"]
            && message["params"]["value"]["kind"] == "begin"
    });
    assert_eq!(begin["params"]["value"]["cancellable"], true, "{begin}");
    begin["params"]["token"].clone()
}

/// Runs end within 10 ms of their cancellation, in the best of several attempts on an idle machine.
#[test]
fn run_ends_when_its_progress_is_cancelled() {
    let mut client = client(json!({ "workDoneProgress": true }), Value::Null);
    client.open(URI, FOREVER);
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let id = ask_run(&mut client, json!({ "uri": URI, "function": "@main" }));
        let token = progress(&mut client);
        let pressed = Instant::now();
        client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
        let answer = client.answer(id);
        best = best.min(client.arrived - pressed);
        assert_eq!(answer["result"]["status"], "cancelled", "{answer}");
        assert_eq!(answer["result"]["error"]["code"], "run-cancelled");
        let end = client.wait_for("the end of the progress", |message| {
            message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end"
        });
        assert_eq!(end["params"]["token"], token);
    }
    at_most("from cancellation to the end of a run", best, Duration::from_millis(10));
    // A short run shows no progress.
    client.replace(URI, 2, NET);
    run(&mut client, json!({ "uri": URI, "function": "@main" }));
    let after = client.drain(Duration::from_millis(300));
    let created = |message: &&Value| message["method"] == "window/workDoneProgress/create";
    assert_eq!(after.iter().find(created), None);
    assert_eq!(client.finish(), Some(0));
}

/// A run is cancelled as quickly while it reads its arguments: sparse files of three gigabytes.
#[cfg(unix)]
#[test]
fn run_is_cancelled_while_reading_arguments() {
    let folder = Temporary::new("long");
    let count = 3usize << 28;
    let (x, npz, params) = relay_tests::arrays::sparse(&folder.0, count);
    let mut client = client(json!({ "workDoneProgress": true }), Value::Null);
    client.open(URI, &format!("def @main(%x: Tensor[({count}), float32]) {{ sum(%x) }}"));
    for given in [
        json!({ "inputs": { "x": x } }),
        json!({ "archives": [npz] }),
        json!({ "params": [params] }),
    ] {
        let mut best = Duration::MAX;
        for _ in 0..3 {
            let mut argument = json!({ "uri": URI, "function": "@main" });
            for (key, value) in given.as_object().expect("an object") {
                argument[key] = value.clone();
            }
            let id = ask_run(&mut client, argument);
            let token = progress(&mut client);
            let pressed = Instant::now();
            client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
            let answer = client.answer(id);
            best = best.min(client.arrived - pressed);
            assert_eq!(answer["result"]["status"], "cancelled", "{answer}");
            client.wait_for("the end of the progress", |message| {
                message["params"]["token"] == token && message["params"]["value"]["kind"] == "end"
            });
        }
        at_most("from cancellation to the end of a read", best, Duration::from_millis(20));
    }
    // The server still responds.
    client.open("file:///work/b.relay", NET);
    let result = run(&mut client, json!({ "uri": "file:///work/b.relay", "function": "@layer" }));
    assert_eq!(result["status"], "done", "{result}");
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn run_ends_when_its_request_is_cancelled() {
    let mut client = client(json!({ "workDoneProgress": true }), Value::Null);
    client.open(URI, FOREVER);
    let id = ask_run(&mut client, json!({ "uri": URI, "function": "@main" }));
    progress(&mut client);
    client.notify("$/cancelRequest", json!({ "id": id }));
    let answer = client.answer(id);
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    // It has ended instead of continuing in the background: the server becomes idle.
    let begin = Instant::now();
    while let Some(before) = client.cpu() {
        std::thread::sleep(Duration::from_millis(400));
        let used = client.cpu().map(|after| after.saturating_sub(before));
        if used.is_some_and(|used| used < Duration::from_millis(100)) {
            break;
        }
        assert!(begin.elapsed() < WATCHDOG, "the server is busy: {used:?}");
    }
    assert_eq!(client.finish(), Some(0));
}

/// A run that ends after the values of its document were cleared shows none.
#[test]
fn cleared_values_stay_cleared_when_a_run_ends() {
    let mut client = client(json!({ "workDoneProgress": true }), json!({ "run": { "time": 0.5 } }));
    client.open(URI, &FOREVER.replace("{ @loop(0) }", "{ let %early = 1; @loop(%early) }"));
    let mut run = |is_cleared: bool| {
        let id = ask_run(&mut client, json!({ "uri": URI, "function": "@main" }));
        progress(&mut client);
        if is_cleared {
            let clear = json!({ "command": "relay.clearValues", "arguments": [URI] });
            let answer = client.request("workspace/executeCommand", clear);
            assert_eq!(answer["result"], Value::Null, "{answer}");
        }
        assert_eq!(client.answer(id)["result"]["error"]["code"], "run-time");
        values(&mut client).len()
    };
    assert!(run(false) > 0);
    assert_eq!(run(true), 0);
    assert_eq!(client.finish(), Some(0));
}

/// The client may provide a token.
#[test]
fn progress_uses_the_token_of_the_client() {
    let mut client = client(json!({ "workDoneProgress": true }), Value::Null);
    client.open(URI, FOREVER);
    let id = client.ask(
        "workspace/executeCommand",
        json!({
            "command": "relay.run", "arguments": [{ "uri": URI }], "workDoneToken": 77,
        }),
    );
    let begin = client.expect("$/progress");
    assert_eq!(begin["params"]["token"], 77, "{begin}");
    client.notify("window/workDoneProgress/cancel", json!({ "token": 77 }));
    assert_eq!(client.answer(id)["result"]["status"], "cancelled");
}

#[test]
fn runs_do_not_block_typing() {
    let mut client = client(json!({ "workDoneProgress": true }), Value::Null);
    client.open(URI, FOREVER);
    let mut runs = vec![ask_run(&mut client, json!({ "uri": URI }))];
    progress(&mut client);
    let mut best = Duration::MAX;
    for version in 2..12 {
        let start = Instant::now();
        client.edit(URI, version, (1, 10), (1, 10), "");
        let hover = client.request("textDocument/hover", at(URI, 1, 11));
        best = best.min(client.arrived - start);
        let text = hover["result"]["contents"]["value"].as_str().unwrap_or_default();
        assert!(text.contains("%n: int32"), "{hover}");
    }
    at_most("a hover beside a run", best, Duration::from_millis(20));
    runs.extend((0..3).map(|_| ask_run(&mut client, json!({ "uri": URI }))));
    let fifth = ask_run(&mut client, json!({ "uri": URI }));
    let refused = client.answer(fifth);
    assert!(refused["error"]["message"].as_str().is_some_and(|m| m.contains("already running")));
    for id in runs {
        client.notify("$/cancelRequest", json!({ "id": id }));
        assert_eq!(client.answer(id)["error"]["code"], -32800);
    }
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn run_limits_are_settings() {
    let limited = |settings: Value| {
        let mut client = client(json!({}), json!({ "run": settings }));
        client.open(URI, FOREVER);
        let result = run(&mut client, json!({ "uri": URI }));
        assert_eq!(result["status"], "failed", "{result}");
        assert_eq!(result["error"]["range"]["start"]["line"], 1, "{result}");
        // There is also a diagnostic.
        let code = result["error"]["code"].as_str().unwrap_or_default().to_owned();
        assert_eq!(marks(&mut client), [(code.clone(), 1)]);
        code
    };
    assert_eq!(limited(json!({ "fuel": 1000 })), "run-fuel");
    assert_eq!(limited(json!({ "time": 0.05 })), "run-time");
}

#[test]
fn values_are_shown_until_they_are_stale() {
    let mut client = client(json!({}), Value::Null);
    client.open(URI, NET);
    assert_eq!(values(&mut client), []);
    // `nn.relu` gives 0, its logarithm is infinite, and the exponential of that is 0 again.
    run(&mut client, json!({ "uri": URI, "function": "@main", "inputs": { "x": [[-1, 1]] } }));
    client.expect("workspace/inlayHint/refresh");
    let shown = values(&mut client);
    let wanted = [
        (1, "min -1 mean 0 max 1"),
        (2, "min 0 mean 0.5 max 1"),
        (3, "all 0, 1 Inf"),
        (6, "1"),
        (7, "2"),
        (10, "min -1 mean 0 max 1"),
        (11, "all 0, 1 Inf"),
        (12, "min 0 mean 0.5 max 1"),
    ];
    assert_eq!(shown, wanted.map(|(line, text)| (line, text.to_owned())));
    assert_eq!(marks(&mut client), [("run-not-finite".to_owned(), 3)]);
    let hover = |client: &mut Client, line, column| {
        let hover = client.request("textDocument/hover", at(URI, line, column));
        hover["result"]["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let text = hover(&mut client, 12, 11);
    assert!(text.contains("in the last run: `(1, 2) all 0, 1 Inf`"), "{text}");
    // An edit elsewhere only moves them.
    client.edit(URI, 2, (15, 0), (15, 0), "// nothing\n");
    client.edit(URI, 3, (1, 0), (1, 0), "\n\n");
    assert_eq!(lines(&values(&mut client)), [3, 4, 5, 8, 9, 12, 13, 14]);
    assert_eq!(marks(&mut client), [("run-not-finite".to_owned(), 5)]);
    // An edit of a function that `@main` calls hides the values of both.
    client.edit(URI, 4, (9, 16), (9, 17), "2");
    assert_eq!(lines(&values(&mut client)), [3, 4, 5]);
    let text = hover(&mut client, 14, 11);
    assert!(!text.contains("in the last run"), "{text}");
    // Undoing it restores them; an edit of `@main` hides only its own values.
    client.edit(URI, 5, (9, 16), (9, 17), "1");
    assert_eq!(lines(&values(&mut client)), [3, 4, 5, 8, 9, 12, 13, 14]);
    client.edit(URI, 6, (15, 0), (15, 0), " ");
    assert_eq!(lines(&values(&mut client)), [3, 4, 5, 8, 9]);
    client.edit(URI, 7, (4, 0), (4, 0), " ");
    assert_eq!(lines(&values(&mut client)), [8, 9]);
    assert_eq!(marks(&mut client), []);
    // A new run, and a setting.
    run(&mut client, json!({ "uri": URI, "function": "@other" }));
    assert_eq!(lines(&values(&mut client)), [8, 9]);
    let settings = json!({ "settings": { "relay": { "inlayHints": { "values": false } } } });
    client.notify("workspace/didChangeConfiguration", settings);
    assert_eq!(values(&mut client), []);
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "relay": {} } }));
    client.open(URI, NET);
    assert_eq!(values(&mut client), []);
    assert_eq!(client.finish(), Some(0));
}

/// A value follows all code of its line, with the shape unless a type shows it.
#[test]
fn values_are_placed_at_line_ends() {
    let mut client = client(json!({}), Value::Null);
    let text = "\
def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) {
  %0 = add(%x, %y) /* ty=Tensor[(2), float32] span=a.py:1:2 */;
  let %z = exp(%0);
  %z
}
";
    client.open(URI, text);
    let settings = json!({ "settings": { "relay": { "inlayHints": { "types": false } } } });
    client.notify("workspace/didChangeConfiguration", settings);
    let given = json!({ "uri": URI, "inputs": { "x": [0, 0], "y": [0, 0] } });
    assert_eq!(run(&mut client, given)["status"], "done");
    let params = json!({ "textDocument": { "uri": URI }, "range": range((0, 0), (9, 0)) });
    let answer = client.request("textDocument/inlayHint", params);
    let hints = answer["result"].as_array().expect("hints").iter();
    let shown: Vec<(u64, u64, &str)> = hints
        .filter_map(|hint| {
            let (line, label) = (hint["position"]["line"].as_u64()?, hint["label"].as_str()?);
            Some((line, hint["position"]["character"].as_u64()?, label.strip_prefix("= ")?))
        })
        .collect();
    let wanted = [(0, 34, "all 0"), (0, 60, "all 0"), (1, 18, "all 0"), (2, 19, "(2,) all 1")];
    assert_eq!(shown, wanted);
    assert_eq!(client.finish(), Some(0));
}

/// Values that were computed before a failure are shown.
#[test]
fn failed_run_keeps_earlier_values() {
    let mut client = client(json!({}), Value::Null);
    let text = NET.replace("%m\n}", "%m / 0\n}");
    client.open(URI, &text);
    let result = run(&mut client, json!({ "uri": URI, "inputs": { "x": [[1, 1]] } }));
    assert_eq!(result["error"]["code"], "run-operator-failed", "{result}");
    let steps: Vec<&Value> = result["error"]["trace"]
        .as_array()
        .expect("a trace")
        .iter()
        .map(|step| &step["function"])
        .collect();
    assert_eq!(steps, ["@other", "@main"]);
    let shown = result["text"].as_str().unwrap_or_default();
    assert!(shown.contains("called in @main at a.relay:14:8"), "{shown}");
    assert_eq!(marks(&mut client), [("run-operator-failed".to_owned(), 8)]);
    assert_eq!(lines(&values(&mut client)), [1, 2, 3, 6, 7, 10, 11, 12]);
}

/// Long matrix products do not delay a cancellation, neither between them nor within one.
#[test]
fn large_operators_are_cancelled_quickly() {
    let mut client = client(json!({ "workDoneProgress": true }), Value::Null);
    let mut text =
        "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(1024, 1024), float32]) {\n".to_owned();
    // These two are fast on any machine, so that there were values when the run is cancelled.
    text += "  %early = nn.relu(%x);\n  %soon = nn.relu(%early);\n";
    let mut last = "%soon".to_owned();
    for number in 0..2000 {
        text += &format!("  %{number} = nn.dense({last}, %x, units=1024);\n");
        last = format!("%{number}");
    }
    text += &format!("  {last}\n}}\n");
    client.open(URI, &text);
    let mut best = Duration::MAX;
    for wait in 1..=2 {
        let id = ask_run(&mut client, json!({ "uri": URI }));
        let token = progress(&mut client);
        std::thread::sleep(Duration::from_secs(wait));
        let pressed = Instant::now();
        client.notify("window/workDoneProgress/cancel", json!({ "token": token }));
        let answer = client.answer(id);
        let result = &answer["result"];
        assert_eq!(result["status"], "cancelled", "{answer}");
        assert!(result["title"].as_str().is_some_and(|t| t.contains("was cancelled")), "{answer}");
        best = best.min(client.arrived - pressed);
        // The values computed until then are those of an arbitrary moment.
        assert_eq!(values(&mut client), []);
    }
    at_most("from cancellation to the end of a run", best, Duration::from_millis(300));
}
