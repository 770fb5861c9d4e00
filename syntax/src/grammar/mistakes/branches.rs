//! Conditions and branches.

use super::*;

/// Parses `= e` in a condition: `if (%n = 1)`. The comparison is read as text without meaning.
#[inline(never)]
pub(crate) fn equality(p: &mut Parser<'_>) {
    if p.is_recovering() {
        return;
    }
    let sign = p.range();
    p.mistake(sign, MistakeKind::Spelling("=="), vec![replace(sign, "==")]);
    let error = p.start();
    p.bump();
    exprs::expr(p);
    error.complete(p, ERROR);
}

/// Parses a condition without parentheses.
#[inline(never)]
pub(crate) fn condition(p: &mut Parser<'_>, foreign: &mut ConstructEdits) {
    if p.is_recovering() || p.at(L_BRACE) {
        p.expected("`(`");
        return;
    }
    let range = p.range();
    let guard = p.start();
    if exprs::opt_expr(p).is_none() {
        guard.abandon(p);
        p.expected("`(`");
        return;
    }
    guard.complete(p, PAREN_EXPR);
    let whole = range.cover(p.last_range());
    foreign.add(whole, MistakeKind::Condition, insert(range.start(), "("));
    foreign.add(whole, MistakeKind::Condition, insert(whole.end(), ")"));
}

/// Returns true at a word for `else if`, which is added to the edits.
#[inline(never)]
pub(crate) fn at_elif(p: &mut Parser<'_>, foreign: &mut ConstructEdits) -> bool {
    let is_elif = !p.is_recovering() && matches!(p.text(0), "elif" | "elsif" | "elseif" | "elseIf");
    if is_elif {
        let word = p.range();
        foreign.add(word, MistakeKind::Spelling("else if"), replace(word, "else if"));
    }
    is_elif
}

/// Parses a branch without braces, and the words before one: `then %x`, `: %x`. Returns false if there is none.
#[inline(never)]
pub(crate) fn branch(p: &mut Parser<'_>, foreign: &mut ConstructEdits) -> bool {
    if p.is_recovering() {
        return false;
    }
    let is_word = p.at(COLON) || p.at(IDENT) && matches!(p.text(0), "then" | "do");
    if is_word {
        let word = p.range();
        let edit = match p.is_glued(0) {
            true => {
                let next = p.range_of(p.position() + 1).start();
                replace(TextRange::new(word.start(), next.max(word.end())), " ")
            }
            false => delete(p, 0, 1),
        };
        foreign.add(word, MistakeKind::Superfluous, edit);
        skip(p, 1);
        if p.at(L_BRACE) {
            stmts::block(p);
            return true;
        }
    }
    let is_operand = !p.at_end()
        && (is_word || !p.on_new_line(0))
        && !matches!(p.current(), SEMICOLON | R_BRACE | R_PAREN | COMMA | ELSE_KW | IDENT | LET_KW)
        || p.at(IDENT) && matches!(p.nth(1), L_PAREN | DOT);
    if !is_operand {
        return false;
    }
    let range = p.range();
    let block = p.start();
    if exprs::infix_in_branch(p).is_none() {
        block.abandon(p);
        return false;
    }
    block.complete(p, BLOCK);
    let whole = range.cover(p.last_range());
    foreign.add(whole, MistakeKind::Branch, insert(range.start(), "{ "));
    foreign.add(whole, MistakeKind::Branch, insert(whole.end(), " }"));
    true
}
