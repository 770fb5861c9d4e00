//! Inference of patterns and `match` expressions.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use types::{NodeId, Type};

use super::{Finding, Infer, Mismatch, UnitRef};
use crate::{
    body::*,
    exhaustive::{Shape, missing, unreachable},
};

impl Infer<'_> {
    /// Types the patterns of a `match` against the matched value.
    pub(super) fn enter_match(&mut self, at: UnitRef, id: MatchId) -> NodeId {
        let data = &self.unit(at).matches[id.index()];
        let scrutinee = self.value(at, data.scrutinee);
        // A wrong type of the matched value is reported once, not for each arm.
        let mut reported: FxHashSet<(Type, Type)> = FxHashSet::default();
        for arm in &data.arms {
            let before = self.current().findings.len();
            self.pattern(at, &arm.pattern, scrutinee);
            let findings = &mut self.current().findings;
            if let Some(Finding::PatternType { range, pattern, scrutinee }) = findings.get(before)
                && *range == arm.pattern.range
                && !reported.insert((pattern.clone(), scrutinee.clone()))
            {
                findings.remove(before);
            }
        }
        scrutinee
    }

    fn pattern(&mut self, at: UnitRef, pattern: &Pattern, expected: NodeId) {
        match &pattern.kind {
            PatternKind::Wildcard => {}
            PatternKind::Var(binder) => {
                let mut node = expected;
                if self.unit(at).binder(*binder).annotation.is_some() {
                    node = self.annotated(at, *binder);
                    self.unify_or_report(node, expected, Mismatch::Pattern { binder: *binder });
                }
                self.set_binder(*binder, node);
            }
            PatternKind::Tuple(fields) => self.tuple_pattern(at, pattern, fields, expected),
            PatternKind::Constructor(name, fields) => {
                self.constructor_pattern(at, pattern, name, fields, expected);
            }
        }
    }

    fn tuple_pattern(
        &mut self,
        at: UnitRef,
        pattern: &Pattern,
        fields: &[Pattern],
        expected: NodeId,
    ) {
        let nodes: SmallVec<[NodeId; 4]> =
            fields.iter().map(|_| self.solver.table.fresh()).collect();
        let tuple = self.solver.table.tuple(nodes.iter().copied());
        let scrutinee = self.solver.table.resolve(expected);
        if self.solver.table.unify(expected, tuple).is_err() {
            for &node in &nodes {
                self.solver.table.set_error(node);
            }
            let range = pattern.range;
            let finding = match &scrutinee {
                Type::Tuple(types) if types.len() != fields.len() => Finding::PatternArity {
                    range,
                    name: None,
                    expected: types.len(),
                    found: fields.len(),
                },
                _ => {
                    let pattern = Type::tuple(fields.iter().map(|_| Type::Error));
                    Finding::PatternType { range, pattern, scrutinee }
                }
            };
            self.find(finding);
        }
        for (field, &node) in fields.iter().zip(&nodes) {
            self.pattern(at, field, node);
        }
    }

    fn constructor_pattern(
        &mut self,
        at: UnitRef,
        pattern: &Pattern,
        name: &Name,
        fields: &[Pattern],
        expected: NodeId,
    ) {
        let range = pattern.range;
        let Some((adt, constructor)) = self.env.module().types.constructor(name) else {
            self.find(Finding::UnknownConstructor { range, name: name.clone() });
            let error = self.error_node();
            for field in fields {
                self.pattern(at, field, error);
            }
            return;
        };
        let own = adt.own_type();
        let node = self.solver.table.import(&constructor.ty);
        let node = match self.solver.table.as_poly(node) {
            Some(poly) => self.solver.table.instantiate(&poly).0,
            None => node,
        };
        let Some((params, ret)) = self.solver.table.signature(node) else { return };
        let scrutinee = self.solver.table.resolve(expected);
        if self.solver.table.unify(expected, ret).is_err() {
            self.find(Finding::PatternType { range, pattern: own, scrutinee });
        }
        if params.len() != fields.len() {
            let (expected, found) = (params.len(), fields.len());
            let name = Some(name.clone());
            self.find(Finding::PatternArity { range, name, expected, found });
        }
        for (i, field) in fields.iter().enumerate() {
            let node = params.get(i).copied().unwrap_or_else(|| self.error_node());
            self.pattern(at, field, node);
        }
    }

    /// Returns the type of a `match`, which all arms must have.
    pub(super) fn finish_match(&mut self, at: UnitRef, id: ExprId, number: MatchId) -> NodeId {
        let data = &self.unit(at).matches[number.index()];
        let result = self.solver.table.fresh();
        for (i, arm) in data.arms.iter().enumerate() {
            let node = self.value(at, arm.body.result);
            self.unify_or_report(result, node, Mismatch::Arm { expr: id, arm: i });
        }
        // An ill-typed pattern makes the exhaustiveness of the arms meaningless.
        let is_broken = |finding: &Finding| match finding {
            Finding::UnknownConstructor { range, .. }
            | Finding::PatternArity { range, .. }
            | Finding::PatternType { range, .. } => data.has_pattern(*range),
            _ => false,
        };
        if self.current().findings.iter().any(is_broken) {
            return result;
        }
        let types = &self.env.module().types;
        let shapes: Vec<Shape> = data.arms.iter().map(|arm| Shape::of(&arm.pattern)).collect();
        for arm in unreachable(types, &shapes) {
            self.find(Finding::Unreachable { expr: id, arm });
        }
        if !data.partial {
            let missing = match data.arms.is_empty() {
                true => self.constructors_of(self.node(data.scrutinee)),
                false => missing(types, &shapes),
            };
            if !missing.is_empty() {
                if data.arms.is_empty() {
                    self.solver.table.set_error(result);
                }
                self.find(Finding::NotExhaustive { expr: id, missing });
            }
        }
        self.solver.table.find(result)
    }

    /// Returns patterns for all values of a type: its constructors if it is a data type.
    fn constructors_of(&self, node: NodeId) -> Vec<String> {
        let Type::Adt(adt) = self.solver.table.resolve(node) else { return vec!["_".into()] };
        let Some(adt) = self.env.module().types.adt(adt.name()) else { return Vec::new() };
        let pattern = |constructor: &crate::adt::Constructor| match constructor.fields.len() {
            0 => constructor.name.to_string(),
            n => format!("{}({})", constructor.name, vec!["_"; n].join(", ")),
        };
        adt.constructors.iter().map(pattern).collect()
    }
}
