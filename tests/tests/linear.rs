//! The cost of a text grows linearly with its length.
//!
//! For each generator of texts, and each step of opening a file and typing in it, the exponent of time
//! and of memory from 1,000 repetitions to 8,000 is at most 1.2. The exponent is the slope of the
//! least-squares line through the logarithms.
//!
//! Memory is counted and deterministic. Time, which is compared on request only, is the thread's CPU time and
//! the minimum of several attempts, because other processes only make a step slower. A step whose data outgrows a cache can be
//! above the bar although its work is linear; it is below the bar for texts four times as long, unlike a
//! step whose work is not linear.
//!
//! The requests of the protocol are sent to a server, once each, which must answer, and only their time is
//! measured.
//!
//! `cargo bench --profile release --workspace --bench growth -- NAME NAME` measures the named generators, or all of them, and prints
//! every step; it sets the variable `RELAY_LINEAR` to `NAME;NAME` or `all`. Without
//! the variable the texts are shorter, times are not compared, and requests are sent about a few texts.

use std::{fmt::Write, time::Duration};

use cap::Cap;
use cpu_time::ThreadTime;
use mimalloc::MiMalloc;
use parking_lot::Mutex;
use relay_tests::{
    asking,
    figures::{self, WATCHDOG},
    generators::{self, Generator},
    notes::note,
    opening::{HEAVY_STEPS, OpenFile, STEPS, Step},
};
use semantics::{Severity, check_file};

/// The allocator of the server: the system's allocator slows down with its size.
#[global_allocator]
static ALLOCATOR: Cap<MiMalloc> = Cap::new(MiMalloc, usize::MAX);

/// The bars of a run.
#[derive(Clone, Copy)]
struct Bars {
    /// The largest exponent of time, if times are compared.
    time: Option<f64>,
    /// The largest exponent of memory.
    memory: f64,
    /// The memory for the longest text below which the exponent is ignored, in bytes.
    least_memory: usize,
}

/// The bars for texts of the full sizes.
const FULL: Bars = Bars { time: Some(1.2), memory: 1.2, least_memory: 1 << 20 };

/// The bars for shorter texts: times depend on the machine and what else it does, allocated bytes do not.
const SHORT: Bars = Bars { time: None, memory: 1.2, least_memory: 4 << 20 };

/// The numbers of repetitions.
const SIZES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
/// The numbers of repetitions for steps with several full checks.
const HEAVY_SIZES: [usize; 4] = [250, 500, 1_000, 2_000];
/// The numbers of repetitions for requests. A server takes a millisecond for most of them.
const REQUEST_SIZES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
/// The texts about which requests are sent by default: a long function, many functions, and a long header.
const REQUESTED: [&str; 3] = ["graph bindings", "definitions", "parameters without types"];
/// The largest number of measurements of a time.
const ATTEMPTS: usize = 4;
/// The time for the longest text below which a step is ignored, as too short to be measured.
const LEAST_TIME: Duration = Duration::from_millis(8);
/// The time limit of a step for the longest text, since linear growth can be too steep.
const MAX_TIME: Duration = WATCHDOG;
/// The limit on the memory that is held after opening a text.
const MAX_HELD: usize = 1 << 30;

/// The costs of the steps of one text.
#[derive(Clone)]
struct Costs {
    times: Vec<Duration>,
    /// Bytes that were allocated, including freed ones.
    allocated: Vec<usize>,
    /// Bytes that are held after opening.
    live: usize,
}

/// What is measured of texts.
#[derive(Clone, Copy)]
enum Measured {
    /// The steps of an analysis, and closing the file.
    Steps(&'static str, &'static [Step]),
    /// The requests of the protocol.
    Requests,
}

impl Measured {
    fn name(self) -> &'static str {
        match self {
            Measured::Steps(name, _) => name,
            Measured::Requests => "requests",
        }
    }

    /// Returns the costs of the text with `n` repetitions, and the names of what has these costs.
    fn of(self, generator: &Generator, n: usize) -> (Vec<&'static str>, Costs) {
        match self {
            Measured::Steps(_, steps) => {
                let names = steps.iter().map(|step| step.name).chain(["closing"]);
                (names.collect(), measure(generator, steps, n))
            }
            Measured::Requests => {
                let times = asking::times(&(generator.text)(n)).unwrap_or_default();
                let (names, times): (Vec<_>, Vec<_>) = times.into_iter().unzip();
                let allocated = vec![0; times.len()];
                (names, Costs { times, allocated, live: 0 })
            }
        }
    }
}

fn measure(generator: &Generator, steps: &[Step], n: usize) -> Costs {
    let before = ALLOCATOR.allocated();
    let mut opened = OpenFile::new((generator.text)(n));
    let mut costs = Costs { times: Vec::new(), allocated: Vec::new(), live: 0 };
    let mut add = |run: &mut dyn FnMut()| {
        let allocated = ALLOCATOR.total_allocated();
        let start = ThreadTime::now();
        run();
        costs.times.push(start.elapsed());
        costs.allocated.push(ALLOCATOR.total_allocated() - allocated);
    };
    for step in steps {
        add(&mut || opened.run(step));
        if step.name == "types" {
            costs.live = ALLOCATOR.allocated().saturating_sub(before);
        }
    }
    let mut opened = Some(opened);
    add(&mut || drop(opened.take()));
    costs
}

/// Returns the exponent of costs at `sizes`.
fn exponent(sizes: &[usize], costs: impl Iterator<Item = f64>) -> f64 {
    let points: Vec<(f64, f64)> =
        sizes.iter().zip(costs).map(|(n, cost)| ((*n as f64).ln(), cost.max(1e-9).ln())).collect();
    let count = points.len() as f64;
    let mean = |values: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(values).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    covariance / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

/// Describes the measurements above the bar.
fn above_the_bar(
    generator: &Generator,
    measured: Measured,
    sizes: &[usize],
    bars: Bars,
) -> Vec<String> {
    let verbose = is_asked();
    // Initialise lazy tables.
    measured.of(generator, 10);
    let above = attempts(generator, measured, sizes, bars, verbose);
    if above.is_empty() {
        return Vec::new();
    }
    let longer: Vec<usize> = sizes.iter().map(|n| n * 4).collect();
    let still = attempts(generator, measured, &longer, bars, verbose);
    let is_same = |one: &Above| above.iter().any(|above| above.about == one.about);
    let both = still.iter().filter(|still| still.about == ENDLESS || is_same(still));
    both.map(|one| format!("{} of {} {}", one.about.1, one.about.0, one.message)).collect()
}

/// The name of the measurement of a text that exceeds [`MAX_TIME`] or [`MAX_HELD`].
const ENDLESS: (&str, &str) = ("one step", "cost");

/// A step that is above the bar.
struct Above {
    /// The step, and the measurement.
    about: (&'static str, &'static str),
    message: String,
}

/// Measures until nothing is above the bar, at most [`ATTEMPTS`] times.
fn attempts(
    generator: &Generator,
    measured: Measured,
    sizes: &[usize],
    bars: Bars,
    verbose: bool,
) -> Vec<Above> {
    let mut names: Vec<&'static str> = Vec::new();
    let mut best: Vec<Costs> = Vec::new();
    for attempt in 1.. {
        for (at, &n) in sizes.iter().enumerate() {
            let (own, costs) = measured.of(generator, n);
            assert!(names.is_empty() || names == own, "{}: {names:?}, {own:?}", generator.name);
            names = own;
            let longest = costs.times.iter().max().copied().unwrap_or_default();
            if longest > MAX_TIME || costs.live > MAX_HELD {
                let held = costs.live / 1000;
                let message = format!("takes {longest:?} and {held} kB for {n} repetitions");
                return vec![Above { about: ENDLESS, message }];
            }
            match best.get_mut(at) {
                Some(known) => {
                    let both = known.times.iter_mut().zip(&costs.times);
                    both.for_each(|(known, time)| *known = (*known).min(*time));
                    let both = known.allocated.iter_mut().zip(&costs.allocated);
                    both.for_each(|(known, bytes)| *known = (*known).min(*bytes));
                }
                None => best.push(costs),
            }
        }
        let found = judge(&names, sizes, &best, bars);
        if verbose && (found.is_empty() || attempt == ATTEMPTS) {
            let text = format!("{}, {}", generator.name, measured.name());
            print(&text, &names, sizes, &best);
        }
        if found.is_empty() || attempt == ATTEMPTS {
            return found;
        }
    }
    Vec::new()
}

/// Returns the exponents of the time and of the memory of a step.
fn exponents(at: usize, sizes: &[usize], best: &[Costs]) -> (f64, f64) {
    let time = best.iter().map(|costs| costs.times[at].as_secs_f64());
    let memory = best.iter().map(|costs| costs.allocated[at] as f64);
    (exponent(sizes, time), exponent(sizes, memory))
}

fn judge(names: &[&'static str], sizes: &[usize], best: &[Costs], bars: Bars) -> Vec<Above> {
    let mut found = Vec::new();
    let last = best.last().expect("sizes");
    for (at, &name) in names.iter().enumerate() {
        let (time, memory) = exponents(at, sizes, best);
        let (spent, bytes) = (last.times[at], last.allocated[at]);
        if spent > LEAST_TIME && bars.time.is_some_and(|bar| time > bar) {
            let message = format!("exponent {time:.2}, {spent:?} for the longest text");
            found.push(Above { about: (name, "time"), message });
        }
        if bytes > bars.least_memory && memory > bars.memory {
            let message = format!("exponent {memory:.2}, {bytes} bytes for the longest text");
            found.push(Above { about: (name, "memory"), message });
        }
    }
    let live = exponent(sizes, best.iter().map(|costs| costs.live as f64));
    if last.live > bars.least_memory && live > bars.memory {
        let message = format!("exponent {live:.2}, {} bytes for the longest text", last.live);
        found.push(Above { about: ("held", "memory"), message });
    }
    found
}

fn print(text: &str, names: &[&str], sizes: &[usize], best: &[Costs]) {
    let last = best.last().expect("sizes");
    for (at, name) in names.iter().enumerate() {
        let (time, memory) = exponents(at, sizes, best);
        let (spent, kilobytes) = (last.times[at], last.allocated[at] / 1000);
        let costs = format!("time {time:.2}, {spent:.3?}; memory {memory:.2}, {kilobytes} kB");
        figures::print(&format!("{text}: {name}"), &costs);
    }
    let held = format!("{} kB, from {} to {}", last.live / 1000, sizes[0], sizes[sizes.len() - 1]);
    figures::print(&format!("{text}: held"), &held);
}

/// Runs on a stack of 2 MiB, the default of threads, and one test at a time, because memory is counted
/// for all threads together.
fn alone_on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
    assert!(thread.join().is_ok());
}

/// A generator, and the numbers of repetitions.
type SizedGenerator = (Generator, Vec<usize>);

fn is_asked() -> bool {
    std::env::var_os("RELAY_LINEAR").is_some()
}

/// Returns the generators in `RELAY_LINEAR`, or all.
fn wanted() -> impl Iterator<Item = Generator> {
    let only = std::env::var("RELAY_LINEAR").unwrap_or_else(|_| "all".into());
    generators::all()
        .filter(move |found| only == "all" || only.split(';').any(|only| only == found.name))
}

/// Returns the generators in `RELAY_LINEAR` at the full sizes, if it is set. Otherwise returns all at a quarter
/// of two of the sizes, and cheap constructs at a sixteenth, so that the test takes half a minute instead of half
/// an hour: allocated bytes hardly vary, so that two sizes determine their exponent.
fn at(sizes: [usize; 4]) -> Vec<SizedGenerator> {
    let of = |generator: &Generator| match (is_asked(), generator.bulk) {
        (true, _) => sizes.to_vec(),
        (false, true) => vec![sizes[0] / 16, sizes[2] / 16],
        (false, false) => vec![sizes[0] / 4, sizes[2] / 4],
    };
    wanted().map(|generator| (generator, of(&generator))).collect()
}

fn check(measured: Measured, texts: Vec<SizedGenerator>) {
    let bars = if is_asked() { FULL } else { SHORT };
    assert!(!texts.is_empty(), "RELAY_LINEAR names no generator");
    note(&format!("measures {} generators of texts (RELAY_LINEAR); takes minutes", texts.len()));
    alone_on_a_small_stack(move || {
        let mut found = String::new();
        for (generator, sizes) in texts {
            if is_asked() {
                println!("{}", generator.name);
            }
            let begin = std::time::Instant::now();
            for above in above_the_bar(&generator, measured, &sizes, bars) {
                let _ = writeln!(found, "{}: {above}", generator.name);
            }
            println!("{} took {:?}", generator.name, begin.elapsed());
        }
        assert!(found.is_empty(), "above the bar:\n{found}");
    });
}

#[test]
fn opening_and_typing_are_linear() {
    check(Measured::Steps("steps", STEPS), at(SIZES));
}

#[test]
fn whole_file_actions_are_linear() {
    check(Measured::Steps("actions", HEAVY_STEPS), at(HEAVY_SIZES));
}

#[test]
fn requests_are_linear() {
    if is_asked() {
        let texts = wanted().map(|generator| (generator, REQUEST_SIZES.to_vec())).collect();
        return check(Measured::Requests, texts);
    }
    // Only the answers are the same on every machine.
    alone_on_a_small_stack(|| {
        for generator in wanted().filter(|found| REQUESTED.contains(&found.name)) {
            asking::times(&(generator.text)(REQUEST_SIZES[0]));
        }
    });
}

/// Texts of `clean` generators must have no errors, as otherwise they measure something else.
#[test]
fn clean_generators_have_no_errors() {
    alone_on_a_small_stack(assert_clean_generators_have_no_errors);
}

fn assert_clean_generators_have_no_errors() {
    for generator in generators::all().filter(|generator| generator.clean) {
        for n in [1, 2, 30] {
            let text = (generator.text)(n);
            let mut opened = OpenFile::new(text.clone());
            opened.run(&STEPS[0]);
            let file = opened.file.expect("it is open");
            let found = check_file(&opened.db, file);
            let error = found.iter().find(|found| found.severity == Severity::Error);
            assert!(error.is_none(), "{} of {n}: {error:?}\n{text}", generator.name);
        }
    }
}

#[test]
fn exponent_of_a_power_law_is_its_power() {
    let sizes = [1_000, 2_000, 4_000, 8_000];
    for power in [0.0, 1.0, 1.5, 2.0] {
        let costs = sizes.iter().map(|&n| 3.0 * (n as f64).powf(power));
        assert!((exponent(&sizes, costs) - power).abs() < 1e-9);
    }
}
