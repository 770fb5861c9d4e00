//! The input of the parser: the tokens without trivia.

use rowan::TextRange;

use crate::{SyntaxKind, error::range, lexer::Tokens};

/// The tokens of a text without trivia, with flags about the trivia before each of them.
pub(crate) struct Input<'t> {
    pub(crate) text: &'t str,
    pub(crate) tokens: Tokens,
    pub(crate) significant: Vec<SignificantToken>,
}

/// A token that is not trivia, or the end of the file.
#[derive(Clone, Copy)]
pub(crate) struct SignificantToken {
    /// The index among all tokens.
    pub(crate) raw: u32,
    pub(crate) kind: SyntaxKind,
    pub(crate) flags: u8,
}

/// Set if a line break precedes the token.
pub(crate) const NEW_LINE: u8 = 1;
/// Set if the token directly follows the previous one.
pub(crate) const GLUED: u8 = 2;
/// Set if the token begins at the first column of its line.
pub(crate) const COLUMN_ZERO: u8 = 4;

impl<'t> Input<'t> {
    pub(crate) fn new(text: &'t str, tokens: Tokens) -> Input<'t> {
        Self::fragment(text, tokens, true)
    }

    /// Creates the input for a part of a text. `line_start` is true if it begins a line.
    pub(crate) fn fragment(text: &'t str, tokens: Tokens, line_start: bool) -> Input<'t> {
        let n = tokens.len();
        let mut input = Input { text, significant: Vec::with_capacity(n * 3 / 4 + 1), tokens };
        let bytes = text.as_bytes();
        let mut flags = if line_start { COLUMN_ZERO | NEW_LINE } else { 0 };
        let mut start = 0;
        let tokens = input.tokens.kinds.iter().zip(&input.tokens.ends);
        for (i, (&kind, &end)) in tokens.enumerate() {
            if kind.is_trivia() {
                flags &= !(GLUED | COLUMN_ZERO);
                let is_space = end - start == 1 && bytes.get(start as usize) == Some(&b' ');
                if kind == SyntaxKind::WHITESPACE && !is_space {
                    let trivia = &bytes[start as usize..end as usize];
                    if memchr::memchr(b'\n', trivia).is_some() {
                        flags |= NEW_LINE;
                    }
                    // A byte order mark has no width.
                    if trivia.last() == Some(&b'\n') || trivia == "\u{FEFF}".as_bytes() {
                        flags |= COLUMN_ZERO;
                    }
                }
            } else {
                input.significant.push(SignificantToken { raw: i as u32, kind, flags });
                flags = GLUED;
            }
            start = end;
        }
        let (raw, kind, flags) = (n as u32, SyntaxKind::END_OF_FILE, flags | NEW_LINE);
        input.significant.push(SignificantToken { raw, kind, flags });
        input
    }

    /// Returns the index of the first significant token at or after raw token `raw`.
    pub(crate) fn first_significant_from(&self, raw: usize) -> usize {
        self.significant.partition_point(|token| (token.raw as usize) < raw)
    }

    /// Returns the index of a significant token among all tokens.
    pub(crate) fn raw(&self, token: usize) -> usize {
        self.significant[token].raw as usize
    }

    pub(crate) fn range(&self, token: usize) -> TextRange {
        let raw = self.raw(token);
        if raw == self.tokens.len() {
            // END_OF_FILE is reported at the end of the last significant token.
            let end = token.checked_sub(1).map_or(0, |t| self.tokens.ends[self.raw(t)]);
            return range(end as usize, end as usize);
        }
        range(self.tokens.start(raw) as usize, self.tokens.ends[raw] as usize)
    }
}
