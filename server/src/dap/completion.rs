//! Completion in the console: that of the editor, in a function of the variables of the frame.

use ide::completion::{Abilities, ItemKind, completions};
use interpreter::Value;
use semantics::Database;
use syntax::{Encoding, LineColumn, LineIndex, TextSize};

use super::{
    console::SAVE,
    evaluator::HELPERS,
    protocol::{Body, CompletionTarget, CompletionsArguments},
    stopped::StoppedRun,
};

/// The number of variables that are offered: those that were bound last.
const MAX_VARIABLES: usize = 500;
/// The longest text that is completed, in bytes.
const MAX_LENGTH: usize = 64 << 10;

impl StoppedRun {
    /// Returns the completions of a line of the console.
    ///
    /// # Errors
    /// There is no such frame, or the text is too long.
    pub(super) fn completions(&self, given: &CompletionsArguments) -> Result<Body, String> {
        let text = &given.text;
        if text.len() > MAX_LENGTH {
            return Err(format!("the text is longer than {} KiB", MAX_LENGTH >> 10));
        }
        let (_, stopped) = self.frame(given.frame_id.unwrap_or(1))?;
        let program = self.evaluator.program();
        let positions = program.positions;
        let lines = LineIndex::new(text);
        let number = |at: i64, first: i64| u32::try_from(at.saturating_sub(first).max(0));
        let line = given.line.map_or(Ok(0), |line| number(line, positions.line));
        let column = number(given.column, positions.column);
        let at = LineColumn { line: line.unwrap_or(0), column: column.unwrap_or(u32::MAX) };
        let cursor = lines.offset(at, Encoding::Utf16).unwrap_or(lines.text_len());
        let all = &stopped.variables;
        let has_value = all.iter().filter(|variable| !matches!(variable.value, Value::Empty));
        let variables: Vec<_> = has_value.rev().take(MAX_VARIABLES).cloned().collect();
        let place = stopped.call.place.1;
        let (whole, start) = self.evaluator.code_with(text, place, &variables);
        // A database of its own, which goes with the answer: that of the program keeps all files.
        let mut db = Database::new();
        db.set_up(&program.options.setup);
        let file = db.add_file(whole, program.options.limits);
        let start = TextSize::try_from(start).unwrap_or_default();
        let found = completions(&db, file, start + cursor, Abilities { snippets: false });
        let begin = found.replace.start().checked_sub(start).unwrap_or(cursor).min(cursor);
        let column_of = |offset| i64::from(lines.line_column(offset, Encoding::Utf16).column);
        let begin_column = column_of(begin);
        let length = column_of(cursor).saturating_sub(begin_column);
        let target = |label: &str, insert: Option<String>, kind, detail| CompletionTarget {
            label: label.to_owned(),
            text: insert.filter(|insert| insert != label),
            kind,
            detail,
            start: begin_column + positions.column,
            length,
        };
        let typed = text.get(std::ops::Range::<usize>::from(syntax::TextRange::new(begin, cursor)));
        let typed = typed.unwrap_or_default();
        let mut targets = Vec::new();
        if !typed.is_empty() {
            let helpers = HELPERS.iter().chain(&[(SAVE, "writes a tensor to a `.npy` file")]);
            let fitting = helpers.filter(|(name, _)| name.starts_with(typed));
            targets.extend(fitting.map(|(name, what)| {
                target(name, Some(format!("{name}(")), "function", Some((*what).to_owned()))
            }));
        }
        targets.extend(found.items.into_iter().filter_map(|item| {
            let kind = match item.kind {
                ItemKind::Variable => "variable",
                ItemKind::Function | ItemKind::Operator => "function",
                ItemKind::Constructor => "enum",
                ItemKind::Attribute => "property",
                ItemKind::Value => "value",
                ItemKind::Type => "class",
                ItemKind::Keyword => "keyword",
                ItemKind::Snippet => "snippet",
                ItemKind::Field => "field",
            };
            let is_own = item.label.trim_start_matches(['%', '@']).starts_with("relay_debug_");
            (!is_own).then(|| target(&item.label, Some(item.insert), kind, item.detail))
        }));
        Ok(Body::Completions { targets })
    }
}
