//! The green tree, which grows while the grammar reads.
//!
//! White space and comments stand outside the nodes they surround: a node's text begins and ends
//! with a token of its own. Equal tokens and equal tensor types are stored once in a parse.
//!
//! There is no list of events between grammar and tree. For a module of 14,506 lines it took 4 MB
//! and as many page faults as the tokens and half of the tree together.

use rowan::{GreenNode, GreenToken, NodeOrToken};
use rustc_hash::FxHashMap;

use crate::{
    SyntaxKind, grammar,
    lexer::{TensorTypes, Tokens, lex},
    parser::{Input, ParseLimits, Parser},
};

type Element = NodeOrToken<GreenNode, GreenToken>;

/// Tokens and tensor types that were built before, by their text.
///
/// Lives for one parse: a cache that lived longer would keep every name ever typed.
#[derive(Default)]
pub(crate) struct Interner<'t> {
    /// Brackets, signs and words, by kind.
    fixed: Vec<Option<GreenToken>>,
    /// One blank: every third token of a printed module.
    blank: Option<GreenToken>,
    tokens: FxHashMap<(SyntaxKind, &'t str), GreenToken>,
    /// The last tokens of each kind: white space is mostly one blank or one line break, and a
    /// handful of types stands in most comments.
    recent: Vec<Recent<'t, GreenToken>>,
    tensors: FxHashMap<&'t str, GreenNode>,
    recent_tensors: Recent<'t, GreenNode>,
}

/// What was built last for texts that end alike. A comparison is cheaper than a hash.
#[derive(Clone)]
struct Recent<'t, T>([Option<(&'t str, T)>; 8]);

impl<T> Default for Recent<'_, T> {
    fn default() -> Self {
        Recent([const { None }; 8])
    }
}

impl<'t, T: Clone> Recent<'t, T> {
    /// The length tells `(1, 64)` from `(1, 256)`, the end `%12` from `%13`.
    fn slot(text: &str) -> usize {
        let last = text.as_bytes().last().copied().unwrap_or_default();
        (text.len() + usize::from(last)) & 7
    }

    fn get(&self, text: &str) -> Option<T> {
        let known = self.0[Self::slot(text)].as_ref();
        known.filter(|(known, _)| *known == text).map(|(_, built)| built.clone())
    }

    fn put(&mut self, text: &'t str, built: T) {
        self.0[Self::slot(text)] = Some((text, built));
    }
}

impl<'t> Interner<'t> {
    fn token(&mut self, kind: SyntaxKind, text: &'t str) -> GreenToken {
        // Sections of many megabytes would be hashed for nothing.
        if text.len() > 512 {
            return GreenToken::new(kind.into(), text);
        }
        let slot = kind as usize;
        if self.recent.len() <= slot {
            self.recent.resize(slot + 1, Recent::default());
        }
        if let Some(token) = self.recent[slot].get(text) {
            return token;
        }
        let token = self.tokens.entry((kind, text));
        let token = token.or_insert_with(|| GreenToken::new(kind.into(), text)).clone();
        self.recent[slot].put(text, token.clone());
        token
    }

    /// A token of a kind that has one spelling, if it was built before.
    fn fixed(&self, kind: SyntaxKind) -> Option<GreenToken> {
        self.fixed.get(kind as usize).cloned().flatten()
    }

    fn blank(&mut self) -> GreenToken {
        self.blank
            .get_or_insert_with(|| GreenToken::new(SyntaxKind::WHITESPACE.into(), " "))
            .clone()
    }

    fn fix(&mut self, kind: SyntaxKind, text: &str) -> GreenToken {
        let slot = kind as usize;
        if self.fixed.len() <= slot {
            self.fixed.resize(slot + 1, None);
        }
        self.fixed[slot].insert(GreenToken::new(kind.into(), text)).clone()
    }

    /// `Tensor[(1, 64), float32]`, which the lexer hands over in one piece.
    fn tensor(&mut self, text: &'t str) -> GreenNode {
        if let Some(node) = self.recent_tensors.get(text) {
            return node;
        }
        let node = self.tensor_by_hash(text);
        self.recent_tensors.put(text, node.clone());
        node
    }

    fn tensor_by_hash(&mut self, text: &'t str) -> GreenNode {
        if let Some(node) = self.tensors.get(text) {
            return node.clone();
        }
        let tokens = lex(text, TensorTypes::Spelled);
        let input = Input::new(text, tokens);
        let mut parser = Parser::new(input, ParseLimits::default(), std::mem::take(self));
        grammar::types::tensor_type(&mut parser);
        let parsed = parser.finish();
        *self = parsed.interner;
        self.tensors.insert(text, parsed.green.clone());
        parsed.green
    }
}

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
        // About so many tokens of a printed module are names that stand nowhere else.
        interner.tokens.reserve(tokens.len() / 16);
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
        let node = match self.children.len() - from {
            // Half of all nodes are a name or a number in its role.
            1 => GreenNode::new(kind.into(), self.children.pop()),
            _ => GreenNode::new(kind.into(), self.children.drain(from..)),
        };
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
