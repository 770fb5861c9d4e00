//! Edits at the client, beside a language server for another IR.
//!
//! A chain of 14,500 `%n = add(%n-1, %a);` is open in the server, and the same chain of `tosa.add` in
//! mlir-lsp-server (`apt install mlir-19-tools`; another version by `RELAY_PEER=PROGRAM`). Each kind of
//! edit is made in the middle and undone, alternately in both. A row is the median in milliseconds, from
//! the edit to the last byte of the diagnostics and of the response to a hover that is sent with it. The
//! other server takes only whole texts; formatting the message is not counted.
//!
//! Types are written on each line there. An edit that changes all types here replaces the lines below
//! it there, so that the module stays valid in both. Without the other server the bench is skipped with
//! a message.

use std::{
    process::{Command, ExitCode, Stdio},
    time::Instant,
};

use relay_tests::{
    client::{Client, at, framed, range},
    edit_kinds::{Change, KINDS, bare_chain, change, position},
};
use serde_json::{Value, json};

/// The number of bindings.
const CHAIN: usize = 14_500;
/// The number of times that each edit is made and undone.
const ROUNDS: usize = 9;
/// The names of the other server.
const PEERS: [&str; 5] = [
    "mlir-lsp-server",
    "mlir-lsp-server-19",
    "mlir-lsp-server-18",
    "mlir-lsp-server-17",
    "mlir-lsp-server-16",
];

fn main() -> ExitCode {
    let named = std::env::var("RELAY_PEER").ok();
    let names = named.iter().map(String::as_str).chain(PEERS);
    let runs = |name: &&str| {
        let version = Command::new(name).arg("--version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let Some(peer) = names.into_iter().find(runs) else {
        println!("SKIPPED: mlir-lsp-server is not installed");
        return ExitCode::SUCCESS;
    };
    let (own_text, peer_text) = (bare_chain(CHAIN), peer_chain(CHAIN));
    let mut own = Session::start(Client::spawn(), "relay", own_text.clone());
    let server = &mut Command::new(peer);
    let mut other = Session::start(Client::of(server.stderr(Stdio::null())), "mlir", peer_text);
    println!("\nmilliseconds of an edit, and of {peer}\n");
    println!("{:16} {:>8} {:>8} {:>8}", "", "here", "there", "ratio");
    for kind in KINDS {
        let edit = change(kind, &own_text).expect("the chain has all kinds");
        let peer_edit = peer_change(kind, &other.text);
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            let sessions = [(&mut own, &edit), (&mut other, &peer_edit)];
            for ((session, edit), times) in sessions.into_iter().zip(&mut times) {
                let (time, undo) = session.make(edit);
                times.push(time);
                times.push(session.make(&undo).0);
            }
        }
        let [here, there] = times.map(|mut times| {
            times.sort_unstable_by(f64::total_cmp);
            (times[ROUNDS - 1] + times[ROUNDS]) / 2.0
        });
        println!("{kind:16} {here:>8.2} {there:>8.2} {:>8.3}", here / there);
    }
    ExitCode::SUCCESS
}

/// A server with one open document.
struct Session {
    client: Client,
    uri: String,
    text: String,
    version: i64,
    /// True if the server answers requests for diagnostics, and otherwise sends them after each edit.
    pulls: bool,
    /// True if an edit sends the whole text, since the server takes nothing else.
    is_full: bool,
}

impl Session {
    fn start(mut client: Client, language: &str, text: String) -> Session {
        let capabilities = json!({
            "general": { "positionEncodings": ["utf-8"] },
            "textDocument": { "diagnostic": {}, "publishDiagnostics": { "versionSupport": true } },
        });
        let params = json!({ "processId": null, "rootUri": null, "capabilities": capabilities });
        let answer = client.request("initialize", params);
        let provided = &answer["result"]["capabilities"];
        let pulls = !provided["diagnosticProvider"].is_null();
        let sync = &provided["textDocumentSync"];
        let is_full = sync.get("change").unwrap_or(sync) == 1;
        client.notify("initialized", json!({}));
        let uri = format!("file:///chain.{language}");
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        let mut session = Session { client, uri, text, version: 1, pulls, is_full };
        session.diagnostics(1);
        session
    }

    fn diagnostics(&mut self, version: i64) {
        if self.pulls {
            let document = json!({ "textDocument": { "uri": self.uri } });
            let answer = self.client.request("textDocument/diagnostic", document);
            assert!(answer["error"].is_null(), "{answer}");
        } else {
            self.client.diagnostics(&self.uri, version);
        }
    }

    /// Makes a change. Returns the milliseconds until the diagnostics and a hover have arrived, and the
    /// inverse change.
    fn make(&mut self, change: &Change) -> (f64, Change) {
        let [from, to] =
            [change.range.start, change.range.end].map(|place| position(&self.text, place));
        let undo = change.apply(&mut self.text);
        self.version += 1;
        let changes: Value = match self.is_full {
            true => json!([{ "text": self.text }]),
            false => json!([{ "range": range(from, to), "text": change.insert }]),
        };
        let document = json!({ "uri": self.uri, "version": self.version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        let method = "textDocument/didChange";
        let message = framed(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        let start = Instant::now();
        self.client.raw(&message);
        let hover = self.client.ask("textDocument/hover", at(&self.uri, from.0, from.1));
        self.diagnostics(self.version);
        let last = self.client.arrived;
        self.client.answer(hover);
        let time = last.max(self.client.arrived).duration_since(start);
        (time.as_secs_f64() * 1e3, undo)
    }
}

/// The module of [`bare_chain`] in MLIR's tosa dialect.
fn peer_chain(n: usize) -> String {
    let ty = "tensor<16x64xf32>";
    let mut text = format!(
        "func.func @main(%x: {ty}, %a: tensor<1x64xf32>, %b: tensor<3x5xf32>) -> {ty} {{\n  \
         %0 = tosa.add %x, %a : ({ty}, tensor<1x64xf32>) -> {ty}\n"
    );
    for i in 1..n {
        let before = i - 1;
        text += &if i == n / 2 + 3 {
            let limits =
                "max_fp = 6.0 : f32, max_int = 6 : i64, min_fp = 0.0 : f32, min_int = 0 : i64";
            format!("  %{i} = tosa.clamp %{before} {{{limits}}} : ({ty}) -> {ty}\n")
        } else {
            format!("  %{i} = tosa.add %{before}, %a : ({ty}, tensor<1x64xf32>) -> {ty}\n")
        };
    }
    text + &format!("  return %{} : {ty}\n}}\n", n - 1)
}

/// The edit of a kind in the middle of [`peer_chain`].
fn peer_change(kind: &str, text: &str) -> Change {
    let middle = CHAIN / 2;
    let line = text.find(&format!("  %{middle} = ")).expect("a line in the middle");
    // The first occurrence from the line on is replaced.
    let replace = |what: &str, insert: &str| {
        let at = line + text[line..].find(what).expect("it occurs");
        Change { range: at..at + what.len(), insert: insert.to_owned() }
    };
    let operand = format!("%{}", middle - 1);
    match kind {
        "letter" => replace("tosa.", "tosa.q"),
        "digit" => replace("max_fp = ", "max_fp = 1"),
        "operand" => replace(&operand, &format!("%{}", middle - 2)),
        "unknown name" => replace(&operand, "%unknown"),
        "syntax error" => replace(")", ""),
        "missing ;" => replace(" -> ", " "),
        "broken shape" => replace("%a", "%b"),
        "line" => {
            let ty = "tensor<16x64xf32>";
            let clone = format!(
                "  %inserted = tosa.add {operand}, %a : ({ty}, tensor<1x64xf32>) -> {ty}\n"
            );
            Change { range: line..line, insert: clone }
        }
        // The types of all lines below, or of all lines.
        "rank" => {
            let end = text.rfind("  return").expect("a return");
            let below = text[line..end].replace("16x64", "1x16x64").replace("<1x64", "<1x1x64");
            Change { range: line..end, insert: below }
        }
        _ => Change { range: 0..text.len(), insert: text.replace("16x64", "216x64") },
    }
}
