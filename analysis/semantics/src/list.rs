//! Lists in chunks, which the versions of a definition share.
//!
//! A network is one definition of thousands of statements, and what follows from it is one list: of its units, their
//! ranges, their types. The version after an edit shares the chunks of the version before, so that it costs as much as
//! the chunks beside the edit and one pointer for each of the others, to make, to compare and to free.
//!
//! Where the chunks end depends on the edits before. Lists are equal if their elements are.

use std::{
    fmt,
    ops::{Deref, Index, Range},
    sync::Arc,
};

/// The number of elements of a chunk of a new list.
const USUAL: usize = 64;
/// The least number of elements of a chunk with another one after it. An edit merges smaller ones, so that many edits do
/// not make a list of small chunks.
const LEAST: usize = USUAL / 2;

/// What a chunk knows about its elements.
pub trait Summary<T> {
    /// Returns the summary of the elements of a chunk, at least one.
    fn of(elements: &[T]) -> Self;
}

impl<T> Summary<T> for () {
    fn of(_: &[T]) {}
}

/// A list in chunks with a summary each.
pub struct List<T, S = ()> {
    chunks: Vec<Chunk<T, S>>,
    len: usize,
    /// The number of elements in the chunks up to the first one of another length than the usual one, with those of this
    /// one if it is shorter.
    regular: usize,
}

/// A chunk of a list.
struct Chunk<T, S> {
    /// The number of elements before it.
    start: usize,
    elements: Arc<Elements<T, S>>,
}

impl<T, S> Clone for Chunk<T, S> {
    fn clone(&self) -> Chunk<T, S> {
        Chunk { start: self.start, elements: self.elements.clone() }
    }
}

/// The elements of a range that are in one chunk.
pub(crate) struct Part<'l, T, S> {
    pub(crate) range: Range<usize>,
    pub(crate) elements: &'l [T],
    /// The number of elements before the chunk.
    pub(crate) start: usize,
    pub(crate) summary: &'l S,
}

/// The elements of a chunk, at least one.
#[derive(Clone)]
struct Elements<T, S> {
    all: Vec<T>,
    summary: S,
}

impl<T, S: Summary<T>> Elements<T, S> {
    fn new(all: Vec<T>) -> Arc<Elements<T, S>> {
        let summary = S::of(&all);
        Arc::new(Elements { all, summary })
    }
}

impl<T, S> Deref for Elements<T, S> {
    type Target = Vec<T>;

    #[inline]
    fn deref(&self) -> &Vec<T> {
        &self.all
    }
}

impl<T, S> List<T, S> {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the element at an index.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        (at < self.len).then(|| &self[at])
    }

    /// Returns the first element.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// Returns the elements in order.
    pub fn iter(&self) -> Iter<'_, T, S> {
        self.range(0..self.len)
    }

    /// Returns the elements of a range in order; of a range beyond the end those that there are.
    pub fn range(&self, range: Range<usize>) -> Iter<'_, T, S> {
        let end = range.end.min(self.len);
        let len = end.saturating_sub(range.start);
        if len == 0 {
            return Iter { front: [].iter(), chunks: [].iter(), back: [].iter() };
        }
        let (first, last) = (self.chunk_of(range.start), self.chunk_of(end - 1));
        let (front, back) = (&self.chunks[first], &self.chunks[last]);
        let from = range.start - front.start;
        if first == last {
            let front = front.elements[from..from + len].iter();
            return Iter { front, chunks: [].iter(), back: [].iter() };
        }
        Iter {
            front: front.elements[from..].iter(),
            chunks: self.chunks[first + 1..last].iter(),
            back: back.elements[..end - back.start].iter(),
        }
    }

    /// Returns a range of elements in parts of one chunk each, in order.
    pub(crate) fn parts(
        &self,
        range: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Part<'_, T, S>> {
        let end = range.end.min(self.len);
        self.chunks_of(&range).iter().map(move |Chunk { start, elements }| {
            let range = range.start.max(*start)..end.min(start + elements.len());
            let part = &elements[range.start - start..range.end - start];
            Part { range, elements: part, start: *start, summary: &elements.summary }
        })
    }

    /// Returns the chunks with the elements of a range.
    fn chunks_of(&self, range: &Range<usize>) -> &[Chunk<T, S>] {
        let end = range.end.min(self.len);
        match range.start < end {
            true => &self.chunks[self.chunk_of(range.start)..=self.chunk_of(end - 1)],
            false => &[],
        }
    }

    /// Returns true if the elements of a range are those of one from `first` on in another list, in a chunk that the
    /// two share.
    pub(crate) fn shares(&self, range: Range<usize>, other: &List<T, S>, first: usize) -> bool {
        if range.is_empty() || first >= other.len {
            return false;
        }
        let own = &self.chunks[self.chunk_of(range.start)];
        let others = &other.chunks[other.chunk_of(first)];
        Arc::ptr_eq(&own.elements, &others.elements)
            && range.start - own.start == first - others.start
            && range.end <= own.start + own.elements.len()
    }

    /// Returns the number of the chunk of an element.
    fn chunk_of(&self, at: usize) -> usize {
        if at < self.regular {
            return at / USUAL;
        }
        // An edit moves the elements after it by few.
        let guess = (at / USUAL).min(self.chunks.len() - 1);
        let Chunk { start, elements } = &self.chunks[guess];
        match (*start..start + elements.len()).contains(&at) {
            true => guess,
            false => self.chunks.partition_point(|chunk| chunk.start <= at) - 1,
        }
    }

    /// Returns an element after the regular chunks.
    #[inline(never)]
    fn irregular(&self, at: usize) -> &T {
        let Chunk { start, elements } = &self.chunks[self.chunk_of(at)];
        &elements[at - start]
    }

    /// Returns the number of elements at the beginning, and of others at the end, that two lists have in common. Those
    /// in the same chunks are not compared.
    fn common_ends_by(
        &self,
        other: &List<T, S>,
        is_same: impl Fn(&T, &T) -> bool,
    ) -> (usize, usize) {
        let count =
            |a: &mut dyn Iterator<Item = (&T, &T)>| a.take_while(|(a, b)| is_same(a, b)).count();
        let shorter = self.len.min(other.len);
        let chunks = self.chunks.iter().zip(&other.chunks);
        let mut prefix = common(chunks, shorter, |a, b| count(&mut a.iter().zip(b))).min(shorter);
        let rest = self.range(prefix..shorter).zip(other.range(prefix..shorter));
        prefix += count(&mut { rest });
        let most = shorter - prefix;
        let chunks = self.chunks.iter().rev().zip(other.chunks.iter().rev());
        let mut suffix =
            common(chunks, most, |a, b| count(&mut a.iter().rev().zip(b.iter().rev()))).min(most);
        let rest = prefix..self.len - suffix;
        let others = prefix..other.len - suffix;
        suffix += count(&mut self.range(rest).rev().zip(other.range(others).rev()));
        (prefix, suffix)
    }
}

/// Returns the number of elements that pairs of chunks have in common, up to the first difference or about `most`.
fn common<'l, T: 'l, S: 'l>(
    pairs: impl Iterator<Item = (&'l Chunk<T, S>, &'l Chunk<T, S>)>,
    most: usize,
    count: impl Fn(&[T], &[T]) -> usize,
) -> usize {
    let mut common = 0;
    for (Chunk { elements: a, .. }, Chunk { elements: b, .. }) in pairs {
        let same = if Arc::ptr_eq(a, b) { a.len() } else { count(a, b) };
        common += same;
        if same < a.len().max(b.len()) || common > most {
            break;
        }
    }
    common
}

impl<T: Clone, S: Summary<T> + Clone> List<T, S> {
    /// Replaces an element.
    pub(crate) fn set(&mut self, at: usize, value: T) {
        let chunk = self.chunk_of(at);
        let Chunk { start, elements } = &mut self.chunks[chunk];
        let elements = Arc::make_mut(elements);
        elements.all[at - *start] = value;
        elements.summary = S::of(&elements.all);
    }
}

impl<T, S> List<Arc<T>, S> {
    /// Returns the number of elements at the beginning, and of others at the end, that two lists share.
    pub(crate) fn common_ends(&self, other: &List<Arc<T>, S>) -> (usize, usize) {
        self.common_ends_by(other, Arc::ptr_eq)
    }
}

impl<T: PartialEq, S> PartialEq for List<T, S> {
    fn eq(&self, other: &List<T, S>) -> bool {
        if self.len != other.len {
            return false;
        }
        let (prefix, suffix) = self.common_ends_by(other, T::eq);
        prefix + suffix == self.len
    }
}

impl<T: Eq, S> Eq for List<T, S> {}

impl<T, S> Default for List<T, S> {
    fn default() -> List<T, S> {
        List { chunks: Vec::new(), len: 0, regular: 0 }
    }
}

impl<T, S> Clone for List<T, S> {
    fn clone(&self) -> List<T, S> {
        List { chunks: self.chunks.clone(), ..*self }
    }
}

impl<T: fmt::Debug, S> fmt::Debug for List<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T, S> Index<usize> for List<T, S> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        if at < self.regular {
            return &self.chunks[at / USUAL].elements[at % USUAL];
        }
        self.irregular(at)
    }
}

impl<'a, T, S> IntoIterator for &'a List<T, S> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T, S>;

    fn into_iter(self) -> Iter<'a, T, S> {
        self.iter()
    }
}

impl<T, S: Summary<T>> FromIterator<T> for List<T, S> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> List<T, S> {
        let mut builder = Builder::default();
        elements.into_iter().for_each(|element| builder.push(element));
        builder.finish()
    }
}

/// The elements of a [`List`] in order.
pub struct Iter<'a, T, S = ()> {
    front: std::slice::Iter<'a, T>,
    /// The chunks between those of `front` and `back`.
    chunks: std::slice::Iter<'a, Chunk<T, S>>,
    back: std::slice::Iter<'a, T>,
}

impl<T, S> Clone for Iter<'_, T, S> {
    fn clone(&self) -> Self {
        let Iter { front, chunks, back } = self;
        Iter { front: front.clone(), chunks: chunks.clone(), back: back.clone() }
    }
}

impl<'a, T, S> Iter<'a, T, S> {
    /// Returns the first element of the next chunk.
    #[cold]
    fn next_chunk(&mut self) -> Option<&'a T> {
        // No chunk is empty.
        self.front = match self.chunks.next() {
            Some(chunk) => chunk.elements.iter(),
            None => std::mem::take(&mut self.back),
        };
        self.front.next()
    }

    /// Returns the last element of the chunk before.
    #[cold]
    fn chunk_before(&mut self) -> Option<&'a T> {
        self.back = match self.chunks.next_back() {
            Some(chunk) => chunk.elements.iter(),
            None => std::mem::take(&mut self.front),
        };
        self.back.next_back()
    }
}

impl<'a, T, S> Iterator for Iter<'a, T, S> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        match self.front.next() {
            Some(element) => Some(element),
            None => self.next_chunk(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let between = match self.chunks.as_slice() {
            [first, .., last] => last.start + last.elements.len() - first.start,
            [only] => only.elements.len(),
            [] => 0,
        };
        let len = self.front.len() + between + self.back.len();
        (len, Some(len))
    }

    fn nth(&mut self, mut skipped: usize) -> Option<&'a T> {
        while skipped >= self.front.len() {
            skipped -= self.front.len();
            self.front = match self.chunks.next() {
                Some(chunk) => chunk.elements.iter(),
                None if self.back.len() == 0 => {
                    self.front = [].iter();
                    return None;
                }
                None => std::mem::take(&mut self.back),
            };
        }
        self.front.nth(skipped)
    }

    fn fold<B, F: FnMut(B, &'a T) -> B>(self, first: B, mut f: F) -> B {
        let Iter { front, chunks, back, .. } = self;
        let mut all = front.fold(first, &mut f);
        for chunk in chunks {
            all = chunk.elements.iter().fold(all, &mut f);
        }
        back.fold(all, f)
    }
}

impl<T, S> DoubleEndedIterator for Iter<'_, T, S> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        match self.back.next_back() {
            Some(element) => Some(element),
            None => self.chunk_before(),
        }
    }
}

impl<T, S> ExactSizeIterator for Iter<'_, T, S> {}

/// Makes a [`List`] from elements and from parts of other lists.
pub(crate) struct Builder<T, S = ()> {
    list: List<T, S>,
    /// The elements after the last chunk.
    open: Vec<T>,
}

impl<T, S> Default for Builder<T, S> {
    fn default() -> Builder<T, S> {
        Builder { list: List::default(), open: Vec::new() }
    }
}

impl<T, S: Summary<T>> Builder<T, S> {
    /// Returns a builder of a list with about a number of elements.
    pub(crate) fn with_capacity(count: usize) -> Builder<T, S> {
        let chunks = Vec::with_capacity(count.div_ceil(USUAL));
        let list = List { chunks, ..List::default() };
        Builder { list, open: Vec::with_capacity(count.min(USUAL)) }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.list.len + self.open.len()
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        match at.checked_sub(self.list.len) {
            Some(at) => self.open.get(at),
            None => self.list.get(at),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, element: T) {
        if self.open.len() == USUAL {
            self.close_usual();
        }
        self.open.push(element);
    }

    pub(crate) fn finish(mut self) -> List<T, S> {
        self.close();
        self.list
    }

    #[cold]
    fn close_usual(&mut self) {
        let full = std::mem::replace(&mut self.open, Vec::with_capacity(USUAL));
        self.push_chunk(Elements::new(full));
    }

    /// Ends a chunk after the elements so far.
    fn close(&mut self) {
        if !self.open.is_empty() {
            let mut chunk = std::mem::take(&mut self.open);
            chunk.shrink_to_fit();
            self.push_chunk(Elements::new(chunk));
        }
    }

    fn push_chunk(&mut self, elements: Arc<Elements<T, S>>) {
        let list = &mut self.list;
        let (start, len) = (list.len, elements.len());
        list.len += len;
        if list.regular == start && start % USUAL == 0 && len <= USUAL {
            list.regular = list.len;
        }
        list.chunks.push(Chunk { start, elements });
    }
}

impl<T: Clone, S: Summary<T>> Builder<T, S> {
    /// Adds the elements of a range of another list, in the same chunks.
    pub(crate) fn extend(&mut self, other: &List<T, S>, range: Range<usize>) {
        for Chunk { start, elements: chunk } in other.chunks_of(&range) {
            let part = range.start.saturating_sub(*start)..(range.end - start).min(chunk.len());
            if part.len() < chunk.len() {
                chunk[part].iter().for_each(|element| self.push(element.clone()));
            } else if self.open.is_empty() || self.open.len() >= LEAST {
                self.close();
                self.push_chunk(chunk.clone());
            } else {
                // What is open is too small for a chunk. The chunks after this one stay.
                self.open.extend_from_slice(chunk);
                if self.open.len() > 2 * USUAL {
                    let rest = self.open.split_off(self.open.len() / 2);
                    self.close();
                    self.open = rest;
                }
                self.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(len: usize) -> List<Arc<usize>> {
        (0..len).map(Arc::new).collect()
    }

    /// Returns a list with other elements in a range.
    fn spliced(list: &List<Arc<usize>>, range: Range<usize>, new: usize) -> List<Arc<usize>> {
        let mut builder = Builder::default();
        builder.extend(list, 0..range.start);
        (0..new).for_each(|at| builder.push(Arc::new(at)));
        builder.extend(list, range.end..list.len());
        builder.finish()
    }

    #[test]
    fn ends_end_at_the_first_difference_from_both_sides() {
        let list = list(300);
        assert_eq!(list.common_ends(&list), (300, 0));
        for at in [0, 1, 63, 64, 65, 150, 235, 236, 237, 299] {
            let replaced = spliced(&list, at..at + 1, 1);
            assert_eq!(list.common_ends(&replaced), (at, 299 - at), "one replaced at {at}");
            let inserted = spliced(&list, at..at, 1);
            assert_eq!(list.common_ends(&inserted), (at, 300 - at), "one inserted at {at}");
            let cut = spliced(&list, at..300, 0);
            assert_eq!(list.common_ends(&cut), (at, 0), "cut at {at}");
            assert_ne!(list, cut);
            assert_ne!(list, inserted);
        }
        let twice: List<Arc<usize>> = [&list[0]; 3].into_iter().cloned().collect();
        let fewer: List<Arc<usize>> = twice.range(0..2).cloned().collect();
        assert_eq!(twice.common_ends(&fewer), (2, 0), "the ends do not overlap");
        assert_eq!(List::default().common_ends(&list), (0, 0));
    }

    #[test]
    fn a_list_behaves_as_a_vector_after_any_edits() {
        let mut seed = 7u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below.max(1)
        };
        let mut vector: Vec<Arc<usize>> = (0..500).map(Arc::new).collect();
        let mut list: List<Arc<usize>> = vector.iter().cloned().collect();
        for _ in 0..2_000 {
            let from = random(vector.len() + 1);
            let to = (from + random(8)).min(vector.len());
            let new = if vector.len() > 800 { 0 } else { random(8) };
            list = spliced(&list, from..to, new);
            vector.splice(from..to, (0..new).map(Arc::new));
            assert_eq!(list.len(), vector.len());
            assert!(list.iter().eq(&vector) && list.iter().rev().eq(vector.iter().rev()));
            let (from, len) = (random(vector.len()), random(200));
            let part = from..(from + len).min(vector.len());
            assert!(list.range(part.clone()).eq(&vector[part.clone()]));
            assert!(list.range(part.clone()).rev().eq(vector[part.clone()].iter().rev()));
            assert_eq!(list.range(part.clone()).nth(len / 2), vector[part].get(len / 2));
            assert_eq!(list.get(from), vector.get(from));
            let other: List<Arc<usize>> = vector.iter().cloned().collect();
            assert_eq!(list, other, "equality does not depend on the chunks");
        }
        let small = list.chunks.windows(2).filter(|pair| pair[0].elements.len() < LEAST).count();
        assert!(small * 4 <= list.chunks.len(), "{small} of {} are small", list.chunks.len());
    }

    #[test]
    fn an_edit_shares_all_chunks_but_those_beside_it() {
        let before = list(10_000);
        let after = spliced(&before, 5_000..5_001, 2);
        let is_shared = |chunk: &&Chunk<_, _>| {
            before.chunks.iter().any(|old| Arc::ptr_eq(&old.elements, &chunk.elements))
        };
        assert!(after.chunks.iter().filter(|chunk| !is_shared(chunk)).count() <= 3);
    }
}
