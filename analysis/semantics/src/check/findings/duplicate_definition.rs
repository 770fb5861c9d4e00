//! A definition with the name of an earlier one, and a second metadata section.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

/// A definition called `name`, which `first` defines.
pub(in crate::check) fn report(name: &str, range: TextRange, first: TextRange) -> Diagnostic {
    let message = format!("duplicate definition of `{name}`");
    Diagnostic::new(Code::DuplicateDefinition, range, message).related(first, "first defined here")
}

/// A second metadata section.
pub(in crate::check) fn of_metadata(range: TextRange) -> Diagnostic {
    let message = "a module has at most one metadata section";
    Diagnostic::new(Code::DuplicateDefinition, range, message)
}
