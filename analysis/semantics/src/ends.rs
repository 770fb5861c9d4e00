//! The common start and end of two versions of a list.

use std::sync::Arc;

/// The number of elements that are compared at once.
const CHUNK: usize = 64;

/// Returns the number of elements at the beginning, and of others at the end, that two lists share.
pub(crate) fn common_ends<T>(a: &[Arc<T>], b: &[Arc<T>]) -> (usize, usize) {
    let shorter = a.len().min(b.len());
    let is_same = |(a, b): &(&Arc<T>, &Arc<T>)| Arc::ptr_eq(a, b);
    // Whole chunks first, without a branch for each element.
    let chunks = a.chunks_exact(CHUNK).zip(b.chunks_exact(CHUNK));
    let equal = chunks.take_while(|(a, b)| is_same_chunk(a, b)).count() * CHUNK;
    let prefix = equal + a[equal..].iter().zip(&b[equal..]).take_while(is_same).count();

    let (a, b) = (&a[a.len() - (shorter - prefix)..], &b[b.len() - (shorter - prefix)..]);
    let chunks = a.rchunks_exact(CHUNK).zip(b.rchunks_exact(CHUNK));
    let equal = chunks.take_while(|(a, b)| is_same_chunk(a, b)).count() * CHUNK;
    let rest = a.len() - equal;
    let rest = a[..rest].iter().rev().zip(b[..rest].iter().rev());
    (prefix, equal + rest.take_while(is_same).count())
}

fn is_same_chunk<T>(a: &[Arc<T>], b: &[Arc<T>]) -> bool {
    let differ = |(a, b): (&Arc<T>, &Arc<T>)| Arc::as_ptr(a).addr() ^ Arc::as_ptr(b).addr();
    a.iter().zip(b).map(differ).fold(0, |all, bits| all | bits) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_end_at_the_first_difference_from_both_sides() {
        let list: Vec<Arc<usize>> = (0..300).map(Arc::new).collect();
        assert_eq!(common_ends(&list, &list), (300, 0));
        for at in [0, 1, 63, 64, 65, 150, 235, 236, 237, 299] {
            let mut other = list.clone();
            other[at] = Arc::new(at);
            assert_eq!(common_ends(&list, &other), (at, 299 - at), "one replaced at {at}");
            other.insert(at, Arc::new(at));
            assert_eq!(common_ends(&list, &other), (at, 299 - at), "one inserted at {at}");
            other.truncate(at);
            assert_eq!(common_ends(&list, &other), (at, 0), "cut at {at}");
        }
        let twice: Vec<Arc<usize>> = vec![list[0].clone(); 3];
        assert_eq!(common_ends(&twice, &twice[..2]), (2, 0), "the ends do not overlap");
        assert_eq!(common_ends::<usize>(&[], &list), (0, 0));
    }
}
