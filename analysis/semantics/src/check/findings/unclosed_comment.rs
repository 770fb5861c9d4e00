//! A block comment without an end.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange) -> Diagnostic {
    let message = "this comment is never closed";
    Diagnostic::new(Code::UnclosedComment, range, message).help("close it with `*/`; comments nest")
}
