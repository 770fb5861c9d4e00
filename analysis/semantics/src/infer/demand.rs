//! Relations that fail because their result is written down as something else.
//!
//! In `let %y: Tensor[(2), float16] = exp(%x);` the rule of `exp` finds its result decided before it
//! runs, as in TVM, and fails. What is wrong is the annotation, and that is what is said.

use types::{Place, Reason, RelationId, State, Table, Type, probe};

use super::{At, Finding, Infer, Mismatch};
use crate::body::*;

impl Infer<'_> {
    /// The finding about a relation that failed: about what is written, where that alone is in its
    /// way.
    pub(super) fn failed(
        &self,
        id: RelationId,
        at: At,
        expr: ExprId,
        reason: Box<Reason>,
    ) -> Finding {
        let is_result = reason.marks.first().is_some_and(|mark| mark.place == Place::Result);
        let mismatch = is_result.then(|| self.demand(id, at, expr)).flatten();
        mismatch.unwrap_or(Finding::Relation { expr, reason })
    }

    fn demand(&self, id: RelationId, at: At, expr: ExprId) -> Option<Finding> {
        let (what, wanted) = self.written_for(at, expr)?;
        let mut inputs = self.solver.arg_types(id);
        inputs.pop();
        let relation = &self.solver.entry(id).relation;
        let names = operators::named(relation.operator)?.args;
        let (state, mut types) = probe(relation, names, &inputs);
        let found = types.pop().filter(|_| state == State::Solved)?;
        if !wanted.is_closed() || !found.is_closed() {
            return None;
        }
        let mut table = Table::new();
        let (a, b) = (table.import(wanted), table.import(&found));
        let conflict = table.unify(a, b).err()?;
        Some(Finding::Mismatch { what, found, wanted: wanted.clone(), conflict })
    }

    /// The type that is written down for the value of an expression, and where.
    fn written_for(&self, at: At, expr: ExprId) -> Option<(Mismatch, &Type)> {
        let unit = self.unit(at);
        if unit.kind == UnitKind::Tail && unit.root == Some(expr) {
            let ret = self.body(at).header()?.ret.as_ref()?;
            return Some((Mismatch::Result { function: None, value: expr }, ret));
        }
        let bound = unit.exprs.iter().find_map(|other| match *other {
            Expr::Bind { binder, value, .. } if value == expr => Some(binder),
            _ => None,
        });
        if let Some(binder) = bound {
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
