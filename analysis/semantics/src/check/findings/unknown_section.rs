//! A section that is neither a version nor metadata.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange) -> Diagnostic {
    let message = "only `#[version = \"0.0.5\"]` and `#[metadata]` are sections";
    Diagnostic::new(Code::UnknownSection, range, message)
}
