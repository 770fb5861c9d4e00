//! The green tree, which grows while the grammar reads.
//!
//! White space and comments stand outside the nodes they surround: a node's text begins and ends
//! with a token of its own. What is equal and stands in many places is stored once in a parse, see
//! [`crate::interner`].
//!
//! There is no list of events between grammar and tree. For a module of 14,506 lines it took 4 MB
//! and as many page faults as the tokens and half of the tree together.

use rowan::{GreenNode, GreenToken, NodeOrToken};

use crate::{
    SyntaxKind,
    interner::{Element, Interner},
    lexer::Tokens,
};

/// A node that has begun, and the index of its first child among all children that wait for their
/// parents. Unknown, and not looked at, while the node has no token.
struct Open {
    from: usize,
}

/// A tree under construction. The tokens are those of [`Input`], which the parser holds.
pub(crate) struct Tree<'t> {
    text: &'t str,
    /// Next raw token.
    raw: usize,
    /// Where the outermost node ends, in raw tokens.
    end: usize,
    children: Vec<Element>,
    open: Vec<Open>,
    /// The open nodes from here on have no token yet: they begin behind the trivia in front of
    /// their first one, and stay in front of it where they end up empty.
    pending: usize,
    interner: Interner<'t>,
}

/// What became of a node that has ended.
#[derive(Clone, Copy)]
pub(crate) enum Ended {
    /// It has tokens, and is the child with this index.
    Child(usize),
    /// There was nothing in it.
    Empty,
}

impl<'t> Tree<'t> {
    pub(crate) fn new(text: &'t str, tokens: &Tokens, mut interner: Interner<'t>) -> Tree<'t> {
        interner.expect(tokens.len());
        Tree {
            text,
            raw: 0,
            end: tokens.len(),
            children: Vec::new(),
            open: Vec::new(),
            pending: 0,
            interner,
        }
    }

    /// Lets the tree end in front of raw token `end`.
    pub(crate) fn end_at(&mut self, end: usize) {
        self.end = end;
    }

    fn take(&mut self, tokens: &Tokens) {
        let kind = tokens.kinds[self.raw];
        let element = match kind.is_fixed().then(|| self.interner.fixed(kind)).flatten() {
            Some(token) => token.into(),
            None => self.spelled(tokens, kind),
        };
        self.children.push(element);
        self.raw += 1;
    }

    /// The next token, which has more than one spelling or has not been met before.
    fn spelled(&mut self, tokens: &Tokens, kind: SyntaxKind) -> Element {
        let (start, end) = (tokens.start(self.raw) as usize, tokens.ends[self.raw] as usize);
        if kind == SyntaxKind::WHITESPACE
            && end - start == 1
            && self.text.as_bytes().get(start) == Some(&b' ')
        {
            return self.interner.blank().into();
        }
        let text = &self.text[start..end];
        if kind == SyntaxKind::TENSOR_TEXT {
            self.interner.tensor(text).into()
        } else if kind.is_fixed() {
            self.interner.fix(kind, text).into()
        } else {
            self.interner.token(kind, text).into()
        }
    }

    /// Takes the trivia in front of raw token `to`, and begins the nodes that wait for it.
    fn reach(&mut self, tokens: &Tokens, to: usize) {
        while self.raw < to {
            self.take(tokens);
        }
        let from = self.children.len();
        for open in &mut self.open[self.pending..] {
            open.from = from;
        }
        self.pending = self.open.len();
    }

    /// Takes raw token `raw`, and the trivia in front of it.
    pub(crate) fn token(&mut self, tokens: &Tokens, raw: usize) {
        self.reach(tokens, raw);
        self.take(tokens);
    }

    /// Takes the raw tokens from `first` to `last` as one, and the trivia in front of them.
    pub(crate) fn joined(
        &mut self,
        tokens: &Tokens,
        kind: SyntaxKind,
        (first, last): (usize, usize),
    ) {
        self.reach(tokens, first);
        let text = &self.text[tokens.start(first) as usize..tokens.ends[last] as usize];
        self.raw = last + 1;
        self.children.push(GreenToken::new(kind.into(), text).into());
    }

    /// Begins a node, and says which of the open ones it is.
    pub(crate) fn start(&mut self) -> usize {
        let at = self.open.len();
        self.open.push(Open { from: 0 });
        if at == 0 {
            // The outermost node holds everything, leading trivia too.
            self.pending = 1;
        }
        at
    }

    /// Begins a node around one that has ended.
    pub(crate) fn start_around(&mut self, inner: Ended) -> usize {
        let at = self.start();
        if let Ended::Child(from) = inner {
            debug_assert!(self.pending >= at, "a node with tokens in one that has none");
            self.open[at].from = from;
            self.pending = self.open.len();
        }
        at
    }

    /// Forgets that open node `at` has begun.
    pub(crate) fn abandon(&mut self, at: usize) {
        debug_assert!(at + 1 == self.open.len(), "nodes end in the order in which they began");
        self.open.truncate(at);
        self.pending = self.pending.min(at);
    }

    /// Ends open node `at`.
    pub(crate) fn finish(&mut self, tokens: &Tokens, at: usize, kind: SyntaxKind) -> Ended {
        debug_assert!(at + 1 == self.open.len(), "nodes end in the order in which they began");
        let is_empty = at >= self.pending;
        if at == 0 {
            while self.raw < self.end {
                self.take(tokens);
            }
        }
        let from = self.open[at].from;
        self.abandon(at);
        if is_empty {
            self.children.push(GreenNode::new(kind.into(), []).into());
            return Ended::Empty;
        }
        let node = self.interner.node(kind, &mut self.children, from);
        self.children.push(node.into());
        Ended::Child(from)
    }

    /// The tree, and the interner to build others with.
    pub(crate) fn complete(mut self) -> (GreenNode, Interner<'t>) {
        let green = match self.children.pop() {
            Some(NodeOrToken::Node(root)) if self.children.is_empty() => root,
            // The grammar always wraps a text in one node; if it did not, keep every byte.
            last => {
                self.children.extend(last);
                GreenNode::new(SyntaxKind::ERROR.into(), self.children)
            }
        };
        (green, self.interner)
    }
}
