//! Messages on standard error, in the style of diagnostics.

use std::io::Write;

use anstyle::AnsiColor;

use super::escape;

/// Prints an error.
pub(crate) fn error(message: &str) {
    print(AnsiColor::Red, "error", message);
}

/// Prints a warning.
pub(crate) fn warning(message: &str) {
    print(AnsiColor::Yellow, "warning", message);
}

/// Prints a note.
pub(crate) fn note(message: &str) {
    print(AnsiColor::Cyan, "note", message);
}

fn print(color: AnsiColor, label: &str, message: &str) {
    let style = color.on_default().bold();
    let message = escape::terminal_lines(message);
    // A failure to write cannot be reported.
    let _ = writeln!(anstream::stderr(), "{style}{label}{style:#}: {message}");
}
