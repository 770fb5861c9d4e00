//! A parameter or type parameter with the name of an earlier one.

use super::{Code, DefDiagnostic};
use crate::{body::RangeId, check::site::ProblemSite};

pub(in crate::check) fn report(
    site: &ProblemSite<'_, '_, '_>,
    name: &str,
    first: RangeId,
) -> DefDiagnostic {
    let what = if name.starts_with('%') { "parameter" } else { "type parameter" };
    site.diagnostic(Code::DuplicateParameter, format!("duplicate {what} `{name}`"))
        .related(site.place(first), format!("an earlier {what} of this name"))
}
