//! A field of a constructor without a type.

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>) -> DefDiagnostic {
    site.diagnostic(Code::OpenField, "the type of a field cannot be left out")
        .help("write it, or make it a parameter of the data type: `type Box[A] { Wrap(A) }`")
}
