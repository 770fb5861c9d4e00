//! Quantized operators.
//!
//! The results are those of TVM's lowering, bit for bit: a scale becomes a multiplier of 31 bits
//! and a shift.

mod arithmetic;
mod convert;
mod linear;

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("qnn.quantize", convert::quantize),
    kernel("qnn.dequantize", convert::dequantize),
    kernel("qnn.requantize", convert::requantize),
    kernel("qnn.simulated_quantize", convert::simulated_quantize),
    kernel("qnn.simulated_dequantize", convert::simulated_dequantize),
    kernel("qnn.abs", |c| arithmetic::unary(c, f32::abs)),
    kernel("qnn.erf", |c| arithmetic::unary(c, |x| super::elementwise::erf(f64::from(x)) as f32)),
    kernel("qnn.exp", |c| arithmetic::unary(c, exp)),
    kernel("qnn.hardswish", |c| arithmetic::unary(c, |x| x * (x + 3.0).clamp(0.0, 6.0) / 6.0)),
    kernel("qnn.leaky_relu", arithmetic::leaky_relu),
    kernel("qnn.log", |c| arithmetic::unary(c, |x| f64::from(x).ln() as f32)),
    kernel("qnn.rsqrt", |c| arithmetic::unary(c, |x| 1.0 / x.sqrt())),
    kernel("qnn.sigmoid", |c| arithmetic::unary(c, |x| 1.0 / (1.0 + exp(-x)))),
    kernel("qnn.softmax", arithmetic::softmax),
    kernel("qnn.sqrt", |c| arithmetic::unary(c, f32::sqrt)),
    kernel("qnn.tanh", |c| arithmetic::unary(c, |x| f64::from(x).tanh() as f32)),
    kernel("qnn.add", |c| arithmetic::sum(c, i32::wrapping_add, i32::wrapping_sub)),
    kernel("qnn.mul", arithmetic::product),
    kernel("qnn.subtract", |c| arithmetic::sum(c, i32::wrapping_sub, i32::wrapping_add)),
    kernel("qnn.avg_pool2d", linear::avg_pool2d),
    kernel("qnn.batch_matmul", linear::batch_matmul),
    kernel("qnn.concatenate", linear::concatenate),
    kernel("qnn.contrib_dense_pack", linear::dense_pack),
    kernel("qnn.conv2d", linear::conv2d),
    kernel("qnn.conv2d_transpose", linear::conv2d_transpose),
    kernel("qnn.dense", linear::dense),
];

/// Rounds once, at the end.
fn exp(x: f32) -> f32 {
    f64::from(x).exp() as f32
}

/// The range of an integer type of up to 32 bits.
fn range(dtype: DataType) -> (i32, i32) {
    let bits = u32::from(dtype.bits).clamp(1, 32);
    if dtype.is_int() {
        (i32::MIN >> (32 - bits), i32::MAX >> (32 - bits))
    } else {
        (0, if bits == 32 { i32::MAX } else { ((1i64 << bits) - 1) as i32 })
    }
}

/// Scales or zero points: one for the whole tensor, or one per index of an axis.
struct PerChannel<T> {
    values: Vec<T>,
    /// The number of consecutive elements with the same index on the axis.
    inner: usize,
}

impl<T: Copy + Default + Sync> PerChannel<T> {
    fn new(
        call: &Call<'_>,
        values: Vec<T>,
        shape: &[usize],
        axis: i64,
    ) -> Result<PerChannel<T>, Fault> {
        if values.len() == 1 {
            return Ok(PerChannel { values, inner: 1 });
        }
        let axis = if shape.len() == 1 { 0 } else { call.axis(axis, shape.len())? };
        if values.len() != shape[axis] {
            return Err(call.fault(format_args!(
                "there are {} scales or zero points, but {} channels",
                values.len(),
                shape[axis]
            )));
        }
        Ok(PerChannel { values, inner: shape[axis + 1..].iter().product() })
    }

    /// The value for the element at `place`.
    fn at(&self, place: usize) -> T {
        match self.values.as_slice() {
            [one] => *one,
            [] => T::default(),
            many => many[place / self.inner.max(1) % many.len()],
        }
    }
}

/// The scales in an argument.
fn scales(call: &Call<'_>, position: usize) -> Result<Vec<f32>, Fault> {
    call.tensor(position).map(Tensor::to_f32s)
}

/// The zero points in an argument.
fn zeros(call: &Call<'_>, position: usize) -> Result<Vec<i32>, Fault> {
    Ok(mapped(&call.numbers(position)?, |zero| zero as i32))
}

/// The scale or zero point of a whole tensor.
fn single<T: Copy>(call: &Call<'_>, values: &[T]) -> Result<T, Fault> {
    match values {
        [one] => Ok(*one),
        many => Err(call.fault(format_args!("there are {} scales instead of one", many.len()))),
    }
}

/// The elements as 32-bit integers; those of 64 bits wrap.
fn integers(tensor: &Tensor) -> Vec<i32> {
    match tensor {
        Tensor::I32(array) => mapped(array.as_slice().unwrap_or_default(), |x| x),
        other => mapped(&other.to_i64s(), |x| x as i32),
    }
}

/// Applies `f` to each element and its position.
fn map_indexed<A: Copy + Sync, B: Copy + Default + Send>(
    data: &[A],
    f: impl Fn(usize, A) -> B + Sync + Send,
) -> Vec<B> {
    let mut out = repeated(B::default(), data.len());
    each_chunk(&mut out, PIECE, 1, &|at, to| {
        spend(PIECE);
        let from = data.get(at * PIECE..).unwrap_or_default();
        for (k, (to, &x)) in to.iter_mut().zip(from).enumerate() {
            *to = f(at * PIECE + k, x);
        }
    });
    out
}

/// Converts integers to a data type, with saturation.
fn saturated(
    call: &Call<'_>,
    shape: &[usize],
    values: Vec<i32>,
    dtype: DataType,
) -> Result<Tensor, Fault> {
    let (low, high) = range(dtype);
    let made = if dtype == DataType::INT32 {
        i32::tensor(shape, values)
    } else {
        Tensor::from_i64s(dtype, shape, mapped(&values, |x| i64::from(x.clamp(low, high))))
    };
    made.ok_or_else(|| call.fault(format_args!("results of {dtype} are not supported")))
}

/// A multiplier as `significand · 2^(exponent - 31)` with a significand of 31 bits.
fn fixed_point(multiplier: f64) -> (i32, i32) {
    if multiplier == 0.0 || !multiplier.is_finite() {
        return (0, 0);
    }
    let mut exponent = 0;
    let mut part = multiplier.abs();
    while part >= 1.0 {
        part /= 2.0;
        exponent += 1;
    }
    while part < 0.5 {
        part *= 2.0;
        exponent -= 1;
    }
    let mut significand = (part * f64::from(1u32 << 31)).round() as i64;
    if significand == 1 << 31 {
        significand /= 2;
        exponent += 1;
    }
    let significand = significand as i32;
    (if multiplier < 0.0 { -significand } else { significand }, exponent)
}

/// Rounds `x` times a multiplier to the nearest integer, halves up or away from zero.
fn multiply_fixed(x: i32, (significand, exponent): (i32, i32), away: bool) -> i32 {
    let left = exponent.max(0).unsigned_abs();
    let right = 31 + (-exponent).max(0).unsigned_abs();
    if right > 63 || left > 63 {
        return 0;
    }
    let product = (i64::from(x) << left).wrapping_mul(i64::from(significand));
    let mut half = 1i64 << (right - 1);
    if away && product < 0 {
        half -= 1;
    }
    (product.wrapping_add(half) >> right) as i32
}

/// Rounds `x` times a multiplier to the nearest integer, halves up. Powers of 2 become shifts, and
/// the sum before a shift wraps.
fn multiply_upward(x: i32, (significand, exponent): (i32, i32)) -> i32 {
    if significand != 1 << 30 || exponent > 0 {
        return multiply_fixed(x, (significand, exponent), false);
    }
    let by = (1 - exponent).unsigned_abs();
    if by > 31 { 0 } else { x.wrapping_add(1 << (by - 1)) >> by }
}
