//! More findings in a file than are shown.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic, Severity};

/// Reports a number of findings of at most `severity` that are left out.
pub(in crate::check) fn report(range: TextRange, count: usize, severity: Severity) -> Diagnostic {
    let message = format!("{count} more findings are not shown");
    Diagnostic { severity, ..Diagnostic::new(Code::TooMany, range, message) }
}
