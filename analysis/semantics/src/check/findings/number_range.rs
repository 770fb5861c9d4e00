//! A literal without suffix that does not fit its data type.

use types::DataType;

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>, value: i64, dtype: DataType) -> DefDiagnostic {
    let message = format!("`{value}` is out of range for {dtype}, which is required here");
    site.diagnostic(Code::NumberRange, message)
}
