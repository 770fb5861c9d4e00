//! An operator without a type relation.

use operators::Operator;

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>, operator: &Operator) -> DefDiagnostic {
    let message =
        format!("the type relation of `{}` is unknown, so its result has no type", operator.name);
    site.diagnostic(Code::NoRelation, message)
}
