//! All requests of the protocol about one document, with the CPU time that the server takes for each.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    client::{Client, range},
    command::Folder,
    notes::available,
};

const URI: &str = "file:///asking.relay";
/// The longest time that the server has to become idle before a request.
const PATIENCE: Duration = Duration::from_millis(500);

/// A session with one document, and the times of the requests so far.
struct Session<'t> {
    client: Client,
    folder: Folder,
    text: &'t str,
    /// A name in the middle of the text.
    place: Value,
    times: Vec<(&'static str, Duration)>,
}

/// Opens a text in a new server and sends every request about it, each once: tokens and other results
/// that a server keeps are computed anew. Returns the CPU times of the server; `None` on systems that
/// do not tell them.
///
/// # Panics
/// A request fails.
pub fn times(text: &str) -> Option<Vec<(&'static str, Duration)>> {
    let abilities = json!({
        "general": { "positionEncodings": ["utf-8"] },
        "textDocument": { "codeAction": { "resolveSupport": { "properties": ["edit"] } } },
    });
    // A second module with the last letter of a name changed, as a log has it.
    let log = format!("PrintIR(One):\n{text}\nPrintIR(Two):\n{}\n", text.replace("%x)", "%w)"));
    let files: [(&str, &[u8]); 2] = [("a.relay", text.as_bytes()), ("a.log", log.as_bytes())];
    let mut session = Session {
        client: Client::start_with(abilities, Value::Null),
        folder: Folder::new("asking", &files),
        text,
        place: middle(text),
        times: Vec::new(),
    };
    available("CPU time", session.client.cpu_time())?;
    session.client.open(URI, text);
    session.client.diagnostics(URI, 1);
    session.places();
    session.document();
    session.actions();
    session.calls();
    session.modules();
    assert_eq!(session.client.finish(), Some(0));
    Some(session.times)
}

/// Returns the position of the first name on the line in the middle of a text, or in the second half of a
/// text in one line.
fn middle(text: &str) -> Value {
    let lines: Vec<&str> = text.lines().collect();
    let line = lines.len() / 2;
    let from = if lines.len() < 8 { lines[line].len() / 2 } else { 0 };
    let from = (0..=from).rev().find(|&at| lines[line].is_char_boundary(at)).unwrap_or_default();
    let at = lines[line][from..].find(['%', '@']).map_or(from, |at| from + at + 1);
    json!({ "line": line, "character": at })
}

impl Session<'_> {
    /// Sends a request, and returns the response.
    fn ask(&mut self, name: &'static str, method: &str, params: Value) -> Value {
        let before = self.idle();
        let answer = self.client.request(method, params);
        let after = self.client.cpu_time().unwrap_or_default();
        self.times.push((name, after.saturating_sub(before)));
        answer
    }

    /// Waits until the server is idle, and returns its CPU time.
    fn idle(&self) -> Duration {
        let begin = Instant::now();
        let mut last = self.client.cpu_time().unwrap_or_default();
        loop {
            std::thread::sleep(Duration::from_millis(2));
            let now = self.client.cpu_time().unwrap_or_default();
            if now == last || begin.elapsed() > PATIENCE {
                return now;
            }
            last = now;
        }
    }

    /// Sends a request that succeeds, and returns its result.
    fn succeed(&mut self, method: &'static str, params: Value) -> Value {
        let answer = self.ask(method, method, params);
        assert!(answer["error"].is_null(), "{method}: {:.300}", answer.to_string());
        answer["result"].clone()
    }

    /// Requests about a position. A name may be one that cannot be renamed.
    fn places(&mut self) {
        let at = json!({ "textDocument": { "uri": URI }, "position": self.place });
        for method in [
            "textDocument/hover",
            "textDocument/definition",
            "textDocument/typeDefinition",
            "textDocument/documentHighlight",
            "textDocument/signatureHelp",
            "textDocument/linkedEditingRange",
            "relay/whyShape",
            "relay/typeAt",
        ] {
            self.succeed(method, at.clone());
        }
        let with = |more: Value| {
            let mut params = at.clone();
            let more = more.as_object().expect("an object").clone();
            params.as_object_mut().expect("an object").extend(more);
            params
        };
        let references = json!({ "context": { "includeDeclaration": true } });
        self.succeed("textDocument/references", with(references));
        let completions = self.succeed("textDocument/completion", at.clone());
        let items = completions["items"].as_array().or_else(|| completions.as_array());
        if let Some(item) = items.and_then(|items| items.last()) {
            self.succeed("completionItem/resolve", item.clone());
        }
        let positions = json!({ "positions": [self.place] });
        self.succeed("textDocument/selectionRange", with(positions));
        let name = json!({ "newName": "renamed" });
        self.ask("prepareRename", "textDocument/prepareRename", at.clone());
        self.ask("rename", "textDocument/rename", with(name));
        let typed = json!({ "ch": "\n", "options": { "tabSize": 2, "insertSpaces": true } });
        self.succeed("textDocument/onTypeFormatting", with(typed));
    }

    /// Requests about the document, or all of its text.
    fn document(&mut self) {
        let document = json!({ "textDocument": { "uri": URI } });
        for method in [
            "textDocument/documentSymbol",
            "textDocument/foldingRange",
            "textDocument/documentLink",
            "textDocument/codeLens",
            "textDocument/diagnostic",
            "relay/shapes",
            "relay/readingView",
            "relay/readingFormat",
            "relay/health",
        ] {
            self.succeed(method, document.clone());
        }
        let tokens = self.succeed("textDocument/semanticTokens/full", document.clone());
        let last = &tokens["resultId"];
        let delta = json!({ "textDocument": { "uri": URI }, "previousResultId": last });
        self.succeed("textDocument/semanticTokens/full/delta", delta);
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        let format = json!({ "textDocument": { "uri": URI }, "options": options });
        self.succeed("textDocument/formatting", format);
        let whole = range((0, 0), (self.text.lines().count() as u32, 0));
        for method in [
            "textDocument/semanticTokens/range",
            "textDocument/inlayHint",
            "textDocument/rangeFormatting",
        ] {
            let document = json!({ "uri": URI });
            self.succeed(
                method,
                json!({ "textDocument": document, "range": whole, "options": options }),
            );
        }
        self.succeed("workspace/symbol", json!({ "query": "main" }));
    }

    /// The actions at a position, and of the whole text, of which each is resolved.
    fn actions(&mut self) {
        let cursor = json!({ "start": self.place, "end": self.place });
        let whole = range((0, 0), (self.text.lines().count() as u32, 0));
        for (name, range) in [("actions", cursor), ("actions of the text", whole)] {
            let params = json!({
                "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": [] },
            });
            let found = self.ask(name, "textDocument/codeAction", params);
            let found = found["result"].as_array().expect("actions").clone();
            // The user applies one action at a time; those for the whole file come last.
            for action in found.iter().rev().filter(|action| action["edit"].is_null()).take(8) {
                // An action may be refused.
                self.ask("codeAction/resolve", "codeAction/resolve", action.clone());
            }
        }
        // The times of all of them together: texts of different sizes offer the same ones.
        let is_resolved = |(name, _): &(&str, Duration)| *name == "codeAction/resolve";
        let all: Duration = self.times.iter().filter(|it| is_resolved(it)).map(|it| it.1).sum();
        self.times.retain(|time| !is_resolved(time));
        self.times.push(("codeAction/resolve", all));
    }

    fn calls(&mut self) {
        let line = self.text.lines().position(|line| line.starts_with("def @")).unwrap_or_default();
        let place = json!({ "line": line, "character": 5 });
        let at = json!({ "textDocument": { "uri": URI }, "position": place });
        let found = self.succeed("textDocument/prepareCallHierarchy", at);
        let item = json!({ "item": found[0] });
        if !found[0].is_null() {
            self.succeed("callHierarchy/incomingCalls", item.clone());
            self.succeed("callHierarchy/outgoingCalls", item);
        }
    }

    /// Requests about files and logs.
    fn modules(&mut self) {
        let of = |name: &str| format!("file://{}/{name}", self.folder.path().display());
        let (file, log) = (of("a.relay"), of("a.log"));
        let document = json!({ "uri": log });
        self.succeed("relay/shapesOfFile", json!({ "uri": file }));
        self.ask("codeView", "relay/codeView", json!({ "uri": file }));
        self.succeed("relay/passes", json!({ "textDocument": document }));
        self.succeed("relay/moduleText", json!({ "textDocument": document, "module": 1 }));
        let history = json!({ "textDocument": document, "module": 0, "position": self.place });
        // There may be no expression.
        self.ask("history", "relay/history", history);
        let before = json!({ "uri": log, "module": 0 });
        let after = json!({ "uri": log, "module": 1 });
        self.succeed("relay/compare", json!({ "before": before, "after": after }));
    }
}
