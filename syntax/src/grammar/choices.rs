//! `if` and `match`.

use super::*;
use crate::{MistakeKind, parser::CompletedNode};

/// `if (c) { a } else { b }`, and the manual's `else if`.
pub(super) fn if_expr(p: &mut Parser<'_>) -> CompletedNode {
    let marker = p.start();
    let mut foreign = mistakes::ConstructEdits::default();
    p.bump();
    if p.at(T!["("]) {
        let open = p.position();
        let guard = p.start();
        p.bump();
        p.nested(exprs::chain);
        if p.at(T!["="]) {
            mistakes::equality(p);
        }
        p.expect_close(T![")"], open);
        guard.complete(p, PAREN_EXPR);
    } else {
        mistakes::condition(p, &mut foreign);
    }
    branch(p, &mut foreign);
    let is_elif = p.at(IDENT) && mistakes::at_elif(p, &mut foreign);
    if is_elif {
        p.nested(if_expr);
    } else if p.eat(T!["else"]) {
        if p.at(T!["if"]) {
            p.compat(p.range(), SyntaxErrorKind::ElseIf);
            p.nested(if_expr);
        } else {
            branch(p, &mut foreign);
        }
    } else {
        p.expected("`else`");
    }
    foreign.record(p);
    marker.complete(p, IF_EXPR)
}

/// Parses a branch in braces.
fn branch(p: &mut Parser<'_>, foreign: &mut mistakes::ConstructEdits) {
    if p.at(T!["{"]) {
        stmts::block(p);
    } else if !mistakes::branch(p, foreign) {
        p.expected("a branch in braces");
        // `else else {`
        params::skip_to_brace(p);
        if p.at(T!["{"]) {
            stmts::block(p);
        }
    }
}

/// `match (%l) { Nil => a, Cons(%h, _) => b }`, `match? …`, and the manual's `case` arms.
pub(super) fn match_expr(p: &mut Parser<'_>) -> CompletedNode {
    let marker = p.start();
    p.bump();
    p.eat(T!["?"]);
    let scrutinee = p.range();
    match postfix_without_block(p) {
        Some(CALL_EXPR) => {
            p.compat(scrutinee.cover(p.last_range()), SyntaxErrorKind::MatchScrutinee);
        }
        Some(_) => {}
        None => p.expected("the value to match on"),
    }
    if !p.at(T!["{"]) {
        if mistakes::with_arms(p) {
            return marker.complete(p, MATCH_EXPR);
        }
        p.expected("match arms in braces");
        params::skip_to_brace(p);
    }
    if p.at(T!["{"]) {
        p.recover();
        p.nested(arm_list);
    }
    marker.complete(p, MATCH_EXPR)
}

fn postfix_without_block(p: &mut Parser<'_>) -> Option<SyntaxKind> {
    if p.at(T!["{"]) {
        return None;
    }
    p.nested(exprs::postfix).flatten().map(CompletedNode::kind)
}

pub(super) fn arm_list(p: &mut Parser<'_>) {
    arms_with(p, mistakes::ConstructEdits::default());
}

/// Parses arms in braces, after what other languages write before them.
pub(super) fn arms_with(p: &mut Parser<'_>, mut foreign: mistakes::ConstructEdits) {
    let arms = p.start();
    let open = p.position();
    p.bump();
    let mut separators = Separators::default();
    // No arm begins with a binding, so a binding indicates a missing closing brace.
    while !p.at(T!["}"]) && !p.at_end() && !items::at_item_line(p) && !stmts::at_statement_line(p) {
        let before = p.position();
        let is_case = arm(p, &mut foreign);
        // What a broken arm skips may have been its comma.
        let is_broken = p.is_recovering();
        if p.is_recovering() && !p.on_new_line(0) && !skip_to_end_of_arms(p) {
            params::skip_to_brace(p);
        }
        if p.on_new_line(0) {
            p.recover();
        }
        if mistakes::ends_arm(p, MistakeKind::ArmBar, &mut foreign) {
            separators.seen = true;
            continue;
        }
        // The manual separates arms by line breaks.
        if !separators.comma(p, is_case || is_broken) && !p.on_new_line(0) {
            p.expected("`,`");
        }
        if p.position() == before {
            p.bump_unexpected();
        }
    }
    p.expect_close(T!["}"], open);
    foreign.record(p);
    arms.complete(p, ARM_LIST);
}

/// After a broken arm: skips to the closing brace of the arms and returns true if that is on the
/// same line.
fn skip_to_end_of_arms(p: &mut Parser<'_>) -> bool {
    let mut open = 0usize;
    let end = (0..p.count_on_line(0)).find(|&n| {
        match p.nth(n) {
            T!["{"] => open += 1,
            T!["}"] if open == 0 => return true,
            T!["}"] => open -= 1,
            _ => {}
        }
        false
    });
    let Some(end) = end else { return false };
    if end > 0 {
        skip(p, end);
    }
    true
}

/// `Cons(%x, _) => e`, `case Cons(%x, _) { e }`. Returns true for the latter.
pub(super) fn arm(p: &mut Parser<'_>, foreign: &mut mistakes::ConstructEdits) -> bool {
    let arm = p.start();
    let is_case = p.at_contextual_kw("case") && matches!(p.nth(1), IDENT | LOCAL | L_PAREN);
    if is_case {
        p.compat(p.range(), SyntaxErrorKind::CaseArm);
        p.bump();
    }
    let first = p.position();
    if !mistakes::foreign_pattern(p, foreign) {
        patterns::pattern(p);
    }
    if !p.at(T!["=>"]) {
        mistakes::more_of_pattern(p, first, foreign);
    }
    if is_case && p.at(T!["{"]) {
        stmts::block(p);
    } else if p.eat(T!["=>"]) || mistakes::arrow(p, foreign) || p.expect(T!["=>"]) {
        if p.at(T!["{"]) {
            // A block is the whole body of the arm; `{…}(x)` is not a call.
            stmts::block(p);
        } else {
            exprs::chain(p);
        }
    }
    arm.complete(p, ARM);
    is_case
}
