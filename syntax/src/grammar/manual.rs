//! Expressions of the manual that TVM does not have.

use super::{
    exprs::{literal, negative},
    *,
};
use crate::parser::CompletedNode;

/// Returns true at the manual's `Constant(1, (10, 10), float32)`, false at a call of a constructor
/// with that name.
pub(super) fn at_constant(p: &mut Parser<'_>) -> bool {
    let value = if p.nth(2) == T!["-"] { 3 } else { 2 };
    matches!(p.nth(value), INT | FLOAT | TRUE_KW | FALSE_KW)
        && p.nth(value + 1) == T![","]
        && p.nth(value + 2) == T!["("]
}

/// `Constant(1, (10, 10), float32)`
pub(super) fn constant(p: &mut Parser<'_>) -> CompletedNode {
    let marker = p.start();
    p.compat(p.range(), SyntaxErrorKind::ConstantExpression);
    p.bump();
    let open = p.position();
    p.bump();
    if p.at(T!["-"]) {
        negative(p);
    } else {
        literal(p);
    }
    p.expect(T![","]);
    types::shape(p);
    if p.expect(T![","]) {
        types::ty(p);
    }
    p.expect_close(T![")"], open);
    marker.complete(p, CONSTANT_EXPR)
}
