//! Runs the fuzz targets on regressions, and on a fixed number of inputs each that are derived with fixed seeds from
//! the texts that `tests/fuzz/seeds.txt` lists; `RELAY_WRITE=1` makes the list of all texts of the repository.
//!
//! `RELAY_FUZZ=60` spends 60 seconds on each target instead, with all texts. A failing input is minimised and printed; add it to
//! `tests/fuzz/regressions`. If the process dies, the last line of the output names the file with the
//! input.

use std::{
    alloc::System,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use cap::Cap;
use relay_tests::{
    corpus::here,
    figures::WATCHDOG,
    fuzz::{
        Failure, Kind, MAX_MEMORY, Mutator, STACK, Seeds, TARGETS, Target, dictionary, end_session,
        failures, minimise,
    },
    notes::note,
    variables,
};

/// Exceeding the limit aborts the process.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MAX_MEMORY);

/// The number of inputs of a target.
const INPUTS: u64 = 500;
/// The seed of all inputs, which depend only on it, the texts and their number.
const SEED: u64 = 0x7265_6C61_7900;

/// Runs targets on a thread with a small stack, and ends the process if an input hangs.
fn watched(run: impl FnOnce(&Watched) + Send + 'static) {
    // Sessions start the binary, which must be built before the measurement.
    relay_tests::client::binary();
    let watched = Arc::new(Watched { started: AtomicU64::new(0), begin: Instant::now() });
    let own = watched.clone();
    let builder = std::thread::Builder::new().stack_size(STACK);
    let thread = builder.spawn(move || run(&own)).expect("a thread");
    while !thread.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
        let started = Duration::from_millis(watched.started.load(Ordering::Relaxed));
        if watched.begin.elapsed().saturating_sub(started) > WATCHDOG {
            eprintln!("an input hangs: {}", last_path().display());
            std::process::abort();
        }
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

struct Watched {
    /// The start of the current input, in milliseconds since the start of the test.
    started: AtomicU64,
    begin: Instant,
}

/// Returns the file of the current input.
fn last_path() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}", std::process::id()))
}

impl Watched {
    fn attempt(&self, target: Target, input: &[u8]) -> Result<(), Failure> {
        let now = self.begin.elapsed().as_millis() as u64;
        self.started.store(now, Ordering::Relaxed);
        std::fs::write(last_path(), input).expect("a file for the input");
        target.attempt_within(WATCHDOG, input)
    }

    /// Runs a target on an input, and panics with the minimised input if it fails.
    fn hold(&self, target: Target, input: &[u8], about: &str) {
        let Err(failure) = self.attempt(target, input) else { return };
        let same = |input: &[u8]| {
            let again = self.attempt(target, input).err();
            again.is_some_and(|again| again.signature() == failure.signature())
        };
        let small = minimise(input, target.kind, same);
        panic!(
            "`{}` fails on {about}, at {}: {}\nminimised:\n{:?}",
            target.name,
            failure.place,
            failure.message,
            String::from_utf8_lossy(&small)
        );
    }
}

#[test]
fn properties_hold_on_random_inputs() {
    let share = variables::chosen("RELAY_FUZZ").map(Duration::from_secs);
    let amount = share.map_or_else(|| format!("{INPUTS} inputs"), |share| format!("{share:?}"));
    note(&format!("{} targets, {amount} each (RELAY_FUZZ=seconds)", TARGETS.len()));
    note(&format!("the current input: {}", last_path().display()));
    watched(move |watched| {
        let seeds = if share.is_some() { Seeds::of_repository() } else { Seeds::of_list() };
        assert!(seeds.texts.len() > 500, "{} seeds", seeds.texts.len());
        for target in TARGETS {
            let begin = Instant::now();
            let mut count = 0;
            while share.map_or(count < INPUTS, |share| begin.elapsed() < share) {
                let input = Mutator::new(&seeds, SEED + count).input(target.kind);
                watched.hold(*target, &input, &format!("input {count}"));
                count += 1;
            }
            if target.kind == Kind::Session {
                let ends = Target { run: |_| end_session(), ..*target };
                watched.hold(ends, &[], "the end of its server");
            }
            println!("{}: {count} inputs in {:?}", target.name, begin.elapsed());
        }
        // It is no longer needed.
        let _ = std::fs::remove_file(last_path());
    });
}

#[test]
fn properties_hold_on_regressions() {
    watched(|watched| {
        let folders = [("text", Kind::Text), ("edits", Kind::Edits), ("session", Kind::Session)];
        for (folder, kind) in folders {
            let inputs = failures(folder);
            assert!(!inputs.is_empty(), "there is nothing in `{folder}`");
            for target in TARGETS.iter().filter(|target| target.kind == kind) {
                for (name, input) in &inputs {
                    watched.hold(*target, input.as_bytes(), name);
                }
                let ends = Target { run: |_| end_session(), ..*target };
                watched.hold(ends, &[], "the end of its server");
            }
        }
        let _ = std::fs::remove_file(last_path());
    });
}

/// A violation is found, minimised, and distinguished from others.
#[test]
fn failures_are_detected_and_minimised() {
    let target = Target {
        name: "test",
        kind: Kind::Text,
        run: |input| {
            let text = String::from_utf8_lossy(input);
            assert!(!(text.contains("nn.relu") && text.contains("%x")), "both are there");
        },
    };
    let text = "def @main(%x: int32) {\n  %0 = nn.relu(%x);\n  add(%0, %x)\n}\n";
    let failure = target.attempt(text.as_bytes()).expect_err("it fails");
    assert_eq!(failure.message, "both are there");
    assert!(failure.place.contains("fuzz_bounded.rs"), "{failure:?}");
    assert_eq!(target.attempt(b"nn.relu"), Ok(()));
    let small = minimise(text.as_bytes(), Kind::Text, |input| target.attempt(input).is_err());
    assert_eq!(String::from_utf8_lossy(&small).replace(['\n', ' '], "").len(), "nn.relu%x".len());
    const SLOW: Duration = Duration::from_millis(50);
    let slow = Target {
        run: |_| {
            let begin = cpu_time::ThreadTime::now();
            while begin.elapsed() <= SLOW {}
        },
        ..target
    };
    assert_eq!(slow.attempt_within(SLOW, b"").expect_err("it is slow").place, "slow");
}

/// Inputs depend only on their seed and number, and differ.
#[test]
fn inputs_are_reproducible() {
    let seeds = Seeds::of_repository();
    for target in TARGETS {
        let inputs = |_| -> Vec<Vec<u8>> {
            (0..50).map(|seed| Mutator::new(&seeds, seed).input(target.kind)).collect()
        };
        let (once, again) = (inputs(0), inputs(1));
        assert!(once == again, "{}", target.name);
        let different: std::collections::HashSet<_> = once.iter().collect();
        assert!(different.len() > 40, "{}: {} of 50", target.name, different.len());
    }
}

/// The dictionary of libFuzzer has every operator, attribute and keyword; `RELAY_WRITE=1` writes it.
#[test]
fn dictionary_matches_the_operators() {
    let path = here().join("fuzz/dictionaries/relay.dict");
    let wanted = dictionary::text();
    if std::env::var_os("RELAY_WRITE").is_some() {
        std::fs::write(&path, &wanted).expect("the dictionary is written");
    }
    let found = std::fs::read_to_string(&path).expect("the dictionary");
    assert!(found == wanted, "the dictionary is stale: run this test with RELAY_WRITE=1");
    for operator in operators::all() {
        assert!(found.contains(&format!("\"{}\"\n", operator.name)), "{}", operator.name);
    }
}

/// Every target has an entry point for `cargo fuzz`.
#[test]
fn every_target_has_an_entry_point() {
    let manifest = std::fs::read_to_string(here().join("fuzz/Cargo.toml")).expect("a manifest");
    for target in TARGETS {
        let entry = format!("fuzz_targets/{}.rs", target.name);
        assert!(manifest.contains(&format!("path = \"{entry}\"")), "{entry}");
        let text = std::fs::read_to_string(here().join("fuzz").join(&entry)).expect("an entry");
        assert!(text.contains(&format!("relay_tests::fuzz::{}(", target.name)), "{entry}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
}
