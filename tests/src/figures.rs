//! Figures that depend on the machine and on what else it does: times, and resident memory.
//!
//! Such a figure is printed. It is compared with its bar only in a run that asks for this, on an idle
//! machine and with a release build:
//!
//! ```sh
//! RELAY_FIGURES=1 RELAY_ANALYZER=target/release/relay-analyzer cargo test --release --workspace --test all run:: -- --nocapture
//! ```
//!
//! Without the variable, a test asserts only what is the same on every machine: answers, counts, and
//! allocated bytes. A test that waits for something uses [`WATCHDOG`].

use std::{fmt::Debug, time::Duration};

/// The limit of a wait that has no end only because of a defect.
pub const WATCHDOG: Duration = Duration::from_secs(120);

/// Returns whether `RELAY_FIGURES` asks for the comparison of figures with their bars.
pub fn are_compared() -> bool {
    std::env::var_os("RELAY_FIGURES").is_some()
}

/// Prints a figure with its bar.
///
/// # Panics
/// Figures are compared, and this one exceeds its bar.
pub fn at_most<T: PartialOrd + Debug>(what: &str, figure: T, bar: T) {
    println!("{what}: {figure:?} (at most {bar:?})");
    assert!(!are_compared() || figure <= bar, "{what}: {figure:?}, at most {bar:?}");
}
