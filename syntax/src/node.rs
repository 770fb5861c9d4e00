//! Nodes and tokens of a green tree with their place: two words each, copied freely.
//!
//! Passes that read a whole module (lowering, folding, formatting) walk these; a red
//! [`crate::SyntaxNode`] costs an allocation a step, which a module of 14,500 bindings would feel.

use rowan::{GreenNodeData, GreenTokenData, NodeOrToken, TextRange, TextSize};

use crate::{SyntaxKind, SyntaxNode};

/// How many children are rather looked through than searched.
const FEW: usize = 24;

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

    /// Nodes and tokens under this one, from the one before `offset` on: those left out end before it.
    ///
    /// Costs the logarithm of the number of children, where [`Node::elements`] costs the number of
    /// those that are skipped. Blocks of 14,500 statements are looked into once for each finding.
    pub fn elements_near(self, offset: TextSize) -> impl Iterator<Item = Element<'t>> + Clone {
        let mut elements = Elements {
            children: self.green.children(),
            front: self.start,
            back: self.range().end(),
        };
        if let Some((count, start)) = self.index_near(offset)
            && let Some(skipped) = count.checked_sub(1)
        {
            elements.children.nth(skipped);
            elements.front = start;
        }
        elements
    }

    /// Nodes and tokens under this one that end at `offset` or before, the nearest first.
    pub fn elements_before(self, offset: TextSize) -> impl Iterator<Item = Element<'t>> + Clone {
        let (mut count, mut end) = self.index_near(offset).unwrap_or((0, self.start));
        // Of the children from the one on that touches the byte before `offset`, few end before it.
        let mut rest = self.green.children();
        if let Some(skipped) = count.checked_sub(1) {
            rest.nth(skipped);
        }
        for child in rest {
            if end + child.text_len() > offset {
                break;
            }
            end += child.text_len();
            count += 1;
        }
        let mut children = self.green.children();
        if let Some(left_out) = (children.len() - count).checked_sub(1) {
            children.nth_back(left_out);
        }
        Elements { children, front: self.start, back: end }.rev()
    }

    /// The number of a child and its start: the children before it end before `offset`, and few
    /// from it on do. Nothing, where the children are few enough to look through.
    fn index_near(self, offset: TextSize) -> Option<(usize, TextSize)> {
        let at = offset.checked_sub(self.start).filter(|&at| at <= self.green.text_len())?;
        let before = at.checked_sub(TextSize::new(1))?;
        if self.green.children().len() < FEW {
            return None;
        }
        // A stored node does not tell the offsets of its children; its red form finds them.
        let red = SyntaxNode::new_root(self.green.to_owned());
        let found = red.child_or_token_at_range(TextRange::at(before, TextSize::new(1)))?;
        Some((found.index(), self.start + found.text_range().start()))
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
            let mut near = node.elements_near(offset);
            let hit = near.find(|element| match element {
                NodeOrToken::Node(node) => node.range().contains(offset),
                NodeOrToken::Token(token) => token.range().contains(offset),
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
        let inner = |node: Node<'t>| {
            let start = |element: &Element<'t>| match element {
                NodeOrToken::Node(node) => node.start(),
                NodeOrToken::Token(token) => token.start(),
            };
            let near = node.elements_near(range.start());
            let mut near = near.take_while(|element| start(element) <= range.start());
            near.find_map(|element| element.into_node().filter(|n| n.range().contains_range(range)))
        };
        while let Some(child) = inner(node) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Searching finds what looking through all children finds, at each offset.
    #[test]
    fn search_among_many_children_equals_a_scan() {
        let lines: String = (0..60).map(|i| format!("  %{i} = (%x, \"é\");\n\n")).collect();
        for text in [format!("def @main(%x: int32) {{\n{lines}  %x\n}}\n"), lines] {
            let parse = crate::parse(&text);
            let root = Node::root(&parse.green);
            let size = |at: usize| TextSize::new(at as u32);
            let scan = |range: TextRange| {
                let mut path = vec![root];
                let mut node = root;
                while let Some(child) = node.children().find(|c| c.range().contains_range(range)) {
                    path.push(child);
                    node = child;
                }
                path.into_iter().map(|node| (node.kind(), node.range())).collect::<Vec<_>>()
            };
            let found = |range: TextRange| {
                let path = root.path_to(range).into_iter();
                path.map(|node| (node.kind(), node.range())).collect::<Vec<_>>()
            };
            for start in 0..=text.len() {
                for len in [0, 1, 2, 9, 40] {
                    let range = TextRange::new(size(start), size((start + len).min(text.len())));
                    assert_eq!(found(range), scan(range), "{range:?}");
                }
                let place = |element: Element<'_>| match element {
                    NodeOrToken::Node(node) => node.range(),
                    NodeOrToken::Token(token) => token.range(),
                };
                let before: Vec<_> = root.elements_before(size(start)).map(place).collect();
                let all = root.elements().rev().map(place);
                assert_eq!(before, all.filter(|r| r.end() <= size(start)).collect::<Vec<_>>());
                let token = root.token_at(size(start)).map(|token| token.range());
                assert_eq!(token.is_some(), start < text.len(), "{start}");
                assert!(token.is_none_or(|range| range.contains(size(start))), "{start}");
            }
        }
    }
}
