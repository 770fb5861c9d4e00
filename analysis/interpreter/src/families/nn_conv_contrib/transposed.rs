//! Transposed convolutions, and the gradient of a weight.

use super::{
    super::{
        layouts,
        nn_conv::{Convolution, kernel_size, padding, steps, unpadded},
        nn_dense::out_dtype,
    },
    *,
};

/// A transposed convolution: the convolution of the data, dilated by the strides, with the mirrored
/// weight.
pub(in crate::families) fn transposed(
    call: &mut Call<'_>,
    plain_data: &str,
    plain_weight: &str,
) -> Outcome {
    let dtype = out_dtype(call)?;
    Ok(mirrored_convolution(call, plain_data, plain_weight)?.compute(call, dtype)?.into())
}

/// Returns the convolution that a transposed one is.
pub(super) fn mirrored_convolution<'l>(
    call: &Call<'_>,
    plain_data: &'l str,
    plain_weight: &str,
) -> Result<Convolution<'l>, Fault> {
    let or = |written: &str, other: &str| {
        if written.is_empty() { other.to_owned() } else { written.to_owned() }
    };
    let layout = or(call.str("data_layout"), plain_data);
    let out_layout = or(call.str("out_layout"), &layout);
    let data = layouts::convert(call, call.tensor(0)?, &layout, plain_data)?;
    let spatial = plain_data.len() - 2;
    let groups = usize::try_from(call.int("groups")?).unwrap_or(1).max(1);
    let weight_layout = or(call.str("kernel_layout"), plain_weight);
    let weight = if weight_layout.contains('G') {
        // The groups are outside of the input channels.
        let grouped = format!("G{plain_weight}");
        let weight = layouts::convert(call, call.tensor(1)?, &weight_layout, &grouped)?;
        let [count, inputs, ..] = *weight.shape() else {
            return Err(call.fault("the weight has the wrong rank"));
        };
        let mut shape = vec![count * inputs];
        shape.extend(weight.shape().iter().skip(2));
        call.reshaped(weight, &shape)?
    } else {
        layouts::convert(call, call.tensor(1)?, &weight_layout, plain_weight)?
    };
    let each = match call.optional_int("channels")? {
        Some(channels) => usize::try_from(channels).ok().map(|channels| channels / groups),
        None => None,
    };
    let mut sizes = vec![data.shape().get(1).copied(), each];
    sizes.extend(kernel_size(call, spatial)?);
    let weight = unpadded(call, weight, (&weight_layout, plain_weight), &sizes)?;
    if data.rank() != spatial + 2 || weight.rank() != spatial + 2 {
        return Err(call.fault("the arguments have the wrong rank"));
    }
    let strides = steps(call, "strides", spatial)?;
    let dilations = steps(call, "dilation", spatial)?;
    let extra = call.ints_for("output_padding", spatial)?;
    let padding = padding(call, spatial)?;
    let inputs = weight.shape()[0];
    if data.shape()[1] != inputs || inputs % groups != 0 {
        return Err(call.fault(format_args!(
            "{} channels in {groups} groups do not match a weight of shape {:?}",
            data.shape()[1],
            weight.shape()
        )));
    }
    let mut spread = with_capacity(spatial);
    for axis in 0..spatial {
        let (size, window) = (data.shape()[2 + axis], weight.shape()[2 + axis]);
        // A count that is too large for an `i64` is clamped: a result of that size is rejected
        // anyway.
        let number = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
        let reach = number(window.saturating_sub(1).saturating_mul(dilations[axis]));
        let before = reach.saturating_sub(padding[axis].0);
        let after = reach.saturating_sub(padding[axis].1).saturating_add(extra[axis]);
        let stretched = number(size).saturating_sub(1).saturating_mul(number(strides[axis]));
        let padded = stretched.saturating_add(1).saturating_add(before).saturating_add(after);
        let padded = padded.max(0);
        spread.push((before, strides[axis], padded as usize));
    }
    let mut shape = data.shape()[..2].to_vec();
    shape.extend(spread.iter().map(|&(_, _, padded)| padded));
    call.allow(&shape, data.dtype())?;
    let data = spread_out(call, &data, &spread, &shape)?;
    let weight = mirrored(call, &weight, groups)?;
    Ok(Convolution {
        data,
        weight,
        strides: repeated(1, spatial),
        dilations,
        padding: repeated((0, 0), spatial),
        groups,
        layouts: (plain_data, out_layout),
    })
}

/// Inserts zeros between the elements according to the strides and pads the borders; negative
/// padding crops.
fn spread_out(
    call: &Call<'_>,
    data: &Tensor,
    spread: &[(i64, usize, usize)],
    shape: &[usize],
) -> Result<Tensor, Fault> {
    let from = data.shape();
    let to = super::super::index::strides(shape);
    // The destination of each index of each spatial axis, if it is not cropped.
    let places: Vec<Vec<Option<usize>>> = spread
        .iter()
        .enumerate()
        .map(|(axis, &(before, stride, padded))| {
            let place = |at: usize| {
                let place = i64::try_from(at.saturating_mul(stride)).unwrap_or(i64::MAX);
                let place = usize::try_from(place.saturating_add(before)).ok();
                place.filter(|&place| place < padded).map(|place| place * to[2 + axis])
            };
            collected((0..from[2 + axis]).map(place))
        })
        .collect();
    let sizes = &from[2..];
    let made = each_dtype!(data, array => {
        let mut out = repeated(<T as Element>::from_i64(0), shape.iter().product());
        let mut index = repeated(0usize, sizes.len());
        let area: usize = sizes.iter().product();
        for (at, &x) in array.iter().enumerate() {
            let place: Option<usize> =
                index.iter().zip(&places).map(|(&at, places)| places[at]).sum();
            if let Some(place) = place {
                out[at / area * to[1] + place] = x;
            }
            super::super::index::advance(&mut index, sizes);
        }
        T::tensor(shape, out)
    });
    made.ok_or_else(|| call.fault("the shapes do not fit"))
}

/// Converts `(inputs, outputs of a group, …)` to `(outputs, inputs of a group, …)`, mirrored along
/// the axes of the window.
fn mirrored(call: &Call<'_>, weight: &Tensor, groups: usize) -> Result<Tensor, Fault> {
    let from = weight.shape();
    let (inputs, outputs) = (from[0] / groups, from[1]);
    let window: usize = from[2..].iter().product();
    let mut shape = vec![outputs * groups, inputs];
    shape.extend(&from[2..]);
    let made = each_dtype!(weight, array => {
        let elements = array.as_slice().unwrap_or_default();
        let mut out = with_capacity(elements.len());
        for output in 0..outputs * groups {
            let (group, output) = (output / outputs, output % outputs);
            for input in 0..inputs {
                let start = ((group * inputs + input) * outputs + output) * window;
                spend(window);
                out.extend(elements[start..start + window].iter().rev());
            }
        }
        T::tensor(&shape, out)
    });
    made.ok_or_else(|| call.fault("the shapes do not fit"))
}

/// `nn.conv2d_backward_weight`: for each element of the weight, the sum of the data elements that
/// it is multiplied by times the gradients of the products.
pub(super) fn weight_gradient(call: &mut Call<'_>) -> Outcome {
    let dtype = call.result_dtype()?;
    let or = |written: &str, other: &str| {
        if written.is_empty() { other.to_owned() } else { written.to_owned() }
    };
    // The attributes are those of a convolution, shifted by one argument as in TVM.
    let grad_layout = or(call.str("data_layout"), "NCHW");
    let layout = or(call.str("kernel_layout"), "NCHW");
    let weight_layout = or(call.str("out_layout"), "OIHW");
    let grad = layouts::convert(call, call.tensor(0)?, &grad_layout, "NCHW")?;
    let data = layouts::convert(call, call.tensor(1)?, &layout, "NCHW")?;
    let (strides, dilations) = (steps(call, "strides", 2)?, steps(call, "dilation", 2)?);
    let padding = padding(call, 2)?;
    let groups = usize::try_from(call.int("groups")?).unwrap_or(1).max(1);
    let window = steps(call, "kernel_size", 2)?;
    let (rows, columns) = (window[0], window[1]);
    let (&[batches, outputs, down, across], &[others, inputs, height, width]) =
        (grad.shape(), data.shape())
    else {
        return Err(call.fault("the arguments have the wrong rank"));
    };
    if others != batches || inputs % groups != 0 || outputs % groups != 0 {
        return Err(call.fault("the gradient does not fit the data"));
    }
    let (each, per_group) = (inputs / groups, outputs / groups);
    let plain = [outputs, each, rows, columns];
    call.allow(&plain, dtype)?;
    let (grads, x) = (grad.to_f64s(), data.to_f64s());
    let mut out = repeated(0f64, plain.iter().product());
    let meets = |at: usize, tap: usize, axis: usize, size: usize| {
        let place =
            at.saturating_mul(strides[axis]).saturating_add(tap.saturating_mul(dilations[axis]));
        let place = i64::try_from(place).ok()?.checked_sub(padding[axis].0)?;
        usize::try_from(place).ok().filter(|&place| place < size)
    };
    for (at, to) in out.iter_mut().enumerate() {
        let (tap, plane) = (at % (rows * columns), at / (rows * columns));
        let (output, input) = (plane / each, plane % each);
        let input = output / per_group * each + input;
        let (i, j) = (tap / columns, tap % columns);
        for batch in 0..batches {
            let g = (batch * outputs + output) * down * across;
            let d = (batch * inputs + input) * height * width;
            for row in 0..down {
                let Some(y) = meets(row, i, 0, height) else { continue };
                spend(2 * across);
                for column in 0..across {
                    if let Some(z) = meets(column, j, 1, width) {
                        *to += grads[g + row * across + column] * x[d + y * width + z];
                    }
                }
            }
        }
    }
    match Tensor::from_f64s(dtype, &plain, out) {
        Some(out) => Ok(layouts::convert(call, &out, "OIHW", &weight_layout)?.into()),
        None => call.unsupported(dtype),
    }
}
