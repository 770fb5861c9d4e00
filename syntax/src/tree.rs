//! The builder of the green tree.
//!
//! Trivia at the boundary of a node is placed outside it, so that a node begins and ends with a
//! significant token. Repeated tokens and nodes are shared, see [`crate::interner`].
//!
//! Nodes are built while the grammar runs. A list of events between parser and tree, as in
//! rust-analyzer, took 4 MB for a module of 14,506 lines: as many page faults as the tokens and
//! half of the tree together.

use std::ops::Range;

use rowan::{GreenNode, GreenToken, NodeOrToken};

use crate::{
    SyntaxKind, chunk,
    interner::{Element, Interner},
    lexer::Tokens,
};

/// A tree under construction. The parser owns the tokens.
pub(crate) struct Tree<'t> {
    text: &'t str,
    /// The next raw token, and where it starts.
    raw: usize,
    at: usize,
    /// The raw token at which the root ends.
    end: usize,
    /// Children whose parents are not finished, as a stack.
    children: Vec<Element>,
    /// The started nodes: the index of the first child of each in `children`. Undefined for pending nodes.
    open: Vec<usize>,
    /// Index of the first open node without a token. Such nodes begin after the trivia before their
    /// first token; a node that remains empty is placed before that trivia.
    pending: usize,
    /// The number of tensor types pushed.
    tensors: usize,
    /// True if tokens of a fixed spelling may be spelled otherwise: `&lt;`.
    is_damaged: bool,
    interner: Interner<'t>,
}

/// A finished node.
#[derive(Clone, Copy)]
pub(crate) enum FinishedNode {
    /// The child with this index.
    Child(usize),
    /// A node without tokens.
    Empty,
}

impl<'t> Tree<'t> {
    pub(crate) fn new(text: &'t str, tokens: &Tokens, mut interner: Interner<'t>) -> Tree<'t> {
        interner.reserve(tokens.len());
        Tree {
            text,
            raw: 0,
            at: 0,
            end: tokens.len(),
            children: Vec::new(),
            open: Vec::new(),
            pending: 0,
            tensors: 0,
            is_damaged: false,
            interner,
        }
    }

    /// Creates the tree of a damaged text, whose tokens are those of its readable form.
    pub(crate) fn damaged(text: &'t str, tokens: &Tokens) -> Tree<'t> {
        Tree { is_damaged: true, ..Tree::new(text, tokens, Interner::default()) }
    }

    /// Ends the tree before raw token `end`.
    pub(crate) fn end_at(&mut self, end: usize) {
        self.end = end;
    }

    fn push_next(&mut self, tokens: &Tokens) {
        let (kind, end) = (tokens.kinds[self.raw], tokens.ends[self.raw] as usize);
        let is_space = kind == SyntaxKind::WHITESPACE
            && end - self.at == 1
            && self.text.as_bytes().get(self.at) == Some(&b' ');
        let element = if is_space {
            self.interner.space().into()
        } else if let Some(token) = self.interner.fixed(kind) {
            token.into()
        } else {
            self.intern(tokens, kind, self.at..end)
        };
        self.children.push(element);
        self.raw += 1;
        self.at = end;
    }

    /// Returns a token that has no fixed spelling or occurs for the first time.
    fn intern(&mut self, tokens: &Tokens, kind: SyntaxKind, range: Range<usize>) -> Element {
        let text = &self.text[range];
        if kind == SyntaxKind::TENSOR_TEXT {
            match self.tensor(tokens) {
                Some(tree) => tree.into(),
                None => self.interner.token(kind, text).into(),
            }
        } else if kind.is_fixed() && !self.is_damaged {
            self.interner.insert_fixed(kind, text).into()
        } else {
            self.interner.token(kind, text).into()
        }
    }

    /// Returns the tree of the tensor type that is the next raw token.
    fn tensor(&mut self, tokens: &Tokens) -> Option<GreenNode> {
        while let Some(token) = tokens.tensors.get(self.tensors)
            && token.start as usize <= self.at
        {
            self.tensors += 1;
            if token.start as usize == self.at {
                return self.interner.tensor(token.tree);
            }
        }
        // Unreachable, because the trees are made before the text is parsed; keeps every byte.
        None
    }

    /// Pushes the trivia before raw token `to` and starts the pending nodes after it.
    fn push_trivia(&mut self, tokens: &Tokens, to: usize) {
        while self.raw < to {
            self.push_next(tokens);
        }
        if self.pending < self.open.len() {
            let from = self.children.len();
            self.open[self.pending..].fill(from);
            self.pending = self.open.len();
        }
    }

    /// Pushes raw token `raw` and the trivia before it.
    pub(crate) fn token(&mut self, tokens: &Tokens, raw: usize) {
        self.push_trivia(tokens, raw);
        self.push_next(tokens);
    }

    /// Pushes a node of raw token `raw` alone, and the trivia before it.
    pub(crate) fn leaf(&mut self, tokens: &Tokens, raw: usize, kind: SyntaxKind) -> FinishedNode {
        let token = tokens.kinds[raw];
        if token.is_fixed() || token == SyntaxKind::TENSOR_TEXT {
            let at = self.start();
            self.token(tokens, raw);
            return self.finish(tokens, at, kind);
        }
        self.push_trivia(tokens, raw);
        let end = tokens.ends[raw] as usize;
        let text = &self.text[self.at..end];
        (self.raw, self.at) = (raw + 1, end);
        let from = self.children.len();
        self.children.push(self.interner.leaf(kind, token, text).into());
        FinishedNode::Child(from)
    }

    /// Pushes the raw tokens from `first` to `last` as one token, and the trivia before it.
    pub(crate) fn joined(
        &mut self,
        tokens: &Tokens,
        kind: SyntaxKind,
        (first, last): (usize, usize),
    ) {
        self.push_trivia(tokens, first);
        let end = tokens.ends[last] as usize;
        let text = &self.text[self.at..end];
        (self.raw, self.at) = (last + 1, end);
        self.children.push(GreenToken::new(kind.into(), text).into());
    }

    /// Starts a node and returns its index among the open nodes.
    pub(crate) fn start(&mut self) -> usize {
        let at = self.open.len();
        self.open.push(0);
        if at == 0 {
            // The root contains leading trivia.
            self.pending = 1;
        }
        at
    }

    /// Starts a node that contains a finished one.
    pub(crate) fn start_around(&mut self, inner: FinishedNode) -> usize {
        let at = self.start();
        if let FinishedNode::Child(from) = inner {
            debug_assert!(self.pending >= at, "the parent of a node with tokens is not pending");
            self.open[at] = from;
            self.pending = self.open.len();
        }
        at
    }

    /// Drops open node `at`; its children become children of its parent.
    pub(crate) fn abandon(&mut self, at: usize) {
        debug_assert!(at + 1 == self.open.len(), "only the innermost open node can end");
        self.open.truncate(at);
        self.pending = self.pending.min(at);
    }

    /// Finishes open node `at`.
    pub(crate) fn finish(&mut self, tokens: &Tokens, at: usize, kind: SyntaxKind) -> FinishedNode {
        let is_empty = at >= self.pending;
        if at == 0 {
            while self.raw < self.end {
                self.push_next(tokens);
            }
        }
        let from = self.open[at];
        self.abandon(at);
        if is_empty {
            self.children.push(GreenNode::new(kind.into(), []).into());
            return FinishedNode::Empty;
        }
        if kind == SyntaxKind::BLOCK {
            chunk::distribute(&mut self.children, from);
        }
        let node = self.interner.node(kind, &mut self.children, from);
        self.children.push(node.into());
        FinishedNode::Child(from)
    }

    /// Returns the tree and the interner.
    pub(crate) fn complete(mut self) -> (GreenNode, Interner<'t>) {
        let green = match self.children.pop() {
            Some(NodeOrToken::Node(root)) if self.children.is_empty() => root,
            // Unreachable while the grammar wraps a text in one node; keeps every byte otherwise.
            last => {
                self.children.extend(last);
                GreenNode::new(SyntaxKind::ERROR.into(), self.children)
            }
        };
        (green, self.interner)
    }
}
