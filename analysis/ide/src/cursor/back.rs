//! Backward iteration over the tokens before an offset.

use syntax::{Element, Node, NodeOrToken, SyntaxKind, T, TextSize, Token};

/// The maximal number of tokens to scan. A header of 662 parameters has about 20,000.
const MAX_TOKENS: usize = 60_000;

/// Returns the elements of a node that start before `offset`, the last first.
fn before(node: Node<'_>, offset: TextSize) -> impl Iterator<Item = Element<'_>> {
    node.elements().rev().skip_while(move |element| {
        let start = match element {
            NodeOrToken::Node(node) => node.start(),
            NodeOrToken::Token(token) => token.start(),
        };
        start >= offset
    })
}

/// Returns the tokens that start before `offset`, the last first.
pub(crate) fn tokens_before(root: Node<'_>, offset: TextSize) -> impl Iterator<Item = Token<'_>> {
    let mut stack = vec![before(root, offset)];
    std::iter::from_fn(move || {
        loop {
            match stack.last_mut()?.next() {
                None => {
                    stack.pop();
                }
                Some(NodeOrToken::Node(node)) => stack.push(before(node, offset)),
                Some(NodeOrToken::Token(token)) => return Some(token),
            }
        }
    })
}

/// The tokens before an offset without trivia, fetched lazily and indexed from the nearest one.
pub(super) struct Back<'t, I> {
    pub(super) tokens: I,
    pub(super) seen: Vec<Token<'t>>,
}

impl<'t, I: Iterator<Item = Token<'t>>> Back<'t, I> {
    pub(super) fn get(&mut self, at: usize) -> Option<Token<'t>> {
        while self.seen.len() <= at {
            if self.seen.len() >= MAX_TOKENS {
                return None;
            }
            let token = self.tokens.find(|token| !token.kind().is_trivia())?;
            self.seen.push(token);
        }
        self.seen.get(at).copied()
    }

    pub(super) fn kind(&mut self, at: usize) -> SyntaxKind {
        self.get(at).map_or(SyntaxKind::END_OF_FILE, |token| token.kind())
    }

    /// Returns the position before the bracket that matches the closing one at `at`.
    pub(super) fn skip_closed(&mut self, mut at: usize) -> usize {
        let mut depth = 0u32;
        loop {
            match self.kind(at) {
                T![")"] | T!["]"] | T!["}"] => depth += 1,
                T!["("] | T!["["] | T!["{"] => {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                SyntaxKind::END_OF_FILE => return at,
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns the dotted name that ends at `at`, and the position before it.
    pub(super) fn dotted(&mut self, mut at: usize) -> (String, usize) {
        let mut name = self.get(at).map_or("", |token| token.text()).to_owned();
        while self.kind(at + 1) == T!["."] && self.kind(at + 2) == SyntaxKind::IDENT {
            let part = self.get(at + 2).map_or("", |token| token.text());
            name = format!("{part}.{name}");
            at += 2;
        }
        (name, at + 1)
    }
}
