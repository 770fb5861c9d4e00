//! Cursors over a green tree: a reference and an offset, freely copied.
//!
//! Passes over a whole module (lowering, folding, formatting) use them instead of red
//! [`crate::SyntaxNode`]s, which cost one allocation per step.

use rowan::{GreenNodeData, GreenTokenData, NodeOrToken, TextRange, TextSize};

use crate::{SyntaxKind, SyntaxNode};

/// Minimum number of children for which a binary search beats a scan.
const MIN_SEARCH: usize = 24;

/// A node and its offset in the tree in which it was found.
#[derive(Clone, Copy, Debug)]
pub struct Node<'t> {
    green: &'t GreenNodeData,
    start: TextSize,
}

/// A token and its offset in the tree in which it was found.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    green: &'t GreenTokenData,
    start: TextSize,
}

/// A child of a node.
pub type Element<'t> = NodeOrToken<Node<'t>, Token<'t>>;

impl<'t> Node<'t> {
    /// Returns a cursor at the root of a tree.
    pub fn root(green: &'t GreenNodeData) -> Node<'t> {
        Node { green, start: TextSize::new(0) }
    }

    /// Returns a cursor at a node that begins at offset `start`.
    pub fn at(green: &'t GreenNodeData, start: TextSize) -> Node<'t> {
        Node { green, start }
    }

    /// Returns the green node, which is independent of its offset.
    pub fn green(self) -> &'t GreenNodeData {
        self.green
    }

    /// Returns the kind of the node.
    #[inline]
    pub fn kind(self) -> SyntaxKind {
        SyntaxKind::of(self.green.kind())
    }

    /// Returns the start offset of the node.
    pub fn start(self) -> TextSize {
        self.start
    }

    /// Returns the byte range of the node.
    #[inline]
    pub fn range(self) -> TextRange {
        TextRange::at(self.start, self.green.text_len())
    }

    /// Returns the child nodes and tokens in order.
    #[inline]
    pub fn elements(self) -> impl DoubleEndedIterator<Item = Element<'t>> + Clone {
        Elements {
            children: self.green.children(),
            front: self.start,
            back: self.start + self.green.text_len(),
        }
    }

    /// Returns the child nodes and tokens without the first `count`, whose text has the length `len`.
    pub fn elements_from(
        self,
        count: usize,
        len: TextSize,
    ) -> impl Iterator<Item = Element<'t>> + Clone {
        let mut children = self.green.children();
        if let Some(skipped) = count.checked_sub(1) {
            children.nth(skipped);
        }
        Elements { children, front: self.start + len, back: self.range().end() }
    }

    /// Returns the child nodes and tokens from about `offset` on: all that are skipped end before
    /// it.
    ///
    /// The skip is a binary search. [`Node::elements`] would be linear, and blocks of 14,500
    /// statements are searched once per diagnostic.
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

    /// Returns the child nodes and tokens that end at or before `offset`, the nearest first.
    pub fn elements_before(self, offset: TextSize) -> impl Iterator<Item = Element<'t>> + Clone {
        let (mut count, mut end) = self.index_near(offset).unwrap_or((0, self.start));
        // `index_near` is a lower bound, and at most a few children short.
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

    /// Returns the index and start of the child that contains the byte before `offset`, or `None`
    /// if a scan is as fast as the search.
    fn index_near(self, offset: TextSize) -> Option<(usize, TextSize)> {
        let at = offset.checked_sub(self.start).filter(|&at| at <= self.green.text_len())?;
        let before = at.checked_sub(TextSize::new(1))?;
        if self.green.children().len() < MIN_SEARCH {
            return None;
        }
        // Green nodes store the relative offsets of their children, but only red ones expose them.
        let red = SyntaxNode::new_root(self.green.to_owned());
        let found = red.child_or_token_at_range(TextRange::at(before, TextSize::new(1)))?;
        Some((found.index(), self.start + found.text_range().start()))
    }

    /// Returns the child nodes in order.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Node<'t>> + Clone {
        self.elements().filter_map(NodeOrToken::into_node)
    }

    /// Returns the child tokens in order.
    pub fn tokens(self) -> impl DoubleEndedIterator<Item = Token<'t>> + Clone {
        self.elements().filter_map(NodeOrToken::into_token)
    }

    /// Returns the first child token of `kind`.
    pub fn token(self, kind: SyntaxKind) -> Option<Token<'t>> {
        self.tokens().find(|token| token.kind() == kind)
    }

    /// Returns the first child node of `kind`.
    pub fn child(self, kind: SyntaxKind) -> Option<Node<'t>> {
        self.children().find(|node| node.kind() == kind)
    }

    /// Returns the first token of the subtree that is not trivia.
    pub fn first_token(self) -> Option<Token<'t>> {
        self.elements().find_map(|element| match element {
            NodeOrToken::Node(node) => node.first_token(),
            NodeOrToken::Token(token) => (!token.kind().is_trivia()).then_some(token),
        })
    }

    /// Returns the token at `offset`; between two tokens, the right one.
    pub fn token_at(self, offset: TextSize) -> Option<Token<'t>> {
        let mut node = self;
        loop {
            let mut near = node.elements_near(offset);
            let found = near.find(|element| match element {
                NodeOrToken::Node(node) => node.range().contains(offset),
                NodeOrToken::Token(token) => token.range().contains(offset),
            })?;
            match found {
                NodeOrToken::Node(child) => node = child,
                NodeOrToken::Token(token) => return Some(token),
            }
        }
    }

    /// Returns the first token at or after `offset` that is not trivia.
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

    /// Returns this node and its descendants that contain `range`, the outermost first.
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

    /// Returns this node and its descendants in preorder.
    pub fn descendants(self) -> impl Iterator<Item = Node<'t>> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let node = stack.pop()?;
            stack.extend(node.children().rev());
            Some(node)
        })
    }
}

/// Displays the source text, comments included.
impl std::fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.green.fmt(f)
    }
}

impl<'t> Token<'t> {
    /// Returns the kind of the token.
    pub fn kind(self) -> SyntaxKind {
        SyntaxKind::of(self.green.kind())
    }

    /// Returns the token's text.
    pub fn text(self) -> &'t str {
        self.green.text()
    }

    /// Returns the start offset of the token.
    pub fn start(self) -> TextSize {
        self.start
    }

    /// Returns the byte range of the token.
    pub fn range(self) -> TextRange {
        TextRange::at(self.start, self.green.text_len())
    }
}

/// An iterator over children. Green children have no absolute offsets, so it keeps one running sum
/// for each end.
#[derive(Clone)]
struct Elements<'t> {
    children: rowan::Children<'t>,
    front: TextSize,
    back: TextSize,
}

fn element<'t>(
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

    // Passes over a module call it for each element of the tree.
    #[inline]
    fn next(&mut self) -> Option<Element<'t>> {
        let child = self.children.next()?;
        let start = self.front;
        self.front += child.text_len();
        Some(element(child, start))
    }
}

impl DoubleEndedIterator for Elements<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let child = self.children.next_back()?;
        self.back -= child.text_len();
        Some(element(child, self.back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                let range_of = |element: Element<'_>| match element {
                    NodeOrToken::Node(node) => node.range(),
                    NodeOrToken::Token(token) => token.range(),
                };
                let before: Vec<_> = root.elements_before(size(start)).map(range_of).collect();
                let all = root.elements().rev().map(range_of);
                assert_eq!(before, all.filter(|r| r.end() <= size(start)).collect::<Vec<_>>());
                let token = root.token_at(size(start)).map(|token| token.range());
                assert_eq!(token.is_some(), start < text.len(), "{start}");
                assert!(token.is_none_or(|range| range.contains(size(start))), "{start}");
            }
        }
    }
}
