//! A second expression outside of definitions.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange) -> Diagnostic {
    let message = "a file holds at most one expression outside of definitions";
    Diagnostic::new(Code::SecondExpression, range, message)
}
