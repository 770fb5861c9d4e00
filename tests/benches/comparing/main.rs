//! The rates at which `compare` names what is wrong: seeded faults in networks, passes that keep values, and values that
//! ONNX Runtime computes; at which `bisect` names the wrong pass of a log, and `reduce` makes refused modules small.
//!
//! `cargo bench --bench comparing -- faults 300`, `-- faults 300 resnet50 mobilenet`, `-- passes`, `-- onnx`,
//! `-- logs 20`, `-- reductions 300`. The program ends with an error if a rate is below its bar.

mod faults;
mod logs;
mod passes;
mod recorded;
mod reductions;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let mode = args.first().map(String::as_str);
    let count = args.get(1).and_then(|count| count.parse().ok());
    let (count, logs) = (count.unwrap_or(300), count.unwrap_or(20));
    let names: Vec<&str> = args.iter().skip(2).map(String::as_str).collect();
    let is_fine = match mode {
        Some("faults") => faults::measure(count, &names),
        Some("logs") => logs::measure(logs, &names),
        Some("reductions") => reductions::measure(count),
        Some("passes") => passes::measure(),
        Some("onnx") => recorded::measure(),
        _ => [
            faults::measure(count, &names),
            logs::measure(logs, &names),
            reductions::measure(count),
            passes::measure(),
            recorded::measure(),
        ]
        .iter()
        .all(|fine| *fine),
    };
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints a rate, and returns true if it reaches its bar in percent.
fn rate(what: &str, (part, whole): (usize, usize), bar: usize) -> bool {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    let is_fine = whole > 0 && part * 100 >= whole * bar;
    let mark = if is_fine { "" } else { "  *** below the bar" };
    println!("{what:48} {part:>5} of {whole:>5}  {percent:>5.1} %, at least {bar} %{mark}");
    is_fine
}
