//! The limit on the memory of inference.

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    let message = format!(
        "the types of `{}` grow too fast: inference stops here, and the rest has no types",
        site.view.def.name(site.view.db)
    );
    site.diagnostic(Code::InferenceBudget, message)
        .help("write the types of the functions that are called before this place")
}
