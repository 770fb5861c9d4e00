//! What was built before in a parse, so that it is stored once: tokens by their text, types of
//! tensors by theirs, and small nodes by their children.
//!
//! A module of 14,506 lines has 18,504 tensor types of four kinds, 7,501 names of eight operators
//! and 4,501 tuple types of three kinds. Whoever lowers such a tree can tell by the address that it
//! has seen one before. An interner lives for one parse: one that lived longer would keep every name
//! ever typed.
//!
//! A count of references costs more than a comparison, since it waits for what was written before
//! it: nothing here is cloned but for the tree.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rowan::{GreenNode, GreenToken, NodeOrToken};
use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    SyntaxKind, grammar,
    lexer::{TensorTypes, lex},
    parser::{Input, ParseLimits, Parser},
};

/// A child of a node.
pub(crate) type Element = NodeOrToken<GreenNode, GreenToken>;

#[derive(Default)]
pub(crate) struct Interner<'t> {
    /// Brackets, signs and words, by kind.
    fixed: Vec<Option<GreenToken>>,
    /// One blank: every third token of a printed module.
    blank: Option<GreenToken>,
    /// All other tokens, and where they are by kind and text.
    tokens: Vec<GreenToken>,
    places: HashTable<u32>,
    /// The last tokens of each kind: white space is mostly one line break, and a handful of types
    /// stands in most comments.
    recent: Vec<Recent<'t>>,
    /// Types of tensors, and where they are by text.
    tensors: Vec<GreenNode>,
    tensor_places: FxHashMap<&'t str, u32>,
    recent_tensors: Recent<'t>,
    /// Nodes that tend to come again, each in the slot that its children lead to.
    nodes: Vec<Option<GreenNode>>,
}

/// Where the last texts are that end alike. A comparison is cheaper than a hash.
#[derive(Clone, Default)]
struct Recent<'t>([(&'t str, u32); 8]);

impl<'t> Recent<'t> {
    /// The length tells `(1, 64)` from `(1, 256)`, the end `%12` from `%13`.
    fn slot(text: &str) -> usize {
        let last = text.as_bytes().last().copied().unwrap_or_default();
        (text.len() + usize::from(last)) & 7
    }

    /// No text is empty.
    fn get(&self, text: &str) -> Option<usize> {
        let (known, at) = self.0[Self::slot(text)];
        (known == text).then_some(at as usize)
    }

    fn put(&mut self, text: &'t str, at: usize) {
        self.0[Self::slot(text)] = (text, at as u32);
    }
}

fn hash(kind: rowan::SyntaxKind, text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    (kind.0, text).hash(&mut hasher);
    hasher.finish()
}

/// Slots for nodes that come again.
const SLOTS: usize = 256;

/// Nodes of more children are not looked for.
const MOST_CHILDREN: usize = 12;

/// `nn.dense`, `1`, `axis=-1` and the types: what a module says in many places. Names of variables
/// stand in too few.
fn comes_again(kind: SyntaxKind) -> bool {
    use SyntaxKind::*;
    matches!(
        kind,
        NAME_REF
            | LITERAL
            | ATTR
            | RET_TYPE
            | TENSOR_TYPE
            | TUPLE_TYPE
            | FN_TYPE
            | NAMED_TYPE
            | SHAPE
            | DIM
    )
}

fn address(element: NodeOrToken<&rowan::GreenNodeData, &rowan::GreenTokenData>) -> usize {
    match element {
        NodeOrToken::Node(node) => std::ptr::from_ref(node) as usize,
        NodeOrToken::Token(token) => std::ptr::from_ref(token) as usize,
    }
}

fn borrowed(element: &Element) -> NodeOrToken<&rowan::GreenNodeData, &rowan::GreenTokenData> {
    match element {
        NodeOrToken::Node(node) => NodeOrToken::Node(node),
        NodeOrToken::Token(token) => NodeOrToken::Token(token),
    }
}

impl<'t> Interner<'t> {
    /// Makes room for what a text of so many tokens has.
    pub(crate) fn expect(&mut self, tokens: usize) {
        // About so many tokens of a printed module are names that stand nowhere else.
        let names = tokens / 16;
        self.tokens.reserve(names);
        let known = &self.tokens;
        self.places.reserve(names, |&at| rehash(known, at));
    }

    pub(crate) fn token(&mut self, kind: SyntaxKind, text: &'t str) -> GreenToken {
        // Sections of many megabytes would be hashed for nothing.
        if text.len() > 512 {
            return GreenToken::new(kind.into(), text);
        }
        let slot = kind as usize;
        if self.recent.len() <= slot {
            self.recent.resize(slot + 1, Recent::default());
        }
        if let Some(at) = self.recent[slot].get(text) {
            return self.tokens[at].clone();
        }
        let at = self.token_by_hash(kind.into(), text);
        self.recent[slot].put(text, at);
        self.tokens[at].clone()
    }

    fn token_by_hash(&mut self, kind: rowan::SyntaxKind, text: &str) -> usize {
        let tokens = &mut self.tokens;
        let hash = hash(kind, text);
        let same = |&at: &u32| {
            let known = &tokens[at as usize];
            known.kind() == kind && known.text() == text
        };
        if let Some(&at) = self.places.find(hash, same) {
            return at as usize;
        }
        let at = tokens.len();
        tokens.push(GreenToken::new(kind, text));
        self.places.insert_unique(hash, at as u32, |&at| rehash(tokens, at));
        at
    }

    /// A token of a kind that has one spelling, if it was built before.
    pub(crate) fn fixed(&self, kind: SyntaxKind) -> Option<GreenToken> {
        self.fixed.get(kind as usize).cloned().flatten()
    }

    pub(crate) fn blank(&mut self) -> GreenToken {
        self.blank
            .get_or_insert_with(|| GreenToken::new(SyntaxKind::WHITESPACE.into(), " "))
            .clone()
    }

    pub(crate) fn fix(&mut self, kind: SyntaxKind, text: &str) -> GreenToken {
        let slot = kind as usize;
        if self.fixed.len() <= slot {
            self.fixed.resize(slot + 1, None);
        }
        self.fixed[slot].insert(GreenToken::new(kind.into(), text)).clone()
    }

    /// `Tensor[(1, 64), float32]`, which the lexer hands over in one piece.
    pub(crate) fn tensor(&mut self, text: &'t str) -> GreenNode {
        if let Some(at) = self.recent_tensors.get(text) {
            return self.tensors[at].clone();
        }
        let at = self.tensor_by_hash(text);
        self.recent_tensors.put(text, at);
        self.tensors[at].clone()
    }

    fn tensor_by_hash(&mut self, text: &'t str) -> usize {
        if let Some(&at) = self.tensor_places.get(text) {
            return at as usize;
        }
        let tokens = lex(text, TensorTypes::Spelled);
        let input = Input::new(text, tokens);
        let mut parser = Parser::new(input, ParseLimits::default(), std::mem::take(self));
        grammar::types::tensor_type(&mut parser);
        let parsed = parser.finish();
        *self = parsed.interner;
        let at = self.tensors.len();
        self.tensors.push(parsed.green);
        self.tensor_places.insert(text, at as u32);
        at
    }

    /// The node of `children` from `from` on, which are taken out.
    pub(crate) fn node(
        &mut self,
        kind: SyntaxKind,
        children: &mut Vec<Element>,
        from: usize,
    ) -> GreenNode {
        let kind_of_tree = kind.into();
        if !comes_again(kind) || children.len() - from > MOST_CHILDREN {
            return match children.len() - from {
                // Half of all nodes are a name or a number in its role.
                1 => GreenNode::new(kind_of_tree, children.pop()),
                _ => GreenNode::new(kind_of_tree, children.drain(from..)),
            };
        }
        if self.nodes.is_empty() {
            self.nodes.resize(SLOTS, None);
        }
        let mut hasher = FxHasher::default();
        hasher.write_u8(kind as u8);
        for child in &children[from..] {
            hasher.write_usize(address(borrowed(child)));
        }
        let slot = &mut self.nodes[hasher.finish() as usize % SLOTS];
        if let Some(known) = slot
            && known.kind() == kind_of_tree
            && known.children().len() == children.len() - from
            && known
                .children()
                .zip(&children[from..])
                .all(|(a, b)| address(a) == address(borrowed(b)))
        {
            children.truncate(from);
            return known.clone();
        }
        slot.insert(GreenNode::new(kind_of_tree, children.drain(from..))).clone()
    }
}

fn rehash(tokens: &[GreenToken], at: u32) -> u64 {
    let token = &tokens[at as usize];
    hash(token.kind(), token.text())
}
