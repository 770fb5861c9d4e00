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

use std::{
    borrow::Cow,
    hash::{Hash, Hasher},
};

use hashbrown::HashTable;
use rowan::{GreenNode, GreenNodeData, GreenToken, GreenTokenData, NodeOrToken};
use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    SyntaxKind, grammar,
    lexer::{TensorTypes, lex},
    parser::{Input, ParseLimits, Parser},
};

/// A child of a node.
pub(crate) type Element = NodeOrToken<GreenNode, GreenToken>;

/// A child of a node of some tree.
pub(crate) type Child<'a> = NodeOrToken<&'a GreenNodeData, &'a GreenTokenData>;

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
    tensor_places: FxHashMap<Cow<'t, str>, u32>,
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

/// Longer tokens are not looked for.
const LONGEST: usize = 512;

/// So many nodes and tokens of an older tree are learned.
const MOST_KNOWN: usize = 4_000;

/// Slots for nodes that come again.
const SLOTS: usize = 256;

/// Nodes of more children are not looked for.
const MOST_CHILDREN: usize = 12;

/// `nn.dense`, `1`, `axis=-1` and the types: what a module says in many places. Names of variables
/// stand in too few.
fn comes_again(kind: SyntaxKind, first: Option<Child<'_>>) -> bool {
    use SyntaxKind::*;
    match kind {
        NAME_REF | LITERAL | ATTR | RET_TYPE | TENSOR_TYPE | TUPLE_TYPE | FN_TYPE | NAMED_TYPE
        | SHAPE | DIM => true,
        // Of an attribute.
        NAME => first.is_some_and(|child| child.kind() == IDENT.into()),
        _ => false,
    }
}

/// What tells two children apart that may be equal.
pub(crate) fn address(element: Child<'_>) -> usize {
    match element {
        NodeOrToken::Node(node) => std::ptr::from_ref(node) as usize,
        NodeOrToken::Token(token) => std::ptr::from_ref(token) as usize,
    }
}

pub(crate) fn borrowed(element: &Element) -> Child<'_> {
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
        if text.len() > LONGEST {
            return GreenToken::new(kind.into(), text);
        }
        let slot = kind as usize;
        if self.recent.len() <= slot {
            self.recent.resize(slot + 1, Recent::default());
        }
        if let Some(at) = self.recent[slot].get(text) {
            return self.tokens[at].clone();
        }
        let at = self.place(kind.into(), text, || GreenToken::new(kind.into(), text));
        self.recent[slot].put(text, at);
        self.tokens[at].clone()
    }

    /// Where the token is; `build` makes it if it is nowhere.
    fn place(
        &mut self,
        kind: rowan::SyntaxKind,
        text: &str,
        build: impl FnOnce() -> GreenToken,
    ) -> usize {
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
        tokens.push(build());
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
        self.tensor_places.insert(text.into(), at as u32);
        at
    }

    /// An interner that knows what stands in `pieces` of an older tree, as far as that is soon told:
    /// the statement that is typed in shares its brackets and types with itself as it was.
    pub(crate) fn knowing<'a>(pieces: impl Iterator<Item = Child<'a>>) -> Interner<'t> {
        let mut interner = Interner::default();
        let mut left = MOST_KNOWN;
        let mut open: Vec<Child<'a>> = pieces.collect();
        open.reverse();
        while let Some(piece) = open.pop() {
            if left == 0 {
                break;
            }
            left -= 1;
            match piece {
                NodeOrToken::Token(token) => interner.learn_token(token),
                NodeOrToken::Node(node) => {
                    interner.learn_node(node);
                    open.extend(node.children().rev());
                }
            }
        }
        interner
    }

    fn learn_token(&mut self, token: &GreenTokenData) {
        let kind = SyntaxKind::of(token.kind());
        if kind.is_fixed() {
            let slot = kind as usize;
            if self.fixed.len() <= slot {
                self.fixed.resize(slot + 1, None);
            }
            self.fixed[slot].get_or_insert_with(|| token.to_owned());
        } else if kind == SyntaxKind::WHITESPACE && token.text() == " " {
            self.blank.get_or_insert_with(|| token.to_owned());
        } else if token.text().len() <= LONGEST {
            self.place(token.kind(), token.text(), || token.to_owned());
        }
    }

    fn learn_node(&mut self, node: &GreenNodeData) {
        let kind = SyntaxKind::of(node.kind());
        if kind == SyntaxKind::TENSOR_TYPE {
            let at = self.tensors.len() as u32;
            let known = self.tensor_places.entry(node.to_string().into()).or_insert(at);
            if *known == at {
                self.tensors.push(node.to_owned());
            }
        }
        if comes_again(kind, node.children().next()) && node.children().len() <= MOST_CHILDREN {
            self.slot(kind, node.children()).get_or_insert_with(|| node.to_owned());
        }
    }

    /// Where a node of these children is if it was built before.
    fn slot<'a>(
        &mut self,
        kind: SyntaxKind,
        children: impl Iterator<Item = Child<'a>>,
    ) -> &mut Option<GreenNode> {
        if self.nodes.is_empty() {
            self.nodes.resize(SLOTS, None);
        }
        let mut hasher = FxHasher::default();
        hasher.write_u8(kind as u8);
        children.for_each(|child| hasher.write_usize(address(child)));
        &mut self.nodes[hasher.finish() as usize % SLOTS]
    }

    /// The node of `children` from `from` on, which are taken out.
    pub(crate) fn node(
        &mut self,
        kind: SyntaxKind,
        children: &mut Vec<Element>,
        from: usize,
    ) -> GreenNode {
        let kind_of_tree = kind.into();
        if !comes_again(kind, children.get(from).map(borrowed))
            || children.len() - from > MOST_CHILDREN
        {
            return match children.len() - from {
                // Half of all nodes are a name or a number in its role.
                1 => GreenNode::new(kind_of_tree, children.pop()),
                _ => GreenNode::new(kind_of_tree, children.drain(from..)),
            };
        }
        let slot = self.slot(kind, children[from..].iter().map(borrowed));
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Edit, ParseLimits, TextRange, parse};

    /// The tokens of a tree and its nodes that come again, by address.
    fn stored(green: &GreenNodeData) -> HashSet<usize> {
        let mut stored = HashSet::new();
        let mut open = vec![green];
        while let Some(node) = open.pop() {
            for child in node.children() {
                match child {
                    NodeOrToken::Node(inner) => {
                        open.push(inner);
                        if comes_again(SyntaxKind::of(inner.kind()), inner.children().next()) {
                            stored.insert(address(child));
                        }
                    }
                    NodeOrToken::Token(_) => {
                        stored.insert(address(child));
                    }
                }
            }
        }
        stored
    }

    #[test]
    fn what_comes_again_is_stored_once() {
        let parse = parse("def @f() {\n  nn.relu(nn.relu(1, axis=1), axis=1)\n}\n");
        let names = stored(&parse.green);
        // The tokens `def`, ` `, `@f`, `(`, `)`, `{`, `nn.relu`, `1`, `,`, `axis`, `=`, `}` and two
        // line breaks; the nodes `nn.relu`, `1`, `axis` and `axis=1`.
        assert_eq!(names.len(), 18, "{:#?}", parse.syntax());
    }

    #[test]
    fn a_statement_that_is_typed_in_is_made_of_what_it_was() {
        let mut text = "def @f(%x: Tensor[(1, 64), float32]) {\n  let %a = add(%x, %x);\n  \
                        let %b: (Tensor[(1, 64), float32],) = (multiply(%a, %x),);\n  %b\n}\n"
            .to_owned();
        let before = parse(&text);
        let at = crate::TextSize::new(text.find("multiply").expect("it is there") as u32);
        let mut now = before.clone();
        for edit in [
            Edit { range: TextRange::empty(at), insert: "q".into() },
            Edit { range: TextRange::at(at, 1.into()), insert: String::new() },
        ] {
            edit.apply(&mut text);
            now = now.reparse_part(&text, &edit, ParseLimits::default()).expect("a part is enough");
        }
        assert_eq!(now, before);
        let (before, now) = (stored(&before.green), stored(&now.green));
        let new = now.difference(&before).count();
        // `multiply` came and went, and with it the node around it.
        assert_eq!(new, 2);
    }
}
