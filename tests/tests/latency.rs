//! The latency of diagnostics after pipelined edits.

use std::time::{Duration, Instant};

use relay_tests::{client::Client, corpus, figures};

const URI: &str = "file:///work/a.relay";
/// The number of bursts of edits in one session.
const BURSTS: usize = 24;

/// Texts that are typed into a long module, one letter at a time: unbound names, and text that changes
/// the tree of everything after it.
const TYPED: [&str; 6] = [
    "zzzzzzzzzzzzzzzzzzzz",
    "/*z*/ /*z*/ /*z*/ zz",
    "\"zz\" \"zzzz\" \"zzz\" zz",
    "{z} } { z } } } { zz",
    "(z)) ( z ) ) [ ] ] z",
    ";%z = z;\ndef @z() {z",
];

/// Bursts of pipelined edits throughout a long module: diagnostics of each of its versions arrive. The time is
/// that from each edit to the first diagnostics of a text that includes it.
#[test]
fn diagnostics_follow_pipelined_edits_of_a_long_module() {
    let text = corpus::longest();
    // Statements with a variable, into which the text is typed.
    let places: Vec<(u32, u32)> = text
        .lines()
        .enumerate()
        .filter_map(|(line, text)| Some((line as u32, text.find("(%")? as u32 + 2)))
        .collect();
    let (opening, p99) = session(&text, &places);
    figures::at_most("p99 of the latency", p99, opening * 5 / 2);
}

/// Returns the time from opening the document to its diagnostics, which depends on the machine as the latency
/// does, and the 99th percentile of the latency, in a new session.
fn session(text: &str, places: &[(u32, u32)]) -> (Duration, Duration) {
    let mut client = Client::start();
    let opened = Instant::now();
    client.open(URI, text);
    client.diagnostics(URI, 1);
    let opening = client.arrived - opened;
    let mut rng = fastrand::Rng::with_seed(3);
    let mut version = 1;
    let mut times = Vec::new();
    for burst in 0..BURSTS {
        let place = places[rng.usize(..places.len())];
        let mut at = place;
        let mut sent = Vec::new();
        for letter in TYPED[burst % TYPED.len()].chars().take(19) {
            version += 1;
            client.edit(URI, version, at, at, &letter.to_string());
            sent.push((version, Instant::now()));
            at = if letter == '\n' { (at.0 + 1, 0) } else { (at.0, at.1 + 1) };
        }
        // Diagnostics are published when they change, and the last edit moves all of them.
        version += 1;
        client.edit(URI, version, (place.0, 0), (place.0, 0), "\n");
        sent.push((version, Instant::now()));
        assert_eq!(sent.len(), 20);
        let mut sent = sent.into_iter().peekable();
        while sent.peek().is_some() {
            let message = client.expect("textDocument/publishDiagnostics");
            let has = message["params"]["version"].as_i64().expect("a version");
            while let Some((_, since)) = sent.next_if(|(version, _)| *version <= has) {
                times.push((client.arrived.duration_since(since), burst % TYPED.len()));
            }
        }
        version += 2;
        client.edit(URI, version - 1, (place.0, 0), (place.0 + 1, 0), "");
        client.edit(URI, version, place, at, "");
        client.diagnostics(URI, version);
    }
    times.sort_unstable();
    for (kind, typed) in TYPED.iter().enumerate() {
        let own: Vec<Duration> =
            times.iter().filter(|(_, k)| *k == kind).map(|(t, _)| *t).collect();
        println!("{typed:?}: median {:?}, longest {:?}", own[own.len() / 2], own[own.len() - 1]);
    }
    let (median, p99) = (times[times.len() / 2].0, times[times.len() * 99 / 100].0);
    println!("opened in {opening:?}; {} edits: median {median:?}, p99 {p99:?}", times.len());
    (opening, p99)
}
