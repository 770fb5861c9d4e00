//! Attributes of calls and functions: `axis=1`, `padding=[1, 1]`, `Compiler="dnnl"`.

use super::*;

/// Returns true at `name =`. Keywords are valid attribute names.
pub(super) fn at_attr(p: &mut Parser<'_>) -> bool {
    let name = p.current();
    (name == IDENT || name.is_keyword()) && p.nth(1) == T!["="]
}

/// `name=value`
pub(super) fn attr(p: &mut Parser<'_>) {
    let attr = p.start();
    p.leaf(NAME);
    p.bump();
    value(p);
    attr.complete(p, ATTR);
}

/// `[8, 4]`, `'int8'`: values of attributes as Python passes them, by position. `[%a, %b]` is a tuple in Python.
pub(super) fn value_without_name(p: &mut Parser<'_>) -> bool {
    if p.at(QUOTED_NAME) {
        p.leaf(LITERAL);
        return true;
    }
    p.nested(|p| {
        let values = p.start();
        list(p, T!["["], T!["]"], |p| {
            let before = p.position();
            if matches!(p.current(), T!["["] | QUOTED_NAME) {
                return value_without_name(p);
            }
            if exprs::opt_expr(p).is_none() {
                p.expected("an expression");
            }
            p.position() > before
        });
        values.complete(p, ATTR_LIST);
    })
    .is_some()
}

/// Parses a literal, a list, `None`, a metadata reference or an expression.
fn value(p: &mut Parser<'_>) {
    match p.current() {
        T!["["] => {
            let values = |p: &mut Parser<'_>| list(p, T!["["], T!["]"], |p| p.advances(value));
            p.nested(|p| p.node(ATTR_LIST, values));
        }
        // `{"keys"=[1], 'main'=2}`, as printed without metadata.
        T!["{"] => {
            p.compat(p.range(), SyntaxErrorKind::PrintedAttribute);
            p.nested(map);
        }
        QUOTED_NAME => {
            p.compat(p.range(), SyntaxErrorKind::PrintedAttribute);
            p.leaf(ATTR_OPAQUE);
        }
        STRING => {
            p.leaf(LITERAL);
        }
        // `VirtualDevice(device_type=1, …)`, as printed without metadata.
        IDENT if p.nth(1) == T!["("] && p.text(0).starts_with(|c: char| c.is_uppercase()) => {
            p.compat(p.range(), SyntaxErrorKind::PrintedAttribute);
            p.node(ATTR_OPAQUE, |p| {
                p.bump_tokens(2);
                p.skip_balanced();
                p.bump();
            });
        }
        T!["("] => {
            p.nested(|p| {
                let paren = p.start();
                let open = p.position();
                p.bump();
                value(p);
                // TVM accepts one value in parentheses, but no tuple.
                let mut is_tuple = false;
                while p.eat(T![","]) {
                    is_tuple = true;
                    if p.at(T![")"]) {
                        break;
                    }
                    value(p);
                }
                if p.expect_close(T![")"], open) && is_tuple {
                    let whole = p.range_of(open).cover(p.last_range());
                    p.compat(whole, SyntaxErrorKind::AttributeTuple);
                }
                paren.complete(p, ATTR_LIST);
            });
        }
        _ => {
            if exprs::opt_atom(p).is_none() {
                p.expected("an attribute value");
            }
        }
    }
}

fn map(p: &mut Parser<'_>) {
    let map = p.start();
    list(p, T!["{"], T!["}"], |p| {
        let entry = p.start();
        let before = p.position();
        if at_attr(p) {
            entry.abandon(p);
            attr(p);
            return true;
        }
        value(p);
        if p.eat(T!["="]) || p.eat(T![":"]) {
            value(p);
        }
        entry.complete(p, ATTR);
        p.position() > before
    });
    map.complete(p, ATTR_MAP);
}
