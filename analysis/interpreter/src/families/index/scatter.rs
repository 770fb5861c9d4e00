//! Writing elements to computed positions.

use super::{gather::advance, position, strides};
use crate::families::{broadcast, prelude::*};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("scatter_elements", scatter_elements),
    kernel("scatter", |call| scatter(call, "update")),
    kernel("scatter_add", |call| scatter(call, "add")),
    kernel("scatter_nd", scatter_nd),
    kernel("strided_set", strided_set),
];

/// The function that combines an existing element with a new one.
fn merge(call: &Call<'_>, mode: &str) -> Result<fn(f64, f64) -> f64, Fault> {
    Ok(match mode {
        "update" | "" => |_, y| y,
        "add" => |x, y| x + y,
        "mul" => |x, y| x * y,
        "min" => |x, y| if x < y { x } else { y },
        "max" => |x, y| if x > y { x } else { y },
        "mean" => |x, y| (x + y) / 2.0,
        other => return Err(call.fault(format_args!("unknown reduction `{other}`"))),
    })
}

/// Like [`merge`], for integers.
fn merge_integers(mode: &str) -> fn(i64, i64) -> i64 {
    match mode {
        "add" => i64::wrapping_add,
        "mul" => i64::wrapping_mul,
        "min" => |x, y| x.min(y),
        "max" => |x, y| x.max(y),
        "mean" => |x, y| x.wrapping_add(y) / 2,
        _ => |_, y| y,
    }
}

/// Merges each run of updates into the data at its position.
fn apply(
    call: &mut Call<'_>,
    data: Tensor,
    updates: &Tensor,
    starts: &[usize],
    length: usize,
    mode: &str,
) -> Outcome {
    let float = merge(call, mode)?;
    let integer = merge_integers(mode);
    each_dtype!(data, array => {
        let mut array = own(array);
        let Some(updates) = T::unwrap(updates) else {
            return Err(call.fault("`data` and `updates` have different data types"));
        };
        let updates = updates.as_slice().unwrap_or_default();
        let is_float = T::DTYPE.is_float() || T::DTYPE.is_bfloat();
        let is_update = matches!(mode, "update" | "");
        if let Some(elements) = array.as_slice_mut() {
            for (&start, chunk) in starts.iter().zip(updates.chunks(length.max(1))) {
                spend(1);
                let Some(to) = elements.get_mut(start..start + length) else {
                    return Err(call.fault("an index is out of range"));
                };
                for (to, &from) in pieces_mut(to).flatten().zip(chunk) {
                    *to = if is_update {
                        from
                    } else if is_float {
                        <T as Element>::from_f64(float(to.to_f64(), Element::to_f64(from)))
                    } else {
                        <T as Element>::from_i64(integer(to.to_i64(), Element::to_i64(from)))
                    };
                }
            }
        }
        Ok(T::wrap(array).into())
    })
}

fn scatter_elements(call: &mut Call<'_>) -> Outcome {
    let mode = call.str("reduction").to_owned();
    scatter(call, &mode)
}

fn scatter(call: &mut Call<'_>, mode: &str) -> Outcome {
    let rank = call.tensor(0)?.rank();
    let axis = call.axis(call.optional_int("axis")?.unwrap_or(0), rank)?;
    let from = call.tensor(0)?.shape().to_vec();
    let indices = call.tensor(1)?;
    let shape = indices.shape();
    // TVM reads `updates` in the order of `indices`, which may be smaller, and flattens the axes
    // before and after `axis`.
    if shape.len() != rank || call.tensor(2)?.len() < indices.len() {
        return Err(call.fault(
            "`indices` must have as many axes as `data`, and `updates` as many elements as `indices`",
        ));
    }
    let product = |sizes: &[usize]| sizes.iter().product::<usize>();
    let (count, behind) = (shape[axis], product(&shape[axis + 1..]));
    let (size, step) = (from[axis], product(&from[axis + 1..]));
    let mut starts = with_capacity(indices.len());
    for (at, number) in watched(indices.to_i64s().into_iter().enumerate()) {
        let number = if number < 0 { number + size as i64 } else { number };
        let (before, within) = (at / (count * behind), at % behind);
        starts.push(before * size * step + position(call, number, axis, size)? * step + within);
    }
    let (data, updates) = (call.take_tensor(0)?, call.take_tensor(2)?);
    apply(call, data, &updates, &starts, 1, mode)
}

fn scatter_nd(call: &mut Call<'_>) -> Outcome {
    let mode = call.str("mode").to_owned();
    let from = call.tensor(0)?.shape().to_vec();
    let indices = call.tensor(1)?;
    let Some((&depth, rest)) = indices.shape().split_first() else {
        return Err(call.fault("`indices` has no axis"));
    };
    if depth > from.len() {
        return Err(call.fault(format_args!(
            "`indices` selects on {depth} axes, but there are {}",
            from.len()
        )));
    }
    let steps = strides(&from);
    let count: usize = rest.iter().product();
    let length: usize = from[depth..].iter().product();
    let numbers = indices.to_i64s();
    let mut starts = with_capacity(count);
    for k in watched(0..count) {
        let mut start = 0;
        for axis in 0..depth {
            let number = numbers.get(axis * count + k).copied().unwrap_or_default();
            let number = if number < 0 { number + from[axis] as i64 } else { number };
            start += position(call, number, axis, from[axis])? * steps[axis];
        }
        starts.push(start);
    }
    if call.tensor(2)?.len() != count * length {
        return Err(call.fault(format_args!(
            "`updates` has {} elements, but the indices select {}",
            call.tensor(2)?.len(),
            count * length
        )));
    }
    let (data, updates) = (call.take_tensor(0)?, call.take_tensor(2)?);
    apply(call, data, &updates, &starts, length, &mode)
}

fn strided_set(call: &mut Call<'_>) -> Outcome {
    let (begin, end) = (call.numbers(2)?, call.numbers(3)?);
    let strides_given = call.numbers(4)?;
    let shape = call.tensor(0)?.shape().to_vec();
    let mut cuts: Vec<(i64, i64, usize)> = Vec::new();
    for (axis, &size) in shape.iter().enumerate() {
        let size = size as i64;
        let stride = strides_given.get(axis).copied().unwrap_or(1);
        if stride == 0 {
            return Err(call.fault(format_args!("the stride of axis {axis} is 0")));
        }
        let from_end = |at: i64| if at < 0 { at + size } else { at };
        let (first, last) = if stride > 0 { (0, size) } else { (size - 1, -1) };
        let begin = begin.get(axis).map_or(first, |&at| from_end(at));
        let end = end.get(axis).map_or(last, |&at| from_end(at));
        let (low, high) = if stride > 0 { (0, size) } else { (-1, size - 1) };
        let (begin, end) = (begin.clamp(low, high.max(low)), end.clamp(low, high.max(low)));
        let distance = if stride > 0 { end - begin } else { begin - end };
        let count =
            if distance > 0 { distance.unsigned_abs().div_ceil(stride.unsigned_abs()) } else { 0 };
        cuts.push((begin, stride, count as usize));
    }
    let region: Vec<usize> = cuts.iter().map(|&(.., count)| count).collect();
    let updates = broadcast::broadcast_to(call, call.tensor(1)?, &region)?;
    let steps = strides(&shape);
    let mut index = repeated(0usize, shape.len());
    let mut starts = with_capacity(updates.len());
    for _ in 0..updates.len() {
        let place =
            cuts.iter().zip(&index).zip(&steps).map(|((&(begin, stride, _), &k), &step)| {
                (begin + stride * k as i64) as usize * step
            });
        starts.push(place.sum());
        advance(&mut index, &region);
    }
    let data = call.take_tensor(0)?;
    apply(call, data, &updates, &starts, 1, "update")
}
