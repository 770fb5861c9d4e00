//! A comment that should allow findings, and does not.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic, NoLevel};

/// A comment of another form.
pub(in crate::check) fn report(range: TextRange, message: impl Into<String>) -> Diagnostic {
    let help = "write `relay: allow(unused-binding)`; `relay-analyzer explain` lists the codes";
    Diagnostic::new(Code::InvalidAllow, range, message).help(help)
}

/// A code whose findings cannot be allowed.
pub(in crate::check) fn without_level(range: TextRange, error: NoLevel) -> Diagnostic {
    Diagnostic::new(Code::InvalidAllow, range, error.to_string()).help(NoLevel::HELP)
}

/// A code that does not exist; `near` is the most similar one.
pub(in crate::check) fn unknown(range: TextRange, name: &str, near: Option<Code>) -> Diagnostic {
    let message = format!("there is no code `{name}`");
    let diagnostic = Diagnostic::new(Code::InvalidAllow, range, message);
    match near {
        Some(near) => diagnostic
            .help(format!("did you mean `{near}`?"))
            .fix(format!("Write `{near}`"), [(range, near.to_string())]),
        None => diagnostic.help("`relay-analyzer explain` lists the codes"),
    }
}
