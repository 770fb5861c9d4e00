//! A string without an end.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange) -> Diagnostic {
    let message = "this string is never closed";
    Diagnostic::new(Code::UnclosedString, range, message)
        .help("close it with `\"` on the same line")
}
