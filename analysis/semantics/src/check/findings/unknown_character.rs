//! Characters that begin no token.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange) -> Diagnostic {
    let message = "unexpected characters";
    Diagnostic::new(Code::UnknownCharacter, range, message)
}
