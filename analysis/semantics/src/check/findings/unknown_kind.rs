//! A kind that does not exist.

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>, name: &str) -> DefDiagnostic {
    site.diagnostic(Code::UnknownKind, format!("`{name}` is not a kind"))
        .help("the kinds are `Type`, `Shape`, `ShapeVar` and `BaseType`")
}
