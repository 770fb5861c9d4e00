//! Types.

use super::*;
use crate::parser::CompletedNode;

/// `: T`
pub(super) fn opt_ascription(p: &mut Parser<'_>) {
    if p.eat(T![":"]) {
        ty(p);
    }
}

/// Parses any type.
pub(super) fn ty(p: &mut Parser<'_>) {
    let first = p.position();
    match p.current() {
        TENSOR_TEXT => {
            p.bump();
            return;
        }
        IDENT if p.text(0) == "Tensor" && p.nth(1) == T!["["] => tensor_type(p),
        IDENT if p.text(0) == "_" => {
            p.leaf(HOLE_TYPE);
        }
        IDENT if p.text(0) == "Tuple" && p.nth(1) == T!["["] => {
            p.nested(old_tuple_type);
        }
        IDENT if p.text(0) == "Callable" && p.nth(1) == T!["["] => {
            p.nested(mistakes::callable);
        }
        IDENT => named_type(p),
        T!["("] => {
            p.nested(tuple_type);
        }
        T!["fn"] => {
            p.nested(fn_type);
        }
        T!["ref"] => {
            p.nested(ref_type);
        }
        META_REF => {
            p.leaf(META_TYPE);
            p.compat(p.last_range(), SyntaxErrorKind::MetaType);
        }
        _ => {
            if !mistakes::foreign_type(p) {
                p.expected("a type");
            }
        }
    }
    if matches!(p.current(), T!["->"] | T!["*"]) {
        mistakes::after_type(p, first);
    }
}

pub(super) fn list_of_types(p: &mut Parser<'_>, open: SyntaxKind, close: SyntaxKind) {
    list(p, open, close, |p| p.advances(inner_type));
}

/// Parses a type inside another one, where TVM does not accept `_`.
fn inner_type(p: &mut Parser<'_>) {
    if p.at_contextual_kw("_") {
        p.compat(p.range(), SyntaxErrorKind::NestedHole);
    }
    ty(p);
}

/// Parses an argument of a data type or of a generic function: a type, a shape such as `(10, n)` or
/// a size.
pub(super) fn type_arg(p: &mut Parser<'_>) {
    match p.current() {
        INT | QUESTION => {
            size(p);
        }
        T!["("] if at_sizes(p) => shape(p),
        _ => inner_type(p),
    }
}

/// Returns true if type arguments in angle brackets contain a number or `?`: `Bx<(2, 3)>` is the
/// manual's notation, and `List<int32>` that of other languages.
pub(super) fn at_index_args(p: &mut Parser<'_>) -> bool {
    leads_to(p, &[IDENT, COMMA, L_PAREN, R_PAREN], &[INT, QUESTION])
}

/// Returns true if parentheses hold a number, `?` or arithmetic directly: they are a shape, and not
/// the types of a tuple.
fn at_sizes(p: &mut Parser<'_>) -> bool {
    leads_to(p, &[IDENT, COMMA], &[INT, QUESTION, PLUS, MINUS, STAR, SLASH, PERCENT])
}

/// Returns true if only tokens of some kinds are between the bracket here and one of `ends`.
fn leads_to(p: &mut Parser<'_>, between: &[SyntaxKind], ends: &[SyntaxKind]) -> bool {
    // The number of tokens bounds the search.
    let end = (1..64).map(|n| p.nth(n)).find(|kind| !between.contains(kind));
    end.is_some_and(|kind| ends.contains(&kind))
}

/// `(A, B)`, `(A,)`, `()`
pub(super) fn tuple_type(p: &mut Parser<'_>) {
    p.node(TUPLE_TYPE, |p| list_of_types(p, T!["("], T![")"]));
}

/// `(t1, t2, axes=[1, 0])`: the types and the attributes of a relation
pub(super) fn relation_args(p: &mut Parser<'_>) {
    let tuple = p.start();
    list(p, T!["("], T![")"], |p| match attrs::at_attr(p) {
        true => p.advances(attrs::attr),
        false => p.advances(inner_type),
    });
    tuple.complete(p, TUPLE_TYPE);
}

/// `Tuple[A, B]`, as TVM 0.5 prints it
fn old_tuple_type(p: &mut Parser<'_>) {
    let tuple = p.start();
    p.compat(p.range(), SyntaxErrorKind::OldTuple);
    p.bump();
    list_of_types(p, T!["["], T!["]"]);
    tuple.complete(p, TUPLE_TYPE);
}

/// `fn (A, B) -> C`, as printed `fn [A](A) -> A`, and in the manual
/// `fn<a : Type, b : Type>(a, a) -> b where Broadcast`
fn fn_type(p: &mut Parser<'_>) {
    let ty = p.start();
    p.bump();
    let is_generic = p.at(T!["["]) || p.at(T!["<"]);
    if is_generic {
        p.compat(p.range(), SyntaxErrorKind::PolymorphicFnType);
        params::opt_type_params(p);
    }
    if p.at(T!["("]) {
        tuple_type(p);
    } else {
        p.expected("the argument types");
    }
    if p.at(T!["->"]) || p.at(T!["-"]) {
        params::ret_type(p, inner_type);
    } else if !mistakes::arrow_of_type(p) {
        p.expected("`->`");
    }
    // After a function type without type parameters, `where` belongs to the enclosing definition:
    // `def @f(%x) -> fn(int32) -> int32 where R { … }`.
    if is_generic {
        params::opt_where(p, true);
    }
    ty.complete(p, FN_TYPE);
}

/// `ref(T)`
fn ref_type(p: &mut Parser<'_>) {
    let ty = p.start();
    p.compat(p.range(), SyntaxErrorKind::RefType);
    p.bump();
    if p.at(T!["("]) {
        let open = p.position();
        p.bump();
        types::ty(p);
        p.expect_close(T![")"], open);
    } else {
        p.expected("`(`");
    }
    ty.complete(p, REF_TYPE);
}

/// `float32`, `List[A]`, `Nat[]`
fn named_type(p: &mut Parser<'_>) {
    let named = p.start();
    if !opt_custom_dtype(p, false) {
        let first = p.position();
        p.bump();
        if matches!(p.current(), T!["["] | T!["<"] | T!["("]) && !mistakes::tensor_like(p, first) {
            let close = match p.current() {
                T!["["] => Some((T!["["], T!["]"])),
                T!["<"] if at_index_args(p) => {
                    p.compat(p.range(), SyntaxErrorKind::TypeArguments);
                    Some((T!["<"], T![">"]))
                }
                _ => None,
            };
            if let Some((open, close)) = close {
                p.nested(|p| list(p, open, close, |p| p.advances(type_arg)));
            }
        }
    }
    named.complete(p, NAMED_TYPE);
}

/// `custom[posit]32`, `custom[posit]8x4`: a data type that was registered with TVM. Only in a tensor may the width be
/// missing: `custom[A]` is a data type of the module.
fn opt_custom_dtype(p: &mut Parser<'_>, in_tensor: bool) -> bool {
    if p.text(0) != "custom" {
        return false;
    }
    let has_width = p.nth(4) == INT && p.is_glued(3);
    let is_custom =
        [T!["["], IDENT, T!["]"]].iter().enumerate().all(|(at, kind)| p.nth(at + 1) == *kind)
            && (has_width || in_tensor);
    if is_custom {
        p.bump_tokens(if has_width { 5 } else { 4 });
        // The lanes.
        if has_width && p.at(IDENT) && p.is_glued(0) {
            p.bump();
        }
    }
    is_custom
}

/// `Tensor[(1, ?, 3), float32]`, `Tensor[s, bt]`
pub(crate) fn tensor_type(p: &mut Parser<'_>) {
    let tensor = p.start();
    let first = p.position();
    p.bump();
    let open = p.position();
    p.expect(T!["["]);
    match p.current() {
        T!["("] => shape(p),
        IDENT if mistakes::at_dtype(p) && mistakes::tensor_rest(p, first) => {
            tensor.complete(p, TENSOR_TYPE);
            return;
        }
        IDENT => {
            p.compat(p.range(), SyntaxErrorKind::ShapeVariable);
            p.leaf(SHAPE);
        }
        INT => p.expected(Expectation::Shape),
        _ if mistakes::tensor_rest(p, first) => {
            tensor.complete(p, TENSOR_TYPE);
            return;
        }
        _ => p.expected(Expectation::Shape),
    }
    let is_usual = p.at(T![","]) && p.nth(1) == IDENT;
    if !is_usual && mistakes::tensor_rest(p, first) {
        tensor.complete(p, TENSOR_TYPE);
        return;
    }
    if p.expect(T![","]) {
        if p.at(IDENT) {
            let dtype = p.start();
            if !opt_custom_dtype(p, true) {
                p.bump();
            }
            dtype.complete(p, NAMED_TYPE);
        } else {
            p.expected("a data type such as `float32`");
        }
    }
    if p.is_recovering() && !p.at(T!["]"]) {
        // Skip to the closing bracket if it is on this line.
        let on_line = p.count_on_line(0);
        let end = (0..on_line).find(|&n| matches!(p.nth(n), T!["{"] | T!["]"]));
        if let Some(close) = end.filter(|&n| p.nth(n) == T!["]"]) {
            skip(p, close);
        }
    }
    p.expect_close(T!["]"], open);
    tensor.complete(p, TENSOR_TYPE);
}

/// `(1, ?, n, meta[tir.Var][0])`
pub(super) fn shape(p: &mut Parser<'_>) {
    p.node(SHAPE, |p| list(p, T!["("], T![")"], size));
}

/// Maximum number of operators of a size outside parentheses.
const MAX_OPERATORS: usize = 64;

/// `3`, `?`, `n`, `((n * 2) + 1)`, `max(n, m)`: a size, with the arithmetic that types are displayed
/// with. Returns false if there is none.
fn size(p: &mut Parser<'_>) -> bool {
    let Some(mut sum) = product(p) else { return false };
    for _ in 0..MAX_OPERATORS {
        if !matches!(p.current(), T!["+"] | T!["-"]) {
            break;
        }
        let outer = sum.precede(p);
        p.bump();
        product(p);
        sum = outer.complete(p, DIM);
    }
    true
}

fn product(p: &mut Parser<'_>) -> Option<CompletedNode> {
    let mut product = factor(p)?;
    for _ in 0..MAX_OPERATORS {
        if !matches!(p.current(), T!["*"] | T!["/"] | PERCENT) {
            break;
        }
        let outer = product.precede(p);
        p.bump();
        factor(p);
        product = outer.complete(p, DIM);
    }
    Some(product)
}

fn factor(p: &mut Parser<'_>) -> Option<CompletedNode> {
    let dim = p.start();
    match p.current() {
        INT | T!["?"] | META_REF => {
            p.bump();
            if !matches!(p.current(), T![","] | T![")"]) {
                mistakes::after_size(p);
            }
        }
        _ if mistakes::size(p) => {}
        T!["-"] if p.nth(1) == INT => {
            p.bump_tokens(2);
        }
        IDENT if matches!(p.text(0), "max" | "min") && p.nth(1) == T!["("] => {
            p.bump();
            p.nested(|p| list(p, T!["("], T![")"], size));
        }
        IDENT => {
            p.compat(p.range(), SyntaxErrorKind::ShapeVariable);
            p.bump();
        }
        T!["("] => {
            let open = p.position();
            p.bump();
            p.nested(size);
            p.expect_close(T![")"], open);
        }
        FLOAT => {
            p.expected("a dimension");
            p.bump();
        }
        _ => {
            p.expected("a dimension");
            dim.abandon(p);
            return None;
        }
    }
    Some(dim.complete(p, DIM))
}
