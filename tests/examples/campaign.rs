//! Runs fuzz targets on inputs derived from the texts of this repository.
//!
//! ```text
//! cargo run -p relay-tests --example campaign -- --target check --inputs 100000
//! ```
//!
//! | option | |
//! |---|---|
//! | `--target NAME` | a target, or `all` (the default) |
//! | `--inputs N` | inputs for each target; 10,000 by default |
//! | `--seed S` | the seed of the inputs, each of which depends only on the seed and its number |
//! | `--out DIR` | the folder for failing inputs; `target/campaign` by default |
//! | `--replay FILE` | runs the target on one input |
//! | `--minimise FILE` | minimises a failing input, and prints it |
//! | `--corpus DIR` | writes the seeds of every target for `cargo fuzz`, and exits |
//!
//! A separate worker process with at most 1 GB of memory runs the inputs of a target. If it dies or stops
//! reporting, its current input is a failure, and a new worker continues after it. Failures are minimised
//! and kept, one for each code location. Several campaigns with different seeds may run at once, also
//! with the same folder.

use std::{
    alloc::System,
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Seek, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use cap::Cap;
use relay_tests::fuzz::{
    Failure, Kind, MAX_MEMORY, Mutator, STACK, Seeds, TARGETS, Target, end_session, minimise,
};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, MAX_MEMORY);

/// The time without a report after which a worker is stopped, much longer than the limit of an input,
/// because the machine may be busy.
const SILENCE: Duration = Duration::from_secs(30);
/// The interval at which a worker reports its progress.
const NEWS: Duration = Duration::from_secs(1);
/// The time limit of a single input, to detect hangs.
const ALONE: Duration = Duration::from_secs(10);

struct Options {
    targets: Vec<Target>,
    inputs: u64,
    seed: u64,
    out: PathBuf,
    replay: Option<PathBuf>,
    minimise: Option<PathBuf>,
    corpus: Option<PathBuf>,
    /// The first input of a worker; the others are those of its parent.
    worker: Option<u64>,
    /// The signatures of known failures.
    known: HashSet<String>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        targets: TARGETS.to_vec(),
        inputs: 10_000,
        seed: 0,
        out: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/campaign")),
        replay: None,
        minimise: None,
        corpus: None,
        worker: None,
        known: HashSet::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(option) = args.next() {
        let value = args.next().ok_or_else(|| format!("a value follows `{option}`"))?;
        let number = || value.replace('_', "").parse().map_err(|_| format!("{value}: no number"));
        match option.as_str() {
            "--target" if value == "all" => {}
            "--target" => {
                let names = || TARGETS.iter().map(|target| target.name).collect::<Vec<_>>();
                let target = Target::named(&value);
                options.targets = vec![target.ok_or_else(|| format!("targets: {:?}", names()))?];
            }
            "--inputs" => options.inputs = number()?,
            "--seed" => options.seed = number()?,
            "--out" => options.out = value.into(),
            "--replay" => options.replay = Some(value.into()),
            "--minimise" => options.minimise = Some(value.into()),
            "--corpus" => options.corpus = Some(value.into()),
            "--worker" => options.worker = Some(number()?),
            "--known" => drop(options.known.insert(value)),
            _ => return Err(format!("there is no option `{option}`; see the head of this file")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the options; returns true if nothing failed.
fn run(options: &Options) -> io::Result<bool> {
    if let Some(folder) = &options.corpus {
        return write_corpus(folder).map(|()| true);
    }
    let one = |path: &Path| Ok::<_, io::Error>((options.targets[0], fs::read(path)?));
    if let Some(path) = &options.replay {
        let (target, input) = one(path)?;
        let failure = on_small_stack(move || attempt(target, &input));
        if let Some(failure) = &failure {
            println!("{}: {}", failure.place, failure.message);
        }
        return Ok(failure.is_none());
    }
    if let Some(path) = &options.minimise {
        let (target, input) = one(path)?;
        let small = smaller_alone(target, &input, options)?;
        io::stdout().write_all(&small)?;
        return Ok(true);
    }
    fs::create_dir_all(&options.out)?;
    if let Some(first) = options.worker {
        let (target, inputs, seed) = (options.targets[0], options.inputs, options.seed);
        let (out, known) = (options.out.clone(), options.known.clone());
        return on_small_stack(move || {
            work(target, seed, first..inputs, &out, known).map(|()| true)
        });
    }
    let mut is_clean = true;
    for target in &options.targets {
        is_clean &= campaign(*target, options)?;
    }
    Ok(is_clean)
}

/// Runs `work` on a stack of the default size of threads.
fn on_small_stack<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Returns the failure of a target on an input. Sessions run on a new server.
fn attempt(target: Target, input: &[u8]) -> Option<Failure> {
    let failure = target.attempt(input).err();
    if target.kind == Kind::Session && failure.is_none() {
        return end(target);
    }
    failure
}

/// Returns the failure of a target at the end of its server.
fn end(target: Target) -> Option<Failure> {
    Target { run: |_| end_session(), ..target }.attempt(&[]).err()
}

fn input_of(seeds: &Seeds, target: Target, seed: u64, number: u64) -> Vec<u8> {
    let seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(number);
    Mutator::new(seeds, seed).input(target.kind)
}

/// Runs inputs in sequence, in a worker process. A file contains the number of the current input and the
/// input.
fn work(
    target: Target,
    seed: u64,
    numbers: std::ops::Range<u64>,
    out: &Path,
    mut known: HashSet<String>,
) -> io::Result<()> {
    let seeds = Seeds::of_repository();
    let mut current = File::create(current_path(out, std::process::id()))?;
    let mut news = Instant::now();
    let say = |line: String| {
        println!("{line}");
        io::stdout().flush()
    };
    for number in numbers.clone() {
        let input = input_of(&seeds, target, seed, number);
        let held = [&number.to_le_bytes()[..], &input].concat();
        current.rewind()?;
        current.write_all(&held)?;
        current.set_len(held.len() as u64)?;
        if news.elapsed() > NEWS {
            say(format!("done {}", number - numbers.start))?;
            news = Instant::now();
        }
        if let Err(failure) = target.attempt(&input) {
            say(format!("failed {}", failure.signature()))?;
            if known.insert(failure.signature()) {
                let fails = |input: &[u8]| {
                    attempt(target, input).is_some_and(|f| f.signature() == failure.signature())
                };
                let small = minimise(&input, target.kind, fails);
                let path = save(out, target, &small, &failure)?;
                say(format!("saved {}", path.display()))?;
            }
        }
    }
    if let Some(failure) = end(target) {
        say(format!("failed {}", failure.signature()))?;
    }
    say(format!("done {}", numbers.end.saturating_sub(numbers.start)))
}

fn current_path(out: &Path, process: u32) -> PathBuf {
    out.join(format!("current-{process}"))
}

/// Saves a failing input, and its failure next to it.
fn save(out: &Path, target: Target, input: &[u8], failure: &Failure) -> io::Result<PathBuf> {
    // FNV: the same input has the same name in every process.
    let hash = input.iter().fold(0xCBF2_9CE4_8422_2325u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    let path = out.join(format!("{}-{hash:016x}", target.name));
    fs::write(&path, input)?;
    fs::write(path.with_extension("why"), format!("{}\n{}\n", failure.place, failure.message))?;
    Ok(path)
}

/// A worker process and its reports.
struct Worker {
    child: Child,
    lines: Receiver<String>,
}

impl Worker {
    fn start(
        target: Target,
        first: u64,
        known: &HashSet<String>,
        options: &Options,
    ) -> io::Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--target", target.name, "--worker", &first.to_string()]);
        command.args([
            "--inputs",
            &options.inputs.to_string(),
            "--seed",
            &options.seed.to_string(),
        ]);
        command.arg("--out").arg(&options.out);
        for known in known {
            command.args(["--known", known]);
        }
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = BufReader::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let (sender, lines) = channel();
        // Ends with the worker.
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Worker { child, lines })
    }
}

/// Runs all inputs of a target; returns true if none failed.
fn campaign(target: Target, options: &Options) -> io::Result<bool> {
    let begin = Instant::now();
    let (mut first, mut failures) = (0, 0u64);
    let mut known = options.known.clone();
    // Each round continues after the input on which the last worker died.
    while first < options.inputs {
        let mut worker = Worker::start(target, first, &known, options)?;
        let mut done = 0;
        // Ends when the worker ends, or does not report for too long.
        while let Ok(line) = worker.lines.recv_timeout(SILENCE) {
            let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match verb {
                "done" => done = rest.parse().unwrap_or(done),
                "failed" => {
                    failures += 1;
                    known.insert(rest.to_owned());
                }
                _ => println!("{}: {line}", target.name),
            }
        }
        // It may have ended.
        let _ = worker.child.kill();
        let status = worker.child.wait()?;
        let path = current_path(&options.out, worker.child.id());
        let current = fs::read(&path)?;
        fs::remove_file(&path)?;
        if status.success() {
            first += done;
            continue;
        }
        let Some((number, input)) = current.split_first_chunk() else {
            return Err(io::Error::other(format!("the worker ends with {status}")));
        };
        failures += 1;
        let failure = Failure { place: "process".to_owned(), message: status.to_string() };
        let small = smaller_alone(target, input, options)?;
        println!(
            "{}: died, saved {}",
            target.name,
            save(&options.out, target, &small, &failure)?.display()
        );
        first = u64::from_le_bytes(*number) + 1;
    }
    let line = format!(
        "{}\tseed {}\t{} inputs\t{failures} failures\t{} kinds\t{:.0} s\n",
        target.name,
        options.seed,
        options.inputs,
        known.len(),
        begin.elapsed().as_secs_f64()
    );
    print!("{line}");
    let counts = options.out.join("counts.tsv");
    OpenOptions::new().create(true).append(true).open(counts)?.write_all(line.as_bytes())?;
    Ok(failures == 0)
}

/// Minimises an input that kills its process, with each attempt in a separate process.
fn smaller_alone(target: Target, input: &[u8], options: &Options) -> io::Result<Vec<u8>> {
    fs::create_dir_all(&options.out)?;
    let path = options.out.join(format!("attempt-{}", std::process::id()));
    let fails = |input: &[u8]| fails_alone(target, input, &path).unwrap_or(false);
    let small = if fails(input) { minimise(input, target.kind, fails) } else { input.to_vec() };
    // It does not exist if it could not be written.
    let _ = fs::remove_file(&path);
    Ok(small)
}

/// Returns true if an input fails in a separate process.
fn fails_alone(target: Target, input: &[u8], path: &Path) -> io::Result<bool> {
    fs::write(path, input)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--target", target.name, "--replay"]).arg(path);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let deadline = Instant::now() + ALONE;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(!status.success());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill()?;
    child.wait()?;
    Ok(true)
}

/// Writes the seeds of every target, one file each.
fn write_corpus(folder: &Path) -> io::Result<()> {
    let seeds = Seeds::of_repository();
    for target in TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in seeds.corpus(target.kind).into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:04}")), seed)?;
        }
    }
    Ok(())
}
