//! Lowering of the patterns of `match` arms.

use syntax::{
    Node, NodeOrToken,
    ast::{self, AstNode},
};

use super::{Lowerer, shared::is_claim};
use crate::body::{BinderKind, Pattern, PatternKind, ProblemKind, Subject};

impl Lowerer {
    /// Reports a `match?` without arms; `match` without arms is not exhaustive.
    pub(super) fn require_arms(&mut self, expr: ast::MatchExpr<'_>) {
        let is_empty = expr.arms().is_some_and(|list| list.node().children().next().is_none());
        if is_empty && expr.partial().is_some() {
            self.problem(expr.range(), ProblemKind::NoArms);
        }
    }

    /// Lowers a pattern and binds its variables.
    pub(super) fn pattern(&mut self, pattern: ast::Pattern<'_>) -> Pattern {
        let range = self.range(pattern.range());
        let kind = match pattern {
            ast::Pattern::WildcardPat(_) => PatternKind::Wildcard,
            ast::Pattern::VarPat(var) => {
                let mut binder = self.binder(var.name(), BinderKind::Pattern);
                binder.annotation = var.ty().map(|ty| self.ty(ty.node()));
                PatternKind::Var(self.bind(binder))
            }
            ast::Pattern::ConstructorPat(constructor) => {
                let name = constructor.name().map(|n| n.text().into()).unwrap_or_default();
                PatternKind::Constructor(name, self.patterns(constructor.node()))
            }
            ast::Pattern::TuplePat(tuple) => PatternKind::Tuple(self.patterns(tuple.node())),
        };
        Pattern { range, kind }
    }

    /// Lowers the patterns under `node`, with the comments after them.
    fn patterns(&mut self, node: Node<'_>) -> Vec<Pattern> {
        let mut patterns: Vec<Pattern> = Vec::new();
        for element in node.elements() {
            match element {
                NodeOrToken::Node(node) => {
                    if let Some(pattern) = ast::Pattern::cast(node) {
                        let pattern = self.pattern(pattern);
                        patterns.push(pattern);
                    }
                }
                NodeOrToken::Token(token) if is_claim(&token) => {
                    if let Some(PatternKind::Var(binder)) = patterns.last().map(|p| &p.kind) {
                        let about = Subject::Binder(*binder);
                        self.type_comment(about, token.range(), token.text());
                    }
                }
                NodeOrToken::Token(_) => {}
            }
        }
        patterns
    }
}
