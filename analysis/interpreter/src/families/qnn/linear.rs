//! Convolution, matrix products, pooling and concatenation of quantized integers.
//!
//! Products are computed on integers minus their zero points; padding with the zero point
//! contributes nothing.

use operators::Layout;

use super::{
    super::{layouts, nn_conv, nn_conv_contrib, nn_dense, nn_pool, shape},
    arithmetic::output,
    convert::Scaling,
    *,
};

/// Subtracts the zero points from an argument, as 32 bit integers. Several zero points belong to
/// `axis`.
fn shifted(
    call: &Call<'_>,
    position: usize,
    zero_position: usize,
    axis: usize,
) -> Result<Value, Fault> {
    let data = call.tensor(position)?;
    let shape = data.shape();
    let zero = PerChannel::new(call, zeros(call, zero_position)?, shape, axis as i64)?;
    let out = map_indexed(&integers(data), |place, x| x.wrapping_sub(zero.at(place)));
    call.build(shape, out)
}

/// Replaces both arguments by themselves minus their zero points.
fn shift_both(call: &mut Call<'_>, weight_axis: usize) -> Result<(), Fault> {
    let data = shifted(call, 0, 2, 0)?;
    let weight = shifted(call, 1, 3, weight_axis)?;
    call.put(0, data);
    call.put(1, weight);
    Ok(())
}

/// The output axis in the layout of a weight.
fn output_axis(call: &Call<'_>) -> usize {
    let layout = Layout::parse(call.str("kernel_layout")).ok();
    let axis = layout.and_then(|layout| layout.axes().iter().position(|axis| axis.letter == b'O'));
    axis.unwrap_or(0)
}

/// `qnn.conv2d`
pub(super) fn conv2d(call: &mut Call<'_>) -> Outcome {
    let layout = call.str("kernel_layout");
    let weight = call.tensor(1)?;
    let zeros = call.tensor(3)?.len();
    let axis = output_axis(call);
    if zeros > 1 && weight.shape().get(axis) != Some(&zeros) {
        // The outputs of a depthwise convolution are those of all channels.
        let plain = layouts::convert(call, weight, layout, "OIHW")?;
        let [outputs, inner, height, width] = *plain.shape() else {
            return Err(call.fault("the weight has the wrong rank"));
        };
        let flat = call.reshaped(plain.clone(), &[outputs * inner, height, width])?;
        call.put(1, flat.into());
        shift_both(call, 0)?;
        let flat = call.take_tensor(1)?;
        let weight = call.reshaped(flat, plain.shape())?;
        let weight = layouts::convert(call, &weight, "OIHW", layout)?;
        call.put(1, weight.into());
    } else {
        shift_both(call, axis)?;
    }
    nn_conv::convolution(call, "NCHW", "OIHW")
}

/// `qnn.conv2d_transpose`
pub(super) fn conv2d_transpose(call: &mut Call<'_>) -> Outcome {
    let axis = output_axis(call);
    shift_both(call, axis)?;
    nn_conv_contrib::transposed(call, "NCHW", "IOHW")
}

/// `qnn.dense`
pub(super) fn dense(call: &mut Call<'_>) -> Outcome {
    shift_both(call, 0)?;
    nn_dense::matmul(call, false, true)
}

/// `qnn.contrib_dense_pack`
pub(super) fn dense_pack(call: &mut Call<'_>) -> Outcome {
    shift_both(call, 0)?;
    nn_dense::dense_pack(call)
}

/// `qnn.batch_matmul`
pub(super) fn batch_matmul(call: &mut Call<'_>) -> Outcome {
    shift_both(call, 0)?;
    nn_dense::batch_matmul(call)
}

/// `qnn.avg_pool2d`: the mean of the integers in the scale of the result.
pub(super) fn avg_pool2d(call: &mut Call<'_>) -> Outcome {
    let scaling = Scaling::of(call, 1, output(call, 3)?, -1)?;
    let data = call.tensor(0)?;
    let dtype = data.dtype();
    let values = integers(data);
    let values =
        if scaling.is_identity() { values } else { scaling.run(call, &values, data.shape())? };
    let data = call.build(data.shape(), values)?;
    call.put(0, data);
    let Value::Tensor(means) = nn_pool::pool(call, "NCHW", nn_pool::Fold::Mean)? else {
        return Err(call.fault("the result of pooling is not a tensor"));
    };
    Ok(saturated(call, means.shape(), integers(&means), dtype)?.into())
}

/// `qnn.concatenate`: converts each tensor to the scale of the result, then concatenates them.
pub(super) fn concatenate(call: &mut Call<'_>) -> Outcome {
    let (output_scale, output_zero) = output(call, 3)?;
    let data = call.tensors(0)?;
    let (scales, zeros) = (call.tensors(1)?, call.tensors(2)?);
    if scales.len() != data.len() || zeros.len() != data.len() {
        return Err(call.fault(format_args!("there must be {} scales and zero points", data.len())));
    }
    let mut parts = with_capacity(data.len());
    for (at, part) in data.iter().enumerate() {
        let scaling = Scaling {
            input_scales: scales[at].to_f32s(),
            input_zeros: mapped(&zeros[at].to_i64s(), |zero| zero as i32),
            ..Scaling::to(output_scale, output_zero)
        };
        parts.push(if scaling.is_identity() {
            (*part).clone()
        } else {
            let out = scaling.run(call, &integers(part), part.shape())?;
            saturated(call, part.shape(), out, part.dtype())?
        });
    }
    let rank = parts.first().map_or(0, Tensor::rank);
    let axis = call.axis(call.int("axis")?, rank)?;
    let parts: Vec<&Tensor> = parts.iter().collect();
    Ok(shape::joined(call, &parts, axis)?.into())
}
