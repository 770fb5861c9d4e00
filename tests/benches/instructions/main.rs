//! Instruction counts of the steps of a cold check, and of edits in the server.
//!
//! The counts come from callgrind. They hardly depend on the machine and its load, so they have budgets,
//! and a run over budget fails. An edit includes all work of all server threads from the change to the
//! diagnostics and the response to a hover after it, until the server is idle. Arguments select modules.
//! Without valgrind the bench is skipped with a message.

mod budgets;

use std::{
    hint::black_box,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::Duration,
};

use budgets::{COLD, EDITS};
use relay_tests::{
    client::{Client, at, binary},
    corpus,
    edit_kinds::{self, Change, KINDS, position},
};
use semantics::{Database, DefKind, all_defs, body, check_file, inference};
use serde_json::json;
use syntax::ParseLimits;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of bindings in the chain.
const CHAIN: usize = 14_500;
/// The name of a chain ten times as long, which is measured only when it is named: its cold check takes minutes.
const LONG_CHAIN: &str = "long-chain";
/// The modules of the corpus that are measured.
const MODELS: [&str; 5] = ["lstm500", "lstm500-anf", "bert-base", "resnet152", "tv-swin_t"];
/// The steps from the text to its diagnostics. Each includes the previous ones except `lex`.
const STEPS: [&str; 5] = ["nothing", "lex", "parse", "lower", "infer"];
/// A time longer than the debounce of slow diagnostics, as all are under callgrind.
const DEBOUNCE: Duration = Duration::from_millis(420);
/// The number of times that each edit is made and undone.
const ROUNDS: usize = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if let [step, path] = &args[..]
        && let Some(step) = step.strip_prefix("step:")
    {
        run_step(step, Path::new(path));
    }
    let has_valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !has_valgrind.is_ok_and(|status| status.success()) {
        println!("SKIPPED: there is no valgrind to count instructions with");
        return ExitCode::SUCCESS;
    }
    let mut modules = vec![("chain".to_owned(), edit_kinds::bare_chain(CHAIN))];
    let models = MODELS.iter().map_while(|name| Some((name.to_string(), corpus::model(name)?)));
    modules.extend(models);
    if modules.len() == 1 {
        println!("SKIPPED: there is no conformance corpus: only the chain is measured");
    }
    modules.retain(|(name, _)| args.is_empty() || args.contains(name));
    if args.iter().any(|arg| arg == LONG_CHAIN) {
        modules.push((LONG_CHAIN.to_owned(), edit_kinds::bare_chain(10 * CHAIN)));
    }
    let folder = std::env::temp_dir().join(format!("relay-instructions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the profiles");
    let over = cold(&folder, &modules) + edited(&folder, &modules);
    if std::env::var_os("RELAY_KEEP_PROFILES").is_some() {
        println!("\nthe profiles are in {}", folder.display());
    } else {
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }
    if over > 0 {
        println!("\n{over} numbers are over budget; budgets are in tests/benches/instructions");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Runs the steps up to one on a file, in a process under callgrind, and ends the process.
fn run_step(step: &str, path: &Path) -> ! {
    let text = std::fs::read_to_string(path).expect("the file of the step");
    let wanted = STEPS.iter().position(|name| *name == step).expect("a step");
    let db = Database::new();
    let empty = db.add_file("", ParseLimits::default());
    black_box(check_file(&db, empty));
    if wanted == 1 {
        black_box(syntax::tokens(&text).count());
    }
    if wanted >= 2 {
        let file = db.add_file(&text, ParseLimits::default());
        black_box(file.parse(&db));
        for def in all_defs(&db, file) {
            if !matches!(def.kind(&db), DefKind::Fn | DefKind::Expr) {
                continue;
            }
            if wanted >= 3 {
                black_box(body(&db, def));
            }
            if wanted >= 4 {
                black_box(inference(&db, def));
            }
        }
    }
    // Exits without dropping anything, which is not part of the step.
    std::process::exit(0);
}

/// Returns `valgrind` with a file for its profiles.
fn valgrind(profile: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    command
}

/// Returns the instructions of a profile in millions.
fn instructions(profile: &Path) -> f64 {
    let text = std::fs::read_to_string(profile).expect("callgrind wrote its profile");
    let total = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    let total: u64 = total.and_then(|total| total.trim().parse().ok()).expect("a total");
    total as f64 / 1e6
}

/// Returns the instructions of a command in millions.
fn counted(command: &Path, args: &[&str], profile: &Path) -> f64 {
    let run = valgrind(profile).arg(command).args(args).stdout(Stdio::null()).status();
    // A module with findings ends a check with another status.
    run.expect("valgrind runs");
    instructions(profile)
}

/// Prints a number against its budget. Returns 1 if it is over.
fn report(number: f64, budget: Option<f64>) -> usize {
    let over = budget.is_some_and(|budget| number > budget);
    print!(" {:>12}", format!("{number:.2}{}", if over { "!" } else { "" }));
    usize::from(over)
}

/// Counts the steps of a cold check.
fn cold(folder: &Path, modules: &[(String, String)]) -> usize {
    println!("\ncold: millions of instructions; `check` is the whole command\n");
    print!("{:12}", "");
    for step in STEPS[1..].iter().chain(&["check"]) {
        print!(" {step:>12}");
    }
    println!();
    let own = std::env::current_exe().expect("the bench's own path");
    let mut over = 0;
    for (name, text) in modules {
        let file = folder.join(format!("{name}.relay"));
        std::fs::write(&file, text).expect("the module is written");
        let path = file.to_str().expect("a path of text");
        let profile = |step: &str| folder.join(format!("{name}.{step}.out"));
        let totals =
            STEPS.map(|step| counted(&own, &[&format!("step:{step}"), path], &profile(step)));
        let budget = COLD.iter().find(|(module, _)| module == name).map(|(_, budget)| budget);
        print!("{name:12}");
        let [nothing, lex, parse, lower, infer] = totals;
        let check = counted(&binary(), &["check", path], &profile("check"));
        let steps = [lex - nothing, parse - nothing, lower - parse, infer - lower, check];
        for (number, step) in steps.into_iter().enumerate() {
            over += report(step, budget.map(|budget| budget[number]));
        }
        println!();
    }
    over
}

/// A server under callgrind, with one open document.
struct Session {
    client: Client,
    profile: PathBuf,
    dumps: usize,
    text: String,
    version: i64,
}

/// The one document of a session.
const URI: &str = "file:///module.relay";

impl Session {
    fn start(profile: PathBuf, text: &str) -> Session {
        let mut command = valgrind(&profile);
        command.arg(binary());
        let abilities = json!({ "general": { "positionEncodings": ["utf-8"] } });
        let mut client = Client::run(&mut command).shake_hands(abilities, serde_json::Value::Null);
        client.open(URI, text);
        client.diagnostics(URI, 1);
        Session { client, profile, dumps: 0, text: text.to_owned(), version: 1 }
    }

    /// Waits until the server is idle, and returns the instructions since the last call in millions.
    fn take(&mut self) -> f64 {
        let mut before = None;
        loop {
            std::thread::sleep(DEBOUNCE);
            let now = self.client.cpu();
            if now == before {
                break;
            }
            before = now;
        }
        self.dumps += 1;
        let process = format!("--pid={}", self.client.id());
        let dumped = Command::new("vgdb").args([&process, "dump"]).output().expect("vgdb runs");
        assert!(dumped.status.success(), "{}", String::from_utf8_lossy(&dumped.stderr));
        instructions(&PathBuf::from(format!("{}.{}", self.profile.display(), self.dumps)))
    }

    /// Makes a change, requests a hover, and returns the inverse change. The diagnostics may be
    /// unchanged and thus not be sent: [`Session::take`] waits for them.
    fn make(&mut self, change: &Change) -> Change {
        let [from, to] =
            [change.range.start, change.range.end].map(|place| position(&self.text, place));
        let undo = change.apply(&mut self.text);
        self.version += 1;
        self.client.edit(URI, self.version, from, to, &change.insert);
        let (line, column) = from;
        self.client.request("textDocument/hover", at(URI, line, column));
        undo
    }
}

/// Counts the edits at the server.
fn edited(folder: &Path, modules: &[(String, String)]) -> usize {
    println!("\nan edit and its reversal, with a hover after it: millions of instructions\n");
    print!("{:12}", "");
    for kind in KINDS {
        print!(" {kind:>12}");
    }
    println!();
    let mut over = 0;
    for (name, text) in modules {
        let mut session = Session::start(folder.join(format!("{name}.edits")), text);
        session.take();
        let budget = EDITS.iter().find(|(module, _)| module == name).map(|(_, budget)| budget);
        print!("{name:12}");
        for (number, kind) in KINDS.iter().enumerate() {
            let Some(change) = edit_kinds::change(kind, text) else {
                print!(" {:>12}", "-");
                continue;
            };
            let mut counts = Vec::new();
            for _ in 0..ROUNDS {
                let undo = session.make(&change);
                counts.push(session.take());
                session.make(&undo);
                counts.push(session.take());
            }
            if std::env::var_os("RELAY_KEEP_PROFILES").is_some() {
                let line = &session.text[change.range.start..];
                let line = line.lines().next().unwrap_or_default();
                eprintln!("{name} {kind}: {counts:.2?} {:?} at {line:.60}", change.insert);
            }
            counts.sort_unstable_by(f64::total_cmp);
            let middle = (counts[ROUNDS - 1] + counts[ROUNDS]) / 2.0;
            over += report(middle, budget.map(|budget| budget[number]));
        }
        println!();
        session.client.finish();
    }
    over
}
