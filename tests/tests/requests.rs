//! A long session with all requests of an editor: random requests and edits on the longest modules of the
//! corpus. Every request gets a response without an error. `RELAY_FIGURES` compares
//! resident memory with its bars.

use std::time::Duration;

use fastrand::Rng;
use relay_tests::{
    client::{Client, range},
    corpus, edits, figures,
    notes::note,
    variables,
};
use serde_json::{Value, json};

const URI: &str = "file:///requests.relay";

/// Returns the number of rounds of an edit and several requests: `RELAY_REQUESTS`, or a small default.
fn rounds() -> usize {
    variables::number("RELAY_REQUESTS", 150)
}

/// The memory limit of the idle server in such a session, in bytes.
const MAX_IDLE: u64 = 100 << 20;
/// The tolerated growth from the middle to the end if a tenth is less, which covers the variation between
/// samples of a small module.
const NOISE: u64 = 4 << 20;

/// Methods whose parameters are a document, a position, or a range.
const OF_DOCUMENTS: [&str; 12] = [
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/documentLink",
    "textDocument/codeLens",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/diagnostic",
    "textDocument/formatting",
    "relay/shapes",
    "relay/readingView",
    "relay/readingFormat",
    "relay/health",
];
const OF_PLACES: [&str; 16] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/typeDefinition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/linkedEditingRange",
    "textDocument/prepareCallHierarchy",
    "textDocument/selectionRange",
    "textDocument/onTypeFormatting",
    "workspace/symbol",
    "relay/whyShape",
    "relay/typeAt",
];
const OF_RANGES: [&str; 4] = [
    "textDocument/inlayHint",
    "textDocument/semanticTokens/range",
    "textDocument/codeAction",
    "textDocument/rangeFormatting",
];

/// The line and the column in bytes of an offset.
fn position(lines: &[usize], offset: usize) -> (u32, u32) {
    let line = lines.partition_point(|&start| start <= offset).saturating_sub(1);
    (line as u32, (offset - lines[line]) as u32)
}

fn lines(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

struct Session {
    client: Client,
    rng: Rng,
    text: String,
    version: i64,
    /// The tokens that the client has.
    tokens: String,
}

impl Session {
    fn start(text: &str, seed: u64) -> Session {
        let mut client = Client::start();
        client.open(URI, text);
        client.diagnostics(URI, 1);
        let (rng, text) = (Rng::with_seed(seed), text.to_owned());
        Session { client, rng, text, version: 1, tokens: String::new() }
    }

    fn place(&mut self) -> (u32, u32) {
        let mut at = self.rng.usize(0..=self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        position(&lines(&self.text), at)
    }

    /// Sends an edit, and returns its inverse.
    fn edit(&mut self, edit: &syntax::Edit) -> syntax::Edit {
        let starts = lines(&self.text);
        let (from, to) = (usize::from(edit.range.start()), usize::from(edit.range.end()));
        let back = syntax::Edit {
            range: syntax::TextRange::at(
                edit.range.start(),
                syntax::TextSize::of(edit.insert.as_str()),
            ),
            insert: self.text[from..to].into(),
        };
        self.version += 1;
        let (from, to) = (position(&starts, from), position(&starts, to));
        self.client.edit(URI, self.version, from, to, &edit.insert);
        edit.apply(&mut self.text);
        back
    }

    /// Sends a random request; returns its method and id.
    fn ask(&mut self) -> (&'static str, i64) {
        let (line, column) = self.place();
        let document = json!({ "uri": URI });
        let place = json!({ "line": line, "character": column });
        let (method, params) = match self.rng.u8(0..3) {
            0 => {
                let method = OF_DOCUMENTS[self.rng.usize(..OF_DOCUMENTS.len())];
                let options = json!({ "tabSize": 2, "insertSpaces": true });
                let last = &self.tokens;
                (
                    method,
                    json!({ "textDocument": document, "options": options, "previousResultId": last }),
                )
            }
            1 => {
                let method = OF_PLACES[self.rng.usize(..OF_PLACES.len())];
                let params = json!({
                    "textDocument": document, "position": place, "positions": [place],
                    "context": { "includeDeclaration": true, "triggerKind": 1, "isRetrigger": false },
                    "newName": "%renamed", "ch": "\n", "query": "main",
                    "options": { "tabSize": 2, "insertSpaces": true },
                });
                (method, params)
            }
            _ => {
                let method = OF_RANGES[self.rng.usize(..OF_RANGES.len())];
                let params = json!({
                    "textDocument": document, "range": range((line, 0), (line + 60, 0)),
                    "context": { "diagnostics": [] },
                    "options": { "tabSize": 2, "insertSpaces": true },
                });
                (method, params)
            }
        };
        (method, self.client.ask(method, params))
    }

    fn answered(&mut self, (method, id): (&'static str, i64), cancelled: bool) {
        let answer = self.client.answer(id);
        let code = answer["error"]["code"].as_i64();
        let excused = match code {
            None => true,
            // The text has changed since.
            Some(-32801) => true,
            Some(-32800) => cancelled,
            // A name of the prelude, or one that would be captured.
            Some(-32803 | -32602) => method.ends_with("ename"),
            Some(_) => false,
        };
        assert!(excused, "{method}: {answer}");
        if let Some(id) = answer["result"]["resultId"].as_str()
            && method.contains("semanticTokens")
        {
            self.tokens = id.to_owned();
        }
    }

    fn round(&mut self) {
        let edit = edits::random(&mut self.rng, &self.text);
        // A lone carriage return is a line break in the protocol.
        let back = (!edit.insert.contains('\r')).then(|| self.edit(&edit));
        let asked: Vec<_> = (0..self.rng.usize(1..5)).map(|_| self.ask()).collect();
        let cancelled = self.rng.u8(..8) == 0;
        if cancelled {
            for (_, id) in &asked {
                self.client.notify("$/cancelRequest", json!({ "id": id }));
            }
        }
        for asked in asked {
            self.answered(asked, cancelled);
        }
        if let Some(back) = back {
            self.edit(&back);
            let asked = self.ask();
            self.answered(asked, false);
        }
    }

    /// Returns the resident memory of the idle server, which frees memory within a second, even without
    /// further requests.
    fn at_rest(&mut self) -> Option<u64> {
        Session::view(&mut self.client);
        self.client.drain(Duration::from_millis(1_500));
        self.client.resident()
    }

    /// Returns diagnostics and tokens of the current text.
    fn view(client: &mut Client) -> [Value; 2] {
        let document = json!({ "textDocument": { "uri": URI } });
        let found = client.request("textDocument/diagnostic", document.clone());
        let tokens = client.request("textDocument/semanticTokens/full", document);
        [found["result"]["items"].clone(), tokens["result"]["data"].clone()]
    }
}

fn median(samples: &mut [u64]) -> u64 {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

fn soak(name: &str, text: &str, seed: u64) {
    let mut session = Session::start(text, seed);
    let tenth = (rounds() / 10).max(3);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for round in 0..tenth * 10 {
        session.round();
        // The first four tenths warm up all caches.
        let samples = match round / tenth {
            4 => &mut early,
            9 => &mut late,
            _ => continue,
        };
        // The server comes to rest within seconds.
        if figures::are_compared() && round % (tenth / 3) == 0 {
            samples.extend(session.at_rest());
        }
    }
    if figures::are_compared() {
        let (early, late) = (median(&mut early), median(&mut late));
        let resident = |when: &str| format!("{name}: bytes at rest {when}");
        figures::at_most(&resident("in the middle of the session"), early, MAX_IDLE);
        let flat = early + (early / 10).max(NOISE);
        figures::at_most(&resident("at its end"), late, flat.min(MAX_IDLE));
    }
    assert_eq!(session.text, text, "each edit was undone");
    let mut fresh = Session::start(text, seed);
    let (last, anew) = (Session::view(&mut session.client), Session::view(&mut fresh.client));
    assert!(last == anew, "{name}: results differ from those of a new server");
    assert_eq!(session.client.finish(), Some(0), "{name}");
}

#[test]
fn random_requests_and_edits_are_answered() {
    let models = ["lstm500", "bert-base"].map(|name| Some((name, corpus::model(name)?)));
    let texts = models.into_iter().flatten().chain([("a chain of 2,000", corpus::chain(2_000))]);
    for (seed, (name, text)) in texts.enumerate() {
        note(&format!("{} edits of {name} with requests (RELAY_REQUESTS)", rounds()));
        soak(name, &text, seed as u64);
    }
}
