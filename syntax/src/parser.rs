//! The parser API used by the grammar.
//!
//! The grammar sees no trivia and never fails. It marks the starts and ends of nodes, and
//! [`crate::tree`] builds them immediately; a completed node can still get a parent (`%a` becomes
//! the callee of `%a(%b)`).

use std::cell::Cell;

use rowan::{GreenNode, TextRange};

use crate::{
    Expectation, ParseLimits, SyntaxError, SyntaxErrorKind, SyntaxKind,
    input::{COLUMN_ZERO, GLUED, Input, NEW_LINE},
    interner::Interner,
    tree::{FinishedNode, Tree},
};

/// The most spaces that are counted.
const MAX_INDENTATION: usize = 64;

pub(crate) struct Parser<'t> {
    input: Input<'t>,
    pos: usize,
    tree: Tree<'t>,
    errors: Vec<SyntaxError>,
    banners: Vec<TextRange>,
    /// Set by an error after a number at the start of a line: `12 def @main() {`.
    is_suspect: bool,
    /// Set from an error until [`Parser::recover`]. Errors in between are likely consequences and
    /// are not reported.
    recovering: bool,
    limits: ParseLimits,
    depth: u32,
    deepest: u32,
    /// Set if the result depends on the position of the end of the input.
    saw_end: Cell<bool>,
    /// Set if the result depends on the text before the input.
    saw_start: Cell<bool>,
    /// Number of lookaheads since the last token, to detect a grammar that makes no progress.
    steps: u32,
}

/// The result of a parser.
pub(crate) struct ParserOutput<'t> {
    pub(crate) green: GreenNode,
    pub(crate) errors: Vec<SyntaxError>,
    /// The lines of logs, whose characters are no errors.
    pub(crate) banners: Vec<TextRange>,
    /// True if lines may have numbers in front.
    pub(crate) is_suspect: bool,
    /// The interner, for the next parser over the same text.
    pub(crate) interner: Interner<'t>,
}

impl ParserOutput<'_> {
    /// Removes the errors about characters in the lines of logs from those of the lexer. Returns true if an
    /// unclosed string was one of them, which any later quote may close.
    pub(crate) fn retain(&self, errors: &mut Vec<SyntaxError>) -> bool {
        if self.banners.is_empty() {
            return false;
        }
        let mut has_string = false;
        errors.retain(|error| {
            // The banners are in order.
            let next = self.banners.partition_point(|line| line.end() <= error.range.start());
            let is_inside =
                self.banners.get(next).is_some_and(|line| line.contains_range(error.range));
            has_string |= is_inside && matches!(error.kind, SyntaxErrorKind::UnclosedString);
            !(is_inside && error.kind.is_of_characters())
        });
        has_string
    }
}

impl<'t> Parser<'t> {
    pub(crate) fn new(input: Input<'t>, limits: ParseLimits, interner: Interner<'t>) -> Parser<'t> {
        let tree = Tree::new(input.text, &input.tokens, interner);
        Parser::with(input, tree, limits)
    }

    /// Creates a parser whose input is the readable form of a damaged text.
    pub(crate) fn damaged(input: Input<'t>, text: &'t str, limits: ParseLimits) -> Parser<'t> {
        let tree = Tree::damaged(text, &input.tokens);
        Parser::with(input, tree, limits)
    }

    fn with(input: Input<'t>, tree: Tree<'t>, limits: ParseLimits) -> Parser<'t> {
        Parser {
            tree,
            input,
            pos: 0,
            errors: Vec::new(),
            banners: Vec::new(),
            is_suspect: false,
            recovering: false,
            limits,
            depth: 0,
            deepest: 0,
            saw_end: Cell::new(false),
            saw_start: Cell::new(false),
            steps: 0,
        }
    }

    /// Ends the tree before raw token `end`, where the grammar is expected to stop.
    pub(crate) fn end_tree_at(&mut self, end: usize) {
        self.tree.end_at(end);
    }

    pub(crate) fn finish(self) -> ParserOutput<'t> {
        let Parser { tree, errors, banners, is_suspect, .. } = self;
        let (green, interner) = tree.complete();
        ParserOutput { green, errors, banners, is_suspect, interner }
    }

    pub(crate) fn limits(&self) -> ParseLimits {
        self.limits
    }

    pub(crate) fn current(&mut self) -> SyntaxKind {
        self.nth(0)
    }

    pub(crate) fn nth(&mut self, n: usize) -> SyntaxKind {
        self.steps += 1;
        assert!(self.steps < 10_000_000, "the grammar makes no progress");
        self.peek(n)
    }

    fn peek(&self, n: usize) -> SyntaxKind {
        match self.input.significant.get(self.pos + n) {
            Some(token) if token.kind != SyntaxKind::END_OF_FILE => token.kind,
            _ => {
                self.saw_end.set(true);
                SyntaxKind::END_OF_FILE
            }
        }
    }

    /// Returns true if a lookahead has reached the end of the input.
    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end.get()
    }

    /// Returns true if the range of the token before the input was requested.
    pub(crate) fn saw_start(&self) -> bool {
        self.saw_start.get()
    }

    /// Returns the maximum nesting so far.
    pub(crate) fn deepest(&self) -> u32 {
        self.deepest
    }

    pub(crate) fn at(&mut self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    pub(crate) fn at_end(&mut self) -> bool {
        self.at(SyntaxKind::END_OF_FILE)
    }

    fn flag(&self, n: usize, flag: u8) -> bool {
        let at = (self.pos + n).min(self.input.significant.len() - 1);
        let token = self.input.significant[at];
        if token.kind == SyntaxKind::END_OF_FILE {
            self.saw_end.set(true);
        }
        token.flags & flag != 0
    }

    /// Returns true if a line break precedes the `n`th token from here.
    pub(crate) fn on_new_line(&self, n: usize) -> bool {
        self.flag(n, NEW_LINE)
    }

    /// Returns true if the `n`th token from here directly follows the one before it.
    pub(crate) fn is_glued(&self, n: usize) -> bool {
        self.flag(n, GLUED)
    }

    /// Returns true if the current token begins at the first column of its line.
    pub(crate) fn at_column_zero(&self) -> bool {
        self.flag(0, COLUMN_ZERO)
    }

    /// Returns the number of spaces before the `n`th token from here, the first one of its line.
    pub(crate) fn indentation(&self, n: usize) -> usize {
        let start = usize::from(self.range_of(self.pos + n).start());
        let before = &self.input.text.as_bytes()[..start];
        before
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .take(MAX_INDENTATION)
            .count()
    }

    /// Returns the text of the `n`th token from here.
    pub(crate) fn text(&self, n: usize) -> &'t str {
        &self.input.text[self.range_of(self.pos + n)]
    }

    /// Returns the text from the `n`th token from here to the end of its line.
    pub(crate) fn rest_of_line(&self, n: usize) -> &'t str {
        let rest = &self.input.text[usize::from(self.range_of(self.pos + n).start())..];
        rest.lines().next().unwrap_or_default()
    }

    /// Returns true if the current token is the name `text`, a keyword in this position only.
    pub(crate) fn at_contextual_kw(&mut self, text: &str) -> bool {
        self.at(SyntaxKind::IDENT) && self.text(0) == text
    }

    /// Returns the range of the current token.
    pub(crate) fn range(&self) -> TextRange {
        self.range_of(self.pos)
    }

    /// Returns the range of the token with an index from [`Parser::position`].
    pub(crate) fn range_of(&self, token: usize) -> TextRange {
        self.input.range(token.min(self.input.significant.len() - 1))
    }

    /// Returns the range of the previous token.
    pub(crate) fn last_range(&self) -> TextRange {
        if self.pos == 0 {
            self.saw_start.set(true);
        }
        self.input.range(self.pos.saturating_sub(1))
    }

    /// Returns the kind of the token with an index from [`Parser::position`].
    pub(crate) fn kind_of(&self, token: usize) -> SyntaxKind {
        self.input.significant.get(token).map_or(SyntaxKind::END_OF_FILE, |token| token.kind)
    }

    /// Returns true if the token with an index from [`Parser::position`] directly follows the one before it.
    pub(crate) fn is_glued_at(&self, token: usize) -> bool {
        self.input.significant.get(token).is_some_and(|token| token.flags & GLUED != 0)
    }

    /// Notes that the result depends on the text before the input.
    pub(crate) fn looked_before(&self) {
        self.saw_start.set(true);
    }

    /// Returns the index of the current token.
    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    pub(crate) fn bump(&mut self) {
        if self.peek(0) != SyntaxKind::END_OF_FILE {
            self.tree.token(&self.input.tokens, self.input.raw(self.pos));
            self.pos += 1;
            self.steps = 0;
        }
    }

    /// Consumes `count` tokens.
    pub(crate) fn bump_tokens(&mut self, count: usize) {
        (0..count).for_each(|_| self.bump());
    }

    /// Returns true if `parse` consumes a token.
    pub(crate) fn advances(&mut self, parse: impl FnOnce(&mut Self)) -> bool {
        let before = self.pos;
        parse(self);
        self.pos > before
    }

    /// Consumes a token as a node of its own.
    pub(crate) fn leaf(&mut self, kind: SyntaxKind) -> CompletedNode {
        if self.peek(0) == SyntaxKind::END_OF_FILE {
            return self.start().complete(self, kind);
        }
        let raw = self.input.raw(self.pos);
        let finished = self.tree.leaf(&self.input.tokens, raw, kind);
        self.pos += 1;
        self.steps = 0;
        CompletedNode { finished, kind }
    }

    pub(crate) fn eat(&mut self, kind: SyntaxKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes `count` tokens and the trivia between them as one token.
    pub(crate) fn bump_joined(&mut self, kind: SyntaxKind, count: usize) {
        let count = count.min(self.input.significant.len() - 1 - self.pos);
        if count > 0 {
            if kind == SyntaxKind::BANNER {
                let last = self.range_of(self.pos + count - 1);
                self.banners.push(self.range().cover(last));
            }
            let ends = (self.input.raw(self.pos), self.input.raw(self.pos + count - 1));
            self.tree.joined(&self.input.tokens, kind, ends);
            self.pos += count;
            self.steps = 0;
        }
    }

    /// Returns the number of tokens up to the next line for whose first token and text `stop`
    /// returns true.
    pub(crate) fn count_until_line(&self, mut stop: impl FnMut(SyntaxKind, &str) -> bool) -> usize {
        let mut i = self.pos;
        while self.peek(i - self.pos) != SyntaxKind::END_OF_FILE {
            let at = usize::from(self.input.range(i).start());
            if i > self.pos
                && self.input.significant[i].flags & COLUMN_ZERO != 0
                && stop(self.input.significant[i].kind, &self.input.text[at..])
            {
                break;
            }
            i += 1;
        }
        i - self.pos
    }

    /// Returns the number of tokens from the `n`th one from here to the end of its line.
    pub(crate) fn count_on_line(&self, n: usize) -> usize {
        let mut i = n + 1;
        while self.peek(i) != SyntaxKind::END_OF_FILE
            && self.input.significant[self.pos + i].flags & NEW_LINE == 0
        {
            i += 1;
        }
        i - n
    }

    /// Consumes a token of `kind`, or reports that it is missing.
    pub(crate) fn expect(&mut self, kind: SyntaxKind) -> bool {
        if self.eat(kind) {
            return true;
        }
        self.expected(kind);
        false
    }

    /// Consumes the closing bracket for the one at token `open`, or reports that it is missing.
    pub(crate) fn expect_close(&mut self, kind: SyntaxKind, open: usize) -> bool {
        if self.eat(kind) {
            return true;
        }
        let found = self.current();
        let (expected, open) = (kind.into(), Some(self.range_of(open)));
        self.error(SyntaxErrorKind::Expected { expected, found, open });
        // An extra bracket: `Tensor[(), bool)]`.
        let is_stray = found == T![")"] && kind == T!["]"];
        if is_stray && self.nth(1) == kind && self.is_glued(1) {
            self.leaf(SyntaxKind::ERROR);
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

    /// Reports `kind` at the current token, unless an earlier error is the likely cause.
    pub(crate) fn error(&mut self, kind: SyntaxErrorKind) {
        if std::mem::replace(&mut self.recovering, true) {
            return;
        }
        if self.is_near_cut() {
            return;
        }
        self.is_suspect |= self.is_after_number();
        // A token missing at the end of a line is reported there, not at the start of the next
        // line.
        let range = if matches!(kind, SyntaxErrorKind::Expected { .. }) && self.on_new_line(0) {
            let end = self.last_range().end();
            TextRange::new(end, end)
        } else {
            self.range()
        };
        self.errors.push(SyntaxError { range, kind });
    }

    /// Returns the text at `range`.
    pub(crate) fn text_at(&self, range: TextRange) -> &'t str {
        &self.input.text[range]
    }

    /// Returns true at a place where the text was cut, or directly after it: an error there is a consequence.
    pub(crate) fn is_near_cut(&self) -> bool {
        let kind = |at: usize| self.input.significant.get(at).map(|token| token.kind);
        kind(self.pos) == Some(SyntaxKind::CUT)
            || self.pos.checked_sub(1).and_then(kind) == Some(SyntaxKind::CUT)
    }

    /// Has the text searched for damage.
    pub(crate) fn suspect(&mut self) {
        self.is_suspect = true;
    }

    /// Returns true after a number that begins a line.
    fn is_after_number(&self) -> bool {
        let before = self.pos.checked_sub(1).map(|at| self.input.significant[at]);
        let is_number = before.is_some_and(|token| {
            matches!(token.kind, SyntaxKind::INT | SyntaxKind::FLOAT) && token.flags & NEW_LINE != 0
        });
        is_number && (!self.on_new_line(0) || self.peek(0) == SyntaxKind::INT)
    }

    /// Returns true between an error and [`Parser::recover`].
    pub(crate) fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Ends error recovery at a position that the grammar recognises, such as the `{` of a block:
    /// the next error is reported.
    pub(crate) fn recover(&mut self) {
        self.recovering = false;
    }

    /// Takes errors up to the next call of [`Parser::recover`] for consequences of what has been recorded.
    pub(crate) fn suppress_errors(&mut self) {
        self.recovering = true;
    }

    /// Removes the errors at and after `start`, which are consequences of what begins there.
    pub(crate) fn forget_errors_from(&mut self, start: rowan::TextSize) {
        while self.errors.pop_if(|error| error.range.start() >= start).is_some() {}
    }

    /// Records a construct at `range` that TVM's parser rejects.
    pub(crate) fn compat(&mut self, range: TextRange, kind: SyntaxErrorKind) {
        debug_assert!(kind.is_compat());
        self.record(range, kind);
    }

    /// Records a construct that TVM's parser rejects, or extends the last one if it ends where this one begins.
    #[inline(never)]
    pub(crate) fn compat_joined(&mut self, range: TextRange, kind: SyntaxErrorKind) {
        match self.errors.last_mut() {
            Some(last) if last.kind == kind && last.range.end() == range.start() => {
                last.range = last.range.cover(range);
            }
            _ => self.compat(range, kind),
        }
    }

    /// Records an error after which the parser goes on.
    pub(crate) fn record(&mut self, range: TextRange, kind: SyntaxErrorKind) {
        self.errors.push(SyntaxError { range, kind });
    }

    /// Reports the current token as unexpected and skips it.
    pub(crate) fn bump_unexpected(&mut self) {
        let kind = self.current();
        self.error(SyntaxErrorKind::Unexpected(kind));
        self.leaf(SyntaxKind::ERROR);
    }

    /// Runs `inner` one level deeper. At the depth limit, reports an error, skips to the closing
    /// bracket of this level and returns `None`.
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

    /// Runs `inner`, which returns the number of levels that it has wrapped around its first
    /// operand.
    pub(crate) fn measured<R>(&mut self, inner: impl FnOnce(&mut Self) -> (R, u32)) -> R {
        let before = std::mem::replace(&mut self.deepest, self.depth);
        let (result, levels) = inner(self);
        self.deepest = before.max(self.deepest + levels);
        result
    }

    /// Returns the nesting inside the current [`Parser::measured`] so far.
    pub(crate) fn levels_inside(&self) -> u32 {
        self.deepest - self.depth
    }

    /// Reports the depth limit and skips the rest of the innermost open bracket.
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

    /// Skips to the bracket that closes the innermost open one, without recursion.
    pub(crate) fn skip_balanced(&mut self) {
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

    /// Parses a node of `kind`, whose content `parse` consumes.
    #[inline]
    pub(crate) fn node<R>(
        &mut self,
        kind: SyntaxKind,
        parse: impl FnOnce(&mut Self) -> R,
    ) -> CompletedNode {
        let marker = self.start();
        parse(self);
        marker.complete(self, kind)
    }

    pub(crate) fn start(&mut self) -> Marker {
        Marker { at: self.tree.start() }
    }
}

/// A started node.
#[must_use]
pub(crate) struct Marker {
    at: usize,
}

impl Marker {
    pub(crate) fn complete(self, p: &mut Parser<'_>, kind: SyntaxKind) -> CompletedNode {
        CompletedNode { finished: p.tree.finish(&p.input.tokens, self.at, kind), kind }
    }

    /// Drops the node; its children become children of the enclosing node.
    pub(crate) fn abandon(self, p: &mut Parser<'_>) {
        p.tree.abandon(self.at);
    }
}

/// A completed node.
#[derive(Clone, Copy)]
pub(crate) struct CompletedNode {
    finished: FinishedNode,
    kind: SyntaxKind,
}

impl CompletedNode {
    pub(crate) fn kind(self) -> SyntaxKind {
        self.kind
    }

    /// Starts a node that contains this one.
    pub(crate) fn precede(self, p: &mut Parser<'_>) -> Marker {
        Marker { at: p.tree.start_around(self.finished) }
    }
}
