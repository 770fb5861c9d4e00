//! Events and tokens to a green tree.
//!
//! White space and comments stand outside the nodes they surround: a node's text begins and ends
//! with a token of its own. Equal tokens and equal tensor types are stored once in a parse.

use rowan::{GreenNode, GreenToken, NodeOrToken};
use rustc_hash::FxHashMap;

use crate::{
    SyntaxKind, grammar,
    lexer::{TensorTypes, Tokens, lex},
    parser::{Event, Input, ParseLimits, Parser},
};

type Element = NodeOrToken<GreenNode, GreenToken>;

/// Tokens and tensor types that were built before, by their text.
///
/// Lives for one parse: a cache that lived longer would keep every name ever typed.
#[derive(Default)]
pub(crate) struct Interner<'t> {
    /// Brackets, signs and words, by kind.
    fixed: Vec<Option<GreenToken>>,
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
        let mut parser = Parser::new(Input::new(text, &tokens), ParseLimits::default());
        grammar::types::tensor_type(&mut parser);
        let (events, _) = parser.finish();
        let node = build(text, &tokens, events, self);
        self.tensors.insert(text, node.clone());
        node
    }
}

struct Builder<'t, 'k, 'i> {
    text: &'t str,
    tokens: &'k Tokens,
    /// Next raw token.
    raw: usize,
    children: Vec<Element>,
    /// Kind of each open node and where its children begin.
    open: Vec<(SyntaxKind, usize)>,
    /// Nodes that have begun but have no token yet: they open behind the trivia, and stay in front
    /// of it where they end up empty.
    pending: Vec<SyntaxKind>,
    interner: &'i mut Interner<'t>,
}

impl<'t> Builder<'t, '_, '_> {
    fn slice(&self, from: usize, to: usize) -> &'t str {
        &self.text[self.tokens.start(from) as usize..self.tokens.ends[to - 1] as usize]
    }

    fn take(&mut self) {
        let kind = self.tokens.kinds[self.raw];
        let fixed = if kind.is_fixed() { self.interner.fixed(kind) } else { None };
        self.children.push(match fixed {
            Some(token) => token.into(),
            None => {
                let text = self.slice(self.raw, self.raw + 1);
                if kind == SyntaxKind::TENSOR_TEXT {
                    self.interner.tensor(text).into()
                } else if kind.is_fixed() {
                    self.interner.fix(kind, text).into()
                } else {
                    self.interner.token(kind, text).into()
                }
            }
        });
        self.raw += 1;
    }

    fn trivia(&mut self) {
        while self.raw < self.tokens.len() && self.tokens.kinds[self.raw].is_trivia() {
            self.take();
        }
    }

    /// Opens the nodes that begin with the next token.
    fn begin(&mut self) {
        self.trivia();
        let at = self.children.len();
        self.open.extend(self.pending.drain(..).map(|kind| (kind, at)));
    }

    fn joined(&mut self, kind: SyntaxKind, count: u32) {
        self.begin();
        let from = self.raw;
        for _ in 0..count {
            while self.tokens.kinds[self.raw].is_trivia() {
                self.raw += 1;
            }
            self.raw += 1;
        }
        let text = self.slice(from, self.raw);
        self.children.push(GreenToken::new(kind.into(), text).into());
    }

    fn start(&mut self, kind: SyntaxKind) {
        if self.open.is_empty() {
            // The outermost node holds everything, leading trivia too.
            self.open.push((kind, 0));
        } else {
            self.pending.push(kind);
        }
    }

    fn finish(&mut self) {
        let node = if let Some(kind) = self.pending.pop() {
            GreenNode::new(kind.into(), [])
        } else {
            if self.open.len() == 1 {
                self.trivia();
            }
            let Some((kind, from)) = self.open.pop() else { return };
            GreenNode::new(kind.into(), self.children.drain(from..))
        };
        self.children.push(node.into());
    }
}

fn take(event: &mut Event) -> Event {
    std::mem::replace(event, Event::Gone)
}

/// Builds the tree that `events` describe over all of `tokens`.
pub(crate) fn build<'t>(
    text: &'t str,
    tokens: &Tokens,
    mut events: Vec<Event>,
    interner: &mut Interner<'t>,
) -> GreenNode {
    let mut b = Builder {
        text,
        tokens,
        raw: 0,
        children: Vec::new(),
        open: Vec::new(),
        pending: Vec::new(),
        interner,
    };
    // About so many tokens of a printed module are names that stand nowhere else.
    b.interner.tokens.reserve(tokens.len() / 16);
    let mut around: Vec<SyntaxKind> = Vec::new();
    for i in 0..events.len() {
        match take(&mut events[i]) {
            Event::Start { kind, parent } => {
                // Nodes decided on later start here too, the outermost first.
                around.push(kind);
                let (mut at, mut forward) = (i, parent as usize);
                while forward != 0 {
                    at += forward;
                    match take(&mut events[at]) {
                        Event::Start { kind, parent } => {
                            around.push(kind);
                            forward = parent as usize;
                        }
                        _ => forward = 0,
                    }
                }
                while let Some(kind) = around.pop() {
                    b.start(kind);
                }
            }
            Event::Finish => b.finish(),
            Event::Token => {
                b.begin();
                b.take();
            }
            Event::Joined { kind, count } => b.joined(kind, count),
            Event::Gone => {}
        }
    }
    match b.children.pop() {
        Some(NodeOrToken::Node(root)) if b.children.is_empty() => root,
        // The grammar always wraps a text in one node; if it did not, keep every byte.
        last => {
            b.children.extend(last);
            GreenNode::new(SyntaxKind::ERROR.into(), b.children)
        }
    }
}
