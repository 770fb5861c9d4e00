//! Times of reading, checking and editing modules.
//!
//! `cargo bench` prints times of this machine and machine-independent ratios: steps against lexing the
//! same text, keystrokes against checking from scratch, long modules against short ones. The modules are
//! those of the conformance corpus, if present, and chains of bindings.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use cpu_time::ThreadTime;
use relay_tests::{client::Client, corpus};
use semantics::{Database, DefKind, all_defs, body, check_file, inference, scopes};
use serde_json::json;
use syntax::{Edit, ParseLimits, TextRange};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The modules of the corpus that are named in `docs/performance.md`.
const NAMED: [&str; 6] = [
    "resnet152.relay",
    "bert-base.relay",
    "tv-swin_t.relay",
    "lstm500.relay",
    "lstm500-anf.relay",
    "squeezenet-bound.relay",
];

fn main() {
    // `cargo bench` passes `--bench`; other arguments select parts.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |part: &str| chosen.is_empty() || chosen.iter().any(|c| c == part);
    let mut modules: Vec<(String, String)> = corpus::models()
        .into_iter()
        .flatten()
        .filter(|(name, _)| NAMED.contains(&name.as_str()))
        .collect();
    if modules.is_empty() {
        println!("there is no conformance corpus: chains of bindings only");
    }
    modules.push(("chain of 10,000".into(), corpus::chain(10_000)));
    if let Some(only) = std::env::var_os("RELAY_BENCH_MODULE") {
        modules.retain(|(name, _)| *name.as_str() == only);
    }
    if wanted("cold") {
        cold(&modules);
    }
    if wanted("keystroke") {
        keystrokes(&modules);
    }
    if wanted("slope") {
        slope();
    }
    if wanted("client") {
        client(&modules);
    }
}

/// Returns the median of the times of `run`, in milliseconds of CPU.
fn median(rounds: usize, mut run: impl FnMut() -> Duration) -> f64 {
    let mut times: Vec<Duration> = (0..rounds).map(|_| run()).collect();
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = ThreadTime::now();
    black_box(run());
    start.elapsed()
}

/// Creates a database with one file.
fn opened(text: &str) -> (Database, semantics::SourceFile) {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    (db, file)
}

/// Measures every step from the text to its diagnostics, each after the previous ones.
fn cold(modules: &[(String, String)]) {
    println!("\ncold check: milliseconds of CPU, each step by itself");
    println!(
        "{:24} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7} {:>9}",
        "", "kB", "lex", "parse", "lower", "names", "types", "rest", "all", "all/lex"
    );
    for (name, text) in modules {
        let rounds = 9;
        let lex = median(rounds, || timed(|| syntax::tokens(text).count()));
        let mut steps = [0.0; 5];
        let mut runs: Vec<[Duration; 5]> = Vec::new();
        for _ in 0..rounds {
            let mut at = [Duration::ZERO; 5];
            let mut opened_file = None;
            at[0] = timed(|| opened_file = Some(opened(text)));
            let Some((db, file)) = opened_file else { continue };
            let defs: Vec<_> = all_defs(&db, file)
                .filter(|def| matches!(def.kind(&db), DefKind::Fn | DefKind::Expr))
                .collect();
            at[1] = timed(|| defs.iter().for_each(|&def| drop(body(&db, def))));
            at[2] = timed(|| defs.iter().for_each(|&def| drop(scopes(&db, def))));
            at[3] = timed(|| defs.iter().for_each(|&def| drop(inference(&db, def))));
            at[4] = timed(|| check_file(&db, file));
            runs.push(at);
        }
        for (step, time) in steps.iter_mut().enumerate() {
            let mut times: Vec<Duration> = runs.iter().map(|run| run[step]).collect();
            times.sort_unstable();
            *time = times[times.len() / 2].as_secs_f64() * 1e3;
        }
        let [parse, lower, names, types, rest] = steps;
        let all: f64 = steps.iter().sum();
        println!(
            "{name:24} {:>7} {lex:>6.1} {:>6.1} {lower:>6.1} {names:>6.1} {types:>6.1} {rest:>6.1} \
             {all:>7.1} {:>9.1}",
            text.len() / 1000,
            parse - lex,
            all / lex
        );
    }
}

/// Returns the place of a keystroke and its reversal: before the name of an operator in the middle of
/// the module.
fn keystroke_place(text: &str) -> usize {
    let middle = text.len() / 2;
    let mut calls = text[..middle].rmatch_indices(" = ").map(|(at, _)| at + 3);
    let is_call = |at: &usize| {
        let mut name =
            text[*at..].split(|c: char| !(c.is_ascii_alphanumeric() || "._".contains(c)));
        name.next().is_some_and(|name| operators::find(name).is_some())
    };
    calls.find(is_call).unwrap_or(middle)
}

fn keystrokes(modules: &[(String, String)]) {
    println!("\none keystroke in the middle: milliseconds of CPU");
    println!("{:24} {:>8} {:>8} {:>8} {:>10}", "", "reparse", "check", "both", "cold/both");
    for (name, text) in modules {
        let cold = median(3, || {
            timed(|| {
                let (db, file) = opened(text);
                check_file(&db, file)
            })
        });
        let (mut db, file) = opened(text);
        black_box(check_file(&db, file));
        let place = u32::try_from(keystroke_place(text)).unwrap_or(0);
        let mut current = text.clone();
        let (mut reparses, mut checks) = (Vec::new(), Vec::new());
        for round in 0..60 {
            let (range, insert) = if round % 2 == 0 {
                (TextRange::empty(place.into()), "q")
            } else {
                (TextRange::new(place.into(), (place + 1).into()), "")
            };
            let edit = Edit { range, insert: insert.into() };
            edit.apply(&mut current);
            reparses.push(timed(|| {
                db.apply(file, &edit);
                file.parse(&db)
            }));
            checks.push(timed(|| check_file(&db, file)));
        }
        let (reparse, check) = (middle(&mut reparses), middle(&mut checks));
        let both = reparse + check;
        println!("{name:24} {reparse:>8.2} {check:>8.2} {both:>8.2} {:>10.0}", cold / both);
    }
}

fn middle(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Prints the cost of a binding in modules of increasing length.
fn slope() {
    println!("\nslope: checking chains of bindings, microseconds of CPU a binding");
    let mut first = None;
    for n in [1_000, 3_000, 10_000, 30_000, 100_000] {
        let text = corpus::chain(n);
        let rounds = if n > 20_000 { 3 } else { 7 };
        let time = median(rounds, || {
            timed(|| {
                let (db, file) = opened(&text);
                check_file(&db, file)
            })
        });
        let each = time * 1e3 / n as f64;
        let first = *first.get_or_insert(each);
        println!("{n:>8} bindings {each:>8.2} µs each, {:>5.2} of the first", each / first);
    }
}

/// Measures the latency at a client of the real server.
fn client(modules: &[(String, String)]) {
    println!("\nat the client: milliseconds until the diagnostics arrive, MiB resident");
    println!(
        "{:24} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "open", "median", "p95", "max", "MiB", "after"
    );
    for (name, text) in modules {
        let uri = "file:///module.relay";
        let mut client = Client::start();
        let start = Instant::now();
        client.open(uri, text);
        client.diagnostics(uri, 1);
        let open = start.elapsed().as_secs_f64() * 1e3;
        let resident = client.resident();
        let place = keystroke_place(text);
        let line = text[..place].matches('\n').count() as u32;
        let column = (place - text[..place].rfind('\n').map_or(0, |at| at + 1)) as u32;
        let mut times = Vec::new();
        for version in 2..202 {
            let (end, insert) = if version % 2 == 0 { (column, "q") } else { (column + 1, "") };
            let start = Instant::now();
            client.edit(uri, version, (line, column), (line, end), insert);
            client.diagnostics(uri, version);
            // The time that the client takes to process the text is not included.
            times.push(client.arrived.saturating_duration_since(start));
            std::thread::sleep(Duration::from_millis(5));
        }
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let mib = |bytes: Option<u64>| bytes.map_or(f64::NAN, |bytes| bytes as f64 / 1048576.0);
        println!(
            "{name:24} {open:>8.1} {:>8.2} {:>8.2} {:>8.2} {:>8.1} {:>8.1}",
            ms(times[times.len() / 2]),
            ms(times[times.len() * 95 / 100]),
            ms(times[times.len() - 1]),
            mib(resident),
            mib(client.resident()),
        );
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        client.finish();
    }
}
