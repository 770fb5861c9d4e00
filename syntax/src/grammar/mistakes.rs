//! Constructs of other languages: the parser reads them as what they mean.
//!
//! ```text
//! if %c { %x } elif (%n % 2 == 0) { -%x } else { %t[0] }
//! ```
//!
//! Every function here runs where the grammar has found a token that fits nothing, and is not inlined, so that a
//! text without mistakes does not pay for it. It records one [`MistakeKind`] with the edits that write the
//! construct in Relay, and leaves the parser after it.

mod arms;
mod bindings;
mod branches;
mod definitions;
mod functions;
mod operators;
mod type_forms;

pub(super) use {
    arms::*, bindings::*, branches::*, definitions::*, functions::*, operators::*, type_forms::*,
};

use super::*;
use rowan::TextSize;

use crate::{Mistake, MistakeKind};

impl Parser<'_> {
    /// Records a construct of another language at `range`, unless an earlier error is the likely cause. The parser
    /// goes on, because it knows what the construct means.
    #[inline(never)]
    fn mistake(&mut self, range: TextRange, kind: MistakeKind, edits: Edits) {
        if !self.is_recovering() && !self.is_near_cut() {
            let mistake = Box::new(Mistake { kind, edits });
            self.record(range, SyntaxErrorKind::Mistake(mistake));
        }
    }
}

/// The edits of a mistake.
type Edits = Vec<(TextRange, String)>;

/// The edits of a construct in which several tokens are those of another language, which is one mistake:
/// `Nil -> 0; Cons(%h, _) -> %h`.
#[derive(Default)]
pub(super) struct ConstructEdits {
    first: Option<(TextRange, MistakeKind)>,
    edits: Edits,
}

impl ConstructEdits {
    /// Adds an edit for the token at `range`.
    pub(super) fn add(&mut self, range: TextRange, kind: MistakeKind, edit: (TextRange, String)) {
        self.first.get_or_insert((range, kind));
        self.edits.push(edit);
    }

    /// Records the mistake, if there is one.
    pub(super) fn record(self, p: &mut Parser<'_>) {
        if let Some((range, kind)) = self.first {
            p.mistake(range, kind, self.edits);
        }
    }
}

/// Returns the edit that inserts `text` at `at`.
pub(super) fn insert(at: TextSize, text: &str) -> (TextRange, String) {
    (TextRange::empty(at), text.to_owned())
}

/// Returns the edit that replaces `range` by `text`.
pub(super) fn replace(range: TextRange, text: &str) -> (TextRange, String) {
    (range, text.to_owned())
}

/// Returns the edit that deletes the `count` tokens from the `n`th one from here, with the space after them.
pub(super) fn delete(p: &Parser<'_>, n: usize, count: usize) -> (TextRange, String) {
    let at = p.position() + n;
    let (first, next) = (p.range_of(at), p.range_of(at + count));
    let end = match p.on_new_line(n + count) {
        true => p.range_of(at + count - 1).end(),
        false => next.start(),
    };
    (TextRange::new(first.start(), end.max(first.end())), String::new())
}

/// Returns the range of `count` tokens from here.
pub(super) fn range_of(p: &Parser<'_>, count: usize) -> TextRange {
    p.range().cover(p.range_of(p.position() + count.max(1) - 1))
}

/// Records that the `count` tokens from here are spelled `to`, and consumes them.
pub(super) fn respell(p: &mut Parser<'_>, count: usize, to: &'static str) {
    let range = range_of(p, count);
    p.mistake(range, MistakeKind::Spelling(to), vec![replace(range, to)]);
    skip(p, count);
}

/// Returns true if the `n`th token from here begins an operand on the same line.
pub(super) fn begins_operand(p: &mut Parser<'_>, n: usize) -> bool {
    !p.on_new_line(n)
        && matches!(
            p.nth(n),
            LOCAL
                | GRAPH
                | GLOBAL
                | IDENT
                | INT
                | FLOAT
                | TRUE_KW
                | FALSE_KW
                | L_PAREN
                | MINUS
                | BANG
                | META_REF
                | REF_READ_KW
        )
}

/// The most tokens of a lookahead.
pub(crate) const MAX_LOOKAHEAD: usize = 256;

/// Returns the number of tokens from the `n`th one from here up to the bracket that closes the `open` ones before it and
/// those after it, unless one of `stops` is in between. `brackets` are the opening and the closing ones.
fn up_to_close(
    p: &mut Parser<'_>,
    n: usize,
    mut open: usize,
    brackets: [&[SyntaxKind]; 2],
    stops: &[SyntaxKind],
) -> Option<usize> {
    for at in n..n + MAX_LOOKAHEAD {
        let kind = p.nth(at);
        if brackets[0].contains(&kind) {
            open += 1;
        } else if brackets[1].contains(&kind) {
            open = open.checked_sub(1)?;
            if open == 0 {
                return Some(at + 1 - n);
            }
        } else if stops.contains(&kind) {
            return None;
        }
    }
    None
}

/// Returns the number of tokens before the parenthesis or square bracket that closes the innermost open one, unless one
/// of `stops` is in between.
pub(super) fn closing(p: &mut Parser<'_>, stops: &[SyntaxKind]) -> Option<usize> {
    let brackets: [&[SyntaxKind]; 2] = [&[L_PAREN, L_BRACK], &[R_PAREN, R_BRACK]];
    up_to_close(p, 0, 1, brackets, stops).map(|count| count - 1)
}

/// Returns the number of tokens of the bracket that opens at the `n`th token from here, up to the closing one.
pub(in crate::grammar) fn bracketed(p: &mut Parser<'_>, n: usize) -> Option<usize> {
    let brackets: [&[SyntaxKind]; 2] =
        [&[L_PAREN, L_BRACK, L_BRACE, LT], &[R_PAREN, R_BRACK, R_BRACE, GT]];
    up_to_close(p, n, 0, brackets, &[END_OF_FILE, SEMICOLON, EQ])
}

/// Returns the number of tokens of the block that begins here.
pub(super) fn bracketed_braces(p: &mut Parser<'_>) -> Option<usize> {
    up_to_close(p, 0, 0, [&[L_BRACE], &[R_BRACE]], &[END_OF_FILE])
}
