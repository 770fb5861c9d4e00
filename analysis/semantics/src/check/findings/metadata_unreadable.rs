//! A metadata section that is no valid JSON.

use std::fmt;

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

pub(in crate::check) fn report(range: TextRange, error: impl fmt::Display) -> Diagnostic {
    Diagnostic::new(Code::MetadataUnreadable, range, "cannot read the metadata section")
        .help(format!("its JSON is invalid: {error}"))
}
