//! The exponents of time and of allocated bytes with the length of a text: `tests/linear.rs` for the generators that
//! the arguments name, or for all of them, which takes half an hour.

use std::process::ExitCode;

use relay_tests::bench::{Tests, bench};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).filter(|name| name != "--bench").collect();
    let names = if names.is_empty() { "all".to_owned() } else { names.join(";") };
    let variables = &[("RELAY_LINEAR", &*names)];
    bench("growth", &[Tests { program: "linear", names: &[], variables }])
}
