//! A constructor with the name of an earlier one.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(name: &str, range: TextRange, first: TextRange) -> Diagnostic {
    let message = format!("duplicate constructor `{name}`");
    Diagnostic::new(Code::DuplicateConstructor, range, message).related(first, "first defined here")
}
