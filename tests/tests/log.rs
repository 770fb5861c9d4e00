//! The log on standard error that `RELAY_LOG` enables.

use std::process::Command;

use relay_tests::{client::binary, corpus::here};

/// Checks an example with a value of `RELAY_LOG`. Returns standard output and standard error.
fn check(log: Option<&str>) -> (String, String) {
    let mut command = Command::new(binary());
    command.args(["check", "tests/examples/resnet-block.relay"]).current_dir(here().join(".."));
    match log {
        Some(log) => command.env("RELAY_LOG", log),
        None => command.env_remove("RELAY_LOG"),
    };
    let output = command.output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr))
}

#[test]
fn log_shows_spans_and_queries_on_standard_error() {
    let (plain, none) = check(None);
    assert_eq!(none, "");
    let (printed, spans) = check(Some("relay_analyzer=debug"));
    assert_eq!(printed, plain, "the log does not change the output");
    assert!(spans.contains("parse{bytes=") && spans.contains("time.busy="), "{spans}");
    assert!(!spans.contains("executing query"), "{spans}");
    let (_, queries) = check(Some("salsa=info"));
    assert!(queries.contains("check_file") && queries.contains("executing query"), "{queries}");
}

#[test]
fn invalid_filter_is_a_warning() {
    let (printed, message) = check(Some("a=b=c"));
    assert_eq!(printed, check(None).0);
    assert!(message.starts_with("warning: RELAY_LOG is ignored: "), "{message}");
}
