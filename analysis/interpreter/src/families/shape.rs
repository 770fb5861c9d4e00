//! Operators that rearrange elements: reshape, transpose, concatenate, split, repeat.

use super::{
    broadcast,
    index::slice::{Cut, cut},
    prelude::*,
};
use crate::shared::SharedTensor;

pub(super) static KERNELS: &[Kernel] = &[
    light("reshape", to_result).step(ElementOp::Reshape),
    light("contrib_reverse_reshape", to_result),
    light("reshape_like", to_result),
    light("expand_dims", to_result).step(ElementOp::Reshape),
    light("squeeze", squeeze).step(ElementOp::Reshape),
    light("nn.batch_flatten", to_result).step(ElementOp::Reshape),
    kernel("transpose", transpose),
    kernel("reverse", reverse),
    kernel("concatenate", concatenate),
    kernel("stack", stack),
    kernel("split", split),
    kernel("broadcast_to", |c| {
        let (shape, _) = c.result()?;
        if let Some(value) = c.reshaped_pending(&shape) {
            return Ok(value);
        }
        Ok(broadcast::broadcast_to(c, c.tensor(0)?, &shape)?.into())
    }),
    kernel("broadcast_to_like", |c| {
        let shape = c.tensor(1)?.shape().to_vec();
        Ok(broadcast::broadcast_to(c, c.tensor(0)?, &shape)?.into())
    }),
    kernel("tile", |c| {
        let reps = c.ints("reps")?;
        tile(c, &reps)
    }),
    kernel("repeat", repeat),
];

/// The elements of the first argument in the shape of the result.
fn to_result(call: &mut Call<'_>) -> Outcome {
    let (shape, _) = call.result()?;
    if let Some(value) = call.reshaped_pending(&shape) {
        return Ok(value);
    }
    let tensor = call.take_tensor(0)?;
    Ok(call.reshaped(tensor, &shape)?.into())
}

/// Without `axis`, all axes of size 1 are removed, which are only known at run time.
fn squeeze(call: &mut Call<'_>) -> Outcome {
    let tensor = call.take_tensor(0)?;
    let rank = tensor.rank();
    let mut drop = repeated(false, rank);
    match call.optional_ints("axis")? {
        Some(axes) => {
            for axis in axes {
                let at = call.axis(axis, rank)?;
                if tensor.shape()[at] != 1 {
                    return Err(call.fault(format_args!(
                        "axis {axis} has size {}, but only axes of size 1 can be removed",
                        tensor.shape()[at]
                    )));
                }
                drop[at] = true;
            }
        }
        None => {
            tensor.shape().iter().zip(&mut drop).for_each(|(&size, drop)| *drop = size == 1);
        }
    }
    let kept = tensor.shape().iter().zip(&drop).filter(|(_, drop)| !**drop);
    let shape: Vec<usize> = kept.map(|(&size, _)| size).collect();
    Ok(call.reshaped(tensor, &shape)?.into())
}

/// The number of elements from which transposing a matrix is deferred until the elements are read.
const PENDING: usize = 1 << 14;

fn transpose(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let rank = tensor.rank();
    let axes = call.ints("axes")?;
    let mut order = with_capacity(rank);
    for axis in axes {
        order.push(call.axis(axis, rank)?);
    }
    if order.is_empty() {
        order = (0..rank).rev().collect();
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank) {
        return Err(call.fault(format_args!("`axes` is not a permutation of {rank} axes")));
    }
    if order == [1, 0]
        && tensor.len() >= PENDING
        && let Some(tensor) =
            SharedTensor::transposed_matrix(tensor.clone(), &[tensor.shape()[1], tensor.shape()[0]])
    {
        return Ok(Value::Tensor(tensor));
    }
    Ok(tensor.permuted(&order).into())
}

fn reverse(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let axis = call.axis(call.optional_int("axis")?.unwrap_or(0), tensor.rank())?;
    let mut cuts: Vec<Cut> = tensor.shape().iter().map(|&size| Cut::whole(size)).collect();
    if let Some(last) = cuts[axis].count.checked_sub(1) {
        cuts[axis] = Cut { begin: last, stride: -1, ..cuts[axis] };
    }
    Ok(cut(call, tensor, &cuts)?.into())
}

/// Concatenates tensors along an axis.
pub(super) fn joined(call: &Call<'_>, parts: &[&Tensor], axis: usize) -> Result<Tensor, Fault> {
    let Some(&first) = parts.first() else {
        return Err(call.fault("there are no tensors to concatenate"));
    };
    let mut shape = first.shape().to_vec();
    for part in &parts[1..] {
        let others = |shape: &[usize]| -> Vec<usize> {
            let others = shape.iter().enumerate().filter(|(at, _)| *at != axis);
            others.map(|(_, &size)| size).collect()
        };
        if part.rank() != shape.len() || others(part.shape()) != others(&shape) {
            return Err(call.fault(format_args!(
                "shapes {:?} and {:?} differ in axes other than {axis}",
                first.shape(),
                part.shape()
            )));
        }
        shape[axis] += part.shape()[axis];
    }
    call.allow(&shape, first.dtype())?;
    let outer: usize = shape[..axis].iter().product();
    let made = each_dtype!(first, first => {
        let mut slices: Vec<(&[T], usize)> = with_capacity(parts.len());
        let _ = first;
        for part in parts {
            let Some(array) = T::unwrap(part) else {
                return Err(call.fault("the tensors have different data types"));
            };
            let length = array.shape()[axis..].iter().product();
            slices.push((array.as_slice().unwrap_or_default(), length));
        }
        let mut out: Vec<T> = with_capacity(shape.iter().product());
        for row in 0..outer {
            for (elements, length) in &slices {
                let part = &elements[row * length..(row + 1) * length];
                pieces(part).for_each(|piece| out.extend_from_slice(piece));
            }
        }
        T::tensor(&shape, out)
    });
    made.ok_or_else(|| call.fault("the shapes do not fit"))
}

fn concatenate(call: &mut Call<'_>) -> Outcome {
    let parts = call.tensors(0)?;
    let rank = parts.first().map_or(0, |part| part.rank());
    let axis = call.axis(call.int("axis")?, rank)?;
    Ok(joined(call, &parts, axis)?.into())
}

fn stack(call: &mut Call<'_>) -> Outcome {
    let parts = call.tensors(0)?;
    let rank = parts.first().map_or(0, |part| part.rank());
    let axis = call.axis(call.int("axis")?, rank + 1)?;
    let mut opened = with_capacity(parts.len());
    for part in parts {
        let mut shape = part.shape().to_vec();
        if axis > shape.len() {
            return Err(call.fault("the tensors have different ranks"));
        }
        shape.insert(axis, 1);
        opened.push(call.reshaped(part.clone(), &shape)?);
    }
    let parts: Vec<&Tensor> = opened.iter().collect();
    Ok(joined(call, &parts, axis)?.into())
}

/// Slices an axis from `begin` to `end`.
pub(super) fn slice_axis(
    call: &Call<'_>,
    tensor: &Tensor,
    axis: usize,
    begin: usize,
    end: usize,
) -> Result<Tensor, Fault> {
    let mut cuts: Vec<Cut> = tensor.shape().iter().map(|&size| Cut::whole(size)).collect();
    if let Some(kept) = cuts.get_mut(axis) {
        (kept.begin, kept.count) = (begin, end - begin);
    }
    cut(call, tensor, &cuts)
}

fn split(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let axis = call.axis(call.int("axis")?, tensor.rank())?;
    let size = tensor.shape()[axis];
    let mut bounds = vec![0usize];
    let list = call.attrs().get("indices_or_sections").as_list().is_some();
    let numbers = call.ints("indices_or_sections")?;
    match (list, numbers.as_slice()) {
        (false, &[sections]) => {
            let Some(sections) = usize::try_from(sections).ok().filter(|&n| n > 0) else {
                return Err(
                    call.fault(format_args!("the tensor cannot be split into {sections} parts"))
                );
            };
            // The last part takes the remainder.
            let each = size.div_ceil(sections);
            bounds.extend((1..sections).map(|k| (k * each).min(size)));
        }
        (_, indices) => {
            for &index in indices {
                match usize::try_from(index) {
                    Ok(at) if at <= size => {
                        bounds.push(at.max(bounds.last().copied().unwrap_or(0)))
                    }
                    _ => {
                        return Err(call.fault(format_args!(
                            "position {index} is not inside axis {axis}, of size {size}"
                        )));
                    }
                }
            }
        }
    }
    bounds.push(size);
    let part = |pair: &[usize]| slice_axis(call, tensor, axis, pair[0], pair[1]).map(Value::from);
    Ok(Value::tuple(bounds.windows(2).map(part).collect::<Result<Vec<Value>, Fault>>()?))
}

/// Repeats the tensor along each axis; `reps` and the shape are aligned at the last axis.
pub(super) fn tile(call: &mut Call<'_>, reps: &[i64]) -> Outcome {
    let tensor = call.tensor(0)?;
    let rank = tensor.rank().max(reps.len());
    let mut sizes = repeated(1usize, rank - tensor.rank());
    sizes.extend_from_slice(tensor.shape());
    let mut times = repeated(1usize, rank - reps.len());
    times.extend(reps.iter().map(|&rep| usize::try_from(rep).unwrap_or(0)));
    let shape: Vec<usize> =
        sizes.iter().zip(&times).map(|(&size, &rep)| size.saturating_mul(rep)).collect();
    call.allow(&shape, tensor.dtype())?;
    // Each axis becomes two: repetitions and elements.
    let narrow: Vec<usize> = sizes.iter().flat_map(|&size| [1, size]).collect();
    let wide: Vec<usize> = sizes.iter().zip(&times).flat_map(|(&size, &rep)| [rep, size]).collect();
    let narrow = call.reshaped(tensor.clone(), &narrow)?;
    let wide = broadcast::broadcast_to(call, &narrow, &wide)?;
    Ok(call.reshaped(wide, &shape)?.into())
}

fn repeat(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let repeats = usize::try_from(call.int("repeats")?).unwrap_or(0);
    let axis = call.axis(call.optional_int("axis")?.unwrap_or(0), tensor.rank())?;
    let mut narrow = tensor.shape().to_vec();
    narrow.insert(axis + 1, 1);
    let mut wide = narrow.clone();
    wide[axis + 1] = repeats;
    let mut shape = tensor.shape().to_vec();
    shape[axis] = shape[axis].saturating_mul(repeats);
    call.allow(&shape, tensor.dtype())?;
    let narrow = call.reshaped(tensor.clone(), &narrow)?;
    let wide = broadcast::broadcast_to(call, &narrow, &wide)?;
    Ok(call.reshaped(wide, &shape)?.into())
}
