//! Lookups in a unit: its parts, and the uses of its expressions.
//!
//! Each finding needs a few lookups. Most units have few expressions, and are searched linearly. A
//! unit that contains a function with thousands of statements gets an index on the first lookup.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use types::{AttrValue, Releases};

use super::{
    Binder, BinderId, Body, CallData, CallId, Callee, Expr, ExprId, FreeId, Function, Name,
    Subject, TypeComment, Unit, UnitId, UnitKind, Units,
};
use crate::{
    features::UnitFeatures,
    list::{self, Part},
};

/// The maximum number of expressions that are searched linearly.
const MAX_LINEAR: usize = 48;

/// The index of a unit, built on first use. It is computed from the unit, so that it does not take
/// part in comparisons.
#[derive(Debug, Default)]
pub(crate) struct LazyIndex(OnceLock<Box<Index>>);

impl Clone for LazyIndex {
    fn clone(&self) -> LazyIndex {
        LazyIndex::default()
    }
}

#[derive(Debug, Default)]
struct Index {
    /// The last value of each variable.
    values: FxHashMap<BinderId, ExprId>,
    /// The first variable of each value.
    bound: FxHashMap<ExprId, BinderId>,
    /// The uses of each variable, in order.
    uses: FxHashMap<BinderId, Vec<ExprId>>,
    free_uses: FxHashMap<FreeId, Vec<ExprId>>,
    globals: FxHashMap<Name, Vec<ExprId>>,
    /// The call with each callee.
    calls: FxHashMap<ExprId, ExprId>,
    /// The `if` or `match` of the tail of each branch or arm.
    given: FxHashMap<ExprId, ExprId>,
    /// The first comment about the type of each subject, by its position among the comments.
    comments: FxHashMap<Subject, u32>,
}

impl Index {
    fn of(unit: &Unit) -> Index {
        let mut index = Index::default();
        for (at, comment) in (0..).zip(&unit.type_comments) {
            index.comments.entry(comment.subject).or_insert(at);
        }
        for (at, expr) in unit.exprs.iter().enumerate() {
            let at = ExprId(at as u32);
            match expr {
                Expr::Bind { binder, value, .. } => {
                    index.values.insert(*binder, *value);
                    index.bound.entry(*value).or_insert(*binder);
                }
                Expr::Bound(binder) => index.uses.entry(*binder).or_default().push(at),
                Expr::Free(free) => index.free_uses.entry(*free).or_default().push(at),
                Expr::Global(name) => index.globals.entry(name.clone()).or_default().push(at),
                Expr::Call(call) => {
                    if let Callee::Expr(callee) = unit.call(*call).callee {
                        index.calls.entry(callee).or_insert(at);
                    }
                }
                Expr::If { then, otherwise, .. } => {
                    index.given.entry(then.result).or_insert(at);
                    index.given.entry(otherwise.result).or_insert(at);
                }
                Expr::Match(id) => {
                    for arm in &unit.matches[id.index()].arms {
                        index.given.entry(arm.body.result).or_insert(at);
                    }
                }
                _ => {}
            }
        }
        index
    }
}

impl Unit {
    /// Returns an expression.
    pub fn expr(&self, expr: ExprId) -> &Expr {
        &self.exprs[expr.index()]
    }

    /// Returns a variable.
    pub fn binder(&self, binder: BinderId) -> &Binder {
        &self.binders[binder.index()]
    }

    /// Returns a call.
    pub fn call(&self, call: CallId) -> &CallData {
        &self.calls[call.index()]
    }

    /// Returns the function of a header unit.
    pub fn header(&self) -> Option<&Function> {
        (self.kind == UnitKind::Header).then(|| self.fns.first()).flatten()
    }

    /// Returns the globals that the unit uses.
    pub fn globals(&self) -> impl Iterator<Item = (&Name, ExprId)> {
        self.exprs.iter().enumerate().filter_map(|(i, expr)| match expr {
            Expr::Global(name) => Some((name, ExprId(i as u32))),
            _ => None,
        })
    }

    /// Returns the variables of the unit that nothing uses, and that are not bound for other units either.
    pub fn unused_inside(&self) -> Vec<BinderId> {
        let mut used = vec![false; self.binders.len()];
        for expr in &self.exprs {
            if let Expr::Bound(binder) = expr {
                used[binder.index()] = true;
            }
        }
        let params = self.header().map_or(&[][..], |header| header.params.as_slice());
        params.iter().chain(&self.binds).for_each(|binder| used[binder.index()] = true);
        let unused = used.iter().enumerate().filter(|(_, used)| !**used);
        unused.map(|(binder, _)| BinderId(binder as u32)).collect()
    }

    fn index(&self) -> Option<&Index> {
        (self.exprs.len() > MAX_LINEAR)
            .then(|| &**self.index.0.get_or_init(|| Box::new(Index::of(self))))
    }

    /// Returns the expressions that satisfy `predicate`.
    fn all(&self, predicate: impl Fn(&Expr) -> bool) -> Vec<ExprId> {
        let exprs = self.exprs.iter().enumerate();
        exprs.filter(|(_, expr)| predicate(expr)).map(|(at, _)| ExprId(at as u32)).collect()
    }

    /// Returns the comment about the type of an expression or a variable; the first one if there are several.
    pub fn comment_about(&self, subject: Subject) -> Option<&TypeComment> {
        match self.index() {
            Some(index) => index.comments.get(&subject).map(|&at| &self.type_comments[at as usize]),
            None => self.type_comments.iter().find(|comment| comment.subject == subject),
        }
    }

    /// Returns the value of a variable of the unit; the last one if there are several.
    pub fn value_of(&self, binder: BinderId) -> Option<ExprId> {
        match self.index() {
            Some(index) => index.values.get(&binder).copied(),
            None => self.exprs.iter().rev().find_map(|expr| match expr {
                Expr::Bind { binder: of, value, .. } if *of == binder => Some(*value),
                _ => None,
            }),
        }
    }

    /// Returns the variable that an expression is bound to; the first one if there are several.
    pub fn bound_to(&self, value: ExprId) -> Option<BinderId> {
        match self.index() {
            Some(index) => index.bound.get(&value).copied(),
            None => self.exprs.iter().find_map(|expr| match expr {
                Expr::Bind { binder, value: of, .. } if *of == value => Some(*binder),
                _ => None,
            }),
        }
    }

    /// Returns the uses of a variable of the unit, in order.
    pub fn uses_of(&self, binder: BinderId) -> Vec<ExprId> {
        match self.index() {
            Some(index) => index.uses.get(&binder).cloned().unwrap_or_default(),
            None => self.all(|expr| *expr == Expr::Bound(binder)),
        }
    }

    /// Returns the uses of a free name, in order.
    pub fn uses_of_free(&self, free: FreeId) -> Vec<ExprId> {
        match self.index() {
            Some(index) => index.free_uses.get(&free).cloned().unwrap_or_default(),
            None => self.all(|expr| *expr == Expr::Free(free)),
        }
    }

    /// Returns the uses of a global, in order.
    pub fn uses_of_global(&self, name: &str) -> Vec<ExprId> {
        match self.index() {
            Some(index) => index.globals.get(name).cloned().unwrap_or_default(),
            None => self.all(|expr| matches!(expr, Expr::Global(used) if used == name)),
        }
    }

    /// Returns the call with the callee `callee`.
    pub fn call_of(&self, callee: ExprId) -> Option<ExprId> {
        match self.index() {
            Some(index) => index.calls.get(&callee).copied(),
            None => {
                let calls = |expr: &Expr| match expr {
                    Expr::Call(call) => self.call(*call).callee == Callee::Expr(callee),
                    _ => false,
                };
                self.exprs.iter().position(calls).map(|at| ExprId(at as u32))
            }
        }
    }

    /// Returns the values of the branches of an `if`, or of the arms of a `match`, in order.
    pub fn branches_of(&self, expr: ExprId) -> SmallVec<[ExprId; 4]> {
        match self.expr(expr) {
            Expr::If { then, otherwise, .. } => smallvec![then.result, otherwise.result],
            Expr::Match(id) => {
                self.matches[id.index()].arms.iter().map(|arm| arm.body.result).collect()
            }
            _ => SmallVec::new(),
        }
    }

    /// Returns the `if` or `match` with a branch or an arm that ends in `result`.
    pub fn given_by(&self, result: ExprId) -> Option<ExprId> {
        match self.index() {
            Some(index) => index.given.get(&result).copied(),
            None => {
                let gives = |expr: &Expr| match expr {
                    Expr::If { then, otherwise, .. } => {
                        then.result == result || otherwise.result == result
                    }
                    Expr::Match(id) => {
                        let mut arms = self.matches[id.index()].arms.iter();
                        arms.any(|arm| arm.body.result == result)
                    }
                    _ => false,
                };
                self.exprs.iter().position(gives).map(|at| ExprId(at as u32))
            }
        }
    }
}

/// Returns a bit that depends on a name: names with other bits are other names.
///
/// Names that differ in the last two characters alone have the same bit, if they are long. The statements of a chunk have
/// consecutive numbers, and thus few bits.
pub(crate) fn name_bit(name: &str) -> u64 {
    let stem = &name.as_bytes()[..name.len().saturating_sub(2)];
    let word = match stem.last_chunk() {
        Some(last) => u32::from_le_bytes(*last),
        None => stem.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)),
    };
    // The upper bits of the product with a large odd number depend on all bits.
    1 << (word.wrapping_mul(0x9e37_79b1) >> 26)
}

/// The summary of some units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitsSummary {
    /// The bits of the names that they bind; see [`name_bit`].
    names: u64,
    /// See [`Unit::is_one_value`].
    have_one_value: bool,
    features: UnitFeatures,
    /// The releases of TVM that write all calls of the units.
    pub releases: Releases,
    /// Other releases than 0.14 in which a call may have another meaning.
    pub other: Releases,
}

impl UnitsSummary {
    const NONE: UnitsSummary = UnitsSummary {
        names: 0,
        have_one_value: true,
        features: UnitFeatures::NONE,
        releases: Releases::ALL,
        other: Releases::NONE,
    };

    #[inline]
    fn and(self, others: &UnitsSummary) -> UnitsSummary {
        UnitsSummary {
            names: self.names | others.names,
            have_one_value: self.have_one_value & others.have_one_value,
            features: self.features.or(others.features),
            releases: self.releases.and(others.releases),
            other: self.other.or(others.other),
        }
    }
}

impl list::Summary<Arc<Unit>> for UnitsSummary {
    fn of(units: &[Arc<Unit>]) -> UnitsSummary {
        units.iter().fold(UnitsSummary::NONE, |all, unit| {
            all.and(&UnitsSummary {
                names: unit.name_summary,
                have_one_value: unit.is_one_value,
                features: unit.features,
                releases: unit.releases,
                other: unit.other,
            })
        })
    }
}

impl Body {
    /// Returns the body of units.
    pub(crate) fn new(units: Units) -> Body {
        let summaries = units.parts(0..units.len()).map(|part| part.summary);
        let summary = summaries.fold(UnitsSummary::NONE, UnitsSummary::and);
        Body { units, summary }
    }

    /// Returns the units with any of `features`, in order.
    pub fn units_with(&self, features: UnitFeatures) -> impl Iterator<Item = UnitId> {
        let all = if self.summary.features.has(features) { self.units.len() } else { 0 };
        let parts =
            self.units.parts(0..all).filter(move |part| part.summary.features.has(features));
        let units = parts.flat_map(|Part { range, elements, .. }| range.zip(elements));
        let matching = units.filter(move |(_, unit)| unit.features.has(features));
        matching.map(|(number, _)| UnitId(number as u32))
    }

    /// Returns the units of a range that may bind a name with one of some bits, with their numbers, in order.
    pub(crate) fn units_with_names(
        &self,
        bits: u64,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = (UnitId, &Arc<Unit>)> {
        let parts = self.units.parts(range).filter(move |part| part.summary.names & bits != 0);
        let units = parts.flat_map(|Part { range, elements, .. }| {
            (range.start as u32..range.end as u32).map(UnitId).zip(elements)
        });
        units.filter(move |(_, unit)| unit.name_summary & bits != 0)
    }

    /// Returns true if it is known that each unit of a range binds one value; see [`Unit::is_one_value`].
    pub(crate) fn have_one_value(&self, range: Range<usize>) -> bool {
        self.units.parts(range).all(|part| part.summary.have_one_value)
    }
}

/// Returns true if a value or a part of it is in the metadata section.
pub(crate) fn has_meta(value: &AttrValue) -> bool {
    match value {
        AttrValue::Meta { .. } => true,
        AttrValue::List(values) => values.iter().any(has_meta),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{all_defs, body, db::Database};

    /// Checks that an indexed lookup equals a linear search.
    #[test]
    fn indexed_lookups_equal_linear_searches() {
        let one = "
          let %a = if (%c) { @f(%x) } else { match (%x) { %y => @g(%y, %x) } };
          let %b = fn (%z) { %0 = @f(%z); %1 = (%0, %a); %1.0 };
          %2 = %b(%a);
          let %a = @h;
        ";
        for times in [1, 2, 3, 20] {
            let text = format!(
                "def @main(%x, %c) {{ let %all = fn () {{ {} %x }}; %all }}",
                one.repeat(times)
            );
            let db = Database::new();
            let file = db.add_file(&text, syntax::ParseLimits::default());
            for def in all_defs(&db, file) {
                for unit in &body(&db, def).units {
                    let index = Index::of(unit);
                    let last = |binder| {
                        unit.exprs.iter().rev().find_map(|expr| match expr {
                            Expr::Bind { binder: of, value, .. } if *of == binder => Some(*value),
                            _ => None,
                        })
                    };
                    for binder in (0..unit.binders.len()).map(|at| BinderId(at as u32)) {
                        assert_eq!(unit.value_of(binder), last(binder));
                        assert_eq!(index.values.get(&binder).copied(), last(binder));
                        let uses = unit.all(|expr| *expr == Expr::Bound(binder));
                        assert_eq!(unit.uses_of(binder), uses);
                        assert_eq!(index.uses.get(&binder).cloned().unwrap_or_default(), uses);
                    }
                    for free in (0..unit.frees.len()).map(|at| FreeId(at as u32)) {
                        let uses = unit.all(|expr| *expr == Expr::Free(free));
                        assert_eq!(index.free_uses.get(&free).cloned().unwrap_or_default(), uses);
                    }
                    for (name, expr) in unit.globals() {
                        assert!(unit.uses_of_global(name).contains(&expr));
                        assert_eq!(index.globals[name], unit.uses_of_global(name));
                        assert_eq!(index.calls.get(&expr).copied(), unit.call_of(expr));
                    }
                    for expr in (0..unit.exprs.len()).map(|at| ExprId(at as u32)) {
                        assert_eq!(index.bound.get(&expr).copied(), unit.bound_to(expr));
                        assert_eq!(index.given.get(&expr).copied(), unit.given_by(expr));
                    }
                }
            }
        }
    }
}
