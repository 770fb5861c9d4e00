//! An arm of a `match` that no value reaches.

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    let message = "unreachable arm: the arms before it match all of its values";
    site.diagnostic(Code::UnreachableArm, message).unnecessary()
}
