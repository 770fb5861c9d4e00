//! Inference of the values of `if` and `match`, whose branches have one type.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use types::{Conflict, NodeId, Type};

use super::{Finding, Infer, Mismatch, UnitRef};
use crate::body::*;

/// The maximum number of branches around a branch through which its declared type is searched.
const MAX_AROUND: usize = 32;

/// Two types that cannot be unified.
pub(super) struct Clash {
    pub(super) expected: Type,
    pub(super) found: Type,
    pub(super) conflict: Box<Conflict>,
}

impl Infer<'_> {
    /// Returns the type of an `if` or a `match`, which all its branches must have.
    pub(super) fn branches(&mut self, at: UnitRef, id: ExprId) -> NodeId {
        self.note_effect(id);
        let branches = self.unit(at).branches_of(id);
        let nodes: SmallVec<[NodeId; 4]> =
            branches.iter().map(|&branch| self.value(at, branch)).collect();
        // Operators compute their results first. Otherwise the first branch would decide what an operator in another
        // one has to return, and the operator would be blamed.
        if nodes.iter().any(|&node| self.solver.table.is_unknown(node)) {
            self.solve();
        }
        let Some((&first, others)) = nodes.split_first() else { return self.solver.table.fresh() };
        let mut clashes: SmallVec<[(usize, Clash); 1]> = SmallVec::new();
        for (branch, &node) in (1..).zip(others) {
            if let Err(clash) = self.unify(first, node) {
                clashes.push((branch, clash));
            }
        }
        if clashes.is_empty() {
            return self.solver.table.find(first);
        }
        self.report_branches(at, id, &nodes, clashes)
    }

    /// Reports branches with different types. Returns the type that is right: the declared one if a branch has it,
    /// or else that of most branches.
    fn report_branches(
        &mut self,
        at: UnitRef,
        id: ExprId,
        nodes: &[NodeId],
        clashes: SmallVec<[(usize, Clash); 1]>,
    ) -> NodeId {
        let types: Vec<Type> = nodes.iter().map(|&node| self.solver.table.resolve(node)).collect();
        let is_known = |ty: &Type| ty.is_closed() && !ty.has_error();
        let declared = self.declared_type(at, id).filter(is_known).and_then(|ty| {
            types.iter().position(|own| is_known(own) && self.conflict(&ty, own).is_none())
        });
        let is_declared = declared.is_some();
        let right = declared.unwrap_or_else(|| {
            let mut votes: FxHashMap<&Type, usize> = FxHashMap::default();
            types.iter().for_each(|ty| *votes.entry(ty).or_default() += 1);
            // The first one of those with most votes.
            let all = types.iter().enumerate().rev();
            let most = all.max_by_key(|(_, ty)| votes[ty] * usize::from(is_known(ty)));
            most.map_or(0, |(branch, _)| branch)
        });
        let mut reported: SmallVec<[&Type; 2]> = SmallVec::new();
        for (branch, found) in types.iter().enumerate() {
            let Some(conflict) = self.conflict(&types[right], found) else { continue };
            if !reported.contains(&found) {
                reported.push(found);
                let what = Mismatch::Branch { expr: id, branch, other: right, is_declared };
                self.find(Finding::mismatch(what, found.clone(), types[right].clone(), conflict));
            }
        }
        // Types with open parts, as those of literals, are compared where they are unified.
        if reported.is_empty() {
            for (branch, Clash { expected, found, conflict }) in clashes {
                let what = Mismatch::Branch { expr: id, branch, other: 0, is_declared: false };
                self.find(Finding::mismatch(what, found, expected, conflict));
            }
        }
        // What uses the value is reported only if it is wrong for the declared type.
        if !is_declared && self.assumes() {
            self.current().assumed.push(id);
        }
        self.solver.table.find(nodes[right])
    }

    /// Returns the conflict between two closed types.
    fn conflict(&mut self, expected: &Type, found: &Type) -> Option<Box<Conflict>> {
        if !expected.is_closed() || !found.is_closed() || expected == found {
            return None;
        }
        let table = &mut self.solver.table;
        let (expected, found) = (table.import(expected), table.import(found));
        table.unify(expected, found).err()
    }

    /// Returns the type that is declared for the value of an expression: by the variable that it is bound to, or by
    /// the function whose result it is. A branch is the value of the `if` or `match` around it.
    fn declared_type(&mut self, at: UnitRef, expr: ExprId) -> Option<Type> {
        let unit = self.unit(at);
        let mut outer = expr;
        for _ in 0..MAX_AROUND {
            let Some(next) = unit.given_by(outer) else { break };
            outer = next;
        }
        let (_, written) = self.written_for(at, outer)?;
        let written = written.clone();
        let node = self.import_written(&written);
        Some(self.solver.table.resolve(node))
    }
}
