//! Inference of patterns and `match` expressions.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use types::{Dim, NodeId, Type};

use super::{
    DependsOn, Finding, FindingKind, FindingSubject, Infer, Mismatch, Remark, UnitRef,
    UnresolvedName,
};
use crate::{
    body::*,
    exhaustive::{missing, unreachable},
    relations::result_of_call,
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
            if let Some(Finding { subject, kind, .. }) = findings.get(before)
                && let FindingKind::PatternType { pattern, scrutinee } = kind
                && *subject == FindingSubject::Pattern(arm.pattern.range)
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
                    if !self.is_narrowed(at, *binder, expected) {
                        self.unify_or_report(node, expected, Mismatch::Pattern { binder: *binder });
                    }
                }
                self.set_binder(*binder, node);
            }
            PatternKind::Tuple(fields) => self.tuple_pattern(at, pattern, fields, expected),
            PatternKind::Constructor(name, fields) => {
                self.constructor_pattern(at, pattern, name, fields, expected);
            }
        }
    }

    /// Returns true if a printed annotation says sizes that its field leaves open, and the printed type of a call
    /// with the variable alone follows from them. TVM 0.7 narrowed the types of fields while it inferred, and used
    /// some of the variables before:
    ///
    /// ```text
    /// type rows { Row(Tensor[(?), float32]), … }
    /// match (%a) { Row(%r: Tensor[(1), float32]) => expand_dims(%r, axis=0) /* ty=Tensor[(1, 1), float32] */, … }
    /// ```
    ///
    /// Other releases let a `?` replace the size of the annotation.
    fn is_narrowed(&self, at: UnitRef, binder: BinderId, expected: NodeId) -> bool {
        let unit = self.unit(at);
        let Some(Type::Tensor(own)) = &unit.binder(binder).annotation else { return false };
        let Type::Tensor(field) = self.solver.table.resolve(expected) else { return false };
        let is_size = |(own, field): (&Dim, &Dim)| own == field || field.is_any();
        let is_narrower = own.dtype == field.dtype
            && own.shape.len() == field.shape.len()
            && !own.shape.iter().any(Dim::is_any)
            && field.shape.iter().any(Dim::is_any)
            && own.shape.iter().zip(&field.shape).all(is_size);
        if self.env.strict() || !is_narrower {
            return false;
        }
        let own = Type::Tensor(own.clone());
        unit.uses_of(binder).into_iter().any(|used| {
            // A call follows its last argument.
            let expr = ExprId(used.0 + 1);
            let Some(Expr::Call(call)) = unit.exprs.get(expr.index()) else { return false };
            let call = unit.call(*call);
            let (Callee::Operator(operator), Some(comment)) =
                (&call.callee, unit.comment_about(Subject::Expr(expr)))
            else {
                return false;
            };
            let is_printed = |ty: Type| ty.strip_printed(&comment.text) == Some("");
            let args = std::slice::from_ref(&own);
            call.args[..] == [used]
                && result_of_call(operator, &call.attrs, args).is_some_and(is_printed)
        })
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
            let kind = match &scrutinee {
                Type::Tuple(types) if types.len() != fields.len() => FindingKind::PatternArity {
                    name: None,
                    expected: types.len(),
                    found: fields.len(),
                },
                _ => {
                    let pattern = Type::tuple(fields.iter().map(|_| Type::Error));
                    FindingKind::PatternType { pattern, scrutinee }
                }
            };
            self.find(Finding::of_pattern(pattern.range, kind));
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
            let kind = FindingKind::Unresolved(UnresolvedName::Constructor(name.clone()));
            self.find(Finding::of_text(FindingSubject::Pattern(range), kind));
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
            let kind = FindingKind::PatternType { pattern: own, scrutinee };
            self.find(Finding::of_pattern(range, kind));
        }
        if params.len() != fields.len() {
            let (expected, found) = (params.len(), fields.len());
            let kind = FindingKind::PatternArity { name: Some(name.clone()), expected, found };
            self.find(Finding::of_pattern(range, kind));
        }
        for (i, field) in fields.iter().enumerate() {
            let node = params.get(i).copied().unwrap_or_else(|| self.error_node());
            self.pattern(at, field, node);
        }
    }

    /// Returns the type of a `match`, which all arms must have.
    pub(super) fn finish_match(&mut self, at: UnitRef, id: ExprId, number: MatchId) -> NodeId {
        let data = &self.unit(at).matches[number.index()];
        let result = self.branches(at, id);
        // An ill-typed pattern makes the exhaustiveness of the arms meaningless.
        if self.current().findings.iter().any(|finding| finding.is_in_pattern_of(data)) {
            return result;
        }
        let types = &self.env.module().types;
        let patterns: Vec<&Pattern> = data.arms.iter().map(|arm| &arm.pattern).collect();
        let depends_on = DependsOn::Value(data.scrutinee);
        for arm in unreachable(types, &patterns) {
            let subject = FindingSubject::Pattern(data.arms[arm].pattern.range);
            let kind = FindingKind::Remark(Remark::Unreachable);
            self.find(Finding { subject, depends_on, kind });
        }
        if !data.partial {
            let missing = match data.arms.is_empty() {
                true => self.constructors_of(self.node(data.scrutinee)),
                false => missing(types, &patterns),
            };
            if !missing.is_empty() {
                if data.arms.is_empty() {
                    self.solver.table.set_error(result);
                }
                let (subject, kind) =
                    (FindingSubject::Expr(id), FindingKind::NotExhaustive(missing));
                self.find(Finding { subject, depends_on, kind });
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
