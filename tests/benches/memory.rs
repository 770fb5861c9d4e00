//! Resident memory of the server, of runs and of large inputs, compared with its bars.

use std::process::ExitCode;

use relay_tests::bench::{Tests, bench};

fn main() -> ExitCode {
    let variables = &[("RELAY_SOAK", "10000"), ("RELAY_REQUESTS", "600")];
    let names = &["large::", "requests::", "soak::"];
    bench(
        "memory",
        &[
            Tests { program: "all", names, variables },
            Tests { program: "memory", names: &[], variables },
        ],
    )
}
