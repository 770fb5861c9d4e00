//! Patterns of `match` arms.

use super::*;

/// `_`, `%x: T`, `Cons(%x, _)`, `(%a, %b)`, and `1`, the name that a pass gives to a constructor.
pub(super) fn pattern(p: &mut Parser<'_>) {
    match p.current() {
        IDENT if p.text(0) == "_" => {
            p.leaf(WILDCARD_PAT);
        }
        // `%h :: %t` is read as `_`: `%h` is an element.
        LOCAL if p.nth(1) == T![":"] && p.nth(2) == T![":"] => {
            p.leaf(WILDCARD_PAT);
        }
        LOCAL => {
            let var = p.start();
            local_name(p);
            types::opt_ascription(p);
            var.complete(p, VAR_PAT);
        }
        IDENT | INT => {
            let constructor = p.start();
            p.leaf(NAME_REF);
            if p.at(T!["("]) {
                pattern_list(p);
            }
            constructor.complete(p, CONSTRUCTOR_PAT);
        }
        T!["("] => {
            p.node(TUPLE_PAT, pattern_list);
        }
        _ => p.expected("a pattern"),
    }
}

fn pattern_list(p: &mut Parser<'_>) {
    p.nested(|p| list(p, T!["("], T![")"], |p| p.advances(pattern)));
}
