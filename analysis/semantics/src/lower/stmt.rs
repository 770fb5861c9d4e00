//! Lowering of blocks and statements.

use syntax::{
    Node, NodeOrToken, SyntaxKind, Token,
    ast::{self, AstNode},
};

use super::{Lowerer, shared::is_claim};
use crate::body::*;

impl Lowerer {
    /// Lowers a block; returns its tail expression.
    pub(super) fn block(&mut self, block: Node<'_>) -> ExprId {
        let mark = self.scope.mark();
        let mut last = None;
        for element in block.elements() {
            match element {
                NodeOrToken::Node(node) if node.kind().is_stmt() => {
                    self.stmt(node);
                    last = None;
                }
                NodeOrToken::Node(node) if ast::Expr::can_cast(node.kind()) => {
                    last = Some(self.expr(node));
                }
                NodeOrToken::Token(token) if is_claim(&token) => {
                    if let Some(expr) = last {
                        self.comment(expr, token.range(), token.text());
                    }
                }
                _ => {}
            }
        }
        self.leave(mark);
        last.unwrap_or_else(|| self.missing(block.range().end()))
    }

    /// Lowers a statement; returns its value, and the variable that it binds.
    pub(super) fn stmt(&mut self, node: Node<'_>) -> (Option<ExprId>, Option<BinderId>) {
        match ast::Stmt::cast(node) {
            Some(ast::Stmt::LetStmt(_)) => self.let_stmt(node),
            Some(ast::Stmt::GraphStmt(_)) => {
                let parts = BindingParts::of(node);
                let start = ExprId(self.unit.exprs.len() as u32);
                let binder = self.binder(parts.name, BinderKind::Graph);
                let value = self.bound_value(node, &parts);
                let binder = self.bind(binder);
                self.push(node.range(), Expr::Bind { binder, value, start });
                (Some(value), Some(binder))
            }
            Some(ast::Stmt::FreeVarStmt(stmt)) => {
                let mut binder = self.binder(stmt.name(), BinderKind::Free);
                binder.annotation = stmt.ty().map(|ty| self.ty(ty.node()));
                (None, Some(self.bind(binder)))
            }
            Some(ast::Stmt::ExprStmt(stmt)) => {
                let value = stmt.expr().map(|expr| self.expr_with_comment(node, expr.node()));
                (value, None)
            }
            None => (None, None),
        }
    }

    /// Lowers the value of a `let` or graph binding, with the comment after it.
    fn bound_value(&mut self, statement: Node<'_>, parts: &BindingParts<'_>) -> ExprId {
        let Some(value) = parts.value else {
            return self.missing(statement.range().end());
        };
        let value = self.expr(value);
        if let Some(comment) = parts.after {
            self.comment(value, comment.range(), comment.text());
        }
        value
    }

    fn let_stmt(&mut self, node: Node<'_>) -> (Option<ExprId>, Option<BinderId>) {
        let parts = BindingParts::of(node);
        let mut binder = self.binder(parts.name, BinderKind::Let);
        binder.annotation = parts.ty.map(|ty| self.ty(ty.node()));
        let start = ExprId(self.unit.exprs.len() as u32);
        // A function may be recursive.
        let recursive = parts.value.is_some_and(is_function);
        let mut bound = None;
        if recursive {
            let id = self.bind(binder.clone());
            self.push(node.range(), Expr::Declare(id));
            bound = Some(id);
        }
        let value = match parts.value {
            Some(value) if value.kind() == SyntaxKind::BLOCK => {
                let mark = self.scope.mark();
                let value = self.block(value);
                self.leave(mark);
                value
            }
            _ => self.bound_value(node, &parts),
        };
        let id = bound.unwrap_or_else(|| self.bind(binder));
        self.push(node.range(), Expr::Bind { binder: id, value, start });
        if let Some(comment) = parts.before {
            self.type_comment(Subject::Binder(id), comment.range(), comment.text());
        }
        (Some(value), Some(id))
    }
}

/// The parts of `let %x: T /* ty=T */ = e /* ty=T */;` or `%0 = e /* ty=T */;`, found in one pass.
#[derive(Default)]
struct BindingParts<'t> {
    name: Option<ast::Name<'t>>,
    ty: Option<ast::Type<'t>>,
    value: Option<Node<'t>>,
    /// The first comment before the `=`.
    before: Option<Token<'t>>,
    /// The first comment after the value.
    after: Option<Token<'t>>,
}

impl<'t> BindingParts<'t> {
    fn of(statement: Node<'t>) -> BindingParts<'t> {
        let mut parts = BindingParts::default();
        let (mut equals, mut fresh) = (false, false);
        for element in statement.parts() {
            match element {
                NodeOrToken::Node(node) => {
                    fresh = false;
                    if let Some(name) = ast::Name::cast(node) {
                        parts.name = parts.name.or(Some(name));
                    } else if ast::BlockOrExpr::can_cast(node.kind()) {
                        fresh = parts.value.is_none();
                        parts.value = parts.value.or(Some(node));
                    } else if parts.ty.is_none() {
                        parts.ty = ast::Type::cast(node);
                    }
                }
                NodeOrToken::Token(token) => match token.kind() {
                    SyntaxKind::WHITESPACE => {}
                    SyntaxKind::EQ => (equals, fresh) = (true, false),
                    _ if is_claim(&token) => {
                        if fresh {
                            parts.after = parts.after.or(Some(token));
                        }
                        if !equals {
                            parts.before = parts.before.or(Some(token));
                        }
                    }
                    kind if kind.is_trivia() => {}
                    _ => fresh = false,
                },
            }
        }
        parts
    }
}

/// Returns true for a function expression, with or without parentheses.
fn is_function(mut node: Node<'_>) -> bool {
    while matches!(node.kind(), SyntaxKind::PAREN_EXPR) {
        let Some(inner) = node.children().next() else { return false };
        node = inner;
    }
    node.kind() == SyntaxKind::FN_EXPR
}
