//! Products of filters and the windows over a plane.
//!
//! The elements under a window lie anywhere, so that those of a tile fill many lines of the cache: all strips of the filters
//! are multiplied by some of them while they are in the first level cache. The sums of a few tiles wait for the next ones.

#![expect(
    clippy::needless_range_loop,
    reason = "adapters of iterators are not always inlined into functions with more instructions"
)]

use ndarray::ArrayViewMut3;
use pulp::{Simd, WithSimd};

use super::{
    real::Real,
    tile::{
        FEW_ROWS, FEW_VECTORS, InterleavedRows, MAX_ROWS, MAX_VECTORS, Rows, ScatteredRows,
        SeparateRows, has_many_registers, product_from, shape, strip,
    },
};
use crate::{
    allocate::{collected, repeated},
    wide::ARCH,
};

/// The number of elements of a window that all filters are multiplied by before the next ones: those of a tile take up to two
/// thirds of the first level cache.
const DEPTH: usize = 256;
/// The maximum number of sums that wait, unless one tile has more: half of the first level cache.
const SUMS: usize = 4096;

/// The rows of filters.
#[derive(Clone, Copy)]
pub(crate) enum FilterRows<'a, T> {
    /// One after the other.
    Separate(&'a [T]),
    /// In strips of as many as the largest tile has. Each holds its columns one after the other.
    Interleaved(&'a [T]),
}

impl<T> FilterRows<'_, T> {
    /// Returns the rows from the element `start` on, which is the first one of a row, or of a strip.
    pub(crate) fn from(self, start: usize) -> Self {
        match self {
            FilterRows::Separate(all) => FilterRows::Separate(all.get(start..).unwrap_or_default()),
            FilterRows::Interleaved(all) => {
                FilterRows::Interleaved(all.get(start..).unwrap_or_default())
            }
        }
    }
}

/// Interleaves the first `count` rows of `depth` elements, which are at most one strip.
pub(super) fn interleave<T: Real>(rows: &[T], depth: usize, count: usize, to: &mut [T]) {
    match shape::<T>().rows {
        MAX_ROWS => interleave_strip(strip::<T, MAX_ROWS>(rows, depth, depth, 0, count), to),
        _ => interleave_strip(strip::<T, FEW_ROWS>(rows, depth, depth, 0, count), to),
    }
}

#[inline(always)]
fn interleave_strip<T: Real, const ROWS: usize>(rows: [&[T]; ROWS], to: &mut [T]) {
    let (columns, _) = to.as_chunks_mut::<ROWS>();
    for k in 0..columns.len() {
        columns[k] = SeparateRows(rows).column(k).unwrap_or([T::default(); ROWS]);
    }
}

/// The product of rows and the windows over a plane.
pub(crate) struct Windows<'a, 'c, T> {
    /// The rows of the left matrix.
    pub(crate) rows: FilterRows<'a, T>,
    /// The elements that the windows go over, followed by the columns of a tile, which are read and
    /// ignored.
    pub(crate) elements: &'a [T],
    /// The offset of the element for the first position, for each element of a row.
    pub(crate) offsets: &'a [usize],
    /// The number of positions of a line, of which the first `count` are part of the result.
    pub(crate) line: usize,
    pub(crate) count: usize,
    /// The first line.
    pub(crate) from: usize,
    /// The result: rows, and lines of `count` positions.
    pub(crate) out: &'a mut ArrayViewMut3<'c, T>,
}

impl<T: Real> Windows<'_, '_, T> {
    /// Multiplies with the vector instructions of this processor.
    pub(crate) fn multiply(self) {
        ARCH.dispatch(self);
    }

    #[inline(always)]
    fn strips<S: Simd, const ROWS: usize, const VECTORS: usize>(self, simd: S) {
        let Windows { rows, elements, offsets, line: per_line, count, from: first_line, out } =
            self;
        let (outputs, lines, _) = out.dim();
        let (depth, width) = (offsets.len(), T::lanes::<S>() * VECTORS);
        let strips = outputs.div_ceil(ROWS);
        let interleaved;
        let filters = match rows {
            FilterRows::Separate(rows) => {
                let mut all = repeated(T::default(), strips * ROWS * depth);
                for (at, to) in all.chunks_exact_mut((ROWS * depth).max(1)).enumerate() {
                    let height = ROWS.min(outputs - at * ROWS);
                    interleave_strip(strip::<T, ROWS>(rows, depth, depth, at * ROWS, height), to);
                }
                interleaved = all;
                &interleaved
            }
            FilterRows::Interleaved(rows) => rows,
        };
        let (filters, _) = filters.as_chunks::<ROWS>();
        let mut out =
            collected(out.outer_iter_mut().map(|row| row.into_slice().unwrap_or_default()));
        let places = (lines * per_line).saturating_sub(per_line - count);
        let size = ROWS * width;
        let tiles = (SUMS / (strips * size).max(1)).max(1);
        let mut sums = repeated(T::default(), strips * tiles * size);
        for first in (0..places).step_by(tiles * width) {
            let end = places.min(first + tiles * width);
            let lefts = || (first..end).step_by(width).enumerate();
            for from in (0..depth).step_by(DEPTH) {
                let to = depth.min(from + DEPTH);
                for (tile, left) in lefts() {
                    let elements = elements.get(first_line * per_line + left..).unwrap_or_default();
                    let columns = ScatteredRows { elements, offsets: &offsets[from..to] };
                    let vectors = (end - left).min(width).div_ceil(T::lanes::<S>());
                    for strip in 0..strips {
                        let rows = filters.get(strip * depth + from..strip * depth + to);
                        let rows = InterleavedRows(rows.unwrap_or_default());
                        let sums = &mut sums[(strip * tiles + tile) * size..][..size];
                        let adds = from > 0;
                        match vectors {
                            1 => add::<T, S, ROWS, 1>(simd, rows, columns, sums, adds),
                            2 if VECTORS > 2 => {
                                add::<T, S, ROWS, 2>(simd, rows, columns, sums, adds)
                            }
                            _ => add::<T, S, ROWS, VECTORS>(simd, rows, columns, sums, adds),
                        }
                    }
                }
            }
            for (tile, left) in lefts() {
                let used = width.min(end - left);
                let stride = used.next_multiple_of(T::lanes::<S>());
                let (mut line, mut place, mut at) = (left / per_line, left % per_line, 0);
                while at < used {
                    let length = (per_line - place).min(used - at);
                    let wanted = count.saturating_sub(place).min(length);
                    let to = line * count + place;
                    for row in 0..out.len() {
                        let strip = (row / ROWS * tiles + tile) * size;
                        let from = strip + row % ROWS * stride + at;
                        if let Some(to) = out[row].get_mut(to..to + wanted)
                            && let Some(sums) = sums.get(from..from + wanted)
                        {
                            to.copy_from_slice(sums);
                        }
                    }
                    at += length;
                    (line, place) = (line + 1, 0);
                }
            }
        }
    }
}

impl<T: Real> WithSimd for Windows<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if has_many_registers::<S>() {
            self.strips::<S, MAX_ROWS, MAX_VECTORS>(simd);
        } else {
            self.strips::<S, FEW_ROWS, FEW_VECTORS>(simd);
        }
    }
}

/// Writes `rows · columns` to a tile, or adds it.
#[inline(always)]
fn add<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: InterleavedRows<'_, T, ROWS>,
    columns: ScatteredRows<'_, T>,
    tile: &mut [T],
    adds: bool,
) {
    let (tile, _) = pulp::as_arrays_mut::<VECTORS, _>(T::vectors_mut::<S>(tile));
    let Some(tile) = tile.first_chunk_mut::<ROWS>() else { return };
    let before = if adds { *tile } else { [[T::zeros(simd); VECTORS]; ROWS] };
    if let Some(sums) = product_from(simd, rows, columns, before) {
        *tile = sums;
    }
}
