//! Relations that fail because of the annotation of their result.
//!
//! In `let %y: Tensor[(2), float16] = exp(%x);` the annotation decides the result before the rule
//! of `exp` is solved, as in TVM, and the rule fails. The finding reports the annotation instead of
//! the rule.

use types::{Place, Reason, RelationId, State, Table, Type, probe};

use super::{Finding, FindingKind, Infer, Mismatch, UnitRef};
use crate::body::*;

impl Infer<'_> {
    /// Returns the finding for a failed relation: a mismatch with an annotation if the relation
    /// holds without it.
    pub(super) fn failed(
        &self,
        id: RelationId,
        at: UnitRef,
        expr: ExprId,
        reason: Box<Reason>,
    ) -> Finding {
        let is_result = reason.marks.first().is_some_and(|mark| mark.place == Place::Result);
        let mismatch = is_result.then(|| self.demand(id, at, expr)).flatten();
        let operator = self.solver.entry(id).relation.operator;
        mismatch.unwrap_or_else(|| {
            Finding::of_operands(expr, FindingKind::Relation { operator, reason })
        })
    }

    fn demand(&self, id: RelationId, at: UnitRef, expr: ExprId) -> Option<Finding> {
        let (what, expected) = self.written_for(at, expr)?;
        let mut inputs = self.solver.arg_types(id);
        inputs.pop();
        let relation = &self.solver.entry(id).relation;
        let names = operators::named(relation.operator)?.args;
        let (state, mut types) = probe(relation, names, &inputs);
        let found = types.pop().filter(|_| state == State::Solved)?;
        if !expected.is_closed() || !found.is_closed() {
            return None;
        }
        let mut table = Table::new();
        let (a, b) = (table.import(expected), table.import(&found));
        let conflict = table.unify(a, b).err()?;
        Some(Finding::mismatch(what, found, expected.clone(), conflict))
    }

    /// Returns the declared type of the value of an expression, and its place.
    pub(super) fn written_for(&self, at: UnitRef, expr: ExprId) -> Option<(Mismatch, &Type)> {
        let unit = self.unit(at);
        if unit.kind == UnitKind::Tail && unit.root == Some(expr) {
            let ret = self.body(at).header()?.ret.as_ref()?;
            return Some((Mismatch::Result { function: None, value: expr }, ret));
        }
        if let Some(binder) = unit.bound_to(expr) {
            let what = Mismatch::Annotation { binder, value: expr };
            return Some((what, unit.binder(binder).annotation.as_ref()?));
        }
        unit.fns.iter().enumerate().find_map(|(number, function)| {
            let result = function.body.as_ref()?.result;
            let what = Mismatch::Result { function: Some(FnId(number as u32)), value: expr };
            Some((what, function.ret.as_ref().filter(|_| result == expr)?))
        })
    }
}
