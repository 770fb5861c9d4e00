//! `match` expressions and patterns.

use super::*;
use crate::parser::CompletedNode;

/// Parses what other languages write for the `=>` of an arm. Returns false if it is something else.
#[inline(never)]
pub(crate) fn arrow(p: &mut Parser<'_>, arms: &mut ConstructEdits) -> bool {
    if p.is_recovering() || p.on_new_line(0) {
        return false;
    }
    match p.current() {
        THIN_ARROW | COLON | EQ => {
            let sign = p.range();
            let to = if p.is_glued(0) { " =>" } else { "=>" };
            arms.add(sign, MistakeKind::Spelling("=>"), replace(sign, to));
            skip(p, 1);
            true
        }
        // `Cons(%h, _) if %h > 0 => %h`
        IF_KW | IDENT if p.at(IF_KW) || p.text(0) == "when" => {
            let sign = p.range();
            p.mistake(sign, MistakeKind::Guard, Vec::new());
            let is_end = |kind| matches!(kind, FAT_ARROW | THIN_ARROW | R_BRACE);
            skip_until(p, |p| p.on_new_line(0) || is_end(p.current()));
            if p.at(FAT_ARROW) || p.at(THIN_ARROW) {
                p.bump();
            }
            true
        }
        _ => false,
    }
}

/// Parses what other languages write for the comma after an arm or a constructor: `;`, and `|` before the next one, which
/// is the mistake `of_bar`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn ends_arm(p: &mut Parser<'_>, of_bar: MistakeKind, arms: &mut ConstructEdits) -> bool {
    if p.is_recovering() {
        return false;
    }
    let is_bar = p.at(UNKNOWN) && p.text(0) == "|";
    if !is_bar && !p.at(SEMICOLON) {
        return false;
    }
    let sign = p.range();
    let end = p.last_range().end();
    if !is_bar {
        arms.add(sign, MistakeKind::Spelling(","), replace(sign, ","));
    } else if p.on_new_line(0) {
        arms.add(sign, of_bar, insert(end, ","));
        arms.edits.push(delete(p, 0, 1));
    } else {
        arms.add(sign, of_bar, replace(TextRange::new(end, sign.end()), ","));
    }
    skip(p, 1);
    true
}

/// Parses a `|` before an arm or a constructor, which is the mistake `kind`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn leading_bar(
    p: &mut Parser<'_>,
    kind: MistakeKind,
    arms: &mut ConstructEdits,
) -> bool {
    if p.is_recovering() || !p.at(UNKNOWN) || p.text(0) != "|" {
        return false;
    }
    let range = p.range();
    arms.add(range, kind, delete(p, 0, 1));
    skip(p, 1);
    true
}

/// Parses a pattern of another language: `[]`, `default`, `| Nil`. Returns false if it is something else.
#[inline(never)]
pub(crate) fn foreign_pattern(p: &mut Parser<'_>, arms: &mut ConstructEdits) -> bool {
    if p.is_recovering() {
        return false;
    }
    let range = p.range();
    if leading_bar(p, MistakeKind::ArmBar, arms) {
        return false;
    }
    match p.current() {
        L_BRACK if p.nth(1) == R_BRACK => {
            let whole = range_of(p, 2);
            arms.add(whole, MistakeKind::Spelling("Nil"), replace(whole, "Nil"));
            wildcard(p, 2);
            true
        }
        ELSE_KW | IDENT
            if p.at(ELSE_KW)
                || matches!(p.text(0), "default" | "otherwise")
                    && matches!(p.nth(1), FAT_ARROW | THIN_ARROW | COLON) =>
        {
            arms.add(range, MistakeKind::Spelling("_"), replace(range, "_"));
            wildcard(p, 1);
            true
        }
        _ => false,
    }
}

/// Consumes tokens as a pattern that matches everything, so that no arm seems to be missing.
fn wildcard(p: &mut Parser<'_>, count: usize) {
    p.node(WILDCARD_PAT, |p| p.bump_tokens(count));
}

/// Parses the rest of a pattern that begins at token `first`: `Cons %h _`, `%h :: %t`. The pattern is read with its
/// variables, so that they are bound.
#[inline(never)]
pub(crate) fn more_of_pattern(p: &mut Parser<'_>, first: usize, arms: &mut ConstructEdits) {
    if p.is_recovering() || p.on_new_line(0) {
        return;
    }
    let start = p.range_of(first).start();
    let is_wildcard = |p: &mut Parser<'_>| p.at(IDENT) && p.text(0) == "_";
    if p.at(COLON) && p.nth(1) == COLON {
        let sign = p.range_of(first).cover(range_of(p, 2));
        let gap = TextRange::new(p.last_range().end(), p.range_of(p.position() + 2).start());
        skip(p, 2);
        patterns::pattern(p);
        arms.add(sign, MistakeKind::Pattern, insert(start, "Cons("));
        arms.edits.push(replace(gap, ", "));
        arms.edits.push(insert(p.last_range().end(), ")"));
    } else if p.at(LOCAL) || is_wildcard(p) {
        let mut sign = "(";
        let range = p.range();
        while (p.at(LOCAL) || is_wildcard(p)) && !p.on_new_line(0) {
            let gap = TextRange::new(p.last_range().end(), p.range().start());
            arms.add(range, MistakeKind::Pattern, replace(gap, sign));
            sign = ", ";
            patterns::pattern(p);
        }
        arms.edits.push(insert(p.last_range().end(), ")"));
    }
}

/// `switch (%l) { … }`, at the brace.
pub(super) fn switch(p: &mut Parser<'_>, left: CompletedNode, first: usize) -> CompletedNode {
    let word = p.range_of(first);
    p.mistake(word, MistakeKind::Spelling("match"), vec![replace(word, "match")]);
    let whole = left.precede(p);
    p.nested(choices::arm_list);
    whole.complete(p, ERROR)
}

/// `case %l of { … }`, after the first word.
pub(super) fn case_of(
    p: &mut Parser<'_>,
    left: CompletedNode,
    first: usize,
) -> Option<CompletedNode> {
    let end = (0..MAX_LOOKAHEAD).find(|&n| p.on_new_line(n) || p.nth(n) == L_BRACE)?;
    if p.nth(end) != L_BRACE || end == 0 || p.text(end - 1) != "of" {
        return None;
    }
    let word = p.range_of(first);
    let of = p.range_of(p.position() + end - 1);
    let mut arms = ConstructEdits::default();
    arms.add(word, MistakeKind::Spelling("match"), replace(word, "match"));
    let gap = TextRange::new(of.start(), p.range_of(p.position() + end).start());
    arms.edits.push(replace(gap, ""));
    let whole = left.precede(p);
    skip(p, end);
    p.nested(|p| choices::arms_with(p, arms));
    Some(whole.complete(p, ERROR))
}

/// Returns true if an arm begins at the `n`th token from here: `Cons(%h, _) -> …`.
#[inline(never)]
pub(crate) fn at_arm(p: &mut Parser<'_>, n: usize) -> bool {
    let arguments = match (p.nth(n), p.nth(n + 1)) {
        (IDENT, L_PAREN) => bracketed(p, n + 1),
        (IDENT | LOCAL, _) => Some(0),
        (L_PAREN, _) => bracketed(p, n).map(|count| count - 1),
        // After the last arm.
        (R_BRACE, _) => return true,
        _ => None,
    };
    arguments.is_some_and(|count| matches!(p.nth(n + 1 + count), FAT_ARROW | THIN_ARROW))
}

/// Parses the arms after `match %l with`, without braces.
#[inline(never)]
pub(crate) fn with_arms(p: &mut Parser<'_>) -> bool {
    if p.is_recovering() || !p.at(IDENT) || !matches!(p.text(0), "with" | "of") {
        return false;
    }
    let mut foreign = ConstructEdits::default();
    let word = p.range();
    if p.nth(1) == L_BRACE {
        foreign.add(word, MistakeKind::Superfluous, delete(p, 0, 1));
        skip(p, 1);
        p.nested(|p| choices::arms_with(p, foreign));
        return true;
    }
    foreign.add(word, MistakeKind::Spelling("{"), replace(word, "{"));
    skip(p, 1);
    let arms = p.start();
    loop {
        let before = p.position();
        choices::arm(p, &mut foreign);
        let is_bar = p.at(UNKNOWN) && p.text(0) == "|";
        if !is_bar || p.position() == before || p.is_recovering() {
            break;
        }
        ends_arm(p, MistakeKind::ArmBar, &mut foreign);
    }
    arms.complete(p, ARM_LIST);
    foreign.edits.push(insert(p.last_range().end(), " }"));
    foreign.record(p);
    true
}
