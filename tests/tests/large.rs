//! What large inputs cost: the time and memory of requests, sessions and commands.
//!
//! The bars are those of inputs that users have: logs of a gigabyte, texts of 40 MB, a thousand documents in a
//! session. `RELAY_FIGURES=1` measures these, with a release build in `RELAY_ANALYZER`. Without the variable the
//! inputs are smaller, and only the results are asserted.

use std::{
    fmt::Write as _,
    io::Read,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use relay_tests::{
    client::{Client, binary},
    command::Folder,
    corpus,
    figures::{self, at_most},
    notes::available,
};
use serde_json::{Value, json};

const URI: &str = "file:///large.relay";

const MB: u64 = 1 << 20;

/// Returns the first of two amounts if figures are compared, as the inputs have their full sizes then.
fn full<T>(large: T, small: T) -> T {
    if figures::are_compared() { large } else { small }
}

/// Locks the machine for one test: beside a text of 40 MB, the others would measure their waits for it.
fn alone() -> MutexGuard<'static, ()> {
    static MACHINE: Mutex<()> = Mutex::new(());
    // A test that failed leaves nothing behind.
    MACHINE.lock()
}

/// Returns a function with `n` bindings by `let`.
fn lets(n: usize) -> String {
    let ty = "Tensor[(2, 3), float32]";
    let mut text = format!("def @main(%x: {ty}, %w: {ty}) {{\n  let %v0 = add(%x, %w);\n");
    for i in 1..n {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  let %v{i} = add(%v{}, %w);", i - 1);
    }
    text + &format!("  %v{}\n}}\n", n - 1)
}

/// Returns the response to a request, and the CPU time that the server took for it.
fn timed(client: &mut Client, method: &str, params: Value) -> (Value, Duration) {
    let before = idle(client);
    let answer = client.request(method, params);
    assert!(answer["error"].is_null(), "{method}: {answer}");
    (answer["result"].clone(), idle(client).saturating_sub(before))
}

/// Waits until the server is idle, and returns its CPU time; 0 on systems that do not tell it.
fn idle(client: &Client) -> Duration {
    let now = || available("CPU time", client.cpu_time()).unwrap_or_default();
    let mut last = now();
    loop {
        std::thread::sleep(Duration::from_millis(10));
        let next = now();
        if next == last {
            return next;
        }
        last = next;
    }
}

/// A server keeps nothing of documents that were closed, of which each has a text of its own.
#[test]
fn closed_documents_give_their_memory_back() {
    let _alone = alone();
    let mut client = Client::start();
    let Some(start) = available("memory", client.resident()) else { return };
    let uri = |number: usize| format!("file:///{number}.relay");
    let (documents, batch) = (full(1_000, 60), 60);
    let mut open = 0;
    for first in (0..documents).step_by(batch) {
        let numbers = first..(first + batch).min(documents);
        for number in numbers.clone() {
            let text = corpus::chain(3_700).replace("@main", &format!("@main{number}"));
            client.open(&uri(number), &text);
            client.diagnostics(&uri(number), 1);
        }
        open = open.max(available("memory", client.resident()).unwrap_or_default());
        numbers.for_each(|number| {
            let document = json!({ "textDocument": { "uri": uri(number) } });
            client.notify("textDocument/didClose", document);
        });
    }
    let closed = Instant::now();
    let mut left = open;
    while left > start + 30 * MB && closed.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(50));
        left = available("memory", client.resident()).unwrap_or_default();
    }
    let shown = [start, open, left].map(|bytes| bytes / MB);
    println!(
        "{documents} documents: {shown:?} MB at the start, with {batch} of them open, and closed"
    );
    at_most("resident bytes with all of them closed", left, start + 30 * MB);
    assert_eq!(client.finish(), Some(0));
}

/// Of the diagnostics that a client does not read, only the newest of a document wait.
#[test]
fn diagnostics_of_an_unread_document_do_not_pile_up() {
    let _alone = alone();
    let mut client = Client::start();
    let errors: String = (0..500).map(|i| format!("  let %v{i} = ad(%v, %a);\n")).collect();
    client.open(URI, &format!("def @main(%x: int32) {{\n{errors}  %x\n}}\n"));
    client.diagnostics(URI, 1);
    let Some(start) = available("memory", client.resident()) else { return };
    client.pause();
    let (begin, mut version, mut most) = (Instant::now(), 1, 0);
    while begin.elapsed() < full(Duration::from_secs(30), Duration::from_secs(3)) {
        version += 1;
        let (end, insert) = if version % 2 == 0 { (6, "q") } else { (7, "") };
        client.edit(URI, version, (250, 6), (250, end), insert);
        std::thread::sleep(Duration::from_millis(5));
        most = most.max(available("memory", client.resident()).unwrap_or_default());
    }
    // The server does not publish again what it published last, which may be that of an equal text.
    version += 1;
    client.edit(URI, version, (0, 0), (0, 0), "\n");
    client.resume();
    client.diagnostics(URI, version);
    let published =
        client.unread.iter().filter(|it| it["method"] == "textDocument/publishDiagnostics").count();
    let grown = most.saturating_sub(start) / MB;
    println!("{version} versions, {grown} MB more, {published} older publications");
    at_most("more resident megabytes", grown, 100);
    // One that was being read, one that was being written, and the newest of what waited then.
    assert!(published <= 4, "{published} publications of {version} versions");
    assert_eq!(client.finish(), Some(0));
}

/// The full sizes are 5 and 40 MB.
#[test]
fn tokens_of_a_long_text_are_linear() {
    let _alone = alone();
    let time = |n: usize| {
        let mut client = Client::start();
        client.open(URI, &corpus::chain(n));
        client.diagnostics(URI, 1);
        let params = json!({ "textDocument": { "uri": URI } });
        let (tokens, time) = timed(&mut client, "textDocument/semanticTokens/full", params);
        assert!(tokens["data"].as_array().is_some_and(|data| data.len() > n));
        assert_eq!(client.finish(), Some(0));
        time
    };
    let (short, long) = full((78_000, 612_000), (40_000, 160_000));
    let (before, after) = (time(short), time(long));
    println!("tokens of {short} and {long} lines: {before:?}, {after:?}");
    at_most("tokens", after, full(Duration::from_secs(2), Duration::from_secs(1)));
    let growth = after.as_secs_f64() / before.as_secs_f64().max(0.01);
    at_most("growth of the time for tokens", growth, 2.5 * (long / short) as f64);
}

/// Editors ask for actions whenever the cursor moves, without saying what they want.
#[test]
fn actions_are_offered_at_once() {
    let _alone = alone();
    for is_lazy in [false, true] {
        let properties = if is_lazy { json!(["edit"]) } else { json!([]) };
        let resolving = json!({ "codeAction": { "resolveSupport": { "properties": properties } } });
        let abilities = json!({ "textDocument": resolving, "workspace": { "applyEdit": true } });
        let mut client = Client::start_with(abilities, Value::Null);
        let n = full(80_000, 20_000);
        client.open(URI, &lets(n));
        client.diagnostics(URI, 1);
        let place = json!({ "line": n / 2, "character": 7 });
        let params = json!({
            "textDocument": { "uri": URI },
            "range": { "start": place, "end": place },
            "context": { "diagnostics": [] },
        });
        let (actions, time) = timed(&mut client, "textDocument/codeAction", params);
        println!("actions at a place in {n} bindings: {time:?}");
        at_most("actions at a place", time, Duration::from_millis(100));
        // Each of them has its edits, or where they can be had.
        let actions = actions.as_array().expect("actions");
        let whole = actions.iter().find(|action| action["edit"].is_null()).expect("an action");
        assert_eq!(whole["command"].is_object(), !is_lazy, "{whole}");
        assert!(whole["data"].is_object(), "{whole}");
        assert_eq!(client.finish(), Some(0));
    }
}

/// The result of a program, and the most memory that it had, in bytes.
struct ProgramEnd {
    code: Option<i32>,
    out: String,
    peak: u64,
    time: Duration,
}

/// The number of times that a program is run at most until its memory is known.
const ATTEMPTS: usize = 20;

/// Runs the program in a folder; `None` on systems that do not tell its memory. A short run may end before its memory is
/// read, and is then repeated.
fn run(folder: &Folder, args: &[&str]) -> Option<ProgramEnd> {
    let ended = (0..ATTEMPTS).find_map(|_| run_once(folder, args));
    available("memory", ended)
}

/// Runs the program in a folder; `None` if its memory could not be read.
fn run_once(folder: &Folder, args: &[&str]) -> Option<ProgramEnd> {
    let begin = Instant::now();
    let mut child = Command::new(binary())
        .args(args)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut out = String::new();
        stdout.read_to_string(&mut out).expect("text");
        out
    });
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    let code = loop {
        if let Some(status) = child.try_wait().expect("the program") {
            break status.code();
        }
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kilobytes);
        std::thread::sleep(Duration::from_millis(1));
    };
    let out = reader.join().expect("the reader ends");
    Some(ProgramEnd { code, out, peak: peak? * 1024, time: begin.elapsed() })
}

/// The limit on the memory of a run includes what operators need temporarily, and results whose last
/// reference a call consumes.
#[test]
fn runs_keep_to_their_memory_limit() {
    let _alone = alone();
    let limit: u64 = full(1024, 256);
    let peak = |text: &str| {
        let folder = Folder::new("limit", &[("a.relay", text.as_bytes())]);
        run(&folder, &["run", "a.relay", "--memory", &limit.to_string()])
    };
    // The program itself is a tenth of the small size, and larger without optimization.
    let Some(program) = peak("def @main() { 1 }\n").map(|ended| ended.peak) else { return };
    let program = full(0, program);
    for (part, call) in [
        (0.96, "sum(%0, axis=[0])"),
        (0.96, "argwhere(%0)"),
        (0.46, "topk(%0, k=2)"),
        (0.46, "argsort(%0, dtype=\"int32\")"),
        (0.3, "sort(%0)"),
    ] {
        let rows = (limit * MB) as f64 * part / 4096.0;
        let text = format!(
            "def @main() {{\n  %0 = ones(shape=[{}, 1024], dtype=\"float32\");\n  {call}\n}}\n",
            rows as u64
        );
        let Some(ended) = peak(&text) else { return };
        println!("{call} on {part} of {limit} MB: {} MB, {:?}", ended.peak / MB, ended.code);
        let own = ended.peak.saturating_sub(program);
        at_most(&format!("peak of {call}"), own, limit * MB / 10 * 11);
    }
}

/// A comparison holds one analysis at a time.
#[test]
fn comparison_of_long_modules_fits_into_memory() {
    let _alone = alone();
    let n = full(200_000, 20_000);
    let before = lets(n);
    let after = before.replace(&format!("%v{} = add", n / 2), &format!("%v{} = subtract", n / 2));
    let files: [(&str, &[u8]); 2] = [("a.relay", before.as_bytes()), ("b.relay", after.as_bytes())];
    let folder = Folder::new("long", &files);
    let Some(ended) = run(&folder, &["diff", "a.relay", "b.relay"]) else { return };
    println!("diff of {n} bindings: {} MB, {:?}", ended.peak / MB, ended.time);
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    assert!(ended.out.contains("subtract"), "{}", ended.out);
    at_most("peak of a comparison", ended.peak, full(400, 60) * MB);
}

/// Returns a log of passes over a module with `n` bindings, each of which changes one of them, and the
/// number of passes.
fn log(n: usize, bytes: usize) -> (String, usize) {
    let mut text = corpus::chain(n);
    let (mut log, mut count) = (String::new(), 0);
    while log.len() < bytes {
        let at = (count * 7919) % n;
        text = text.replacen(&format!("%{at} = add("), &format!("%{at} = subtract("), 1);
        let _ = writeln!(log, "PrintIR(Pass{count}):\n{text}");
        count += 1;
    }
    (log, count)
}

/// A pass changes a few statements, and the texts of the modules show that it left an expression as it was.
#[test]
fn history_reads_a_long_log_quickly() {
    let _alone = alone();
    let (log, count) = log(20_000, full(1_000_000_000, 60_000_000));
    let folder = Folder::new("history", &[("a.log", log.as_bytes())]);
    let Some(ended) = run(&folder, &["history", "a.log", "--at", "15000:13"]) else { return };
    println!("history in {count} modules of {} MB: {:?}", log.len() / 1_000_000, ended.time);
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    at_most("history", ended.time, full(Duration::from_secs(5), Duration::from_secs(2)));
}
