//! Functions, their parameters and bodies.

use super::*;
use crate::parser::{CompletedNode, Marker};

/// `(%v) => e`, `%v -> e`, `fun (%v) -> e`: `left` is what precedes the arrow.
pub(crate) fn arrow_function(
    p: &mut Parser<'_>,
    left: CompletedNode,
    first: usize,
) -> Option<CompletedNode> {
    let word = p.text_at(p.range_of(first));
    let is_word = matches!(word, "fun" | "function" | "func" | "lambda");
    let is_params = matches!(left.kind(), LOCAL_REF | PAREN_EXPR | TUPLE_EXPR);
    if !(is_params || is_word && left.kind() == CALL_EXPR) {
        return None;
    }
    let start = p.range_of(first).start();
    let mut edits = match is_word {
        true => vec![replace(p.range_of(first), "fn")],
        false => vec![insert(start, "fn ")],
    };
    if left.kind() == LOCAL_REF {
        edits.push(insert(start, "("));
        edits.push(insert(p.last_range().end(), ")"));
    }
    if edits.len() == 3 {
        // Two insertions at one place are one.
        edits.remove(0);
        edits[0].1 = "fn (".to_owned();
    }
    let sign = p.range();
    let whole = left.precede(p);
    body_after_sign(p, &mut edits);
    p.mistake(sign, MistakeKind::Lambda, edits);
    Some(whole.complete(p, ERROR))
}

/// Parses a body after its sign, which is the current token: `=> e`, `-> { … }`.
fn body_after_sign(p: &mut Parser<'_>, edits: &mut Edits) {
    if p.nth(1) == L_BRACE {
        edits.push(delete(p, 0, 1));
        p.bump();
        stmts::block(p);
        return;
    }
    edits.push(replace(p.range(), "{"));
    p.bump();
    exprs::infix(p, 0);
    edits.push(insert(p.last_range().end(), " }"));
}

/// `\%v -> e`: `count` tokens are the sign.
pub(crate) fn lambda(p: &mut Parser<'_>, count: usize) -> Option<CompletedNode> {
    if p.nth(count) != LOCAL {
        return None;
    }
    let start = p.range().start();
    let whole = p.start();
    p.bump_tokens(count);
    lambda_after(p, whole, start)
}

/// `lambda %v, %w: e`, after the word, which begins at `start`.
pub(crate) fn lambda_after(
    p: &mut Parser<'_>,
    whole: Marker,
    start: TextSize,
) -> Option<CompletedNode> {
    let sign = p.last_range();
    let mut edits = vec![replace(TextRange::new(start, p.range().start()), "fn (")];
    let mut first = true;
    while p.at(LOCAL) && !p.on_new_line(0) {
        if !first && p.last_range().end() < p.range().start() {
            edits.push(replace(TextRange::new(p.last_range().end(), p.range().start()), ", "));
        }
        first = false;
        p.bump();
        if p.at(COMMA) {
            edits.push(delete(p, 0, 1));
            p.bump();
        }
    }
    if matches!(p.current(), THIN_ARROW | FAT_ARROW | COLON | EQ | DOT) {
        edits.push(replace(TextRange::new(p.last_range().end(), p.range().start()), ") "));
        body_after_sign(p, &mut edits);
    } else {
        edits.push(insert(p.last_range().end(), ") "));
        if p.at(L_BRACE) {
            stmts::block(p);
        }
    }
    p.mistake(sign, MistakeKind::Lambda, edits);
    Some(whole.complete(p, ERROR))
}

/// `|%v| e`
pub(crate) fn closure(p: &mut Parser<'_>) -> Option<CompletedNode> {
    let end = (1..MAX_LOOKAHEAD).find(|&n| !matches!(p.nth(n), LOCAL | COMMA | COLON | IDENT))?;
    if p.nth(end) != UNKNOWN || p.text(end) != "|" || p.nth(1) != LOCAL {
        return None;
    }
    let whole = p.start();
    let range = range_of(p, end + 1);
    let mut edits = vec![replace(p.range(), "fn ("), replace(p.range_of(p.position() + end), ")")];
    p.bump_tokens(end + 1);
    if p.at(L_BRACE) {
        stmts::block(p);
    } else {
        edits.push(insert(p.range().start(), "{ "));
        exprs::infix(p, 0);
        edits.push(insert(p.last_range().end(), " }"));
    }
    p.mistake(range, MistakeKind::Lambda, edits);
    Some(whole.complete(p, ERROR))
}

/// Parses the rest of `(%v: T) => e` at the colon. Returns false if it is something else.
#[inline(never)]
pub(crate) fn typed_parens(p: &mut Parser<'_>) -> bool {
    if !p.at(COLON) || p.is_recovering() {
        return false;
    }
    let close = closing(p, &[END_OF_FILE, SEMICOLON, L_BRACE]);
    let is_function = close.is_some_and(|n| matches!(p.nth(n + 1), FAT_ARROW | THIN_ARROW));
    if is_function {
        types::opt_ascription(p);
    }
    is_function
}

/// Parses parameters without parentheses: `fn %v { … }`, `def @main %x = …`.
#[inline(never)]
pub(crate) fn parameters(p: &mut Parser<'_>) -> bool {
    if !p.at(LOCAL) || p.is_recovering() || p.on_new_line(0) {
        return false;
    }
    let range = p.range();
    let mut edits = vec![insert(range.start(), "(")];
    let params = p.start();
    while p.at(LOCAL) && !p.on_new_line(0) {
        // `{` begins the body, and not a virtual device.
        let param = p.start();
        p.leaf(NAME);
        types::opt_ascription(p);
        param.complete(p, PARAM);
        if p.at(LOCAL) {
            edits.push(insert(p.last_range().end(), ","));
        } else if p.at(COMMA) {
            p.bump();
        }
    }
    params.complete(p, PARAM_LIST);
    edits.push(insert(p.last_range().end(), ")"));
    p.mistake(range, MistakeKind::Parameters, edits);
    true
}

/// Parses what other languages write between the parameters and the body: `: T {`, `=> e`, `= e`, `:` at the end of the
/// line. Returns false if it is something else; otherwise either the body has been parsed, or it follows in braces.
#[inline(never)]
pub(crate) fn body(p: &mut Parser<'_>, is_item: bool) -> bool {
    if p.is_recovering() {
        return false;
    }
    let sign = p.range();
    let kind = p.current();
    let is_sign = matches!(kind, COLON | FAT_ARROW | EQ | THIN_ARROW);
    if !p.on_new_line(0) && matches!(kind, COLON | FAT_ARROW | IDENT | TENSOR_TEXT) {
        let from = usize::from(is_sign);
        // Any other word before the body may be what a person is writing.
        let is_type = is_sign || kind == TENSOR_TEXT || at_dtype(p) || p.nth(1) != L_BRACE;
        if is_type && types_up_to_brace(p, from) {
            let edit = match is_sign {
                true if p.is_glued(0) => replace(sign, " ->"),
                true => replace(sign, "->"),
                false => insert(sign.start(), "-> "),
            };
            p.mistake(sign, MistakeKind::ResultType, vec![edit]);
            let ret = p.start();
            if is_sign {
                p.bump();
            }
            types::ty(p);
            ret.complete(p, RET_TYPE);
            return true;
        }
    }
    // The body of Python, on the next lines.
    if kind == COLON && p.on_new_line(1) && is_item {
        let replaced = replace(sign, " {");
        skip(p, 1);
        stmts::block_without_brace(p);
        let end = p.last_range().end();
        p.mistake(sign, MistakeKind::Body, vec![replaced, insert(end, "\n}")]);
        return true;
    }
    let begins = match is_sign {
        true => !p.on_new_line(1),
        false => !is_item && begins_operand(p, 0) && p.nth(1) != L_BRACE,
    };
    if !begins {
        return false;
    }
    let mut edits = Vec::new();
    if is_sign && p.nth(1) == L_BRACE {
        p.mistake(sign, MistakeKind::Superfluous, vec![delete(p, 0, 1)]);
        skip(p, 1);
        return true;
    }
    if is_sign {
        edits.push(replace(sign, "{"));
        skip(p, 1);
    } else {
        edits.push(insert(sign.start(), "{ "));
    }
    let block = p.start();
    exprs::infix(p, 0);
    edits.push(insert(p.last_range().end(), " }"));
    block.complete(p, BLOCK);
    if is_item && p.at(SEMICOLON) {
        edits.push(delete(p, 0, 1));
        skip(p, 1);
    }
    p.mistake(sign, MistakeKind::Body, edits);
    true
}

/// Returns true if there are only tokens of types from the `n`th token from here to a brace.
fn types_up_to_brace(p: &mut Parser<'_>, from: usize) -> bool {
    for n in from..MAX_LOOKAHEAD {
        if p.on_new_line(n) {
            return false;
        }
        match p.nth(n) {
            L_BRACE => return n > from,
            IDENT | TENSOR_TEXT | INT | COMMA | QUESTION | L_PAREN | R_PAREN | L_BRACK
            | R_BRACK | FN_KW | THIN_ARROW | LT | GT => {}
            _ => return false,
        }
    }
    false
}

/// Parses a parameter of another language: `x: T`, `@x: T`, `float32 %x`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn param(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() {
        return false;
    }
    let range = p.range();
    let is_name =
        matches!(p.current(), IDENT | GLOBAL) && matches!(p.nth(1), COLON | COMMA | R_PAREN);
    let param = p.start();
    if is_name {
        let edit = match p.at(GLOBAL) {
            true => replace(TextRange::at(range.start(), 1.into()), "%"),
            false => insert(range.start(), "%"),
        };
        p.mistake(range, MistakeKind::Sigil('%'), vec![edit]);
        p.leaf(NAME);
        let named = p.position();
        types::opt_ascription(p);
        if !matches!(p.current(), COMMA | R_PAREN) {
            after_param(p, named);
        }
    } else if super::words_before_name(p) {
        if p.at(LOCAL) {
            p.leaf(NAME);
        }
        types::opt_ascription(p);
    } else {
        param.abandon(p);
        return false;
    }
    param.complete(p, PARAM);
    true
}

/// Parses what other languages write after a parameter: a type without colon, `= float32`, a default
/// value. `named` is the token after the name.
#[inline(never)]
pub(crate) fn after_param(p: &mut Parser<'_>, named: usize) {
    if p.is_recovering() || p.on_new_line(0) {
        return;
    }
    match p.current() {
        // `%l: List int32`
        IDENT | TENSOR_TEXT if p.position() > named => {
            if p.at(IDENT) && crate::dtype_of(p.text(0)).is_none() {
                return;
            }
            let range = p.range();
            let gap = TextRange::new(p.last_range().end(), range.start());
            types::ty(p);
            let edits = vec![replace(gap, "["), insert(p.last_range().end(), "]")];
            p.mistake(range, MistakeKind::TypeArguments, edits);
        }
        IDENT | TENSOR_TEXT => {
            let range = p.range();
            p.mistake(range, MistakeKind::Missing(":"), vec![insert(p.last_range().end(), ":")]);
            types::ty(p);
        }
        EQ if p.nth(1) == IDENT || p.nth(1) == TENSOR_TEXT => {
            let sign = p.range();
            let gap = TextRange::new(p.last_range().end(), sign.end());
            p.mistake(sign, MistakeKind::Spelling(":"), vec![replace(gap, ":")]);
            skip(p, 1);
            types::ty(p);
        }
        EQ => {
            let sign = p.range();
            let from = p.last_range().end();
            let error = p.start();
            p.bump();
            exprs::expr(p);
            error.complete(p, ERROR);
            let whole = TextRange::new(from, p.last_range().end());
            p.mistake(sign, MistakeKind::DefaultValue, vec![replace(whole, "")]);
        }
        _ => {}
    }
}

/// Consumes a `;` between parameters.
#[inline(never)]
pub(crate) fn semicolon_in_list(p: &mut Parser<'_>) -> bool {
    let is_between = p.at(SEMICOLON)
        && !p.is_recovering()
        && !p.on_new_line(1)
        && p.nth(1) == LOCAL
        && p.nth(2) == COLON;
    if is_between {
        respell(p, 1, ",");
    }
    is_between
}
