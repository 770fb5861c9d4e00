//! A variable of a type of higher rank.

use types::Type;

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>, ty: &Type) -> Option<DefDiagnostic> {
    let message = format!(
        "{} has the polymorphic type `{ty}`, but only what `def`, `let` or `%0 =` binds may be \
         polymorphic",
        site.describe()?
    );
    let help = "write the type at which it is used, without type parameters";
    Some(site.diagnostic(Code::HigherRank, message).help(help))
}
