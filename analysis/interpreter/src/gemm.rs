//! Products of matrices.

use ndarray::{ArrayView2, ArrayViewMut2, Axis, linalg::general_mat_mul};
use rayon::prelude::*;

use crate::{
    convert::converted,
    value::{Array, Element, Tensor},
};
use types::DataType;

/// Elements that matrices are multiplied in.
pub(crate) trait Gemm: Element {
    /// `c = a · b`, on one thread.
    fn gemm(a: ArrayView2<'_, Self>, b: ArrayView2<'_, Self>, c: ArrayViewMut2<'_, Self>);

    /// Adds `factor` times every `stride`th element of `from` to the elements of `to`.
    fn add_scaled(to: &mut [Self], from: &[Self], stride: usize, factor: Self);
}

impl Gemm for f32 {
    fn gemm(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>, mut c: ArrayViewMut2<'_, f32>) {
        general_mat_mul(1.0, &a, &b, 0.0, &mut c);
    }

    fn add_scaled(to: &mut [f32], from: &[f32], stride: usize, factor: f32) {
        if stride == 1 {
            to.iter_mut().zip(from).for_each(|(to, x)| *to += x * factor);
        } else {
            to.iter_mut().zip(from.iter().step_by(stride)).for_each(|(to, x)| *to += x * factor);
        }
    }
}

impl Gemm for f64 {
    fn gemm(a: ArrayView2<'_, f64>, b: ArrayView2<'_, f64>, mut c: ArrayViewMut2<'_, f64>) {
        general_mat_mul(1.0, &a, &b, 0.0, &mut c);
    }

    fn add_scaled(to: &mut [f64], from: &[f64], stride: usize, factor: f64) {
        if stride == 1 {
            to.iter_mut().zip(from).for_each(|(to, x)| *to += x * factor);
        } else {
            to.iter_mut().zip(from.iter().step_by(stride)).for_each(|(to, x)| *to += x * factor);
        }
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {
        $(impl Gemm for $ty {
            /// Row by row, so that the inner loop runs along rows of `b` and `c`; sums wrap.
            fn gemm(a: ArrayView2<'_, $ty>, b: ArrayView2<'_, $ty>, mut c: ArrayViewMut2<'_, $ty>) {
                let b = b.as_standard_layout();
                let width = b.ncols();
                let rows = b.as_slice().unwrap_or_default();
                let mut sums = vec![0; width];
                for (a, mut c) in a.outer_iter().zip(c.outer_iter_mut()) {
                    sums.fill(0);
                    for (&x, row) in a.iter().zip(rows.chunks(width.max(1))) {
                        if x != 0 {
                            for (sum, &y) in sums.iter_mut().zip(row) {
                                *sum = <$ty>::wrapping_add(*sum, x.wrapping_mul(y));
                            }
                        }
                    }
                    c.iter_mut().zip(&sums).for_each(|(c, &sum)| *c = sum);
                }
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

/// Products below this many multiplications stay on one thread.
const PARALLEL: usize = 1 << 18;

/// `c = a · b`, on several threads where it is worth it.
pub(crate) fn multiply<T: Gemm>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut c: ArrayViewMut2<'_, T>,
) {
    let (rows, inner) = a.dim();
    let columns = b.ncols();
    let work = rows.saturating_mul(inner).saturating_mul(columns);
    let threads = rayon::current_num_threads();
    if rows == 0 || columns == 0 {
        return;
    }
    if work < PARALLEL || threads < 2 {
        T::gemm(a, b, c);
    } else if rows >= columns {
        let part = rows.div_ceil(threads);
        c.axis_chunks_iter_mut(Axis(0), part)
            .into_par_iter()
            .zip(a.axis_chunks_iter(Axis(0), part))
            .for_each(|(c, a)| T::gemm(a, b, c));
    } else {
        let part = columns.div_ceil(threads);
        c.axis_chunks_iter_mut(Axis(1), part)
            .into_par_iter()
            .zip(b.axis_chunks_iter(Axis(1), part))
            .for_each(|(c, b)| T::gemm(a, b, c));
    }
}

/// The data type that products of elements of these types are added up in.
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

/// A tensor in the type that sums are built up in.
pub(crate) fn operand<T: Gemm>(tensor: &Tensor) -> Option<Array<T>> {
    converted(tensor.clone(), T::DTYPE).and_then(T::unwrap_owned)
}

/// Runs the body with `T` as the type that sums are built up in.
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
mod tests {
    use super::*;

    #[test]
    fn small_products() {
        let a = ndarray::arr2(&[[1, 2], [3, 4]]);
        let b = ndarray::arr2(&[[5, 6, 7], [8, 9, 10]]);
        let mut c = ndarray::Array2::zeros((2, 3));
        multiply::<i32>(a.view(), b.view(), c.view_mut());
        assert_eq!(c, ndarray::arr2(&[[21, 24, 27], [47, 54, 61]]));
        let (x, y) = (a.mapv(f64::from), b.mapv(f64::from));
        let mut z = ndarray::Array2::zeros((2, 3));
        multiply::<f64>(x.view(), y.view(), z.view_mut());
        assert_eq!(z, c.mapv(f64::from));
    }

    #[test]
    fn large_products_are_those_of_one_thread() {
        let number = |(i, j): (usize, usize)| ((i * 31 + j * 17) % 23) as i64 - 11;
        for (m, k, n) in [(70, 80, 90), (300, 40, 30), (1, 700, 500)] {
            let a = ndarray::Array2::from_shape_fn((m, k), number);
            let b = ndarray::Array2::from_shape_fn((k, n), number);
            let mut c = ndarray::Array2::zeros((m, n));
            multiply::<i64>(a.view(), b.view(), c.view_mut());
            let (x, y) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32));
            let mut z = ndarray::Array2::zeros((m, n));
            multiply::<f32>(x.view(), y.view(), z.view_mut());
            assert_eq!(z, c.mapv(|x| x as f32));
        }
    }
}
