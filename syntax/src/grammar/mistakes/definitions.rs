//! Definitions of functions and data types.

use super::*;

/// Parses a definition with another keyword, up to its name: `fn @main`, `func.func @main`, `pub fn @main`,
/// `float32 @main`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn definition(p: &mut Parser<'_>) -> bool {
    if bound_function(p) || template(p) {
        return true;
    }
    let is_open = |p: &mut Parser<'_>, n: usize| matches!(p.nth(n), L_PAREN | L_BRACK | LT);
    let words = (0..4).take_while(|&n| {
        matches!(p.nth(n), IDENT | FN_KW | LET_KW | DEF_KW | TENSOR_TEXT | EXTERN_KW)
            && (n == 0 || !p.on_new_line(n))
    });
    let words = words.count();
    // `fn main(`: the last word is the name, if another one before it defines functions.
    let (words, is_named) = match p.nth(words) {
        GLOBAL if words > 0 && is_open(p, words + 1) && !p.on_new_line(words) => (words, true),
        L_PAREN if words > 1 && is_word_of_functions(p, words - 2) && p.nth(words - 1) == IDENT => {
            (words - 1, false)
        }
        _ => return false,
    };
    let range = range_of(p, words);
    let mut edits = vec![replace(range, "def")];
    if !is_named {
        edits.push(insert(p.range_of(p.position() + words).start(), "@"));
    }
    p.mistake(range, MistakeKind::Definition, edits);
    let item = p.start();
    skip(p, words);
    p.leaf(NAME);
    params::signature_and_body_of(p, true);
    item.complete(p, FN_DEF);
    true
}

/// `template <typename t> def @f(%x: t) { %x }`
fn template(p: &mut Parser<'_>) -> bool {
    if !(p.at(IDENT) && matches!(p.text(0), "template" | "forall") && p.nth(1) == LT) {
        return false;
    }
    let Some(count) = bracketed(p, 1).map(|count| count + 1) else { return false };
    if p.nth(count) != DEF_KW || p.nth(count + 1) != GLOBAL {
        return false;
    }
    let range = range_of(p, count);
    let end = p.range_of(p.position() + count).start();
    let mut edits = vec![replace(TextRange::new(range.start(), end), "")];
    let item = p.start();
    skip(p, 1);
    let list = p.start();
    let mut names = Vec::new();
    for _ in 1..count {
        let is_name = p.at(IDENT) && matches!(p.nth(1), COMMA | GT | EQ);
        let param = p.start();
        if is_name {
            names.push(p.text(0));
        }
        p.bump();
        param.complete(p, if is_name { TYPE_PARAM } else { ERROR });
    }
    list.complete(p, TYPE_PARAM_LIST);
    p.bump();
    p.leaf(NAME);
    if !names.is_empty() && !matches!(p.current(), L_BRACK | LT) {
        edits.push(insert(p.last_range().end(), &format!("[{}]", names.join(", "))));
    }
    params::signature_and_body_of(p, true);
    item.complete(p, FN_DEF);
    p.mistake(range, MistakeKind::TypeParameters, edits);
    true
}

/// `let @f = fn (%x: int32) { %x };`
fn bound_function(p: &mut Parser<'_>) -> bool {
    let parts = [LET_KW, GLOBAL, EQ, FN_KW];
    if !parts.iter().enumerate().all(|(n, kind)| p.nth(n) == *kind) {
        return false;
    }
    let range = p.range();
    let gap =
        TextRange::new(p.range_of(p.position() + 1).end(), p.range_of(p.position() + 4).start());
    let mut edits = vec![replace(range, "def"), replace(gap, "")];
    let item = p.start();
    skip(p, 1);
    p.leaf(NAME);
    skip(p, 2);
    params::signature_and_body_of(p, true);
    if p.at(SEMICOLON) {
        edits.push(delete(p, 0, 1));
        skip(p, 1);
    }
    item.complete(p, FN_DEF);
    p.mistake(range, MistakeKind::Definition, edits);
    true
}

fn is_word_of_functions(p: &mut Parser<'_>, n: usize) -> bool {
    let word = p.text(n);
    matches!(word, "fn" | "fun" | "func" | "function" | "define" | "func.func" | "proc" | "sub")
}

/// Parses a comment of another language on one line: `-- text`, `(* text *)`, `; text`.
#[inline(never)]
pub(crate) fn comment(p: &mut Parser<'_>) -> bool {
    if !p.on_new_line(0) {
        return false;
    }
    let line = p.rest_of_line(0).trim_end();
    let length = match line {
        line if line.starts_with("(*") => line.find("*)").map(|at| at + 2),
        line if line.starts_with("-- ") || line.starts_with("; ") => Some(line.len()),
        _ => None,
    };
    let Some(length) = length else { return false };
    let start = p.range().start();
    let whole = TextRange::at(start, (length as u32).into());
    let count = (0..p.count_on_line(0))
        .take_while(|&n| p.range_of(p.position() + n).end() <= whole.end())
        .count();
    let text = p.text_at(whole);
    let bare = text.trim_start_matches(['-', ';', '(', '*']).trim_end_matches(['*', ')']).trim();
    let edit = replace(whole, &format!("// {bare}"));
    p.mistake(whole, MistakeKind::Comment, vec![edit]);
    skip(p, count);
    true
}

/// Parses the constructors after the `=` of `type T = A | B(int32)`, where the current token is `=`. Returns false if
/// there is no such list.
#[inline(never)]
pub(crate) fn type_body(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() {
        return false;
    }
    let sign = p.range();
    let is_bar = |p: &mut Parser<'_>, n: usize| p.nth(n) == UNKNOWN && p.text(n) == "|";
    let from = if is_bar(p, 1) { 2 } else { 1 };
    let mut at = from + 1;
    if p.nth(at) == L_PAREN {
        at += bracketed(p, at).unwrap_or(0);
    }
    if p.nth(from) != IDENT || !(is_bar(p, at) || from == 2) {
        // `type T = int32`
        p.mistake(sign, MistakeKind::Alias, Vec::new());
        skip_until(p, items::at_item_line);
        return true;
    }
    let mut foreign = ConstructEdits::default();
    foreign.add(sign, MistakeKind::TypeBody, replace(sign, "{"));
    let list = p.start();
    skip(p, 1);
    loop {
        if is_bar(p, 0) {
            // The first bar has nothing before it.
            let gap = TextRange::new(p.last_range().end(), p.range().end());
            let is_first = foreign.edits.len() == 1 && from == 2;
            foreign.edits.push(replace(gap, if is_first { "" } else { "," }));
            skip(p, 1);
        }
        if !p.at(IDENT) {
            break;
        }
        items::constructor(p, &mut foreign);
        if !is_bar(p, 0) {
            break;
        }
    }
    foreign.edits.push(insert(p.last_range().end(), " }"));
    if p.at(SEMICOLON) {
        foreign.edits.push(delete(p, 0, 1));
        skip(p, 1);
    }
    list.complete(p, CONSTRUCTOR_LIST);
    foreign.record(p);
    true
}

/// Parses the fields of a constructor in another notation: `Dark of int32`, `Dark(level: int32)`. The current token is
/// `of`, or the `(` before a named field. Returns false if it is something else.
#[inline(never)]
pub(crate) fn constructor_fields(p: &mut Parser<'_>, foreign: &mut ConstructEdits) -> bool {
    if p.is_recovering() || p.on_new_line(0) {
        return false;
    }
    let range = p.range();
    let mut edits = Vec::new();
    if p.at(IDENT) && p.text(0) == "of" {
        let gap = TextRange::new(p.last_range().end(), p.range_of(p.position() + 1).start());
        edits.push(replace(gap, "("));
        skip(p, 1);
        let fields = p.start();
        types::ty(p);
        while p.at(STAR) {
            let gap = TextRange::new(p.last_range().end(), p.range().end());
            edits.push(replace(gap, ","));
            skip(p, 1);
            types::ty(p);
        }
        fields.complete(p, TUPLE_TYPE);
        edits.push(insert(p.last_range().end(), ")"));
    } else if p.at(L_PAREN) && matches!(p.nth(1), IDENT | LOCAL) && p.nth(2) == COLON {
        let fields = p.start();
        p.bump();
        while matches!(p.current(), IDENT | LOCAL) && p.nth(1) == COLON {
            edits.push(delete(p, 0, 2));
            skip(p, 2);
            types::ty(p);
            if !p.eat(COMMA) {
                break;
            }
        }
        p.expect(R_PAREN);
        fields.complete(p, TUPLE_TYPE);
    } else {
        return false;
    }
    for edit in edits {
        foreign.add(range, MistakeKind::ConstructorFields, edit);
    }
    true
}

/// Parses type parameters in another notation: `type Box a {`, `type Box(a) {`.
#[inline(never)]
pub(crate) fn type_parameters(p: &mut Parser<'_>) {
    if p.is_recovering() || p.on_new_line(0) {
        return;
    }
    let range = p.range();
    let params = if p.at(L_PAREN) { bracketed(p, 0).unwrap_or(0) } else { 0 };
    let count = match p.current() {
        L_PAREN if matches!(p.nth(params), L_BRACE | EQ) => params,
        IDENT => (0..8).take_while(|&n| p.nth(n) == IDENT).count(),
        _ => return,
    };
    if !matches!(p.nth(count), L_BRACE | EQ) {
        return;
    }
    let list = p.start();
    let mut edits = Vec::new();
    let is_paren = p.at(L_PAREN);
    for n in 0..count {
        match p.current() {
            L_PAREN => edits.push(replace(p.range(), "[")),
            R_PAREN => edits.push(replace(p.range(), "]")),
            IDENT if !is_paren => {
                let gap = TextRange::new(p.last_range().end(), p.range().start());
                edits.push(replace(gap, if n == 0 { "[" } else { ", " }));
            }
            _ => {}
        }
        if p.at(IDENT) {
            p.leaf(TYPE_PARAM);
        } else {
            p.bump();
        }
    }
    if !is_paren {
        edits.push(insert(p.last_range().end(), "]"));
    }
    list.complete(p, TYPE_PARAM_LIST);
    p.mistake(range, MistakeKind::TypeParameters, edits);
}

/// Returns true at a definition of a data type with another keyword: `enum Shade { … }`.
#[inline(never)]
pub(crate) fn at_type_word(p: &mut Parser<'_>) -> bool {
    let is_word =
        matches!(p.text(0), "enum" | "datatype" | "newtype" | "struct" | "class" | "union");
    if !is_word || p.nth(1) != IDENT || !matches!(p.nth(2), L_BRACE | EQ | L_BRACK) {
        return false;
    }
    let range = p.range();
    if matches!(p.text(0), "struct" | "class" | "union") {
        p.mistake(range, MistakeKind::Record, Vec::new());
        // The fields of a record are no constructors.
        let error = p.start();
        while !p.at_end() && !p.at(L_BRACE) {
            p.bump();
        }
        while !p.at_end() && !p.at(R_BRACE) {
            p.bump();
        }
        p.eat(R_BRACE);
        error.complete(p, ERROR);
        return false;
    }
    p.mistake(range, MistakeKind::Spelling("type"), vec![replace(range, "type")]);
    true
}

/// Parses the name of a definition without its sigil, or with another one.
#[inline(never)]
pub(crate) fn name_of_definition(p: &mut Parser<'_>) {
    let range = p.range();
    let is_name =
        matches!(p.current(), IDENT | LOCAL) && matches!(p.nth(1), L_PAREN | L_BRACK | LT);
    if !is_name || p.is_recovering() {
        p.expected("the name of the definition, such as `@main`");
        if matches!(p.current(), IDENT | LOCAL | GRAPH) {
            p.bump();
        }
        return;
    }
    let edit = match p.at(LOCAL) {
        true => replace(TextRange::at(range.start(), 1.into()), "@"),
        false => insert(range.start(), "@"),
    };
    p.mistake(range, MistakeKind::Sigil('@'), vec![edit]);
    p.bump();
}

/// Consumes a module of another language.
#[inline(never)]
pub(crate) fn other_language(p: &mut Parser<'_>) -> bool {
    if !matches!(p.current(), IDENT | GLOBAL) || !p.at_column_zero() {
        return false;
    }
    let language = match (p.text(0), p.nth(1)) {
        ("@R.function" | "@relax.function" | "@I.ir_module" | "@tvm.script.ir_module", _) => {
            "a module of Relax"
        }
        ("module", L_BRACE | GLOBAL) => "a module of MLIR",
        ("HloModule", _) => "a module of HLO",
        ("graph", L_PAREN) if p.nth(2) == LOCAL => "a graph of TorchScript",
        (_, L_PAREN) if p.rest_of_line(0).contains(") => (") => "a model of ONNX",
        _ => return false,
    };
    p.mistake(p.range(), MistakeKind::OtherLanguage(language), Vec::new());
    // A function of Python begins with `def` as well.
    let is_python = |p: &mut Parser<'_>| p.at(DEF_KW) && p.nth(1) == IDENT;
    skip_until(p, |p| items::at_item_line(p) && !is_python(p));
    true
}
