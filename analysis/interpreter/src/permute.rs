//! Permutations of the axes of a tensor.

use ndarray::IxDyn;

use crate::{
    allocate::{mapped, repeated, with_capacity},
    interrupt::{PIECE, pieces_mut, spend},
    parallel::each_chunk,
    tensor::{Array, Element, Tensor, each_dtype},
};

/// The side of the squares that are transposed at once: the number of cache lines that stay cached.
const TILE: usize = 16;
/// The number of elements per thread.
const PART: usize = 1 << 14;

/// An axis of the result: its size and stride in the source.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    apart: usize,
}

impl Tensor {
    /// Reverses the axes.
    #[must_use]
    pub fn transposed(&self) -> Tensor {
        let order: Vec<usize> = (0..self.rank()).rev().collect();
        self.permuted(&order)
    }

    /// Permutes the axes: axis `k` of the result is axis `order[k]` of the tensor.
    pub(crate) fn permuted(&self, order: &[usize]) -> Tensor {
        if order.iter().enumerate().all(|(k, &axis)| k == axis) {
            return self.clone();
        }
        // The order of axes of size 1 does not matter.
        let shape = self.shape();
        let long: Vec<usize> = order.iter().copied().filter(|&axis| shape[axis] != 1).collect();
        let sizes: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        if long.is_sorted()
            && let Some(tensor) = self.clone().reshape(&sizes)
        {
            return tensor;
        }
        each_dtype!(self, array => {
            let elements = permuted(array.as_slice().unwrap_or_default(), shape, order);
            match Array::from_shape_vec(IxDyn(&sizes), elements) {
                Ok(array) => T::wrap(array),
                // The sizes are those of the array.
                Err(_) => self.clone(),
            }
        })
    }
}

/// Returns the elements of `source`, which has the shape `shape`, such that axis `k` of the result is
/// axis `order[k]` of the source. `order` contains each axis once.
pub(crate) fn permuted<T: Element>(source: &[T], shape: &[usize], order: &[usize]) -> Vec<T> {
    let axes = axes(shape, order);
    if source.is_empty() || axes.is_empty() {
        return mapped(source, |x| x);
    }
    let mut result = repeated(T::default(), source.len());
    // The elements of the result per step along its first axis, and the steps per thread.
    let step: usize = axes[1..].iter().map(|axis| axis.size).product();
    let wide = if axes[0].size < 16 * TILE { TILE } else { 4 * TILE };
    let steps = (PART / step).next_multiple_of(wide).max(1);
    let column = axes.iter().position(|axis| axis.apart == 1);
    let apart = axes[0].apart;
    each_chunk(&mut result, steps * step, 2, &|part, result| {
        let mut axes = axes.clone();
        spend(result.len().min(PART));
        axes[0].size = result.len() / step;
        let source = &source[part * steps * apart..];
        match column {
            Some(column) if column + 1 < axes.len() => tiles(source, result, &axes, column),
            _ => runs(source, result, &axes),
        }
    });
    result
}

/// Returns the axes of the result with their strides in the source. Axes that stay adjacent are merged.
fn axes(shape: &[usize], order: &[usize]) -> Vec<Axis> {
    let mut strides = repeated(1, shape.len());
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k] * shape[k];
    }
    let mut axes: Vec<Axis> = with_capacity(order.len());
    for &axis in order.iter().filter(|&&axis| shape[axis] != 1) {
        let (size, apart) = (shape[axis], strides[axis]);
        match axes.last_mut() {
            Some(before) if before.apart == size * apart => {
                *before = Axis { size: before.size * size, apart };
            }
            _ => axes.push(Axis { size, apart }),
        }
    }
    axes
}

/// Returns the offset in the source of each step over `axes`, in order.
fn starts(axes: &[Axis]) -> impl Iterator<Item = usize> {
    let count: usize = axes.iter().map(|axis| axis.size).product();
    let mut index = repeated(0, axes.len());
    let mut start = 0;
    (0..count).map(move |_| {
        let here = start;
        for (at, axis) in index.iter_mut().zip(axes).rev() {
            *at += 1;
            start += axis.apart;
            if *at < axis.size {
                break;
            }
            start -= axis.size * axis.apart;
            *at = 0;
        }
        here
    })
}

/// Copies runs of elements, if the last axis is also the last of the source.
fn runs<T: Element>(source: &[T], result: &mut [T], axes: &[Axis]) {
    let Some((last, outer)) = axes.split_last() else { return };
    for (row, start) in result.chunks_mut(last.size).zip(starts(outer)) {
        let source = &source[start..start + row.len()];
        for (row, source) in pieces_mut(row).zip(source.chunks(PIECE)) {
            row.copy_from_slice(source);
        }
    }
}

/// Copies squares of elements, if axis `column` of the result is the last of the source.
fn tiles<T: Element>(source: &[T], result: &mut [T], axes: &[Axis], column: usize) {
    let Some((last, outer)) = axes.split_last() else { return };
    // Iterates over all other axes, in the source and in the result.
    let (mut from, mut to) = (with_capacity(axes.len()), with_capacity(axes.len()));
    let mut apart = result.len();
    let mut between = 1;
    for (k, axis) in outer.iter().enumerate() {
        apart /= axis.size;
        if k == column {
            between = apart;
        } else {
            from.push(*axis);
            to.push(Axis { size: axis.size, apart });
        }
    }
    let columns = axes[column].size;
    for (from, to) in starts(&from).zip(starts(&to)) {
        // Neighbours in the source first, since they are read together.
        for top in (0..last.size).step_by(TILE) {
            let width = TILE.min(last.size - top);
            for left in (0..columns).step_by(TILE) {
                let height = TILE.min(columns - left);
                spend(TILE * width);
                let source = &source[from + top * last.apart + left..];
                let result = &mut result[to + left * between + top..];
                if (width, height) == (TILE, TILE) {
                    tile(source, last.apart, result, between);
                    continue;
                }
                for at in 0..height {
                    let row = &mut result[at * between..at * between + width];
                    let elements = source[at..].iter().step_by(last.apart);
                    row.iter_mut().zip(elements).for_each(|(to, &element)| *to = element);
                }
            }
        }
    }
}

/// Copies a whole tile: rows of the source, `apart` from one another, as columns of the result, whose rows
/// are `between` apart. Rows whose length is a power of two, or nearly, compete for the same cache
/// sets, so each is touched only once. Constant sizes make this four times faster.
fn tile<T: Element>(source: &[T], apart: usize, result: &mut [T], between: usize) {
    let mut tile = [[T::default(); TILE]; TILE];
    for k in 0..TILE {
        let row = source.get(k * apart..).and_then(|row| row.first_chunk::<TILE>());
        for (column, &element) in tile.iter_mut().zip(row.into_iter().flatten()) {
            column[k] = element;
        }
    }
    for (at, column) in tile.iter().enumerate() {
        let row = result.get_mut(at * between..).and_then(|row| row.first_chunk_mut::<TILE>());
        if let Some(row) = row {
            *row = *column;
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{ArrayD, IxDyn};

    use super::*;

    fn wanted(source: &[i32], shape: &[usize], order: &[usize]) -> Vec<i32> {
        let array = ArrayD::from_shape_vec(IxDyn(shape), source.to_vec());
        let array = array.expect("as many as the shape has");
        array.permuted_axes(order).iter().copied().collect()
    }

    #[test]
    fn permutations_agree_with_ndarray() {
        let mut rng = fastrand::Rng::with_seed(1);
        for round in 0..400 {
            let rank = rng.usize(0..6);
            let most = if round % 40 == 0 { 20 } else { 6 };
            let shape: Vec<usize> = (0..rank).map(|_| rng.usize(0..most)).collect();
            let mut order: Vec<usize> = (0..rank).collect();
            rng.shuffle(&mut order);
            let source: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
            let found = permuted(&source, &shape, &order);
            assert_eq!(found, wanted(&source, &shape, &order), "{shape:?} by {order:?}");
        }
    }

    #[test]
    fn large_permutations_agree_with_ndarray() {
        for shape in [[700, 300, 1], [3, 100, 500], [2000, 3, 17]] {
            for order in [[1, 0, 2], [2, 1, 0], [0, 2, 1], [2, 0, 1], [1, 2, 0]] {
                let source: Vec<i32> = (0..shape.iter().product::<usize>() as i32).collect();
                let found = permuted(&source, &shape, &order);
                assert!(found == wanted(&source, &shape, &order), "{shape:?} by {order:?}");
            }
        }
    }
}
