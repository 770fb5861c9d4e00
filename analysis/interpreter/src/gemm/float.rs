//! Products of matrices of floating point numbers.
//!
//! Blocks of the right matrix that fit into the cache are packed into panels. Rows of the left matrix
//! are read in place. The cheaper of `a · b` and `bᵀ · aᵀ` is computed, so that a weight whose rows are
//! those of `bᵀ` is not copied.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, Axis, Slice};

use super::{
    Epilogue, Gemm,
    real::Real,
    tile::{Block, Shape, panels, shape},
};
use crate::{
    allocate::{recycle, repeated},
    interrupt::{poll, spend},
    parallel::{each_chunk, each_item, threads},
    tensor::{Element, unspecified},
};

/// The maximum number of rows of a block of the right matrix.
const DEPTH: usize = 1024;
/// The maximum number of elements of a block of the right matrix: half of a second level cache.
const BLOCK: usize = 1 << 17;
/// The maximum number of elements of a right matrix that is packed as a whole, for all threads.
const SHARED: usize = 1 << 21;
/// The number of multiplications between checks for cancellation: a fraction of a millisecond.
const WORK: usize = 1 << 24;
/// The number of multiplications below which a product stays on one thread.
const MIN_PARALLEL: usize = 1 << 18;
/// The number of parts of the work per thread: a thread that is delayed leaves its parts to others.
const PARTS_PER_THREAD: usize = 8;
/// The size of a cache line and of the largest vector, in bytes.
const LINE: usize = 64;

/// Elements aligned to a cache line.
pub(crate) struct AlignedElements<T: Element> {
    elements: Vec<T>,
    start: usize,
}

impl<T: Element> Drop for AlignedElements<T> {
    fn drop(&mut self) {
        recycle(std::mem::take(&mut self.elements));
    }
}

impl<T: Element> AlignedElements<T> {
    /// Allocates `count` elements of unspecified values.
    pub(crate) fn new(count: usize) -> AlignedElements<T> {
        let more = LINE / size_of::<T>();
        let elements: Vec<T> = unspecified(count.saturating_add(more));
        let start = elements.as_ptr().align_offset(LINE).min(more);
        AlignedElements { elements, start }
    }

    pub(crate) fn get(&self) -> &[T] {
        self.elements.get(self.start..).unwrap_or_default()
    }

    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        self.elements.get_mut(self.start..).unwrap_or_default()
    }
}

/// Returns a part of a matrix.
fn part<'a, T>(
    matrix: &ArrayView2<'a, T>,
    rows: Range<usize>,
    columns: Range<usize>,
) -> ArrayView2<'a, T> {
    matrix
        .slice_axis_move(Axis(0), Slice::from(rows))
        .slice_axis_move(Axis(1), Slice::from(columns))
}

/// A product in the cheaper of its two orientations.
struct OrientedProduct<'a, 'c, T> {
    a: ArrayView2<'a, T>,
    b: ArrayView2<'a, T>,
    c: ArrayViewMut2<'c, T>,
    /// True if both operands and the result are transposed.
    is_transposed: bool,
}

/// Returns true if each row of the matrix is contiguous.
fn has_rows<T>(matrix: &ArrayView2<'_, T>) -> bool {
    matrix.strides()[1] == 1 && matrix.strides()[0] > 0 || matrix.ncols() == 1
}

/// Estimates the cycles of a product per element of a row of `a`.
fn cost<T: Real>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>) -> usize {
    let (rows, columns) = (a.nrows(), b.ncols());
    let Shape { rows: height, .. } = shape::<T>();
    let tiles = rows.next_multiple_of(height) * panels::<T>(columns).sum::<usize>() / 32;
    let packed = if has_rows(b) { columns / 4 } else { columns };
    let copied = if has_rows(a) { 0 } else { rows };
    tiles + packed + copied
}

impl<'a, 'c, T: Real> OrientedProduct<'a, 'c, T> {
    fn new(
        a: ArrayView2<'a, T>,
        b: ArrayView2<'a, T>,
        c: ArrayViewMut2<'c, T>,
    ) -> OrientedProduct<'a, 'c, T> {
        let (bt, at) = (b.reversed_axes(), a.reversed_axes());
        if cost(&bt, &at) < cost(&a, &b) {
            OrientedProduct { a: bt, b: at, c: c.reversed_axes(), is_transposed: true }
        } else {
            OrientedProduct { a, b, c, is_transposed: false }
        }
    }
}

/// Computes `c = a · b` on this thread.
pub(super) fn product<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    c: ArrayViewMut2<'_, T>,
) {
    let OrientedProduct { a, b, mut c, .. } = OrientedProduct::new(a, b, c);
    by_blocks(&a, &b, &mut c);
}

/// Computes `c = a · b`, on several threads if that pays off, and applies the epilogue.
pub(super) fn multiply<T: Real + Gemm>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    c: ArrayViewMut2<'_, T>,
    epilogue: Epilogue<'_>,
) {
    let apart = c.ncols();
    let OrientedProduct { a, b, mut c, is_transposed } = OrientedProduct::new(a, b, c);
    // Called for each part of the product that is computed, with its first row and column.
    let finish = |part: ArrayViewMut2<'_, T>, row: usize, column: usize| match is_transposed {
        false => epilogue.at(row * apart + column).apply(apart, part),
        true => epilogue.at(column * apart + row).apply(apart, part.reversed_axes()),
    };
    let ((rows, inner), columns) = (a.dim(), b.ncols());
    let threads = threads();
    let work = rows.saturating_mul(inner).saturating_mul(columns);
    if work < MIN_PARALLEL || threads < 2 {
        by_blocks(&a, &b, &mut c);
        return finish(c, 0, 0);
    }
    let parts = threads * PARTS_PER_THREAD;
    let tile = shape::<T>();
    if rows / tile.rows >= parts && inner.saturating_mul(columns) <= SHARED {
        let packed = PackedMatrix::new(&b);
        let size = rows.div_ceil(parts).next_multiple_of(tile.rows);
        let parts = c.axis_chunks_iter_mut(Axis(0), size).zip(a.axis_chunks_iter(Axis(0), size));
        each_item(parts.enumerate(), rows.div_ceil(size), &|(at, (mut c, a))| {
            with_rows(&a, |a, apart| packed.multiply(a, apart, &mut c));
            finish(c, at * size, 0);
        });
    } else if columns >= rows {
        let size = columns.div_ceil(parts).next_multiple_of(tile.columns);
        let parts = c.axis_chunks_iter_mut(Axis(1), size).zip(b.axis_chunks_iter(Axis(1), size));
        each_item(parts.enumerate(), columns.div_ceil(size), &|(at, (mut c, b))| {
            by_blocks(&a, &b, &mut c);
            finish(c, 0, at * size);
        });
    } else {
        let size = rows.div_ceil(threads).next_multiple_of(tile.rows);
        let parts = c.axis_chunks_iter_mut(Axis(0), size).zip(a.axis_chunks_iter(Axis(0), size));
        each_item(parts.enumerate(), rows.div_ceil(size), &|(at, (mut c, a))| {
            by_blocks(&a, &b, &mut c);
            finish(c, at * size, 0);
        });
    }
}

/// Returns the numbers of rows and columns of a block of the right matrix.
fn block_of<T: Real>(inner: usize, columns: usize) -> (usize, usize) {
    let depth = inner.div_ceil(inner.div_ceil(DEPTH).max(1)).max(1);
    let width = shape::<T>().columns;
    (depth, (BLOCK / depth / width * width).clamp(width, columns.max(width)))
}

/// Calls `work` with the elements of a matrix whose rows are contiguous, and the distance of the rows.
/// Other matrices are copied.
fn with_rows<T: Real>(matrix: &ArrayView2<'_, T>, work: impl FnOnce(&[T], usize)) {
    let (rows, columns) = matrix.dim();
    let apart = matrix.strides()[0];
    if has_rows(matrix)
        && let Ok(apart) = usize::try_from(apart)
        && let Some(all) = matrix.to_slice_memory_order()
    {
        return work(all, if rows == 1 { columns } else { apart });
    }
    let mut all = repeated(T::default(), rows * columns);
    for (to, row) in all.chunks_mut(columns.max(1)).zip(matrix.outer_iter()) {
        spend(columns);
        to.iter_mut().zip(&row).for_each(|(to, &x)| *to = x);
    }
    work(&all, columns);
}

/// Computes `c = a · b`, packing one block of `b` after another.
fn by_blocks<T: Real>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>, c: &mut ArrayViewMut2<'_, T>) {
    let (inner, columns) = b.dim();
    if c.is_empty() {
        return;
    }
    if inner == 0 {
        return c.fill(T::default());
    }
    let (depth, width) = block_of::<T>(inner, columns);
    let padded: usize = panels::<T>(columns.min(width)).sum();
    let mut packed = AlignedElements::new(padded * depth);
    with_rows(a, |a, apart| {
        for left in (0..columns).step_by(width) {
            let right = columns.min(left + width);
            for from in (0..inner).step_by(depth) {
                let to = inner.min(from + depth);
                pack(&part(b, from..to, left..right), packed.get_mut());
                let mut c = c.slice_axis_mut(Axis(1), Slice::from(left..right));
                let a = a.get(from..).unwrap_or_default();
                rows(a, apart, packed.get(), to - from, &mut c, from > 0);
            }
        }
    });
}

/// Multiplies rows by one block, with checks for cancellation between parts of the rows.
fn rows<T: Real>(
    a: &[T],
    apart: usize,
    panels: &[T],
    depth: usize,
    c: &mut ArrayViewMut2<'_, T>,
    adds: bool,
) {
    let (rows, columns) = c.dim();
    let strip = shape::<T>().rows;
    let height = (WORK / (depth * columns).max(1) / strip * strip).max(strip);
    for top in (0..rows).step_by(height) {
        let bottom = rows.min(top + height);
        spend((bottom - top) * depth * columns / 32);
        let mut out = c.slice_axis_mut(Axis(0), Slice::from(top..bottom));
        let rows = a.get(top * apart..).unwrap_or_default();
        Block { rows, apart, depth, panels, out: &mut out, adds }.multiply();
    }
}

/// A whole matrix in panels: one block of rows with all columns after another.
struct PackedMatrix<T: Element> {
    elements: AlignedElements<T>,
    /// The number of rows of the matrix.
    inner: usize,
    /// The number of rows of a block.
    depth: usize,
    columns: usize,
    /// The number of elements of a row of all panels, in whole vectors so that blocks are aligned.
    width: usize,
}

impl<T: Real> PackedMatrix<T> {
    fn new(matrix: &ArrayView2<'_, T>) -> PackedMatrix<T> {
        let (inner, columns) = matrix.dim();
        let (depth, _) = block_of::<T>(inner, columns);
        let Shape { columns: panel, lanes, .. } = shape::<T>();
        let width = panels::<T>(columns).sum::<usize>().next_multiple_of(lanes.max(1));
        let mut elements = AlignedElements::new(width * inner);
        let all = elements.get_mut().get_mut(..width * inner).unwrap_or_default();
        for (block, from) in all.chunks_mut((depth * width).max(1)).zip((0..inner).step_by(depth)) {
            let rows = from..inner.min(from + depth);
            each_chunk(block, rows.len() * panel, 1, &|at, to| {
                let columns = at * panel..columns.min((at + 1) * panel);
                spend(to.len());
                pack(&part(matrix, rows.clone(), columns), to);
            });
        }
        PackedMatrix { elements, inner, depth, columns, width }
    }

    /// Computes `c = a · self` on this thread.
    fn multiply(&self, a: &[T], apart: usize, c: &mut ArrayViewMut2<'_, T>) {
        let (_, step) = block_of::<T>(self.inner, self.columns);
        for from in (0..self.inner).step_by(self.depth) {
            let depth = self.depth.min(self.inner - from);
            let a = a.get(from..).unwrap_or_default();
            let block = self.elements.get().get(from * self.width..).unwrap_or_default();
            for left in (0..self.columns).step_by(step) {
                let right = self.columns.min(left + step);
                let panels = block.get(left * depth..).unwrap_or_default();
                let mut c = c.slice_axis_mut(Axis(1), Slice::from(left..right));
                rows(a, apart, panels, depth, &mut c, from > 0);
            }
        }
    }
}

/// The number of columns that are transposed together: the elements of a cache line.
const SQUARE: usize = 16;

/// Writes the panels of a block.
fn pack<T: Real>(block: &ArrayView2<'_, T>, to: &mut [T]) {
    let (depth, columns) = block.dim();
    let mut rest = to;
    let mut left = 0;
    poll();
    for width in panels::<T>(columns) {
        let used = width.min(columns - left);
        let Some((panel, later)) = std::mem::take(&mut rest).split_at_mut_checked(width * depth)
        else {
            return;
        };
        rest = later;
        spend(panel.len());
        let block = block.slice_axis(Axis(1), Slice::from(left..left + used));
        left += used;
        if used < width {
            panel.fill(T::default());
        }
        if has_rows(&block) && used > 1 {
            for (row, to) in block.outer_iter().zip(panel.chunks_exact_mut(width)) {
                if let Some(row) = row.to_slice() {
                    to[..used].copy_from_slice(row);
                }
            }
            continue;
        }
        for from in (0..depth).step_by(SQUARE) {
            let rows = from..depth.min(from + SQUARE);
            let panel = &mut panel[from * width..rows.end * width];
            for (column, from) in block.axis_iter(Axis(1)).enumerate() {
                let to = panel[column..].iter_mut().step_by(width);
                match from.to_slice() {
                    Some(from) => to.zip(&from[rows.clone()]).for_each(|(to, &x)| *to = x),
                    None => {
                        let from = from.slice_axis(Axis(0), Slice::from(rows.clone()));
                        to.zip(&from).for_each(|(to, &x)| *to = x);
                    }
                }
            }
        }
    }
}
