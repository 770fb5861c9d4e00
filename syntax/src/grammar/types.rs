//! Types.

use super::*;

/// `: T`
pub(super) fn opt_ascription(p: &mut Parser<'_>) {
    if p.eat(T![":"]) {
        ty(p);
    }
}

/// Parses any type.
pub(super) fn ty(p: &mut Parser<'_>) {
    match p.current() {
        TENSOR_TEXT => p.bump(),
        IDENT if p.text(0) == "Tensor" && p.nth(1) == T!["["] => tensor_type(p),
        IDENT if p.text(0) == "_" => {
            let hole = p.start();
            p.bump();
            hole.complete(p, HOLE_TYPE);
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
            let meta = p.start();
            p.bump();
            p.compat(p.last_range(), SyntaxErrorKind::MetaType);
            meta.complete(p, META_TYPE);
        }
        _ => p.expected("a type"),
    }
}

fn list_of_types(p: &mut Parser<'_>, open: SyntaxKind, close: SyntaxKind) {
    list(p, open, close, |p| {
        let before = p.position();
        inner_type(p);
        p.position() > before
    });
}

/// Parses a type inside another one, where TVM does not accept `_`.
fn inner_type(p: &mut Parser<'_>) {
    if p.at_contextual_kw("_") {
        p.compat(p.range(), SyntaxErrorKind::NestedHole);
    }
    ty(p);
}

/// `(A, B)`, `(A,)`, `()`
pub(super) fn tuple_type(p: &mut Parser<'_>) {
    let tuple = p.start();
    list_of_types(p, T!["("], T![")"]);
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
    } else {
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
    p.bump();
    if p.at(T!["["]) {
        p.nested(|p| list_of_types(p, T!["["], T!["]"]));
    }
    named.complete(p, NAMED_TYPE);
}

/// `Tensor[(1, ?, 3), float32]`, `Tensor[s, bt]`
pub(crate) fn tensor_type(p: &mut Parser<'_>) {
    let tensor = p.start();
    p.bump();
    let open = p.position();
    p.expect(T!["["]);
    match p.current() {
        T!["("] => shape(p),
        IDENT => {
            p.compat(p.range(), SyntaxErrorKind::ShapeVariable);
            let name = p.start();
            p.bump();
            name.complete(p, SHAPE);
        }
        _ => p.expected(Expectation::Shape),
    }
    if p.expect(T![","]) {
        if p.at(IDENT) {
            let dtype = p.start();
            p.bump();
            // `custom[posit]32`
            if p.at(T!["["]) && p.is_glued(0) {
                let open = p.position();
                p.bump();
                p.eat(IDENT);
                p.expect_close(T!["]"], open);
                p.eat(INT);
            }
            dtype.complete(p, NAMED_TYPE);
        } else {
            p.expected("a data type such as `float32`");
        }
    }
    if p.is_recovering() && !p.at(T!["]"]) {
        // Skip to the closing bracket if it is on this line.
        let on_line = p.count_on_line();
        let end = (0..on_line).find(|&n| matches!(p.nth(n), T!["{"] | T!["]"]));
        if let Some(close) = end.filter(|&n| p.nth(n) == T!["]"]) {
            let error = p.start();
            for _ in 0..close {
                p.bump();
            }
            error.complete(p, ERROR);
        }
    }
    p.expect_close(T!["]"], open);
    tensor.complete(p, TENSOR_TYPE);
}

/// `(1, ?, n, meta[tir.Var][0])`
pub(super) fn shape(p: &mut Parser<'_>) {
    let shape = p.start();
    list(p, T!["("], T![")"], |p| {
        let dim = p.start();
        match p.current() {
            INT | T!["?"] | META_REF => p.bump(),
            T!["-"] if p.nth(1) == INT => {
                p.bump();
                p.bump();
            }
            IDENT => {
                p.compat(p.range(), SyntaxErrorKind::ShapeVariable);
                p.bump();
            }
            FLOAT => {
                p.expected("a dimension");
                p.bump();
            }
            _ => {
                p.expected("a dimension");
                dim.abandon(p);
                return false;
            }
        }
        dim.complete(p, DIM);
        true
    });
    shape.complete(p, SHAPE);
}
