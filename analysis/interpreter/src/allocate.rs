//! Allocations whose size the program determines.
//!
//! A shape, an attribute or the elements of an argument determine the length of a vector, which may
//! be 2^62. Every such vector is therefore allocated here: its size is first
//! checked against the memory limit of the run, and a failed allocation never aborts the process.
//! If there is not enough memory, the thread unwinds to where the machine called the kernel, as in
//! [`interrupt`], and the call fails with [`FaultKind::Memory`].
//!
//! Vectors with one item per axis, operand or attribute are no longer than the text of the program
//! and need none of this.
//!
//! [`interrupt`]: crate::interrupt

use crate::{
    fault::{Fault, FaultKind},
    interrupt::{self, PIECE, pieces, spend, with_pool},
};

/// Smaller allocations are not checked against the memory limit: the lowest possible limit is a
/// megabyte, and the memory that a call retains is measured afterwards.
const SMALL: u64 = 16 << 10;

/// Returns an empty vector with capacity for `count` items.
///
/// If the memory is not available, the work that the thread does [within](crate::Watch::within) a run
/// ends with [`FaultKind::Memory`]. Outside of a run, this panics.
pub fn with_capacity<T>(count: usize) -> Vec<T> {
    let mut all = Vec::new();
    if let Err(fault) = reserve(&mut all, count) {
        interrupt::raise(fault);
    }
    all
}

/// Appends an item. A full vector doubles its capacity, which fails as that of [`with_capacity`] does.
pub(crate) fn push<T>(all: &mut Vec<T>, item: T) {
    if all.len() == all.capacity()
        && let Err(fault) = reserve(all, all.len().max(4))
    {
        interrupt::raise(fault);
    }
    all.push(item);
}

/// Collects the items into a vector that is allocated as by [`with_capacity`].
pub(crate) fn collected<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let (least, most) = items.size_hint();
    let mut all = with_capacity(least);
    if most == Some(least) {
        all.extend(items);
    } else {
        items.for_each(|item| push(&mut all, item));
    }
    all
}

/// Collects the items into a vector that is allocated as by [`with_capacity`], or returns the first error.
pub(crate) fn try_collected<T, E>(items: impl Iterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let mut all = with_capacity(items.size_hint().1.unwrap_or(0));
    for item in items {
        push(&mut all, item?);
    }
    Ok(all)
}

/// Returns `count` elements equal to `value`, allocated as by [`with_capacity`].
pub fn repeated<T: Copy>(value: T, count: usize) -> Vec<T> {
    let mut all = with_capacity(count);
    while all.len() < count {
        let piece = PIECE.min(count - all.len());
        spend(piece);
        all.extend(std::iter::repeat_n(value, piece));
    }
    all
}

/// Applies `f` to each element.
pub(crate) fn mapped<T: Copy, U>(elements: &[T], f: impl Fn(T) -> U) -> Vec<U> {
    let mut all = with_capacity(elements.len());
    for piece in pieces(elements) {
        all.extend(piece.iter().map(|&element| f(element)));
    }
    all
}

/// Returns `count` elements of unspecified values, of a buffer that the run has dropped if there is
/// one of this size, and otherwise allocated as by [`with_capacity`].
pub(crate) fn reused<T: Copy + Default + 'static>(count: usize) -> Vec<T> {
    let Some(all) = with_pool(|pool| pool.take(count)).flatten() else {
        return repeated(T::default(), count);
    };
    // Counts towards the memory limit, as a new one would.
    if let Err(fault) = interrupt::allow((count * size_of::<T>()) as u64) {
        interrupt::raise(fault);
    }
    all
}

/// Keeps a buffer for the run that this thread works for.
pub(crate) fn recycle<T: Send + 'static>(elements: Vec<T>) {
    with_pool(|pool| pool.put(elements));
}

fn reserve<T>(all: &mut Vec<T>, more: usize) -> Result<(), Fault> {
    // A vector that grows is copied: for a moment there is memory for both.
    let count = all.len().saturating_add(more);
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    if bytes > SMALL {
        interrupt::allow(bytes)?;
    }
    all.try_reserve_exact(more).map_err(|_| no_memory(bytes))
}

/// The failure of an allocation that the system cannot satisfy.
pub(crate) fn no_memory(bytes: u64) -> Fault {
    Fault::new(
        FaultKind::Memory,
        format!(
            "{} MiB are needed at once, which is more than the system can provide",
            bytes.div_ceil(1 << 20)
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::limits::{Limits, Watch};

    fn limited(memory: Option<u64>) -> Watch {
        Watch::new(&Limits { memory, ..Limits::default() }, Arc::default())
    }

    fn kind<R>(result: Result<R, Fault>) -> Option<FaultKind> {
        result.err().map(|fault| fault.kind)
    }

    #[test]
    fn impossible_sizes_fail_the_call() {
        let free = limited(None);
        for count in [usize::MAX, usize::MAX / 2, 1 << 62, 1 << 59] {
            assert_eq!(
                kind(free.within(|| with_capacity::<f64>(count).len())),
                Some(FaultKind::Memory)
            );
            let repeated = free.within(|| repeated(1f32, count).len());
            assert_eq!(kind(repeated), Some(FaultKind::Memory));
            let collected = free.within(|| collected((0..count).map(|k| k as f64)).len());
            assert_eq!(kind(collected), Some(FaultKind::Memory));
        }
        assert_eq!(free.within(|| with_capacity::<f64>(1000).capacity()).ok(), Some(1000));
    }

    #[test]
    fn sizes_above_the_limit_are_not_allocated() {
        let watch = limited(Some(1 << 20));
        assert_eq!(watch.within(|| with_capacity::<u8>(1 << 20).capacity()).ok(), Some(1 << 20));
        assert_eq!(
            kind(watch.within(|| with_capacity::<u8>((1 << 20) + 1))),
            Some(FaultKind::Memory)
        );
        // The length of these vectors is unknown until they have grown.
        let odd = || collected((0u64..1 << 30).filter(|k| k % 2 == 1)).len();
        assert_eq!(kind(watch.within(odd)), Some(FaultKind::Memory));
        let all = || try_collected((0u64..1 << 30).map(Ok::<u64, ()>)).map(|all| all.len());
        assert_eq!(kind(watch.within(all)), Some(FaultKind::Memory));
        // Memory that is already in use counts.
        let twice = || {
            interrupt::charge(1 << 19);
            with_capacity::<u8>(1 << 19).capacity() + with_capacity::<u8>((1 << 19) + 1).capacity()
        };
        assert_eq!(kind(watch.within(twice)), Some(FaultKind::Memory));
        assert_eq!(watch.within(|| with_capacity::<u8>(1 << 20).capacity()).ok(), Some(1 << 20));
    }

    #[test]
    fn the_first_error_is_returned() {
        let items = [Ok(1), Err("second"), Err("third")];
        assert_eq!(try_collected(items.into_iter()), Err("second"));
        assert_eq!(try_collected([Ok::<_, ()>(1), Ok(2)].into_iter()), Ok(vec![1, 2]));
    }
}
