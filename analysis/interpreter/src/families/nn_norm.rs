//! Normalization, biases, activations over channels, losses.

mod loss;

use super::prelude::*;
use crate::{
    convert::{converted, each_wide, widened},
    wide,
};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("nn.bias_add", bias_add).step(ElementOp::BiasAdd),
    kernel("nn.prelu", prelu),
    kernel("nn.softmax", |c| softmax(c, false)),
    kernel("nn.fast_softmax", |c| softmax(c, false)),
    kernel("nn.log_softmax", |c| softmax(c, true)),
    kernel("nn.batch_norm", batch_norm).step(ElementOp::BatchNorm),
    kernel("nn.layer_norm", layer_norm),
    kernel("nn.instance_norm", |c| grouped_norm(c, false)),
    kernel("nn.group_norm", |c| grouped_norm(c, true)),
    kernel("nn.l2_normalize", l2_normalize),
    kernel("nn.lrn", lrn),
    kernel("nn.dropout", dropout),
    kernel("nn.cross_entropy", |c| loss::cross_entropy(c, false)),
    kernel("nn.cross_entropy_with_logits", |c| loss::cross_entropy(c, true)),
    kernel("nn.nll_loss", loss::nll_loss),
];

/// Splits a shape at `axis`: the number of elements of the axes before it, its size, and its stride.
fn split_at_axis(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    let outer = shape[..axis].iter().product();
    let inner = shape[axis + 1..].iter().product();
    (outer, shape[axis], inner)
}

/// Converts the tensor to single or double precision for computation.
macro_rules! in_floats {
    ($call:expr, $tensor:expr, $array:ident => $body:expr) => {{
        let tensor: Tensor = $tensor;
        let dtype = tensor.dtype();
        let result: Option<Tensor> = if dtype == DataType::FLOAT64 {
            type F = f64;
            match F::unwrap_owned(tensor) {
                Some($array) => $body,
                None => None,
            }
        } else {
            type F = f32;
            match converted(tensor, DataType::FLOAT32).and_then(F::unwrap_owned) {
                Some($array) => $body,
                None => None,
            }
        };
        match result.and_then(|tensor| converted(tensor, dtype)) {
            Some(tensor) => Ok(Value::from(tensor)),
            None => $call.unsupported(dtype),
        }
    }};
}

/// The numbers of a vector with one per channel.
fn channels(call: &Call<'_>, position: usize, count: usize) -> Result<Vec<f64>, Fault> {
    let mut numbers = call.tensor(position)?.to_f64s();
    // A single number applies to all channels if the sizes were unknown.
    if let [one] = numbers[..] {
        numbers = repeated(one, count);
    }
    if numbers.len() != count {
        return Err(
            call.fault(format_args!("there are {} elements, but {count} channels", numbers.len()))
        );
    }
    Ok(numbers)
}

fn bias_add(call: &mut Call<'_>) -> Outcome {
    let rank = call.tensor(0)?.rank();
    let axis = call.axis(call.int("axis")?, rank)?;
    let shape = call.tensor(0)?.shape().to_vec();
    let (_, count, inner) = split_at_axis(&shape, axis);
    let mut bias = call.take_tensor(1)?;
    if bias.len() == 1 && count != 1 {
        bias = super::broadcast::broadcast_to(call, &bias, &[count])?;
    }
    if bias.len() != count {
        return Err(
            call.fault(format_args!("there are {} biases, but {count} channels", bias.len()))
        );
    }
    let data = call.take_tensor(0)?;
    let dtype = data.dtype();
    let wide = widened(&data);
    drop(data);
    let made = each_wide!(wide, array => {
        let mut array = own(array);
        let Some(bias) = converted(bias, T::DTYPE).and_then(T::unwrap_owned) else {
            return call.unsupported(T::DTYPE);
        };
        let bias = bias.as_slice().unwrap_or_default();
        let is_float = T::DTYPE.is_float();
        if let Some(elements) = array.as_slice_mut() {
            let add = |at: usize, part: &mut [T]| {
                let Some(&bias) = bias.get(at % count.max(1)) else { return };
                for part in pieces_mut(part) {
                    part.iter_mut().for_each(|x| *x = sum(*x, bias, is_float));
                }
            };
            if inner == 1 {
                each_chunk(elements, count, 1, &|_, row| {
                    for (row, bias) in pieces_mut(row).zip(bias.chunks(PIECE)) {
                        row.iter_mut().zip(bias).for_each(|(x, &b)| *x = sum(*x, b, is_float));
                    }
                });
            } else {
                each_chunk(elements, inner, 1, &add);
            }
        }
        T::wrap(array)
    }, else return call.unsupported(dtype));
    match converted(made, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

fn sum<T: Element>(x: T, y: T, is_float: bool) -> T {
    if is_float {
        T::from_f64(x.to_f64() + y.to_f64())
    } else {
        T::from_i64(x.to_i64().wrapping_add(y.to_i64()))
    }
}

fn prelu(call: &mut Call<'_>) -> Outcome {
    let rank = call.tensor(0)?.rank();
    let axis = call.axis(call.int("axis")?, rank)?;
    let shape = call.tensor(0)?.shape().to_vec();
    let (_, count, inner) = split_at_axis(&shape, axis);
    let alpha = channels(call, 1, count)?;
    let data = call.take_tensor(0)?;
    in_floats!(call, data, array => {
        let mut array = own(array);
        if let Some(elements) = array.as_slice_mut() {
            for (at, part) in elements.chunks_mut(inner.max(1)).enumerate() {
                let alpha = alpha.get(at % count.max(1)).copied().unwrap_or_default() as F;
                pieces_mut(part).flatten().for_each(|x| *x = if *x > 0.0 { *x } else { *x * alpha });
            }
        }
        Some(F::wrap(array))
    })
}

fn softmax(call: &mut Call<'_>, logarithm: bool) -> Outcome {
    let rank = call.tensor(0)?.rank();
    let axis = call.axis(call.int("axis")?, rank)?;
    let shape = call.tensor(0)?.shape().to_vec();
    let (_, count, inner) = split_at_axis(&shape, axis);
    let data = call.take_tensor(0)?;
    if let (Tensor::F32(_), 1, false) = (&data, inner, logarithm) {
        return Ok(softmax_of_rows(data, count).into());
    }
    in_floats!(call, data, array => {
        let mut array = own(array);
        if let Some(elements) = array.as_slice_mut() {
            let rows = |_: usize, part: &mut [F]| {
                for column in 0..inner {
                    let at = |k: usize| column + k * inner;
                    let most =
                        ranges(count).flatten().map(|k| part[at(k)]).fold(F::NEG_INFINITY, F::max);
                    let mut total = 0.0;
                    for piece in ranges(count) {
                        for k in piece {
                            let power = (part[at(k)] - most).exp();
                            total += power;
                            if !logarithm {
                                part[at(k)] = power;
                            }
                        }
                    }
                    let log = total.ln();
                    for piece in ranges(count) {
                        for k in piece {
                            let x = &mut part[at(k)];
                            *x = if logarithm { *x - most - log } else { *x / total };
                        }
                    }
                }
            };
            each_chunk(elements, count * inner, 1, &rows);
        }
        Some(F::wrap(array))
    })
}

/// The softmax of each row in single precision.
fn softmax_of_rows(data: Tensor, count: usize) -> Tensor {
    let Tensor::F32(array) = data else { return data };
    let mut array = own(array);
    if let Some(elements) = array.as_slice_mut() {
        each_chunk(elements, count, 2, &|_, row| {
            let most = pieces(row).map(wide::largest).fold(f32::NEG_INFINITY, f32::max);
            let total = wide::exp_less(row, most);
            pieces_mut(row).for_each(|row| row.iter_mut().for_each(|x| *x /= total));
        });
    }
    f32::wrap(array)
}

/// Returns the attributes `gamma` and `beta` for each channel.
fn scale(call: &Call<'_>, first: usize, count: usize) -> Result<(Vec<f64>, Vec<f64>), Fault> {
    let gamma =
        if call.bool("scale") { channels(call, first, count)? } else { repeated(1.0, count) };
    let beta =
        if call.bool("center") { channels(call, first + 1, count)? } else { repeated(0.0, count) };
    Ok((gamma, beta))
}

/// Returns the factor and the offset of each channel that normalise it.
pub(crate) fn channel_factors(
    gamma: &[f64],
    beta: &[f64],
    mean: &[f64],
    variance: &[f64],
    epsilon: f64,
) -> (Vec<f64>, Vec<f64>) {
    let factors: Vec<f64> =
        collected(gamma.iter().zip(variance).map(|(g, v)| g / (v + epsilon).sqrt()));
    let offsets = collected(beta.iter().zip(mean).zip(&factors).map(|((b, m), f)| b - m * f));
    (factors, offsets)
}

fn batch_norm(call: &mut Call<'_>) -> Outcome {
    let rank = call.tensor(0)?.rank();
    let axis = call.axis(call.int("axis")?, rank)?;
    let epsilon = call.float("epsilon")?;
    let shape = call.tensor(0)?.shape().to_vec();
    let (_, count, inner) = split_at_axis(&shape, axis);
    let (gamma, beta) = scale(call, 1, count)?;
    let (mean, variance) = (channels(call, 3, count)?, channels(call, 4, count)?);
    let (factors, offsets) = channel_factors(&gamma, &beta, &mean, &variance, epsilon);
    let data = call.take_tensor(0)?;
    let out: Outcome = in_floats!(call, data, array => {
        let mut array = own(array);
        if let Some(elements) = array.as_slice_mut() {
            let one = |at: usize, part: &mut [F]| {
                let channel = at % count.max(1);
                let factor = factors.get(channel).copied().unwrap_or_default() as F;
                let offset = offsets.get(channel).copied().unwrap_or_default() as F;
                for part in pieces_mut(part) {
                    part.iter_mut().for_each(|x| *x = *x * factor + offset);
                }
            };
            each_chunk(elements, inner, 1, &one);
        }
        Some(F::wrap(array))
    });
    let (mean, variance) = (call.take(3), call.take(4));
    Ok(Value::tuple([out?, mean, variance]))
}

/// The sum of `f` of all numbers, as eight independent partial sums.
fn total(numbers: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0f64; 8];
    for numbers in pieces(numbers) {
        let (chunks, rest) = numbers.as_chunks::<8>();
        for chunk in chunks {
            sums.iter_mut().zip(chunk).for_each(|(sum, &x)| *sum += f(x));
        }
        sums.iter_mut().zip(rest).for_each(|(sum, &x)| *sum += f(x));
    }
    sums.iter().sum()
}

/// Normalizes the elements of each row to mean 0 and variance 1, in place.
fn standardise(rows: &mut [f64], epsilon: f64) {
    let count = rows.len() as f64;
    let mean = total(rows, |x| x) / count;
    let variance = total(rows, |x| (x - mean) * (x - mean)) / count;
    let factor = 1.0 / (variance + epsilon).sqrt();
    pieces_mut(rows).for_each(|rows| rows.iter_mut().for_each(|x| *x = (*x - mean) * factor));
}

fn layer_norm(call: &mut Call<'_>) -> Outcome {
    let rank = call.tensor(0)?.rank();
    let axis = call.axis(call.int("axis")?, rank)?;
    let epsilon = call.float("epsilon")?;
    let shape = call.tensor(0)?.shape().to_vec();
    let (_, count, inner) = split_at_axis(&shape, axis);
    let (gamma, beta) = scale(call, 1, count)?;
    let data = call.take_tensor(0)?;
    if let (Tensor::F32(_), 1, true) = (&data, inner, count <= PIECE) {
        let Tensor::F32(array) = data else { return call.unsupported(data.dtype()) };
        let mut array = own(array);
        if let Some(elements) = array.as_slice_mut() {
            let one = |_: usize, row: &mut [f32]| wide::standardise(row, &gamma, &beta, epsilon);
            each_chunk(elements, count, 4, &one);
        }
        return Ok(f32::wrap(array).into());
    }
    in_floats!(call, data, array => {
        let mut array = own(array);
        if let Some(elements) = array.as_slice_mut() {
            let one = |_: usize, part: &mut [F]| {
                let mut row = repeated(0f64, count);
                if inner == 1 {
                    row.iter_mut().zip(&*part).for_each(|(to, &x)| *to = x.to_f64());
                    standardise(&mut row, epsilon);
                    let scaled = row.iter().zip(gamma.iter().zip(&beta));
                    for (to, (x, (gamma, beta))) in part.iter_mut().zip(scaled) {
                        *to = (x * gamma + beta) as F;
                    }
                    return;
                }
                for column in 0..inner {
                    for k in ranges(count).flatten() {
                        row[k] = part[column + k * inner].to_f64();
                    }
                    standardise(&mut row, epsilon);
                    for k in ranges(count).flatten() {
                        part[column + k * inner] = (row[k] * gamma[k] + beta[k]) as F;
                    }
                }
            };
            each_chunk(elements, count * inner, 1, &one);
        }
        Some(F::wrap(array))
    })
}

/// Normalizes each channel, or each group of channels, of each batch separately.
fn grouped_norm(call: &mut Call<'_>, in_groups: bool) -> Outcome {
    let tensor = call.tensor(0)?;
    let rank = tensor.rank();
    let axis = call.axis(call.int("axis")?, rank)?;
    if axis == 0 {
        return Err(call.fault("the channels must not be the batch axis"));
    }
    let epsilon = call.float("epsilon")?;
    let count = tensor.shape()[axis];
    let (gamma, beta) = scale(call, 1, count)?;
    let groups =
        if in_groups { usize::try_from(call.int("num_groups")?).unwrap_or(0) } else { count };
    if groups == 0 || count % groups.max(1) != 0 {
        return Err(
            call.fault(format_args!("{count} channels cannot be divided into {groups} groups"))
        );
    }
    // Channels become the second axis.
    let mut order: Vec<usize> = vec![0, axis];
    order.extend((1..rank).filter(|&at| at != axis));
    let moved = tensor.permuted(&order);
    let mut back = repeated(0usize, rank);
    order.iter().enumerate().for_each(|(at, &from)| back[from] = at);
    let shape = moved.shape().to_vec();
    let inner: usize = shape[2..].iter().product();
    let size = count / groups * inner;
    let mut numbers = moved.to_f64s();
    if size > 0 {
        each_chunk(&mut numbers, size, 1, &|_, part| standardise(part, epsilon));
        for (at, part) in numbers.chunks_mut(inner).enumerate() {
            let channel = at % count;
            let (factor, offset) = (gamma[channel], beta[channel]);
            pieces_mut(part).flatten().for_each(|x| *x = *x * factor + offset);
        }
    }
    match Tensor::from_f64s(tensor.dtype(), &shape, numbers) {
        Some(tensor) => Ok(tensor.permuted(&back).into()),
        None => call.unsupported(tensor.dtype()),
    }
}

fn l2_normalize(call: &mut Call<'_>) -> Outcome {
    let epsilon = call.float("eps")?;
    let tensor = call.tensor(0)?;
    let shape = tensor.shape();
    let mut folded = repeated(false, shape.len());
    for axis in call.ints("axis")? {
        folded[call.axis(axis, shape.len())?] = true;
    }
    let mut numbers = tensor.to_f64s();
    let kept: Vec<usize> =
        shape.iter().zip(&folded).map(|(&size, &folded)| if folded { 1 } else { size }).collect();
    let steps = super::index::strides(&kept);
    let mut sums = repeated(0f64, kept.iter().product());
    let mut index = repeated(0usize, shape.len());
    let mut places = with_capacity(numbers.len());
    for &x in &numbers {
        let here = index.iter().zip(&steps).zip(&folded);
        let at: usize = here.map(|((k, step), &folded)| if folded { 0 } else { k * step }).sum();
        sums[at] += x * x;
        places.push(at);
        super::index::advance(&mut index, shape);
    }
    for (x, at) in watched(numbers.iter_mut().zip(places)) {
        *x /= sums[at].max(epsilon).sqrt();
    }
    match Tensor::from_f64s(tensor.dtype(), shape, numbers) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(tensor.dtype()),
    }
}

fn lrn(call: &mut Call<'_>) -> Outcome {
    let size = usize::try_from(call.int("size")?).unwrap_or(1).max(1);
    let (bias, alpha, beta) = (call.float("bias")?, call.float("alpha")?, call.float("beta")?);
    let tensor = call.tensor(0)?;
    let axis = call.axis(call.int("axis")?, tensor.rank())?;
    let (_, count, inner) = split_at_axis(tensor.shape(), axis);
    let numbers = tensor.to_f64s();
    let mut out = mapped(&numbers, |x| x);
    let half = size / 2;
    for (part, to) in
        numbers.chunks((count * inner).max(1)).zip(out.chunks_mut((count * inner).max(1)))
    {
        for column in 0..inner {
            for k in watched(0..count) {
                spend(size);
                let near = k.saturating_sub(half)..(k + half + 1).min(count);
                let sum: f64 = near.map(|j| part[column + j * inner].powi(2)).sum();
                to[column + k * inner] /= (bias + alpha * sum / size as f64).powf(beta);
            }
        }
    }
    match Tensor::from_f64s(tensor.dtype(), tensor.shape(), out) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(tensor.dtype()),
    }
}

/// Returns the argument: elements are dropped in training only.
fn dropout(call: &mut Call<'_>) -> Outcome {
    let data = call.take_tensor(0)?;
    let mask = each_dtype!(&data, array => {
        let one = <T as Element>::from_i64(1);
        call.build(array.shape(), repeated(one, array.len()))?
    });
    Ok(Value::tuple([data.into(), mask]))
}
