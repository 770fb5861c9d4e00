//! Texts that an edit changes, as a reparse reads them.

use std::{borrow::Cow, ops::Range};

use crate::{Node, NodeOrToken, TextRange};

/// A text, which need not be in one piece: an editor's text of megabytes is a rope.
pub trait Source {
    /// Returns the length in bytes.
    fn byte_len(&self) -> usize;

    /// Returns true if an offset is inside the text or at its end, on a character boundary.
    fn is_boundary(&self, offset: usize) -> bool;

    /// Returns the text of a range; `None` if an end is not on a character boundary.
    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>>;

    /// Returns all of the text.
    fn whole(&self) -> Cow<'_, str> {
        self.part(0..self.byte_len()).unwrap_or_default()
    }

    /// Returns the first character boundary at or after an offset.
    fn boundary_from(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.byte_len());
        while !self.is_boundary(offset) {
            offset += 1;
        }
        offset
    }
}

/// A text in one piece.
impl<S: AsRef<str> + ?Sized> Source for S {
    fn byte_len(&self) -> usize {
        self.as_ref().len()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        self.as_ref().is_char_boundary(offset)
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        self.as_ref().get(range).map(Cow::Borrowed)
    }
}

/// The text of a tree, whose node is its root.
impl Source for Node<'_> {
    fn byte_len(&self) -> usize {
        self.range().len().into()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        let Ok(at) = u32::try_from(offset) else { return false };
        match self.token_at(at.into()) {
            Some(token) => token.text().is_char_boundary(offset - usize::from(token.start())),
            None => offset == self.byte_len(),
        }
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        if range.start > range.end || !self.is_boundary(range.start) || !self.is_boundary(range.end)
        {
            return None;
        }
        let (from, to) = (range.start.try_into().ok()?, range.end.try_into().ok()?);
        let wanted = TextRange::new(from, to);
        let mut joined = String::with_capacity(range.len());
        // One visit per token: a search for each would be quadratic in deep trees.
        let mut path = vec![self.elements_near(from)];
        while let Some(siblings) = path.last_mut() {
            match siblings.next() {
                None => drop(path.pop()),
                Some(NodeOrToken::Node(node)) if node.start() < to => {
                    if node.range().end() > from {
                        path.push(node.elements_near(from));
                    }
                }
                Some(NodeOrToken::Token(token)) if token.start() < to => {
                    let Some(part) = wanted.intersect(token.range()) else { continue };
                    let text = &token.text()[part - token.start()];
                    if part == wanted {
                        return Some(Cow::Borrowed(text));
                    }
                    joined.push_str(text);
                }
                Some(_) => break,
            }
        }
        Some(Cow::Owned(joined))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Node, Source};

    #[test]
    fn tree_has_the_parts_of_its_text() {
        let text = "def @f(%x: Tensor[(1, 2), float32]) { %ä + \"é\" /* ✓ */ }\r\n";
        let parse = crate::parse(text);
        let root = Node::root(&parse.green);
        assert_eq!(root.byte_len(), text.len());
        assert_eq!(root.whole(), text);
        for from in 0..text.len() + 2 {
            assert_eq!(root.is_boundary(from), text.is_char_boundary(from), "{from}");
            for to in 0..text.len() + 2 {
                assert_eq!(root.part(from..to).as_deref(), text.get(from..to), "{from}..{to}");
            }
        }
    }
}
