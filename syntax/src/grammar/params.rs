//! Signatures and bodies of definitions and function expressions.

use super::*;

/// `[A](%x: A, attr=1) -> A where R { … }`
pub(super) fn signature_and_body(p: &mut Parser<'_>) {
    signature_and_body_of(p, false);
}

/// Parses a signature and a body, of a definition if `is_item` is set.
pub(super) fn signature_and_body_of(p: &mut Parser<'_>, is_item: bool) {
    opt_type_params(p);
    if p.at(T!["("]) {
        param_list(p);
    } else if !mistakes::parameters(p) {
        p.expected("a parameter list");
    }
    // `fn (%x) -> %x` of other languages has no type there.
    if !matches!(p.nth(1), LOCAL | GRAPH | INT | FLOAT) {
        opt_ret_type(p);
    }
    opt_where(p, false);
    if !p.at(T!["{"]) && mistakes::body(p, is_item) && !p.at(T!["{"]) {
        return;
    }
    if !p.at(T!["{"]) {
        p.expected("a body in braces");
        skip_to_brace(p);
    }
    if p.at(T!["{"]) {
        stmts::block(p);
    } else if !p.at_end() && !items::at_item_line(p) && p.on_new_line(0) {
        stmts::block_without_brace(p);
    }
}

/// After a broken header: skips to the last `{` on the line, or to the end of the line.
pub(super) fn skip_to_brace(p: &mut Parser<'_>) {
    if p.on_new_line(0) {
        return;
    }
    let on_line = p.count_on_line(0);
    let brace = (0..on_line).rev().find(|&n| p.nth(n) == T!["{"]);
    let skipped = brace.unwrap_or(on_line);
    if skipped > 0 {
        skip(p, skipped);
    }
}

/// Parses `[A, B]`, and the manual's `<t : Type>` and `<a>`.
pub(super) fn opt_type_params(p: &mut Parser<'_>) {
    let (open, close) = match p.current() {
        T!["["] => (T!["["], T!["]"]),
        T!["<"] => (T!["<"], T![">"]),
        _ => return,
    };
    if open == T!["<"] {
        p.compat(p.range(), SyntaxErrorKind::AngleTypeParams);
    }
    let params = p.start();
    list(p, open, close, |p| {
        if !p.at(IDENT) {
            p.expected("a type parameter");
            return false;
        }
        let param = p.start();
        p.bump();
        if p.at(T![":"]) {
            if open == T!["["] {
                p.compat(p.range(), SyntaxErrorKind::AngleTypeParams);
            }
            p.bump();
            p.expect(IDENT);
        }
        param.complete(p, TYPE_PARAM);
        true
    });
    params.complete(p, TYPE_PARAM_LIST);
}

fn param_list(p: &mut Parser<'_>) {
    let params = p.start();
    list(p, T!["("], T![")"], |p| {
        if at_param(p) {
            param(p);
            true
        } else if attrs::at_attr(p) {
            attrs::attr(p);
            true
        } else if mistakes::param(p) {
            true
        } else {
            p.expected("a parameter such as `%x: T`");
            false
        }
    });
    params.complete(p, PARAM_LIST);
}

pub(super) fn at_param(p: &mut Parser<'_>) -> bool {
    p.at(LOCAL) || p.at(GRAPH)
}

/// `%x {virtual_device=…}: T`
pub(super) fn param(p: &mut Parser<'_>) {
    let param = p.start();
    local_name(p);
    if p.at(T!["{"]) {
        let device = p.start();
        list(p, T!["{"], T!["}"], |p| {
            let found = attrs::at_attr(p);
            if found {
                attrs::attr(p);
            } else {
                p.expected("an attribute such as `virtual_device=…`");
            }
            found
        });
        device.complete(p, VIRTUAL_DEVICE);
    }
    let named = p.position();
    types::opt_ascription(p);
    if !matches!(p.current(), T![","] | T![")"]) {
        mistakes::after_param(p, named);
    }
    param.complete(p, PARAM);
}

/// `-> T`
pub(super) fn opt_ret_type(p: &mut Parser<'_>) {
    ret_type(p, types::ty);
}

/// Parses `-> T`, where `ty` parses the type.
pub(super) fn ret_type(p: &mut Parser<'_>, ty: fn(&mut Parser<'_>)) {
    if p.at(T!["->"]) || (p.at(T!["-"]) && p.nth(1) == T![">"]) {
        let ret = p.start();
        // The arrow is two tokens for TVM, so white space may separate them.
        if !p.eat(T!["->"]) {
            p.bump_tokens(2);
        }
        ty(p);
        ret.complete(p, RET_TYPE);
    }
}

/// `where Broadcast`, `where Broadcast(t1, t2, t3), Identity`
pub(super) fn opt_where(p: &mut Parser<'_>, in_type: bool) {
    if !p.at_contextual_kw("where") {
        return;
    }
    p.compat(p.range(), SyntaxErrorKind::WhereClause);
    let clause = p.start();
    p.bump();
    loop {
        let relation = p.start();
        let found = p.expect(IDENT);
        // The name of an operator stands for its relation.
        while p.at(T!["."]) && p.nth(1) == IDENT {
            p.bump_tokens(2);
        }
        if p.at(T!["("]) {
            types::relation_args(p);
        }
        relation.complete(p, RELATION);
        // In a list of types the comma belongs to the list, unless a relation clearly follows.
        let more = p.at(T![","]) && p.nth(1) == IDENT && (!in_type || p.nth(2) == T!["("]);
        if !found || !more {
            break;
        }
        p.bump();
    }
    clause.complete(p, WHERE_CLAUSE);
}
