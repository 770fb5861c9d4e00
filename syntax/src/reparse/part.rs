//! The elements of a tree in which blocks have no chunks, and their replacement in one that has.

use std::ops::Range;

use rowan::{GreenNode, GreenNodeData, NodeOrToken};

use crate::{
    SyntaxKind, SyntaxNode, SyntaxToken,
    chunk::{Chunks, as_chunk},
    interner::{Child, Element},
    reuse::owned,
};

pub(super) type SyntaxElement = NodeOrToken<SyntaxNode, SyntaxToken>;

/// The parent of a node in a tree without chunks.
pub(super) fn parent_of(node: &SyntaxNode) -> Option<SyntaxNode> {
    node.parent().and_then(|parent| match parent.kind() {
        SyntaxKind::CHUNK => parent.parent(),
        _ => Some(parent),
    })
}

/// Returns the chunk that an element is in.
fn chunk_of(element: &SyntaxElement) -> Option<SyntaxNode> {
    element.parent().filter(|parent| parent.kind() == SyntaxKind::CHUNK)
}

/// Returns the element before another one, in a tree without chunks.
pub(super) fn element_before(element: &SyntaxElement) -> Option<SyntaxElement> {
    let before = match element.prev_sibling_or_token() {
        Some(before) => before,
        None => return element_before(&chunk_of(element)?.into()),
    };
    match before {
        NodeOrToken::Node(chunk) if chunk.kind() == SyntaxKind::CHUNK => {
            chunk.last_child_or_token()
        }
        before => Some(before),
    }
}

/// Returns the element after another one, in a tree without chunks.
pub(super) fn element_after(element: &SyntaxElement) -> Option<SyntaxElement> {
    let after = match element.next_sibling_or_token() {
        Some(after) => after,
        None => return element_after(&chunk_of(element)?.into()),
    };
    match after {
        NodeOrToken::Node(chunk) if chunk.kind() == SyntaxKind::CHUNK => {
            chunk.first_child_or_token()
        }
        after => Some(after),
    }
}

/// Returns the elements of a chunk, or the child itself.
fn elements_of(child: Child<'_>) -> impl Iterator<Item = Child<'_>> {
    let chunk = as_chunk(child);
    let elements = chunk.map(GreenNodeData::children);
    elements.into_iter().flatten().chain(chunk.is_none().then_some(child))
}

/// Children of a node, of which a run is replaced.
pub(super) struct Part {
    /// The children.
    children: Range<usize>,
    /// Those elements before and after the run that the chunks of the children have, or will have.
    pub(super) before: Vec<Element>,
    after: Vec<Element>,
    /// The number of elements of the run.
    pub(super) count: usize,
}

impl Part {
    /// The part of `parent` from its element `first` to `last`, or the empty one before `first`.
    pub(super) fn new(
        parent: &SyntaxNode,
        first: &SyntaxElement,
        last: Option<&SyntaxElement>,
    ) -> Part {
        let child_of = |element: &SyntaxElement| match chunk_of(element) {
            Some(chunk) => chunk.index(),
            None => element.index(),
        };
        let green = parent.green();
        let mut children = child_of(first)..last.map_or(child_of(first), |last| child_of(last) + 1);
        let before = match chunk_of(first) {
            Some(chunk) => chunk.green().children().take(first.index()).map(owned).collect(),
            None if parent.kind() == SyntaxKind::BLOCK => {
                // They have no end of a chunk after them, but the run may have one.
                let end = children.start;
                let is_brace = |child: Child<'_>| child.kind() == SyntaxKind::L_BRACE.into();
                let kept = green.children().take(end).rev();
                let kept =
                    kept.take_while(|&child| as_chunk(child).is_none() && !is_brace(child)).count();
                children.start -= kept;
                green.children().skip(children.start).take(kept).map(owned).collect()
            }
            None => Vec::new(),
        };
        let after = match last.and_then(|last| Some((chunk_of(last)?, last.index() + 1))) {
            Some((chunk, from)) => chunk.green().children().skip(from).map(owned).collect(),
            None => Vec::new(),
        };
        let mut part = Part { children, before, after, count: 0 };
        part.count = part.elements(&green).count() - part.before.len() - part.after.len();
        part
    }

    /// Returns the elements of the children of `parent`.
    pub(super) fn elements<'t>(
        &self,
        parent: &'t GreenNodeData,
    ) -> impl Iterator<Item = Child<'t>> {
        let children = parent.children().skip(self.children.start).take(self.children.len());
        children.flat_map(elements_of)
    }

    /// Returns `parent` with other elements in place of the run.
    pub(super) fn with(mut self, parent: &GreenNodeData, new: Vec<Element>) -> GreenNode {
        if SyntaxKind::of(parent.kind()) != SyntaxKind::BLOCK {
            return spliced(parent, self.children, new);
        }
        let mut chunks = Chunks::default();
        let elements = self.before.into_iter().chain(new).chain(self.after);
        elements.for_each(|element| chunks.push(element));
        // Up to a chunk that begins where one began.
        let mut rest = parent.children().skip(self.children.end);
        while !chunks.is_at_start()
            && let Some(child) = rest.next()
        {
            elements_of(child).for_each(|element| chunks.push(owned(element)));
            self.children.end += 1;
        }
        spliced(parent, self.children, chunks.finish())
    }
}

/// The children of a node with some of them replaced. `splice_children` of rowan collects them first,
/// which costs as much again in a block of thousands of statements.
struct SplicedChildren<'t> {
    /// The old children that come next: those before the replaced ones, then those after them.
    old: rowan::Children<'t>,
    new: std::vec::IntoIter<Element>,
    after: rowan::Children<'t>,
}

/// Returns a node with some of its children replaced.
fn spliced(parent: &GreenNodeData, replaced: Range<usize>, new: Vec<Element>) -> GreenNode {
    GreenNode::new(parent.kind(), SplicedChildren::new(parent, replaced, new))
}

impl<'t> SplicedChildren<'t> {
    fn new(
        parent: &'t GreenNodeData,
        replaced: Range<usize>,
        new: Vec<Element>,
    ) -> SplicedChildren<'t> {
        let children = parent.children();
        let (mut old, mut after) = (children.clone(), children);
        // Shortens both in constant time. Adapters would be tested again for each child.
        if let Some(last) = (old.len() - replaced.start).checked_sub(1) {
            old.nth_back(last);
        }
        if let Some(last) = replaced.end.checked_sub(1) {
            after.nth(last);
        }
        SplicedChildren { old, new: new.into_iter(), after }
    }

    #[cold]
    fn next_other(&mut self) -> Option<Element> {
        if let Some(new) = self.new.next() {
            return Some(new);
        }
        std::mem::swap(&mut self.old, &mut self.after);
        self.old.next().map(owned)
    }
}

impl Iterator for SplicedChildren<'_> {
    type Item = Element;

    #[inline(always)]
    fn next(&mut self) -> Option<Element> {
        match self.old.next() {
            Some(child) => Some(owned(child)),
            None => self.next_other(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = self.old.len() + self.new.len() + self.after.len();
        (length, Some(length))
    }
}

impl ExactSizeIterator for SplicedChildren<'_> {}
