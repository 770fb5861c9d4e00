//! `relay-analyzer check --fix`

use std::path::Path;

use syntax::{TextRange, TextSize};

use super::files::replace;
use crate::{analyzer::Analyzer, input::Input, report::escape};

/// How often fixes are made: one may bring another to light.
const MOST_ROUNDS: usize = 8;

/// Mends what can be mended without a choice, in the text and in the file. The number of problems
/// that are gone; nothing where there is nothing to mend.
///
/// # Errors
/// The file cannot be written.
pub(super) fn fix(
    analyzer: &mut Analyzer,
    path: &Path,
    input: &mut Input,
) -> Result<Option<usize>, String> {
    // What was replaced on the way in must not be written back.
    if input.problem.is_some() {
        return Ok(None);
    }
    let before = analyzer.check(&input.text).diagnostics.len();
    let mut text = input.text.clone();
    for _ in 0..MOST_ROUNDS {
        let (db, file) = analyzer.database();
        let everywhere = TextRange::empty(TextSize::new(0));
        // A refusal means that there is nothing, or that it would break something.
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
