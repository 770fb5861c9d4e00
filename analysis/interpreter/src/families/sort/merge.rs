//! Sorting of elements without a total order because of NaN.
//!
//! The result then depends on the algorithm. TVM's runtime uses merge sort and heaps of the GNU C++
//! library, so this does the same comparisons in the same order: `sort` of `[2, NaN, 1]` is `[2,
//! NaN, 1]`.

use crate::allocate::mapped;

/// The number of elements that are sorted by insertion before runs are merged.
const CHUNK: usize = 7;

/// Stable merge sort.
pub(super) fn stable_sort<T: Copy>(all: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let less: &dyn Fn(&T, &T) -> bool = &less;
    let middle = all.len().div_ceil(2);
    let (left, right) = all.split_at_mut(middle);
    merge_sort(left, less);
    merge_sort(right, less);
    if left.len() <= right.len() {
        let (left, right) = (mapped(left, |x| x), mapped(right, |x| x));
        merge(&left, &right, all, less);
    } else {
        let (left, right) = (mapped(left, |x| x), mapped(right, |x| x));
        merge_backward(&left, &right, all, less);
    }
}

fn merge_sort<T: Copy>(all: &mut [T], less: &dyn Fn(&T, &T) -> bool) {
    let mut run = CHUNK;
    // A shorter remainder counts as a chunk, too.
    all.chunks_mut(CHUNK).for_each(|chunk| insertion_sort(chunk, less));
    let mut buffer = mapped(all, |x| x);
    let mut in_buffer = false;
    while run < all.len() || in_buffer {
        let (from, to): (&[T], &mut [T]) =
            if in_buffer { (&buffer, &mut *all) } else { (&*all, &mut buffer) };
        for (from, to) in from.chunks(run * 2).zip(to.chunks_mut(run * 2)) {
            let (left, right) = from.split_at(run.min(from.len()));
            merge(left, right, to, less);
        }
        in_buffer = !in_buffer;
        run *= 2;
    }
}

fn insertion_sort<T: Copy>(all: &mut [T], less: &dyn Fn(&T, &T) -> bool) {
    for at in 1..all.len() {
        let element = all[at];
        let mut to = at;
        if less(&element, &all[0]) {
            to = 0;
        } else {
            while to > 0 && less(&element, &all[to - 1]) {
                to -= 1;
            }
        }
        all.copy_within(to..at, to + 1);
        all[to] = element;
    }
}

fn merge<T: Copy>(left: &[T], right: &[T], out: &mut [T], less: &dyn Fn(&T, &T) -> bool) {
    let (mut i, mut j) = (0, 0);
    for to in out {
        *to = match (left.get(i), right.get(j)) {
            (Some(x), Some(y)) if less(y, x) => {
                j += 1;
                *y
            }
            (Some(x), _) => {
                i += 1;
                *x
            }
            (None, Some(y)) => {
                j += 1;
                *y
            }
            (None, None) => return,
        };
    }
}

fn merge_backward<T: Copy>(left: &[T], right: &[T], out: &mut [T], less: &dyn Fn(&T, &T) -> bool) {
    let (mut i, mut j) = (left.len(), right.len());
    for to in out.iter_mut().rev() {
        let x = i.checked_sub(1).and_then(|i| left.get(i));
        let y = j.checked_sub(1).and_then(|j| right.get(j));
        *to = match (x, y) {
            (Some(x), Some(y)) if less(y, x) => {
                i -= 1;
                *x
            }
            (_, Some(y)) => {
                j -= 1;
                *y
            }
            (Some(x), None) => {
                i -= 1;
                *x
            }
            (None, None) => return,
        };
    }
}

/// Keeps the `count` smallest elements, sorted: the largest is on top of a heap, and each further
/// element that is smaller replaces it.
pub(super) fn select<T: Copy>(all: &mut Vec<T>, count: usize, less: impl Fn(&T, &T) -> bool) {
    let less: &dyn Fn(&T, &T) -> bool = &less;
    let rest = all.split_off(count.min(all.len()));
    make_heap(all, less);
    for element in rest {
        if all.first().is_some_and(|top| less(&element, top)) {
            all.push(element);
            let last = all.len() - 1;
            push_heap(all, last, 0, element, less);
            pop_heap(all, less);
        }
    }
    stable_sort(all, less);
}

fn push_heap<T: Copy>(
    heap: &mut [T],
    mut hole: usize,
    top: usize,
    element: T,
    less: &dyn Fn(&T, &T) -> bool,
) {
    while hole > top && less(&heap[(hole - 1) / 2], &element) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = element;
}

/// Sinks the hole to the bottom, with the larger child moving up, and puts the element there.
fn adjust_heap<T: Copy>(heap: &mut [T], top: usize, element: T, less: &dyn Fn(&T, &T) -> bool) {
    let length = heap.len();
    let mut hole = top;
    let mut child = top;
    while child < length.saturating_sub(1) / 2 {
        child = 2 * (child + 1);
        if less(&heap[child], &heap[child - 1]) {
            child -= 1;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    if length.is_multiple_of(2) && length >= 2 && child == (length - 2) / 2 {
        child = 2 * (child + 1);
        heap[hole] = heap[child - 1];
        hole = child - 1;
    }
    push_heap(heap, hole, top, element, less);
}

fn make_heap<T: Copy>(heap: &mut [T], less: &dyn Fn(&T, &T) -> bool) {
    for parent in (0..heap.len() / 2).rev() {
        let element = heap[parent];
        adjust_heap(heap, parent, element, less);
    }
}

fn pop_heap<T: Copy>(heap: &mut Vec<T>, less: &dyn Fn(&T, &T) -> bool) {
    let Some(element) = heap.pop() else { return };
    if !heap.is_empty() {
        adjust_heap(heap, 0, element, less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut all: Vec<f64>) -> Vec<f64> {
        stable_sort(&mut all, |x, y| x < y);
        all
    }

    #[test]
    fn sorts_agree_with_the_standard_library() {
        // Long enough for several rounds of merging.
        let numbers: Vec<f64> = (0..1000).map(|k| f64::from(k * 7919 % 1009)).collect();
        let mut expected = numbers.clone();
        expected.sort_by(f64::total_cmp);
        assert_eq!(sorted(numbers.clone()), expected);
        assert_eq!(sorted(vec![]), [0.0; 0]);
        for count in [0, 1, 2, 5, 64, 999, 1000] {
            let mut least = numbers.clone();
            select(&mut least, count, |x, y| x < y);
            assert_eq!(least, expected[..count]);
        }
        // Equal elements keep their order.
        let mut pairs: Vec<(u32, u32)> = (0..100).map(|k| (k % 3, k)).collect();
        let mut wanted = pairs.clone();
        wanted.sort_by_key(|pair| pair.0);
        stable_sort(&mut pairs, |x, y| x.0 < y.0);
        assert_eq!(pairs, wanted);
    }
}
