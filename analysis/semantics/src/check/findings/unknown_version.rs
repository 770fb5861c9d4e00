//! A version of the text format other than 0.0.5.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange) -> Diagnostic {
    let message = "unknown version of the text format: it is read as 0.0.5";
    Diagnostic::new(Code::UnknownVersion, range, message)
        .fix("Write 0.0.5", [(range, "\"0.0.5\"".to_owned())])
}
