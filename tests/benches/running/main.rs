//! Wall-clock times of running networks and programs; the interpreter uses every core.
//!
//! The networks are those of the conformance corpus, with random weights, and those that
//! `onnx_runtime.py` writes, compared with ONNX Runtime. `cargo bench --bench running -- onnx` runs only
//! the latter.

mod compare;

use std::{
    hint::black_box,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use interpreter::{Machine, Tensor, Value};
use relay_tests::{client::binary, corpus};
use semantics::{Database, View, all_defs};
use syntax::ParseLimits;
use types::Type;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NETWORKS: [&str; 4] = ["resnet18", "resnet50", "mobilenet", "bert-base"];

const FOLD: &str = "\
def @build(%n: int32, %list: List[int32]) -> List[int32] {
  if (%n == 0) { %list } else { @build(%n - 1, Cons(%n, %list)) }
}
def @add(%a: int32, %b: int32) -> int32 { %a + %b }
def @main(%list: List[int32]) -> int32 { @foldl(@add, 0, %list) }
def @list() -> List[int32] { @build(1000000, Nil) }
";

/// Single calls that take long.
const CALLS: [(&str, &str); 6] = [
    (
        "dense, 2048 wide",
        "def @main(%x: Tensor[(2048, 2048), float32], %y: Tensor[(2048, 2048), float32]) {
           nn.dense(%x, %y, units=2048)
         }",
    ),
    (
        "dense, one row",
        "def @main(%x: Tensor[(1, 8192), float32], %y: Tensor[(65536, 8192), float32]) {
           nn.dense(%x, %y, units=65536)
         }",
    ),
    (
        "dense, float64",
        "def @main(%x: Tensor[(1536, 1536), float64], %y: Tensor[(1536, 1536), float64]) {
           nn.dense(%x, %y, units=1536)
         }",
    ),
    (
        "conv2d, 3 by 3",
        "def @main(%x: Tensor[(2, 256, 112, 112), float32], %y: Tensor[(256, 256, 3, 3), float32]) {
           nn.conv2d(%x, %y, padding=[1, 1], channels=256, kernel_size=[3, 3])
         }",
    ),
    (
        "softmax",
        "def @main(%x: Tensor[(16000, 4000), float32], %y: int32) { nn.softmax(%x) }",
    ),
    ("sort", "def @main(%x: Tensor[(4000000), float32], %y: int32) { sort(%x) }"),
];

/// Runs `@main` of a text to its end, then cancels it several times in the middle.
fn call(name: &str, text: &str) {
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let Some(args) = arguments(&db, file) else { return };
    let Some(def) = all_defs(&db, file).next() else { return };
    let run = |flag: Arc<AtomicBool>| {
        Machine::new(&db).cancelled_by(flag).run(def, args.clone(), None).map(black_box).is_ok()
    };
    let mut whole: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            assert!(run(Arc::default()), "{name} does not run");
            start.elapsed()
        })
        .collect();
    whole.sort_unstable();
    let sleeper = Sleeper::start();
    let mut after: Vec<Duration> = (1..=9u32)
        .filter_map(|tenth| {
            let flag = Arc::new(AtomicBool::new(false));
            let pause = whole[0] * tenth / 10;
            let stop = thread::spawn({
                let flag = flag.clone();
                move || {
                    thread::sleep(pause);
                    flag.store(true, Ordering::Relaxed);
                    Instant::now()
                }
            });
            let done = run(flag);
            let end = Instant::now();
            let stopped = stop.join().ok()?;
            (!done).then(|| end.saturating_duration_since(stopped))
        })
        .collect();
    let late = sleeper.worst();
    after.sort_unstable();
    match (after.get(after.len() / 2), after.last()) {
        (Some(&median), Some(&worst)) => println!(
            "{name:24} {:>8.0} {:>8.1} {:>8.1} {:>8.1}",
            ms(whole[2]),
            ms(median),
            ms(worst),
            ms(late)
        ),
        _ => println!("{name:24} {:>8.0} too short to cancel", ms(whole[2])),
    }
}

/// A thread that only sleeps for a millisecond at a time: its wake-up delay is the latency that the
/// machine adds to all measurements.
struct Sleeper {
    done: Arc<AtomicBool>,
    worst: thread::JoinHandle<Duration>,
}

impl Sleeper {
    fn start() -> Sleeper {
        const NAP: Duration = Duration::from_millis(1);
        let done = Arc::new(AtomicBool::new(false));
        let worst = thread::spawn({
            let done = done.clone();
            move || {
                let mut worst = Duration::ZERO;
                while !done.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    thread::sleep(NAP);
                    worst = worst.max(start.elapsed().saturating_sub(NAP));
                }
                worst
            }
        });
        Sleeper { done, worst }
    }

    fn worst(self) -> Duration {
        self.done.store(true, Ordering::Relaxed);
        self.worst.join().unwrap_or_default()
    }
}

/// Measures writing a byte to each page of 500 MB of fresh memory, the cost of allocating the weights of
/// a BERT. An idle virtual machine has to acquire these pages from its host.
fn pages() -> Duration {
    let start = Instant::now();
    let mut bytes = vec![0u8; 500_000_000];
    bytes.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
    black_box(&bytes);
    start.elapsed()
}

fn main() {
    if std::env::args().any(|arg| arg == "onnx") {
        return compare::compare();
    }
    let models = corpus::models().unwrap_or_else(|| {
        println!("there is no conformance corpus: no networks");
        Vec::new()
    });
    // Built in advance, as that takes longer than the measurements.
    binary();
    println!("\n{:.0} ms for 500 MB of untouched pages", ms(pages()));
    println!("\nnetworks: milliseconds until the result");
    println!("{:24} {:>8} {:>8} {:>8}", "", "first", "again", "process");
    for name in NETWORKS {
        let file = format!("{name}.relay");
        if let Some((_, text)) = models.iter().find(|(model, _)| *model == file) {
            network(name, text);
        }
    }
    compare::compare();
    println!("\nsingle calls: milliseconds, and the delay of a cancellation");
    println!("(late: the largest wake-up delay of a sleeping thread meanwhile)");
    println!("{:24} {:>8} {:>8} {:>8} {:>8}", "", "whole", "median", "worst", "late");
    for (name, text) in CALLS {
        call(name, text);
    }
    println!("\nprograms: milliseconds");
    println!("{:24} {:>8.0}", "@foldl over 1,000,000", fold().as_secs_f64() * 1e3);
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Checks, compiles and runs a network; runs it again; runs it with the command line.
fn network(name: &str, text: &str) {
    // First, before this process occupies memory that the child needs.
    let process = process(name).map_or(f64::NAN, ms);
    let db = Database::new();
    let file = db.add_file(text, ParseLimits::default());
    let args = {
        let other = Database::new();
        let file = other.add_file(text, ParseLimits::default());
        let Some(args) = arguments(&other, file) else { return };
        args
    };
    let start = Instant::now();
    let Some(def) = all_defs(&db, file).find(|def| def.name(&db) == "@main") else { return };
    let mut machine = Machine::new(&db);
    let first = machine.run(def, args.clone(), None);
    let first = (start.elapsed(), first.map(black_box).is_ok());
    let mut again: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            black_box(machine.run(def, args.clone(), None).is_ok());
            start.elapsed()
        })
        .collect();
    again.sort_unstable();
    assert!(first.1, "{name} does not run");
    println!("{name:24} {:>8.0} {:>8.0} {process:>8.0}", ms(first.0), ms(again[2]));
}

/// Measures a whole process with random weights.
fn process(name: &str) -> Option<Duration> {
    let path = corpus::conformance()?.join("models").join(format!("{name}.relay"));
    let start = Instant::now();
    let mut command = Command::new(binary());
    command.arg("run").arg(path).args(["--random", "0"]).stdout(Stdio::null());
    command.status().ok()?.success().then(|| start.elapsed())
}

/// Returns random numbers around 0 for every parameter of `@main`.
fn arguments(db: &Database, file: semantics::SourceFile) -> Option<Vec<Value>> {
    let def = all_defs(db, file).find(|def| def.name(db) == "@main")?;
    let view = View::new(db, def)?;
    let Some(Type::Func(function)) = &view.inference.signature else { return None };
    let mut rng = fastrand::Rng::with_seed(0);
    let tensor = |ty: &Type| {
        let tensor = ty.as_tensor()?;
        let sizes = tensor.shape.iter().map(|dim| usize::try_from(dim.as_known()?).ok());
        let shape: Vec<usize> = sizes.collect::<Option<_>>()?;
        let count = shape.iter().product();
        let numbers =
            (0..count).map(|_| if tensor.dtype.is_float() { rng.f64() - 0.5 } else { 1.0 });
        Tensor::from_f64s(tensor.dtype, &shape, numbers.collect()).map(Value::from)
    };
    function.params().iter().map(tensor).collect()
}

/// Measures a fold over a list of a million numbers, without the creation of the list.
fn fold() -> Duration {
    let db = Database::new();
    let file = db.add_file(FOLD, ParseLimits::default());
    let find = |name: &str| all_defs(&db, file).find(|def| def.name(&db) == name);
    let (Some(list), Some(main)) = (find("@list"), find("@main")) else { return Duration::ZERO };
    let mut machine = Machine::new(&db);
    let mut times: Vec<Duration> = (0..3)
        .map(|_| {
            let list = machine.run(list, Vec::new(), None);
            let list = list.unwrap_or_else(|fault| panic!("{}", fault.message));
            let start = Instant::now();
            black_box(machine.run(main, vec![list], None).is_ok());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[1]
}
