//! A pattern that does not match the type of the value.

use types::{Type, describe};

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>, pattern: &Type, scrutinee: &Type) -> DefDiagnostic {
    let message = format!(
        "this pattern matches {}, but the matched value is {}",
        describe(pattern),
        describe(scrutinee)
    );
    site.diagnostic(Code::PatternType, message)
}
