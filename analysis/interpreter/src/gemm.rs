//! Products of matrices.

mod float;
mod lines;
mod real;
mod tile;
mod weights;
mod windows;
mod winograd;

use ndarray::{ArrayView2, ArrayViewMut, ArrayViewMut2, Axis, RemoveAxis, Slice};

use crate::{
    allocate::repeated,
    chain::{Chain, Scratch},
    convert::converted,
    interrupt::{poll, spend},
    parallel::{each_item, threads},
    tensor::{Array, Element, Tensor},
};
use types::DataType;

pub(crate) use float::AlignedElements;
pub(crate) use tile::Shape;
pub(crate) use weights::InterleavedFilters;
pub(crate) use windows::{FilterRows, Windows};
pub(crate) use winograd::{Operands, PlaneSizes};

/// The chain that is applied to a product, and the number of the first element of the product in the
/// tensor of the chain.
#[derive(Clone, Copy, Default)]
pub(crate) struct Epilogue<'a> {
    chain: Option<&'a Chain>,
    begin: usize,
}

impl<'a> Epilogue<'a> {
    pub(crate) fn new(chain: Option<&'a Chain>, begin: usize) -> Epilogue<'a> {
        Epilogue { chain, begin }
    }

    /// Returns the epilogue of a part that begins at the element `offset`.
    pub(crate) fn at(self, offset: usize) -> Epilogue<'a> {
        Epilogue { begin: self.begin + offset, ..self }
    }

    /// Applies the chain to rows that are `apart` elements from one another.
    pub(crate) fn apply<T: Gemm, D: RemoveAxis>(
        self,
        apart: usize,
        mut rows: ArrayViewMut<'_, T, D>,
    ) {
        let Some(chain) = self.chain else { return };
        let mut scratch = Scratch::default();
        for (at, mut row) in rows.outer_iter_mut().enumerate() {
            if let Some(row) = row.as_slice_mut() {
                T::apply_chain(chain, self.begin + at * apart, row, &mut scratch);
            }
        }
    }
}

/// The elements of matrices that can be multiplied.
pub(crate) trait Gemm: Element {
    /// Computes `c = a · b` on this thread. Cancellation is checked between blocks.
    fn product(a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>, c: ArrayViewMut2<'_, Self>);

    /// Computes `c = a · b`, on several threads if that pays off, and applies the epilogue.
    fn multiply(
        a: ArrayView2<'_, Self>,
        b: ArrayView2<'_, Self>,
        c: ArrayViewMut2<'_, Self>,
        epilogue: Epilogue<'_>,
    );

    /// Applies a chain to the elements from `at` on. Chains are in single precision only.
    fn apply_chain(_: &Chain, _at: usize, _: &mut [Self], _: &mut Scratch) {}

    /// Returns the largest tile of [`windows`](Gemm::windows), which reads and ignores as many elements after
    /// the last position as the tile has columns; `None` if it computes nothing.
    fn tile() -> Option<Shape> {
        None
    }

    /// Multiplies rows by windows, without checks for cancellation.
    fn windows(_: Windows<'_, '_, Self>) {}

    /// Returns filters of `depth` elements each for [`windows`](Gemm::windows), if an earlier run used them, too.
    fn interleaved(_: &Array<Self>, _depth: usize) -> Option<InterleavedFilters<Self>> {
        None
    }

    /// Convolves windows of 3 × 3 in tiles. Returns false, with `to` unspecified, if this does not pay off, or would be
    /// less exact. Only in single precision.
    fn convolve_tiles(_: Operands<'_, Self>, _to: &mut [Self], _: Epilogue<'_>) -> bool {
        false
    }

    /// Adds `factor` times every `stride`th element of `from` to the elements of `to`.
    fn add_scaled(to: &mut [Self], from: &[Self], stride: usize, factor: Self);
}

macro_rules! reals {
    ($($ty:ty $({ $($apply_chain:tt)* })?)*) => {
        $(impl Gemm for $ty {
            fn product(a: ArrayView2<'_, $ty>, b: ArrayView2<'_, $ty>, c: ArrayViewMut2<'_, $ty>) {
                float::product(a, b, c);
            }

            fn multiply(
                a: ArrayView2<'_, $ty>,
                b: ArrayView2<'_, $ty>,
                c: ArrayViewMut2<'_, $ty>,
                epilogue: Epilogue<'_>,
            ) {
                float::multiply(a, b, c, epilogue);
            }

            $($($apply_chain)*)?

            fn tile() -> Option<Shape> {
                Some(tile::shape::<$ty>())
            }

            fn windows(windows: Windows<'_, '_, $ty>) {
                windows.multiply();
            }

            fn interleaved(weights: &Array<$ty>, depth: usize) -> Option<InterleavedFilters<$ty>> {
                InterleavedFilters::of(weights, depth)
            }

            fn add_scaled(to: &mut [$ty], from: &[$ty], stride: usize, factor: $ty) {
                if stride == 1 {
                    to.iter_mut().zip(from).for_each(|(to, x)| *to += x * factor);
                } else {
                    let from = from.iter().step_by(stride);
                    to.iter_mut().zip(from).for_each(|(to, x)| *to += x * factor);
                }
            }
        })*
    };
}

reals! {
    f32 {
        fn apply_chain(chain: &Chain, at: usize, elements: &mut [f32], scratch: &mut Scratch) {
            chain.apply(at, elements, scratch);
        }

        fn convolve_tiles(
            operands: Operands<'_, f32>,
            to: &mut [f32],
            epilogue: Epilogue<'_>,
        ) -> bool {
            winograd::convolve(operands, to, epilogue)
        }
    }
    f64
}

/// Integers, whose products are added up row by row.
trait Integer: Element {
    /// Computes `c = a · b`, or `c += a · b` if `adds`, without checks for cancellation.
    fn block(
        a: ArrayView2<'_, Self>,
        b: ArrayView2<'_, Self>,
        c: ArrayViewMut2<'_, Self>,
        adds: bool,
    );
}

macro_rules! integers {
    ($($ty:ty)*) => {
        $(impl Integer for $ty {
            /// Goes row by row, so that the inner loop runs along rows of `b` and `c`. Sums wrap.
            fn block(
                a: ArrayView2<'_, $ty>,
                b: ArrayView2<'_, $ty>,
                mut c: ArrayViewMut2<'_, $ty>,
                adds: bool,
            ) {
                let b = b.as_standard_layout();
                let width = b.ncols();
                let rows = b.as_slice().unwrap_or_default();
                let mut sums = repeated(0, width);
                for (a, mut c) in a.outer_iter().zip(c.outer_iter_mut()) {
                    match adds {
                        true => sums.iter_mut().zip(&c).for_each(|(sum, &c)| *sum = c),
                        false => sums.fill(0),
                    }
                    for (&x, row) in a.iter().zip(rows.chunks(width.max(1))) {
                        if x != 0 {
                            spend(width);
                            for (sum, &y) in sums.iter_mut().zip(row) {
                                *sum = <$ty>::wrapping_add(*sum, x.wrapping_mul(y));
                            }
                        }
                    }
                    c.iter_mut().zip(&sums).for_each(|(c, &sum)| *c = sum);
                }
            }
        }

        impl Gemm for $ty {
            fn product(a: ArrayView2<'_, $ty>, b: ArrayView2<'_, $ty>, c: ArrayViewMut2<'_, $ty>) {
                in_blocks(a, b, c);
            }

            fn multiply(
                a: ArrayView2<'_, $ty>,
                b: ArrayView2<'_, $ty>,
                c: ArrayViewMut2<'_, $ty>,
                _: Epilogue<'_>,
            ) {
                on_threads(a, b, c);
            }

            fn add_scaled(to: &mut [$ty], from: &[$ty], stride: usize, factor: $ty) {
                let add = |(to, x): (&mut $ty, &$ty)| {
                    *to = to.wrapping_add(x.wrapping_mul(factor));
                };
                to.iter_mut().zip(from.iter().step_by(stride)).for_each(add);
            }
        })*
    };
}

integers! { i32 i64 }

/// The number of multiplications between checks for cancellation: a few milliseconds.
const BLOCK: usize = 1 << 26;
/// The unit of the depth and the width of a block: the product packs its operands in blocks of these
/// sizes.
const DEPTH: usize = 256;
const WIDTH: usize = 1024;
/// The number of rows of a block, for which a block of `b` is packed once.
const HEIGHT: usize = 256;

/// Returns the numbers of rows, columns of `a` and columns of `b` of a block.
fn block_of(rows: usize, inner: usize, columns: usize) -> (usize, usize, usize) {
    let work = |rows: usize, inner: usize, columns: usize| {
        rows.saturating_mul(inner).saturating_mul(columns)
    };
    if work(rows, inner, columns) <= BLOCK {
        return (rows, inner, columns);
    }
    let height = rows.min(HEIGHT);
    let width = columns.min(WIDTH);
    // The depth has precedence over the width, so that a product with a vector has few blocks.
    let depth = BLOCK / work(height, 1, width) / DEPTH * DEPTH;
    let depth = depth.clamp(inner.min(DEPTH), inner);
    let width = (BLOCK / work(height, depth, 1) / WIDTH * WIDTH).clamp(width, columns);
    (height, depth, width)
}

/// Computes `c = a · b` block by block.
fn in_blocks<T: Integer>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>) {
    let (rows, inner) = a.dim();
    let columns = b.ncols();
    let (height, depth, width) = block_of(rows, inner, columns);
    if (height, depth, width) == (rows, inner, columns) {
        spend(rows * inner * columns / 32);
        T::block(a, b, c, false);
        return;
    }
    for left in (0..columns).step_by(width) {
        let right = columns.min(left + width);
        for from in (0..inner).step_by(depth) {
            let to = inner.min(from + depth);
            let b = b.slice_axis(Axis(0), Slice::from(from..to));
            let b = b.slice_axis(Axis(1), Slice::from(left..right));
            for top in (0..rows).step_by(height) {
                let bottom = rows.min(top + height);
                poll();
                let a = a.slice_axis(Axis(0), Slice::from(top..bottom));
                let a = a.slice_axis(Axis(1), Slice::from(from..to));
                let mut c = c.slice_axis_mut(Axis(0), Slice::from(top..bottom));
                let c = c.slice_axis_mut(Axis(1), Slice::from(left..right));
                T::block(a, b, c, from > 0);
            }
        }
    }
}

/// The number of multiplications below which a product stays on one thread.
const MIN_PARALLEL: usize = 1 << 18;

/// Computes `c = a · b` in parts for each thread.
fn on_threads<T: Integer>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut c: ArrayViewMut2<'_, T>) {
    let (rows, inner) = a.dim();
    let columns = b.ncols();
    let work = rows.saturating_mul(inner).saturating_mul(columns);
    let threads = threads();
    if rows == 0 || columns == 0 {
        return;
    }
    if work < MIN_PARALLEL || threads < 2 {
        in_blocks::<T>(a, b, c);
    } else if rows >= columns {
        let part = rows.div_ceil(threads);
        let parts = c.axis_chunks_iter_mut(Axis(0), part).zip(a.axis_chunks_iter(Axis(0), part));
        each_item(parts, rows.div_ceil(part), &|(c, a)| in_blocks::<T>(a, b, c));
    } else {
        let part = columns.div_ceil(threads);
        let parts = c.axis_chunks_iter_mut(Axis(1), part).zip(b.axis_chunks_iter(Axis(1), part));
        each_item(parts, columns.div_ceil(part), &|(c, b)| in_blocks::<T>(a, b, c));
    }
}

/// Returns the data type in which products of elements of these types are added up.
///
/// Half precision is added up in single precision, small integers in 32 bits.
pub(crate) fn sum_type(a: DataType, b: DataType, out: DataType) -> DataType {
    let is_float = |dtype: DataType| dtype.is_float() || dtype.is_bfloat();
    if is_float(a) || is_float(b) || is_float(out) {
        let double = [a, b, out].contains(&DataType::FLOAT64);
        if double { DataType::FLOAT64 } else { DataType::FLOAT32 }
    } else if out.bits <= 32 {
        DataType::INT32
    } else {
        DataType::INT64
    }
}

/// Converts a tensor to the type in which products are added up.
pub(crate) fn operand<T: Gemm>(tensor: &Tensor) -> Option<Array<T>> {
    converted(tensor.clone(), T::DTYPE).and_then(T::unwrap_owned)
}

/// Runs the body with `T` as the type in which products are added up.
macro_rules! each_sum_type {
    ($dtype:expr, $body:expr) => {
        match $dtype {
            types::DataType::FLOAT64 => {
                type T = f64;
                $body
            }
            types::DataType::INT32 => {
                type T = i32;
                $body
            }
            types::DataType::INT64 => {
                type T = i64;
                $body
            }
            _ => {
                type T = f32;
                $body
            }
        }
    };
}
pub(crate) use each_sum_type;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests choose their sizes")]
mod tests {
    use super::*;

    #[test]
    fn small_products() {
        let a = ndarray::arr2(&[[1, 2], [3, 4]]);
        let b = ndarray::arr2(&[[5, 6, 7], [8, 9, 10]]);
        let mut c = ndarray::Array2::zeros((2, 3));
        i32::multiply(a.view(), b.view(), c.view_mut(), Epilogue::default());
        assert_eq!(c, ndarray::arr2(&[[21, 24, 27], [47, 54, 61]]));
        let (x, y) = (a.mapv(f64::from), b.mapv(f64::from));
        let mut z = ndarray::Array2::zeros((2, 3));
        f64::multiply(x.view(), y.view(), z.view_mut(), Epilogue::default());
        assert_eq!(z, c.mapv(f64::from));
    }

    #[test]
    fn products_in_blocks() {
        for (m, k, n) in [(300, 600, 1100), (1, 9000, 9000), (257, 257, 2049)] {
            let (height, depth, width) = block_of(m, k, n);
            assert!(height * depth * width <= BLOCK, "{m} {k} {n}: {height} {depth} {width}");
            assert!(m * k * n / (height * depth * width) <= 40, "{m} {k} {n}: too many blocks");
            let a = ndarray::Array2::from_shape_fn((m, k), |(i, j)| ((i + 3 * j) % 5) as f32);
            let b = ndarray::Array2::from_shape_fn((k, n), |(i, j)| ((2 * i + j) % 7) as f32);
            let mut c = ndarray::Array2::zeros((m, n));
            f32::product(a.view(), b.view(), c.view_mut());
            let mut whole = ndarray::Array2::zeros((m, n));
            ndarray::linalg::general_mat_mul(1.0, &a, &b, 0.0, &mut whole);
            assert!(c == whole, "{m} {k} {n}");
            if m * k * n < 400_000_000 {
                let mut d = ndarray::Array2::zeros((m, n));
                let (a, b) = (a.mapv(|x| x as i64), b.mapv(|x| x as i64));
                i64::product(a.view(), b.view(), d.view_mut());
                assert!(d.mapv(|x| x as f32) == whole, "{m} {k} {n}");
            }
        }
    }

    #[test]
    fn large_products_are_those_of_one_thread() {
        let number = |(i, j): (usize, usize)| ((i * 31 + j * 17) % 23) as i64 - 11;
        for (m, k, n) in [(70, 80, 90), (300, 40, 30), (1, 700, 500)] {
            let a = ndarray::Array2::from_shape_fn((m, k), number);
            let b = ndarray::Array2::from_shape_fn((k, n), number);
            let mut c = ndarray::Array2::zeros((m, n));
            i64::multiply(a.view(), b.view(), c.view_mut(), Epilogue::default());
            let (x, y) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32));
            let mut z = ndarray::Array2::zeros((m, n));
            f32::multiply(x.view(), y.view(), z.view_mut(), Epilogue::default());
            assert_eq!(z, c.mapv(|x| x as f32));
        }
    }

    #[test]
    fn one_column_is_left() {
        // One more than the columns of a tile, for vectors of any size, and products of one row.
        let shapes = [(9, 70, 49), (40, 1100, 97), (300, 40, 17), (1, 35, 3), (1, 2100, 200)];
        for (m, k, n) in shapes {
            let mut random = fastrand::Rng::with_seed(7);
            let mut matrix = |rows, columns| {
                ndarray::Array2::from_shape_simple_fn((rows, columns), || random.f64() - 0.5)
            };
            let (a, bt) = (matrix(m, k), matrix(n, k));
            let wanted = a.dot(&bt.t());
            let mut whole = ndarray::Array2::zeros((m, n));
            f64::product(a.view(), bt.t(), whole.view_mut());
            assert!((&whole - &wanted).iter().all(|x| x.abs() < 1e-12), "{m} {k} {n}");
            let (a, bt) = (a.mapv(|x| x as f32), bt.mapv(|x| x as f32));
            let mut whole = ndarray::Array2::zeros((m, n));
            f32::product(a.view(), bt.t(), whole.view_mut());
            assert!((whole.mapv(f64::from) - wanted).iter().all(|x| x.abs() < 1e-4), "{m} {k} {n}");
            // The parts of threads have the same sums.
            let mut parts = ndarray::Array2::zeros((m, n));
            f32::multiply(a.view(), bt.t(), parts.view_mut(), Epilogue::default());
            assert_eq!(parts, whole, "{m} {k} {n}");
        }
    }
}
