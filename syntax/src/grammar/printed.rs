//! What some builds of TVM print and others do not.
//!
//! Builds of TVM 0.9 with `TVM_LOG_DEBUG` print the type arguments of a call after its arguments:
//!
//! ```text
//! add(%x, 1f, Tensor[(1, 3), float32], float32)
//! ```
//!
//! They follow from the arguments, so they are read and have no meaning. A tensor type is no expression, which is how
//! they are noticed: a text without them does not pay for them.

use super::*;
use crate::parser::CompletedNode;

/// The most tokens between the types of a call and its `(` that are looked at.
const MAX_BEFORE: usize = 1024;

/// Parses the types among the arguments of a call, at the first token of a tensor type. Returns `None` elsewhere.
#[inline(never)]
pub(super) fn type_arguments(p: &mut Parser<'_>) -> Option<CompletedNode> {
    let first = p.position();
    if !is_argument(p, first) {
        return None;
    }
    let types = p.start();
    types::ty(p);
    more(p);
    Some(complete(p, types, first))
}

/// Does the same after the name `Tensor`, which is token `first`, in a spelling that is more than one token.
#[inline(never)]
pub(super) fn after_tensor(
    p: &mut Parser<'_>,
    left: CompletedNode,
    first: usize,
) -> Option<CompletedNode> {
    let count = is_argument(p, first).then(|| mistakes::bracketed(p, 0)).flatten()?;
    let types = left.precede(p);
    p.bump_tokens(count);
    more(p);
    Some(complete(p, types, first))
}

/// Parses the rest of a tuple of types among the arguments of a call, after its `(`. Returns false if it is a tuple of
/// values.
#[inline(never)]
pub(super) fn types_of_tuple(p: &mut Parser<'_>) -> bool {
    let open = p.position() - 1;
    if !begins_type(p, 0) || !is_argument(p, open) {
        return false;
    }
    while !p.at(T![")"]) && begins_type(p, 0) {
        types::ty(p);
        if !p.eat(T![","]) {
            break;
        }
    }
    p.expect_close(T![")"], open);
    more(p);
    record(p, open);
    true
}

/// Parses further types after a comma. Those of scalars are names, and therefore known only after a tensor type.
fn more(p: &mut Parser<'_>) {
    while p.at(T![","]) && begins_type(p, 1) {
        p.bump();
        types::ty(p);
    }
}

fn complete(p: &mut Parser<'_>, types: crate::parser::Marker, first: usize) -> CompletedNode {
    record(p, first);
    types.complete(p, TYPE_ARG_LIST)
}

/// Records the types of a call, which begin with token `first`, with the comma before them.
fn record(p: &mut Parser<'_>, first: usize) {
    let start = p.range_of(first - 2).end();
    let range = TextRange::new(start, p.last_range().end());
    p.compat_joined(range, SyntaxErrorKind::PrintedTypes);
}

/// Returns true if the `n`th token from here begins a type that is no value.
fn begins_type(p: &mut Parser<'_>, mut n: usize) -> bool {
    let last = n + MAX_NESTED;
    while p.nth(n) == T!["("] && n < last {
        n += 1;
    }
    match p.nth(n) {
        TENSOR_TEXT => true,
        IDENT if p.text(n) == "Tensor" => p.nth(n + 1) == T!["["],
        IDENT => {
            let name = p.text(n);
            crate::dtype_of(name) == Some(name) && matches!(p.nth(n + 1), T![","] | T![")"])
        }
        _ => false,
    }
}

/// The most nested tuples before the first type in them.
const MAX_NESTED: usize = 8;

/// Returns true if token `at` follows a comma between the arguments of a call.
fn is_argument(p: &Parser<'_>, at: usize) -> bool {
    if p.is_recovering() || at < 3 || p.kind_of(at - 1) != T![","] {
        return false;
    }
    let mut closed = 0usize;
    for before in (1..at - 1).rev().take(MAX_BEFORE) {
        match p.kind_of(before) {
            T![")"] | T!["]"] | T!["}"] => closed += 1,
            T!["["] | T!["{"] if closed == 0 => return false,
            T!["("] if closed == 0 => {
                let callee = p.kind_of(before - 1);
                return p.is_glued_at(before)
                    && matches!(callee, IDENT | GLOBAL | LOCAL | GRAPH | INT | R_PAREN);
            }
            T!["("] | T!["["] | T!["{"] => closed -= 1,
            T![";"] if closed == 0 => return false,
            _ => {}
        }
    }
    p.looked_before();
    false
}
