//! What a text costs grows with its length, and no faster.
//!
//! For each generator of texts, and each step of what opening a file and typing in it does: the
//! exponent of time and of memory from 1,000 repetitions to 8,000 is at most 1.2. The exponent is
//! the slope of the least-squares line through the logarithms.
//!
//! Memory is counted, and is the same in every run. Time is that of the thread's CPU, and the least
//! of several attempts: what else the machine does only ever makes a step slower. A step whose data
//! outgrows a cache on the way is above the bar without doing more than linear work, which shows in
//! texts four times as long; a step that does more is above it there as well.
//!
//! `RELAY_LINEAR=name cargo test --workspace --test linear -- --nocapture` runs one generator and
//! prints every step; `RELAY_LINEAR='name;name'` several; `RELAY_LINEAR=all`, all of them. Without
//! the variable the texts are shorter, and the bar for time is higher.

use std::{fmt::Write, time::Duration};

use cap::Cap;
use cpu_time::ThreadTime;
use relay_tests::{
    generators::{self, Generator},
    opening::{HEAVY_STEPS, Opened, STEPS, Step},
};
use semantics::{Severity, check_file};

/// Allocates as the server does: the system's allocator takes longer the more it holds.
#[cfg(not(target_env = "msvc"))]
type Allocator = tikv_jemallocator::Jemalloc;
#[cfg(not(target_env = "msvc"))]
const SYSTEM: Allocator = tikv_jemallocator::Jemalloc;
#[cfg(target_env = "msvc")]
type Allocator = std::alloc::System;
#[cfg(target_env = "msvc")]
const SYSTEM: Allocator = std::alloc::System;

#[global_allocator]
static ALLOCATOR: Cap<Allocator> = Cap::new(SYSTEM, usize::MAX);

/// The bars of a run.
#[derive(Clone, Copy)]
struct Bars {
    /// The greatest exponent of time.
    time: f64,
    /// The greatest exponent of memory.
    memory: f64,
    /// What takes less memory than this for the longest text is not judged, in bytes.
    least_memory: usize,
}

/// What is demanded of texts of the full sizes.
const FULL: Bars = Bars { time: 1.2, memory: 1.2, least_memory: 1 << 20 };

/// What is demanded of shorter texts, in a run beside other tests: times are a few milliseconds, and
/// a cache that a text outgrows shows more than in a long one. Anything quadratic is above these.
const SHORT: Bars = Bars { time: 1.5, memory: 1.2, least_memory: 8 << 20 };

/// The numbers of repetitions.
const SIZES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];
/// What makes several whole checks is measured on shorter texts.
const HEAVY_SIZES: [usize; 4] = [250, 500, 1_000, 2_000];
/// How often a time is measured at most.
const ATTEMPTS: usize = 4;
/// What takes less than this for the longest text is not worth a measurement, and too short for
/// one.
const LEAST_TIME: Duration = Duration::from_millis(8);
/// No step may take longer than this for the longest text: a line can be linear and too steep.
const MOST_TIME: Duration = Duration::from_secs(10);
/// Nor may so much be held after opening a text: the machine has to go on.
const MOST_HELD: usize = 1 << 30;

/// The costs of the steps of one text.
#[derive(Clone)]
struct Costs {
    times: Vec<Duration>,
    /// Bytes that were allocated, whether they were given back or not.
    allocated: Vec<usize>,
    /// Bytes that are held after everything that opening does.
    live: usize,
}

/// The names of what is measured of `steps`, in the order of [`Costs`].
fn names(steps: &[Step]) -> Vec<&'static str> {
    steps.iter().map(|step| step.name).chain(["closing"]).collect()
}

fn measure(generator: &Generator, steps: &[Step], n: usize) -> Costs {
    let before = ALLOCATOR.allocated();
    let mut opened = Opened::new((generator.text)(n));
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

/// The exponent of costs at `sizes`.
fn exponent(sizes: &[usize], costs: impl Iterator<Item = f64>) -> f64 {
    let points: Vec<(f64, f64)> =
        sizes.iter().zip(costs).map(|(n, cost)| ((*n as f64).ln(), cost.max(1e-9).ln())).collect();
    let count = points.len() as f64;
    let mean = |values: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(values).sum::<f64>() / count;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    covariance / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}

/// The measurements above the bar, in words.
fn above_the_bar(
    generator: &Generator,
    steps: &[Step],
    sizes: &[usize],
    bars: Bars,
) -> Vec<String> {
    let verbose = std::env::var_os("RELAY_LINEAR").is_some();
    // Tables that are made once are made.
    measure(generator, steps, 10);
    let above = attempts(generator, steps, sizes, bars, verbose);
    if above.is_empty() {
        return Vec::new();
    }
    let longer: Vec<usize> = sizes.iter().map(|n| n * 4).collect();
    let still = attempts(generator, steps, &longer, bars, verbose);
    let is_same = |one: &Above| above.iter().any(|above| above.about == one.about);
    let both = still.iter().filter(|still| still.about == ENDLESS || is_same(still));
    both.map(|one| format!("{} of {} {}", one.about.1, one.about.0, one.message)).collect()
}

/// What is said of a text that takes longer than [`MOST_TIME`], or more than [`MOST_HELD`].
const ENDLESS: (&str, &str) = ("one step", "cost");

/// A step that is above the bar.
struct Above {
    /// The step, and what of it.
    about: (&'static str, &'static str),
    message: String,
}

/// Measures until nothing is above the bar, or for the last time.
fn attempts(
    generator: &Generator,
    steps: &[Step],
    sizes: &[usize],
    bars: Bars,
    verbose: bool,
) -> Vec<Above> {
    let mut best: Vec<Costs> = Vec::new();
    for attempt in 1.. {
        for (at, &n) in sizes.iter().enumerate() {
            let costs = measure(generator, steps, n);
            let longest = costs.times.iter().max().copied().unwrap_or_default();
            if longest > MOST_TIME || costs.live > MOST_HELD {
                let held = costs.live / 1000;
                let message = format!("takes {longest:?} and {held} kB for {n} repetitions");
                return vec![Above { about: ENDLESS, message }];
            }
            match best.get_mut(at) {
                Some(known) => {
                    let both = known.times.iter_mut().zip(&costs.times);
                    both.for_each(|(known, time)| *known = (*known).min(*time));
                }
                None => best.push(costs),
            }
        }
        let found = judge(&names(steps), sizes, &best, bars);
        if verbose && (found.is_empty() || attempt == ATTEMPTS) {
            print(&names(steps), sizes, &best);
        }
        if found.is_empty() || attempt == ATTEMPTS {
            return found;
        }
    }
    Vec::new()
}

/// The exponents of the time and of the memory of a step.
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
        if spent > LEAST_TIME && time > bars.time {
            let message = format!("to the {time:.2}, {spent:?} at the end");
            found.push(Above { about: (name, "time"), message });
        }
        if bytes > bars.least_memory && memory > bars.memory {
            let message = format!("to the {memory:.2}, {bytes} bytes at the end");
            found.push(Above { about: (name, "memory"), message });
        }
    }
    let live = exponent(sizes, best.iter().map(|costs| costs.live as f64));
    if last.live > bars.least_memory && live > bars.memory {
        let message = format!("to the {live:.2}, {} bytes at the end", last.live);
        found.push(Above { about: ("held", "memory"), message });
    }
    found
}

fn print(names: &[&str], sizes: &[usize], best: &[Costs]) {
    let last = best.last().expect("sizes");
    for (at, name) in names.iter().enumerate() {
        let (time, memory) = exponents(at, sizes, best);
        let (spent, kilobytes) = (last.times[at], last.allocated[at] / 1000);
        println!("  {name:22} {time:>5.2} {spent:>10.3?} {memory:>6.2} {kilobytes:>9} kB");
    }
    println!("  {:22} {:>34} kB, from {} to {}", "held", last.live / 1000, sizes[0], sizes[3]);
}

/// Runs on a stack of 2 MiB, which is what threads have that nobody asked for more, and one test at
/// a time: memory is counted for all threads together.
fn alone_on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).expect("a thread");
    assert!(thread.join().is_ok());
}

/// The generators that are wanted.
fn wanted() -> Vec<Generator> {
    let only = std::env::var("RELAY_LINEAR").unwrap_or_else(|_| "all".into());
    let is_wanted = |name| only == "all" || only.split(';').any(|only| only == name);
    generators::all().filter(|generator| is_wanted(generator.name)).collect()
}

/// Checks all wanted generators at the full sizes if they are asked for by `RELAY_LINEAR`. Otherwise at
/// a quarter of the sizes, and those of bulk at a sixteenth, so that the test takes minutes and not
/// half an hour.
fn check(steps: &'static [Step], sizes: [usize; 4]) {
    let is_asked = std::env::var_os("RELAY_LINEAR").is_some();
    alone_on_a_small_stack(move || {
        let mut found = String::new();
        for generator in wanted() {
            if std::env::var_os("RELAY_LINEAR").is_some() {
                println!("{}", generator.name);
            }
            let shorter = match (is_asked, generator.bulk) {
                (true, _) => 1,
                (false, true) => 16,
                (false, false) => 4,
            };
            let sizes = sizes.map(|n| n / shorter);
            let begin = std::time::Instant::now();
            for above in
                above_the_bar(&generator, steps, &sizes, if is_asked { FULL } else { SHORT })
            {
                let _ = writeln!(found, "{}: {above}", generator.name);
            }
            println!("{} took {:?}", generator.name, begin.elapsed());
        }
        assert!(found.is_empty(), "above the bar:\n{found}");
    });
}

#[test]
fn opening_a_file_and_typing_in_it_is_linear() {
    check(STEPS, SIZES);
}

#[test]
fn changes_of_a_whole_file_are_linear() {
    check(HEAVY_STEPS, HEAVY_SIZES);
}

/// A text that was meant to be correct measures something else when it is not.
#[test]
fn texts_that_are_meant_to_be_correct_are() {
    for generator in generators::all().filter(|generator| generator.clean) {
        for n in [1, 2, 30] {
            let text = (generator.text)(n);
            let mut opened = Opened::new(text.clone());
            opened.run(&STEPS[0]);
            let file = opened.file.expect("it is open");
            let found = check_file(&opened.db, file);
            let error = found.iter().find(|found| found.severity == Severity::Error);
            assert!(error.is_none(), "{} of {n}: {error:?}\n{text}", generator.name);
        }
    }
}

#[test]
fn the_exponent_of_a_power_is_that_power() {
    let sizes = [1_000, 2_000, 4_000, 8_000];
    for power in [0.0, 1.0, 1.5, 2.0] {
        let costs = sizes.iter().map(|&n| 3.0 * (n as f64).powf(power));
        assert!((exponent(&sizes, costs) - power).abs() < 1e-9);
    }
}
