//! Operators that create tensors.

use super::{index::strides, prelude::*};
use crate::convert::converted;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("arange", arange),
    kernel("full", |c| {
        let (shape, dtype) = c.result()?;
        filled(c, c.tensor(0)?.clone(), &shape, dtype)
    }),
    kernel("full_like", |c| {
        let like = c.tensor(0)?;
        filled(c, c.tensor(1)?.clone(), like.shape(), like.dtype())
    }),
    kernel("matrix_set_diag", matrix_set_diag),
    kernel("meshgrid", meshgrid),
    kernel("one_hot", |c| {
        let depth = c.int("depth")?;
        one_hot(c, depth)
    }),
    kernel("ones", |c| {
        let (shape, dtype) = c.result()?;
        filled(c, Tensor::scalar(true), &shape, dtype)
    }),
    kernel("trilu", trilu),
    kernel("zeros", |c| {
        let (shape, dtype) = c.result()?;
        filled(c, Tensor::scalar(false), &shape, dtype)
    }),
];

/// A tensor filled with one value.
pub(super) fn filled(call: &Call<'_>, value: Tensor, shape: &[usize], dtype: DataType) -> Outcome {
    call.allow(shape, dtype)?;
    let Some(value) = converted(value, dtype) else { return call.unsupported(dtype) };
    each_dtype!(value, value => {
        let value: T = value.first().copied().unwrap_or_default();
        call.build(shape, repeated(value, shape.iter().product()))
    })
}

/// The value of a scalar argument.
pub(super) fn scalar(call: &Call<'_>, position: usize) -> Result<f64, Fault> {
    let first = call.tensor(position)?.to_f64s().first().copied();
    first.ok_or_else(|| call.fault(format_args!("argument {position} has no element")))
}

/// Without constants in the attributes, the length is computed as in TVM's virtual machine: the
/// bounds and the step are truncated to integers first.
fn arange(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("dtype");
    let (start, stop, step) = (scalar(call, 0)?, scalar(call, 1)?, scalar(call, 2)?);
    let inferred = call.result_type()?;
    let inferred = inferred.as_tensor().and_then(|tensor| tensor.shape.first()?.as_known());
    let length = match inferred.and_then(|length| usize::try_from(length).ok()) {
        Some(length) => length,
        None => {
            let cut = step.trunc() != 0.0;
            let (from, to) = if cut { (start.trunc(), stop.trunc()) } else { (start, stop) };
            let length = ((to - from) / if cut { step.trunc() } else { step }).ceil();
            if !(0.0..=9e18).contains(&length) {
                return Err(call.fault(format_args!(
                    "there are no values from {start} to {stop} with step {step}"
                )));
            }
            length as usize
        }
    };
    call.allow(&[length], DataType::INT64)?;
    let made = match call.tensor(0)? {
        // Each operation is rounded separately.
        Tensor::F32(_) => {
            let (start, step) = (start as f32, step as f32);
            let values = watched(0..length).map(|k| f64::from(start + step * k as f32));
            Tensor::from_f64s(dtype, &[length], collected(values))
        }
        Tensor::F64(_) => {
            let values = watched(0..length).map(|k| start + step * k as f64);
            Tensor::from_f64s(dtype, &[length], collected(values))
        }
        Tensor::F16(_) => {
            let round = |x: f64| <half::f16 as Element>::from_f64(x).to_f64();
            let values = watched(0..length).map(|k| round(start + round(step * round(k as f64))));
            Tensor::from_f64s(dtype, &[length], collected(values))
        }
        Tensor::BF16(_) => {
            let round = |x: f64| <half::bf16 as Element>::from_f64(x).to_f64();
            let values = watched(0..length).map(|k| round(start + round(step * round(k as f64))));
            Tensor::from_f64s(dtype, &[length], collected(values))
        }
        _ => {
            let first = |position: usize| -> Result<i64, Fault> {
                Ok(call.numbers(position)?.first().copied().unwrap_or_default())
            };
            let (start, step) = (first(0)?, first(2)?);
            let value = |k: usize| start.wrapping_add(step.wrapping_mul(k as i64));
            Tensor::from_i64s(dtype, &[length], collected(watched(0..length).map(value)))
        }
    };
    match made {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// The number of matrices in a tensor, with their rows and columns.
fn matrices(call: &Call<'_>, data: &Tensor) -> Result<(usize, usize, usize), Fault> {
    let [outer @ .., rows, columns] = data.shape() else {
        return Err(call.fault("a matrix needs at least 2 axes"));
    };
    Ok((outer.iter().product(), *rows, *columns))
}

fn trilu(call: &mut Call<'_>) -> Outcome {
    // TVM truncates the diagonal to 32 bits.
    let diagonal = call.numbers(1)?.first().map_or(0, |&k| i64::from(k as i32));
    let upper = call.bool("upper");
    let data = call.take_tensor(0)?;
    let (_, rows, columns) = matrices(call, &data)?;
    let kept = |row: usize, column: usize| {
        let (row, column) = (row as i64, (column as i64).saturating_sub(diagonal));
        if upper { row <= column } else { row >= column }
    };
    each_dtype!(data, data => {
        let mut data = own(data);
        let elements = data.as_slice_mut().unwrap_or_default();
        for matrix in elements.chunks_mut((rows * columns).max(1)) {
            for (row, elements) in matrix.chunks_mut(columns.max(1)).enumerate() {
                for (column, element) in watched(elements.iter_mut().enumerate()) {
                    if !kept(row, column) {
                        *element = T::default();
                    }
                }
            }
        }
        Ok(T::wrap(data).into())
    })
}

fn matrix_set_diag(call: &mut Call<'_>) -> Outcome {
    let (k1, k2) = (call.int("k1")?, call.int("k2")?);
    let (high_right, low_right) =
        (call.bool("super_diag_right_align"), call.bool("sub_diag_right_align"));
    let (data, diagonal) = (call.tensor(0)?.clone(), call.tensor(1)?);
    let (batches, rows, columns) = matrices(call, &data)?;
    let batch_rank = data.rank() - 2;
    let one = k1 == k2;
    let rank = batch_rank + if one { 1 } else { 2 };
    if diagonal.rank() != rank || diagonal.shape()[..batch_rank] != data.shape()[..batch_rank] {
        return Err(call.fault(format_args!(
            "`diagonal` has the shape {:?}, which does not fit the matrices of {:?}",
            diagonal.shape(),
            data.shape()
        )));
    }
    let length = diagonal.shape().last().copied().unwrap_or(0) as i64;
    let lines = if one { 1 } else { diagonal.shape()[batch_rank] };
    // The element of the diagonals for a position in a matrix.
    let (height, width) = (rows as i64, columns as i64);
    let mut moves: Vec<(usize, usize)> = Vec::new();
    for row in watched(0..rows) {
        for column in watched(0..columns) {
            let k = column as i64 - row as i64;
            if k < k1 || k > k2 {
                continue;
            }
            let place = if k >= 0 { row } else { column } as i64;
            let (line, offset) = match (one, k >= 0) {
                (true, _) => (0, 0),
                (_, true) if high_right => (k2.saturating_sub(k), length - (width - k).min(height)),
                (_, false) if low_right => (k2.saturating_sub(k), length - width.min(height + k)),
                _ => (k2.saturating_sub(k), 0),
            };
            match (usize::try_from(line), usize::try_from(place + offset)) {
                (Ok(line), Ok(at)) if line < lines && (at as i64) < length => {
                    push(&mut moves, (row * columns + column, line * length as usize + at));
                }
                _ => {
                    return Err(call.fault(format_args!(
                        "`diagonal` has the shape {:?}: nothing in it is for row {row}, column \
                         {column}",
                        diagonal.shape()
                    )));
                }
            }
        }
    }
    let (whole, line) = (rows * columns, lines * length as usize);
    each_dtype!(data, data => {
        let mut data = own(data);
        let Some(from) = T::unwrap(diagonal).and_then(|array| array.as_slice()) else {
            return Err(call.fault("`input` and `diagonal` have different data types"));
        };
        if let Some(elements) = data.as_slice_mut() {
            for batch in 0..batches {
                for &(to, at) in watched(moves.iter()) {
                    elements[batch * whole + to] = from[batch * line + at];
                }
            }
        }
        Ok(T::wrap(data).into())
    })
}

fn meshgrid(call: &mut Call<'_>) -> Outcome {
    let vectors = call.tensors(0)?;
    let swap = call.str("indexing") == "xy" && vectors.len() >= 2;
    let axis = |vector: usize| match vector {
        0 | 1 if swap => 1 - vector,
        other => other,
    };
    let mut shape = repeated(1, vectors.len());
    for (vector, tensor) in vectors.iter().enumerate() {
        shape[axis(vector)] = tensor.len();
    }
    let mut grids = with_capacity(vectors.len());
    for (vector, &tensor) in vectors.iter().enumerate() {
        let mut along = repeated(1, vectors.len());
        along[axis(vector)] = tensor.len();
        let tensor = call.reshaped(tensor.clone(), &along)?;
        grids.push(super::broadcast::broadcast_to(call, &tensor, &shape)?.into());
    }
    Ok(Value::tuple(grids))
}

/// Adds an axis of size `depth` with the on value at the position of each index. Indices out of
/// range set none.
pub(super) fn one_hot(call: &mut Call<'_>, depth: i64) -> Outcome {
    let dtype = call.result_dtype()?;
    let indices = call.tensor(0)?;
    let Ok(depth) = usize::try_from(depth) else {
        return Err(call.fault(format_args!("{depth} is not a valid depth")));
    };
    let rank = indices.rank();
    let axis = match call.int("axis")? {
        -1 => rank,
        axis => call.axis(axis, rank + 1)?,
    };
    let mut shape = indices.shape().to_vec();
    shape.insert(axis, depth);
    call.allow(&shape, dtype)?;
    let places: Vec<Option<usize>> = if indices.dtype().is_float() || indices.dtype().is_bfloat() {
        let whole = |x: f64| (x.fract() == 0.0 && x >= 0.0).then_some(x as usize);
        mapped(&indices.to_f64s(), whole)
    } else {
        mapped(&indices.to_i64s(), |index| usize::try_from(index).ok())
    };
    let step = strides(&shape)[axis];
    let values =
        (converted(call.tensor(1)?.clone(), dtype), converted(call.tensor(2)?.clone(), dtype));
    let (Some(on), Some(off)) = values else { return call.unsupported(dtype) };
    each_dtype!(on, on => {
        let on: T = on.first().copied().unwrap_or_default();
        let off: T = T::unwrap(&off).and_then(|off| off.first().copied()).unwrap_or_default();
        let mut out = repeated(off, shape.iter().product());
        for (at, place) in watched(places.into_iter().enumerate()) {
            if let Some(place) = place.filter(|&place| place < depth) {
                out[(at / step * depth + place) * step + at % step] = on;
            }
        }
        call.build(&shape, out)
    })
}
