//! Benches that run tests for their figures.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use crate::{client::binary, corpus::here, figures::MARK};

/// The tests of a bench.
#[derive(Clone, Copy, Debug)]
pub struct Tests<'a> {
    /// The program of tests.
    pub program: &'a str,
    /// Substrings of the names of the tests; empty for all tests.
    pub names: &'a [&'a str],
    /// Variables of the environment and their values.
    pub variables: &'a [(&'a str, &'a str)],
}

/// Runs tests, one at a time, and prints their figures beside those of the last run, which are in
/// `target/figures`.
pub fn bench(name: &str, tests: &[Tests]) -> ExitCode {
    let target = here().join("../target/figures");
    let file = target.join(name);
    let last = read(&file);
    let mut figures = last.clone();
    let mut is_fine = true;
    for tests in tests {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["test", "--quiet", "--release", "--workspace", "--test", tests.program]);
        command.args(["--", "--nocapture", "--test-threads=1"]).args(tests.names);
        command.env("RELAY_FIGURES", "1").env("RELAY_ANALYZER", binary());
        command.envs(tests.variables.iter().copied()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("cargo runs");
        for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
            let line = line.expect("cargo prints text");
            // The test harness prints the name of a test before the first line of its output.
            let figure = line.split_once(MARK).and_then(|(_, rest)| rest.split_once(" = "));
            let Some((what, figure)) = figure else { continue };
            match last.get(what) {
                Some(last) if last != figure => {
                    println!("{what}: {figure}; {last} in the last run");
                }
                _ => println!("{what}: {figure}"),
            }
            figures.insert(what.to_owned(), figure.to_owned());
        }
        is_fine &= child.wait().expect("cargo ends").success();
    }
    std::fs::create_dir_all(target).expect("a folder in target");
    let lines: Vec<String> =
        figures.into_iter().map(|(what, figure)| format!("{what} = {figure}\n")).collect();
    std::fs::write(file, lines.concat()).expect("a file in target");
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the figures of the last run; none if there was none.
fn read(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let figures = text.lines().filter_map(|line| line.split_once(" = "));
    figures.map(|(what, figure)| (what.to_owned(), figure.to_owned())).collect()
}
