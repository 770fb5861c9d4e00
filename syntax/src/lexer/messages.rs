//! The messages that TVM prints into a module that it rejects.

/// The first words of the messages of TVM.
const MESSAGES: &[(&str, &str)] = &[
    ("an", "an internal invariant was vio"),
    ("in", "in particular dimension "),
    ("tensor", "tensor type `"),
    ("unable", "unable to unify"),
];

/// Returns true at a message of TVM.
pub(super) fn begins(text: &str) -> bool {
    MESSAGES.iter().any(|(_, begin)| text.starts_with(begin))
}

/// Returns the length of the messages of TVM that begin with the word `first` of a text. TVM 0.5 to 0.7 print a
/// module that they reject with the messages after the expressions that they are about:
///
/// ```text
/// %0 = add(%x, %y) unable to unify: `Tensor[(2), float32]` and `Tensor[(3), float32]`; ;
/// ```
///
/// Each message ends with `; `, and a line feed follows the last one, or the `;` of the statement.
pub(super) fn end(first: &str, rest: &str) -> Option<usize> {
    if !matches!(first, "an" | "in" | "tensor" | "unable")
        || !MESSAGES.iter().any(|(word, begin)| *word == first && rest.starts_with(begin))
    {
        return None;
    }
    // The message about a failed check may have several lines.
    let is_end = |at: &usize| rest[..*at].trim_end().ends_with(';');
    let end = memchr::memchr_iter(b'\n', rest.as_bytes()).take(MESSAGE_LINES).find(is_end);
    let whole = rest[..end.unwrap_or(rest.len())].trim_end();
    let rest = whole.strip_suffix(';')?.trim_end();
    // The last `;` is that of the statement, if the message has one of its own.
    Some(if rest.ends_with(';') { rest.len() } else { whole.len() })
}

/// The most lines of the messages about one expression.
const MESSAGE_LINES: usize = 100;
