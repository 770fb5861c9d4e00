//! The levels of codes, applied to diagnostics.

use codes::{Level, Levels};

use super::Diagnostic;

/// Sets the severities of diagnostics to the levels of their codes, and removes those that are
/// allowed.
pub fn apply_levels(levels: &Levels, found: &mut Vec<Diagnostic>) {
    found.retain_mut(|diagnostic| match levels.get(diagnostic.code) {
        None => true,
        Some(Level::Allow) => false,
        Some(Level::Report(severity)) => {
            diagnostic.severity = severity;
            true
        }
    });
}
