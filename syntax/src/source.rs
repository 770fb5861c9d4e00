//! Texts that an edit changes, as a reparse reads them.

use std::{borrow::Cow, ops::Range};

/// A text, which need not be in one piece: an editor's text of megabytes is a rope.
pub trait Source {
    /// Returns the length in bytes.
    fn byte_len(&self) -> usize;

    /// Returns true if an offset is inside the text or at its end, on a character boundary.
    fn is_boundary(&self, offset: usize) -> bool;

    /// Returns the text of a range; `None` if an end is not on a character boundary.
    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>>;

    /// Returns all of the text.
    fn whole(&self) -> Cow<'_, str>;

    /// Returns the first character boundary at or after an offset.
    fn boundary_from(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.byte_len());
        while !self.is_boundary(offset) {
            offset += 1;
        }
        offset
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn byte_len(&self) -> usize {
        (**self).byte_len()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        (**self).is_boundary(offset)
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        (**self).part(range)
    }

    fn whole(&self) -> Cow<'_, str> {
        (**self).whole()
    }
}

impl Source for str {
    fn byte_len(&self) -> usize {
        self.len()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        self.is_char_boundary(offset)
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        self.get(range).map(Cow::Borrowed)
    }

    fn whole(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

impl Source for String {
    fn byte_len(&self) -> usize {
        self.len()
    }

    fn is_boundary(&self, offset: usize) -> bool {
        self.is_char_boundary(offset)
    }

    fn part(&self, range: Range<usize>) -> Option<Cow<'_, str>> {
        self.get(range).map(Cow::Borrowed)
    }

    fn whole(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}
