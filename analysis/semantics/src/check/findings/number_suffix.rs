//! A number with a suffix that no data type has.

use super::{Code, DefDiagnostic};
use crate::check::site::ProblemSite;

pub(in crate::check) fn report(site: &ProblemSite<'_, '_, '_>, suffix: &str) -> DefDiagnostic {
    site.diagnostic(Code::NumberSuffix, format!("`{suffix}` is not a number suffix"))
        .help("integers end in i8, i16, i32 or i64, other numbers in f, f16, f32 or f64")
}
