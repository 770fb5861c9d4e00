//! Cursors over a green tree: a reference and an offset, freely copied.
//!
//! Passes over a whole module (lowering, folding, formatting) use them instead of red
//! [`crate::SyntaxNode`]s, which cost one allocation per step.

use rowan::{GreenNodeData, GreenTokenData, NodeOrToken, TextRange, TextSize};

use crate::{
    SyntaxKind, SyntaxNode,
    chunk::as_chunk,
    interner::{Child, address},
};

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

/// Returns the byte range of a child.
pub fn element_range(element: &Element<'_>) -> TextRange {
    match element {
        NodeOrToken::Node(node) => node.range(),
        NodeOrToken::Token(token) => token.range(),
    }
}

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

    /// Returns the child nodes and tokens in order. Those of a chunk are the children of its block.
    #[inline]
    pub fn elements(self) -> impl DoubleEndedIterator<Item = Element<'t>> + Clone {
        Elements::of(self)
    }

    /// Returns the child nodes and tokens of a node that is not a block, and therefore has no chunks to look for. A pass
    /// over a module is a tenth faster with it.
    #[inline]
    pub fn parts(self) -> impl Iterator<Item = Element<'t>> + Clone {
        debug_assert!(self.kind() != SyntaxKind::BLOCK, "a block may have chunks");
        let mut start = self.start;
        self.green.children().map(move |child| {
            let element = element(child, start);
            start += child.text_len();
            element
        })
    }

    /// Returns the child nodes and tokens from about `offset` on: all that are skipped end before
    /// it.
    ///
    /// The skip is a binary search. [`Node::elements`] would be linear, and blocks of 14,500
    /// statements are searched once per diagnostic.
    pub fn elements_near(self, offset: TextSize) -> impl Iterator<Item = Element<'t>> + Clone {
        let mut elements = Elements::of(self);
        let Some(at) = offset.checked_sub(self.start) else { return elements };
        let Some(lists) = &mut elements.lists else {
            elements.front += skip(self.green, &mut elements.children, at);
            return elements;
        };
        let skipped = skip(self.green, &mut lists.rest, at);
        elements.front += skipped;
        if let Some(chunk) = lists.rest.clone().next().and_then(as_chunk) {
            lists.rest.next();
            elements.children = chunk.children();
            elements.front += skip(chunk, &mut elements.children, at - skipped);
        }
        elements
    }

    /// Returns the child nodes and tokens that end at or before `offset`, the nearest first.
    pub fn elements_before(self, offset: TextSize) -> impl Iterator<Item = Element<'t>> + Clone {
        let at = offset.checked_sub(self.start).unwrap_or_default();
        let (children, mut end, chunk) = children_before(self.green, at);
        let mut elements = Elements::of(self);
        match &mut elements.lists {
            Some(lists) => {
                lists.rest = children;
                if let Some(chunk) = chunk {
                    let (last, inside, _) = children_before(chunk, at - end);
                    lists.last = last;
                    end += inside;
                }
            }
            None => elements.children = children,
        }
        elements.back = self.start + end;
        elements.rev()
    }

    /// Returns the lengths of the text at both ends whose elements are the same, by address, as those of another node.
    pub fn shared_ends(self, other: Node<'_>) -> (TextSize, TextSize) {
        let shorter = self.green.text_len().min(other.green.text_len());
        let front = shared(self.green.children(), other.green.children(), shorter, &|chunk| {
            chunk.children()
        });
        let back = shorter - front;
        let (a, b) = (self.green.children().rev(), other.green.children().rev());
        (front, shared(a, b, back, &|chunk| chunk.children().rev()))
    }

    /// Returns the child nodes in order.
    #[inline]
    pub fn children(self) -> impl DoubleEndedIterator<Item = Node<'t>> + Clone {
        self.elements().filter_map(NodeOrToken::into_node)
    }

    /// Returns the child tokens in order.
    #[inline]
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
            let found = near.find(|element| element_range(element).contains(offset))?;
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
    /// The elements that come next.
    children: rowan::Children<'t>,
    front: TextSize,
    back: TextSize,
    /// The elements after them, in a block with chunks. It is moved to where it is used, so that the other nodes of
    /// a module, a hundred thousand times as many, are iterated in registers.
    lists: Option<Lists<'t>>,
}

/// The lists of elements of a block: its chunks, and the children between them.
#[derive(Clone)]
struct Lists<'t> {
    rest: rowan::Children<'t>,
    /// The list that was reached from the end.
    last: rowan::Children<'t>,
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

/// Skips children of `green` that end before an offset, of which `children` has all, and returns their length.
fn skip(green: &GreenNodeData, children: &mut rowan::Children<'_>, offset: TextSize) -> TextSize {
    let before = offset.checked_sub(TextSize::new(1));
    let Some(before) = before.filter(|_| offset <= green.text_len()) else {
        return TextSize::new(0);
    };
    if children.len() >= MIN_SEARCH {
        // Green nodes store the relative offsets of their children, but only red ones expose them.
        let red = SyntaxNode::new_root(green.to_owned());
        let found = red.child_or_token_at_range(TextRange::at(before, TextSize::new(1)));
        return found.map_or(TextSize::new(0), |found| {
            if let Some(last) = found.index().checked_sub(1) {
                children.nth(last);
            }
            found.text_range().start()
        });
    }
    let mut end = TextSize::new(0);
    let mut rest = children.clone();
    while let Some(child) = rest.next()
        && end + child.text_len() < offset
    {
        end += child.text_len();
        *children = rest.clone();
    }
    end
}

/// Returns the length of the text at the beginning of two lists whose elements are the same, up to `longest`.
fn shared<'a, A: Iterator<Item = Child<'a>>>(
    a: A,
    b: A,
    longest: TextSize,
    children: &impl Fn(&'a GreenNodeData) -> A,
) -> TextSize {
    let mut len = TextSize::new(0);
    for (a, b) in a.zip(b) {
        if address(a) != address(b) || len + a.text_len() > longest {
            if let (Some(a), Some(b)) = (as_chunk(a), as_chunk(b)) {
                // Chunks have no chunks in them.
                len += shared(children(a), children(b), longest - len, children);
            }
            break;
        }
        len += a.text_len();
    }
    len
}

/// Returns the children of `green` that end at or before an offset, their length, and the chunk after them.
fn children_before(
    green: &GreenNodeData,
    offset: TextSize,
) -> (rowan::Children<'_>, TextSize, Option<&GreenNodeData>) {
    let mut rest = green.children();
    let mut end = skip(green, &mut rest, offset);
    let mut next = None;
    let mut count = green.children().len() - rest.len();
    for child in rest {
        if end + child.text_len() > offset {
            next = as_chunk(child);
            break;
        }
        end += child.text_len();
        count += 1;
    }
    let mut children = green.children();
    if let Some(left_out) = (children.len() - count).checked_sub(1) {
        children.nth_back(left_out);
    }
    (children, end, next)
}

/// Returns a list without elements.
fn none(mut children: rowan::Children<'_>) -> rowan::Children<'_> {
    if let Some(last) = children.len().checked_sub(1) {
        children.nth(last);
    }
    children
}

/// Returns the number of children before the first chunk.
fn count_direct<'t>(children: impl Iterator<Item = Child<'t>>) -> usize {
    children.take_while(|&child| as_chunk(child).is_none()).count()
}

impl<'t> Lists<'t> {
    /// Returns the next list, and those after it.
    #[inline(never)]
    fn next(mut self) -> Option<(rowan::Children<'t>, Lists<'t>)> {
        let mut list = self.rest.clone();
        let Some(first) = self.rest.next() else {
            let last = std::mem::replace(&mut self.last, list);
            return (last.len() > 0).then_some((last, self));
        };
        if let Some(chunk) = as_chunk(first) {
            return Some((chunk.children(), self));
        }
        if let Some(more) = count_direct(self.rest.clone()).checked_sub(1) {
            self.rest.nth(more);
        }
        if let Some(after) = self.rest.len().checked_sub(1) {
            list.nth_back(after);
        }
        Some((list, self))
    }

    fn next_back(&mut self) -> Option<rowan::Children<'t>> {
        let mut list = self.rest.clone();
        if let Some(chunk) = as_chunk(self.rest.next_back()?) {
            return Some(chunk.children());
        }
        if let Some(more) = count_direct(self.rest.clone().rev()).checked_sub(1) {
            self.rest.nth_back(more);
        }
        if let Some(before) = self.rest.len().checked_sub(1) {
            list.nth(before);
        }
        Some(list)
    }
}

impl<'t> Elements<'t> {
    #[inline]
    fn of(node: Node<'t>) -> Elements<'t> {
        let (children, back) = (node.green.children(), node.range().end());
        let elements = Elements { children, front: node.start, back, lists: None };
        if node.kind() == SyntaxKind::BLOCK { elements.in_chunks() } else { elements }
    }

    /// Looks for chunks among the children of a block.
    #[inline(never)]
    fn in_chunks(mut self) -> Elements<'t> {
        // The first one is at the beginning, or after the brace.
        if self.children.clone().take(2).any(|child| as_chunk(child).is_some()) {
            let none = none(self.children.clone());
            let rest = std::mem::replace(&mut self.children, none.clone());
            self.lists = Some(Lists { rest, last: none });
        }
        self
    }
}

impl<'t> Iterator for Elements<'t> {
    type Item = Element<'t>;

    // Passes over a module call it for each element of the tree.
    #[inline]
    fn next(&mut self) -> Option<Element<'t>> {
        loop {
            if let Some(child) = self.children.next() {
                let start = self.front;
                self.front += child.text_len();
                return Some(element(child, start));
            }
            let (list, after) = self.lists.take()?.next()?;
            (self.children, self.lists) = (list, Some(after));
        }
    }
}

impl DoubleEndedIterator for Elements<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let lists = self.lists.as_mut();
            let last = lists.and_then(|lists| match lists.last.next_back() {
                Some(child) => Some(Ok(child)),
                None => lists.next_back().map(Err),
            });
            let child = match last {
                Some(Ok(child)) => child,
                Some(Err(list)) => {
                    if let Some(lists) = &mut self.lists {
                        lists.last = list;
                    }
                    continue;
                }
                None => self.children.next_back()?,
            };
            self.back -= child.text_len();
            return Some(element(child, self.back));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range_of(element: Element<'_>) -> TextRange {
        match element {
            NodeOrToken::Node(node) => node.range(),
            NodeOrToken::Token(token) => token.range(),
        }
    }

    #[test]
    fn chunks_are_hidden() {
        let lines: String = (0..300).map(|i| format!("  %{i} = (%x, \"é\");\n\n")).collect();
        let text = format!("def @main(%x: int32) {{\n{lines}  %x\n}}\n");
        let parse = crate::parse(&text);
        let block =
            Node::root(&parse.green).children().next().and_then(|f| f.child(SyntaxKind::BLOCK));
        let block = block.expect("a block");
        let chunks =
            block.green.children().filter(|child| child.kind() == SyntaxKind::CHUNK.into());
        assert!(chunks.count() > 3);
        let all: Vec<TextRange> = block.elements().map(range_of).collect();
        // Each statement and its white space; the braces, the tail and the space around it.
        assert_eq!(all.len(), 2 * 300 + 5);
        assert!(all.windows(2).all(|pair| pair[0].end() == pair[1].start()));
        assert_eq!(all.first().map(|r| r.start()), Some(block.start()));
        assert_eq!(all.last().map(|r| r.end()), Some(block.range().end()));
        let reversed: Vec<TextRange> = block.elements().rev().map(range_of).collect();
        assert!(reversed.iter().rev().eq(&all));
        // From both ends in turn, up to any place.
        for front in 0..all.len() {
            let mut elements = block.elements();
            let taken: Vec<_> = elements.by_ref().take(front).map(range_of).collect();
            assert_eq!(taken, all[..front]);
            let rest: Vec<_> = elements.rev().map(range_of).collect();
            assert!(rest.iter().rev().eq(&all[front..]), "{front}");
        }
        for at in (0..text.len()).map(|at| TextSize::new(at as u32)) {
            let near: Vec<_> = block.elements_near(at).map(range_of).collect();
            assert!(all.ends_with(&near), "{at:?}");
            assert!(all[..all.len() - near.len()].iter().all(|range| range.end() < at), "{at:?}");
            let before: Vec<_> = block.elements_before(at).map(range_of).collect();
            let scanned = all.iter().rev().filter(|range| range.end() <= at);
            assert!(scanned.eq(&before), "{at:?}");
        }
    }

    #[test]
    fn the_shared_ends_of_two_versions_meet_at_the_edit() {
        let line = |i: usize| format!("  %{i} = (%x, {i});\n");
        let lines: Vec<String> = (0..300).map(line).collect();
        let text =
            |lines: &[String]| format!("def @main(%x: int32) {{\n{}  %x\n}}\n", lines.concat());
        let before = text(&lines);
        let parse = crate::parse(&before);
        for at in [0, 1, 30, 150, 298, 299] {
            let mut edited = lines.clone();
            edited[at] = "  %new = nn.relu(%x);\n".into();
            let start = "def @main(%x: int32) {\n".len() + lines[..at].concat().len();
            let edit = crate::Edit {
                range: TextRange::at((start as u32).into(), (lines[at].len() as u32).into()),
                insert: edited[at].clone(),
            };
            let after = text(&edited);
            let new = parse.reparse_part(&after, &edit).expect("a part");
            assert_eq!(new.green, crate::parse(&after).green, "{at}");
            let block = |parse: &crate::Parse| {
                let item = Node::root(&parse.green).children().next()?;
                Some(item.child(SyntaxKind::BLOCK)?.green().to_owned())
            };
            let (a, b) = (block(&parse).expect("a block"), block(&new).expect("a block"));
            let (front, back) = Node::root(&b).shared_ends(Node::root(&a));
            let changed = usize::from(b.text_len() - front - back);
            // A chunk of which an end has moved is another one.
            assert!(changed <= edited[at].len() + 3 * LARGEST_STATEMENTS, "{at}: {changed}");
            let (front, back) = Node::root(&a).shared_ends(Node::root(&a));
            assert_eq!((front, back), (a.text_len(), 0.into()));
        }
    }

    /// The text of the statements of two chunks of the usual size, in bytes.
    const LARGEST_STATEMENTS: usize = 64 * 20;

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
