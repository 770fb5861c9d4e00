//! Numbers of things in messages.

/// Returns a number of things: `no fields`, `1 field`, `2 fields`.
pub(super) fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
