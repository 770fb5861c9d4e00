//! Products of matrices.

mod einsum;

use ndarray::{ArrayView2, ArrayView3, Axis, Ix2, Ix3};

use super::{layouts, overflow, prelude::*};
use crate::chain::Chain;
use crate::convert::converted;
use crate::gemm::{Epilogue, Gemm, each_sum_type, operand, sum_type};
use crate::overflow::Overflow;
use crate::parallel::threads;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("nn.dense", |c| matmul(c, false, true))
        .epilogue("")
        .overflow(|c, result| product_overflow(c, c.tensor(1).ok()?, result, [false, true])),
    kernel("nn.matmul", |c| {
        let [a, b] = transposed(c);
        matmul(c, a, b)
    })
    .epilogue("")
    .overflow(|c, result| product_overflow(c, c.tensor(1).ok()?, result, transposed(c))),
    kernel("nn.batch_matmul", batch_matmul)
        .epilogue("")
        .overflow(|c, result| product_overflow(c, c.tensor(1).ok()?, result, transposed(c))),
    kernel("nn.contrib_dense_pack", dense_pack).overflow(|c, result| {
        product_overflow(c, &unpacked_weight(c).ok()?, result, [false, true])
    }),
    kernel("einsum", einsum::einsum),
];

/// Returns which of the operands of a call are transposed.
fn transposed(call: &Call<'_>) -> [bool; 2] {
    [call.bool("transpose_a"), call.bool("transpose_b")]
}

/// Looks for an overflow of products of the matrices in the first argument and those in `b`.
fn product_overflow(
    call: &Call<'_>,
    b: &Tensor,
    result: &Tensor,
    [transpose_a, transpose_b]: [bool; 2],
) -> Option<Overflow> {
    let a = call.tensor(0).ok()?;
    // The first element of a matrix, and the distances between its rows and columns.
    let matrix = |tensor: &Tensor, batch: usize, is_transposed: bool| {
        let (&columns, outer) = tensor.shape().split_last()?;
        let size = columns * outer.last().copied().unwrap_or(1);
        // A single matrix is that of all batches.
        let first = if size == tensor.len() { 0 } else { batch * size };
        Some(if is_transposed { (first, 1, columns) } else { (first, columns, 1) })
    };
    let axis = |axis: usize| a.rank().checked_sub(axis).and_then(|axis| a.shape().get(axis));
    let inner = *axis(if transpose_a { 2 } else { 1 })?;
    let (&columns, outer) = result.shape().split_last()?;
    let rows = outer.last().copied().unwrap_or(1);
    overflow::of_products((a, b), result, inner, &|at, term| {
        let (row, column) = (at / columns % rows, at % columns);
        let batch = at / columns / rows;
        let of = (matrix(a, batch, transpose_a), matrix(b, batch, transpose_b));
        let (Some((a, down_a, right_a)), Some((b, down_b, right_b))) = of else { return };
        for k in 0..inner {
            term(a + row * down_a + k * right_a, b + k * down_b + column * right_b);
        }
    })
}

/// Returns the data type of the result: `out_dtype`, or that of the first argument.
pub(super) fn out_dtype(call: &Call<'_>) -> Result<DataType, Fault> {
    let dtype = call.attrs().dtype("out_dtype");
    if dtype.is_void() { call.dtype(0) } else { Ok(dtype) }
}

/// Claims the chain of a call, if the sums have the data type of the result.
pub(super) fn claimed_chain<'c, T: Gemm>(
    call: &Call<'c>,
    shape: &[usize],
    dtype: DataType,
) -> Option<&'c Chain> {
    let single = DataType::FLOAT32;
    if (dtype, T::DTYPE) == (single, single) { call.chain(shape) } else { None }
}

/// Converts sums to the data type of the result.
pub(super) fn finish<T: Gemm>(
    call: &Call<'_>,
    shape: &[usize],
    sums: Vec<T>,
    dtype: DataType,
) -> Outcome {
    let count = sums.len();
    let Some(tensor) = T::tensor(shape, sums) else {
        return Err(call.fault(format_args!("{count} elements do not make a {shape:?}")));
    };
    match converted(tensor, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

pub(super) fn matmul(call: &mut Call<'_>, transpose_a: bool, transpose_b: bool) -> Outcome {
    let dtype = out_dtype(call)?;
    let a = call.tensor(0)?;
    match call.shared(1) {
        Some(b) if b.shape().len() == 2 && b.pending().is_some() => {
            let b = b.pending().unwrap_or(b);
            product(call, a, b, transpose_a, !transpose_b, dtype)
        }
        _ => product(call, a, call.tensor(1)?, transpose_a, transpose_b, dtype),
    }
}

pub(super) fn product(
    call: &Call<'_>,
    a: &Tensor,
    b: &Tensor,
    transpose_a: bool,
    transpose_b: bool,
    dtype: DataType,
) -> Outcome {
    let from = a.shape();
    let least = if transpose_a { 2 } else { 1 };
    let (Some(front), &[rows_b, columns_b]) = (from.len().checked_sub(least), b.shape()) else {
        return Err(call.fault("the arguments are no matrices"));
    };
    let (inner_b, units) = if transpose_b { (columns_b, rows_b) } else { (rows_b, columns_b) };
    let inner = from[from.len() - least];
    if inner != inner_b {
        return Err(call.fault(format_args!("{inner} columns meet {inner_b} rows")));
    }
    let mut shape = from.to_vec();
    let rank = shape.len();
    if transpose_a {
        shape[rank - 2] = from[rank - 1];
    }
    shape[rank - 1] = units;
    call.allow(&shape, dtype)?;
    each_sum_type!(sum_type(a.dtype(), b.dtype(), dtype), {
        let (Some(x), Some(y)) = (operand::<T>(a), operand::<T>(b)) else {
            return call.unsupported(a.dtype());
        };
        let Ok(y) = y.view().into_dimensionality::<Ix2>() else {
            return Err(call.fault("`tensor_b` is no matrix"));
        };
        let y = if transpose_b { y.reversed_axes() } else { y };
        let columns = from[rank - 1];
        let chain = claimed_chain::<T>(call, &shape, dtype);
        let elements = x.as_slice().unwrap_or_default();
        let mut out = unspecified(shape.iter().product());
        let (batches, rows) = if transpose_a {
            (from[..front].iter().product(), columns)
        } else {
            (1usize, from[..front].iter().product())
        };
        for batch in 0..batches {
            let size = rows * inner;
            let (wide, high) = if transpose_a { (rows, inner) } else { (inner, rows) };
            let part = elements.get(batch * size..(batch + 1) * size).unwrap_or_default();
            let Ok(x) = ArrayView2::from_shape((high, wide), part) else {
                return Err(call.fault("`tensor_a` is no matrix"));
            };
            let x = if transpose_a { x.reversed_axes() } else { x };
            let to = &mut out[batch * rows * units..(batch + 1) * rows * units];
            if let Ok(to) = ndarray::ArrayViewMut2::from_shape((rows, units), to) {
                T::multiply(x, y, to, Epilogue::new(chain, batch * rows * units));
            }
        }
        finish::<T>(call, &shape, out, dtype)
    })
}

/// An operand in the type in which products are added up.
struct Matrix<T> {
    array: Array<T>,
    /// True if rows and columns are swapped.
    is_transposed: bool,
}

impl<T: Gemm> Matrix<T> {
    /// Returns an argument. A pending transpose stays pending.
    fn of(call: &Call<'_>, position: usize) -> Result<Option<Matrix<T>>, Fault> {
        if let Some(shared) = call.shared(position)
            && shared.shape().len() == 3
            && let Some(array) = shared.pending_array::<T>()
        {
            return Ok(Some(Matrix { array: array.clone(), is_transposed: true }));
        }
        let array = operand::<T>(call.tensor(position)?);
        Ok(array.map(|array| Matrix { array, is_transposed: false }))
    }

    fn batches(&self) -> Option<ArrayView3<'_, T>> {
        if !self.is_transposed {
            return self.array.view().into_dimensionality::<Ix3>().ok();
        }
        let matrix = self.array.view().into_dimensionality::<Ix2>().ok()?;
        Some(matrix.reversed_axes().insert_axis(Axis(0)))
    }
}

pub(super) fn batch_matmul(call: &mut Call<'_>) -> Outcome {
    let dtype = out_dtype(call)?;
    let [transpose_a, transpose_b] = transposed(call);
    let (a_type, b_type) = (call.dtype(0)?, call.dtype(1)?);
    each_sum_type!(sum_type(a_type, b_type, dtype), {
        let (Some(x), Some(y)) = (Matrix::<T>::of(call, 0)?, Matrix::<T>::of(call, 1)?) else {
            return call.unsupported(a_type);
        };
        let (Some(x), Some(y)) = (x.batches(), y.batches()) else {
            return Err(call.fault("the arguments are no batches of matrices"));
        };
        // Views, which are transposed without a copy.
        let x = if transpose_a { x.permuted_axes([0, 2, 1]) } else { x };
        let y = if transpose_b { y.permuted_axes([0, 2, 1]) } else { y };
        let ((m, rows, inner), (n, inner_b, columns)) = (x.dim(), y.dim());
        if inner != inner_b || m != n && m != 1 && n != 1 {
            return Err(call.fault(format_args!(
                "matrices of shapes {:?} and {:?} do not multiply",
                x.shape(),
                y.shape()
            )));
        }
        let batches = if m == 1 { n } else { m };
        let shape = [batches, rows, columns];
        call.allow(&shape, dtype)?;
        let chain = claimed_chain::<T>(call, &shape, dtype);
        let mut out = unspecified(batches * rows * columns);
        let one = |batch: usize, to: &mut [T], alone: bool| {
            let x = x.index_axis(Axis(0), if m == 1 { 0 } else { batch });
            let y = y.index_axis(Axis(0), if n == 1 { 0 } else { batch });
            if let Ok(to) = ndarray::ArrayViewMut2::from_shape((rows, columns), to) {
                let mut to = to;
                let epilogue = Epilogue::new(chain, batch * rows * columns);
                if alone {
                    T::multiply(x, y, to, epilogue);
                } else {
                    T::product(x, y, to.view_mut());
                    epilogue.apply(columns, to);
                }
            }
        };
        let size = (rows * columns).max(1);
        if batches >= threads() {
            each_chunk(&mut out, size, inner, &|k, to| one(k, to, false));
        } else {
            out.chunks_mut(size).enumerate().for_each(|(k, to)| one(k, to, true));
        }
        finish::<T>(call, &shape, out, dtype)
    })
}

/// Computes a dense layer whose weight has its rows in blocks.
pub(super) fn dense_pack(call: &mut Call<'_>) -> Outcome {
    let dtype = out_dtype(call)?;
    product(call, call.tensor(0)?, &unpacked_weight(call)?, false, true, dtype)
}

/// Returns a weight without its blocks.
fn unpacked_weight(call: &Call<'_>) -> Result<Tensor, Fault> {
    let weight = call.tensor(1)?;
    // Blocks have the size of the weight's axes, whatever `weight_layout` says.
    match *weight.shape() {
        [_, _, n] => layouts::convert(call, weight, &format!("NC{n}n"), "NC"),
        [_, _, n, c] => layouts::convert(call, weight, &format!("NC{n}n{c}c"), "NC"),
        _ => Err(call.fault("the weight has the wrong rank")),
    }
}
