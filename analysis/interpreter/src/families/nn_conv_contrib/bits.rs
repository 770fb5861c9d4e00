//! Convolutions of integers of few bits, packed into words.
//!
//! A word holds one bit each of as many elements as it has bits, starting at the highest.

use super::{
    super::{
        layouts,
        nn_conv::{Convolution, cropped, padding, steps},
    },
    *,
};

/// A bit count among the attributes.
fn count(call: &Call<'_>, name: &str) -> Result<usize, Fault> {
    match usize::try_from(call.int(name)?) {
        Ok(count) if (1..=64).contains(&count) => Ok(count),
        _ => Err(call.fault(format_args!("`{name}` must be between 1 and 64"))),
    }
}

/// `nn.bitpack`
pub(super) fn bitpack(call: &mut Call<'_>) -> Outcome {
    let (shape, dtype) = call.result()?;
    let data = call.tensor(0)?;
    let rank = data.rank();
    let bits = count(call, "bits")?;
    let axis = call.axis(call.int("pack_axis")?, rank)?;
    let bit_axis = usize::try_from(call.int("bit_axis")?).ok().filter(|&at| at <= rank);
    let Some(bit_axis) = bit_axis else {
        return Err(call.fault(format_args!("`bit_axis` must be between 0 and {rank}")));
    };
    let word = usize::from(dtype.bits);
    if bits > 8 || !dtype.is_uint() || word < 8 || data.shape()[axis] % word != 0 {
        return Err(call.fault(format_args!(
            "at most 8 bits are packed, into words of 8 to 64 bits, along an axis whose size is a \
             multiple of those of a word; here {bits} bits into {dtype} along an axis of size {}",
            data.shape()[axis]
        )));
    }
    let numbers = data.to_i64s();
    let strides = super::super::index::strides(data.shape());
    let mut out = repeated(0i64, shape.iter().product());
    let mut index = repeated(0usize, rank + 1);
    for to in &mut out {
        let mut from = 0;
        for (at, &i) in index.iter().enumerate().filter(|&(at, _)| at != bit_axis) {
            let axis_of = if at > bit_axis { at - 1 } else { at };
            from += i * strides[axis_of] * if axis_of == axis { word } else { 1 };
        }
        let bit = index[bit_axis];
        spend(word);
        for k in 0..word {
            let element = numbers.get(from + k * strides[axis]).copied().unwrap_or_default();
            *to = *to << 1 | (element >> bit & 1);
        }
        super::super::index::advance(&mut index, &shape);
    }
    match Tensor::from_i64s(dtype, &shape, out) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// The integers of `bits` bits in a tensor.
fn low_bits(call: &Call<'_>, tensor: &Tensor, bits: usize) -> Result<Tensor, Fault> {
    let mask = if bits >= 64 { -1 } else { (1i64 << bits) - 1 };
    let values = mapped(&tensor.to_i64s(), |x| x & mask);
    match Tensor::from_i64s(DataType::INT64, tensor.shape(), values) {
        Some(tensor) => Ok(tensor),
        None => call.unsupported(tensor.dtype()),
    }
}

/// Unpacks words: `axis` of `packed` holds the words and `bit_axis` their bits.
fn unpacked(
    call: &Call<'_>,
    packed: &Tensor,
    axis: usize,
    bit_axis: usize,
) -> Result<Tensor, Fault> {
    let word = usize::from(packed.dtype().bits);
    let from = packed.shape();
    let strides = super::super::index::strides(from);
    let mut shape = from.to_vec();
    shape[axis] *= word;
    let bits = shape.remove(bit_axis);
    call.allow(&shape, DataType::INT64)?;
    let words = packed.to_i64s();
    let mut out = repeated(0i64, shape.iter().product());
    let mut index = repeated(0usize, shape.len());
    let axis_after = if bit_axis < axis { axis - 1 } else { axis };
    for to in &mut out {
        let mut start = 0;
        for (at, &i) in index.iter().enumerate() {
            let axis_of = if at >= bit_axis { at + 1 } else { at };
            start += if at == axis_after { i / word } else { i } * strides[axis_of];
        }
        let shift = word - 1 - index[axis_after] % word;
        spend(bits);
        for bit in 0..bits.min(63) {
            let word = words.get(start + bit * strides[bit_axis]).copied().unwrap_or_default();
            *to |= (word >> shift & 1) << bit;
        }
        super::super::index::advance(&mut index, &shape);
    }
    match i64::tensor(&shape, out) {
        Some(tensor) => Ok(tensor),
        None => call.unsupported(packed.dtype()),
    }
}

/// The factors of the bits of a weight: each bit of a unipolar weight is 1 or -1.
fn factors(call: &Call<'_>, weight: &Tensor, bits: usize) -> Result<Tensor, Fault> {
    if !call.bool("unipolar") {
        return Ok(weight.clone());
    }
    let all = (1i64 << bits.min(62)) - 1;
    let values = mapped(&weight.to_i64s(), |x| x.wrapping_mul(2).wrapping_sub(all));
    match i64::tensor(weight.shape(), values) {
        Some(tensor) => Ok(tensor),
        None => call.unsupported(weight.dtype()),
    }
}

/// `nn.bitserial_conv2d`
pub(super) fn conv2d(call: &mut Call<'_>) -> Outcome {
    let dtype = call.result_dtype()?;
    let layout = call.str("data_layout");
    let weight = call.tensor(1)?;
    let weight_bits = count(call, "weight_bits")?;
    let data = low_bits(call, call.tensor(0)?, count(call, "activation_bits")?)?;
    let data = layouts::convert(call, &data, layout, "NCHW")?;
    let is_nhwc = layout == "NHWC";
    let weight = match weight.rank() {
        4 => low_bits(call, weight, weight_bits)?,
        // The weight is packed already, in the layout of the data.
        5 if is_nhwc => unpacked(call, weight, 2, 4)?,
        5 => unpacked(call, weight, 1, 4)?,
        _ => return Err(call.fault("the weight has the wrong rank")),
    };
    let weight = factors(call, &weight, weight_bits)?;
    let weight_layout = if is_nhwc { "HWIO" } else { "OIHW" };
    let weight = layouts::convert(call, &weight, weight_layout, "OIHW")?;
    if data.shape().get(1) != weight.shape().get(1) {
        return Err(call.fault("the data and the weight have different numbers of channels"));
    }
    let window = steps(call, "kernel_size", 2)?;
    if weight.shape().get(2..) != Some(&window[..]) {
        return Err(call.fault(format_args!(
            "`kernel_size` is {window:?}, but the weight has the shape {:?}",
            weight.shape()
        )));
    }
    let strides = steps(call, "strides", 2)?;
    let (data, padding) = cropped(call, data, &padding(call, 2)?)?;
    let convolution = Convolution {
        data,
        weight,
        strides,
        dilations: repeated(1, 2),
        padding,
        groups: 1,
        layouts: ("NCHW", layout.to_owned()),
    };
    finish(call, &convolution.compute(call, DataType::INT64)?, dtype)
}

/// `nn.bitserial_dense`
pub(super) fn dense(call: &mut Call<'_>) -> Outcome {
    let dtype = call.result_dtype()?;
    let weight = call.tensor(1)?;
    let weight_bits = count(call, "weight_bits")?;
    let data = low_bits(call, call.tensor(0)?, count(call, "data_bits")?)?;
    let weight = match weight.rank() {
        2 => low_bits(call, weight, weight_bits)?,
        3 => unpacked(call, weight, 2, 1)?,
        _ => return Err(call.fault("the weight has the wrong rank")),
    };
    let weight = factors(call, &weight, weight_bits)?;
    let out = super::super::nn_dense::product(call, &data, &weight, false, true, DataType::INT64)?;
    match out {
        Value::Tensor(out) => finish(call, &out, dtype),
        other => Err(call.fault(other.describe())),
    }
}

/// Sums that wrap in the data type of the result.
fn finish(call: &Call<'_>, sums: &Tensor, dtype: DataType) -> Outcome {
    match crate::convert::converted(sums.clone(), dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}
