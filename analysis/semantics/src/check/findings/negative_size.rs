//! A negative size of a tensor.

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>, size: i64) -> DefDiagnostic {
    let message = format!("the size of a tensor cannot be negative, found {size}");
    site.diagnostic(Code::NegativeSize, message)
        .help("write an unknown size as `?`")
        .fix("Write `?`", [(site.range, "?".to_owned())])
}
