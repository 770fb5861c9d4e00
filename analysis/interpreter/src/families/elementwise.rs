//! Elementwise operators on one tensor.

use super::{overflow, prelude::*};
use crate::{
    convert::{converted, widened},
    wide,
};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("abs", |c| signed(c, |x| x.wrapping_abs(), f64::abs))
        .overflow(|c, result| overflow::of_each(c, result, |x| x.abs())),
    kernel("negative", |c| signed(c, |x| x.wrapping_neg(), |x| -x))
        .overflow(|c, result| overflow::of_each(c, result, |x| -x)),
    kernel("sign", |c| signed(c, |x| x.signum(), sign)),
    kernel("ceil", |c| signed(c, |x| x, f64::ceil)),
    kernel("floor", |c| signed(c, |x| x, f64::floor)),
    kernel("trunc", |c| signed(c, |x| x, f64::trunc)),
    // Halves are rounded away from zero: 2.5 to 3, -0.5 to -1.
    kernel("round", |c| signed(c, |x| x, f64::round)),
    kernel("exp", |c| float(c, f32::exp, f64::exp)),
    kernel("log", |c| float(c, f32::ln, f64::ln)),
    kernel("log2", |c| float(c, f32::log2, f64::log2)),
    kernel("log10", |c| float(c, f32::log10, f64::log10)),
    kernel("sqrt", |c| float(c, f32::sqrt, f64::sqrt)),
    kernel("rsqrt", |c| float(c, |x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt())),
    kernel("sigmoid", |c| float(c, |x| 1.0 / (1.0 + (-x).exp()), |x| 1.0 / (1.0 + (-x).exp()))),
    kernel("sin", |c| float(c, f32::sin, f64::sin)),
    kernel("cos", |c| float(c, f32::cos, f64::cos)),
    kernel("tan", |c| float(c, f32::tan, f64::tan)),
    kernel("sinh", |c| float(c, f32::sinh, f64::sinh)),
    kernel("cosh", |c| float(c, f32::cosh, f64::cosh)),
    kernel("tanh", |c| float(c, f32::tanh, f64::tanh)),
    kernel("asin", |c| float(c, f32::asin, f64::asin)),
    kernel("acos", |c| float(c, f32::acos, f64::acos)),
    kernel("atan", |c| float(c, f32::atan, f64::atan)),
    kernel("asinh", |c| float(c, f32::asinh, f64::asinh)),
    kernel("acosh", |c| float(c, f32::acosh, f64::acosh)),
    kernel("atanh", |c| float(c, f32::atanh, f64::atanh)),
    kernel("erf", |c| float_parts(c, &wide::erf, &chunk_loop(erf))).step(ElementOp::Erf),
    kernel("fast_exp", |c| float(c, f32::exp, f64::exp)),
    kernel("fast_tanh", |c| float(c, f32::tanh, f64::tanh)),
    kernel("fast_erf", |c| float_parts(c, &wide::erf, &chunk_loop(erf))),
    kernel("isnan", |c| test(c, f64::is_nan)),
    kernel("isfinite", |c| test(c, f64::is_finite)),
    kernel("isinf", |c| test(c, f64::is_infinite)),
    kernel("logical_not", logical_not),
    kernel("bitwise_not", bitwise_not),
    kernel("nn.relu", |c| {
        let single = |x: f32| if x > 0.0 { x } else { 0.0 };
        signed_parts(c, &chunk_loop(|x: i64| x.max(0)), &chunk_loop(single), &chunk_loop(relu))
    })
    .step(ElementOp::Relu),
    kernel("nn.leaky_relu", leaky_relu),
    kernel("clip", clip).step(ElementOp::Clip),
    kernel("fixed_point_multiply", fixed_point_multiply),
    kernel("copy", identity),
    kernel("cast", |c| {
        let dtype = c.attrs().dtype("dtype");
        cast(c, dtype)
    })
    .overflow(|c, result| overflow::of_each(c, result, |x| x)),
    kernel("cast_like", |c| {
        let dtype = c.tensor(1)?.dtype();
        cast(c, dtype)
    })
    .overflow(|c, result| overflow::of_each(c, result, |x| x)),
    kernel("reinterpret", reinterpret),
    kernel("hardswish", |c| {
        let f = |x: f64| x * ((x + 3.0).clamp(0.0, 6.0) / 6.0);
        float(c, move |x| f(f64::from(x)) as f32, f)
    }),
    kernel("invert_permutation", invert_permutation),
    kernel("zeros_like", |c| fill_like(c, 0)),
    kernel("ones_like", |c| fill_like(c, 1)),
    kernel("fixed_point_multiply_per_axis", multiply_per_axis),
];

/// A loop that updates each element of a chunk in place. It is called through a pointer, so that
/// the surrounding code is compiled only once and not for each operator.
type ChunkLoop<'a, T> = &'a (dyn Fn(&mut [T]) + Sync);

/// The loop that applies `f` to each element of a chunk.
fn chunk_loop<T: Copy>(f: impl Fn(T) -> T + Sync) -> impl Fn(&mut [T]) + Sync {
    move |part| part.iter_mut().for_each(|x| *x = f(*x))
}

/// Returns the first argument.
fn identity(call: &mut Call<'_>) -> Outcome {
    Ok(call.take(0))
}

/// Applies `f` to each element, in place if the array is not shared.
pub(super) fn map<T: Element>(array: Array<T>, f: impl Fn(T) -> T + Sync) -> Tensor {
    map_parts(array, &chunk_loop(f))
}

/// Like [`map`], with a loop over a chunk.
fn map_parts<T: Element>(array: Array<T>, each: ChunkLoop<'_, T>) -> Tensor {
    let mut array = own(array);
    if let Some(elements) = array.as_slice_mut() {
        each_chunk(elements, PIECE, 1, &|_, part| {
            // An element may take as long as several do elsewhere: `erf` is a series.
            spend(4 * part.len());
            each(part);
        });
    }
    T::wrap(array)
}

/// A floating point operator. Half precision is computed in single precision.
fn float(
    call: &mut Call<'_>,
    single: impl Fn(f32) -> f32 + Sync,
    double: impl Fn(f64) -> f64 + Sync,
) -> Outcome {
    float_parts(call, &chunk_loop(single), &chunk_loop(double))
}

fn float_parts(
    call: &mut Call<'_>,
    single: ChunkLoop<'_, f32>,
    double: ChunkLoop<'_, f64>,
) -> Outcome {
    let tensor = call.take_tensor(0)?;
    let dtype = tensor.dtype();
    match widened(&tensor) {
        Tensor::F32(x) => {
            drop(tensor);
            convert_result(call, map_parts(x, single), dtype)
        }
        Tensor::F64(x) => {
            drop(tensor);
            convert_result(call, map_parts(x, double), dtype)
        }
        other => match converted(other, DataType::FLOAT64) {
            Some(Tensor::F64(x)) => convert_result(call, map_parts(x, double), dtype),
            _ => call.unsupported(dtype),
        },
    }
}

/// Converts a result to the given data type.
fn convert_result(call: &Call<'_>, tensor: Tensor, dtype: DataType) -> Outcome {
    match converted(tensor, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// An operator on numbers of any kind: `integer` for integers, which wrap, and `number` for
/// floating point.
fn signed(
    call: &mut Call<'_>,
    integer: impl Fn(i64) -> i64 + Sync,
    number: impl Fn(f64) -> f64 + Sync,
) -> Outcome {
    let single = |x| number(f64::from(x)) as f32;
    signed_parts(call, &chunk_loop(&integer), &chunk_loop(single), &chunk_loop(&number))
}

fn signed_parts(
    call: &mut Call<'_>,
    integer: ChunkLoop<'_, i64>,
    single: ChunkLoop<'_, f32>,
    double: ChunkLoop<'_, f64>,
) -> Outcome {
    let tensor = call.take_tensor(0)?;
    let dtype = tensor.dtype();
    match tensor {
        Tensor::F32(x) => Ok(map_parts(x, single).into()),
        // Integers above the range of `i64` are not negative.
        Tensor::U64(x) => {
            let unsigned = |part: &mut [u64]| {
                let mut numbers = [0i64; 256];
                for part in part.chunks_mut(numbers.len()) {
                    let numbers = &mut numbers[..part.len()];
                    let small = |x: u64| i64::try_from(x).unwrap_or_default();
                    numbers.iter_mut().zip(&*part).for_each(|(number, &x)| *number = small(x));
                    integer(numbers);
                    for (x, &number) in part.iter_mut().zip(&*numbers) {
                        if i64::try_from(*x).is_ok() {
                            *x = number as u64;
                        }
                    }
                }
            };
            Ok(map_parts(x, &unsigned).into())
        }
        other if dtype.is_float() || dtype.is_bfloat() => {
            match converted(other, DataType::FLOAT64) {
                Some(Tensor::F64(x)) => convert_result(call, map_parts(x, double), dtype),
                _ => call.unsupported(dtype),
            }
        }
        other => match converted(other, DataType::INT64) {
            Some(Tensor::I64(x)) => convert_result(call, map_parts(x, integer), dtype),
            _ => call.unsupported(dtype),
        },
    }
}

fn sign(x: f64) -> f64 {
    match x {
        x if x > 0.0 => 1.0,
        x if x < 0.0 => -1.0,
        _ => 0.0,
    }
}

/// NaN persists only as the first operand: `max(x, 0)` is 0 for it in TVM.
fn relu(x: f64) -> f64 {
    if x > 0.0 { x } else { 0.0 }
}

/// The error function, exact up to the last few bits: a series near 0, a continued fraction
/// elsewhere.
pub(super) fn erf(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() {
        return x;
    }
    let value = if a < 2.5 {
        let (mut term, mut sum, mut n) = (a, a, 0.0);
        while term.abs() > sum * 1e-17 && n < 200.0 {
            n += 1.0;
            term *= -a * a / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else if a < 6.0 {
        let mut fraction = 0.0;
        for k in (1..=60).rev() {
            fraction = f64::from(k) / 2.0 / (a + fraction);
        }
        1.0 - (-a * a).exp() / ((a + fraction) * std::f64::consts::PI.sqrt())
    } else {
        1.0
    };
    value.copysign(x)
}

fn test(call: &mut Call<'_>, f: fn(f64) -> bool) -> Outcome {
    let tensor = call.tensor(0)?;
    let truths = mapped(&tensor.to_f64s(), f);
    call.build(tensor.shape(), truths)
}

fn logical_not(call: &mut Call<'_>) -> Outcome {
    let tensor = call.take_tensor(0)?;
    let dtype = tensor.dtype();
    match converted(tensor, DataType::BOOL) {
        Some(Tensor::Bool(x)) => convert_result(call, map(x, |x| !x), dtype),
        _ => call.unsupported(dtype),
    }
}

fn bitwise_not(call: &mut Call<'_>) -> Outcome {
    match call.take_tensor(0)? {
        Tensor::Bool(x) => Ok(map(x, |x| !x).into()),
        other => {
            let dtype = other.dtype();
            match converted(other, DataType::INT64) {
                Some(Tensor::I64(x)) => convert_result(call, map(x, |x| !x), dtype),
                _ => call.unsupported(dtype),
            }
        }
    }
}

fn leaky_relu(call: &mut Call<'_>) -> Outcome {
    let alpha = call.float("alpha")?;
    signed(
        call,
        |x| if x > 0 { x } else { (x as f64 * alpha) as i64 },
        |x| if x > 0.0 { x } else { x * alpha },
    )
}

/// Limits `x` to `high`, then to `low`; NaN becomes `high`.
fn within<T: PartialOrd>(x: T, low: T, high: T) -> T {
    let held = if x < high { x } else { high };
    if held > low { held } else { low }
}

fn clip(call: &mut Call<'_>) -> Outcome {
    let (low, high) = (call.float("a_min")?, call.float("a_max")?);
    Ok(match call.take_tensor(0)? {
        Tensor::F32(x) => {
            let (low, high) = (low as f32, high as f32);
            map(x, |x| x.min(high).max(low))
        }
        other => {
            // The bounds are cast to the data type first, with saturation.
            each_dtype!(other, x => {
                let (low, high) = (<T as Element>::nearest(low), <T as Element>::nearest(high));
                let mut x = own(x);
                if let Some(elements) = x.as_slice_mut() {
                    pieces_mut(elements).flatten().for_each(|x| *x = within(*x, low, high));
                }
                T::wrap(x)
            })
        }
    }
    .into())
}

/// `x * multiplier * 2^(shift - 31)`, rounded to nearest.
pub(super) fn multiply_fixed(x: i64, multiplier: i64, shift: i64) -> i64 {
    let (left, right) = (shift.clamp(0, 62), (-shift).clamp(0, 62));
    let total = 31 + right;
    let product = (i128::from(x) << left) * i128::from(multiplier);
    let rounded = (product + (1i128 << (total - 1))) >> total;
    rounded as i64
}

fn fixed_point_multiply(call: &mut Call<'_>) -> Outcome {
    let (multiplier, shift) = (call.int("multiplier")?, call.int("shift")?);
    signed(call, |x| multiply_fixed(x, multiplier, shift), |x| x)
}

/// Converts a tensor to another data type.
fn cast(call: &mut Call<'_>, dtype: DataType) -> Outcome {
    let tensor = call.take_tensor(0)?;
    match converted(tensor, dtype) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// Reinterprets the bits as another data type of the same width.
fn reinterpret(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("dtype");
    let tensor = call.tensor(0)?;
    if tensor.dtype().bytes() != dtype.bytes() {
        return Err(
            call.fault(format_args!("{} and {dtype} have different widths", tensor.dtype()))
        );
    }
    macro_rules! bytes {
        ($($variant:ident)*) => {
            match tensor {
                Tensor::Bool(array) => collected(watched(array.iter()).map(|&x| u8::from(x))),
                $(Tensor::$variant(array) => {
                    let mut bytes: Vec<u8> = with_capacity(tensor.bytes());
                    bytes.extend(watched(array.iter()).flat_map(|x| x.to_le_bytes()));
                    bytes
                })*
            }
        };
    }
    let bytes = bytes!(I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64);
    match Tensor::from_le_bytes(dtype, tensor.shape(), &bytes) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

fn invert_permutation(call: &mut Call<'_>) -> Outcome {
    let numbers = call.numbers(0)?;
    let mut out = repeated(0i64, numbers.len());
    for (at, &to) in watched(numbers.iter().enumerate()) {
        match usize::try_from(to).ok().and_then(|to| out.get_mut(to)) {
            Some(slot) => *slot = at as i64,
            None => return Err(call.fault(format_args!("index {to} is out of range"))),
        }
    }
    let tensor = call.tensor(0)?;
    match Tensor::from_i64s(tensor.dtype(), tensor.shape(), out) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(tensor.dtype()),
    }
}

fn fill_like(call: &mut Call<'_>, number: i64) -> Outcome {
    let tensor = call.tensor(0)?;
    each_dtype!(tensor, array => {
        let element = <T as Element>::from_i64(number);
        call.build(array.shape(), repeated(element, array.len()))
    })
}

fn multiply_per_axis(call: &mut Call<'_>) -> Outcome {
    let axes = call.ints("axes")?;
    let (left, right) = (call.bool("is_lshift_required"), call.bool("is_rshift_required"));
    let tensor = call.tensor(0)?;
    let Tensor::I32(data) = tensor else { return call.unsupported(tensor.dtype()) };
    let (factors, lefts, rights) = (call.numbers(1)?, call.numbers(2)?, call.numbers(3)?);
    let shape = tensor.shape().to_vec();
    let mut strides = repeated(0usize, shape.len());
    let mut step = 1;
    for &axis in axes.iter().rev() {
        let axis = call.axis(axis, shape.len())?;
        strides[axis] = step;
        step *= shape[axis];
    }
    let shift = |of: &[i64], at: usize| of.get(at).copied().unwrap_or_default();
    let out = collected(watched(data.indexed_iter()).map(|(index, &x)| {
        let at: usize = (0..shape.len()).map(|axis| index[axis] * strides[axis]).sum();
        let x = i128::from(x) << if left { shift(&lefts, at).clamp(0, 62) } else { 0 };
        let total = 31 + if right { shift(&rights, at).clamp(0, 62) } else { 0 };
        let product = x * i128::from(shift(&factors, at));
        ((product + (1i128 << (total - 1))) >> total) as i32
    }));
    call.build(&shape, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_function_in_single_precision() {
        let of = |x: f32| {
            let mut numbers = [x];
            wide::erf(&mut numbers);
            numbers[0]
        };
        for k in 0..400_000 {
            let x = (k - 200_000) as f32 / 40_000.0;
            for x in [x, x / 1e6] {
                let (found, wanted) = (of(x), erf(f64::from(x)));
                let apart = (f64::from(found) - wanted).abs();
                assert!(apart <= wanted.abs() * 1.2e-7, "erf({x}): {found} {wanted}");
            }
        }
        assert_eq!(of(-0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!((of(f32::INFINITY), of(-50.0)), (1.0, -1.0));
        assert!(of(f32::NAN).is_nan());
    }

    #[test]
    fn error_function() {
        for (x, wanted) in [
            (0.0, 0.0),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
            (-1.0, -0.842_700_792_949_714_9),
            (7.0, 1.0),
        ] {
            assert!((erf(x) - wanted).abs() < 1e-14, "erf({x}) = {}", erf(x));
        }
    }
}
