//! A function that is called with itself.

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    site.diagnostic(Code::InfiniteType, "infinite type: this is called with itself")
}
