//! Bindings.

use super::*;

/// Parses the words before the name of a binding: `let mut %x`, `let int32 %x`. Returns the type to insert after the
/// name.
#[inline(never)]
pub(crate) fn words_before_name(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() || p.on_new_line(1) {
        return false;
    }
    if matches!(p.current(), IDENT | TENSOR_TEXT | REF_KW) && p.nth(1) == LOCAL {
        let range = p.range();
        let is_type = p.at(TENSOR_TEXT) || crate::dtype_of(p.text(0)).is_some();
        let mut edits = vec![delete(p, 0, 1)];
        if is_type && !matches!(p.nth(2), COLON) {
            let ty = p.text(0);
            let ty = crate::dtype_of(ty).unwrap_or(ty);
            edits.push(insert(p.range_of(p.position() + 1).end(), &format!(": {ty}")));
        }
        let kind = if is_type { MistakeKind::TypeFirst } else { MistakeKind::Superfluous };
        p.mistake(range, kind, edits);
        skip(p, 1);
        return true;
    }
    false
}

/// Parses what other languages write in place of the `;` after a binding: `in`, or a comma at the
/// end of the line. Returns false if it is something else.
#[inline(never)]
pub(crate) fn instead_of_semicolon(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() || p.on_new_line(0) {
        return false;
    }
    match p.current() {
        IDENT if p.text(0) == "in" => {
            let range = p.range();
            let gap = TextRange::new(p.last_range().end(), range.end());
            p.mistake(range, MistakeKind::Spelling(";"), vec![replace(gap, ";")]);
            skip(p, 1);
            true
        }
        COMMA if p.on_new_line(1) => {
            respell(p, 1, ";");
            true
        }
        _ => false,
    }
}

/// Parses the type of a value that was written after it: `let %y = tanh(%x) : T;`. `named` is the token after the name.
#[inline(never)]
pub(crate) fn ascribed_value(p: &mut Parser<'_>, named: usize) {
    if p.is_recovering() || p.on_new_line(0) {
        return;
    }
    let (sign, value) = (p.range(), p.last_range().end());
    let name = p.range_of(named - 1).end();
    let error = p.start();
    p.bump();
    types::ty(p);
    error.complete(p, ERROR);
    let written = TextRange::new(value, p.last_range().end());
    let ty = p.text_at(written).trim_start_matches([' ', ':']).to_owned();
    let edits = vec![insert(name, &format!(": {ty}")), replace(written, "")];
    p.mistake(sign, MistakeKind::AscribedValue, edits);
}

/// Parses what other languages write for the `=` of a binding: `:=`, `<-`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn binding_sign(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() || p.on_new_line(0) {
        return false;
    }
    let count = match p.current() {
        COLON_EQ | EQ2 | THIN_ARROW => 1,
        LT if p.nth(1) == MINUS && p.is_glued(1) => 2,
        _ => return false,
    };
    respell(p, count, "=");
    true
}

/// Parses `int32 %y` in place of `let %y: int32`, up to the name. Returns false if the word is no data type.
#[inline(never)]
pub(crate) fn type_first(p: &mut Parser<'_>) -> bool {
    let Some(dtype) = crate::dtype_of(p.text(0)) else { return false };
    if p.nth(2) == COLON || p.is_recovering() {
        return false;
    }
    let range = p.range();
    let name = p.range_of(p.position() + 1).end();
    let edits = vec![replace(range, "let"), insert(name, &format!(": {dtype}"))];
    p.mistake(range, MistakeKind::TypeFirst, edits);
    skip(p, 1);
    true
}

/// Parses a binding of the fields of a tuple: `let (%x, %y) = e;`, `let %x, %y = e;`. The current token is the
/// parenthesis, or the comma after the first name. Returns false if it is something else.
#[inline(never)]
pub(crate) fn destructuring(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() {
        return false;
    }
    let is_paren = p.at(L_PAREN);
    let mut names = Vec::new();
    let first = if is_paren { p.range() } else { p.last_range() };
    if !is_paren {
        names.push(p.text_at(first));
    }
    let mut at = 1;
    while p.nth(at) == LOCAL && names.len() < MAX_LOOKAHEAD {
        names.push(p.text(at));
        at += 1;
        if p.nth(at) != COMMA {
            break;
        }
        at += 1;
    }
    if is_paren && p.nth(at) == R_PAREN {
        at += 1;
    }
    if p.nth(at) != EQ || names.len() < 2 {
        return false;
    }
    let written = first.cover(p.range_of(p.position() + at - 1));
    let bare: Vec<&str> = names.iter().map(|name| name.trim_start_matches('%')).collect();
    let tuple = format!("%{}", bare.join("_"));
    skip(p, at + 1);
    exprs::expr(p);
    let mut edits = vec![replace(written, &tuple)];
    if p.at(SEMICOLON) {
        let fields: Vec<String> = (0..)
            .zip(&names)
            .map(|(field, name)| format!(" let {name} = {tuple}.{field};"))
            .collect();
        edits.push(insert(p.range().end(), &fields.concat()));
    }
    p.mistake(written, MistakeKind::Destructuring, edits);
    true
}
