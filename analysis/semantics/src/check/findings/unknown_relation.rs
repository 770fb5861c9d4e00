//! A type relation that does not exist.

use super::{Code, DefDiagnostic};
use crate::{check::site::ProblemSite, diagnostic::NameSet};

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>, name: &str) -> DefDiagnostic {
    site.diagnostic(Code::UnknownRelation, format!("there is no type relation `{name}`"))
        .help("relations are named after operators: `Broadcast`, `Dense`, `Identity` …")
        .or_similar(name, site.range, &[NameSet::Relations])
}
