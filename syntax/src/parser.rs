//! The machine under the grammar: tokens in, a tree and errors out.
//!
//! The grammar never sees trivia and never fails. It says where nodes begin and end, and
//! [`crate::tree`] builds them on the spot; a node may be wrapped after the fact (`%a` becomes the
//! callee of `%a(%b)`).

use std::cell::Cell;

use rowan::{GreenNode, TextRange};

use crate::{
    Expectation, SyntaxError, SyntaxErrorKind, SyntaxKind,
    error::range,
    interner::Interner,
    kind::KindSet,
    lexer::Tokens,
    tree::{Ended, Tree},
};

/// The significant tokens of a text, with what the grammar wants to know of the trivia between.
pub(crate) struct Input<'t> {
    text: &'t str,
    tokens: Tokens,
    kinds: Vec<SyntaxKind>,
    /// Index of each significant token among all tokens.
    raw: Vec<u32>,
    flags: Vec<u8>,
}

/// A line break stands between this token and the one before it.
const NEW_LINE: u8 = 1;
/// Nothing stands between this token and the one before it.
const GLUED: u8 = 2;
/// The token is the first on its line.
const COLUMN_ZERO: u8 = 4;

impl<'t> Input<'t> {
    pub(crate) fn new(text: &'t str, tokens: Tokens) -> Input<'t> {
        Self::fragment(text, tokens, true)
    }

    /// The tokens of a part of a text, which may not begin at the start of a line.
    pub(crate) fn fragment(text: &'t str, tokens: Tokens, line_start: bool) -> Input<'t> {
        let n = tokens.len();
        let mut input = Input {
            text,
            kinds: Vec::with_capacity(n * 3 / 4 + 1),
            raw: Vec::with_capacity(n * 3 / 4 + 1),
            flags: Vec::with_capacity(n * 3 / 4 + 1),
            tokens,
        };
        let bytes = text.as_bytes();
        let mut flags = if line_start { COLUMN_ZERO | NEW_LINE } else { 0 };
        let mut start = 0;
        let tokens = input.tokens.kinds.iter().zip(&input.tokens.ends);
        for (i, (&kind, &end)) in tokens.enumerate() {
            if kind.is_trivia() {
                let trivia = &bytes[start as usize..end as usize];
                flags &= !(GLUED | COLUMN_ZERO);
                if kind == SyntaxKind::WHITESPACE && trivia != b" " {
                    if memchr::memchr(b'\n', trivia).is_some() {
                        flags |= NEW_LINE;
                    }
                    // A byte order mark takes no column.
                    if trivia.last() == Some(&b'\n') || trivia == "\u{FEFF}".as_bytes() {
                        flags |= COLUMN_ZERO;
                    }
                }
            } else {
                input.kinds.push(kind);
                input.raw.push(i as u32);
                input.flags.push(flags);
                flags = GLUED;
            }
            start = end;
        }
        input.kinds.push(SyntaxKind::END_OF_FILE);
        input.raw.push(n as u32);
        input.flags.push(flags | NEW_LINE);
        input
    }

    /// The first significant token that is raw token `raw` or comes after it.
    pub(crate) fn first_significant_from(&self, raw: usize) -> usize {
        self.raw.partition_point(|&r| (r as usize) < raw)
    }

    fn range(&self, token: usize) -> TextRange {
        let raw = self.raw[token] as usize;
        if raw == self.tokens.len() {
            // The end of the file: the end of the last significant token.
            let end = token.checked_sub(1).map_or(0, |t| self.tokens.ends[self.raw[t] as usize]);
            return range(end as usize, end as usize);
        }
        range(self.tokens.start(raw) as usize, self.tokens.ends[raw] as usize)
    }
}

/// Bounds on what one text may ask of the parser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseLimits {
    /// How deep expressions, types and patterns may nest.
    pub depth: u32,
    /// How many operators may follow each other in one chain (`%a + %b + …`), which nest to the
    /// left. Passes go through such chains without recursion. Calls and projections (`%f(%x).0`)
    /// count as levels of nesting, of which they may make twice [`ParseLimits::depth`].
    pub chain: u32,
}

impl Default for ParseLimits {
    fn default() -> Self {
        // A nesting level costs about 1.5 kB of stack here and 0.5 kB in the passes behind; a
        // thread of 2 MiB holds this with room to spare.
        ParseLimits { depth: 256, chain: 2_000 }
    }
}

pub(crate) struct Parser<'t> {
    input: Input<'t>,
    pos: usize,
    tree: Tree<'t>,
    errors: Vec<SyntaxError>,
    /// An error was reported and the grammar has not found its feet since: further errors are
    /// consequences and are not reported.
    lost: bool,
    limits: ParseLimits,
    depth: u32,
    deepest: u32,
    /// A decision has looked at the end of the input, or before its start.
    saw_end: Cell<bool>,
    saw_outside: Cell<bool>,
    /// Steps since the last token, to find a grammar that does not move.
    steps: u32,
}

/// What a parser has made of its input.
pub(crate) struct Parsed<'t> {
    pub(crate) green: GreenNode,
    pub(crate) errors: Vec<SyntaxError>,
    /// The tokens and types that were met, for the next parser over the same text.
    pub(crate) interner: Interner<'t>,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(input: Input<'t>, limits: ParseLimits, known: Interner<'t>) -> Parser<'t> {
        Parser {
            tree: Tree::new(input.text, &input.tokens, known),
            input,
            pos: 0,
            errors: Vec::new(),
            lost: false,
            limits,
            depth: 0,
            deepest: 0,
            saw_end: Cell::new(false),
            saw_outside: Cell::new(false),
            steps: 0,
        }
    }

    /// Lets the tree end in front of raw token `end`, where the grammar will arrive.
    pub(crate) fn end_tree_at(&mut self, end: usize) {
        self.tree.end_at(end);
    }

    pub(crate) fn finish(self) -> Parsed<'t> {
        let (green, interner) = self.tree.complete();
        Parsed { green, errors: self.errors, interner }
    }

    pub(crate) fn limits(&self) -> ParseLimits {
        self.limits
    }

    pub(crate) fn current(&mut self) -> SyntaxKind {
        self.nth(0)
    }

    pub(crate) fn nth(&mut self, n: usize) -> SyntaxKind {
        self.steps += 1;
        assert!(self.steps < 10_000_000, "the grammar does not move");
        self.peek(n)
    }

    fn peek(&self, n: usize) -> SyntaxKind {
        let (at, end) = (self.pos + n, self.input.kinds.len() - 1);
        if at >= end {
            self.saw_end.set(true);
            return SyntaxKind::END_OF_FILE;
        }
        self.input.kinds[at]
    }

    /// Whether a decision has looked at the end of the input.
    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end.get()
    }

    /// Whether a place before the input has been asked for.
    pub(crate) fn saw_outside(&self) -> bool {
        self.saw_outside.get()
    }

    /// The deepest nesting so far.
    pub(crate) fn deepest(&self) -> u32 {
        self.deepest
    }

    pub(crate) fn at(&mut self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    pub(crate) fn at_any(&mut self, kinds: KindSet) -> bool {
        kinds.contains(self.current())
    }

    pub(crate) fn at_end(&mut self) -> bool {
        self.at(SyntaxKind::END_OF_FILE)
    }

    fn flag(&self, n: usize, flag: u8) -> bool {
        let (at, end) = (self.pos + n, self.input.flags.len() - 1);
        if at >= end {
            self.saw_end.set(true);
        }
        self.input.flags[at.min(end)] & flag != 0
    }

    /// A line break stands before the `n`th token from here.
    pub(crate) fn on_new_line(&self, n: usize) -> bool {
        self.flag(n, NEW_LINE)
    }

    /// Nothing stands between the `n`th token from here and the one before it.
    pub(crate) fn is_glued(&self, n: usize) -> bool {
        self.flag(n, GLUED)
    }

    /// The current token is the first character of its line.
    pub(crate) fn at_column_zero(&self) -> bool {
        self.flag(0, COLUMN_ZERO)
    }

    /// The text of the `n`th token from here.
    pub(crate) fn text(&self, n: usize) -> &'t str {
        let i = (self.pos + n).min(self.input.kinds.len() - 1);
        &self.input.text[self.input.range(i)]
    }

    /// The whole text from the current token on.
    pub(crate) fn rest_of_line(&self) -> &'t str {
        let rest = &self.input.text[usize::from(self.range().start())..];
        rest.lines().next().unwrap_or_default()
    }

    /// The current token is the name `text`, a keyword of one notation only.
    pub(crate) fn at_word(&mut self, text: &str) -> bool {
        self.at(SyntaxKind::IDENT) && self.text(0) == text
    }

    /// The range of the current token.
    pub(crate) fn range(&self) -> TextRange {
        self.input.range(self.pos.min(self.input.kinds.len() - 1))
    }

    /// The range of the token before the current one.
    pub(crate) fn last_range(&self) -> TextRange {
        if self.pos == 0 {
            self.saw_outside.set(true);
        }
        self.input.range(self.pos.saturating_sub(1))
    }

    /// A number that grows with every token taken.
    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    pub(crate) fn bump(&mut self) {
        if self.peek(0) != SyntaxKind::END_OF_FILE {
            self.tree.token(&self.input.tokens, self.input.raw[self.pos] as usize);
            self.pos += 1;
            self.steps = 0;
        }
    }

    pub(crate) fn eat(&mut self, kind: SyntaxKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the next `count` tokens and the trivia between them as one token.
    pub(crate) fn bump_joined(&mut self, kind: SyntaxKind, count: usize) {
        let count = count.min(self.input.kinds.len() - 1 - self.pos);
        if count > 0 {
            let raw = |token: usize| self.input.raw[token] as usize;
            let ends = (raw(self.pos), raw(self.pos + count - 1));
            self.tree.joined(&self.input.tokens, kind, ends);
            self.pos += count;
            self.steps = 0;
        }
    }

    /// How many tokens from here on stand before `stop` says so at the start of a line.
    pub(crate) fn count_until_line(&self, mut stop: impl FnMut(SyntaxKind, &str) -> bool) -> usize {
        let mut i = self.pos;
        while self.peek(i - self.pos) != SyntaxKind::END_OF_FILE {
            let at = usize::from(self.input.range(i).start());
            if i > self.pos
                && self.input.flags[i] & COLUMN_ZERO != 0
                && stop(self.input.kinds[i], &self.input.text[at..])
            {
                break;
            }
            i += 1;
        }
        i - self.pos
    }

    /// How many tokens from here on stand on the current line.
    pub(crate) fn count_on_line(&self) -> usize {
        let mut i = self.pos + 1;
        while self.peek(i - self.pos) != SyntaxKind::END_OF_FILE
            && self.input.flags[i] & NEW_LINE == 0
        {
            i += 1;
        }
        i - self.pos
    }

    /// Takes `kind`, or reports that it is missing.
    pub(crate) fn expect(&mut self, kind: SyntaxKind) -> bool {
        if self.eat(kind) {
            return true;
        }
        self.expected(kind);
        false
    }

    /// Takes the closing bracket of the one opened at `open`, or reports the open one.
    pub(crate) fn expect_close(&mut self, kind: SyntaxKind, open: TextRange) -> bool {
        if self.eat(kind) {
            return true;
        }
        let found = self.current();
        let expected = kind.into();
        self.error(SyntaxErrorKind::Expected { expected, found, open: Some(open) });
        // One bracket too many: `Tensor[(), bool)]`.
        let is_stray = found == T![")"] && kind == T!["]"];
        if is_stray && self.nth(1) == kind && self.is_glued(1) {
            let stray = self.start();
            self.bump();
            stray.complete(self, SyntaxKind::ERROR);
            self.bump();
            self.recover();
            return true;
        }
        false
    }

    pub(crate) fn expected(&mut self, expected: impl Into<Expectation>) {
        let (expected, found) = (expected.into(), self.current());
        self.error(SyntaxErrorKind::Expected { expected, found, open: None });
    }

    /// Reports `kind` at the current token, unless it follows from an error before it.
    pub(crate) fn error(&mut self, kind: SyntaxErrorKind) {
        if std::mem::replace(&mut self.lost, true) {
            return;
        }
        // What is missing at the end of a line is missing there, not at the start of the next.
        let range = if matches!(kind, SyntaxErrorKind::Expected { .. }) && self.on_new_line(0) {
            let end = self.last_range().end();
            TextRange::new(end, end)
        } else {
            self.range()
        };
        self.errors.push(SyntaxError { range, kind });
    }

    /// Whether an error has been reported from which the grammar has not recovered.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// The grammar stands at a certain place again: the next error is one of its own.
    pub(crate) fn recover(&mut self) {
        self.lost = false;
    }

    /// Notes what TVM would not read, at `range`.
    pub(crate) fn compat(&mut self, range: TextRange, kind: SyntaxErrorKind) {
        debug_assert!(kind.is_compat());
        self.errors.push(SyntaxError { range, kind });
    }

    /// Reports the current token as unexpected and takes it.
    pub(crate) fn bump_unexpected(&mut self) {
        let kind = self.current();
        self.error(SyntaxErrorKind::Unexpected(kind));
        let error = self.start();
        self.bump();
        error.complete(self, SyntaxKind::ERROR);
    }

    /// Runs `inner` one level deeper. Past the limit, takes everything up to the closing bracket
    /// of this level as one error instead.
    pub(crate) fn nested<R>(&mut self, inner: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= self.limits.depth {
            self.too_deep();
            return None;
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }

    /// Runs `inner`, which returns how many levels it has put around what it read.
    pub(crate) fn measured<R>(&mut self, inner: impl FnOnce(&mut Self) -> (R, u32)) -> R {
        let before = std::mem::replace(&mut self.deepest, self.depth);
        let (result, levels) = inner(self);
        self.deepest = before.max(self.deepest + levels);
        result
    }

    /// The levels of nesting in what [`Parser::measured`] has read so far.
    pub(crate) fn levels_inside(&self) -> u32 {
        self.deepest - self.depth
    }

    /// Reports the nesting limit and skips what lies inside the innermost open bracket.
    pub(crate) fn too_deep(&mut self) {
        self.error(SyntaxErrorKind::TooDeep);
        let at = self.pos;
        let error = self.start();
        self.skip_balanced();
        if self.pos == at {
            self.bump();
        }
        error.complete(self, SyntaxKind::ERROR);
    }

    /// Takes tokens up to the bracket that closes the innermost open one, without nesting.
    fn skip_balanced(&mut self) {
        let mut open = 0u32;
        loop {
            match self.current() {
                SyntaxKind::END_OF_FILE => return,
                SyntaxKind::L_PAREN | SyntaxKind::L_BRACK | SyntaxKind::L_BRACE => open += 1,
                SyntaxKind::R_PAREN | SyntaxKind::R_BRACK | SyntaxKind::R_BRACE => {
                    if open == 0 {
                        return;
                    }
                    open -= 1;
                }
                _ => {}
            }
            self.bump();
        }
    }

    pub(crate) fn start(&mut self) -> Marker {
        Marker { at: self.tree.start() }
    }
}

/// A node that has begun.
#[must_use]
pub(crate) struct Marker {
    at: usize,
}

impl Marker {
    pub(crate) fn complete(self, p: &mut Parser<'_>, kind: SyntaxKind) -> Completed {
        Completed { ended: p.tree.finish(&p.input.tokens, self.at, kind), kind }
    }

    /// Gives the node up; what was found in it belongs to the node around it.
    pub(crate) fn abandon(self, p: &mut Parser<'_>) {
        p.tree.abandon(self.at);
    }
}

/// A node that has ended.
#[derive(Clone, Copy)]
pub(crate) struct Completed {
    ended: Ended,
    kind: SyntaxKind,
}

impl Completed {
    pub(crate) fn kind(self) -> SyntaxKind {
        self.kind
    }

    /// Begins a node around this one.
    pub(crate) fn precede(self, p: &mut Parser<'_>) -> Marker {
        Marker { at: p.tree.start_around(self.ended) }
    }
}
