//! Constructors of an external type.

use syntax::TextRange;

use super::{Code, DefDiagnostic};

pub(in crate::check) fn report(range: TextRange) -> DefDiagnostic {
    DefDiagnostic::new(Code::ExternConstructors, range, "an external type has no constructors")
}
