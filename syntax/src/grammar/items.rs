//! Modules and their definitions.

use super::*;
use crate::{MistakeKind, lexer::is_log_line};

/// Parses items up to token number `stop` or the end of the file.
pub(super) fn items(p: &mut Parser<'_>, stop: usize) {
    let mut seen = ItemHistory { item: stop != usize::MAX, ..ItemHistory::default() };
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
#[derive(Default)]
struct ItemHistory {
    item: bool,
    expression: bool,
    /// True in a trace of Python.
    trace: bool,
    /// True in what `repr` of Python prints of a module.
    repr: bool,
}

fn item(p: &mut Parser<'_>, seen: &mut ItemHistory) {
    let first = !std::mem::replace(&mut seen.item, true);
    match p.current() {
        HASH | IDENT if at_version(p) || at_old_version(p) => {
            if !first {
                p.compat(p.range(), SyntaxErrorKind::SecondModule);
                *seen = ItemHistory { item: true, ..ItemHistory::default() };
            }
            if p.at(HASH) { version(p) } else { old_version(p) }
        }
        HASH if p.nth(1) == T!["["] => section(p),
        METADATA => {
            p.leaf(METADATA_ITEM);
        }
        T!["def"] => fn_def(p),
        T!["type"] if !foreign::at_line(p, seen.trace) => type_def(p),
        T!["extern"] if p.nth(1) == T!["type"] => type_def(p),
        IDENT if p.text(0) == "data" && p.nth(1) == IDENT => type_def(p),
        GLOBAL | AT | IDENT if at_tir(p) => tir(p),
        IDENT | COMMA | R_BRACE if let Some(count) = foreign::at_repr(p, seen.repr) => {
            banner(p, count);
            *seen = ItemHistory { item: !first, repr: true, ..ItemHistory::default() };
        }
        _ if foreign::at_line(p, seen.trace) => {
            let is_inside = seen.trace && p.indentation(0) > 0;
            let trace = is_inside || foreign::begins_trace(p.rest_of_line(0));
            banner(p, p.count_on_line(0));
            // A module that follows a log line at the start of the file is the first one.
            *seen = ItemHistory { item: !first, trace, ..ItemHistory::default() };
        }
        CUT => {
            p.leaf(ERROR);
        }
        _ if mistakes::definition(p) || mistakes::comment(p) || mistakes::other_language(p) => {}
        IDENT if mistakes::at_type_word(p) => type_def(p),
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
pub(super) fn banner(p: &mut Parser<'_>, count: usize) {
    p.compat(p.range(), SyntaxErrorKind::LogLine);
    p.node(BANNER_ITEM, |p| p.bump_joined(BANNER, count));
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
        IDENT if at_old_version(p) => true,
        IDENT => {
            p.at_column_zero()
                && (p.text(0) == "data" && p.nth(1) == IDENT
                    || foreign::is_noise(p.rest_of_line(0)))
        }
        GLOBAL | AT => p.at_column_zero() && at_tir(p),
        T!["["] => p.at_column_zero() && is_log_line(p.rest_of_line(0).as_bytes()),
        _ => false,
    }
}

/// Returns true at `#[version`.
fn at_version(p: &mut Parser<'_>) -> bool {
    p.at(HASH) && p.nth(1) == T!["["] && p.nth(2) == IDENT && p.text(2) == "version"
}

/// `#[version = "0.0.5"]`
fn version(p: &mut Parser<'_>) {
    let item = p.start();
    p.bump();
    let open = p.position();
    p.bump_tokens(2);
    p.expect(T!["="]);
    if p.at(STRING) {
        // A quote that was an entity is as long as that in the text of the grammar.
        if p.text(0) != "\"0.0.5\"" && p.text(0).trim() != "\"0.0.5\"" {
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

/// Returns true at `v0.0.4`.
fn at_old_version(p: &mut Parser<'_>) -> bool {
    let parts = [IDENT, T!["."], INT, T!["."], INT];
    p.on_new_line(0)
        && p.text(0) == "v0"
        && parts.iter().enumerate().all(|(n, &kind)| p.nth(n) == kind && (n == 0 || p.is_glued(n)))
}

/// `v0.0.4`
fn old_version(p: &mut Parser<'_>) {
    let item = p.start();
    let first = p.position();
    p.bump_tokens(5);
    let range = p.range_of(first).cover(p.last_range());
    p.compat(range, SyntaxErrorKind::OldVersion);
    item.complete(p, VERSION);
}

/// `#[anything else]`
fn section(p: &mut Parser<'_>) {
    p.error(SyntaxErrorKind::UnknownSection);
    skip(p, p.count_on_line(0));
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
        mistakes::name_of_definition(p);
    }
    name.complete(p, NAME);
    if p.at(T!["="]) && p.nth(1) == META_REF {
        p.compat(p.range(), SyntaxErrorKind::ExternalFunction);
        p.bump();
        exprs::expr(p);
    } else {
        params::signature_and_body_of(p, true);
    }
    item.complete(p, FN_DEF);
}

/// `type List[A] { Cons(A, List[A]), Nil }`, `extern type T`, `data Nat { Z : () -> Nat }`
fn type_def(p: &mut Parser<'_>) {
    let item = p.start();
    p.eat(T!["extern"]);
    if p.at(IDENT) && p.text(0) == "data" {
        p.compat(p.range(), SyntaxErrorKind::DataDefinition);
    }
    p.bump();
    p.node(NAME, |p| p.expect(IDENT));
    params::opt_type_params(p);
    if !p.at(T!["{"]) {
        mistakes::type_parameters(p);
        if p.at(T!["="]) && mistakes::type_body(p) {
            item.complete(p, TYPE_DEF);
            return;
        }
    }
    if p.is_recovering() {
        params::skip_to_brace(p);
    }
    if p.at(T!["{"]) {
        p.recover();
        let constructors = p.start();
        let open = p.position();
        p.bump();
        let mut separators = Separators::default();
        let mut foreign = mistakes::ConstructEdits::default();
        while !p.at(T!["}"]) && !p.at_end() && !at_item_line(p) {
            if !matches!(p.current(), IDENT | INT) {
                if mistakes::leading_bar(p, MistakeKind::ConstructorBar, &mut foreign) {
                    continue;
                }
                p.expected("a constructor");
                p.bump_unexpected();
                continue;
            }
            let signature = constructor(p, &mut foreign);
            if mistakes::ends_arm(p, MistakeKind::ConstructorBar, &mut foreign) {
                separators.seen = true;
                continue;
            }
            // The manual separates constructors by line breaks.
            if !separators.comma(p, signature) && !p.on_new_line(0) {
                p.expected("`,`");
                skip_until(p, |p| p.on_new_line(0) || p.at(T!["}"]));
            }
            if p.on_new_line(0) {
                p.recover();
            }
        }
        p.expect_close(T!["}"], open);
        foreign.record(p);
        constructors.complete(p, CONSTRUCTOR_LIST);
    }
    item.complete(p, TYPE_DEF);
}

/// `Cons(A, List[A])`, `Nil`, `S : (Nat) -> Nat`. Returns true for the last form.
pub(super) fn constructor(p: &mut Parser<'_>, foreign: &mut mistakes::ConstructEdits) -> bool {
    let mut signature = false;
    let constructor = p.start();
    if p.at(INT) {
        // The pass Defunctionalization numbers them.
        p.compat(p.range(), SyntaxErrorKind::UnreadableName);
    }
    p.leaf(NAME);
    if matches!(p.current(), T!["("] | IDENT) && mistakes::constructor_fields(p, foreign) {
        constructor.complete(p, CONSTRUCTOR);
        return false;
    }
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
        // TVM 0.7 prints it without a name.
        IDENT => p.text(0) == "primfn" && p.nth(1) == T!["("],
        _ => false,
    }
}

/// Parses a TIR function, up to the line that begins the next item, as one token.
fn tir(p: &mut Parser<'_>) {
    p.compat(p.range(), SyntaxErrorKind::TirFunction);
    let count = p.count_until_line(|kind, line| match kind {
        DEF_KW => line.starts_with("def @"),
        TYPE_KW | EXTERN_KW | METADATA => true,
        HASH => line.starts_with("#["),
        L_BRACK => is_log_line(line.as_bytes()),
        GLOBAL => line.starts_with("@T.prim_func") || line.contains("= primfn("),
        _ => false,
    });
    p.node(TIR_ITEM, |p| p.bump_joined(TIR_TEXT, count));
}

/// Parses bindings and an expression in place of definitions.
fn expr_item(p: &mut Parser<'_>) {
    let statements = |p: &mut Parser<'_>| {
        if !p.advances(stmts::statements) {
            skip_line(p);
        }
    };
    p.node(EXPR_ITEM, |p| p.node(BLOCK, statements));
}

/// Skips tokens up to the next line that begins an item or a statement, as one error.
fn skip_line(p: &mut Parser<'_>) {
    let kind = p.current();
    p.error(SyntaxErrorKind::Unexpected(kind));
    skip_until(p, |p| at_item_line(p) || stmts::at_statement_line(p));
}
