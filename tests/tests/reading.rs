//! Requests for reading a module: hints, tokens, folds, symbols, calls, links.

use std::time::{Duration, Instant};

use relay_tests::{
    client::{Client, at, range},
    command::fresh_folder,
    figures::WATCHDOG,
};
use serde_json::{Value, json};

const URI: &str = "file:///work/a.relay";
const SMALL: &str = "\
// One.
// Two.
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = add(%x, %x);
  @twice(%0)
}
def @twice(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  add(%x, %x)
}
";

fn document() -> Value {
    json!({ "textDocument": { "uri": URI } })
}

fn with(extra: Value) -> Value {
    let mut params = document();
    for (key, value) in extra.as_object().into_iter().flatten() {
        params[key] = value.clone();
    }
    params
}

fn opened(text: &str) -> Client {
    let mut client = Client::start();
    client.open(URI, text);
    client
}

fn labels(answer: &Value) -> Vec<String> {
    let hints = answer["result"].as_array().into_iter().flatten();
    hints
        .map(|hint| {
            format!("{} {}", hint["position"]["line"], hint["label"].as_str().unwrap_or(""))
        })
        .collect()
}

#[test]
fn inlay_hints_and_their_settings() {
    let mut client = opened(SMALL);
    let all = with(json!({ "range": range((0, 0), (99, 0)) }));
    let hints = client.request("textDocument/inlayHint", all.clone());
    let wanted = ["2  -> Tensor[(2, 3), float32]", "3 : Tensor[(2, 3), float32]"];
    assert_eq!(labels(&hints), wanted, "{hints}");
    let line = with(json!({ "range": range((3, 0), (4, 0)) }));
    let hints = client.request("textDocument/inlayHint", line);
    assert_eq!(labels(&hints), wanted[1..]);
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "relay": { "inlayHints": { "types": false } } } }),
    );
    let hints = client.request("textDocument/inlayHint", all);
    assert_eq!(labels(&hints), [] as [&str; 0]);
}

/// Decodes tokens to line, column, length, type, modifiers.
fn decoded(data: &[u64]) -> Vec<[u64; 5]> {
    let (mut line, mut column) = (0, 0);
    let tokens = data.chunks(5).map(|token| {
        if token[0] > 0 {
            (line, column) = (line + token[0], 0);
        }
        column += token[1];
        [line, column, token[2], token[3], token[4]]
    });
    tokens.collect()
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

#[test]
fn semantic_tokens_full_and_delta() {
    let mut client = Client::start_with(json!({}), Value::Null);
    let text = "/* é🚀 */ def @f(%x: int32) { let %a = 1; %x }\ndef @g() { @f(2) }\n";
    client.open(URI, text);
    let full = client.request("textDocument/semanticTokens/full", document());
    let mut data = numbers(&full["result"]["data"]);
    // `%a`, after a comment of 9 units: a variable; declared, a constant, not used.
    let tokens = decoded(&data);
    assert!(tokens.contains(&[0, 34, 2, 2, 1 + 4 + 32]), "{tokens:?}");
    let mut previous = full["result"]["resultId"].clone();
    let edits = [((0, 42), (0, 44), "%a"), ((0, 41), (0, 41), "\n\n"), ((0, 3), (0, 4), "aaa")];
    for (version, (from, to, insert)) in edits.into_iter().enumerate() {
        client.edit(URI, version as i64 + 2, from, to, insert);
        let delta = client.request(
            "textDocument/semanticTokens/full/delta",
            with(json!({ "previousResultId": previous })),
        );
        let edits = delta["result"]["edits"].as_array().expect("a change, not the whole");
        for edit in edits {
            let start = edit["start"].as_u64().expect("a number") as usize;
            let end = start + edit["deleteCount"].as_u64().expect("a number") as usize;
            data.splice(start..end, numbers(&edit["data"]));
        }
        previous = delta["result"]["resultId"].clone();
        let range = with(json!({ "range": range((0, 0), (99, 0)) }));
        let anew = client.request("textDocument/semanticTokens/range", range);
        assert_eq!(decoded(&data), decoded(&numbers(&anew["result"]["data"])));
    }
    // A request with an unknown result id gets all tokens.
    let ask = with(json!({ "previousResultId": "nonsense" }));
    let whole = client.request("textDocument/semanticTokens/full/delta", ask);
    assert_eq!(numbers(&whole["result"]["data"]), data);
    let line = with(json!({ "range": range((3, 0), (3, 99)) }));
    let line = client.request("textDocument/semanticTokens/range", line);
    let tokens = decoded(&numbers(&line["result"]["data"]));
    let wanted: Vec<_> = decoded(&data).into_iter().filter(|token| token[0] == 3).collect();
    assert_eq!(tokens, wanted);
    assert!(!tokens.is_empty());
}

/// Tokens that a grammar can classify are not sent to clients with a grammar.
#[test]
fn semantic_tokens_for_clients_with_a_grammar() {
    let ability = json!({
        "requests": { "full": true }, "tokenTypes": [], "tokenModifiers": [], "formats": [],
        "augmentsSyntaxTokens": true,
    });
    let ability = json!({ "textDocument": { "semanticTokens": ability } });
    let mut client = Client::start_with(ability, Value::Null);
    client.open(URI, "def @f(%x: int32) { /* c */ add(%x, 1) }");
    let full = client.request("textDocument/semanticTokens/full", document());
    let tokens = decoded(&numbers(&full["result"]["data"]));
    let places: Vec<u64> = tokens.iter().map(|token| token[1]).collect();
    // `@f`, `%x`, `int32`, `add`, `%x`
    assert_eq!(places, [4, 7, 11, 28, 32]);
}

#[test]
fn highlights_folds_and_selection_ranges() {
    let mut client = opened(SMALL);
    let marks = client.request("textDocument/documentHighlight", at(URI, 3, 12));
    let kinds: Vec<_> =
        marks["result"].as_array().into_iter().flatten().map(|m| &m["kind"]).collect();
    assert_eq!(kinds, [3, 2, 2]);
    let folds = client.request("textDocument/foldingRange", document());
    let lines: Vec<_> = folds["result"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|fold| (fold["startLine"].as_u64(), fold["endLine"].as_u64(), fold["kind"].as_str()))
        .collect();
    let wanted =
        [(Some(0), Some(1), Some("comment")), (Some(2), Some(4), None), (Some(6), Some(7), None)];
    assert_eq!(lines, wanted);
    let places = json!([{ "line": 3, "character": 8 }, { "line": 40, "character": 0 }]);
    let answer =
        client.request("textDocument/selectionRange", with(json!({ "positions": places })));
    let ranges = answer["result"].as_array().expect("a list");
    assert_eq!(ranges.len(), 2, "a result for each position");
    let mut parents = 0;
    let mut here = &ranges[0];
    assert_eq!(here["range"], range((3, 7), (3, 10)));
    while here.get("parent").is_some_and(|parent| !parent.is_null()) {
        here = &here["parent"];
        parents += 1;
    }
    assert_eq!(here["range"]["start"], json!({ "line": 0, "character": 0 }));
    assert!(parents >= 4, "{answer}");
}

#[test]
fn call_hierarchy() {
    let mut client = opened(SMALL);
    let items = client.request("textDocument/prepareCallHierarchy", at(URI, 6, 6));
    let item = &items["result"][0];
    assert_eq!(item["name"], "@twice", "{items}");
    let incoming = client.request("callHierarchy/incomingCalls", json!({ "item": item }));
    assert_eq!(incoming["result"][0]["from"]["name"], "@main");
    assert_eq!(incoming["result"][0]["fromRanges"], json!([range((4, 2), (4, 8))]));
    let from = &incoming["result"][0]["from"];
    let outgoing = client.request("callHierarchy/outgoingCalls", json!({ "item": from }));
    assert_eq!(outgoing["result"][0]["to"]["name"], "@twice");
    let none = client.request("callHierarchy/outgoingCalls", json!({ "item": item }));
    assert_eq!(none["result"], json!([]));
}

struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(fresh_folder(name).canonicalize().expect("a path"))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn started_in(folder: &Folder) -> Client {
    let mut client = Client::spawn();
    client.request(
        "initialize",
        json!({
            "processId": null, "rootUri": null, "capabilities": {},
            "workspaceFolders": [{ "uri": folder.uri(""), "name": "work" }],
        }),
    );
    client.notify("initialized", json!({}));
    client
}

fn found(client: &mut Client, query: &str) -> Vec<String> {
    let answer = client.request("workspace/symbol", json!({ "query": query }));
    let symbols = answer["result"].as_array().into_iter().flatten();
    symbols
        .map(|symbol| {
            let line = &symbol["location"]["range"]["start"]["line"];
            format!("{} {} {line}", symbol["name"].as_str().unwrap_or(""), symbol["containerName"])
        })
        .collect()
}

#[test]
fn workspace_symbols() {
    let folder = Folder::new("symbols");
    folder.write("net/a.relay", "def @forward() { 1 }\ntype Cell { Full(int32), Empty }\n");
    folder.write("b.rly", "\ndef @forward_all() { 2 }\n");
    folder.write("c.txt", "def @forward_not() { 3 }\n");
    folder.write(".gitignore", "skipped/\n");
    folder.write("skipped/d.relay", "def @forward_skipped() { 4 }\n");
    let mut client = started_in(&folder);
    // Files on disk are found by the first request.
    let forward = ["@forward \"a.relay\" 0", "@forward_all \"b.rly\" 1"];
    assert_eq!(found(&mut client, "forward"), forward);
    assert_eq!(found(&mut client, "fuell"), [] as [&str; 0]);
    assert_eq!(found(&mut client, "Full"), ["Full \"Cell\" 1"]);
    // Open documents replace their files.
    client.open(&folder.uri("b.rly"), "def @renamed() { 2 }");
    assert_eq!(found(&mut client, "forward"), forward[..1]);
    assert_eq!(found(&mut client, "named"), ["@renamed \"b.rly\" 0"]);
    // A new file is found after a while.
    folder.write("e.relay", "def @forward_late() { 5 }\n");
    let deadline = Instant::now() + WATCHDOG;
    while found(&mut client, "forward_late").is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(found(&mut client, "forward_late"), ["@forward_late \"e.relay\" 0"]);
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": { "added": [], "removed": [{ "uri": folder.uri(""), "name": "work" }] } }),
    );
    assert_eq!(found(&mut client, "forward"), [] as [&str; 0]);
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn document_links() {
    let folder = Folder::new("links");
    folder.write("models/net.py", "");
    let uri = folder.uri("a.relay");
    let mut client = started_in(&folder);
    client.open(
        &uri,
        "def @main() { meta[relay.Constant][0] /* span=models/net.py:3:7 */ } // models/no.py\n#[metadata]\n{}\n",
    );
    let links =
        client.request("textDocument/documentLink", json!({ "textDocument": { "uri": uri } }));
    let targets: Vec<_> =
        links["result"].as_array().into_iter().flatten().map(|link| &link["target"]).collect();
    let wanted = [format!("{uri}#L2"), format!("{}#L3,7", folder.uri("models/net.py"))];
    assert_eq!(json!(targets), json!(wanted), "{links}");
}

const MODEL: &str = "\
def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(4, 8), float32]) {
  %0 = nn.dense(%x, %w, units=4);
  nn.relu(%0)
}
def @other() { @main }
";

#[test]
fn code_lenses() {
    let mut client = opened(MODEL);
    let titles = |answer: &Value| -> Vec<String> {
        let lenses = answer["result"].as_array().into_iter().flatten();
        lenses.map(|lens| lens["command"]["title"].as_str().unwrap_or("").to_owned()).collect()
    };
    let lenses = client.request("textDocument/codeLens", document());
    let cost = "32 parameters, 32·n1 MACs, where n1 is axis 0 of `%x`";
    let wanted = ["1 reference", cost, "▶ Run"];
    assert_eq!(titles(&lenses), wanted);
    assert_eq!(lenses["result"][0]["command"]["command"], "", "the client knows no command");
    let commands = json!({ "commands": ["relay.showReferences", "relay.whyShape"] });
    let mut client =
        Client::start_with(json!({ "experimental": { "commands": commands } }), Value::Null);
    client.open(URI, MODEL);
    let lenses = client.request("textDocument/codeLens", document());
    let command = &lenses["result"][0]["command"];
    assert_eq!(command["command"], "relay.showReferences");
    assert_eq!(command["arguments"][2][0]["range"], range((4, 15), (4, 20)));
    // Clients with the command debug the functions that can be run.
    let commands = json!({ "experimental": { "commands": { "commands": ["relay.debug"] } } });
    let mut debugging = Client::start_with(commands, Value::Null);
    debugging.open(URI, MODEL);
    let lenses = debugging.request("textDocument/codeLens", document());
    assert_eq!(titles(&lenses), ["1 reference", cost, "▶ Run", "Debug"]);
    let (run, debug) = (&lenses["result"][2]["command"], &lenses["result"][3]["command"]);
    assert_eq!(debug["command"], "relay.debug");
    assert_eq!(debug["arguments"], run["arguments"]);
    // Clients with the command can wrap a long header.
    let params = ["%weight: Tensor[(8, 8), float32]"; 200].join(", ");
    let text = format!("def @main({params}) {{ 1 }}\n");
    for (commands, wanted) in [(json!([]), 0), (json!(["relay.wrapHeader"]), 1)] {
        let abilities = json!({ "experimental": { "commands": { "commands": commands } } });
        let mut client = Client::start_with(abilities, Value::Null);
        client.open(URI, &text);
        let lenses = client.request("textDocument/codeLens", document());
        let wraps =
            titles(&lenses).iter().filter(|title| *title == "Wrap Header (200 parameters)").count();
        assert_eq!(wraps, wanted, "{lenses}");
    }
    // The hover of this client links to the explanation.
    let hover = client.request("textDocument/hover", at(URI, 2, 10));
    let text = hover["result"]["contents"]["value"].as_str().unwrap_or("");
    let (_, link) = text.rsplit_once("](command:relay.whyShape?").expect("a link");
    assert!(link.starts_with("%5B%22file%3A%2F%2F%2Fwork%2Fa.relay%22%2C%7B"), "{text}");
}

#[test]
fn why_shape_and_shape_report() {
    let mut client = opened(MODEL);
    let why = client.request("relay/whyShape", at(URI, 2, 10));
    let dimensions = &why["result"]["dimensions"];
    assert_eq!(dimensions[0]["size"], "?", "{why}");
    assert_eq!(dimensions[0]["steps"][0]["message"], "axis 0 of `%x` is ?");
    assert_eq!(dimensions[0]["steps"][0]["location"]["range"], range((0, 22), (0, 23)));
    assert_eq!(dimensions[1]["steps"][0]["message"], "`units` sets axis 1 to 4");
    let command = json!({
        "command": "relay.whyShape.text",
        "arguments": [URI, { "line": 2, "character": 10 }],
    });
    let run = client.request("workspace/executeCommand", command);
    assert_eq!(run["result"], why["result"]);
    let bad =
        client.request("workspace/executeCommand", json!({ "command": "relay.whyShape.text" }));
    assert_eq!(bad["error"]["code"], -32602);
    let none = client.request("relay/whyShape", at(URI, 4, 6));
    assert_eq!(none["result"], Value::Null);
    let report = client.request("relay/shapes", with(json!({ "function": "@main" })));
    let function = &report["result"]["functions"][0];
    assert_eq!(function["rows"][0]["operator"], "nn.dense", "{report}");
    assert_eq!(function["rows"][0]["shape"], json!(["?", 4]));
    assert_eq!(function["rows"][0]["macs"]["text"], "32·n1");
    assert_eq!(function["rows"][1]["inputs"], json!([{ "row": 0 }]));
    assert_eq!(function["rows"][0]["attributes"], json!([{ "name": "units", "value": "4" }]));
    assert_eq!(
        function["rows"][0]["inputs"],
        json!([{ "variable": "%x", "source": 0 }, { "variable": "%w", "source": 1 }])
    );
    assert_eq!(function["sources"][0]["kind"], "input");
    assert_eq!(function["sources"][1]["kind"], "weight");
    assert_eq!(function["sources"][1]["type"], "Tensor[(4, 8), float32]");
    assert_eq!(function["results"], json!([{ "row": 1 }]));
    // An amount has its text, so that all clients show the same.
    let total = &function["total"];
    assert_eq!(total["parameters"], json!({ "value": 32, "text": "32" }));
    assert_eq!(total["parameterBytes"], json!({ "value": 128, "text": "128 bytes" }));
    let terms = json!([{ "coefficient": 16, "factors": { "n1": 1 } }]);
    let bytes = json!({ "value": null, "text": "16 bytes·n1", "terms": terms });
    assert_eq!(function["rows"][0]["bytes"], bytes);
    let totals = "32 parameters (128 bytes), 32·n1 MACs, 2 calls; peak memory 32 bytes·n1 at #1";
    assert_eq!(total["text"], totals);
    assert_eq!(function["unknowns"][0]["what"], "axis 0 of `%x`");
    assert_eq!(client.finish(), Some(0));
}

/// Runs the command, and returns its output and exit code.
fn printed(args: &[&str], text: &str) -> (String, Option<i32>) {
    use std::{io::Write, process::Stdio};
    let mut child = std::process::Command::new(relay_tests::client::binary())
        .args(["shapes", "-"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("the program reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    (String::from_utf8(output.stdout).expect("UTF-8"), output.status.code())
}

#[test]
fn shape_report_on_the_command_line() {
    let (table, code) = printed(&["--function", "main"], MODEL);
    let wanted = "\
@main (line 1)
  line    operator type                  parameters  MACs       bytes        live
     2 %0 nn.dense Tensor[(?, 4), float32]         32 32·n1 16 bytes·n1 16 bytes·n1
     3 #1 nn.relu  Tensor[(?, 4), float32]          -     - 16 bytes·n1 32 bytes·n1
total: 32 parameters (128 bytes), 32·n1 MACs, 2 calls; peak memory 32 bytes·n1 at #1
  by operator calls  MACs       bytes
  nn.dense        1 32·n1 16 bytes·n1
  nn.relu         1     - 16 bytes·n1
where n1 is axis 0 of `%x`
";
    let squeezed =
        |text: &str| text.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(&table), squeezed(wanted));
    assert_eq!(code, Some(0));
    let (csv, _) = printed(&["--format", "csv"], MODEL);
    assert_eq!(
        csv.lines().nth(1),
        // A cell that starts with `@` would be a formula.
        Some("main,0,2,%0,nn.dense,\"Tensor[(?, 4), float32]\",32,32·n1,16·n1,16·n1,")
    );
    let (json, _) = printed(&["--format", "json"], MODEL);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let start = &json["functions"][0]["rows"][0]["range"]["start"];
    assert_eq!(*start, json!({ "line": 2, "column": 8 }));
    let (dot, _) = printed(&["--format", "dot"], MODEL);
    assert!(dot.contains("r0_0 -> r0_1;") && dot.ends_with("}\n}\n"), "{dot}");
    let (html, _) = printed(&["--format", "html"], "def @main(%x: int32) { add(%x, %nowhere) }");
    assert!(html.contains(r#""operator":"add""#) && html.ends_with("</html>\n"), "{html}");
    assert_eq!(printed(&[], "def @main(%x: int32) { add(%x, %nowhere) }").1, Some(1));
    assert_eq!(printed(&["--function", "@none"], MODEL).1, Some(2));
}
