//! Reductions and scans along axes, and queries of shapes.

use half::{bf16, f16};

use super::{broadcast, overflow, prelude::*};
use crate::{
    convert::{converted, each_wide, widened},
    overflow::{ExactFold, Overflow, fits},
    permute::permuted,
};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("sum", |c| fold(c, sum, i64::wrapping_add, 0))
        .overflow(|c, result| fold_overflow(c, result, (i128::checked_add, 0))),
    kernel("prod", |c| fold(c, product, i64::wrapping_mul, 1))
        .overflow(|c, result| fold_overflow(c, result, (i128::checked_mul, 1))),
    kernel("mean", mean).overflow(mean_overflow),
    kernel("max", |c| extreme(c, true)),
    kernel("min", |c| extreme(c, false)),
    kernel("all", |c| truth(c, |row| pieces(row).all(|row| row.iter().all(|&x| x)), true)),
    kernel("any", |c| truth(c, |row| pieces(row).any(|row| row.iter().any(|&x| x)), false)),
    kernel("argmax", |c| index_of(c, true)),
    kernel("argmin", |c| index_of(c, false)),
    kernel("variance", variance),
    kernel("cumsum", |c| scan(c, |x, y| x + y, i64::wrapping_add, 0))
        .overflow(|c, result| scan_overflow(c, result, (i128::checked_add, 0))),
    kernel("cumprod", |c| scan(c, |x, y| x * y, i64::wrapping_mul, 1))
        .overflow(|c, result| scan_overflow(c, result, (i128::checked_mul, 1))),
    kernel("shape_of", shape_of),
    kernel("ndarray_size", ndarray_size),
    kernel("collapse_sum_like", |c| {
        let shape = c.tensor(1)?.shape().to_vec();
        collapse_sum(c, &shape)
    }),
    kernel("collapse_sum_to", |c| {
        // TVM uses the result type, and the values only if that is not sufficient.
        if c.attrs().has("shape") {
            let (shape, _) = c.result()?;
            return collapse_sum(c, &shape);
        }
        let size = |size: i64| {
            usize::try_from(size).map_err(|_| c.fault(format_args!("{size} is not a valid size")))
        };
        let shape = c.numbers(1)?.into_iter().map(size).collect::<Result<Vec<usize>, Fault>>()?;
        collapse_sum(c, &shape)
    }),
];

/// The reduced axes in ascending order, and the remaining shape.
fn folded(call: &Call<'_>, shape: &[usize]) -> Result<(Vec<usize>, Vec<usize>), Fault> {
    let rank = shape.len();
    let mut axes = Vec::new();
    for axis in call.ints("axis")? {
        axes.push(call.axis(axis, rank)?);
    }
    axes.sort_unstable();
    axes.dedup();
    if axes.is_empty() {
        axes = (0..rank).collect();
    } else if call.bool("exclude") {
        axes = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    }
    let keep = call.bool("keepdims") || axes.is_empty();
    let mut left = Vec::new();
    for (axis, &size) in shape.iter().enumerate() {
        match axes.contains(&axis) {
            true if keep => left.push(1),
            true => {}
            false => left.push(size),
        }
    }
    Ok((axes, left))
}

/// The elements in row-major order with the reduced axes last, and their number per result.
fn rows<T: Element>(array: &Array<T>, axes: &[usize]) -> (Array<T>, usize) {
    let rank = array.ndim();
    let length = axes.iter().map(|&axis| array.shape()[axis]).product();
    let order: Vec<usize> =
        (0..rank).filter(|axis| !axes.contains(axis)).chain(axes.iter().copied()).collect();
    if order.iter().enumerate().all(|(k, &axis)| k == axis) {
        return (array.clone(), length);
    }
    let elements = permuted(array.as_slice().unwrap_or_default(), array.shape(), &order);
    // All elements are reduced.
    let made = Array::from_shape_vec(ndarray::IxDyn(&[elements.len()]), elements);
    (made.unwrap_or_else(|_| array.clone()), length)
}

/// Applies `f` to each row, in parallel for large inputs.
fn each_row<T: Element, U: Copy + Send + Default>(
    array: &Array<T>,
    length: usize,
    count: usize,
    f: &(dyn Fn(&[T]) -> U + Sync),
) -> Vec<U> {
    let elements = array.as_slice().unwrap_or_default();
    if length == 0 {
        return collected((0..count).map(|_| f(&[])));
    }
    let mut out = repeated(U::default(), count);
    // Enough rows to make a thread worthwhile.
    let many = (PIECE / length).max(1);
    each_chunk(&mut out, many, length, &|at, out| {
        let rows = elements.get(at * many * length..).unwrap_or_default();
        for (to, row) in out.iter_mut().zip(rows.chunks(length)) {
            spend(length.min(PIECE));
            *to = f(row);
        }
    });
    out
}

/// Converts a result to the given data type.
fn narrowed<T: Element>(call: &Call<'_>, shape: &[usize], out: Vec<T>, dtype: DataType) -> Outcome {
    match T::tensor(shape, out).and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

fn sum(row: &mut dyn Iterator<Item = f64>) -> f64 {
    row.sum()
}

fn product(row: &mut dyn Iterator<Item = f64>) -> f64 {
    row.product()
}

/// Single precision is summed up in eight partial sums of double precision.
fn sum_f32(row: &[f32]) -> f64 {
    let (chunks, rest) = row.as_chunks::<8>();
    let mut parts = [0f64; 8];
    for chunk in chunks.chunks(PIECE).inspect(|chunks| spend(chunks.len())).flatten() {
        for (part, &x) in parts.iter_mut().zip(chunk) {
            *part += f64::from(x);
        }
    }
    parts.iter().sum::<f64>() + rest.iter().map(|&x| f64::from(x)).sum::<f64>()
}

fn fold(
    call: &mut Call<'_>,
    float: fn(&mut dyn Iterator<Item = f64>) -> f64,
    integer: fn(i64, i64) -> i64,
    neutral: i64,
) -> Outcome {
    let tensor = call.tensor(0)?;
    let (axes, left) = folded(call, tensor.shape())?;
    let count = left.iter().product();
    let is_sum = neutral == 0;
    match tensor {
        Tensor::F32(array) => {
            let (array, length) = rows(array, &axes);
            let out = each_row(&array, length, count, &|row| match is_sum {
                true => sum_f32(row) as f32,
                false => float(&mut watched(row.iter()).map(|&x| f64::from(x))) as f32,
            });
            call.build(&left, out)
        }
        other => each_wide!(widened(other), array => {
            let (array, length) = rows(&array, &axes);
            let is_float = T::DTYPE.is_float();
            let out = each_row(&array, length, count, &|row| if is_float {
                <T as Element>::from_f64(float(&mut watched(row.iter()).map(|&x| Element::to_f64(x))))
            } else {
                let numbers = watched(row.iter()).map(|&x| Element::to_i64(x));
                <T as Element>::from_i64(numbers.fold(neutral, integer))
            });
            narrowed(call, &left, out, other.dtype())
        }, else call.unsupported(other.dtype())),
    }
}

fn fold_overflow(call: &Call<'_>, result: &Tensor, exact: ExactFold) -> Option<Overflow> {
    let tensor = call.tensor(0).ok().filter(|tensor| overflow::is_integer(tensor))?;
    let (axes, _) = folded(call, tensor.shape()).ok()?;
    let (rows, length) = each_dtype!(tensor, array => {
        let (array, length) = rows(array, &axes);
        (T::wrap(array), length)
    });
    overflow::of_rows((&rows, length), result, exact)
}

fn mean_overflow(call: &Call<'_>, result: &Tensor) -> Option<Overflow> {
    // The sums have 64 bits, which those of narrower integers fit.
    if result.dtype().bits < 64 {
        return None;
    }
    let sum = fold_overflow(call, result, (i128::checked_add, 0))?;
    Some(Overflow { is_sum: true, ..sum })
}

fn scan_overflow(
    call: &Call<'_>,
    result: &Tensor,
    (exact, neutral): ExactFold,
) -> Option<Overflow> {
    let tensor = call.tensor(0).ok().filter(|tensor| overflow::is_integer(tensor))?;
    let shape = result.shape();
    let axis = call.optional_int("axis").ok()?;
    let axis = axis.map_or(Some(0), |axis| call.axis(axis, shape.len()).ok())?;
    let inner: usize = shape.get(axis + 1..)?.iter().product();
    let length = shape.get(axis)?;
    let is_exclusive = call.bool("exclusive");
    // The last number of each column, and the two that it is computed from.
    let mut columns = repeated((Some(neutral), [neutral; 2]), inner);
    for at in watched(0..result.len()) {
        let last = columns.get_mut(at.checked_rem(inner)?)?;
        if (at / inner).checked_rem(*length)? == 0 {
            *last = (Some(neutral), [neutral; 2]);
        }
        let number = overflow::integer_at(tensor, at);
        let before = *last;
        // One that has more than 128 bits was returned, or is next.
        *last = (before.0.and_then(|x| exact(x, number)), [before.0.unwrap_or_default(), number]);
        let (shown, operands) = if is_exclusive { before } else { *last };
        if !fits(result.dtype(), shown) {
            let operands = operands.iter().map(i128::to_string);
            return Some(Overflow::new(shape, at, operands, shown));
        }
    }
    None
}

fn mean(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let (axes, left) = folded(call, tensor.shape())?;
    let count = left.iter().product();
    match tensor {
        Tensor::F32(array) => {
            let (array, length) = rows(array, &axes);
            let out = each_row(&array, length, count, &|row| (sum_f32(row) / length as f64) as f32);
            call.build(&left, out)
        }
        other => each_wide!(widened(other), array => {
            let (array, length) = rows(&array, &axes);
            let is_float = T::DTYPE.is_float();
            if !is_float && length == 0 {
                return Err(call.fault("the mean of zero integers is undefined"));
            }
            let out = each_row(&array, length, count, &|row| if is_float {
                let sum: f64 = watched(row.iter()).map(|&x| Element::to_f64(x)).sum();
                <T as Element>::from_f64(sum / length as f64)
            } else {
                let sum = watched(row.iter()).map(|&x| Element::to_i64(x)).fold(0, i64::wrapping_add);
                let is_unsigned = T::DTYPE.is_uint();
                <T as Element>::from_i64(match is_unsigned {
                    true => (sum.cast_unsigned() / length as u64).cast_signed(),
                    false => sum / length as i64,
                })
            });
            narrowed(call, &left, out, other.dtype())
        }, else call.unsupported(other.dtype())),
    }
}

fn extreme(call: &mut Call<'_>, largest: bool) -> Outcome {
    let tensor = call.tensor(0)?;
    let (axes, left) = folded(call, tensor.shape())?;
    let count = left.iter().product();
    let dtype = tensor.dtype();
    // The minimum or maximum of the type is the initial value.
    let bound = if largest { f64::MIN } else { f64::MAX };
    let empty = match dtype {
        DataType::FLOAT16 => f16::MAX.to_f64().copysign(bound),
        DataType::BFLOAT16 => bf16::MAX.to_f64().copysign(bound),
        DataType::FLOAT32 => f64::from(f32::MAX).copysign(bound),
        _ => bound,
    };
    let empty = Tensor::nearest(dtype, empty).map(|tensor| widened(&tensor));
    each_wide!(widened(tensor), array => {
        let (array, length) = rows(&array, &axes);
        let empty = empty.as_ref().and_then(T::unwrap).and_then(|x| x.first().copied());
        let empty = empty.unwrap_or_default();
        let out = each_row(&array, length, count, &|row| {
            let Some((&first, rest)) = row.split_first() else { return empty };
            pieces(rest).flatten().fold(first, |best, &x| {
                let is_better = if largest { x > best } else { x < best };
                // Comparisons with NaN are false, so it persists.
                if is_better || x.partial_cmp(&x).is_none() { x } else { best }
            })
        });
        narrowed(call, &left, out, dtype)
    }, else call.unsupported(dtype))
}

fn truth(call: &mut Call<'_>, f: fn(&[bool]) -> bool, empty: bool) -> Outcome {
    let tensor = call.tensor(0)?;
    let (axes, left) = folded(call, tensor.shape())?;
    let count = left.iter().product();
    let Some(Tensor::Bool(array)) = converted(tensor.clone(), DataType::BOOL) else {
        return call.unsupported(tensor.dtype());
    };
    let (array, length) = rows(&array, &axes);
    let out: Vec<bool> =
        each_row(&array, length, count, &|row| if row.is_empty() { empty } else { f(row) });
    let dtype = tensor.dtype();
    match bool::tensor(&left, out).and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

fn index_of(call: &mut Call<'_>, largest: bool) -> Outcome {
    let dtype = call.result_dtype()?;
    let last = call.bool("select_last_index");
    let tensor = call.tensor(0)?;
    let (axes, left) = folded(call, tensor.shape())?;
    let count = left.iter().product();
    let out: Vec<i64> = each_wide!(widened(tensor), array => {
        let (array, length) = rows(&array, &axes);
        each_row(&array, length, count, &|row| {
            let mut best = 0;
            for (k, x) in watched(row.iter()).enumerate().skip(1) {
                let Some(held) = row.get(best) else { break };
                let is_better = if largest { x > held } else { x < held };
                if is_better || last && x == held {
                    best = k;
                }
            }
            best as i64
        })
    }, else Vec::new());
    match Tensor::from_i64s(dtype, &left, out) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// The mean of the squared distances from a given mean.
fn variance(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let (axes, left) = folded(call, tensor.shape())?;
    let count = left.iter().product();
    let mean = broadcast::broadcast_to(call, call.tensor(1)?, tensor.shape())?;
    let unbiased = call.bool("unbiased");
    let pairs = watched(tensor.to_f64s().into_iter()).zip(mean.to_f64s());
    let squares = collected(pairs.map(|(x, m)| (x - m).powi(2)));
    let Some(Tensor::F64(squares)) = f64::tensor(tensor.shape(), squares) else {
        return Err(call.fault("the shapes do not fit"));
    };
    let (squares, length) = rows(&squares, &axes);
    let by = (length as f64) - if unbiased { 1.0 } else { 0.0 };
    let out = each_row(&squares, length, count, &|row| watched(row.iter()).sum::<f64>() / by);
    narrowed(call, &left, out, tensor.dtype())
}

fn scan(
    call: &mut Call<'_>,
    float: fn(f64, f64) -> f64,
    integer: fn(i64, i64) -> i64,
    neutral: i64,
) -> Outcome {
    let exclusive = call.bool("exclusive");
    let dtype = call.attrs().dtype("dtype");
    let tensor = call.tensor(0)?.clone();
    let dtype = if dtype.is_void() { tensor.dtype() } else { dtype };
    let (tensor, axis) = match call.optional_int("axis")? {
        Some(axis) => {
            let axis = call.axis(axis, tensor.rank())?;
            (tensor, axis)
        }
        None => {
            let count = tensor.len();
            (call.reshaped(tensor, &[count])?, 0)
        }
    };
    let shape = tensor.shape().to_vec();
    let inner: usize = shape[axis + 1..].iter().product();
    let block = shape[axis] * inner;
    let Some(tensor) = converted(tensor, dtype) else { return call.unsupported(dtype) };
    each_wide!(widened(&tensor), array => {
        let is_float = T::DTYPE.is_float();
        let narrow = T::DTYPE.bits == 32;
        let elements = array.as_slice().unwrap_or_default();
        let mut out = repeated(T::default(), elements.len());
        for (from, to) in elements.chunks(block.max(1)).zip(out.chunks_mut(block.max(1))) {
            for column in 0..inner {
                let (mut number, mut whole) = (neutral as f64, neutral);
                for at in watched((column..from.len()).step_by(inner)) {
                    let before = (number, whole);
                    if is_float {
                        number = float(number, Element::to_f64(from[at]));
                        if narrow {
                            number = f64::from(number as f32);
                        }
                    } else {
                        whole = integer(whole, Element::to_i64(from[at]));
                    }
                    let (number, whole) = if exclusive { before } else { (number, whole) };
                    to[at] = if is_float {
                        <T as Element>::from_f64(number)
                    } else {
                        <T as Element>::from_i64(whole)
                    };
                }
            }
        }
        narrowed(call, &shape, out, dtype)
    }, else call.unsupported(dtype))
}

fn shape_of(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("dtype");
    let shape = call.tensor(0)?.shape();
    let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    let made = match sizes.len() {
        0 => Tensor::from_i64s(dtype, &[], vec![0]),
        rank => Tensor::from_i64s(dtype, &[rank], sizes),
    };
    match made {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

fn ndarray_size(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("dtype");
    let count = call.tensor(0)?.len() as i64;
    match Tensor::from_i64s(dtype, &[], vec![count]) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// Sums up the elements that a broadcast from `shape` has repeated.
fn collapse_sum(call: &mut Call<'_>, shape: &[usize]) -> Outcome {
    let tensor = call.tensor(0)?;
    let from = tensor.shape();
    if from == shape {
        return Ok(call.take(0));
    }
    let Some(extra) = from.len().checked_sub(shape.len()) else {
        return Err(call.fault(format_args!("shape {from:?} cannot be collapsed to {shape:?}")));
    };
    let mut axes: Vec<usize> = (0..extra).collect();
    for (axis, (&large, &small)) in from[extra..].iter().zip(shape).enumerate() {
        match small {
            _ if small == large => {}
            1 => axes.push(extra + axis),
            _ => {
                return Err(
                    call.fault(format_args!("shape {from:?} cannot be collapsed to {shape:?}"))
                );
            }
        }
    }
    let count = shape.iter().product();
    each_wide!(widened(tensor), array => {
        let (array, length) = rows(&array, &axes);
        let is_float = T::DTYPE.is_float();
        let out = each_row(&array, length, count, &|row| if is_float {
            <T as Element>::from_f64(watched(row.iter()).map(|&x| Element::to_f64(x)).sum())
        } else {
            let numbers = watched(row.iter()).map(|&x| Element::to_i64(x));
            <T as Element>::from_i64(numbers.fold(0, i64::wrapping_add))
        });
        narrowed(call, shape, out, tensor.dtype())
    }, else call.unsupported(tensor.dtype()))
}
