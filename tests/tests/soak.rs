//! A long session: responses are complete, and resident memory does not grow.

use relay_tests::{client::Client, corpus, edits, figures, notes::note, variables};
use serde_json::{Value, json};

const URI: &str = "file:///soak.relay";

/// Returns the number of edits: `RELAY_SOAK`, or a small default.
fn rounds() -> usize {
    variables::number("RELAY_SOAK", 1_000)
}

/// The memory limits for an open module, and for a session after any number of edits, in bytes. The longest
/// module of the corpus has 2.4 MB.
const OPEN: u64 = 100 << 20;
const EDITED: u64 = OPEN / 10 * 11;

/// The number of samples of memory in a part of the session.
const SAMPLES: usize = 20;

/// Single samples vary with the last edit; growth affects all of them.
fn median(mut samples: Vec<u64>) -> u64 {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// Returns the position of an offset, with columns in bytes.
fn position(text: &str, offset: usize) -> (u32, u32) {
    let before = &text[..offset];
    let line = before.bytes().filter(|&b| b == b'\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line as u32, (offset - start) as u32)
}

/// Pulls the current diagnostics of a document.
fn pulled(client: &mut Client) -> Value {
    let params = json!({ "textDocument": { "uri": URI } });
    let answer = client.request("textDocument/diagnostic", params);
    assert!(answer["error"].is_null(), "{answer}");
    answer["result"]["items"].clone()
}

/// Small edits throughout a long module, each undone by the next: memory does not grow.
#[test]
fn memory_is_stable_over_ten_thousand_edits() {
    let text = corpus::longest();
    note(&format!("{} edits of a long module (RELAY_SOAK)", rounds()));
    let mut client = Client::start();
    client.open(URI, &text);
    client.diagnostics(URI, 1);
    if let Some(resident) = client.resident() {
        figures::at_most("resident bytes with a module open", resident, OPEN);
    }
    // The first edits warm up caches.
    let mut rng = fastrand::Rng::with_seed(3);
    let mut version = 1;
    // Samples throughout the second and the last tenth of the session; each is taken after a
    // pull, with whatever the edits before it have left behind.
    let tenth = (rounds() / 10).max(SAMPLES);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for round in 0..rounds() {
        let mut at = rng.usize(0..text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = position(&text, at);
        for (end, insert) in [(start, "q"), ((start.0, start.1 + 1), "")] {
            version += 1;
            client.edit(URI, version, start, end, insert);
        }
        if round % 10 == 9 {
            let hover = client.request(
                "textDocument/hover",
                json!({
                    "textDocument": { "uri": URI },
                    "position": { "line": start.0, "character": start.1 },
                }),
            );
            assert!(hover["error"].is_null(), "{hover}");
        }
        let samples = match round / tenth {
            1 => &mut early,
            9 => &mut late,
            _ => continue,
        };
        if round % (tenth / SAMPLES) == 0 {
            pulled(&mut client);
            samples.extend(client.resident());
        }
    }
    let last = pulled(&mut client);
    if let Some(most) = early.iter().chain(&late).max() {
        figures::at_most("resident bytes in the course of the session", *most, EDITED);
        println!(
            "{:?} {:?}",
            early.iter().map(|x| x >> 20).collect::<Vec<_>>(),
            late.iter().map(|x| x >> 20).collect::<Vec<_>>()
        );
        let (early, late) = (median(early), median(late));
        // Resident pages follow how the allocator fills them, and vary by a tenth; `memory.rs` holds
        // the bytes that are allocated to 5 %.
        println!("{} MiB early in the session, {} late", early >> 20, late >> 20);
        figures::at_most("growth in the session", late as f64 / early as f64, 1.15);
    }
    // The text of the server equals the text of the client.
    let mut fresh = Client::start();
    fresh.open(URI, &text);
    assert_eq!(last, pulled(&mut fresh));
    assert_eq!(client.finish(), Some(0));
    assert_eq!(fresh.finish(), Some(0));
}

/// Realistic and arbitrary edits, with requests in between, all of which are answered.
#[test]
fn arbitrary_edits_and_requests_are_answered() {
    let mut rng = fastrand::Rng::with_seed(5);
    for (name, original) in corpus::examples() {
        let mut text = original.clone();
        let mut client = Client::start();
        client.open(URI, &text);
        for version in 2..(2 + rounds() as i64 / 5) {
            let edit = edits::random(&mut rng, &text);
            let start = position(&text, edit.range.start().into());
            let end = position(&text, edit.range.end().into());
            // A lone carriage return is a line break in the protocol.
            if edit.insert.contains('\r') || text.contains('\r') {
                continue;
            }
            edit.apply(&mut text);
            client.edit(URI, version, start, end, &edit.insert);
            let place = json!({
                "textDocument": { "uri": URI },
                "position": { "line": start.0, "character": start.1 },
                "context": { "includeDeclaration": true },
            });
            let method = match version % 5 {
                0 => "textDocument/hover",
                1 => "textDocument/definition",
                2 => "textDocument/references",
                3 => "textDocument/documentSymbol",
                _ => continue,
            };
            let answer = client.request(method, place);
            // The next edit may have been processed first.
            let modified = answer["error"]["code"] == -32801;
            assert!(answer["error"] == Value::Null || modified, "{name}: {method}: {answer}");
        }
        client.replace(URI, 1_000_000, &original);
        let last = pulled(&mut client);
        let mut fresh = Client::start();
        fresh.open(URI, &original);
        assert_eq!(last, pulled(&mut fresh), "{name}");
        assert_eq!(client.finish(), Some(0));
    }
}
