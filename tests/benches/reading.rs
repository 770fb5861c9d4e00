//! Latency of requests for reading and writing a module.
//!
//! Each row is a request to the real server over standard input and output, with the module open
//! and checked: the median and the maximum of many, in milliseconds, until the whole response has
//! arrived; then the server's CPU time per request, measured in steps of 10 ms over all of them, which is
//! more reliable on a busy machine. Requests after an edit are timed from the edit on, and their CPU time
//! includes the check after the edit.

use std::time::{Duration, Instant};

use relay_tests::{
    client::{Client, at, range},
    corpus,
};
use serde_json::{Value, json};

/// The number of repetitions of a request that changes nothing.
const ROUNDS: usize = 25;
const URI: &str = "file:///module.relay";

fn main() {
    let only = std::env::var("RELAY_BENCH_MODULE").ok();
    let mut modules: Vec<(String, String)> = corpus::models()
        .into_iter()
        .flatten()
        .filter(|(name, _)| ["bert-base.relay", "lstm500.relay"].contains(&name.as_str()))
        .collect();
    if modules.is_empty() {
        println!("there is no conformance corpus: a chain of bindings only");
        modules.push(("chain of 10,000".into(), corpus::chain(10_000)));
    }
    for (name, text) in modules {
        if only.as_ref().is_none_or(|only| *only == *name) {
            module(&name, &text);
        }
    }
    if only.is_none() || only.is_some_and(|only| only == "workspace") {
        workspace();
    }
}

/// Adds the required fields of the capability for tokens.
fn tokens_ability(mut ability: Value) -> Value {
    ability["requests"] = json!({ "full": { "delta": true }, "range": true });
    for list in ["tokenTypes", "tokenModifiers", "formats"] {
        ability[list] = json!([]);
    }
    ability
}

/// Measures workspace symbols of a folder with 1,000 modules of ten definitions each.
fn workspace() {
    let folder = std::env::temp_dir().join(format!("relay-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for module in 0..1_000 {
        let defs = (0..10).map(|def| format!("def @layer_{module}_{def}() {{ {def} }}\n"));
        let text: String = defs.collect();
        std::fs::write(folder.join(format!("m{module}.relay")), text).expect("a file");
    }
    let mut client = Client::spawn();
    let uri = format!("file://{}", folder.display());
    let folders = json!([{ "uri": uri, "name": "bench" }]);
    client.request(
        "initialize",
        json!({ "processId": null, "capabilities": {}, "workspaceFolders": folders }),
    );
    client.notify("initialized", json!({}));
    println!("\n1,000 modules in a folder; milliseconds");
    println!("{:28} {:>8} {:>8} {:>8} {:>10}", "", "median", "max", "CPU", "bytes");
    let mut bench = Bench { client, version: 1, line: 0, column: 0 };
    let query = json!({ "query": "layer9" });
    let start = Instant::now();
    let (first, _) = bench.timed("workspace/symbol", &query, start);
    println!("{:28} {:>8.2}", "the first request", first.as_secs_f64() * 1e3);
    bench.still("workspace symbols", "workspace/symbol", &query);
    bench.still("no matches", "workspace/symbol", &json!({ "query": "zz" }));
    bench.client.finish();
    // A failure only leaves temporary files.
    let _ = std::fs::remove_dir_all(folder);
}

struct Bench {
    client: Client,
    version: i64,
    /// The place of an edit: the first letter of an operator's name in the middle.
    line: u32,
    column: u32,
}

fn module(name: &str, text: &str) {
    let lines = text.matches('\n').count() as u32;
    println!("\n{name}: {} kB, {lines} lines; milliseconds", text.len() / 1000);
    println!("{:28} {:>8} {:>8} {:>8} {:>10}", "", "median", "max", "CPU", "bytes");
    // Like VS Code, which has its own grammar for syntax highlighting.
    let tokens = json!({ "augmentsSyntaxTokens": true });
    let actions = json!({ "dataSupport": true, "resolveSupport": { "properties": ["edit"] } });
    let abilities = json!({
        "general": { "positionEncodings": ["utf-16"] },
        "textDocument": { "semanticTokens": tokens_ability(tokens), "codeAction": actions },
    });
    let mut client = Client::start_with(abilities, Value::Null);
    client.open(URI, text);
    client.diagnostics(URI, 1);
    let middle = text[..text.len() / 2].rfind("add(").unwrap_or(0);
    let line = text[..middle].matches('\n').count() as u32;
    let column = (middle - text[..middle].rfind('\n').map_or(0, |at| at + 1)) as u32;
    let mut bench = Bench { client, version: 1, line, column };
    let document = json!({ "textDocument": { "uri": URI } });
    let here = at(URI, line, column);
    let with = |extra: Value| {
        let mut params = document.clone();
        for (key, value) in extra.as_object().into_iter().flatten() {
            params[key] = value.clone();
        }
        params
    };
    let screen = with(json!({ "range": range((line, 0), (line + 60, 0)) }));
    bench.still("hover", "textDocument/hover", &here);
    bench.still("type at the cursor", "relay/typeAt", &here);
    bench.still("definition", "textDocument/definition", &here);
    bench.still("type definition", "textDocument/typeDefinition", &here);
    bench.still("document highlight", "textDocument/documentHighlight", &here);
    bench.still("inlay hints of a screen", "textDocument/inlayHint", &screen);
    let top = with(json!({ "range": range((0, 0), (60, 0)) }));
    bench.still("inlay hints of the top", "textDocument/inlayHint", &top);
    bench.still("tokens of a screen", "textDocument/semanticTokens/range", &screen);
    bench.still("tokens, full", "textDocument/semanticTokens/full", &document);
    bench.edited("tokens, full, edited", "textDocument/semanticTokens/full", &document);
    bench.deltas();
    bench.edited("inlay hints, edited", "textDocument/inlayHint", &screen);
    bench.still("folding", "textDocument/foldingRange", &document);
    let places = with(json!({ "positions": [{ "line": line, "character": column }] }));
    bench.still("selection", "textDocument/selectionRange", &places);
    bench.still("outline", "textDocument/documentSymbol", &document);
    bench.still("links", "textDocument/documentLink", &document);
    bench.still("lenses", "textDocument/codeLens", &document);
    bench.edited("lenses, edited", "textDocument/codeLens", &document);
    bench.still("workspace symbols", "workspace/symbol", &json!({ "query": "main" }));
    bench.still("call hierarchy", "textDocument/prepareCallHierarchy", &at(URI, 1, 6));
    bench.still("why this shape", "relay/whyShape", &here);
    bench.still("shapes", "relay/shapes", &document);
    bench.still("reading view", "relay/readingView", &document);
    bench.writing(text, middle, &screen);
    // From here on the server only responds to requests.
    bench.still("diagnostics", "textDocument/diagnostic", &document);
    bench.client.finish();
}

impl Bench {
    fn report(&self, what: &str, cpu: Option<Duration>, mut times: Vec<Duration>, bytes: usize) {
        let used = self.client.cpu().zip(cpu).map(|(after, before)| after.saturating_sub(before));
        let cpu = used.map_or(f64::NAN, |used| used.as_secs_f64() * 1e3 / times.len() as f64);
        times.sort_unstable();
        let ms = |time: Option<&Duration>| time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3);
        let (middle, last) = (times.get(times.len() / 2), times.last());
        println!("{what:28} {:>8.2} {:>8.2} {cpu:>8.1} {bytes:>10}", ms(middle), ms(last));
    }

    fn timed(&mut self, method: &str, params: &Value, from: Instant) -> (Duration, Value) {
        let answer = self.client.request(method, params.clone());
        let took = self.client.arrived.saturating_duration_since(from);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        (took, answer)
    }

    fn still(&mut self, what: &str, method: &str, params: &Value) {
        let mut times = Vec::new();
        let mut bytes = 0;
        let cpu = self.client.cpu();
        for _ in 0..ROUNDS {
            let (took, answer) = self.timed(method, params, Instant::now());
            bytes = answer.to_string().len();
            times.push(took);
        }
        self.report(what, cpu, times, bytes);
    }

    /// Measures requests for writing. `middle` is the start of the name of a called operator, `screen` the
    /// visible range around it.
    fn writing(&mut self, text: &str, middle: usize, screen: &Value) {
        let start = text[..middle].rfind('\n').map_or(0, |at| at + 1);
        // The variable that the line binds, and an argument of the call.
        let bound = text[start..middle].find('%').map_or(self.column, |at| at as u32 + 1);
        let variable = at(URI, self.line, bound);
        let argument = at(URI, self.line, self.column + 4);
        let with = |params: &Value, more: Value| {
            let mut params = params.clone();
            for (key, value) in more.as_object().into_iter().flatten() {
                params[key] = value.clone();
            }
            params
        };
        let options = json!({ "options": { "tabSize": 2, "insertSpaces": true } });
        let declared = json!({ "context": { "includeDeclaration": true } });
        let asked = json!({ "context": { "triggerKind": 1 } });
        let typed = with(&argument, json!({ "ch": "\n", "options": options["options"] }));
        let document = with(&json!({ "textDocument": { "uri": URI } }), options.clone());
        let reported = with(screen, json!({ "context": { "diagnostics": [] } }));
        let first = text[start..middle].split_once('%').and_then(|(_, name)| name.chars().next());
        let numbered = first.is_some_and(|first| first.is_ascii_digit());
        let name = if numbered { "%999999" } else { "%renamed" };
        let renamed = with(&variable, json!({ "newName": name }));
        self.still("references", "textDocument/references", &with(&variable, declared));
        self.still("may be renamed", "textDocument/prepareRename", &variable);
        self.still("rename", "textDocument/rename", &renamed);
        self.still("linked editing", "textDocument/linkedEditingRange", &variable);
        let operator = with(&at(URI, self.line, self.column + 1), asked.clone());
        self.still("completion of a name", "textDocument/completion", &operator);
        self.edited("completion, edited", "textDocument/completion", &operator);
        let inside = with(&argument, asked);
        self.still("completion in a call", "textDocument/completion", &inside);
        self.still("signature help", "textDocument/signatureHelp", &argument);
        let here = with(
            &document,
            json!({
                "range": { "start": argument["position"], "end": argument["position"] },
                "context": { "diagnostics": [] },
            }),
        );
        self.still("code actions", "textDocument/codeAction", &here);
        self.still("code actions of a screen", "textDocument/codeAction", &reported);
        self.still("formatting", "textDocument/formatting", &document);
        self.edited("formatting, edited", "textDocument/formatting", &document);
        let part = with(screen, options);
        self.still("formatting of a screen", "textDocument/rangeFormatting", &part);
        self.still("formatting, line break", "textDocument/onTypeFormatting", &typed);
    }

    /// Types a letter, or deletes it again, and waits until the text has been checked.
    fn edit(&mut self) -> Instant {
        self.version += 1;
        let (line, column) = (self.line, self.column);
        let (end, insert) = if self.version % 2 == 0 { (column, "q") } else { (column + 1, "") };
        let start = Instant::now();
        self.client.edit(URI, self.version, (line, column), (line, end), insert);
        start
    }

    fn settle(&mut self) {
        let version = self.version;
        self.client.diagnostics(URI, version);
        std::thread::sleep(Duration::from_millis(5));
    }

    fn edited(&mut self, what: &str, method: &str, params: &Value) {
        let mut times = Vec::new();
        let mut bytes = 0;
        let cpu = self.client.cpu();
        for _ in 0..14 {
            let start = self.edit();
            let (took, answer) = self.timed(method, params, start);
            bytes = answer.to_string().len();
            times.push(took);
            self.settle();
        }
        self.report(what, cpu, times, bytes);
    }

    /// Measures deltas of tokens after an edit: from the edit on, and from the end of the check on.
    fn deltas(&mut self) {
        let document = json!({ "textDocument": { "uri": URI } });
        let full = self.client.request("textDocument/semanticTokens/full", document.clone());
        let mut id = full["result"]["resultId"].clone();
        for checked in [false, true] {
            let mut times = Vec::new();
            let mut bytes = 0;
            let cpu = self.client.cpu();
            for _ in 0..14 {
                let mut start = self.edit();
                if checked {
                    self.settle();
                    start = Instant::now();
                }
                let mut params = document.clone();
                params["previousResultId"] = id;
                let (took, answer) =
                    self.timed("textDocument/semanticTokens/full/delta", &params, start);
                id = answer["result"]["resultId"].clone();
                bytes = answer.to_string().len();
                times.push(took);
                if !checked {
                    self.settle();
                }
            }
            let what = if checked { "tokens, delta, checked" } else { "tokens, delta, edited" };
            self.report(what, cpu, times, bytes);
        }
    }
}
