//! A rule that does not hold for every instance of a type parameter.

use types::Constraint;

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>, constraint: &Constraint) -> DefDiagnostic {
    let message = format!(
        "`{}`: its rule `{constraint}` does not hold for every instance of the type parameters",
        constraint.relation.operator
    );
    site.diagnostic(Code::UnprovenRelation, message).help(
        "leave the type of the result out, so that inference adds the rule to the type, or write \
         it: `where …`",
    )
}
