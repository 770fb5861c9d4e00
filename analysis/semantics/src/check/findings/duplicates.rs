//! Names that are defined twice.

use operators::Operator;
use syntax::TextRange;

use super::{Code, DefDiagnostic};
use crate::{body::RangeId, check::site::ProblemSite, diagnostic::Diagnostic};

/// An attribute that a call has twice.
pub(in crate::check) fn attribute(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
) -> DefDiagnostic {
    let message = format!("`{}`: duplicate attribute `{name}`", operator.name);
    site.diagnostic(Code::DuplicateAttribute, message)
        .help("TVM takes the last value that is written")
}

/// A constructor with the name of an earlier one.
pub(in crate::check) fn constructor(name: &str, range: TextRange, first: TextRange) -> Diagnostic {
    let message = format!("duplicate constructor `{name}`");
    Diagnostic::new(Code::DuplicateConstructor, range, message).related(first, "first defined here")
}

/// A definition called `name`, which `first` defines.
pub(in crate::check) fn definition(name: &str, range: TextRange, first: TextRange) -> Diagnostic {
    let message = format!("duplicate definition of `{name}`");
    Diagnostic::new(Code::DuplicateDefinition, range, message).related(first, "first defined here")
}

/// A second metadata section.
pub(in crate::check) fn metadata(range: TextRange) -> Diagnostic {
    let message = "a module has at most one metadata section";
    Diagnostic::new(Code::DuplicateDefinition, range, message)
}

/// A parameter or type parameter with the name of an earlier one.
pub(in crate::check) fn parameter(
    site: &ProblemSite<'_, '_, '_>,
    name: &str,
    first: RangeId,
) -> DefDiagnostic {
    let what = if name.starts_with('%') { "parameter" } else { "type parameter" };
    site.diagnostic(Code::DuplicateParameter, format!("duplicate {what} `{name}`"))
        .related(site.place(first), format!("an earlier {what} of this name"))
}
