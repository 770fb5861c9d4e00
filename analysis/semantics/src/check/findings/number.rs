//! Numbers and their suffixes.

use types::DataType;

use super::{Code, DefDiagnostic, Site};
use crate::check::site::ProblemSite;

/// A literal without suffix.
pub(super) fn out_of_range(site: &Site<'_, '_, '_>, value: i64, dtype: DataType) -> DefDiagnostic {
    let message = format!("`{value}` is out of range for {dtype}, which is required here");
    site.diagnostic(Code::NumberRange, message)
}

/// A literal with a suffix.
pub(in crate::check) fn literal_out_of_range(
    site: &ProblemSite<'_, '_, '_>,
    text: &str,
    dtype: DataType,
) -> DefDiagnostic {
    site.diagnostic(Code::NumberRange, format!("`{text}` does not fit into {dtype}"))
}

/// A number with a suffix that no data type has.
pub(in crate::check) fn unknown_suffix(
    site: &ProblemSite<'_, '_, '_>,
    suffix: &str,
) -> DefDiagnostic {
    site.diagnostic(Code::NumberSuffix, format!("`{suffix}` is not a number suffix"))
        .help("integers end in i8, i16, i32 or i64, other numbers in f, f16, f32 or f64")
}
