//! Modules and their definitions.

use super::*;
use crate::lexer::is_log_line;

/// Parses items up to token number `stop` or the end of the file.
pub(super) fn items(p: &mut Parser<'_>, stop: usize) {
    let mut seen = Seen { item: stop != usize::MAX, expression: false };
    while p.position() < stop && !p.at_end() {
        if p.is_recovering() && !at_item_line(p) {
            skip_line(p);
        }
        p.recover();
        if !p.at_end() {
            item(p, &mut seen);
        }
    }
}

/// The kinds of items parsed so far in the current module.
struct Seen {
    item: bool,
    expression: bool,
}

fn item(p: &mut Parser<'_>, seen: &mut Seen) {
    let first = !std::mem::replace(&mut seen.item, true);
    match p.current() {
        HASH if p.nth(1) == T!["["] => {
            if p.nth(2) == IDENT && p.text(2) == "version" {
                if !first {
                    p.compat(p.range(), SyntaxErrorKind::SecondModule);
                    *seen = Seen { item: true, expression: false };
                }
                version(p);
            } else {
                section(p);
            }
        }
        METADATA => {
            let item = p.start();
            p.bump();
            item.complete(p, METADATA_ITEM);
        }
        T!["def"] => fn_def(p),
        T!["type"] => type_def(p),
        T!["extern"] if p.nth(1) == T!["type"] => type_def(p),
        IDENT if p.text(0) == "data" && p.nth(1) == IDENT => type_def(p),
        GLOBAL | AT if at_tir(p) => tir(p),
        T!["["] if p.at_column_zero() && is_log_line(p.rest_of_line().as_bytes()) => {
            banner(p);
            // A module that follows a log line at the start of the file is the first one.
            *seen = Seen { item: !first, expression: false };
        }
        T!["}"] | T![")"] | T!["]"] | T![";"] => {
            seen.item = !first;
            p.bump_unexpected();
        }
        _ => {
            if seen.expression {
                p.error(SyntaxErrorKind::SecondExpression);
            }
            seen.expression = true;
            expr_item(p);
        }
    }
}

/// `[12:30:00] /src/…/print_ir.cc:60: PrintIR():`
fn banner(p: &mut Parser<'_>) {
    let item = p.start();
    p.compat(p.range(), SyntaxErrorKind::LogLine);
    let count = p.count_on_line();
    p.bump_joined(BANNER, count);
    item.complete(p, BANNER_ITEM);
}

/// Returns true at a line that begins an item, where every enclosing construct ends.
pub(super) fn at_item_line(p: &mut Parser<'_>) -> bool {
    if !p.on_new_line(0) {
        return false;
    }
    match p.current() {
        T!["def"] => p.nth(1) == GLOBAL || p.at_column_zero(),
        T!["type"] | T!["extern"] => p.at_column_zero(),
        HASH => p.nth(1) == T!["["] && p.at_column_zero(),
        METADATA => true,
        IDENT => p.at_column_zero() && p.text(0) == "data" && p.nth(1) == IDENT,
        GLOBAL | AT => p.at_column_zero() && at_tir(p),
        T!["["] => p.at_column_zero() && is_log_line(p.rest_of_line().as_bytes()),
        _ => false,
    }
}

/// `#[version = "0.0.5"]`
fn version(p: &mut Parser<'_>) {
    let item = p.start();
    p.bump();
    let open = p.position();
    p.bump();
    p.bump();
    p.expect(T!["="]);
    if p.at(STRING) {
        if p.text(0) != "\"0.0.5\"" {
            p.error(SyntaxErrorKind::UnknownVersion);
        }
        p.bump();
    } else {
        p.expected("a version such as \"0.0.5\"");
        if !p.at(T!["]"]) && !p.on_new_line(0) {
            p.bump();
        }
    }
    p.expect_close(T!["]"], open);
    item.complete(p, VERSION);
}

/// `#[anything else]`
fn section(p: &mut Parser<'_>) {
    let item = p.start();
    p.error(SyntaxErrorKind::UnknownSection);
    let count = p.count_on_line();
    for _ in 0..count {
        p.bump();
    }
    item.complete(p, ERROR);
}

/// `def @f(%x: T) -> T { … }`, `def @f = meta[ExternalFunc][0]`
fn fn_def(p: &mut Parser<'_>) {
    let item = p.start();
    p.bump();
    let name = p.start();
    if p.at(GLOBAL) {
        if !is_readable(p.text(0)) {
            p.compat(p.range(), SyntaxErrorKind::UnreadableName);
        }
        p.bump();
    } else {
        p.expected("the name of the definition, such as `@main`");
        if matches!(p.current(), IDENT | LOCAL | GRAPH) {
            p.bump();
        }
    }
    name.complete(p, NAME);
    if p.at(T!["="]) && p.nth(1) == META_REF {
        p.compat(p.range(), SyntaxErrorKind::ExternalFunction);
        p.bump();
        exprs::expr(p);
    } else {
        params::signature_and_body(p);
    }
    item.complete(p, FN_DEF);
}

/// `type List[A] { Cons(A, List[A]), Nil }`, `extern type T`, `data Nat { Z : () -> Nat }`
fn type_def(p: &mut Parser<'_>) {
    let item = p.start();
    p.eat(T!["extern"]);
    if p.at(IDENT) {
        p.compat(p.range(), SyntaxErrorKind::DataDefinition);
    }
    p.bump();
    let name = p.start();
    p.expect(IDENT);
    name.complete(p, NAME);
    params::opt_type_params(p);
    if p.is_recovering() {
        params::skip_to_brace(p);
    }
    if p.at(T!["{"]) {
        p.recover();
        let constructors = p.start();
        let open = p.position();
        p.bump();
        let mut separators = Separators::default();
        while !p.at(T!["}"]) && !p.at_end() && !at_item_line(p) {
            if !p.at(IDENT) {
                p.expected("a constructor");
                p.bump_unexpected();
                continue;
            }
            let signature = constructor(p);
            // The manual separates constructors by line breaks.
            if !separators.comma(p, signature) && !p.on_new_line(0) {
                p.expected("`,`");
                let error = p.start();
                while !p.on_new_line(0) && !matches!(p.current(), T!["}"] | END_OF_FILE) {
                    p.bump();
                }
                error.complete(p, ERROR);
            }
            if p.on_new_line(0) {
                p.recover();
            }
        }
        p.expect_close(T!["}"], open);
        constructors.complete(p, CONSTRUCTOR_LIST);
    }
    item.complete(p, TYPE_DEF);
}

/// `Cons(A, List[A])`, `Nil`, `S : (Nat) -> Nat`. Returns true for the last form.
fn constructor(p: &mut Parser<'_>) -> bool {
    let mut signature = false;
    let constructor = p.start();
    let name = p.start();
    p.bump();
    name.complete(p, NAME);
    if p.at(T!["("]) {
        types::tuple_type(p);
    } else if p.at(T![":"]) {
        p.compat(p.range(), SyntaxErrorKind::ConstructorSignature);
        signature = true;
        p.bump();
        if p.at(T!["("]) {
            types::tuple_type(p);
        } else {
            p.expected("the argument types, such as `(A, B)`");
        }
        params::opt_ret_type(p);
    }
    constructor.complete(p, CONSTRUCTOR);
    signature
}

/// Returns true at a TIR function, which TVM prints among Relay definitions.
fn at_tir(p: &mut Parser<'_>) -> bool {
    match p.current() {
        // `@T.prim_func`, `@main = primfn(…)`
        GLOBAL => {
            p.text(0).starts_with("@T.")
                || (p.nth(1) == T!["="] && p.nth(2) == IDENT && p.text(2) == "primfn")
        }
        _ => false,
    }
}

/// Parses a TIR function, up to the line that begins the next item, as one token.
fn tir(p: &mut Parser<'_>) {
    let item = p.start();
    p.compat(p.range(), SyntaxErrorKind::TirFunction);
    let count = p.count_until_line(|kind, line| match kind {
        DEF_KW => line.starts_with("def @"),
        TYPE_KW | EXTERN_KW | METADATA => true,
        HASH => line.starts_with("#["),
        L_BRACK => is_log_line(line.as_bytes()),
        GLOBAL => line.starts_with("@T.prim_func") || line.contains("= primfn("),
        _ => false,
    });
    p.bump_joined(TIR_TEXT, count);
    item.complete(p, TIR_ITEM);
}

/// Parses bindings and an expression in place of definitions.
fn expr_item(p: &mut Parser<'_>) {
    let item = p.start();
    let block = p.start();
    let before = p.position();
    stmts::statements(p);
    if p.position() == before {
        skip_line(p);
    }
    block.complete(p, BLOCK);
    item.complete(p, EXPR_ITEM);
}

/// Skips tokens up to the next line that begins an item or a statement, as one error.
fn skip_line(p: &mut Parser<'_>) {
    let kind = p.current();
    p.error(SyntaxErrorKind::Unexpected(kind));
    let error = p.start();
    loop {
        p.bump();
        if p.at_end() || at_item_line(p) || stmts::at_statement_line(p) {
            break;
        }
    }
    error.complete(p, ERROR);
}
