//! Types.

use super::*;
use crate::mistake::{dtype_of, is_word_of_tensors, tensor_type_of};

/// Parses the brackets after the name of a type, which begins at token `first`: `tensor<2x3xf32>`, `float32[2][3]`,
/// `List<int32>`, `List(int32)`. Returns false if they are those of Relay.
#[inline(never)]
pub(crate) fn tensor_like(p: &mut Parser<'_>, first: usize) -> bool {
    if p.is_recovering() || !p.is_glued(0) || p.on_new_line(0) {
        return false;
    }
    let word = p.text_at(p.range_of(first));
    let is_dtype = dtype_of(word).is_some();
    if is_dtype && p.at(L_BRACK) && p.nth(1) == R_BRACK {
        let whole = p.range_of(first).cover(p.range_of(p.position() + 1));
        let edits = vec![insert(whole.start(), "List["), replace(range_of(p, 2), "]")];
        p.mistake(whole, MistakeKind::ListType, edits);
        p.bump_tokens(2);
        return true;
    }
    if is_dtype && p.at(L_BRACK) || is_word_of_tensors(word) {
        let Some(mut count) = bracketed(p, 0) else { return false };
        while p.nth(count) == L_BRACK && p.is_glued(count) {
            let Some(more) = bracketed(p, count) else { break };
            count += more;
        }
        let whole = p.range_of(first).cover(p.range_of(p.position() + count - 1));
        let edits = tensor_type_of(p.text_at(whole)).map(|to| replace(whole, &to));
        p.mistake(whole, MistakeKind::TensorType, edits.into_iter().collect());
        p.bump_tokens(count);
        return true;
    }
    if !is_dtype && (p.at(LT) && !types::at_index_args(p) || p.at(L_PAREN)) {
        let Some(count) = bracketed(p, 0) else { return false };
        let range = range_of(p, count);
        let close = p.range_of(p.position() + count - 1);
        let edits = vec![replace(p.range(), "["), replace(close, "]")];
        p.mistake(range, MistakeKind::TypeArguments, edits);
        let (open, close) = if p.at(LT) { (LT, GT) } else { (L_PAREN, R_PAREN) };
        p.nested(|p| types::list_of_types(p, open, close));
        return true;
    }
    false
}

/// Parses the rest of a tensor type that begins at token `first` and goes on as none of Relay: `Tensor[[2, 3], float32]`,
/// `Tensor[(2, 3); float32]`. The current token is inside the bracket.
#[inline(never)]
pub(crate) fn tensor_rest(p: &mut Parser<'_>, first: usize) -> bool {
    if p.is_recovering() {
        return false;
    }
    let close = closing(p, &[END_OF_FILE, L_BRACE, EQ]);
    let Some(close) = close.filter(|&close| p.nth(close) == R_BRACK) else { return false };
    let count = close + 1;
    let whole = p.range_of(first).cover(p.range_of(p.position() + close));
    let edits = tensor_type_of(p.text_at(whole)).map(|to| replace(whole, &to));
    p.mistake(whole, MistakeKind::TensorType, edits.into_iter().collect());
    p.bump_tokens(count);
    true
}

/// Parses a type that begins as none of Relay: `&int32`, `[int32]`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn foreign_type(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() || p.on_new_line(0) {
        return false;
    }
    match p.current() {
        UNKNOWN if p.text(0) == "&" => {
            p.mistake(p.range(), MistakeKind::TypeSign, vec![delete(p, 0, 1)]);
            skip(p, 1);
            types::ty(p);
            true
        }
        L_BRACK => {
            let Some(count) = bracketed(p, 0) else { return false };
            p.mistake(
                range_of(p, count),
                MistakeKind::ListType,
                vec![insert(p.range().start(), "List")],
            );
            skip(p, count);
            true
        }
        // `x :: float32`
        COLON => {
            let range = p.last_range().cover(p.range());
            let second = vec![replace(p.range(), "")];
            p.mistake(range, MistakeKind::Spelling(":"), second);
            skip(p, 1);
            types::ty(p);
            true
        }
        _ => false,
    }
}

/// Parses a function type of Python: `Callable[[int32, int32], int32]`, `Callable[..., int32]`.
#[inline(never)]
pub(crate) fn callable(p: &mut Parser<'_>) {
    let whole = p.start();
    let word = p.range();
    skip(p, 2);
    let mut edits = Vec::new();
    if p.at(L_BRACK) {
        edits.push(replace(TextRange::new(word.start(), p.range().end()), "fn ("));
        types::list_of_types(p, L_BRACK, R_BRACK);
        let end = p.last_range();
        if p.at(COMMA) {
            edits.push(replace(end.cover(p.range()), ") ->"));
            let ret = p.start();
            p.bump();
            types::ty(p);
            ret.complete(p, RET_TYPE);
            edits.push(replace(p.range(), ""));
        }
    }
    // The arguments may be missing: `Callable[..., int32]`.
    while !p.at_end() && !matches!(p.current(), R_BRACK | R_PAREN | L_BRACE | EQ) {
        skip(p, 1);
    }
    let is_closed = p.eat(R_BRACK);
    whole.complete(p, FN_TYPE);
    let range = word.cover(p.last_range());
    p.mistake(range, MistakeKind::FunctionType, if is_closed { edits } else { Vec::new() });
}

/// Parses what follows a whole type in other languages: `int32 -> int32`, `int32 * float32`. `first` is the first token
/// of the type.
#[inline(never)]
pub(crate) fn after_type(p: &mut Parser<'_>, first: usize) {
    if p.is_recovering() || p.on_new_line(0) {
        return;
    }
    let start = p.range_of(first).start();
    let sign = p.range();
    match p.current() {
        THIN_ARROW => {
            let is_tuple = p.text_at(p.range_of(first)) == "(";
            let mut edits = vec![insert(start, if is_tuple { "fn " } else { "fn (" })];
            if !is_tuple {
                edits.push(insert(p.last_range().end(), ")"));
            }
            skip(p, 1);
            types::ty(p);
            p.mistake(sign, MistakeKind::FunctionType, edits);
        }
        STAR => {
            let mut edits = vec![insert(start, "(")];
            while p.at(STAR) {
                edits.push(replace(TextRange::new(p.last_range().end(), p.range().end()), ","));
                skip(p, 1);
                types::ty(p);
            }
            edits.push(insert(p.last_range().end(), ")"));
            p.mistake(sign, MistakeKind::ProductType, edits);
        }
        _ => {}
    }
}

/// Returns true at the name of a data type.
#[inline(never)]
pub(crate) fn at_dtype(p: &mut Parser<'_>) -> bool {
    dtype_of(p.text(0)).is_some()
}

/// Parses a size of another language: `None`, `*`, `2.0`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn size(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() {
        return false;
    }
    let range = p.range();
    let to = match p.current() {
        IDENT if matches!(p.text(0), "None" | "Any" | "null" | "unknown" | "dynamic") => "?",
        STAR | COLON => "?",
        FLOAT => match p.text(0).split_once('.') {
            Some((whole, "" | "0")) => whole,
            _ => return false,
        },
        _ => return false,
    };
    p.mistake(range, MistakeKind::Size, vec![replace(range, to)]);
    p.bump();
    true
}

/// Parses what other languages write after a size: `2 x 3`, `2 + 1`.
#[inline(never)]
pub(crate) fn after_size(p: &mut Parser<'_>) {
    if p.is_recovering() {
        return;
    }
    if p.at(IDENT) && p.text(0).starts_with('x') {
        let first = p.last_range();
        let mut whole = first;
        let mut text = p.text_at(first).to_owned();
        while matches!(p.current(), IDENT | INT | QUESTION) && !p.on_new_line(0) {
            text += p.text(0);
            whole = whole.cover(p.range());
            p.bump();
        }
        let sizes: Vec<&str> = text.split('x').collect();
        p.mistake(whole, MistakeKind::Size, vec![replace(whole, &sizes.join(", "))]);
        return;
    }
    let value = p.text_at(p.last_range()).parse::<i64>().ok();
    if let (PLUS | MINUS | STAR, INT) = (p.current(), p.nth(1))
        && p.nth(2) != INT
    {
        let whole = p.last_range().cover(p.range_of(p.position() + 1));
        let right = p.text(1).parse::<i64>().ok();
        let value = match (p.current(), value.zip(right)) {
            (PLUS, Some((a, b))) => a.checked_add(b),
            (MINUS, Some((a, b))) => a.checked_sub(b),
            (_, Some((a, b))) => a.checked_mul(b),
            _ => None,
        };
        let edits = value.map(|value| replace(whole, &value.to_string()));
        p.mistake(whole, MistakeKind::Size, edits.into_iter().collect());
        p.bump_tokens(2);
    }
}

/// Parses what other languages write for the arrow of a function type: `fn (int32) => int32`, `fn (int32): int32`.
/// Returns false if it is something else.
#[inline(never)]
pub(crate) fn arrow_of_type(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() || p.on_new_line(0) || !matches!(p.current(), FAT_ARROW | COLON) {
        return false;
    }
    let sign = p.range();
    let to = if p.is_glued(0) { " ->" } else { "->" };
    p.mistake(sign, MistakeKind::Spelling("->"), vec![replace(sign, to)]);
    let ret = p.start();
    p.bump();
    types::ty(p);
    ret.complete(p, RET_TYPE);
    true
}
