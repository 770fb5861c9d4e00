//! The expressions at which errors of the text stop a run.
//!
//! An error stops the innermost expression around it. One that is in no expression, such as an error in the pattern
//! of a statement or between two of them, stops the next expression that is complete after it.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use semantics::{
    ExprRef, View,
    body::{Expr, ExprId, UnitId, UnitKind},
};
use syntax::{TextRange, TextSize};

/// The errors of a definition that no expression has yet.
#[derive(Default)]
pub(super) struct Stops {
    left: BTreeSet<(TextSize, TextSize)>,
    /// The expressions of the current unit that stop a run.
    marked: FxHashSet<ExprId>,
}

impl Stops {
    /// Returns the stops of a definition, of the errors of its file.
    pub(super) fn of(view: &View<'_>, errors: &[TextRange]) -> Stops {
        let own = view.def.range(view.db);
        let inside = errors.iter().filter(|error| own.contains_range(**error));
        let left = inside.map(|error| (error.start(), error.end())).collect();
        Stops { left, marked: FxHashSet::default() }
    }

    /// Finds the expressions of the next unit that stop a run. Each error is assigned once.
    pub(super) fn enter(&mut self, view: &View<'_>, unit: UnitId) {
        self.marked.clear();
        if self.left.is_empty() || view.unit(unit).kind == UnitKind::Header {
            return;
        }
        let mut last = None;
        // Expressions follow those inside them.
        for (expr, id) in view.unit(unit).exprs.iter().zip(0..).map(|(e, id)| (e, ExprId(id))) {
            if !has_value(expr) {
                continue;
            }
            last = Some(id);
            let range = view.range(ExprRef { unit, expr: id });
            if self.take(range.start(), range) {
                self.marked.insert(id);
            }
        }
        // Errors up to the end of the unit that are in no expression.
        if let Some(last) = last
            && self.take(TextSize::default(), view.unit_range(unit))
        {
            self.marked.insert(last);
        }
    }

    /// Removes the errors that begin at `from` or later and end within `range`. Returns true if there is one.
    fn take(&mut self, from: TextSize, range: TextRange) -> bool {
        let found = self.left.range((from, TextSize::default())..=(range.end(), range.end()));
        let found: Vec<_> = found.filter(|(_, end)| *end <= range.end()).copied().collect();
        for error in &found {
            self.left.remove(error);
        }
        !found.is_empty()
    }

    /// Returns true if the run stops at an expression of the current unit.
    pub(super) fn is(&self, expr: ExprId) -> bool {
        self.marked.contains(&expr)
    }

    /// Returns true if errors are left after the last unit.
    pub(super) fn has_rest(&self) -> bool {
        !self.left.is_empty()
    }
}

/// Returns true unless this is a step of the evaluation without a value of its own.
fn has_value(expr: &Expr) -> bool {
    !matches!(
        expr,
        Expr::Missing
            | Expr::Condition(_)
            | Expr::EnterFn(_)
            | Expr::EnterMatch(_)
            | Expr::Declare(_)
    )
}
