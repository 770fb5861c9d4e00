//! Comparison with ONNX Runtime: the two run alternately, so that variations of the machine affect both.

use std::{
    fs::File,
    hint::black_box,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use arrays::{Archive, FileReader, Source};
use cpu_time::ProcessTime;
use interpreter::{Machine, Value};
use relay_tests::corpus;
use semantics::{Database, all_defs};
use syntax::ParseLimits;

const NETWORKS: [&str; 3] = ["resnet18", "resnet18-v2", "bert-base"];
/// The threads of ONNX Runtime: those of the interpreter's pool on the machines of the published
/// figures.
const THREADS: &str = "2";
/// The number of measured runs, after a warm-up.
const TURNS: usize = 15;
/// The largest relative difference of results: both sum thousands of products in single precision, in
/// different orders.
const TOLERANCE: f64 = 2e-3;

/// Prints the medians of the times of both, and of the ratios of each pair.
pub(crate) fn compare() {
    println!("\nmilliseconds of a run, and of ONNX Runtime on {THREADS} threads");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("onnx-runtime");
    let written = python(["write".as_ref(), folder.as_os_str()]).status();
    if !written.is_ok_and(|status| status.success()) {
        println!("*** SKIPPED: there is no `python3` with onnxruntime, onnx and numpy:");
        println!("*** pip install onnxruntime onnx numpy");
        return;
    }
    println!("(CPU: the same in processor time, which is more reliable on a busy machine)");
    let columns = ["here", "ONNX", "ratio", "CPU", "ONNX", "ratio"];
    println!("{:24}{}", "", columns.map(|column| format!(" {column:>8}")).concat());
    for name in NETWORKS {
        match network(&folder, name) {
            Some([(here, there, ratio), (cpu, other, of_cpu)]) => println!(
                "{name:24} {here:>8.1} {there:>8.1} {ratio:>8.2} {cpu:>8.1} {other:>8.1} {of_cpu:>8.2}"
            ),
            None => println!("{name:24} *** does not run"),
        }
    }
}

fn python<const N: usize>(args: [&std::ffi::OsStr; N]) -> Command {
    let mut command = Command::new("python3");
    command.arg(corpus::here().join("benches/running/onnx_runtime.py")).args(args);
    command
}

/// The medians of both and of the ratio.
type Medians = (f64, f64, f64);

/// The medians of a network: of times, and of processor times.
fn network(folder: &Path, name: &str) -> Option<[Medians; 2]> {
    let text = std::fs::read_to_string(folder.join(format!("{name}.relay"))).ok()?;
    let args = arguments(&folder.join(format!("{name}.npz")))?;
    let db = Database::new();
    let file = db.add_file(&text, ParseLimits::default());
    let def = all_defs(&db, file).find(|def| def.name(&db) == "@main")?;
    let mut machine = Machine::new(&db);
    let mut other = Other::start(folder, name)?;
    let (mut times, mut used) = (Vec::new(), Vec::new());
    for turn in 0..=TURNS {
        let (start, cpu) = (Instant::now(), ProcessTime::now());
        let result = black_box(machine.run(def, args.clone(), None));
        let (took, cpu) = (start.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
        let (other_took, other_cpu, wanted) = other.run()?;
        if turn == 0 {
            let result = result.map_err(|fault| println!("{}", fault.message)).ok()?;
            check(name, &result, &wanted);
            continue;
        }
        times.push((took * 1e3, other_took));
        used.push((cpu * 1e3, other_cpu));
    }
    Some([medians(&times), medians(&used)])
}

fn medians(pairs: &[(f64, f64)]) -> Medians {
    let of = |f: fn(&(f64, f64)) -> f64| median(pairs.iter().map(f).collect());
    (of(|pair| pair.0), of(|pair| pair.1), of(|pair| pair.0 / pair.1))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Panics if the result starts with other numbers.
fn check(name: &str, result: &Value, wanted: &[f64]) {
    let found = result.as_tensor().map(|tensor| tensor.to_f64s()).unwrap_or_default();
    let largest = wanted.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    assert!(found.len() >= wanted.len() && !wanted.is_empty(), "{name}: {} numbers", found.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() <= TOLERANCE * largest, "{name}: {found}, not {wanted}");
    }
}

/// Returns the arrays of an archive in order.
fn arguments(path: &Path) -> Option<Vec<Value>> {
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let archive = Archive::npz(Source::new(FileReader::from(file), length)).ok()?;
    let position = |k: usize| archive.names().iter().position(|name| *name == format!("i{k}"));
    let read = |k| archive.array(position(k)?).ok()?.read().ok().map(Value::from);
    (0..archive.names().len()).map(read).collect()
}

/// A process that runs a network with ONNX Runtime on request.
struct Other {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Other {
    fn start(folder: &Path, name: &str) -> Option<Other> {
        let mut command =
            python(["serve".as_ref(), folder.as_os_str(), name.as_ref(), THREADS.as_ref()]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take()?);
        // It prints its version after a warm-up run.
        output.read_line(&mut String::new()).ok()?;
        Some(Other { process, input, output })
    }

    /// Returns the milliseconds of a run, those of processor time, and the start of its result.
    fn run(&mut self) -> Option<(f64, f64, Vec<f64>)> {
        self.input.as_mut()?.write_all(b"\n").ok()?;
        self.input.as_mut()?.flush().ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        let mut numbers = line.split_whitespace().map_while(|number| number.parse().ok());
        let (milliseconds, used) = (numbers.next()?, numbers.next()?);
        // Lets its threads go to sleep.
        std::thread::sleep(Duration::from_millis(5));
        Some((milliseconds, used, numbers.collect()))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // The process ends with its input.
        self.input = None;
        let _ = self.process.wait();
    }
}
