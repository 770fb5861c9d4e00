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

/// Numbers by the indices of a list. Many have one, so that a hash table would take longer and no less memory.
#[derive(Debug)]
struct Numbers(Vec<u32>);

/// Of an index without a number.
const NONE: u32 = u32::MAX;

impl Numbers {
    fn new(count: usize) -> Numbers {
        Numbers(vec![NONE; count])
    }

    fn get(&self, at: usize) -> Option<u32> {
        self.0.get(at).copied().filter(|&number| number != NONE)
    }

    fn set_first(&mut self, at: usize, number: u32) {
        if self.0[at] == NONE {
            self.0[at] = number;
        }
    }
}

/// The uses of the variables of a list, those of one after another.
#[derive(Debug)]
struct Uses {
    /// The start of the uses of each variable, and the end of those of the last one.
    starts: Vec<u32>,
    exprs: Vec<ExprId>,
}

impl Uses {
    /// Collects the uses of `count` variables. `used` returns the index of the one that an expression uses.
    fn new(count: usize, exprs: &[Expr], used: impl Fn(&Expr) -> Option<usize>) -> Uses {
        let mut starts = vec![0; count + 1];
        exprs.iter().filter_map(&used).for_each(|at| starts[at + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut found = vec![ExprId(0); starts.last().map_or(0, |&end| end as usize)];
        let mut next = starts.clone();
        for (expr, at) in (0..).zip(exprs).filter_map(|(expr, of)| Some((expr, used(of)?))) {
            found[next[at] as usize] = ExprId(expr);
            next[at] += 1;
        }
        Uses { starts, exprs: found }
    }

    fn of(&self, at: usize) -> &[ExprId] {
        let Some(&[start, end]) = self.starts.get(at..at + 2) else { return &[] };
        &self.exprs[start as usize..end as usize]
    }
}

#[derive(Debug)]
struct Index {
    /// The last value of each variable.
    values: Numbers,
    /// The first variable of each value.
    bound: Numbers,
    /// The uses of each variable, in order.
    uses: Uses,
    free_uses: Uses,
    globals: FxHashMap<Name, Vec<ExprId>>,
    /// The call with each callee.
    calls: FxHashMap<ExprId, ExprId>,
    /// The `if` or `match` of the tail of each branch or arm.
    given: FxHashMap<ExprId, ExprId>,
    /// The first comment about the type of each expression and of each variable, by its position among the comments.
    comments: (Numbers, Numbers),
}

impl Index {
    fn of(unit: &Unit) -> Index {
        let (exprs, binders) = (unit.exprs.len(), unit.binders.len());
        let mut index = Index {
            values: Numbers::new(binders),
            bound: Numbers::new(exprs),
            uses: Uses::new(binders, &unit.exprs, |expr| match expr {
                Expr::Bound(binder) => Some(binder.index()),
                _ => None,
            }),
            free_uses: Uses::new(unit.frees.len(), &unit.exprs, |expr| match expr {
                Expr::Free(free) => Some(free.index()),
                _ => None,
            }),
            globals: FxHashMap::default(),
            calls: FxHashMap::default(),
            given: FxHashMap::default(),
            comments: (Numbers::new(exprs), Numbers::new(binders)),
        };
        for (at, comment) in (0..).zip(&unit.type_comments) {
            match comment.subject {
                Subject::Expr(expr) => index.comments.0.set_first(expr.index(), at),
                Subject::Binder(binder) => index.comments.1.set_first(binder.index(), at),
            }
        }
        for (at, expr) in unit.exprs.iter().enumerate() {
            let at = ExprId(at as u32);
            match expr {
                Expr::Bind { binder, value, .. } => {
                    index.values.0[binder.index()] = value.0;
                    index.bound.set_first(value.index(), binder.0);
                }
                Expr::Global(name) => index.globals.entry(name.clone()).or_default().push(at),
                Expr::Call(call) => {
                    if let Callee::Expr(callee) = unit.call(*call).callee {
                        index.calls.entry(callee).or_insert(at);
                    }
                }
                Expr::If { .. } | Expr::Match(_) => {
                    for result in unit.branches_of(at) {
                        index.given.entry(result).or_insert(at);
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

    /// Returns the variables that the unit binds for those after it: the parameters, or that of a statement.
    pub fn exported(&self) -> impl DoubleEndedIterator<Item = BinderId> {
        let params = self.header().map_or(&[][..], |header| header.params.as_slice());
        params.iter().chain(&self.binds).copied()
    }

    /// Returns the variables of the unit that nothing uses, and that are not bound for other units either.
    pub fn unused_inside(&self) -> Vec<BinderId> {
        let mut used = vec![false; self.binders.len()];
        for expr in &self.exprs {
            if let Expr::Bound(binder) = expr {
                used[binder.index()] = true;
            }
        }
        self.exported().for_each(|binder| used[binder.index()] = true);
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
            Some(Index { comments: (exprs, binders), .. }) => {
                let at = match subject {
                    Subject::Expr(expr) => exprs.get(expr.index()),
                    Subject::Binder(binder) => binders.get(binder.index()),
                };
                at.map(|at| &self.type_comments[at as usize])
            }
            None => self.type_comments.iter().find(|comment| comment.subject == subject),
        }
    }

    /// Returns the value of a variable of the unit; the last one if there are several.
    pub fn value_of(&self, binder: BinderId) -> Option<ExprId> {
        match self.index() {
            Some(index) => index.values.get(binder.index()).map(ExprId),
            None => self.exprs.iter().rev().find_map(|expr| match expr {
                Expr::Bind { binder: of, value, .. } if *of == binder => Some(*value),
                _ => None,
            }),
        }
    }

    /// Returns the variable that an expression is bound to; the first one if there are several.
    pub fn bound_to(&self, value: ExprId) -> Option<BinderId> {
        match self.index() {
            Some(index) => index.bound.get(value.index()).map(BinderId),
            None => self.exprs.iter().find_map(|expr| match expr {
                Expr::Bind { binder, value: of, .. } if *of == value => Some(*binder),
                _ => None,
            }),
        }
    }

    /// Returns the uses of a variable of the unit, in order.
    pub fn uses_of(&self, binder: BinderId) -> Vec<ExprId> {
        match self.index() {
            Some(index) => index.uses.of(binder.index()).to_vec(),
            None => self.all(|expr| *expr == Expr::Bound(binder)),
        }
    }

    /// Returns the uses of a free name, in order.
    pub fn uses_of_free(&self, free: FreeId) -> Vec<ExprId> {
        match self.index() {
            Some(index) => index.free_uses.of(free.index()).to_vec(),
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
                let mut exprs = (0..self.exprs.len() as u32).map(ExprId);
                exprs.find(|&expr| self.branches_of(expr).contains(&result))
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
        features: UnitFeatures::empty(),
        releases: Releases::ALL,
        other: Releases::NONE,
    };

    #[inline]
    fn and(self, others: &UnitsSummary) -> UnitsSummary {
        UnitsSummary {
            names: self.names | others.names,
            have_one_value: self.have_one_value & others.have_one_value,
            features: self.features.union(others.features),
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
        let all = if self.summary.features.intersects(features) { self.units.len() } else { 0 };
        let parts =
            self.units.parts(0..all).filter(move |part| part.summary.features.intersects(features));
        let units = parts.flat_map(|Part { range, elements, .. }| range.zip(elements));
        let matching = units.filter(move |(_, unit)| unit.features.intersects(features));
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
                        assert_eq!(index.values.get(binder.index()).map(ExprId), last(binder));
                        let uses = unit.all(|expr| *expr == Expr::Bound(binder));
                        assert_eq!(unit.uses_of(binder), uses);
                        assert_eq!(index.uses.of(binder.index()), uses);
                    }
                    for free in (0..unit.frees.len()).map(|at| FreeId(at as u32)) {
                        let uses = unit.all(|expr| *expr == Expr::Free(free));
                        assert_eq!(index.free_uses.of(free.index()), uses);
                    }
                    for (name, expr) in unit.globals() {
                        assert!(unit.uses_of_global(name).contains(&expr));
                        assert_eq!(index.globals[name], unit.uses_of_global(name));
                        assert_eq!(index.calls.get(&expr).copied(), unit.call_of(expr));
                    }
                    for expr in (0..unit.exprs.len()).map(|at| ExprId(at as u32)) {
                        assert_eq!(
                            index.bound.get(expr.index()).map(BinderId),
                            unit.bound_to(expr)
                        );
                        assert_eq!(index.given.get(&expr).copied(), unit.given_by(expr));
                    }
                }
            }
        }
    }
}
