//! Figures that depend on the machine and on what else it does: times, and resident memory.
//!
//! A test prints such a figure. It is compared with its bar only in the benches, which run the tests on an idle
//! machine and print each figure beside that of their last run there:
//!
//! ```sh
//! cargo bench --profile release --workspace --bench latency
//! cargo bench --profile release --workspace --bench memory
//! cargo bench --profile release --workspace --bench growth -- 'graph bindings'
//! ```
//!
//! Otherwise, a test asserts only what is the same on every machine: answers, counts, and allocated bytes. A test
//! that waits for something uses [`WATCHDOG`].

use std::{fmt::Debug, time::Duration};

/// The limit of a wait that has no end only because of a defect.
pub const WATCHDOG: Duration = Duration::from_secs(120);

/// The prefix of the line of a figure.
pub(crate) const MARK: &str = "figure: ";

/// Returns whether figures are compared with their bars: `RELAY_FIGURES` is set, as the benches do.
pub fn are_compared() -> bool {
    std::env::var_os("RELAY_FIGURES").is_some()
}

/// Prints a figure with its bar.
///
/// # Panics
/// Figures are compared, and this one exceeds its bar.
pub fn at_most<T: PartialOrd + Debug>(what: &str, figure: T, bar: T) {
    print(what, &format!("{figure:?} (at most {bar:?})"));
    assert!(!are_compared() || figure <= bar, "{what}: {figure:?}, at most {bar:?}");
}

/// Prints a figure.
pub fn print(what: &str, figure: &str) {
    println!("{MARK}{what} = {figure}");
}
