//! Allocations whose size the program determines.
//!
//! A shape, an attribute or the elements of an argument determine how long a vector must be, and
//! any of them may ask for 2^62. Every such vector is therefore allocated here: its size is first
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
    interrupt,
};

/// Smaller allocations are not checked against the memory limit: the lowest possible limit is a
/// megabyte, and the memory that a call retains is measured afterwards.
const SMALL: u64 = 16 << 10;

/// Returns an empty vector with room for `count` items.
///
/// If the memory cannot be had, the work that the thread does [within](crate::Watch::within) a run
/// ends with [`FaultKind::Memory`]. Outside of a run, this panics.
pub fn room<T>(count: usize) -> Vec<T> {
    let mut all = Vec::new();
    if let Err(fault) = reserve(&mut all, count) {
        interrupt::end(fault);
    }
    all
}

/// Appends an item. A full vector doubles its capacity, which fails as [`room`] does.
pub(crate) fn push<T>(all: &mut Vec<T>, item: T) {
    if all.len() == all.capacity()
        && let Err(fault) = reserve(all, all.len().max(4))
    {
        interrupt::end(fault);
    }
    all.push(item);
}

/// Collects the items into a vector that is allocated as [`room`] does.
pub(crate) fn collected<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let (least, most) = items.size_hint();
    let mut all = room(least);
    if most == Some(least) {
        all.extend(items);
    } else {
        items.for_each(|item| push(&mut all, item));
    }
    all
}

/// Collects the items into a vector that is allocated as [`room`] does, or returns the first error.
pub(crate) fn try_collected<T, E>(items: impl Iterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let mut all = room(items.size_hint().1.unwrap_or(0));
    for item in items {
        push(&mut all, item?);
    }
    Ok(all)
}

fn reserve<T>(all: &mut Vec<T>, more: usize) -> Result<(), Fault> {
    let bytes = (more as u64).saturating_mul(size_of::<T>() as u64);
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
            "{} MB are needed at once, which is more than the system can provide",
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
            assert_eq!(kind(free.within(|| room::<f64>(count).len())), Some(FaultKind::Memory));
            let repeated = free.within(|| interrupt::repeated(1f32, count).len());
            assert_eq!(kind(repeated), Some(FaultKind::Memory));
            let collected = free.within(|| collected((0..count).map(|k| k as f64)).len());
            assert_eq!(kind(collected), Some(FaultKind::Memory));
        }
        assert_eq!(free.within(|| room::<f64>(1000).capacity()).ok(), Some(1000));
    }

    #[test]
    fn sizes_above_the_limit_are_not_allocated() {
        let watch = limited(Some(1 << 20));
        assert_eq!(watch.within(|| room::<u8>(1 << 20).capacity()).ok(), Some(1 << 20));
        assert_eq!(kind(watch.within(|| room::<u8>((1 << 20) + 1))), Some(FaultKind::Memory));
        // The length of these vectors is unknown until they have grown.
        let odd = || collected((0u64..1 << 30).filter(|k| k % 2 == 1)).len();
        assert_eq!(kind(watch.within(odd)), Some(FaultKind::Memory));
        let all = || try_collected((0u64..1 << 30).map(Ok::<u64, ()>)).map(|all| all.len());
        assert_eq!(kind(watch.within(all)), Some(FaultKind::Memory));
        // Memory that is already in use counts.
        let twice = || {
            interrupt::hold(1 << 19);
            room::<u8>(1 << 19).capacity() + room::<u8>((1 << 19) + 1).capacity()
        };
        assert_eq!(kind(watch.within(twice)), Some(FaultKind::Memory));
        assert_eq!(watch.within(|| room::<u8>(1 << 20).capacity()).ok(), Some(1 << 20));
    }

    #[test]
    fn the_first_error_is_returned() {
        let items = [Ok(1), Err("second"), Err("third")];
        assert_eq!(try_collected(items.into_iter()), Err("second"));
        assert_eq!(try_collected([Ok::<_, ()>(1), Ok(2)].into_iter()), Ok(vec![1, 2]));
    }
}
