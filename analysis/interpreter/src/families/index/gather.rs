//! Selecting elements by computed positions.

use super::{super::broadcast, position, strides};
use crate::families::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("take", take),
    kernel("gather", gather),
    kernel("gather_nd", gather_nd),
    kernel("adv_index", adv_index),
    kernel("unravel_index", unravel_index),
];

/// Concatenates the runs of `length` elements that begin at `starts`.
fn collect(
    call: &Call<'_>,
    tensor: &Tensor,
    starts: &[usize],
    length: usize,
    shape: &[usize],
) -> Outcome {
    call.allow(shape, tensor.dtype())?;
    each_dtype!(tensor, array => {
        let elements = array.as_slice().unwrap_or_default();
        let mut out: Vec<T> = with_capacity(starts.len() * length);
        for &start in starts {
            match elements.get(start..start + length) {
                Some(&[element]) => {
                    spend(1);
                    out.push(element);
                }
                Some(run) => pieces(run).for_each(|piece| out.extend_from_slice(piece)),
                None => return Err(call.fault("an index is out of range")),
            }
        }
        call.build(shape, out)
    })
}

fn take(call: &mut Call<'_>) -> Outcome {
    let (data, indices) = (call.tensor(0)?, call.tensor(1)?);
    let mode = call.str("mode").to_owned();
    let (data, axis) = match call.optional_int("axis")? {
        Some(axis) => (data.clone(), call.axis(axis, data.rank())?),
        None => (call.reshaped(data.clone(), &[data.len()])?, 0),
    };
    let flat = !call.attrs().has("axis");
    let mut batch = call.int("batch_dims")?;
    if batch < 0 {
        batch += indices.rank() as i64;
    }
    let batch = if flat { 0 } else { usize::try_from(batch).unwrap_or(0) };
    let (from, at) = (data.shape(), indices.shape());
    if batch > axis || batch > at.len() {
        return Err(
            call.fault(format_args!("`batch_dims` is {batch}, which is greater than the axis"))
        );
    }
    if from[..batch] != at[..batch] {
        return Err(call.fault(format_args!(
            "the batches differ: {:?} of `data`, {:?} of `indices`",
            &from[..batch],
            &at[..batch]
        )));
    }
    let size = from[axis];
    let mut shape = from[..axis].to_vec();
    shape.extend_from_slice(&at[batch..]);
    shape.extend_from_slice(&from[axis + 1..]);
    let numbers = indices.to_i64s();
    let place = |index: i64| -> Result<usize, Fault> {
        match mode.as_str() {
            "clip" if size > 0 => Ok(usize::try_from(index).unwrap_or(0).min(size - 1)),
            "wrap" if size > 0 => Ok(index.rem_euclid(size as i64) as usize),
            _ => position(call, index, axis, size),
        }
    };
    let places = try_collected(watched(numbers.into_iter()).map(place))?;
    let batches: usize = from[..batch].iter().product();
    let outer: usize = from[batch..axis].iter().product();
    let inner: usize = from[axis + 1..].iter().product();
    let each: usize = at[batch..].iter().product();
    let mut starts = with_capacity(batches * outer * each);
    for b in 0..batches {
        let places = if batch == 0 { &places[..] } else { &places[b * each..(b + 1) * each] };
        for o in 0..outer {
            let row = (b * outer + o) * size;
            for places in pieces(places) {
                starts.extend(places.iter().map(|place| (row + place) * inner));
            }
        }
    }
    collect(call, &data, &starts, inner, &shape)
}

fn gather(call: &mut Call<'_>) -> Outcome {
    let (data, indices) = (call.tensor(0)?, call.tensor(1)?);
    let (from, shape) = (data.shape(), indices.shape());
    let axis = call.axis(call.optional_int("axis")?.unwrap_or(0), data.rank())?;
    if shape.len() != from.len() {
        return Err(call.fault("`indices` and `data` have different ranks"));
    }
    for (at, (&many, &size)) in shape.iter().zip(from).enumerate() {
        if at != axis && many > size {
            return Err(call.fault(format_args!(
                "axis {at} of `indices` has size {many}, but only {size} in `data`"
            )));
        }
    }
    let steps = strides(from);
    let numbers = indices.to_i64s();
    let mut starts = with_capacity(numbers.len());
    let mut index = repeated(0usize, shape.len());
    for number in numbers {
        let at = position(call, number, axis, from[axis])?;
        let others = (0..shape.len()).filter(|&k| k != axis);
        let base: usize = others.map(|k| index[k] * steps[k]).sum();
        starts.push(base + at * steps[axis]);
        advance(&mut index, shape);
    }
    collect(call, data, &starts, 1, shape)
}

/// Advances to the next position in row-major order.
pub(in crate::families) fn advance(index: &mut [usize], shape: &[usize]) {
    spend(1);
    for axis in (0..shape.len()).rev() {
        index[axis] += 1;
        if index[axis] < shape[axis] {
            return;
        }
        index[axis] = 0;
    }
}

fn gather_nd(call: &mut Call<'_>) -> Outcome {
    let (data, indices) = (call.tensor(0)?, call.tensor(1)?);
    let batch = usize::try_from(call.int("batch_dims")?).unwrap_or(0);
    let (from, at) = (data.shape(), indices.shape());
    let Some((&depth, rest)) = at.split_first() else {
        return Err(call.fault("`indices` has no axis"));
    };
    if batch + depth > from.len() || batch > rest.len() {
        return Err(call.fault(format_args!(
            "`indices` selects on {depth} axes after {batch} of {}",
            from.len()
        )));
    }
    let steps = strides(from);
    let length: usize = from[batch + depth..].iter().product();
    let count: usize = rest.iter().product();
    let numbers = indices.to_i64s();
    // The number of results per position on the batch axes.
    let after: usize = rest[batch..].iter().product();
    let batch_stride: usize = from[batch..].iter().product();
    let mut starts = with_capacity(count);
    for k in watched(0..count) {
        let mut start = if batch > 0 { k / after.max(1) * batch_stride } else { 0 };
        for m in 0..depth {
            let axis = batch + m;
            let index = numbers.get(m * count + k).copied().unwrap_or_default();
            start += position(call, index, axis, from[axis])? * steps[axis];
        }
        starts.push(start);
    }
    let mut shape = rest.to_vec();
    shape.extend_from_slice(&from[batch + depth..]);
    collect(call, data, &starts, length, &shape)
}

fn adv_index(call: &mut Call<'_>) -> Outcome {
    let inputs = call.tensors(0)?;
    let Some((&data, indices)) = inputs.split_first() else {
        return Err(call.fault("the tuple is empty"));
    };
    let from = data.shape();
    if indices.len() > from.len() || indices.is_empty() {
        return Err(call.fault(format_args!("{} indices for {} axes", indices.len(), from.len())));
    }
    let mut common: Vec<usize> = Vec::new();
    for index in indices {
        match broadcast::Broadcast::of([&common[..], index.shape()]) {
            Some(walk) => common = walk.shape,
            None => return Err(call.fault("the shapes of the indices cannot be broadcast")),
        }
    }
    let steps = strides(from);
    let count: usize = common.iter().product();
    let mut starts = repeated(0usize, count);
    for (axis, index) in indices.iter().enumerate() {
        let numbers = broadcast::broadcast_to(call, index, &common)?.to_i64s();
        for (start, number) in watched(starts.iter_mut().zip(numbers)) {
            let number = if number < 0 { number + from[axis] as i64 } else { number };
            *start += position(call, number, axis, from[axis])? * steps[axis];
        }
    }
    let length: usize = from[indices.len()..].iter().product();
    let mut shape = common;
    shape.extend_from_slice(&from[indices.len()..]);
    collect(call, data, &starts, length, &shape)
}

fn unravel_index(call: &mut Call<'_>) -> Outcome {
    let (indices, sizes) = (call.tensor(0)?, call.numbers(1)?);
    let numbers = indices.to_i64s();
    let mut out = repeated(0i64, sizes.len() * numbers.len());
    for (k, &number) in watched(numbers.iter().enumerate()) {
        let mut rest = number;
        for (axis, &size) in sizes.iter().enumerate().rev() {
            if size <= 0 {
                return Err(call.fault(format_args!("axis {axis} has size {size}")));
            }
            out[axis * numbers.len() + k] = rest.rem_euclid(size);
            rest = rest.div_euclid(size);
        }
    }
    let mut shape = vec![sizes.len()];
    shape.extend_from_slice(indices.shape());
    match Tensor::from_i64s(indices.dtype(), &shape, out) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(indices.dtype()),
    }
}
