//! The conditions, hit counts and texts of breakpoints.

use interpreter::{Calls, Flow};
use syntax::TextRange;

use super::{
    super::{
        breakpoints::{Breakpoint, Piece, pieces},
        position::Position,
        stop::{Goal, Target},
    },
    Debugger,
};
use crate::run::summary;

/// The number of lines that logpoints print.
const MAX_LINES: u64 = 100_000;

impl Debugger<'_> {
    /// Returns the breakpoints of a place that hold. Logpoints print their texts.
    pub(super) fn hit(
        &mut self,
        at: &[Breakpoint],
        place: TextRange,
        calls: &Calls<'_>,
    ) -> Vec<i64> {
        let is_search = matches!(self.goal, Goal::Last { target: Target::Breakpoint, .. });
        let is_repetition = self.goal.is_repetition() && !is_search;
        let mut held = Vec::new();
        for breakpoint in at {
            // A repetition counts, and stops elsewhere.
            if is_repetition && breakpoint.hits.is_none() {
                continue;
            }
            let condition = breakpoint.condition.as_deref();
            if condition.is_some_and(|text| self.lacks(text, place, calls)) {
                self.lacks_value = true;
                return Vec::new();
            }
            let holds =
                condition.is_none_or(|condition| match self.condition(condition, place, calls) {
                    Ok(holds) => holds,
                    Err(message) => {
                        if !self.goal.is_repetition() {
                            let text = format!("the condition `{condition}` failed: {message}");
                            self.print(text, Some(place));
                        }
                        true
                    }
                });
            if !holds {
                continue;
            }
            if let Some(condition) = breakpoint.hits {
                let hits = self.hits.entry(breakpoint.id).or_default();
                *hits += 1;
                if !condition.holds(*hits) {
                    continue;
                }
            }
            match &breakpoint.log {
                None if !is_repetition => held.push(breakpoint.id),
                None => {}
                Some(_) if self.goal.is_repetition() => {}
                Some(text) => self.log(text, place, calls),
            }
        }
        held
    }

    fn log(&mut self, text: &str, place: TextRange, calls: &Calls<'_>) {
        // A run that is repeated has printed this before.
        if self.now <= self.skipped || self.lines >= MAX_LINES {
            return;
        }
        self.printed = self.now;
        self.lines += 1;
        let mut line = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Text(text) => line += text,
                Piece::Expression(expression) => {
                    let value = self.evaluator.evaluate(expression, place, &calls.variables(0));
                    line += &match value {
                        Ok(value) => summary::line(&value, &summary::of_value(&value)),
                        Err(message) => format!("{{{message}}}"),
                    };
                }
            }
        }
        if self.lines == MAX_LINES {
            line +=
                &format!("\nthe logpoints have printed {MAX_LINES} lines: later ones are left out");
        }
        self.print(line, Some(place));
    }

    /// Returns true if a condition needs a value that was released before the condition was set. The run is then
    /// repeated, and keeps it.
    fn lacks(&self, text: &str, place: TextRange, calls: &Calls<'_>) -> bool {
        self.completed != Some(self.now)
            && !self.goal.is_repetition()
            && !self.evaluator.released(text, place, &calls.variables(0)).is_empty()
    }

    /// Repeats the run for a value that a condition lacks, and goes on.
    pub(super) fn complete(&mut self) -> Flow {
        self.lacks_value = false;
        self.completed = Some(self.now);
        self.checkpoints.forget_from(Position::default());
        let then = Box::new(self.goal.clone());
        self.repeat(Goal::Through { at: self.now, then })
    }

    fn condition(
        &self,
        condition: &str,
        place: TextRange,
        calls: &Calls<'_>,
    ) -> Result<bool, String> {
        let value = self.evaluator.evaluate(condition, place, &calls.variables(0))?;
        let tensor = value.as_tensor().filter(|tensor| tensor.len() == 1);
        let number = tensor.and_then(|tensor| tensor.get_f64(0));
        let number = number.ok_or_else(|| format!("it is {}, not a scalar", value.describe()))?;
        Ok(number != 0.0)
    }
}
