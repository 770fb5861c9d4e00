//! A literal that does not fit its data type.

use types::DataType;

use super::{Code, DefDiagnostic, Site};
use crate::check::site::ProblemSite;

/// A literal without suffix.
pub(super) fn report(site: &Site<'_, '_, '_>, value: i64, dtype: DataType) -> DefDiagnostic {
    let message = format!("`{value}` is out of range for {dtype}, which is required here");
    site.diagnostic(Code::NumberRange, message)
}

/// A literal with a suffix.
pub(in crate::check) fn of_literal(
    site: &ProblemSite<'_, '_, '_>,
    text: &str,
    dtype: DataType,
) -> DefDiagnostic {
    site.diagnostic(Code::NumberRange, format!("`{text}` does not fit into {dtype}"))
}
