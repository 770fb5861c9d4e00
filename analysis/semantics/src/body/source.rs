//! Source maps: the ranges of the code of a body.
//!
//! A body has no ranges, so that white space does not change it, and nothing that follows from it is
//! computed again. Its parts refer to their ranges by [`ExprId`] and [`RangeId`]:
//!
//! ```text
//! %0 = add(%x,  %y);   // the range of `%y` is 13..15
//! %0 = add(%x, %y);    // the same unit, in which it is 12..14
//! ```

use std::sync::Arc;

use syntax::{TextRange, TextSize};

use super::{Binder, BinderId, Body, Expr, ExprId, ExprRef, LocalRef, RangeId, UnitId};
use crate::list::List;

/// The source map of a body. Ranges are relative to the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMap {
    /// The start of each unit.
    pub(crate) starts: Vec<TextSize>,
    /// The ranges of each unit.
    pub(crate) units: List<UnitRanges>,
}

impl SourceMap {
    /// Returns the range of a unit.
    pub fn unit(&self, unit: UnitId) -> TextRange {
        TextRange::at(self.starts[unit.index()], self.units[unit.index()].len())
    }

    /// Returns the last unit that begins at `offset` or before.
    pub fn unit_at(&self, offset: TextSize) -> Option<UnitId> {
        let after = self.starts.partition_point(|&start| start <= offset);
        after.checked_sub(1).map(|at| UnitId(at as u32))
    }

    /// Returns the units that begin before `offset`.
    pub fn units_before(&self, offset: TextSize) -> impl DoubleEndedIterator<Item = UnitId> {
        (0..self.starts.partition_point(|&start| start < offset) as u32).map(UnitId)
    }

    /// Returns the range of an expression.
    pub fn expr(&self, unit: UnitId, expr: ExprId) -> TextRange {
        self.units[unit.index()].expr(expr) + self.starts[unit.index()]
    }

    /// Returns the range of another part of a unit.
    pub fn range(&self, unit: UnitId, id: RangeId) -> TextRange {
        self.units[unit.index()].range(id) + self.starts[unit.index()]
    }

    /// Returns the expressions of a unit that are written in the text, with their ranges.
    pub fn exprs<'a>(
        &'a self,
        body: &'a Body,
        unit: UnitId,
    ) -> impl Iterator<Item = (ExprId, &'a Expr, TextRange)> {
        let (base, exprs) = (self.starts[unit.index()], &body.unit(unit).exprs);
        exprs.iter().zip(0..).map(|(expr, id)| (ExprId(id), expr)).filter_map(move |(id, expr)| {
            let is_written = !expr.is_step() && *expr != Expr::Missing;
            is_written.then(|| (id, expr, self.units[unit.index()].expr(id) + base))
        })
    }

    /// Returns the expression of a syntax node, which has exactly this range.
    pub fn expr_of(&self, body: &Body, node: TextRange) -> Option<ExprRef> {
        let unit = self.unit_at(node.start())?;
        let (expr, ..) = self.exprs(body, unit).find(|(.., range)| *range == node)?;
        Some(ExprRef { unit, expr })
    }

    /// Returns the innermost expression that contains a range.
    pub fn expr_around(&self, body: &Body, inner: TextRange) -> Option<ExprRef> {
        let unit = self.unit_at(inner.start())?;
        let around = self.exprs(body, unit).filter(|(.., range)| range.contains_range(inner));
        let (expr, ..) = around.min_by_key(|(.., range)| range.len())?;
        Some(ExprRef { unit, expr })
    }

    /// Returns the variable whose binder contains a range.
    pub fn binder_around(&self, body: &Body, inner: TextRange) -> Option<LocalRef> {
        let unit = self.unit_at(inner.start())?;
        let around = |binder: &Binder| self.range(unit, binder.range).contains_range(inner);
        let binder = body.unit(unit).binders.iter().position(around)?;
        Some(LocalRef { unit, binder: BinderId(binder as u32) })
    }
}

/// The ranges of a unit or of a type definition, relative to its start.
///
/// They are in one allocation, which units of the same form share: the range of the whole, those of the
/// expressions, and the others from the end backwards, so that a function of 10,000 statements has 16 bytes
/// for each.
#[derive(Clone, Debug)]
pub struct UnitRanges(Arc<[TextRange]>);

impl PartialEq for UnitRanges {
    fn eq(&self, other: &UnitRanges) -> bool {
        // Nearly all are shared with the previous version.
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Eq for UnitRanges {}

impl UnitRanges {
    pub(crate) fn new(len: TextSize, exprs: &[TextRange], others: &[TextRange]) -> UnitRanges {
        UnitRanges(UnitRanges::all(len, exprs, others).collect())
    }

    fn all<'a>(
        len: TextSize,
        exprs: &'a [TextRange],
        others: &'a [TextRange],
    ) -> impl Iterator<Item = TextRange> + 'a {
        let others = others.iter().rev();
        std::iter::once(TextRange::up_to(len)).chain(exprs.iter().chain(others).copied())
    }

    /// Returns true if these are the given ranges.
    pub(crate) fn are(&self, len: TextSize, exprs: &[TextRange], others: &[TextRange]) -> bool {
        self.0.len() == 1 + exprs.len() + others.len()
            && self.0.iter().copied().eq(UnitRanges::all(len, exprs, others))
    }

    /// Returns the range of a part other than an expression.
    pub fn range(&self, id: RangeId) -> TextRange {
        self.0[self.0.len() - 1 - id.index()]
    }

    fn len(&self) -> TextSize {
        self.0[0].end()
    }

    fn expr(&self, expr: ExprId) -> TextRange {
        self.0[1 + expr.index()]
    }
}
