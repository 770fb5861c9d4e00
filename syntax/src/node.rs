//! Nodes and tokens of a green tree with their place: two words each, copied freely.
//!
//! Passes that read a whole module (lowering, folding, formatting) walk these; a red
//! [`crate::SyntaxNode`] costs an allocation a step, which a module of 14,500 bindings would feel.

use rowan::{GreenNodeData, GreenTokenData, NodeOrToken, TextRange, TextSize};

use crate::SyntaxKind;

/// A node, and where it begins in the tree it was reached from.
#[derive(Clone, Copy, Debug)]
pub struct Node<'t> {
    green: &'t GreenNodeData,
    start: TextSize,
}

/// A token, and where it begins in the tree it was reached from.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    green: &'t GreenTokenData,
    start: TextSize,
}

/// A child of a node.
pub type Element<'t> = NodeOrToken<Node<'t>, Token<'t>>;

impl<'t> Node<'t> {
    /// The root of a tree that begins at offset 0.
    pub fn root(green: &'t GreenNodeData) -> Node<'t> {
        Node { green, start: TextSize::new(0) }
    }

    /// A node whose text begins at `start`.
    pub fn at(green: &'t GreenNodeData, start: TextSize) -> Node<'t> {
        Node { green, start }
    }

    /// The stored node, which knows no place.
    pub fn green(self) -> &'t GreenNodeData {
        self.green
    }

    /// The kind of the node.
    pub fn kind(self) -> SyntaxKind {
        SyntaxKind::of(self.green.kind())
    }

    /// Where the node begins.
    pub fn start(self) -> TextSize {
        self.start
    }

    /// Byte range of the node's text.
    pub fn range(self) -> TextRange {
        TextRange::at(self.start, self.green.text_len())
    }

    /// Nodes and tokens under this one, in order.
    pub fn elements(self) -> impl DoubleEndedIterator<Item = Element<'t>> + Clone {
        // Each child knows its offset only as the sum of the lengths before it, and iteration from
        // the back needs the sum from the other end.
        Elements {
            children: self.green.children(),
            front: self.start,
            back: self.start + self.green.text_len(),
        }
    }

    /// Nodes under this one, in order.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Node<'t>> + Clone {
        self.elements().filter_map(NodeOrToken::into_node)
    }

    /// Tokens directly under this node, in order.
    pub fn tokens(self) -> impl DoubleEndedIterator<Item = Token<'t>> + Clone {
        self.elements().filter_map(NodeOrToken::into_token)
    }

    /// The first token of `kind` directly under this node.
    pub fn token(self, kind: SyntaxKind) -> Option<Token<'t>> {
        self.tokens().find(|token| token.kind() == kind)
    }

    /// The first node of `kind` directly under this node.
    pub fn child(self, kind: SyntaxKind) -> Option<Node<'t>> {
        self.children().find(|node| node.kind() == kind)
    }

    /// The first token under this node that is no white space or comment.
    pub fn first_token(self) -> Option<Token<'t>> {
        self.elements().find_map(|element| match element {
            NodeOrToken::Node(node) => node.first_token(),
            NodeOrToken::Token(token) => (!token.kind().is_trivia()).then_some(token),
        })
    }

    /// The token at `offset`; of two that touch there, the one that begins there.
    pub fn token_at(self, offset: TextSize) -> Option<Token<'t>> {
        let mut node = self;
        loop {
            let hit = node.elements().find(|element| {
                let range = match element {
                    NodeOrToken::Node(node) => node.range(),
                    NodeOrToken::Token(token) => token.range(),
                };
                range.contains(offset)
            })?;
            match hit {
                NodeOrToken::Node(child) => node = child,
                NodeOrToken::Token(token) => return Some(token),
            }
        }
    }

    /// The first token from `offset` on that is neither space nor a comment.
    pub fn token_from(self, offset: TextSize) -> Option<Token<'t>> {
        let mut offset = offset;
        loop {
            let token = self.token_at(offset)?;
            if !token.kind().is_trivia() {
                return Some(token);
            }
            offset = token.range().end();
        }
    }

    /// This node and the nodes under it that hold `range`, the outermost first.
    pub fn path_to(self, range: TextRange) -> Vec<Node<'t>> {
        let mut path = vec![self];
        let mut node = self;
        while let Some(child) = node.children().find(|child| child.range().contains_range(range)) {
            path.push(child);
            node = child;
        }
        path
    }

    /// This node and all under it, each before its children.
    pub fn descendants(self) -> impl Iterator<Item = Node<'t>> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(node.children().rev());
            Some(node)
        })
    }
}

/// The text of the node, comments and all.
impl std::fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.green.fmt(f)
    }
}

impl<'t> Token<'t> {
    /// The kind of the token.
    pub fn kind(self) -> SyntaxKind {
        SyntaxKind::of(self.green.kind())
    }

    /// The token's text.
    pub fn text(self) -> &'t str {
        self.green.text()
    }

    /// Where the token begins.
    pub fn start(self) -> TextSize {
        self.start
    }

    /// Byte range of the token.
    pub fn range(self) -> TextRange {
        TextRange::at(self.start, self.green.text_len())
    }
}

#[derive(Clone)]
struct Elements<'t> {
    children: rowan::Children<'t>,
    front: TextSize,
    back: TextSize,
}

fn place<'t>(
    child: NodeOrToken<&'t GreenNodeData, &'t GreenTokenData>,
    start: TextSize,
) -> Element<'t> {
    match child {
        NodeOrToken::Node(green) => NodeOrToken::Node(Node { green, start }),
        NodeOrToken::Token(green) => NodeOrToken::Token(Token { green, start }),
    }
}

impl<'t> Iterator for Elements<'t> {
    type Item = Element<'t>;

    fn next(&mut self) -> Option<Element<'t>> {
        let child = self.children.next()?;
        let start = self.front;
        self.front += child.text_len();
        Some(place(child, start))
    }
}

impl DoubleEndedIterator for Elements<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let child = self.children.next_back()?;
        self.back -= child.text_len();
        Some(place(child, self.back))
    }
}
