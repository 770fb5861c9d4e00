//! Operators with tensors in place of attributes, whose result shapes depend on values.

use super::{
    broadcast, create,
    index::slice::{Cut, cut},
    nn_layout,
    prelude::*,
    shape, sort, sparse,
};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("dyn.broadcast_to", |c| {
        let shape = sizes(c, 1)?;
        Ok(broadcast::broadcast_to(c, c.tensor(0)?, &shape)?.into())
    }),
    kernel("dyn.expand_dims", expand_dims),
    kernel("dyn.full", |c| {
        let shape = sizes(c, 1)?;
        let dtype = c.result_dtype()?;
        create::filled(c, c.tensor(0)?.clone(), &shape, dtype)
    }),
    kernel("dyn.nn.pad", pad),
    kernel("dyn.nn.upsampling", |c| {
        let factors = [create::scalar(c, 1)?, create::scalar(c, 2)?];
        nn_layout::upsampling(c, b"HW", &factors, f64::round)
    }),
    kernel("dyn.nn.upsampling3d", |c| {
        let factors = [create::scalar(c, 1)?, create::scalar(c, 2)?, create::scalar(c, 3)?];
        nn_layout::upsampling(c, b"DHW", &factors, f64::round)
    }),
    kernel("dyn.one_hot", |c| {
        let depth = number(c, 3)?;
        create::one_hot(c, depth)
    }),
    kernel("dyn.ones", |c| {
        let shape = sizes(c, 0)?;
        create::filled(c, Tensor::scalar(true), &shape, c.attrs().dtype("dtype"))
    }),
    kernel("dyn.reshape", reshape),
    kernel("dyn.sparse_to_dense", |c| {
        let shape = sizes(c, 3)?;
        sparse::to_dense(c, &shape)
    }),
    kernel("dyn.squeeze", squeeze),
    kernel("dyn.strided_slice", strided_slice),
    kernel("dyn.tile", |c| {
        let times = c.numbers(1)?;
        shape::tile(c, &times)
    }),
    kernel("dyn.topk", |c| {
        let k = number(c, 1)?;
        sort::topk(c, k)
    }),
    kernel("dyn.zeros", |c| {
        let shape = sizes(c, 0)?;
        create::filled(c, Tensor::scalar(false), &shape, c.attrs().dtype("dtype"))
    }),
];

/// The value of a scalar argument.
fn number(call: &Call<'_>, position: usize) -> Result<i64, Fault> {
    let first = call.numbers(position)?.first().copied();
    first.ok_or_else(|| call.fault(format_args!("argument {position} has no element")))
}

/// The value of a shape argument.
fn sizes(call: &Call<'_>, position: usize) -> Result<Vec<usize>, Fault> {
    let size = |size: i64| {
        usize::try_from(size).map_err(|_| call.fault(format_args!("{size} is not a valid size")))
    };
    call.numbers(position)?.into_iter().map(size).collect()
}

/// In the new shape, 0 copies a size, -1 is inferred, and -3 merges two axes.
fn reshape(call: &mut Call<'_>) -> Outcome {
    let keep_zeros = call.attrs().has("allowzero") && call.bool("allowzero");
    let written = call.numbers(1)?;
    let data = call.take_tensor(0)?;
    let from = data.shape();
    let mut shape: Vec<usize> = with_capacity(written.len());
    let mut rest = None;
    let mut at = 0;
    for size in written {
        let known = |axis: usize| {
            let missing = || {
                call.fault(format_args!(
                    "{size} refers to axis {axis}, but there are {}",
                    from.len()
                ))
            };
            from.get(axis).copied().ok_or_else(missing)
        };
        match size {
            0 if !keep_zeros => shape.push(known(at)?),
            -1 if rest.is_some() => return Err(call.fault("-1 occurs more than once")),
            -1 => {
                rest = Some(shape.len());
                shape.push(1);
            }
            -3 => {
                shape.push(known(at)?.saturating_mul(known(at + 1)?));
                at += 1;
            }
            _ => match usize::try_from(size) {
                Ok(size) => shape.push(size),
                Err(_) => return Err(call.fault(format_args!("{size} is not a valid size"))),
            },
        }
        at += 1;
    }
    if let Some(rest) = rest {
        let others = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        shape[rest] = others.and_then(|others| data.len().checked_div(others)).unwrap_or(0);
    }
    Ok(call.reshaped(data, &shape)?.into())
}

fn expand_dims(call: &mut Call<'_>) -> Outcome {
    let added = usize::try_from(call.int("num_newaxis")?).unwrap_or(0);
    let axis = number(call, 1)?;
    let data = call.take_tensor(0)?;
    let axis = call.axis(axis, data.rank() + 1)?;
    let mut shape = data.shape().to_vec();
    shape.splice(axis..axis, std::iter::repeat_n(1, added));
    Ok(call.reshaped(data, &shape)?.into())
}

fn squeeze(call: &mut Call<'_>) -> Outcome {
    let axes = call.numbers(1)?;
    let data = call.take_tensor(0)?;
    let mut gone = repeated(false, data.rank());
    for axis in axes {
        let at = call.axis(axis, data.rank())?;
        if std::mem::replace(&mut gone[at], true) {
            return Err(call.fault(format_args!("axis {axis} occurs more than once")));
        }
        if data.shape()[at] != 1 {
            return Err(call.fault(format_args!(
                "axis {axis} has size {}, but only axes of size 1 can be removed",
                data.shape()[at]
            )));
        }
    }
    let kept = data.shape().iter().zip(&gone).filter(|(_, gone)| !**gone);
    let shape: Vec<usize> = kept.map(|(&size, _)| size).collect();
    Ok(call.reshaped(data, &shape)?.into())
}

fn strided_slice(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let (begin, end, strides) = (call.numbers(1)?, call.numbers(2)?, call.numbers(3)?);
    if end.len() < begin.len() || strides.len() < begin.len() {
        return Err(call.fault("`begin`, `end` and `strides` must have a number for each axis"));
    }
    let by_size = call.str("slice_mode") == "size";
    let mut cuts = with_capacity(data.rank());
    for (axis, &size) in data.shape().iter().enumerate() {
        if axis >= begin.len() {
            cuts.push(Cut::whole(size));
            continue;
        }
        let size_of_axis = size as i64;
        let stride = match strides.get(axis) {
            Some(&stride) if !by_size => stride,
            _ => 1,
        };
        if stride == 0 {
            return Err(call.fault(format_args!("the stride of axis {axis} is 0")));
        }
        let from = begin.get(axis).copied().unwrap_or(if stride > 0 { 0 } else { size_of_axis });
        let to = match end.get(axis) {
            Some(&count) if by_size && count < 0 => size_of_axis,
            Some(&count) if by_size => {
                let from = if from < 0 { from.saturating_add(size_of_axis) } else { from };
                from.max(0).saturating_add(count)
            }
            Some(&end) => end,
            None if stride > 0 => size_of_axis,
            None => 0,
        };
        cuts.push(Cut::of(from, to, stride, size));
    }
    Ok(cut(call, data, &cuts)?.into())
}

fn pad(call: &mut Call<'_>) -> Outcome {
    let widths = call.numbers(1)?;
    let rank = call.tensor(0)?.rank();
    if widths.len() != rank * 2 {
        return Err(
            call.fault(format_args!("`pad_width` has {} numbers for {rank} axes", widths.len()))
        );
    }
    let pairs: Vec<(i64, i64)> = widths.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    nn_layout::pad_by(call, &pairs, 2)
}
