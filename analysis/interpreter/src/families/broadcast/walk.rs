//! Broadcasting of shapes.

use crate::families::prelude::*;

/// Several shapes broadcast together. Adjacent axes are merged if every operand has one stride over
/// both.
pub(crate) struct Broadcast<const N: usize> {
    /// The common shape.
    pub(crate) shape: Vec<usize>,
    sizes: Vec<usize>,
    strides: [Vec<usize>; N],
}

impl<const N: usize> Broadcast<N> {
    /// Broadcasts shapes; `None` if they are incompatible.
    pub(crate) fn of(shapes: [&[usize]; N]) -> Option<Broadcast<N>> {
        let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
        let mut shape = repeated(1, rank);
        for operand in shapes {
            let skip = rank - operand.len();
            for (axis, &size) in operand.iter().enumerate() {
                match (&mut shape[skip + axis], size) {
                    (_, 1) => {}
                    (common, size) if *common == 1 => *common = size,
                    (common, size) if *common == size => {}
                    _ => return None,
                }
            }
        }
        Some(Broadcast::to(shape, shapes))
    }

    /// Broadcasts each operand to `shape`, without a check.
    pub(super) fn to(shape: Vec<usize>, shapes: [&[usize]; N]) -> Broadcast<N> {
        let rank = shape.len();
        let strides = shapes.map(|operand| {
            let mut strides = repeated(0, rank);
            let mut step = 1;
            for axis in (0..operand.len()).rev() {
                let at = rank - operand.len() + axis;
                strides[at] = if operand[axis] == 1 { 0 } else { step };
                step *= operand[axis];
            }
            strides
        });
        let mut merged = Broadcast { shape, sizes: Vec::new(), strides: strides.clone() };
        merged.strides.iter_mut().for_each(Vec::clear);
        for (axis, &size) in merged.shape.iter().enumerate() {
            if size == 1 {
                continue;
            }
            let joins = !merged.sizes.is_empty()
                && (0..N).all(|k| {
                    merged.strides[k].last().is_some_and(|&last| last == strides[k][axis] * size)
                });
            if joins {
                if let Some(last) = merged.sizes.last_mut() {
                    *last *= size;
                }
                for (merged, strides) in merged.strides.iter_mut().zip(&strides) {
                    if let Some(last) = merged.last_mut() {
                        *last = strides[axis];
                    }
                }
            } else {
                merged.sizes.push(size);
                (0..N).for_each(|k| merged.strides[k].push(strides[k][axis]));
            }
        }
        merged
    }

    /// Returns the number of elements of the result.
    pub(super) fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Returns the stride of each operand, 0 or 1, if one row covers the whole result and at least
    /// one operand is contiguous.
    pub(super) fn steps(&self) -> Option<[usize; N]> {
        let steps: [usize; N] = match self.sizes.len() {
            1 => std::array::from_fn(|k| self.strides[k][0]),
            _ => return None,
        };
        (steps.contains(&1) && steps.iter().all(|&step| step < 2)).then_some(steps)
    }

    /// Calls `row` for each row of the result with its start and length there, and the start and
    /// stride in each operand. Long rows are split.
    ///
    /// This is compiled once for each number of operands: `row` is called through a pointer, and
    /// has the loops over elements.
    pub(in crate::families) fn rows(&self, row: &mut dyn FnMut(usize, usize, [(usize, usize); N])) {
        if self.shape.contains(&0) {
            return;
        }
        let mut row = |start: usize, length: usize, operands: [(usize, usize); N]| {
            for from in (0..length).step_by(PIECE) {
                let piece = PIECE.min(length - from);
                spend(piece);
                row(start + from, piece, operands.map(|(at, step)| (at + from * step, step)));
            }
        };
        let Some((&length, outer)) = self.sizes.split_last() else {
            row(0, 1, [(0, 1); N]);
            return;
        };
        let steps: [usize; N] = std::array::from_fn(|k| self.strides[k][outer.len()]);
        let mut index = repeated(0usize, outer.len());
        let mut at = [0usize; N];
        let mut start = 0;
        loop {
            row(start, length, std::array::from_fn(|k| (at[k], steps[k])));
            start += length;
            let mut axis = outer.len();
            loop {
                let Some(next) = axis.checked_sub(1) else { return };
                axis = next;
                index[axis] += 1;
                (0..N).for_each(|k| at[k] += self.strides[k][axis]);
                if index[axis] < outer[axis] {
                    break;
                }
                (0..N).for_each(|k| at[k] -= self.strides[k][axis] * outer[axis]);
                index[axis] = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_merged() {
        let walk = Broadcast::of([&[2, 3, 4, 5][..], &[3, 1, 1]]).expect("they fit");
        assert_eq!(walk.shape, [2, 3, 4, 5]);
        assert_eq!(walk.sizes, [2, 3, 20]);
        let walk = Broadcast::of([&[2, 3][..], &[2, 3]]).expect("they fit");
        assert_eq!(walk.sizes, [6]);
        assert!(Broadcast::of([&[2][..], &[3]]).is_none());
        let mut rows = 0;
        Broadcast::of([&[0, 3][..], &[1]]).expect("they fit").rows(&mut |_, _, _| rows += 1);
        assert_eq!(rows, 0);
    }
}
