//! Images: resizing, cropping, sampling, dilation.

mod resize;
mod sample;

use super::{
    layouts,
    nn_conv::{cropped, padding, steps},
    prelude::*,
};
use crate::convert::converted;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("image.affine_grid", affine_grid),
    kernel("image.crop_and_resize", resize::crop_and_resize),
    kernel("image.dilation2d", dilation2d),
    kernel("image.grid_sample", sample::grid_sample),
    kernel("image.resize1d", |c| resize::resize(c, "NCW")),
    kernel("image.resize2d", |c| resize::resize(c, "NCHW")),
    kernel("image.resize3d", |c| resize::resize(c, "NCDHW")),
    kernel("dyn.image.resize2d", resize::resize_to_argument),
];

/// Transforms the points of a regular grid between -1 and 1, x before y.
fn affine_grid(call: &mut Call<'_>) -> Outcome {
    let (shape, dtype) = call.result()?;
    let data = call.tensor(0)?;
    let &[batches, _, rows, columns] = shape.as_slice() else {
        return Err(call.fault("`target_shape` must have two sizes"));
    };
    if data.shape() != [batches, 2, 3] {
        return Err(call.fault("an affine map is a matrix of 2 rows and 3 columns"));
    }
    if rows == 1 || columns == 1 {
        return Err(call.fault("the height and the width of a grid must be greater than 1"));
    }
    // Slightly less than 2, so that the last point stays inside of the image.
    let step = |count: usize| ((2.0 - 1e-7) / (count as f64 - 1.0)) as f32;
    let (down, across) = (step(rows), step(columns));
    let maps = data.to_f32s();
    let mut out = with_capacity(shape.iter().product());
    for map in maps.chunks_exact(3) {
        for row in 0..rows {
            let y = -1.0 + row as f32 * down;
            spend(columns);
            out.extend((0..columns).map(|column| {
                let x = -1.0 + column as f32 * across;
                map[0] * x + map[1] * y + map[2]
            }));
        }
    }
    match f32::tensor(&shape, out).and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// The maximum of data plus weight in each window of each channel. Padding is 0 and takes part.
fn dilation2d(call: &mut Call<'_>) -> Outcome {
    let dtype = match call.attrs().dtype("out_dtype") {
        dtype if dtype.is_void() => call.tensor(0)?.dtype(),
        dtype => dtype,
    };
    let (layout, weight_layout) = (call.str("data_layout"), call.str("kernel_layout"));
    let data = layouts::convert(call, call.tensor(0)?, layout, "NCHW")?;
    let (data, padding) = cropped(call, data, &padding(call, 2)?)?;
    let weight = layouts::convert(call, call.tensor(1)?, weight_layout, "IHW")?;
    let &[batches, channels, height, width] = data.shape() else {
        return Err(call.fault("the data has the wrong rank"));
    };
    let &[kernels, rows, columns] = weight.shape() else {
        return Err(call.fault("the weight has the wrong rank"));
    };
    if kernels != channels {
        return Err(
            call.fault(format_args!("there are {channels} channels, but {kernels} kernels"))
        );
    }
    let (strides, dilations) = (steps(call, "strides", 2)?, steps(call, "dilations", 2)?);
    if rows == 0 || columns == 0 {
        return Err(call.fault("the window has no elements"));
    }
    let axis = |at: usize, size: usize, window: usize| {
        let reach = window.saturating_sub(1).saturating_mul(dilations[at]).saturating_add(1);
        let padded = size.saturating_add(padding[at].0).saturating_add(padding[at].1);
        let count =
            if padded >= reach { ((padded - reach) / strides[at]).saturating_add(1) } else { 0 };
        Windows {
            size,
            window,
            stride: strides[at],
            dilation: dilations[at],
            before: padding[at].0,
            count,
        }
    };
    let sweeps = [axis(0, height, rows), axis(1, width, columns)];
    let shape = [batches, channels, sweeps[0].count, sweeps[1].count];
    call.allow(&shape, dtype)?;
    let (Some(data), Some(weight)) = (converted(data, dtype), converted(weight, dtype)) else {
        return call.unsupported(dtype);
    };
    let out = if dtype.is_float() || dtype.is_bfloat() {
        let lowest = match dtype {
            DataType::FLOAT32 => f64::from(f32::MIN),
            DataType::FLOAT16 => half::f16::MIN.to_f64(),
            DataType::BFLOAT16 => half::bf16::MIN.to_f64(),
            _ => f64::MIN,
        };
        let planes = batches * channels;
        let (data, weight) = (data.to_f64s(), weight.to_f64s());
        let out = dilate((&data, planes), &weight, &sweeps, lowest, |a, b| a + b);
        Tensor::from_f64s(dtype, &shape, out)
    } else {
        // Sums wrap in the data type.
        let unused = 64 - u32::from(dtype.bits).clamp(1, 64);
        let add = |a: i64, b: i64| {
            let sum = a.wrapping_add(b) << unused;
            if dtype.is_int() { sum >> unused } else { (sum as u64 >> unused) as i64 }
        };
        let lowest = if dtype.is_int() { i64::MIN >> unused } else { 0 };
        let planes = batches * channels;
        let out = dilate((&data.to_i64s(), planes), &weight.to_i64s(), &sweeps, lowest, add);
        Tensor::from_i64s(dtype, &shape, out)
    };
    match out {
        Some(out) => Ok(layouts::convert(call, &out, "NCHW", layout)?.into()),
        None => call.unsupported(dtype),
    }
}

/// The positions of windows along one axis.
#[derive(Clone, Copy)]
struct Windows {
    size: usize,
    window: usize,
    stride: usize,
    dilation: usize,
    before: usize,
    count: usize,
}

impl Windows {
    /// The index of the element under `tap` of window `at`; `None` in the padding.
    fn index(&self, at: usize, tap: usize) -> Option<usize> {
        let place =
            at.saturating_mul(self.stride).saturating_add(tap.saturating_mul(self.dilation));
        place.checked_sub(self.before).filter(|&place| place < self.size)
    }
}

fn dilate<T: Copy + Default + PartialOrd>(
    (data, planes): (&[T], usize),
    weight: &[T],
    [down, across]: &[Windows; 2],
    lowest: T,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let (area, window) = (down.size * across.size, down.window * across.window);
    let places = down.count * across.count;
    let channels = weight.len() / window.max(1);
    let mut out = with_capacity(planes * places);
    for plane in 0..planes {
        let source = &data[plane * area..(plane + 1) * area];
        let kernel = (plane % channels.max(1)) * window;
        for row in 0..down.count {
            for column in 0..across.count {
                spend(2 * window);
                let mut best = lowest;
                for i in 0..down.window {
                    let y = down.index(row, i);
                    for j in 0..across.window {
                        let place = y.zip(across.index(column, j));
                        let x = place.map(|(y, x)| source[y * across.size + x]);
                        let factor = weight.get(kernel + i * across.window + j);
                        let sum = add(x.unwrap_or_default(), factor.copied().unwrap_or_default());
                        if sum > best {
                            best = sum;
                        }
                    }
                }
                out.push(best);
            }
        }
    }
    out
}
