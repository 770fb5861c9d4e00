//! A constant without a type in a module without a metadata section.

use super::{Code, DefDiagnostic, Site};

pub(super) fn report(site: &Site<'_, '_, '_>) -> DefDiagnostic {
    let message = "the module has no metadata section, so the type of this constant is unknown";
    site.diagnostic(Code::UntypedConstant, message)
        .help("write its type after it: `/* ty=Tensor[(…), float32] */`")
}
