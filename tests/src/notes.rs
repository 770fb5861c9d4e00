//! Notes of a test program about itself: what it skips, what it builds, and what it waits for.

use std::io::Write;

use parking_lot::Mutex;

/// Prints a line immediately. The test harness captures what `eprintln!` prints until the test ends, and
/// hides it if the test passes, but not what is written to the stream itself.
pub fn note(line: &str) {
    // A failure to print does not fail a test.
    let _ = writeln!(std::io::stderr(), "\n{line}");
}

/// Notes that tests are skipped, once in a program for each reason.
///
/// # Panics
/// The variable `required` is set: then no test may be skipped for such a reason.
pub fn skip(reason: &str, required: &str) {
    assert!(std::env::var_os(required).is_none(), "{required} is set, but {reason}");
    note_skipped(reason);
}

/// Passes on a measurement of a process, if the system provides it. Linux does; elsewhere the test is skipped.
///
/// # Panics
/// It is missing on Linux.
pub fn available<T>(what: &str, measured: Option<T>) -> Option<T> {
    if measured.is_none() {
        assert_ne!(std::env::consts::OS, "linux", "the {what} of a process is not in /proc");
        note_skipped(&format!("this system does not provide the {what} of a process"));
    }
    measured
}

/// Notes that tests are skipped, which is allowed everywhere; once in a program for each reason.
pub fn note_skipped(reason: &str) {
    static NOTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut noted = NOTED.lock();
    if !noted.iter().any(|known| known == reason) {
        note(&format!("SKIPPED: {reason}\n"));
        noted.push(reason.to_owned());
    }
}
