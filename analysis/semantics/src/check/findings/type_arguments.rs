//! The wrong number of type arguments.

use syntax::TextRange;
use types::Param;

use super::{Code, DefDiagnostic, Site};
use crate::{
    adt::Adt,
    check::{plural::count, site::ProblemSite},
};

/// Type arguments of a call.
pub(super) fn report(
    site: &Site<'_, '_, '_>,
    expected: usize,
    found: usize,
) -> Option<DefDiagnostic> {
    let expected = count(expected, "type argument");
    let message = format!("{} expects {expected}, found {found}", site.callee_name()?);
    Some(site.diagnostic(Code::TypeArguments, message))
}

/// Type arguments of a data type in a written type.
pub(in crate::check) fn of_type_use(
    range: TextRange,
    name: &str,
    adt: &Adt,
    found: usize,
) -> DefDiagnostic {
    let expected = count(adt.params.len(), "type argument");
    let list: Vec<&str> = adt.params.iter().map(|p| p.name().as_str()).collect();
    let message = format!("`{name}` expects {expected}, found {found}");
    DefDiagnostic::new(Code::TypeArguments, range, message)
        .help(format!("write `{name}[{}]`", list.join(", ")))
}

/// Type arguments of a type parameter.
pub(in crate::check) fn of_parameter(
    site: &ProblemSite<'_, '_, '_>,
    param: &Param,
) -> DefDiagnostic {
    let message = format!("`{}` is a type parameter and takes no arguments", param.name());
    site.diagnostic(Code::TypeArguments, message)
}
