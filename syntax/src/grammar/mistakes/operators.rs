//! Operators, indices, casts and other forms around an operand.

use super::*;
use crate::parser::CompletedNode;

/// The binding power of tokens that follow an operand in other languages alone. It is more than that of every
/// operator, so that [`operator`] decides.
pub(in crate::grammar) const FOREIGN: u8 = u8::MAX;

/// Parses the rest of an expression after `left`, if the current token is an operator of another language. `first`
/// is the first token of `left`.
#[inline(never)]
pub(crate) fn operator(
    p: &mut Parser<'_>,
    left: CompletedNode,
    first: usize,
    min: u8,
) -> Option<CompletedNode> {
    if p.on_new_line(0) || p.is_recovering() {
        return None;
    }
    let word = p.text_at(p.range_of(first));
    match p.current() {
        PERCENT if begins_operand(p, 1) => call(p, left, first, ("mod", 1, 12), min),
        // `nn.matmul` needs its attribute `units`.
        AT if begins_operand(p, 1) => call(p, left, first, ("nn.matmul", 1, 12), min),
        // `%n ^ 1`; `%r^` alone reads a reference.
        CARET if is_xor(p) => call(p, left, first, ("bitwise_xor", 1, 6), min),
        UNKNOWN if begins_operand(p, 1) && p.text(0) == "&" => {
            call(p, left, first, ("bitwise_and", 1, 6), min)
        }
        // The bar before the next arm of a `match`.
        UNKNOWN if p.text(0) == "|" && super::arms::at_arm(p, 1) => None,
        UNKNOWN if begins_operand(p, 1) && p.text(0) == "|" => {
            call(p, left, first, ("bitwise_or", 1, 5), min)
        }
        UNKNOWN if p.text(0) == "|" && p.nth(1) == GT && p.nth(2) == IDENT => pipe(p, left, first),
        COLON if p.nth(1) == COLON && p.is_glued(1) && begins_operand(p, 2) => {
            call(p, left, first, ("Cons", 2, 9), min)
        }
        COLON => None,
        IDENT => match p.text(0) {
            "and" if begins_operand(p, 1) => call(p, left, first, ("logical_and", 1, 5), min),
            "or" if begins_operand(p, 1) => call(p, left, first, ("logical_or", 1, 4), min),
            "xor" if begins_operand(p, 1) => call(p, left, first, ("logical_xor", 1, 4), min),
            "mod" | "rem" if begins_operand(p, 1) => call(p, left, first, ("mod", 1, 12), min),
            "as" if p.nth(1) == IDENT => as_cast(p, left, first),
            "in" | "then" | "of" | "with" | "do" | "else" | "where" | "end" | "and" | "or" => None,
            _ if left.kind() == LITERAL && p.is_glued(0) => Some(number(p, left, first)),
            _ if is_callee(left) => application(p, left, first, word),
            _ => None,
        },
        L_BRACK if p.is_glued(0) && left.kind() != LITERAL => {
            let types = (word == "Tensor").then(|| printed::after_tensor(p, left, first));
            types.flatten().or_else(|| index(p, left, first))
        }
        IF_KW => conditional(p, left, first, (L_PAREN, ELSE_KW)),
        QUESTION if begins_operand(p, 1) => conditional(p, left, first, (QUESTION, COLON)),
        L_BRACE if matches!(word, "for" | "while") => looped(p, left, first),
        L_BRACE if word == "switch" && left.kind() == CALL_EXPR => {
            Some(super::arms::switch(p, left, first))
        }
        FAT_ARROW => super::functions::arrow_function(p, left, first),
        THIN_ARROW if p.is_glued(0) && p.nth(1) == IDENT && p.nth(2) == L_PAREN => {
            method(p, left, first)
        }
        THIN_ARROW => super::functions::arrow_function(p, left, first),
        LOCAL | GRAPH | GLOBAL | INT | FLOAT => {
            if is_cast(p, left, first) {
                return cast(p, left, first);
            }
            match is_callee(left) {
                true => application(p, left, first, word),
                false => None,
            }
        }
        _ => None,
    }
}

fn is_callee(left: CompletedNode) -> bool {
    matches!(left.kind(), NAME_REF | GLOBAL_REF)
}

/// Parses the right operand of an operator of some tokens that Relay writes as a call of `name`: the name, the
/// number of tokens and the precedence.
fn call(
    p: &mut Parser<'_>,
    left: CompletedNode,
    first: usize,
    (name, tokens, power): (&'static str, usize, u8),
    min: u8,
) -> Option<CompletedNode> {
    if power <= min {
        return None;
    }
    let sign = range_of(p, tokens);
    let start = p.range_of(first).start();
    let between = TextRange::new(p.last_range().end(), p.range_of(p.position() + tokens).start());
    let whole = left.precede(p);
    p.bump_tokens(tokens);
    exprs::infix(p, power);
    let end = p.last_range().end();
    let close = if name == "nn.matmul" { ", units=None)" } else { ")" };
    let edits =
        vec![insert(start, &format!("{name}(")), replace(between, ", "), insert(end, close)];
    p.mistake(sign, MistakeKind::Operator(name), edits);
    Some(whole.complete(p, ERROR))
}

/// `%x |> tanh`
fn pipe(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> Option<CompletedNode> {
    let (start, end) = (p.range_of(first).start(), p.last_range().end());
    let sign = range_of(p, 2);
    let whole = left.precede(p);
    p.bump_tokens(2);
    exprs::name_ref(p);
    let text = p.text_at(TextRange::new(sign.end(), p.last_range().end())).trim().to_owned();
    let edits = vec![
        insert(start, &format!("{text}(")),
        replace(TextRange::new(end, p.last_range().end()), ")"),
    ];
    p.mistake(sign, MistakeKind::Operator("f"), edits);
    Some(whole.complete(p, ERROR))
}

/// Parses the second operator of two that other languages read as one: the second `*` of `%x ** 2f`. The first one is
/// the token before this one, and `first` the first token of its left operand. Returns the kind of
/// the expression, or `None` if there is no such operator.
#[inline(never)]
pub(crate) fn second_operator(p: &mut Parser<'_>, first: usize) -> Option<SyntaxKind> {
    if p.is_recovering() || !p.is_glued(0) || p.on_new_line(0) {
        return None;
    }
    let sign = p.last_range().cover(p.range());
    let text = p.text_at(sign);
    if let Some(to) = spelling(text) {
        p.mistake(sign, MistakeKind::Spelling(to), vec![replace(sign, to)]);
        skip(p, 1);
        exprs::infix(p, 8);
        return Some(ERROR);
    }
    let name = match text {
        "**" => "power",
        "<<" => "left_shift",
        ">>" => "right_shift",
        "++" if begins_operand(p, 1) => "@concat",
        // `%n++;`, `%x += 1f`
        "++" | "--" | "+=" | "-=" | "*=" | "/=" => {
            p.mistake(sign, MistakeKind::Operator("assignment"), Vec::new());
            skip(p, 1);
            if begins_operand(p, 0) {
                exprs::infix(p, 0);
            }
            return Some(ERROR);
        }
        _ => return None,
    };
    let start = p.range_of(first).start();
    let before = p.range_of(p.position() - 2).end();
    let between = TextRange::new(before, p.range_of(p.position() + 1).start());
    skip(p, 1);
    exprs::infix(p, if name == "power" { 13 } else { 9 });
    let end = p.last_range().end();
    let edits = vec![insert(start, &format!("{name}(")), replace(between, ", "), insert(end, ")")];
    p.mistake(sign, MistakeKind::Operator(name), edits);
    Some(ERROR)
}

/// Returns the spelling of a comparison in Relay.
fn spelling(text: &str) -> Option<&'static str> {
    Some(match text {
        "<>" | "/=" => "!=",
        "===" => "==",
        "!==" => "!=",
        "=<" => "<=",
        _ => return None,
    })
}

/// Parses an operand with a sign of another language before it: `-%x`, `!%c`, `+1f`, `\%v -> e`, `|%v| e`.
#[inline(never)]
pub(crate) fn prefix(p: &mut Parser<'_>) -> Option<CompletedNode> {
    if p.is_recovering() {
        return None;
    }
    let sign = p.range();
    if p.is_glued(0) && matches!(p.text_at(p.last_range()), "*" | "+" | "-" | "/" | "<" | ">" | "=")
    {
        // The second one of `**`, which `second_operator` reads.
        return None;
    }
    let name = match p.text(0) {
        "-" => "negative",
        "!" => "logical_not",
        "~" => "bitwise_not",
        "*" => "ref_read",
        "&" => "ref",
        "+" => "",
        "\\" | "λ" => return super::functions::lambda(p, 1),
        "|" => return super::functions::closure(p),
        "." if p.nth(1) == INT && p.is_glued(1) => {
            return Some(two_tokens(p, MistakeKind::Number, insert(sign.start(), "0")));
        }
        "[" => return list(p),
        "$" if matches!(p.nth(1), IDENT) && p.is_glued(1) => {
            return Some(two_tokens(p, MistakeKind::Sigil('%'), replace(sign, "%")));
        }
        // `% x`
        "%" | "@" if p.nth(1) == IDENT && !p.on_new_line(1) => {
            let between = TextRange::new(sign.end(), p.range_of(p.position() + 1).start());
            let kind = MistakeKind::Sigil(if p.text(0) == "%" { '%' } else { '@' });
            return Some(two_tokens(p, kind, replace(between, "")));
        }
        _ => return None,
    };
    if !begins_operand(p, 1) {
        return None;
    }
    let gap = TextRange::new(sign.start(), p.range_of(p.position() + 1).start());
    let whole = p.start();
    p.bump();
    p.nested(exprs::postfix);
    let end = p.last_range().end();
    match name {
        "" => p.mistake(sign, MistakeKind::PlusSign, vec![replace(gap, "")]),
        _ => {
            let edits = vec![replace(gap, &format!("{name}(")), insert(end, ")")];
            p.mistake(sign, MistakeKind::Operator(name), edits);
        }
    }
    Some(whole.complete(p, ERROR))
}

/// Records a mistake of the next two tokens, and consumes them.
fn two_tokens(p: &mut Parser<'_>, kind: MistakeKind, edit: (TextRange, String)) -> CompletedNode {
    p.mistake(range_of(p, 2), kind, vec![edit]);
    p.node(ERROR, |p| p.bump_tokens(2))
}

/// `[%a, %b]`, `[1f, 2f]`
fn list(p: &mut Parser<'_>) -> Option<CompletedNode> {
    if p.on_new_line(0) {
        return None;
    }
    let count = bracketed(p, 0)?;
    let is_of_variables = (1..count - 1)
        .all(|n| matches!(p.nth(n), LOCAL | GRAPH | COMMA | DOT | INT))
        && matches!(p.nth(1), LOCAL | GRAPH);
    let whole = range_of(p, count);
    let (open, close) = (p.range(), p.range_of(p.position() + count - 1));
    let edits = match is_of_variables {
        true => vec![replace(open, "("), replace(close, if count == 3 { ",)" } else { ")" })],
        false => Vec::new(),
    };
    p.mistake(whole, MistakeKind::ListValue, edits);
    let node = p.start();
    if is_of_variables {
        // The variables are read as the fields of a tuple.
        p.bump();
        while !p.at(R_BRACK) && !p.at_end() {
            if exprs::opt_expr(p).is_none() {
                break;
            }
            if p.at(COMMA) {
                p.bump();
            }
        }
        if p.at(R_BRACK) {
            p.bump();
        }
        return Some(node.complete(p, TUPLE_EXPR));
    }
    p.bump_tokens(count);
    Some(node.complete(p, ERROR))
}

/// `%x[0]`, `%x[0:2]`
fn index(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> Option<CompletedNode> {
    let count = bracketed(p, 0)?;
    let number = (count == 3 && p.nth(1) == INT).then(|| p.text(1).parse().ok()).flatten();
    let range = p.range_of(first).cover(p.range_of(p.position() + count - 1));
    p.mistake(range, MistakeKind::Index(number), Vec::new());
    let whole = left.precede(p);
    p.bump_tokens(count);
    Some(whole.complete(p, ERROR))
}

/// `%x->sum()`
fn method(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> Option<CompletedNode> {
    let start = p.range_of(first).start();
    let (arrow, receiver) = (p.range(), p.last_range().end());
    let name = p.text(1);
    let has_args = p.nth(3) != R_PAREN;
    let open = p.range_of(p.position() + 2);
    let edits = vec![
        insert(start, &format!("{name}(")),
        replace(TextRange::new(receiver, open.end()), if has_args { ", " } else { "" }),
    ];
    p.mistake(arrow, MistakeKind::Operator("f"), edits);
    let whole = left.precede(p);
    p.bump_tokens(2);
    exprs::arg_list(p);
    Some(whole.complete(p, ERROR))
}

/// `%x if %c else %y`, `%c ? %x : %y`
fn conditional(
    p: &mut Parser<'_>,
    left: CompletedNode,
    first: usize,
    (sign, other): (SyntaxKind, SyntaxKind),
) -> Option<CompletedNode> {
    let is_question = sign == QUESTION;
    if !is_question && !begins_operand(p, 1) {
        return None;
    }
    let keyword = p.range();
    let left_text = TextRange::new(p.range_of(first).start(), p.last_range().end());
    let whole = left.precede(p);
    p.bump();
    let middle = operand(p);
    if !p.at(other) {
        p.expected(other);
        return Some(whole.complete(p, ERROR));
    }
    p.bump();
    let (Some(middle), Some(right)) = (middle, operand(p)) else {
        p.expected("an expression");
        return Some(whole.complete(p, ERROR));
    };
    let all = left_text.cover(right);
    let edits = match p.text_at(all).contains(['{', ';']) {
        true => Vec::new(),
        false => {
            let (condition, then) =
                if is_question { (left_text, middle) } else { (middle, left_text) };
            let (condition, then) = (p.text_at(condition), p.text_at(then));
            let text = format!("if ({condition}) {{ {then} }} else {{ {} }}", p.text_at(right));
            vec![replace(all, &text)]
        }
    };
    p.mistake(keyword, MistakeKind::Conditional, edits);
    Some(whole.complete(p, ERROR))
}

/// Parses an operand. Returns its range, or `None` if there is none: the text ends while it is typed.
fn operand(p: &mut Parser<'_>) -> Option<TextRange> {
    let (first, start) = (p.position(), p.range().start());
    exprs::infix(p, 0);
    (p.position() > first).then(|| TextRange::new(start, p.last_range().end()))
}

/// Returns true after `(float32)`, before its operand.
fn is_cast(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> bool {
    left.kind() == PAREN_EXPR
        && p.position() == first + 3
        && crate::dtype_of(p.text_at(p.range_of(first + 1))).is_some()
}

/// `(float32) %n`
fn cast(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> Option<CompletedNode> {
    let sign = p.range_of(first).cover(p.last_range());
    let dtype = crate::dtype_of(p.text_at(p.range_of(first + 1)))?;
    let gap = TextRange::new(sign.start(), p.range().start());
    let whole = left.precede(p);
    p.nested(exprs::postfix);
    let end = p.last_range().end();
    let edits = vec![replace(gap, "cast("), insert(end, &format!(", dtype=\"{dtype}\")"))];
    p.mistake(sign, MistakeKind::Cast, edits);
    Some(whole.complete(p, ERROR))
}

/// `%n as float32`
fn as_cast(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> Option<CompletedNode> {
    let dtype = crate::dtype_of(p.text(1))?;
    let start = p.range_of(first).start();
    let sign = range_of(p, 2);
    let gap = TextRange::new(p.last_range().end(), sign.end());
    let edits = vec![insert(start, "cast("), replace(gap, &format!(", dtype=\"{dtype}\")"))];
    p.mistake(sign, MistakeKind::Cast, edits);
    let whole = left.precede(p);
    p.bump_tokens(2);
    Some(whole.complete(p, ERROR))
}

/// `0x10`, `1_000`, `1L`, `1.0_f32`
fn number(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> CompletedNode {
    let range = p.range_of(first).cover(p.range());
    let edits = number_of(p.text_at(range)).map(|to| replace(range, &to));
    p.mistake(range, MistakeKind::Number, edits.into_iter().collect());
    let whole = left.precede(p);
    p.bump();
    whole.complete(p, ERROR)
}

/// Returns a number of another language as Relay writes it.
fn number_of(text: &str) -> Option<String> {
    let bare = text.replace('_', "");
    let radix = |prefix: &str, radix| {
        let digits = bare.strip_prefix(prefix)?;
        i64::from_str_radix(digits, radix).ok().map(|value| value.to_string())
    };
    if let Some(value) = radix("0x", 16).or_else(|| radix("0b", 2)).or_else(|| radix("0o", 8)) {
        return Some(value);
    }
    let end = bare.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(bare.len());
    let (digits, suffix) = bare.split_at(end);
    Some(match suffix.to_ascii_lowercase().as_str() {
        "" => digits.to_owned(),
        "i64" => format!("{digits}i64"),
        "f" | "f32" | "d" => format!("{digits}f"),
        "f64" => format!("{digits}f64"),
        "f16" | "h" => format!("{digits}f16"),
        // Its data type follows from its use.
        "i32" | "u" | "u32" | "l" | "ll" | "ul" => digits.to_owned(),
        _ => return None,
    })
}

/// `tanh %x`, `@double %x`, `not %c`, `lambda %v: e`.
fn application(
    p: &mut Parser<'_>,
    left: CompletedNode,
    first: usize,
    word: &str,
) -> Option<CompletedNode> {
    let start = p.range_of(first).start();
    match word {
        // `return %x` has a message of its own.
        "return" | "yield" | "case" | "let" | "var" | "val" | "def" => {
            return if word == "case" { super::arms::case_of(p, left, first) } else { None };
        }
        "not" => {
            let sign = p.range_of(first);
            let gap = TextRange::new(start, p.range().start());
            let whole = left.precede(p);
            exprs::infix(p, 6);
            let end = p.last_range().end();
            let edits = vec![replace(gap, "logical_not("), insert(end, ")")];
            p.mistake(sign, MistakeKind::Operator("logical_not"), edits);
            return Some(whole.complete(p, ERROR));
        }
        "for" | "while" => return looped(p, left, first),
        "lambda" | "fun" | "function" | "func" => {
            let whole = left.precede(p);
            return super::functions::lambda_after(p, whole, start);
        }
        _ => {}
    }
    if left.kind() != GLOBAL_REF && p.at(IDENT) && !(p.nth(1) == L_PAREN && p.is_glued(1)) {
        return None;
    }
    let range = p.range_of(first).cover(p.last_range());
    let is_bound = first > 0 && p.text_at(p.range_of(first - 1)) == "=";
    let is_operation = is_bound && word.contains('.');
    let mut edits = Vec::new();
    let mut sign = "(";
    let whole = left.precede(p);
    let args = p.start();
    while matches!(p.current(), LOCAL | GRAPH | GLOBAL | INT | FLOAT | IDENT) && !p.on_new_line(0) {
        let gap = TextRange::new(p.last_range().end(), p.range().start());
        if !sign.is_empty() {
            edits.push(replace(gap, sign));
        }
        sign = ", ";
        if p.nested(exprs::postfix).flatten().is_none() {
            break;
        }
        // `arith.addf %x, %x : tensor<2xf32>` of MLIR.
        if p.at(COMMA) && is_operation && begins_operand(p, 1) {
            sign = "";
            p.bump();
        }
    }
    args.complete(p, ARG_LIST);
    edits.push(insert(p.last_range().end(), ")"));
    if p.at(COLON) && is_operation && !p.on_new_line(0) {
        let end = p.last_range().end();
        while !p.on_new_line(0) && !matches!(p.current(), SEMICOLON | R_BRACE | END_OF_FILE) {
            skip(p, 1);
        }
        edits.push(replace(TextRange::new(end, p.last_range().end()), ""));
    }
    p.mistake(range, MistakeKind::Application, edits);
    Some(whole.complete(p, CALL_EXPR))
}

/// Parses a call of MLIR: `"tosa.tanh"(%x) : (tensor<2xf32>) -> tensor<2xf32>`.
#[inline(never)]
pub(crate) fn operation(p: &mut Parser<'_>) -> Option<CompletedNode> {
    let count = bracketed(p, 1)? + 1;
    let range = p.range();
    let whole = p.start();
    p.bump_tokens(count);
    if p.at(COLON) {
        while !p.on_new_line(0) && !matches!(p.current(), SEMICOLON | R_BRACE | END_OF_FILE) {
            p.bump();
        }
    }
    p.mistake(range, MistakeKind::OtherLanguage("an operation of MLIR"), Vec::new());
    Some(whole.complete(p, ERROR))
}

/// `for %i in range(10) { … }`, `while (%c) { … }`
fn looped(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> Option<CompletedNode> {
    let range = p.range_of(first);
    // Those of `for (let %k = 0; %k < 3; %k++)`, which has been read as a call.
    p.forget_errors_from(range.start());
    p.mistake(range, MistakeKind::Loop, Vec::new());
    let whole = left.precede(p);
    params::skip_to_brace(p);
    if let Some(count) = p.at(L_BRACE).then(|| bracketed_braces(p)).flatten() {
        skip(p, count);
        // No `;` follows a loop.
        p.suppress_errors();
    } else if p.at(L_BRACE) {
        stmts::block(p);
    }
    Some(whole.complete(p, ERROR))
}

/// Returns true at the `^` of `%n ^ 1`; `%r^` alone reads a reference.
#[inline(never)]
pub(crate) fn is_xor(p: &mut Parser<'_>) -> bool {
    !p.on_new_line(1) && matches!(p.nth(1), LOCAL | GRAPH | INT | FLOAT | IDENT | GLOBAL)
}

/// `axis: 1` for `axis=1`
#[inline(never)]
pub(crate) fn attr_with_colon(p: &mut Parser<'_>) {
    let range = range_of(p, 2);
    let sign = TextRange::new(p.range().end(), p.range_of(p.position() + 2).start());
    p.mistake(range, MistakeKind::AttributeSign, vec![replace(sign, "=")]);
    attrs::attr(p);
}
