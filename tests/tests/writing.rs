//! Requests for writing: completion, signature help, rename, formatting, actions.

use std::time::{Duration, Instant};

use relay_tests::{
    client::{Client, at, range},
    corpus,
    figures::at_most,
};
use serde_json::{Value, json};

const URI: &str = "file:///work/a.relay";

/// Starts a client with the capabilities of VS Code.
fn able(options: Value) -> Client {
    Client::start_with(
        json!({
            "general": { "positionEncodings": ["utf-8"] },
            "textDocument": {
                "completion": { "completionItem": {
                    "snippetSupport": true, "labelDetailsSupport": true,
                    "documentationFormat": ["markdown", "plaintext"],
                } },
                "codeAction": { "resolveSupport": { "properties": ["edit"] } },
            },
        }),
        options,
    )
}

/// Opens a text, and returns the line and column of the cursor `$0`.
fn open(client: &mut Client, text: &str) -> (u32, u32) {
    let offset = text.find("$0").expect("a cursor");
    let head = &text[..offset];
    client.open(URI, &text.replace("$0", ""));
    let line = head.matches('\n').count() as u32;
    (line, (head.len() - head.rfind('\n').map_or(0, |nl| nl + 1)) as u32)
}

fn complete(client: &mut Client, place: (u32, u32)) -> Vec<Value> {
    let answer = client.request("textDocument/completion", at(URI, place.0, place.1));
    answer["result"]["items"].as_array().cloned().unwrap_or_default()
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().filter_map(|item| item["label"].as_str()).collect()
}

/// Applies the edits of a response to a text, with columns in bytes.
fn apply(text: &str, edits: &Value) -> String {
    let offset = |place: &Value| {
        let line = place["line"].as_u64().unwrap_or_default() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + place["character"].as_u64().unwrap_or_default() as usize
    };
    let mut found: Vec<(usize, usize, String)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|edit| {
            let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
            (offset(start), offset(end), edit["newText"].as_str().unwrap_or_default().to_owned())
        })
        .collect();
    found.sort_by_key(|edit| (edit.0, edit.1));
    let mut out = text.to_owned();
    for (start, end, with) in found.into_iter().rev() {
        out.replace_range(start..end, &with);
    }
    out
}

#[test]
fn completion_in_incomplete_text() {
    let mut client = able(Value::Null);
    let place = open(&mut client, "def @main(%x: Tensor[(1, 3, 8, 8), float32]) {\n  nn.co$0\n}\n");
    let items = complete(&mut client, place);
    assert!(labels(&items).contains(&"nn.conv2d"), "{:?}", labels(&items));
    let conv = items.iter().find(|item| item["label"] == "nn.conv2d").expect("it is there");
    assert_eq!(conv["textEdit"]["range"], range((1, 2), (1, 7)));
    assert_eq!(conv["textEdit"]["newText"], "nn.conv2d(${1:%data}, ${2:%weight})$0");
    assert!(conv.get("documentation").is_none());
    assert_eq!(conv["labelDetails"], json!({ "description": "(data, weight)" }));
    let resolved = client.request("completionItem/resolve", conv.clone());
    let documentation = resolved["result"]["documentation"]["value"].as_str().unwrap_or_default();
    assert!(documentation.contains("padding"), "{resolved}");

    client.replace(
        URI,
        2,
        "def @main(%x: int32, %y: float32) {\n  %0 = add(%x, %x);\n  add(%x, \n",
    );
    let items = complete(&mut client, (2, 10));
    assert_eq!(labels(&items)[..2], ["%0", "%x"], "{items:?}");
    assert_eq!(items[0]["labelDetails"], json!({ "description": "i32" }));

    client.replace(
        URI,
        3,
        "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {\n  nn.conv2d(%x, %w, pad",
    );
    let items = complete(&mut client, (1, 23));
    assert_eq!(items[0]["label"], "padding=", "{items:?}");
    assert_eq!(items[0]["detail"], "a list of dimensions such as [1, 1] = [0, 0]");
}

/// A truncated list is requested again after the next letter, which finds omitted entries.
#[test]
fn completion_list_is_limited() {
    let mut client = able(Value::Null);
    let mut text = "def @main(%x: float32) {\n".to_owned();
    for number in 0..400 {
        text += &format!("  let %value_{number} = exp(%x);\n");
    }
    let place = open(&mut client, &format!("{text}  %va$0\n}}\n"));
    let ask = |client: &mut Client, place: (u32, u32)| {
        client.request("textDocument/completion", at(URI, place.0, place.1))["result"].clone()
    };
    let first = ask(&mut client, place);
    let found = first["items"].as_array().expect("items");
    assert_eq!((found.len(), &first["isIncomplete"]), (200, &json!(true)));
    assert!(!labels(found).contains(&"%value_17"), "it is omitted");
    client.edit(URI, 2, place, place, "17");
    let second = ask(&mut client, (place.0, place.1 + 2));
    let found = second["items"].as_array().expect("items");
    assert_eq!(second["isIncomplete"], json!(false), "{second}");
    // The letters as a subsequence.
    assert_eq!(labels(found)[0], "%value_17");
}

/// After the `=` of a binding users type a space first: an earlier list would get in the way, and Helix
/// would insert its entries without the space.
#[test]
fn completion_after_equals_is_for_attributes() {
    let mut client = able(Value::Null);
    let mut after = |text: &str| {
        let place = open(&mut client, text);
        let mut params = at(URI, place.0, place.1);
        params["context"] = json!({ "triggerKind": 2, "triggerCharacter": "=" });
        let answer = client.request("textDocument/completion", params);
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
        answer["result"]["items"].as_array().map(Vec::len)
    };
    assert_eq!(after("def @main(%x: int32) {\n  let %y =$0\n}\n"), None);
    assert_eq!(after("def @main(%x: int32) {\n  %0 =$0\n}\n"), None);
    let found = after("def @main(%x: Tensor[(2, 3), float32]) {\n  cast(%x, dtype=$0)\n}\n");
    assert!(found.is_some_and(|found| found > 0), "{found:?}");
}

#[test]
fn completion_for_clients_without_snippets() {
    let mut client = Client::start();
    let place = open(&mut client, "def @main(%x: int32) {\n  $0\n}\n");
    for item in complete(&mut client, place) {
        assert!(item.get("insertTextFormat").is_none(), "{item}");
        assert!(item.get("labelDetails").is_none(), "{item}");
        let text = item["textEdit"]["newText"].as_str().unwrap_or_default();
        assert!(!text.contains('$'), "{item}");
    }
}

/// Parentheses that a completion inserts trigger no signature help, so that the entry asks for it.
#[test]
fn completed_calls_show_their_signature() {
    let text = "def @twice(%x: int32) { %x }\ndef @main(%x: int32) {\n  $0\n}\n";
    let commands = |experimental: Value| {
        let mut client = Client::start_with(
            json!({
                "textDocument": { "completion": { "completionItem": { "snippetSupport": true } } },
                "experimental": experimental,
            }),
            Value::Null,
        );
        let place = open(&mut client, text);
        let items = complete(&mut client, place);
        ["nn.relu", "@twice", "%x", "let"].map(|label| {
            let item = items.iter().find(|item| item["label"] == label);
            item.unwrap_or_else(|| panic!("no {label}"))["command"]["command"].clone()
        })
    };
    let shows = "editor.action.triggerParameterHints";
    let found = commands(json!({ "commands": { "commands": [shows] } }));
    assert_eq!(found, [json!(shows), json!(shows), Value::Null, Value::Null]);
    assert_eq!(commands(Value::Null), [const { Value::Null }; 4]);
}

#[test]
fn signature_help() {
    let mut client = able(Value::Null);
    let text = "def @f(%a: int32, %b: float32) -> int32 { %a }\ndef @main(%x: int32) {\n  @f(%x, nn.dense(%x, %x, units=$0\n}\n";
    let (line, column) = open(&mut client, text);
    let help = client.request("textDocument/signatureHelp", at(URI, line, column));
    let signature = &help["result"]["signatures"][0];
    assert_eq!(signature["label"], "nn.dense(%data, %weight, units, out_dtype=\"\")");
    assert_eq!(help["result"]["activeParameter"], 2);
    assert_eq!(signature["parameters"][2]["label"], json!([25, 30]));
    let help = client.request("textDocument/signatureHelp", at(URI, line, 8));
    assert_eq!(help["result"]["signatures"][0]["label"], "@f(%a: int32, %b: float32) -> int32");
    assert_eq!(help["result"]["activeParameter"], 1);
    let outside = client.request("textDocument/signatureHelp", at(URI, 0, 2));
    assert_eq!(outside["result"], Value::Null);
}

#[test]
fn rename() {
    let mut client = able(Value::Null);
    let text = "def @main(%x: int32) {\n  let %y = add(%x, 1);\n  add(%y, %x)\n}\n";
    client.open(URI, text);
    let prepared = client.request("textDocument/prepareRename", at(URI, 1, 7));
    assert_eq!(prepared["result"]["placeholder"], "%y");
    assert_eq!(prepared["result"]["range"], range((1, 6), (1, 8)));
    let rename = |client: &mut Client, column: u32, name: &str| {
        let mut params = at(URI, 1, column);
        params["newName"] = json!(name);
        client.request("textDocument/rename", params)
    };
    let done = rename(&mut client, 7, "sum");
    let after = apply(text, &done["result"]["changes"][URI]);
    assert_eq!(after, "def @main(%x: int32) {\n  let %sum = add(%x, 1);\n  add(%sum, %x)\n}\n");
    let refused = rename(&mut client, 7, "x");
    assert_eq!(refused["error"]["code"], -32803, "{refused}");
    let reason = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(reason.contains("line 3") && reason.contains("`%x`"), "{reason}");
    let refused = client.request("textDocument/prepareRename", at(URI, 1, 12));
    assert_eq!(refused["error"]["code"], -32803, "{refused}");
}

#[test]
fn formatting() {
    let mut client = able(json!({ "format": { "style": "reading" } }));
    let text = "def @main(%x: int32){\n%0=add(%x,%x);\n %0\n}\n";
    client.open(URI, text);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let document = json!({ "uri": URI });
    let whole = client.request(
        "textDocument/formatting",
        json!({ "textDocument": document, "options": options }),
    );
    let tidy = "def @main(%x: int32) {\n  %0 = add(%x, %x);\n  %0\n}\n";
    assert_eq!(apply(text, &whole["result"]), tidy);
    let part = client.request(
        "textDocument/rangeFormatting",
        json!({ "textDocument": document, "options": options, "range": range((2, 0), (2, 3)) }),
    );
    assert_eq!(apply(text, &part["result"]), "def @main(%x: int32){\n%0=add(%x,%x);\n  %0\n}\n");
    let mut typed = at(URI, 1, 14);
    typed["ch"] = json!(";");
    typed["options"] = options.clone();
    let typed = client.request("textDocument/onTypeFormatting", typed);
    assert!(apply(text, &typed["result"]).contains("\n  %0 = add(%x, %x);\n %0"), "{typed}");
    client.replace(
        URI,
        2,
        &format!("def @main({}) {{\n  1\n}}\n", vec!["%a: int32"; 30].join(", ")),
    );
    let whole = client.request(
        "textDocument/formatting",
        json!({ "textDocument": document, "options": options }),
    );
    assert_eq!(whole["result"].as_array().map(Vec::len), Some(31), "one edit a parameter");
}

fn actions(
    client: &mut Client,
    from: (u32, u32),
    to: (u32, u32),
    only: Option<&str>,
) -> Vec<Value> {
    let mut context = json!({ "diagnostics": [] });
    if let Some(only) = only {
        context["only"] = json!([only]);
    }
    let answer = client.request(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": URI }, "range": range(from, to), "context": context }),
    );
    answer["result"].as_array().cloned().unwrap_or_default()
}

#[test]
fn quick_fix_for_a_misspelt_name() {
    let mut client = able(Value::Null);
    let text = "#[version = \"0.0.5\"]\ndef @main(%x: int32) {\n  add(%xx, %x)\n}\n";
    client.open(URI, text);
    let found = actions(&mut client, (2, 7), (2, 7), Some("quickfix"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["title"], "Change to `%x`");
    assert_eq!(found[0]["isPreferred"], true);
    assert_eq!(found[0]["diagnostics"][0]["code"], "unknown-variable");
    let after = apply(text, &found[0]["edit"]["changes"][URI]);
    assert_eq!(after, text.replace("%xx", "%x"));
}

#[test]
fn actions_are_resolved_when_chosen() {
    let mut client = able(Value::Null);
    let text = "def @main(%x: int32) {\n  let %y = add(%x, 1);\n  multiply(%y, %x)\n}\n";
    client.open(URI, text);
    let found = actions(&mut client, (1, 7), (1, 7), Some("refactor"));
    let inline = found.iter().find(|action| action["title"] == "Inline `%y`").expect("offered");
    assert_eq!(inline["kind"], "refactor.inline");
    assert!(inline.get("edit").is_none(), "{inline}");
    let chosen = client.request("codeAction/resolve", inline.clone());
    let after = apply(text, &chosen["result"]["edit"]["changes"][URI]);
    assert_eq!(after, "def @main(%x: int32) {\n  multiply(add(%x, 1), %x)\n}\n");
    // Its ranges refer to an old text.
    client.edit(URI, 2, (0, 0), (0, 0), "\n");
    let late = client.request("codeAction/resolve", inline.clone());
    assert_eq!(late["error"]["code"], -32801, "{late}");
    let nonsense =
        client.request("codeAction/resolve", json!({ "title": "x", "data": { "id": 1 } }));
    assert_eq!(nonsense["error"]["code"], -32602, "{nonsense}");
}

#[test]
fn actions_for_clients_without_resolve() {
    let mut client = Client::start();
    let text = "def @main(%x: int32) {\n  let %y = add(%x, 1);\n  fn () { %y }\n}\n";
    client.open(URI, text);
    let found = actions(&mut client, (1, 7), (1, 7), None);
    assert!(!found.is_empty());
    for action in &found {
        assert!(action["edit"]["changes"][URI].is_array(), "{action}");
    }
    // It would compute the value at each call, and is not offered to a client that cannot show the reason.
    assert!(found.iter().all(|action| action["kind"] != "refactor.inline"), "{found:?}");
}

/// The edits of all actions in a long text would take too long: a command computes those of the chosen one.
#[test]
fn actions_in_long_texts_for_clients_without_resolve() {
    let lines = "  add(%x, 1);\n".repeat(2_000);
    let text =
        format!("def @main(%x: int32) {{\n  let %y = add(%x, 1);\n{lines}  multiply(%y, %x)\n}}\n");
    let mut client = Client::start_with(json!({ "workspace": { "applyEdit": true } }), Value::Null);
    client.open(URI, &text);
    let found = actions(&mut client, (1, 7), (1, 7), None);
    let inline = found.iter().find(|action| action["title"] == "Inline `%y`").expect("offered");
    assert!(inline["edit"].is_null(), "{inline}");
    let done = client.request("workspace/executeCommand", inline["command"].clone());
    assert_eq!(done["result"], Value::Null, "{done}");
    let asked = client.expect("workspace/applyEdit");
    let after = apply(&text, &asked["params"]["edit"]["changes"][URI]);
    let expected = text.replace("  let %y = add(%x, 1);\n", "").replace("%y", "add(%x, 1)");
    assert_eq!(after, expected);
    // Its ranges refer to an old text.
    client.edit(URI, 2, (0, 0), (0, 0), "\n");
    let late = client.request("workspace/executeCommand", inline["command"].clone());
    assert_eq!(late["error"]["code"], -32801, "{late}");
    // A client that asks for one kind wants to apply it, and one that applies no edits gets them at once.
    let refactor = actions(&mut client, (2, 7), (2, 7), Some("refactor.inline"));
    assert!(refactor[0]["edit"].is_object(), "{refactor:?}");
    let mut client = Client::start();
    client.open(URI, &text);
    let found = actions(&mut client, (1, 7), (1, 7), None);
    assert!(found.iter().all(|action| action["edit"].is_object()), "{found:?}");
}

#[test]
fn fix_all() {
    let mut client = able(Value::Null);
    let text = "def @main(%x: int32 /* ty=int64 */) { sub(%x, %x) }\n";
    client.open(URI, text);
    let found = actions(&mut client, (0, 0), (0, 0), Some("source.fixAll"));
    assert_eq!(found.len(), 1, "{found:?}");
    let chosen = client.request("codeAction/resolve", found[0].clone());
    let after = apply(text, &chosen["result"]["edit"]["changes"][URI]);
    assert_eq!(
        after,
        "#[version = \"0.0.5\"]\ndef @main(%x: int32 /* ty=int32 */) { subtract(%x, %x) }\n"
    );
}

#[test]
fn linked_editing() {
    let mut client = able(Value::Null);
    client.open(URI, "def @main(%x: int32) {\n  let %y = %x;\n  add(%y, %y)\n}\n");
    let linked = client.request("textDocument/linkedEditingRange", at(URI, 2, 7));
    let ranges = linked["result"]["ranges"].as_array().expect("ranges");
    assert_eq!(ranges.len(), 3);
    assert_eq!(ranges[0], range((1, 6), (1, 8)));
}

/// Returns the median latency of a request after an edit at the end of the text.
fn latency(
    client: &mut Client,
    times: usize,
    ask: &mut dyn FnMut(&mut Client) -> Value,
) -> Duration {
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let begin = Instant::now();
            let answer = ask(client);
            assert!(answer.get("error").is_none(), "{answer}");
            begin.elapsed()
        })
        .collect();
    taken.sort();
    taken[times / 2]
}

/// Requests in long modules are answered, in times that are compared with their bars on request.
#[test]
fn requests_in_large_modules_are_fast() {
    for name in ["lstm500", "bert-base"] {
        let Some(text) = corpus::model(name) else { return };
        let mut client = able(Value::Null);
        client.open(URI, &text);
        client.diagnostics(URI, 1);
        let lines: Vec<&str> = text.lines().collect();
        // The last call, with every binding in scope.
        let line = lines.iter().rposition(|line| line.contains("(%") && !line.starts_with("def"));
        let line = line.expect("a call") as u32;
        let text_of_line = lines[line as usize];
        let column = (text_of_line.find("(%").expect("a call") + 2) as u32;
        let budget = |what: &str, taken: Duration, wanted: u64| {
            at_most(&format!("{name}: {what}"), taken, Duration::from_millis(wanted));
        };
        let mut version = 1;
        // Type and delete a letter, each followed by the request.
        let typed = latency(&mut client, 16, &mut |client| {
            version += 1;
            if version % 2 == 0 {
                client.edit(URI, version, (line, column), (line, column), "1");
            } else {
                client.edit(URI, version, (line, column), (line, column + 1), "");
            }
            client.request("textDocument/completion", at(URI, line, column + 1))
        });
        budget("completion after a letter", typed, 10);
        let still = latency(&mut client, 15, &mut |client| {
            client.request("textDocument/completion", at(URI, line, column))
        });
        budget("completion", still, 10);
        let signature = latency(&mut client, 15, &mut |client| {
            client.request("textDocument/signatureHelp", at(URI, line, column))
        });
        budget("signature help", signature, 10);
        let formatting = latency(&mut client, 5, &mut |client| {
            let options = json!({ "tabSize": 2, "insertSpaces": true });
            client.request(
                "textDocument/formatting",
                json!({ "textDocument": { "uri": URI }, "options": options }),
            )
        });
        budget("formatting", formatting, 60);
        let offered = latency(&mut client, 5, &mut |client| {
            let params = json!({
                "textDocument": { "uri": URI },
                "range": range((line, 3), (line, 3)),
                "context": { "diagnostics": [] },
            });
            client.request("textDocument/codeAction", params)
        });
        budget("code actions", offered, 60);
        let renamed = latency(&mut client, 5, &mut |client| {
            let mut params = at(URI, line, column);
            let behind = text_of_line.as_bytes()[column as usize];
            params["newName"] = json!(if behind.is_ascii_digit() { "999999" } else { "renamed" });
            client.request("textDocument/rename", params)
        });
        budget("rename", renamed, 100);
        let place = (line, column);
        for id in ["graph-to-let", "write-all-types"] {
            let offered = actions(&mut client, place, place, None);
            let Some(action) = offered.iter().find(|action| action["data"]["id"] == id) else {
                continue;
            };
            let chosen = latency(&mut client, 1, &mut |client| {
                client.request("codeAction/resolve", action.clone())
            });
            budget(&format!("the action {id}, with its check"), chosen, 3_000);
        }
    }
}

/// Requests at random places of texts after random edits: each is answered, without internal errors.
#[test]
fn requests_at_random_places_of_invalid_texts() {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut client = able(Value::Null);
    let mut texts: Vec<String> = corpus::examples().into_iter().map(|(_, text)| text).collect();
    // A malformed type comment after a constant.
    texts.push("x\n  multiply(meta[][0]/*ty=Tensor*/)".into());
    client.open(URI, "");
    let mut version = 1;
    for _ in 0..60 {
        let mut text = texts[rng.usize(0..texts.len())].clone();
        for _ in 0..rng.usize(0..5) {
            relay_tests::edits::random(&mut rng, &text.clone()).apply(&mut text);
        }
        version += 1;
        client.replace(URI, version, &text);
        let lines: Vec<&str> = text.split('\n').collect();
        for _ in 0..6 {
            let line = rng.usize(0..lines.len());
            let place = (line as u32, rng.usize(0..=lines[line].len()) as u32);
            let options = json!({ "tabSize": 2, "insertSpaces": true });
            let mut rename = at(URI, place.0, place.1);
            rename["newName"] = json!(["x", "%y", "@main", "Nil", "7", "add"][rng.usize(0..6)]);
            let mut typed = at(URI, place.0, place.1);
            typed["ch"] = json!(["\n", ";", "}"][rng.usize(0..3)]);
            typed["options"] = options.clone();
            let requests = [
                ("textDocument/completion", at(URI, place.0, place.1)),
                ("textDocument/signatureHelp", at(URI, place.0, place.1)),
                ("textDocument/prepareRename", at(URI, place.0, place.1)),
                ("textDocument/rename", rename),
                ("textDocument/linkedEditingRange", at(URI, place.0, place.1)),
                ("textDocument/onTypeFormatting", typed),
                (
                    "textDocument/formatting",
                    json!({ "textDocument": { "uri": URI }, "options": options }),
                ),
            ];
            for (method, params) in requests {
                let answer = client.request(method, params);
                let code = answer["error"]["code"].as_i64();
                assert!(matches!(code, None | Some(-32803)), "{method}: {answer}\n{text:?}");
            }
            let end = (place.0, lines[line].len() as u32);
            for action in actions(&mut client, place, end, None) {
                let chosen = client.request("codeAction/resolve", action);
                let code = chosen["error"]["code"].as_i64();
                assert!(matches!(code, None | Some(-32803)), "{chosen}\n{text:?}");
            }
        }
    }
    assert_eq!(client.finish(), Some(0));
}
