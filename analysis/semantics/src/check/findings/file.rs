//! A file as a whole.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic, Severity};

/// A version of the text format other than 0.0.5.
pub(in crate::check) fn unknown_version(range: TextRange) -> Diagnostic {
    let message = "unknown version of the text format: it is read as 0.0.5";
    Diagnostic::new(Code::UnknownVersion, range, message)
        .fix("Write 0.0.5", [(range, "\"0.0.5\"".to_owned())])
}

/// Reports a number of findings of at most `severity` that are left out.
pub(in crate::check) fn too_many(range: TextRange, count: usize, severity: Severity) -> Diagnostic {
    let message = format!("{count} more findings are not shown");
    Diagnostic { severity, ..Diagnostic::new(Code::TooMany, range, message) }
}
