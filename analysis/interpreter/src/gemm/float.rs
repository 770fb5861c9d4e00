//! Products of matrices of floating point numbers.
//!
//! The right matrix is packed into panels, block by block, as many as stay in the cache; rows of the left
//! one are read where they are. So the cheaper of `a · b` and `bᵀ · aᵀ` is computed: a weight whose rows are
//! those of `bᵀ` is not copied at all.

use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2, Axis, Slice};

use super::{
    After, Gemm,
    tile::{Block, Real, lanes, panels},
};
use crate::{
    interrupt::{each_chunk, each_item, give_back, poll, repeated, spend, unset},
    tensor::Element,
};

/// The most rows of a block of the right matrix.
const DEPTH: usize = 1024;
/// The most elements of a block of the right matrix: half of a second level cache.
const BLOCK: usize = 1 << 17;
/// The most elements of a right matrix that is packed as a whole, for all threads.
const SHARED: usize = 1 << 21;
/// Multiplications that are done in one go: a fraction of a millisecond.
const WORK: usize = 1 << 24;
/// Products below this many multiplications stay on one thread.
const PARALLEL: usize = 1 << 18;
/// Parts of the work for each thread: one that has to wait leaves its parts to others.
const TURNS: usize = 4;
/// Rows of the left matrix that are walked along at once, at most.
const ROWS: usize = 8;
/// The bytes of a cache line, and of the largest vector.
const LINE: usize = 64;

/// Elements that begin at a cache line.
pub(crate) struct Aligned<T: Element> {
    elements: Vec<T>,
    start: usize,
}

impl<T: Element> Drop for Aligned<T> {
    fn drop(&mut self) {
        give_back(std::mem::take(&mut self.elements));
    }
}

impl<T: Element> Aligned<T> {
    /// So many elements of any value.
    pub(crate) fn new(count: usize) -> Aligned<T> {
        let more = LINE / size_of::<T>();
        let elements: Vec<T> = unset(count.saturating_add(more));
        let start = elements.as_ptr().align_offset(LINE).min(more);
        Aligned { elements, start }
    }

    pub(crate) fn get(&self) -> &[T] {
        self.elements.get(self.start..).unwrap_or_default()
    }

    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        self.elements.get_mut(self.start..).unwrap_or_default()
    }
}

/// A part of a matrix.
fn part<'a, T>(
    matrix: &ArrayView2<'a, T>,
    rows: Range<usize>,
    columns: Range<usize>,
) -> ArrayView2<'a, T> {
    matrix
        .slice_axis_move(Axis(0), Slice::from(rows))
        .slice_axis_move(Axis(1), Slice::from(columns))
}

/// The product the cheaper way around.
struct Oriented<'a, 'c, T> {
    a: ArrayView2<'a, T>,
    b: ArrayView2<'a, T>,
    c: ArrayViewMut2<'c, T>,
    /// The result is transposed.
    turned: bool,
}

/// Returns true if the rows of the matrix lie in one piece each.
fn has_rows<T>(matrix: &ArrayView2<'_, T>) -> bool {
    matrix.strides()[1] == 1 && matrix.strides()[0] > 0 || matrix.ncols() == 1
}

/// About how many cycles for each element of a row of `a` the product takes.
fn cost<T: Real>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>) -> usize {
    let (rows, columns) = (a.nrows(), b.ncols());
    let tiles = rows.next_multiple_of(ROWS) * columns.next_multiple_of(lanes::<T>()) / 32;
    let packed = if has_rows(b) { columns / 4 } else { columns };
    let copied = if has_rows(a) { 0 } else { rows };
    tiles + packed + copied
}

impl<'a, 'c, T: Real> Oriented<'a, 'c, T> {
    fn new(
        a: ArrayView2<'a, T>,
        b: ArrayView2<'a, T>,
        c: ArrayViewMut2<'c, T>,
    ) -> Oriented<'a, 'c, T> {
        let turned = (b.reversed_axes(), a.reversed_axes());
        if cost(&turned.0, &turned.1) < cost(&a, &b) {
            Oriented { a: turned.0, b: turned.1, c: c.reversed_axes(), turned: true }
        } else {
            Oriented { a, b, c, turned: false }
        }
    }
}

/// `c = a · b`, on this thread.
pub(super) fn product<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    c: ArrayViewMut2<'_, T>,
) {
    let Oriented { a, b, mut c, .. } = Oriented::new(a, b, c);
    by_blocks(&a, &b, &mut c);
}

/// `c = a · b`, on several threads where it is worth it, and `after` for what is done.
pub(super) fn multiply<T: Real + Gemm>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    c: ArrayViewMut2<'_, T>,
    after: After<'_>,
) {
    let apart = c.ncols();
    let Oriented { a, b, mut c, turned } = Oriented::new(a, b, c);
    // A part of the product whose first row and column are these.
    let done = |part: ArrayViewMut2<'_, T>, row: usize, column: usize| match turned {
        false => after.from(row * apart + column).rows(apart, part),
        true => after.from(column * apart + row).rows(apart, part.reversed_axes()),
    };
    let ((rows, inner), columns) = (a.dim(), b.ncols());
    let threads = rayon::current_num_threads();
    let work = rows.saturating_mul(inner).saturating_mul(columns);
    if work < PARALLEL || threads < 2 {
        by_blocks(&a, &b, &mut c);
        return done(c, 0, 0);
    }
    let parts = threads * TURNS;
    if rows / ROWS >= parts && inner.saturating_mul(columns) <= SHARED {
        let packed = Packed::new(&b);
        let size = rows.div_ceil(parts).next_multiple_of(ROWS);
        let parts = c.axis_chunks_iter_mut(Axis(0), size).zip(a.axis_chunks_iter(Axis(0), size));
        each_item(parts.enumerate(), rows.div_ceil(size), &|(at, (mut c, a))| {
            with_rows(&a, |a, apart| packed.multiply(a, apart, &mut c));
            done(c, at * size, 0);
        });
    } else if columns >= rows {
        let size = columns.div_ceil(parts).next_multiple_of(3 * lanes::<T>());
        let parts = c.axis_chunks_iter_mut(Axis(1), size).zip(b.axis_chunks_iter(Axis(1), size));
        each_item(parts.enumerate(), columns.div_ceil(size), &|(at, (mut c, b))| {
            by_blocks(&a, &b, &mut c);
            done(c, 0, at * size);
        });
    } else {
        let size = rows.div_ceil(threads).next_multiple_of(ROWS);
        let parts = c.axis_chunks_iter_mut(Axis(0), size).zip(a.axis_chunks_iter(Axis(0), size));
        each_item(parts.enumerate(), rows.div_ceil(size), &|(at, (mut c, a))| {
            by_blocks(&a, &b, &mut c);
            done(c, at * size, 0);
        });
    }
}

/// The sizes of blocks of a right matrix: rows and columns.
fn block_of<T: Real>(inner: usize, columns: usize) -> (usize, usize) {
    let depth = inner.div_ceil(inner.div_ceil(DEPTH).max(1)).max(1);
    let width = 3 * lanes::<T>();
    (depth, (BLOCK / depth / width * width).clamp(width, columns.max(width)))
}

/// Calls `work` with the elements of a matrix in which rows lie in one piece each, and how far apart they are.
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

/// `c = a · b`, packed block by block.
fn by_blocks<T: Real>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>, c: &mut ArrayViewMut2<'_, T>) {
    let (inner, columns) = b.dim();
    if c.is_empty() {
        return;
    }
    if inner == 0 {
        return c.fill(T::default());
    }
    let (depth, width) = block_of::<T>(inner, columns);
    let room: usize = panels::<T>(columns.min(width)).sum();
    let mut packed = Aligned::new(room * depth);
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

/// A block of the product, a part of its rows at a time: between them it looks whether it is to go on.
fn rows<T: Real>(
    a: &[T],
    apart: usize,
    panels: &[T],
    depth: usize,
    c: &mut ArrayViewMut2<'_, T>,
    adds: bool,
) {
    let (rows, columns) = c.dim();
    let height = (WORK / (depth * columns).max(1) / ROWS * ROWS).max(ROWS);
    for top in (0..rows).step_by(height) {
        let bottom = rows.min(top + height);
        spend((bottom - top) * depth * columns / 32);
        let mut out = c.slice_axis_mut(Axis(0), Slice::from(top..bottom));
        let rows = a.get(top * apart..).unwrap_or_default();
        Block { rows, apart, depth, panels, out: &mut out, adds }.multiply();
    }
}

/// A whole matrix in panels: blocks of rows, one after the other, of all columns.
struct Packed<T: Element> {
    elements: Aligned<T>,
    /// The rows of the matrix, and of a block.
    inner: usize,
    depth: usize,
    columns: usize,
    /// The elements of a row of all panels.
    width: usize,
}

impl<T: Real> Packed<T> {
    fn new(matrix: &ArrayView2<'_, T>) -> Packed<T> {
        let (inner, columns) = matrix.dim();
        let (depth, _) = block_of::<T>(inner, columns);
        let width: usize = panels::<T>(columns).sum();
        let mut elements = Aligned::new(width * inner);
        let all = elements.get_mut().get_mut(..width * inner).unwrap_or_default();
        let panel = 3 * lanes::<T>();
        for (block, from) in all.chunks_mut((depth * width).max(1)).zip((0..inner).step_by(depth)) {
            let rows = from..inner.min(from + depth);
            each_chunk(block, rows.len() * panel, 1, &|at, to| {
                let columns = at * panel..columns.min((at + 1) * panel);
                spend(to.len());
                pack(&part(matrix, rows.clone(), columns), to);
            });
        }
        Packed { elements, inner, depth, columns, width }
    }

    /// `c = a · self`, on this thread.
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

/// Columns that are turned into rows together: as many elements as a cache line has.
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
        if has_rows(&block) {
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
