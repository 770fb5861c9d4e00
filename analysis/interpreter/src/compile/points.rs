//! The points of a definition at which a debugger can stop: before the value of each binding, and before the result
//! of each region.
//!
//! A statement begins where the evaluation of its value does: `let %y = add(exp(%x), %z)` has one point, before
//! `exp(%x)`.

use semantics::{
    ExprRef, View,
    body::{Expr, ExprId, LocalRef, Region, Unit, UnitId, UnitKind},
};
use syntax::TextRange;

/// What is evaluated after a point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointKind {
    /// The body of the definition; the range is that of its first token.
    Definition,
    /// The value of a variable; the range is that of its name.
    Binding(LocalRef),
    /// The result of an arm or of a function; the range is that of the expression.
    Result,
}

/// A point of the text at which a run can stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// The range that identifies the point in its file.
    pub range: TextRange,
    /// What is evaluated after it.
    pub kind: PointKind,
}

/// Returns the points of a definition in the order of its text.
pub fn points(view: &View<'_>) -> Vec<Point> {
    let mut all = vec![Point { range: entry(view), kind: PointKind::Definition }];
    for (number, unit) in view.body.units() {
        all.extend(of_unit(view, number, unit).into_iter().map(|(_, point)| point));
    }
    all.sort_by_key(|point| (point.range.start(), point.range.end()));
    all.dedup_by_key(|point| point.range);
    all
}

/// Returns the range of the point before the body of a definition: its first token.
pub(super) fn entry(view: &View<'_>) -> TextRange {
    let whole = view.def.range(view.db);
    view.first_token().unwrap_or(TextRange::empty(whole.start()))
}

/// Returns the points of a unit, each with the expression before which it lies.
pub(super) fn of_unit(view: &View<'_>, number: UnitId, unit: &Unit) -> Vec<(ExprId, Point)> {
    let count = unit.exprs.len() as u32;
    let mut regions: Vec<Region> = Vec::new();
    if let Some(result) = unit.root.filter(|_| is_result(unit.kind)) {
        regions.push(Region { start: 0, end: count, result });
    }
    for expr in &unit.exprs {
        match expr {
            Expr::If { then, otherwise, .. } => regions.extend([*then, *otherwise]),
            Expr::Match(at) => {
                let arms = unit.matches.get(at.index()).map(|data| data.arms.as_slice());
                regions.extend(arms.unwrap_or_default().iter().map(|arm| arm.body));
            }
            Expr::Fn(at) => regions.extend(unit.fns.get(at.index()).and_then(|data| data.body)),
            _ => {}
        }
    }
    // Outer regions precede the inner ones that start where they do.
    regions.retain(|region| region.start < region.end && region.end <= count);
    regions.sort_by_key(|region| (region.start, std::cmp::Reverse(region.end)));
    let mut found = Vec::new();
    let mut open: Vec<(Region, u32)> = Vec::new();
    let mut next = regions.into_iter().peekable();
    for index in 0..=count {
        while let Some((region, begin)) = open.pop_if(|(region, _)| region.end <= index) {
            let range = view.range(ExprRef { unit: number, expr: region.result });
            if begin < region.end {
                found.push((ExprId(begin), Point { range, kind: PointKind::Result }));
            }
        }
        while let Some(region) = next.next_if(|region| region.start == index) {
            open.push((region, region.start));
        }
        if let Some(Expr::Bind { binder, start, .. }) = unit.exprs.get(index as usize) {
            let binding = LocalRef { unit: number, binder: *binder };
            let range = view.binding_range(binding);
            found.push((*start, Point { range, kind: PointKind::Binding(binding) }));
            if let Some((_, begin)) = open.last_mut() {
                *begin = index + 1;
            }
        }
    }
    found.sort_by_key(|(before, point)| (*before, point.range.start()));
    found
}

fn is_result(kind: UnitKind) -> bool {
    matches!(kind, UnitKind::Tail | UnitKind::Sequence)
}
