//! Deformable convolution, correlation and buffers.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::{
    super::{
        layouts,
        nn_conv::{kernel_size, padding, steps, unpadded},
        nn_dense::out_dtype,
    },
    *,
};
use crate::{
    convert::converted,
    gemm::{Epilogue, Gemm},
};

/// Interpolates between the four elements around a position; those outside of the plane are 0.
pub(in crate::families) fn bilinear(
    plane: &[f32],
    (height, width): (usize, usize),
    y: f32,
    x: f32,
) -> f32 {
    let (top, left) = (y.floor(), x.floor());
    let (down, across) = (y - top, x - left);
    let (top, left) = (top as usize, left as usize);
    let at = |y: usize, x: usize| {
        let inside = y < height && x < width;
        plane.get(y * width + x).copied().filter(|_| inside).unwrap_or_default()
    };
    (1.0 - across) * (1.0 - down) * at(top, left)
        + (1.0 - across) * down * at(top + 1, left)
        + across * (1.0 - down) * at(top, left + 1)
        + across * down * at(top + 1, left + 1)
}

/// `nn.deformable_conv2d`: each element of the window has its own offset at each position.
pub(super) fn deformable(call: &mut Call<'_>) -> Outcome {
    let dtype = out_dtype(call)?;
    let or = |written: &str, other: &str| {
        if written.is_empty() { other.to_owned() } else { written.to_owned() }
    };
    let layout = or(call.str("data_layout"), "NCHW");
    let out_layout = or(call.str("out_layout"), &layout);
    let weight_layout = or(call.str("kernel_layout"), "OIHW");
    let data = layouts::convert(call, call.tensor(0)?, &layout, "NCHW")?;
    let offset = layouts::convert(call, call.tensor(1)?, &layout, "NCHW")?;
    let weight = layouts::convert(call, call.tensor(2)?, &weight_layout, "OIHW")?;
    let (strides, dilations) = (steps(call, "strides", 2)?, steps(call, "dilation", 2)?);
    let padding = padding(call, 2)?;
    let count = |name: &str| -> Result<usize, Fault> {
        Ok(usize::try_from(call.int(name)?).unwrap_or(1).max(1))
    };
    let (groups, deformable) = (count("groups")?, count("deformable_groups")?);
    let (&[batches, channels, height, width], &[others, offsets, down, across]) =
        (data.shape(), offset.shape())
    else {
        return Err(call.fault("the arguments have the wrong rank"));
    };
    let kernels = call.optional_int("channels")?.and_then(|count| usize::try_from(count).ok());
    let mut sizes = vec![kernels, Some(channels / groups)];
    sizes.extend(kernel_size(call, 2)?);
    let weight = unpadded(call, weight, (&weight_layout, "OIHW"), &sizes)?;
    let &[outputs, each, rows, columns] = weight.shape() else {
        return Err(call.fault("the weight has the wrong rank"));
    };
    let window = rows * columns;
    let fits = others == batches
        && each * groups == channels
        && outputs % groups == 0
        && channels % deformable == 0
        && offsets == deformable * window * 2;
    if !fits {
        return Err(call.fault("the data, the offsets and the weight do not fit together"));
    }
    let shape = [batches, outputs, down, across];
    call.allow(&shape, dtype)?;
    let places = down * across;
    call.allow(&[channels * window, places], DataType::FLOAT32)?;
    let (x, moves, w) = (data.to_f32s(), offset.to_f32s(), weight.to_f32s());
    let mut out = repeated(0f32, shape.iter().product());
    let (per_group, depth) = (outputs / groups, each * window);
    let area = height * width;
    for batch in 0..batches {
        let mut unfolded = repeated(0f32, channels * window * places);
        for (row, line) in unfolded.chunks_mut(places.max(1)).enumerate() {
            let (channel, tap) = (row / window, row % window);
            let start = (batch * channels + channel) * area;
            let plane = x.get(start..start + area).unwrap_or_default();
            let group = channel / (channels / deformable);
            let first = (batch * offsets + (group * window + tap) * 2) * places;
            let (i, j) = (tap / columns, tap % columns);
            for (place, to) in line.iter_mut().enumerate() {
                spend(8);
                let at = |axis: usize, index: usize, tap: usize| {
                    let place = index.saturating_mul(strides[axis]);
                    place.saturating_add(tap.saturating_mul(dilations[axis])) as f32
                        - padding[axis].0 as f32
                };
                let y = at(0, place / across, i) + moves[first + place];
                let z = at(1, place % across, j) + moves[first + places + place];
                if y >= 0.0 && z >= 0.0 && y < height as f32 && z < width as f32 {
                    *to = bilinear(plane, (height, width), y, z);
                }
            }
        }
        for group in 0..groups {
            let weight = w.get(group * per_group * depth..(group + 1) * per_group * depth);
            let part = unfolded.get(group * depth * places..(group + 1) * depth * places);
            let start = (batch * outputs + group * per_group) * places;
            let to = out.get_mut(start..start + per_group * places);
            let (Some(weight), Some(part), Some(to)) = (weight, part, to) else { continue };
            if let (Ok(weight), Ok(part), Ok(to)) = (
                ArrayView2::from_shape((per_group, depth), weight),
                ArrayView2::from_shape((depth, places), part),
                ArrayViewMut2::from_shape((per_group, places), to),
            ) {
                f32::multiply(weight, part, to, Epilogue::default());
            }
        }
    }
    match f32::tensor(&shape, out).and_then(|tensor| converted(tensor, dtype)) {
        Some(out) => Ok(layouts::convert(call, &out, "NCHW", &out_layout)?.into()),
        None => call.unsupported(dtype),
    }
}

/// `nn.correlation`: the mean over patches of products, or of distances, of two images, the second
/// displaced within a square neighbourhood.
pub(super) fn correlation(call: &mut Call<'_>) -> Outcome {
    let (shape, dtype) = call.result()?;
    let (first, second) = (call.tensor(0)?, call.tensor(1)?);
    let number = |name: &str| -> Result<usize, Fault> {
        usize::try_from(call.int(name)?)
            .map_err(|_| call.fault(format_args!("`{name}` is negative")))
    };
    let (kernel, furthest) = (number("kernel_size")?, number("max_displacement")?);
    let (stride, step) = (number("stride1")?.max(1), number("stride2")?.max(1));
    let padding = padding(call, 2)?;
    let multiply = call.bool("is_multiply");
    let (&[batches, channels, height, width], &[_, moves, rows, columns]) =
        (first.shape(), shape.as_slice())
    else {
        return Err(call.fault("the images have the wrong rank"));
    };
    if second.shape() != first.shape() {
        return Err(call.fault("both images must have the same shape"));
    }
    if kernel % 2 == 0 {
        return Err(call.fault("`kernel_size` must be odd"));
    }
    let (a, b) = (first.to_f64s(), second.to_f64s());
    let radius = furthest / step;
    let side = 2 * radius + 1;
    if moves != side * side {
        return Err(call.fault("the number of displacements is wrong"));
    }
    // The outside of an image is 0.
    let inside = |y: i64, x: i64| -> Option<usize> {
        let y = usize::try_from(y - padding[0].0).ok().filter(|&y| y < height)?;
        let x = usize::try_from(x - padding[1].0).ok().filter(|&x| x < width)?;
        Some(y * width + x)
    };
    let area = height * width;
    let mut out = with_capacity(shape.iter().product());
    for batch in 0..batches {
        for displacement in 0..moves {
            let shift = |k: usize| (k as i64 - radius as i64) * step as i64;
            let (dy, dx) = (shift(displacement / side), shift(displacement % side));
            for row in 0..rows {
                for column in 0..columns {
                    let y = (row * stride + furthest) as i64;
                    let x = (column * stride + furthest) as i64;
                    let mut sum = 0.0;
                    for tap in 0..kernel * kernel {
                        let (y, x) = (y + (tap / kernel) as i64, x + (tap % kernel) as i64);
                        let (from, to) = (inside(y, x), inside(y + dy, x + dx));
                        spend(2 * channels);
                        for channel in 0..channels {
                            let start = (batch * channels + channel) * area;
                            let left = from.map_or(0.0, |at| a[start + at]);
                            let right = to.map_or(0.0, |at| b[start + at]);
                            sum += if multiply { left * right } else { (left - right).abs() };
                        }
                    }
                    out.push(sum / (kernel * kernel * channels) as f64);
                }
            }
        }
    }
    match Tensor::from_f64s(dtype, &shape, out) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// `nn.fifo_buffer`: the buffer followed by the data, without its oldest part.
pub(super) fn fifo_buffer(call: &mut Call<'_>) -> Outcome {
    let (data, buffer) = (call.tensor(0)?, call.tensor(1)?);
    let axis = call.axis(call.int("axis")?, buffer.rank())?;
    let (Some(&new), Some(&size)) = (data.shape().get(axis), buffer.shape().get(axis)) else {
        return Err(call.fault("the data and the buffer have different ranks"));
    };
    let all = super::super::shape::joined(call, &[buffer, data], axis)?;
    Ok(super::super::shape::slice_axis(call, &all, axis, new, new + size)?.into())
}
