//! A comment that allows findings which do not exist.

use syntax::TextRange;

use crate::diagnostic::{Code, Diagnostic};

/// Reports codes of a comment; the fix removes the range `removed`.
pub(in crate::check) fn report(
    range: TextRange,
    codes: impl IntoIterator<Item = Code>,
    removed: TextRange,
) -> Diagnostic {
    let names: Vec<String> = codes.into_iter().map(|code| format!("`{code}`")).collect();
    let message = format!("there is no {} here to allow", names.join(" or "));
    Diagnostic::new(Code::UnusedAllow, range, message)
        .unnecessary()
        .fix("Remove it", [(removed, String::new())])
}
