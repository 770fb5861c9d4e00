//! Times of requests, of edits, of cancellation and of reading files, compared with their bars.

use std::process::ExitCode;

use relay_tests::bench::{Tests, bench};

/// The files of tests that print times.
const TIMED: &[&str] = &[
    "archives::",
    "between::",
    "differences::",
    "hostile::",
    "latency::",
    "protocol::",
    "run::",
    "sources::",
    "tree_sitter::",
    "writing::",
];

fn main() -> ExitCode {
    bench("latency", &[Tests { program: "all", names: TIMED, variables: &[] }])
}
