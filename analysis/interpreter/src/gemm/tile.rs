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

use std::{marker::PhantomData, ops::AddAssign};

use ndarray::{ArrayViewMut2, ArrayViewMut3, Axis, Slice};
use pulp::{Simd, WithSimd};

use crate::{allocate::repeated, tensor::Element, wide::ARCH};

/// The maximum number of vectors in a row of a tile.
const MAX_VECTORS: usize = 3;
/// The maximum number of rows of a tile.
const MAX_ROWS: usize = 8;
/// The number of vectors in a row of a tile for 16 registers. Besides the tile, a row of the right matrix and
/// an element of the left one need registers: with 4 rows of 3 vectors there are none to spare, and the
/// compiler keeps a part of the tile in memory, which doubles the time.
const FEW_VECTORS: usize = 2;
/// The number of rows of a tile for 16 registers.
const FEW_ROWS: usize = 6;
/// The maximum number of elements of a row of a tile.
const MAX_COLUMNS: usize = 16 * MAX_VECTORS;

/// Floating point numbers that are multiplied in vectors.
pub(crate) trait Real: Element + AddAssign {
    /// A vector of numbers.
    type Vector<S: Simd>: Copy;

    fn zeros<S: Simd>(simd: S) -> Self::Vector<S>;
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// Computes `a · b + c`.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// Returns the sum of the elements of a vector.
    fn sum<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;
    /// Returns a vector of these elements, followed by zeros.
    fn padded<S: Simd>(simd: S, elements: &[Self]) -> Self::Vector<S>;
    fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>];
    fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>];
    /// Returns the number of elements of a vector.
    fn lanes<S: Simd>() -> usize;
}

macro_rules! reals {
    ($($ty:ident $vector:ident $lanes:ident $splat:ident $mul_add:ident $sum:ident $padded:ident
        $vectors:ident $vectors_mut:ident;)*) => {
        $(impl Real for $ty {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn zeros<S: Simd>(simd: S) -> Self::Vector<S> {
                simd.$splat(0.0)
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S> {
                simd.$splat(x)
            }

            #[inline(always)]
            fn mul_add<S: Simd>(
                simd: S,
                a: Self::Vector<S>,
                b: Self::Vector<S>,
                c: Self::Vector<S>,
            ) -> Self::Vector<S> {
                simd.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn sum<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self {
                simd.$sum(vector)
            }

            #[inline(always)]
            fn padded<S: Simd>(simd: S, elements: &[Self]) -> Self::Vector<S> {
                simd.$padded(elements)
            }

            #[inline(always)]
            fn vectors<S: Simd>(slice: &[Self]) -> &[Self::Vector<S>] {
                S::$vectors(slice).0
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(slice: &mut [Self]) -> &mut [Self::Vector<S>] {
                S::$vectors_mut(slice).0
            }

            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$lanes
            }
        })*
    };
}

reals! {
    f32 f32s F32_LANES splat_f32s mul_add_e_f32s reduce_sum_f32s partial_load_f32s
        as_simd_f32s as_mut_simd_f32s;
    f64 f64s F64_LANES splat_f64s mul_add_e_f64s reduce_sum_f64s partial_load_f64s
        as_simd_f64s as_mut_simd_f64s;
}

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
fn has_many_registers<S: Simd>() -> bool {
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
trait Rows<T: Real, const ROWS: usize>: Copy {
    /// Returns the number of columns.
    fn depth(&self) -> usize;
    /// Returns the rows if all have that many elements, which lets the compiler remove bounds checks.
    fn checked(self) -> Option<Self>;
    /// Returns the elements of a column; `None` beyond the last one.
    fn column(&self, k: usize) -> Option<[T; ROWS]>;
}

/// Rows that are stored anywhere.
#[derive(Clone, Copy)]
struct SeparateRows<'a, T, const ROWS: usize>([&'a [T]; ROWS]);

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
struct InterleavedRows<'a, T, const ROWS: usize>(&'a [[T; ROWS]]);

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
trait Columns<T: Real>: Copy {
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
struct ScatteredRows<'a, T> {
    elements: &'a [T],
    offsets: &'a [usize],
}

impl<T: Real> Columns<T> for ScatteredRows<'_, T> {
    #[inline(always)]
    fn row<S: Simd, const VECTORS: usize>(&self, k: usize) -> Option<&[T::Vector<S>; VECTORS]> {
        let start = *self.offsets.get(k)?;
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
        let (lanes, depth) = (T::lanes::<S>(), self.depth);
        let width = lanes * VECTORS;
        let mut tile = [T::default(); MAX_ROWS * MAX_COLUMNS];
        for top in (0..count).step_by(ROWS) {
            let height = ROWS.min(count - top);
            let rows = SeparateRows(strip::<T, ROWS>(self.rows, self.apart, depth, top, height));
            let part = Slice::from(top..top + height);
            let mut out = self.out.slice_axis_mut(Axis(0), part);
            for left in (0..columns).step_by(width) {
                let right = columns.min(left + width);
                let panel = self.panels.get(left * depth..).unwrap_or_default();
                let stride = if right - left == 1 {
                    dot_products::<T, S, ROWS>(simd, rows, panel, &mut tile);
                    1
                } else {
                    any_product::<T, S, ROWS, VECTORS>(
                        simd,
                        rows,
                        PackedRows(panel),
                        right - left,
                        &mut tile,
                    )
                };
                let part = Slice::from(left..right);
                store(out.slice_axis_mut(Axis(1), part), &tile, stride, self.adds);
            }
        }
    }
}

/// The product of rows and the windows over a plane.
pub(crate) struct Windows<'a, 'c, T> {
    /// The rows of the left matrix, one after the other.
    pub(crate) rows: &'a [T],
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
        let (count, lines, _) = self.out.dim();
        let depth = self.offsets.len();
        let width = T::lanes::<S>() * VECTORS;
        let mut interleaved = repeated([T::default(); ROWS], depth);
        let places = (lines * self.line).saturating_sub(self.line - self.count);
        let mut tile = [T::default(); MAX_ROWS * MAX_COLUMNS];
        for top in (0..count).step_by(ROWS) {
            let height = ROWS.min(count - top);
            let rows = SeparateRows(strip::<T, ROWS>(self.rows, depth, depth, top, height));
            for k in 0..interleaved.len() {
                interleaved[k] = rows.column(k).unwrap_or([T::default(); ROWS]);
            }
            let rows = InterleavedRows(&interleaved);
            let mut lines = self.out.slice_axis_mut(Axis(0), Slice::from(top..top + height));
            let mut lines = lines.outer_iter_mut();
            let out: [&mut [T]; ROWS] = std::array::from_fn(|_| {
                lines.next().and_then(|line| line.into_slice()).unwrap_or_default()
            });
            // The line and the position of the next element of the tile.
            let (mut line, mut place) = (0, 0);
            for left in (0..places).step_by(width) {
                let right = places.min(left + width);
                let elements =
                    self.elements.get(self.from * self.line + left..).unwrap_or_default();
                let columns = ScatteredRows { elements, offsets: self.offsets };
                let stride = any_product::<T, S, ROWS, VECTORS>(
                    simd,
                    rows,
                    columns,
                    right - left,
                    &mut tile,
                );
                let mut at = 0;
                while at < right - left {
                    let length = (self.line - place).min(right - left - at);
                    let wanted = self.count.saturating_sub(place).min(length);
                    let to = line * self.count + place;
                    for row in 0..height {
                        let from = row * stride + at;
                        if let Some(to) = out[row].get_mut(to..to + wanted)
                            && let Some(tile) = tile.get(from..from + wanted)
                        {
                            to.copy_from_slice(tile);
                        }
                    }
                    at += length;
                    place += length;
                    if place == self.line {
                        (line, place) = (line + 1, 0);
                    }
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

/// Computes `tile = rows · columns`, where a row of the columns has `VECTORS` vectors.
#[inline(always)]
fn product<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: impl Rows<T, ROWS>,
    columns: impl Columns<T>,
    tile: &mut [T],
) {
    let Some(rows) = rows.checked() else { return };
    // Indices instead of iterators: adapters are not always inlined where more instructions are enabled
    // than they were compiled for.
    let mut sums = [[T::zeros(simd); VECTORS]; ROWS];
    for k in 0..rows.depth() {
        let Some(vectors) = columns.row::<S, VECTORS>(k) else { return };
        let Some(column) = rows.column(k) else { return };
        let vectors = *vectors;
        for row in 0..ROWS {
            let x = T::splat(simd, column[row]);
            for v in 0..VECTORS {
                sums[row][v] = T::mul_add(simd, x, vectors[v], sums[row][v]);
            }
        }
    }
    let (tile, _) = pulp::as_arrays_mut::<VECTORS, _>(T::vectors_mut::<S>(tile));
    for row in 0..ROWS {
        if let Some(to) = tile.get_mut(row) {
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

/// Calls [`product`] with the number of vectors that hold `count` elements, at most `VECTORS`. Returns the
/// distance between the rows of the tile.
#[inline(always)]
fn any_product<T: Real, S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    rows: impl Rows<T, ROWS>,
    columns: impl Columns<T>,
    count: usize,
    tile: &mut [T],
) -> usize {
    let lanes = T::lanes::<S>();
    match count.div_ceil(lanes) {
        1 => {
            product::<T, S, ROWS, 1>(simd, rows, columns, tile);
            lanes
        }
        2 if VECTORS > 2 => {
            product::<T, S, ROWS, 2>(simd, rows, columns, tile);
            2 * lanes
        }
        _ => {
            product::<T, S, ROWS, VECTORS>(simd, rows, columns, tile);
            VECTORS * lanes
        }
    }
}

/// Returns `ROWS` rows of a matrix from `top` on. The last one is repeated in place of missing ones,
/// whose results in the tile are ignored.
#[inline(always)]
fn strip<T, const ROWS: usize>(
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

/// Stores a tile, whose rows are `stride` elements apart, in the result.
#[inline(always)]
fn store<T: Real>(mut out: ArrayViewMut2<'_, T>, tile: &[T], stride: usize, adds: bool) {
    if out.strides()[1] == 1 && out.ncols() > 1 {
        for (mut out, tile) in out.outer_iter_mut().zip(tile.chunks(stride)) {
            let Some(out) = out.as_slice_mut() else { continue };
            if adds {
                out.iter_mut().zip(tile).for_each(|(to, &x)| *to += x);
            } else {
                out.copy_from_slice(&tile[..out.len()]);
            }
        }
        return;
    }
    for (column, mut out) in out.axis_iter_mut(Axis(1)).enumerate() {
        let tile = tile[column..].iter().step_by(stride);
        match (out.as_slice_mut(), adds) {
            (Some(out), false) => out.iter_mut().zip(tile).for_each(|(to, &x)| *to = x),
            (Some(out), true) => out.iter_mut().zip(tile).for_each(|(to, &x)| *to += x),
            (None, false) => out.iter_mut().zip(tile).for_each(|(to, &x)| *to = x),
            (None, true) => out.iter_mut().zip(tile).for_each(|(to, &x)| *to += x),
        }
    }
}
