//! An attribute that a call has twice.

use operators::Operator;

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

pub(in crate::check) fn report(
    site: &ProblemSite<'_, '_, '_>,
    operator: &Operator,
    name: &str,
) -> DefDiagnostic {
    let message = format!("`{}`: duplicate attribute `{name}`", operator.name);
    site.diagnostic(Code::DuplicateAttribute, message)
        .help("TVM takes the last value that is written")
}
