//! Sequences of different lengths in one tensor, and Fourier transforms.

use std::f64::consts::PI;

use crate::families::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("sequence_mask", sequence_mask),
    kernel("reverse_sequence", reverse_sequence),
    kernel("dft", dft),
    kernel("stft", stft),
];

/// Replaces the elements after the end of each sequence. The first two axes are time and batch, in
/// either order.
fn sequence_mask(call: &mut Call<'_>) -> Outcome {
    let mask = call.float("mask_value")?;
    let ends = call.numbers(1)?;
    let tensor = call.take_tensor(0)?;
    let axis = call.axis(call.int("axis")?, tensor.rank())?;
    let shape = tensor.shape().to_vec();
    if axis > 1 || shape.len() < 2 || ends.len() < shape[1 - axis] {
        return Err(call.fault("the sequences must lie along the first two axes"));
    }
    let inner: usize = shape[2..].iter().product();
    each_dtype!(tensor, array => {
        let mut array = own(array);
        let mask = <T as Element>::from_f64(mask);
        if let Some(elements) = array.as_slice_mut() {
            for (k, chunk) in elements.chunks_mut(inner.max(1)).enumerate() {
                spend(1);
                let (i, j) = (k / shape[1].max(1), k % shape[1].max(1));
                let (time, batch) = if axis == 0 { (i, j) } else { (j, i) };
                if ends.get(batch).is_some_and(|&end| time as i64 >= end) {
                    pieces_mut(chunk).for_each(|piece| piece.fill(mask));
                }
            }
        }
        Ok(T::wrap(array).into())
    })
}

fn reverse_sequence(call: &mut Call<'_>) -> Outcome {
    let lengths = call.numbers(1)?;
    let tensor = call.tensor(0)?;
    let shape = tensor.shape();
    let time = call.axis(call.int("seq_axis")?, shape.len())?;
    let batch = call.axis(call.int("batch_axis")?, shape.len())?;
    let steps = super::strides(shape);
    each_dtype!(tensor, array => {
        let elements = array.as_slice().unwrap_or_default();
        let mut index = repeated(0usize, shape.len());
        let mut out: Vec<T> = with_capacity(elements.len());
        for at in 0..elements.len() {
            let length = lengths.get(index[batch]).copied().unwrap_or_default();
            let length = length.min(shape[time] as i64);
            let here = index[time] as i64;
            let from = if length > 1 && here < length {
                let moved = length - 1 - here;
                (at as i64 + (moved - here) * steps[time] as i64) as usize
            } else {
                at
            };
            out.push(elements.get(from).copied().unwrap_or_default());
            super::gather::advance(&mut index, shape);
        }
        call.build(shape, out)
    })
}

fn dft(call: &mut Call<'_>) -> Outcome {
    let inverse = call.bool("inverse");
    let (re, im) = (call.tensor(0)?, call.tensor(1)?);
    let shape = re.shape();
    let Some(&length) = shape.last().filter(|_| im.shape() == shape) else {
        return Err(call.fault("both parts must have the same shape, with at least one axis"));
    };
    let (x, y) = (re.to_f64s(), im.to_f64s());
    let (mut real, mut imaginary) = (with_capacity(x.len()), with_capacity(x.len()));
    let sign = if inverse { 2.0 * PI } else { -2.0 * PI };
    let factor = if inverse { 1.0 / length as f64 } else { 1.0 };
    for (x, y) in x.chunks(length.max(1)).zip(y.chunks(length.max(1))) {
        for n in 0..length {
            let (mut re, mut im) = (0.0, 0.0);
            for (k, (x, y)) in x.iter().zip(y).enumerate() {
                spend(16);
                let (sin, cos) = (sign * ((n * k) % length) as f64 / length as f64).sin_cos();
                re += x * cos - y * sin;
                im += x * sin + y * cos;
            }
            real.push(re * factor);
            imaginary.push(im * factor);
        }
    }
    let dtype = re.dtype();
    let made = Tensor::from_f64s(dtype, shape, real)
        .zip(Tensor::from_f64s(dtype, shape, imaginary))
        .map(|(re, im)| Value::tuple([re.into(), im.into()]));
    made.map_or_else(|| call.unsupported(dtype), Ok)
}

fn stft(call: &mut Call<'_>) -> Outcome {
    let (shape, dtype) = call.result()?;
    let (hop, width) = (call.int("hop_length")?, call.int("win_length")?);
    let points = call.int("n_fft")? as f64;
    let normalized = call.bool("normalized");
    let (data, window) = (call.tensor(0)?, call.tensor(1)?);
    let length = data.shape().last().copied().unwrap_or(0);
    let (data, window) = (data.to_f64s(), window.to_f64s());
    // A single signal has no batch axis.
    let (batches, rows, columns) = match *shape.as_slice() {
        [rows, columns, 2] => (1, rows, columns),
        [batches, rows, columns, 2] => (batches, rows, columns),
        _ => return Err(call.fault("the result must have three or four axes")),
    };
    let scale = if normalized { 1.0 / points.sqrt() } else { 1.0 };
    let mut out = with_capacity(batches * rows * columns * 2);
    for batch in 0..batches {
        for row in 0..rows {
            for column in 0..columns {
                let (mut re, mut im) = (0.0, 0.0);
                for at in 0..usize::try_from(width).unwrap_or(0) {
                    spend(16);
                    let place = batch * length + column * usize::try_from(hop).unwrap_or(0) + at;
                    let x = data.get(place).copied().unwrap_or_default();
                    let x = x * window.get(at).copied().unwrap_or_default();
                    let (sin, cos) = (2.0 * PI * row as f64 * at as f64 / width as f64).sin_cos();
                    re += x * cos;
                    im -= x * sin;
                }
                out.push(re * scale);
                out.push(im * scale);
            }
        }
    }
    match Tensor::from_f64s(dtype, &shape, out) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}
