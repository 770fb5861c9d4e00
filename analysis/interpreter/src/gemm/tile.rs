//! The innermost loops of products of floating point numbers.
//!
//! A *panel* holds some columns of the right matrix, row by row, in whole vectors. A *strip* of rows of
//! the left matrix times a panel is a *tile* of the result, which stays in registers during the inner
//! loop. Rows of the left matrix are read in place, or those of a filter interleaved. A column that is left
//! alone would fill one element of a vector: it is a panel of its own, without padding, whose dot products
//! with the rows are computed along the rows.

#![expect(
    clippy::needless_range_loop,
    reason = "adapters of iterators are not always inlined into functions with more instructions"
)]

use std::marker::PhantomData;

use ndarray::ArrayViewMut2;
use pulp::{Simd, WithSimd};

use super::{lines::ResultLines, real::Real};
use crate::wide::ARCH;

/// The maximum number of vectors in a row of a tile.
pub(super) const MAX_VECTORS: usize = 3;
/// The maximum number of rows of a tile.
pub(super) const MAX_ROWS: usize = 8;
/// The number of vectors in a row of a tile for 16 registers. Besides the tile, a row of the right matrix and
/// an element of the left one need registers: with 4 rows of 3 vectors there are none to spare, and the
/// compiler keeps a part of the tile in memory, which doubles the time.
pub(super) const FEW_VECTORS: usize = 2;
/// The number of rows of a tile for 16 registers.
pub(super) const FEW_ROWS: usize = 6;
/// The maximum number of elements of a row of a tile.
const MAX_COLUMNS: usize = 16 * MAX_VECTORS;

/// The largest tile on this processor.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The number of rows.
    pub(crate) rows: usize,
    /// The number of columns, which is that of a panel.
    pub(crate) columns: usize,
    /// The number of elements of a vector.
    pub(crate) lanes: usize,
}

/// Returns the largest tile on this processor.
pub(crate) fn shape<T: Real>() -> Shape {
    struct Shaped<T>(PhantomData<T>);
    impl<T: Real> WithSimd for Shaped<T> {
        type Output = Shape;

        fn with_simd<S: Simd>(self, _: S) -> Shape {
            let lanes = T::lanes::<S>();
            if has_many_registers::<S>() {
                Shape { rows: MAX_ROWS, columns: MAX_VECTORS * lanes, lanes }
            } else {
                Shape { rows: FEW_ROWS, columns: FEW_VECTORS * lanes, lanes }
            }
        }
    }
    ARCH.dispatch(Shaped::<T>(PhantomData))
}

/// Returns true if a tile of [`MAX_ROWS`] by [`MAX_VECTORS`] fits into the registers.
pub(super) fn has_many_registers<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32
}

/// Returns the widths of the panels of a matrix with `columns` columns, rounded up to whole vectors unless
/// only one column is left.
pub(crate) fn panels<T: Real>(columns: usize) -> impl Iterator<Item = usize> {
    let Shape { columns: width, lanes, .. } = shape::<T>();
    (0..columns).step_by(width.max(1)).map(move |from| match columns - from {
        1 => 1,
        rest => rest.min(width).next_multiple_of(lanes.max(1)),
    })
}

/// The operand of a tile from the left matrix: `ROWS` elements of each column.
pub(super) trait Rows<T: Real, const ROWS: usize>: Copy {
    /// Returns the number of columns.
    fn depth(&self) -> usize;
    /// Returns the rows if all have that many elements, which lets the compiler remove bounds checks.
    fn checked(self) -> Option<Self>;
    /// Returns the elements of a column; `None` beyond the last one.
    fn column(&self, k: usize) -> Option<[T; ROWS]>;
}

/// Rows that are stored anywhere.
#[derive(Clone, Copy)]
pub(super) struct SeparateRows<'a, T, const ROWS: usize>(pub(super) [&'a [T]; ROWS]);

impl<T: Real, const ROWS: usize> Rows<T, ROWS> for SeparateRows<'_, T, ROWS> {
    #[inline(always)]
    fn depth(&self) -> usize {
        self.0[0].len()
    }

    #[inline(always)]
    fn checked(mut self) -> Option<Self> {
        let depth = self.depth();
        for row in 0..ROWS {
            self.0[row] = self.0[row].get(..depth)?;
        }
        Some(self)
    }

    #[inline(always)]
    fn column(&self, k: usize) -> Option<[T; ROWS]> {
        let mut column = [T::default(); ROWS];
        for row in 0..ROWS {
            column[row] = *self.0[row].get(k)?;
        }
        Some(column)
    }
}

/// The columns of a strip one after the other: one address for all rows. The addresses of separate rows,
/// and of the elements that windows go over, do not all fit into registers.
#[derive(Clone, Copy)]
pub(super) struct InterleavedRows<'a, T, const ROWS: usize>(pub(super) &'a [[T; ROWS]]);

impl<T: Real, const ROWS: usize> Rows<T, ROWS> for InterleavedRows<'_, T, ROWS> {
    #[inline(always)]
    fn depth(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn checked(self) -> Option<Self> {
        Some(self)
    }

    #[inline(always)]
    fn column(&self, k: usize) -> Option<[T; ROWS]> {
        self.0.get(k).copied()
    }
}

/// The operand of a tile from the right matrix: some vectors of each row.
pub(super) trait Columns<T: Real>: Copy {
    fn row<S: Simd, const VECTORS: usize>(&self, k: usize) -> Option<&[T::Vector<S>; VECTORS]>;
}

/// Rows that are stored consecutively.
#[derive(Clone, Copy)]
struct PackedRows<'a, T>(&'a [T]);

impl<T: Real> Columns<T> for PackedRows<'_, T> {
    #[inline(always)]
    fn row<S: Simd, const VECTORS: usize>(&self, k: usize) -> Option<&[T::Vector<S>; VECTORS]> {
        let (rows, _) = pulp::as_arrays::<VECTORS, _>(T::vectors::<S>(self.0));
        rows.get(k)
    }
}

/// Rows that begin at offsets.
#[derive(Clone, Copy)]
pub(super) struct ScatteredRows<'a, T> {
    pub(super) elements: &'a [T],
    pub(super) offsets: &'a [usize],
}

impl<T: Real> Columns<T> for ScatteredRows<'_, T> {
    #[inline(always)]
    fn row<S: Simd, const VECTORS: usize>(&self, k: usize) -> Option<&[T::Vector<S>; VECTORS]> {
        let start = *self.offsets.get(k)?;
        let row = self.elements.get(start..start + VECTORS * T::lanes::<S>())?;
        pulp::as_arrays::<VECTORS, _>(T::vectors::<S>(row)).0.first()
    }
}

/// Rows at equal distances.
#[derive(Clone, Copy)]
struct StridedRows<'a, T> {
    elements: &'a [T],
    stride: usize,
}

impl<T: Real> Columns<T> for StridedRows<'_, T> {
    #[inline(always)]
    fn row<S: Simd, const VECTORS: usize>(&self, k: usize) -> Option<&[T::Vector<S>; VECTORS]> {
        let start = k * self.stride;
        let row = self.elements.get(start..start + VECTORS * T::lanes::<S>())?;
        pulp::as_arrays::<VECTORS, _>(T::vectors::<S>(row)).0.first()
    }
}

/// Rows times panels.
pub(crate) struct Block<'a, 'c, T> {
    /// The rows of the left matrix, whose starts are `apart` elements from one another.
    pub(crate) rows: &'a [T],
    pub(crate) apart: usize,
    /// The number of elements of each row that are multiplied.
    pub(crate) depth: usize,
    /// The panels, each of `depth` rows, one after the other.
    pub(crate) panels: &'a [T],
    /// The result, whose shape determines the number of rows and columns.
    pub(crate) out: &'a mut ArrayViewMut2<'c, T>,
    /// True if the product is added to the content of `out`.
    pub(crate) adds: bool,
}

impl<T: Real> Block<'_, '_, T> {
    /// Multiplies with the vector instructions of this processor.
    pub(crate) fn multiply(self) {
        ARCH.dispatch(self);
    }

    #[inline(always)]
    fn strips<S: Simd, const ROWS: usize, const VECTORS: usize>(self, simd: S) {
        let (count, columns) = self.out.dim();
        let (depth, width) = (self.depth, T::lanes::<S>() * VECTORS);
        let mut tile = [T::default(); MAX_ROWS * MAX_COLUMNS];
        let mut out = ResultLines::new(self.out);
        for top in (0..count).step_by(ROWS) {
            let height = ROWS.min(count - top);
            let rows = SeparateRows(strip::<T, ROWS>(self.rows, self.apart, depth, top, height));
            for left in (0..columns).step_by(width) {
                let used = width.min(columns - left);
                let panel = self.panels.get(left * depth..).unwrap_or_default();
                if used == width && out.are_rows {
                    let columns = PackedRows(panel);
                    let Some(sums) = product::<T, S, ROWS, VECTORS>(simd, rows, columns) else {
                        return;
                    };
                    for row in 0..height {
                        out.store_vectors(simd, top + row, left, sums[row], self.adds);
                    }
                    continue;
                }
                let stride = if used == 1 {
                    dot_products::<T, S, ROWS>(simd, rows, panel, &mut tile);
                    1
                } else {
                    let columns = PackedRows(panel);
                    any_product::<T, S, ROWS, VECTORS>(simd, rows, columns, used, &mut tile)
                };
                out.store::<ROWS>(&tile, stride, top..top + height, left..left + used, self.adds);
            }
        }
    }
}

/// Strips of interleaved rows times rows in place.
pub(crate) struct Strips<'a, T> {
    /// Strips of as many rows as the largest tile has. Each holds its columns one after the other.
    pub(crate) rows: &'a [T],
    /// The number of elements of each row.
    pub(crate) depth: usize,
    /// The rows of the right matrix, whose `width` is a multiple of the largest vector.
    pub(crate) columns: &'a [T],
    pub(crate) width: usize,
    /// The result, in rows of `width` elements; its size determines the number of strips.
    pub(crate) out: &'a mut [T],
}

impl<T: Real> Strips<'_, T> {
    /// Multiplies with the vector instructions of this processor.
    pub(crate) fn multiply(self) {
        ARCH.dispatch(self);
    }

    #[inline(always)]
    fn strips<S: Simd, const ROWS: usize, const VECTORS: usize>(self, simd: S) {
        let lanes = T::lanes::<S>();
        let strips = self.out.chunks_exact_mut(ROWS * self.width).enumerate();
        for (at, out) in strips {
            let rows = self.rows.get(at * self.depth * ROWS..).unwrap_or_default();
            let (rows, _) = rows.as_chunks::<ROWS>();
            let rows = InterleavedRows(rows.get(..self.depth).unwrap_or_default());
            for left in (0..self.width).step_by(lanes * VECTORS) {
                let columns = self.columns.get(left..).unwrap_or_default();
                let columns = StridedRows { elements: columns, stride: self.width };
                let out = out.get_mut(left..).unwrap_or_default();
                match (self.width - left) / lanes {
                    1 => strided_product::<T, S, ROWS, 1>(simd, rows, columns, out),
                    2 if VECTORS > 2 => strided_product::<T, S, ROWS, 2>(simd, rows, columns, out),
                    _ => strided_product::<T, S, ROWS, VECTORS>(simd, rows, columns, out),
                }
            }
        }
    }
}

impl<T: Real> WithSimd for Strips<'_, T> {
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

impl<T: Real> WithSimd for Block<'_, '_, T> {
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

/// Returns `rows · columns`, where a row of the columns has `VECTORS` vectors.
#[inline(always)]
fn product<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: impl Rows<T, ROWS>,
    columns: impl Columns<T>,
) -> Option<[[T::Vector<S>; VECTORS]; ROWS]> {
    product_from(simd, rows, columns, [[T::zeros(simd); VECTORS]; ROWS])
}

/// Returns `sums + rows · columns`, where a row of the columns has `VECTORS` vectors.
#[inline(always)]
pub(super) fn product_from<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: impl Rows<T, ROWS>,
    columns: impl Columns<T>,
    mut sums: [[T::Vector<S>; VECTORS]; ROWS],
) -> Option<[[T::Vector<S>; VECTORS]; ROWS]> {
    let rows = rows.checked()?;
    // Indices instead of iterators: adapters are not always inlined where more instructions are enabled
    // than they were compiled for.
    for k in 0..rows.depth() {
        let vectors = *columns.row::<S, VECTORS>(k)?;
        let column = rows.column(k)?;
        for row in 0..ROWS {
            let x = T::splat(simd, column[row]);
            for v in 0..VECTORS {
                sums[row][v] = T::mul_add(simd, x, vectors[v], sums[row][v]);
            }
        }
    }
    Some(sums)
}

/// Computes `tile = rows · columns`, where a row of the columns has `VECTORS` vectors. Returns the number of elements of
/// a row.
#[inline(always)]
fn tile_product<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: impl Rows<T, ROWS>,
    columns: impl Columns<T>,
    tile: &mut [T],
) -> usize {
    if let Some(sums) = product::<T, S, ROWS, VECTORS>(simd, rows, columns) {
        let (tile, _) = pulp::as_arrays_mut::<VECTORS, _>(T::vectors_mut::<S>(tile));
        for row in 0..ROWS {
            if let Some(to) = tile.get_mut(row) {
                *to = sums[row];
            }
        }
    }
    VECTORS * T::lanes::<S>()
}

/// Computes a tile of a result in rows that are as far apart as those of the columns.
#[inline(always)]
fn strided_product<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: InterleavedRows<'_, T, ROWS>,
    columns: StridedRows<'_, T>,
    out: &mut [T],
) {
    let Some(sums) = product::<T, S, ROWS, VECTORS>(simd, rows, columns) else { return };
    for row in 0..ROWS {
        let start = row * columns.stride;
        let to = out.get_mut(start..start + VECTORS * T::lanes::<S>()).unwrap_or_default();
        let to = pulp::as_arrays_mut::<VECTORS, _>(T::vectors_mut::<S>(to)).0;
        if let Some(to) = to.first_mut() {
            *to = sums[row];
        }
    }
}

/// Computes `tile = rows · column`, where the column is the start of `column`.
#[inline(always)]
fn dot_products<T: Real, S: Simd, const ROWS: usize>(
    simd: S,
    rows: SeparateRows<'_, T, ROWS>,
    column: &[T],
    tile: &mut [T],
) {
    let depth = rows.depth();
    let (Some(rows), Some(column)) = (rows.checked(), column.get(..depth)) else { return };
    let vectors = T::vectors::<S>(column);
    let mut sums = [T::zeros(simd); ROWS];
    for k in 0..vectors.len() {
        for row in 0..ROWS {
            let Some(&x) = T::vectors::<S>(rows.0[row]).get(k) else { return };
            sums[row] = T::mul_add(simd, x, vectors[k], sums[row]);
        }
    }
    let from = vectors.len() * T::lanes::<S>();
    let rest = T::padded(simd, &column[from..]);
    for row in 0..ROWS {
        let x = T::padded(simd, &rows.0[row][from..]);
        tile[row] = T::sum(simd, T::mul_add(simd, x, rest, sums[row]));
    }
}

/// Calls [`tile_product`] with the number of vectors that hold `count` elements, at most `VECTORS`. Returns the
/// distance between the rows of the tile.
#[inline(always)]
fn any_product<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: impl Rows<T, ROWS>,
    columns: impl Columns<T>,
    count: usize,
    tile: &mut [T],
) -> usize {
    match count.div_ceil(T::lanes::<S>()) {
        1 => tile_product::<T, S, ROWS, 1>(simd, rows, columns, tile),
        2 if VECTORS > 2 => tile_product::<T, S, ROWS, 2>(simd, rows, columns, tile),
        _ => tile_product::<T, S, ROWS, VECTORS>(simd, rows, columns, tile),
    }
}

/// Returns `ROWS` rows of a matrix from `top` on. The last one is repeated in place of missing ones,
/// whose results in the tile are ignored.
#[inline(always)]
pub(super) fn strip<T, const ROWS: usize>(
    matrix: &[T],
    apart: usize,
    depth: usize,
    top: usize,
    height: usize,
) -> [&[T]; ROWS] {
    let mut rows: [&[T]; ROWS] = [&[]; ROWS];
    for (row, to) in rows.iter_mut().enumerate() {
        let start = (top + row.min(height - 1)) * apart;
        *to = matrix.get(start..start + depth).unwrap_or_default();
    }
    rows
}
