//! Expressions that exceed the limit of nesting.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange) -> Diagnostic {
    let message = "expressions are nested too deeply here; the rest is not parsed";
    Diagnostic::new(Code::NestedTooDeep, range, message)
        .help("bind inner expressions to names with `let` or `%0 = …;`")
}
