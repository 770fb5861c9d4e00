//! `relay-analyzer check --fix`

use std::path::Path;

use syntax::{TextRange, TextSize};

use crate::{analyzer::Analyzer, files::replace, input::Input, report::escape};

/// The largest number of rounds: a fix may enable another.
const MAX_ROUNDS: usize = 8;

/// Applies all fixes that need no choice to the text and the file. Returns the number of fixed
/// problems, `None` if there is nothing to fix.
///
/// # Errors
/// The file cannot be written.
pub(super) fn fix(
    analyzer: &mut Analyzer,
    path: &Path,
    input: &mut Input,
) -> Result<Option<usize>, String> {
    // Replaced or converted text must not be written back.
    if input.problem.is_some() || input.saved.is_some() {
        return Ok(None);
    }
    let before = analyzer.check(&input.text).diagnostics.len();
    let mut text = input.text.clone();
    for _ in 0..MAX_ROUNDS {
        let (db, file) = analyzer.database();
        let everywhere = TextRange::empty(TextSize::new(0));
        // An error means that there is nothing to fix, or that a fix would break something.
        let Ok(edits) = ide::actions::resolve(db, file, everywhere, "fix-all") else { break };
        text = ide::edit::apply_all(&text, &edits);
        analyzer.check(&text);
    }
    if text == input.text {
        return Ok(None);
    }
    replace(path, &text)
        .map_err(|error| format!("cannot write `{}`: {error}", escape::terminal(&input.path)))?;
    input.text = text;
    Ok(Some(before.saturating_sub(analyzer.check(&input.text).diagnostics.len())))
}
