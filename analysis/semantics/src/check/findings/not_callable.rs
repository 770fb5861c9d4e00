//! A call of a value that is not a function.

use types::{Type, describe};

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>, ty: &Type) -> DefDiagnostic {
    site.diagnostic(Code::NotCallable, format!("this is {}, which cannot be called", describe(ty)))
}
