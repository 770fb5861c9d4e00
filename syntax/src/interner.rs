//! Hash-consing of tokens, tensor types and small nodes during a parse.
//!
//! A module of 14,506 lines has 18,504 tensor types of which four are distinct, 7,501 references to
//! eight operators and 4,501 tuple types of which three are distinct. Each is stored once, and
//! lowering recognises a repeated one by its address. An interner lives for one parse; a global one
//! would keep every name ever typed.
//!
//! Lookups compare text and never clone a green token: a reference count is an atomic operation,
//! and costs more than the comparison. Only elements placed in the tree are cloned.

use std::{
    borrow::Cow,
    hash::{Hash, Hasher},
};

use hashbrown::HashTable;
use rowan::{GreenNode, GreenNodeData, GreenToken, GreenTokenData, NodeOrToken};
use rustc_hash::{FxHashMap, FxHasher};

use crate::SyntaxKind;

/// An owned child of a green node.
pub(crate) type Element = NodeOrToken<GreenNode, GreenToken>;

/// A borrowed child of a green node.
pub(crate) type Child<'a> = NodeOrToken<&'a GreenNodeData, &'a GreenTokenData>;

#[derive(Default)]
pub(crate) struct Interner<'t> {
    /// Tokens with a fixed spelling, by kind.
    fixed: Vec<Option<GreenToken>>,
    /// A single space: every third token of a printed module.
    space: Option<GreenToken>,
    /// All other tokens, and their indices by kind and text.
    tokens: Vec<GreenToken>,
    token_indices: HashTable<u32>,
    /// The last repeated node of each of these tokens alone.
    leaves: Vec<Option<GreenNode>>,
    /// Caches of recent tokens by kind: most white space is one line break and an indentation, and
    /// most comments show one of a few types.
    recent: Vec<RecentTexts<'t>>,
    /// Tensor types, and their indices by text.
    tensors: Vec<GreenNode>,
    tensor_indices: FxHashMap<Cow<'t, str>, u32>,
    recent_tensors: RecentTexts<'t>,
    /// A direct-mapped cache of shareable nodes, by the hash of their children's addresses.
    nodes: Vec<Option<GreenNode>>,
}

/// A direct-mapped cache from texts to indices, because a comparison is cheaper than a hash.
#[derive(Clone, Default)]
struct RecentTexts<'t>([(&'t str, u32); 8]);

impl<'t> RecentTexts<'t> {
    /// Returns the slot of a text: its length separates `(1, 64)` from `(1, 256)`, its last byte
    /// `%12` from `%13`.
    fn slot(text: &str) -> usize {
        let last = text.as_bytes().last().copied().unwrap_or_default();
        (text.len() + usize::from(last)) & 7
    }

    /// Returns the index of a text, which must not be empty.
    fn get(&self, text: &str) -> Option<usize> {
        let (cached, index) = self.0[Self::slot(text)];
        (cached == text).then_some(index as usize)
    }

    fn insert(&mut self, text: &'t str, index: usize) {
        self.0[Self::slot(text)] = (text, index as u32);
    }
}

fn hash(kind: rowan::SyntaxKind, text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    (kind.0, text).hash(&mut hasher);
    hasher.finish()
}

/// Maximum length of interned tokens, in bytes: hashing a metadata section of many megabytes would
/// be wasted.
const MAX_TOKEN_LEN: usize = 512;

/// Maximum number of nodes and tokens taken over from an older tree.
const MAX_SEEDS: usize = 4_000;

/// Size of the node cache.
const NODE_SLOTS: usize = 256;

/// Maximum number of children of interned nodes.
const MAX_CHILDREN: usize = 12;

/// Returns true for the kinds of nodes that a module repeats: `nn.dense`, `1`, `axis=-1`, types.
/// Variables repeat too rarely.
fn is_shareable(kind: SyntaxKind, first: Option<Child<'_>>) -> bool {
    use SyntaxKind::*;
    match kind {
        NAME_REF | LITERAL | ATTR | RET_TYPE | TENSOR_TYPE | TUPLE_TYPE | FN_TYPE | NAMED_TYPE
        | SHAPE | DIM => true,
        // The name of an attribute.
        NAME => first.is_some_and(|child| child.kind() == IDENT.into()),
        _ => false,
    }
}

/// Returns true for the kinds of nodes of a single token that a module repeats: those of
/// [`is_shareable`] and uses of parameters. Most graph variables are used once.
fn is_repeated_leaf(kind: SyntaxKind, token: SyntaxKind) -> bool {
    use SyntaxKind::*;
    match kind {
        NAME => token == IDENT,
        NAME_REF | LITERAL | LOCAL_REF | GLOBAL_REF => true,
        _ => false,
    }
}

/// Returns the address of an element, which identifies interned elements.
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
    /// Reserves memory for a text of `tokens` tokens.
    pub(crate) fn reserve(&mut self, tokens: usize) {
        // In a bare chain of bindings one token in 13 is a distinct name, in other modules fewer.
        let names = tokens / 13;
        self.tokens.reserve(names);
        let tokens = &self.tokens;
        self.token_indices.reserve(names, |&index| rehash(tokens, index));
    }

    pub(crate) fn token(&mut self, kind: SyntaxKind, text: &'t str) -> GreenToken {
        if text.len() > MAX_TOKEN_LEN {
            return GreenToken::new(kind.into(), text);
        }
        let index = self.recent_index(kind, text);
        self.tokens[index].clone()
    }

    /// Returns the node of `kind` of a single token without a fixed spelling.
    pub(crate) fn leaf(&mut self, kind: SyntaxKind, token: SyntaxKind, text: &'t str) -> GreenNode {
        if text.len() > MAX_TOKEN_LEN || !is_repeated_leaf(kind, token) {
            return GreenNode::new(kind.into(), Some(self.token(token, text).into()));
        }
        let index = self.recent_index(token, text);
        if let Some(Some(known)) = self.leaves.get(index)
            && known.kind() == kind.into()
        {
            return known.clone();
        }
        let node = GreenNode::new(kind.into(), Some(self.tokens[index].clone().into()));
        *slot(&mut self.leaves, index) = Some(node.clone());
        node
    }

    /// Returns the index of a token whose text is neither long nor empty.
    fn recent_index(&mut self, kind: SyntaxKind, text: &'t str) -> usize {
        if let Some(recent) = self.recent.get(kind as usize)
            && let Some(index) = recent.get(text)
        {
            return index;
        }
        let index = self.token_index(kind.into(), text, || GreenToken::new(kind.into(), text));
        slot(&mut self.recent, kind as usize).insert(text, index);
        index
    }

    /// Returns the index of a token, which `build` creates if it is new.
    fn token_index(
        &mut self,
        kind: rowan::SyntaxKind,
        text: &str,
        build: impl FnOnce() -> GreenToken,
    ) -> usize {
        let tokens = &mut self.tokens;
        let hash = hash(kind, text);
        let is_equal = |&index: &u32| {
            let token = &tokens[index as usize];
            token.kind() == kind && token.text() == text
        };
        if let Some(&index) = self.token_indices.find(hash, is_equal) {
            return index as usize;
        }
        let index = tokens.len();
        tokens.push(build());
        self.token_indices.insert_unique(hash, index as u32, |&index| rehash(tokens, index));
        index
    }

    /// Returns the token of a kind with a fixed spelling, if it was created before.
    pub(crate) fn fixed(&self, kind: SyntaxKind) -> Option<GreenToken> {
        match self.fixed.get(kind as usize) {
            Some(Some(token)) => Some(token.clone()),
            _ => None,
        }
    }

    /// Returns the token for a single space.
    pub(crate) fn space(&mut self) -> GreenToken {
        self.space
            .get_or_insert_with(|| GreenToken::new(SyntaxKind::WHITESPACE.into(), " "))
            .clone()
    }

    /// Creates the token of a kind with a fixed spelling.
    pub(crate) fn insert_fixed(&mut self, kind: SyntaxKind, text: &str) -> GreenToken {
        slot(&mut self.fixed, kind as usize).insert(GreenToken::new(kind.into(), text)).clone()
    }

    /// Returns the number of the tree of a tensor type such as `Tensor[(1, 64), float32]`, if it is
    /// known.
    pub(crate) fn find_tensor(&mut self, text: &'t str) -> Option<u32> {
        if let Some(index) = self.recent_tensors.get(text) {
            return Some(index as u32);
        }
        let index = *self.tensor_indices.get(text)?;
        self.recent_tensors.insert(text, index as usize);
        Some(index)
    }

    /// Adds the tree of a tensor type, and returns its number.
    pub(crate) fn insert_tensor(&mut self, text: &'t str, tree: GreenNode) -> u32 {
        let index = self.tensors.len();
        self.tensors.push(tree);
        self.tensor_indices.insert(text.into(), index as u32);
        self.recent_tensors.insert(text, index);
        index as u32
    }

    /// Returns the tree of a tensor type by its number.
    pub(crate) fn tensor(&self, number: u32) -> Option<GreenNode> {
        self.tensors.get(number as usize).cloned()
    }

    /// Creates an interner seeded with up to [`MAX_SEEDS`] elements of an older tree, so that an
    /// edited statement shares its brackets and types with its previous version.
    pub(crate) fn seeded<'a>(elements: impl Iterator<Item = Child<'a>>) -> Interner<'t> {
        let mut interner = Interner::default();
        let mut stack: Vec<Child<'a>> = elements.collect();
        stack.reverse();
        for _ in 0..MAX_SEEDS {
            match stack.pop() {
                Some(NodeOrToken::Token(token)) => interner.seed_token(token),
                Some(NodeOrToken::Node(node)) => {
                    interner.seed_node(node);
                    stack.extend(node.children().rev());
                }
                None => break,
            }
        }
        interner
    }

    fn seed_token(&mut self, token: &GreenTokenData) {
        let kind = SyntaxKind::of(token.kind());
        if kind.is_fixed() {
            slot(&mut self.fixed, kind as usize).get_or_insert_with(|| token.to_owned());
        } else if kind == SyntaxKind::WHITESPACE && token.text() == " " {
            self.space.get_or_insert_with(|| token.to_owned());
        } else if token.text().len() <= MAX_TOKEN_LEN {
            self.token_index(token.kind(), token.text(), || token.to_owned());
        }
    }

    fn seed_node(&mut self, node: &GreenNodeData) {
        let kind = SyntaxKind::of(node.kind());
        if kind == SyntaxKind::TENSOR_TYPE {
            let next = self.tensors.len() as u32;
            let index = self.tensor_indices.entry(node.to_string().into()).or_insert(next);
            if *index == next {
                self.tensors.push(node.to_owned());
            }
        }
        let mut children = node.children();
        if let (Some(NodeOrToken::Token(token)), None) = (children.next(), children.next())
            && !SyntaxKind::of(token.kind()).is_fixed()
        {
            let token_kind = SyntaxKind::of(token.kind());
            if is_repeated_leaf(kind, token_kind) && token.text().len() <= MAX_TOKEN_LEN {
                let index = self.token_index(token.kind(), token.text(), || token.to_owned());
                slot(&mut self.leaves, index).get_or_insert_with(|| node.to_owned());
            }
        } else if is_shareable(kind, node.children().next())
            && node.children().len() <= MAX_CHILDREN
        {
            self.node_slot(kind, node.children()).get_or_insert_with(|| node.to_owned());
        }
    }

    /// Returns the cache slot of a node with these children.
    fn node_slot<'a>(
        &mut self,
        kind: SyntaxKind,
        children: impl Iterator<Item = Child<'a>>,
    ) -> &mut Option<GreenNode> {
        if self.nodes.is_empty() {
            self.nodes.resize(NODE_SLOTS, None);
        }
        let mut hasher = FxHasher::default();
        hasher.write_u8(kind as u8);
        children.for_each(|child| hasher.write_usize(address(child)));
        &mut self.nodes[hasher.finish() as usize % NODE_SLOTS]
    }

    /// Moves the elements of `children` from index `from` on into a node.
    pub(crate) fn node(
        &mut self,
        kind: SyntaxKind,
        children: &mut Vec<Element>,
        from: usize,
    ) -> GreenNode {
        let raw_kind = kind.into();
        if !is_shareable(kind, children.get(from).map(borrowed))
            || children.len() - from > MAX_CHILDREN
        {
            return match children.len() - from {
                // Half of all nodes wrap a single token; popping it is faster than draining.
                1 => GreenNode::new(raw_kind, children.pop()),
                _ => GreenNode::new(raw_kind, children.drain(from..)),
            };
        }
        let slot = self.node_slot(kind, children[from..].iter().map(borrowed));
        if let Some(cached) = slot
            && cached.kind() == raw_kind
            && cached.children().len() == children.len() - from
            && cached
                .children()
                .zip(&children[from..])
                .all(|(a, b)| address(a) == address(borrowed(b)))
        {
            children.truncate(from);
            return cached.clone();
        }
        slot.insert(GreenNode::new(raw_kind, children.drain(from..))).clone()
    }
}

/// Returns the element with an index, with those before it if they are missing.
fn slot<T: Clone + Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

fn rehash(tokens: &[GreenToken], index: u32) -> u64 {
    let token = &tokens[index as usize];
    hash(token.kind(), token.text())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Edit, TextRange, parse};

    /// Returns the addresses of the tokens and shareable nodes of a tree.
    fn addresses(green: &GreenNodeData) -> HashSet<usize> {
        let mut addresses = HashSet::new();
        let mut stack = vec![green];
        while let Some(node) = stack.pop() {
            for child in node.children() {
                match child {
                    NodeOrToken::Node(inner) => {
                        stack.push(inner);
                        if is_shareable(SyntaxKind::of(inner.kind()), inner.children().next()) {
                            addresses.insert(address(child));
                        }
                    }
                    NodeOrToken::Token(_) => {
                        addresses.insert(address(child));
                    }
                }
            }
        }
        addresses
    }

    #[test]
    fn equal_tokens_and_nodes_are_stored_once() {
        let parse = parse("def @f() {\n  nn.relu(nn.relu(1, axis=1), axis=1)\n}\n");
        let addresses = addresses(&parse.green);
        // The tokens `def`, ` `, `@f`, `(`, `)`, `{`, `nn.relu`, `1`, `,`, `axis`, `=`, `}` and two
        // line breaks; the nodes `nn.relu`, `1`, `axis` and `axis=1`.
        assert_eq!(addresses.len(), 18, "{:#?}", parse.syntax());
    }

    #[test]
    fn edited_statement_shares_elements_with_its_previous_version() {
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
            now = now.reparse_part(&text, &edit).expect("a part is enough");
        }
        assert_eq!(now, before);
        let (before, now) = (addresses(&before.green), addresses(&now.green));
        // The token `multiply` and the node around it were replaced twice.
        assert_eq!(now.difference(&before).count(), 2);
    }
}
