//! Functions and arithmetic on quantized integers.

use super::{
    super::broadcast::Broadcast,
    convert::{Scaling, quantized},
    *,
};

/// The scale and zero point of the result, in the arguments from `position` on.
pub(super) fn output(call: &Call<'_>, position: usize) -> Result<(f32, i32), Fault> {
    Ok((single(call, &scales(call, position)?)?, single(call, &zeros(call, position + 1)?)?))
}

/// Applies a function of real numbers to the quantized integers.
pub(super) fn unary(call: &mut Call<'_>, f: fn(f32) -> f32) -> Outcome {
    let (scale, zero) = output(call, 1)?;
    let (output_scale, output_zero) = output(call, 3)?;
    let data = call.tensor(0)?;
    let range = range(data.dtype());
    let one = |x: i32| {
        let real = x.wrapping_sub(zero) as f32 * scale;
        // Clamped to its range, this is an integer of the data type.
        quantized(f(real), output_scale, output_zero, range) as i32
    };
    let values = integers(data);
    let out = if data.dtype().bits == 8 {
        // Bytes use a lookup table, indexed by their bits.
        let table: Vec<i32> = (0..256)
            .map(|bits: i32| one(if data.dtype().is_int() { i32::from(bits as i8) } else { bits }))
            .collect();
        map_indexed(&values, |_, x| table[usize::from(x as u8)])
    } else {
        map_indexed(&values, |_, x| one(x))
    };
    Ok(saturated(call, data.shape(), out, data.dtype())?.into())
}

/// Converts an argument to the scale of the result.
fn operand(call: &Call<'_>, position: usize, scaling: &Scaling) -> Result<Vec<i32>, Fault> {
    let data = call.tensor(position)?;
    let values = integers(data);
    if scaling.is_identity() { Ok(values) } else { scaling.run(call, &values, data.shape()) }
}

/// Applies `f` to the pairs of elements of the first two arguments, with broadcasting.
fn zip(
    call: &Call<'_>,
    x: &[i32],
    y: &[i32],
    f: impl Fn(i32, i32) -> i32,
) -> Result<(Vec<usize>, Vec<i32>), Fault> {
    let (a, b) = (call.tensor(0)?.shape(), call.tensor(1)?.shape());
    let Some(walk) = Broadcast::of([a, b]) else {
        return Err(call.fault(format_args!("shapes {a:?} and {b:?} cannot be broadcast")));
    };
    call.allow(&walk.shape, DataType::INT32)?;
    let mut out = with_capacity(walk.shape.iter().product());
    walk.rows(&mut |_, length, [(i, di), (j, dj)]| {
        out.extend((0..length).map(|k| f(x[i + k * di], y[j + k * dj])));
    });
    Ok((walk.shape, out))
}

/// Computes the sum or difference of both arguments in the scale of the result. `back` removes the zero
/// point that is counted twice in a sum, or adds the one that cancels in a difference.
pub(super) fn sum(
    call: &mut Call<'_>,
    f: fn(i32, i32) -> i32,
    back: fn(i32, i32) -> i32,
) -> Outcome {
    let target = output(call, 6)?;
    let left = Scaling::of(call, 2, target, call.int("lhs_axis")?)?;
    let right = Scaling::of(call, 4, target, call.int("rhs_axis")?)?;
    let (x, y) = (operand(call, 0, &left)?, operand(call, 1, &right)?);
    let (shape, out) = zip(call, &x, &y, |x, y| back(f(x, y), target.1))?;
    Ok(saturated(call, &shape, out, call.tensor(0)?.dtype())?.into())
}

/// The product, whose scale is the product of both scales.
pub(super) fn product(call: &mut Call<'_>) -> Outcome {
    let (output_scale, output_zero) = output(call, 6)?;
    let (left, right) = (scales(call, 2)?, scales(call, 4)?);
    let (left_axis, right_axis) = (call.int("lhs_axis")?, call.int("rhs_axis")?);
    let count = left.len().max(right.len());
    if count > 1 && left_axis != right_axis {
        return Err(call.fault("`lhs_axis` and `rhs_axis` must be the same"));
    }
    let shifted = |position: usize, axis: i64| -> Result<Vec<i32>, Fault> {
        let data = call.tensor(position)?;
        let zero = PerChannel::new(call, zeros(call, 2 * position + 3)?, data.shape(), axis)?;
        Ok(map_indexed(&integers(data), |place, x| x.wrapping_sub(zero.at(place))))
    };
    let (x, y) = (shifted(0, left_axis)?, shifted(1, right_axis)?);
    let (shape, out) = zip(call, &x, &y, i32::wrapping_mul)?;
    let pick = |of: &[f32], at: usize| of.get(at).or(of.first()).copied().unwrap_or_default();
    let scaling = Scaling {
        input_scales: collected((0..count).map(|at| pick(&left, at) * pick(&right, at))),
        axis: left_axis,
        ..Scaling::to(output_scale, output_zero)
    };
    let out = scaling.run(call, &out, &shape)?;
    Ok(saturated(call, &shape, out, call.tensor(0)?.dtype())?.into())
}

/// `qnn.leaky_relu`: elements below the zero point are scaled towards the zero point of the result.
pub(super) fn leaky_relu(call: &mut Call<'_>) -> Outcome {
    let alpha = call.float("alpha")?;
    let zero = single(call, &zeros(call, 2)?)?;
    let target = output(call, 3)?;
    let scaled = operand(call, 0, &Scaling::of(call, 1, target, -1)?)?;
    let (slope, rest) = (fixed_point(alpha), fixed_point(1.0 - alpha));
    let offset = multiply_upward(target.1, rest);
    let data = call.tensor(0)?;
    let below: Vec<bool> = mapped(&integers(data), |x| x < zero);
    let out = map_indexed(&scaled, |place, x| {
        if below[place] { multiply_upward(x, slope).wrapping_add(offset) } else { x }
    });
    Ok(saturated(call, data.shape(), out, data.dtype())?.into())
}

/// `qnn.softmax` with integers only: powers of 2, interpolated linearly.
pub(super) fn softmax(call: &mut Call<'_>) -> Outcome {
    let (scale, zero) = output(call, 1)?;
    let target = output(call, 3)?;
    if !(scale > 0.0 && scale <= 1.0) {
        return Err(call.fault("the scale of the data must be greater than 0 and at most 1"));
    }
    let data = call.tensor(0)?;
    let shape = data.shape();
    let axis = call.axis(call.int("axis")?, shape.len())?;
    let (size, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let values = integers(data);
    let unit = (1.0 / scale).round() as i32;
    let mut out = repeated(0i32, values.len());
    let lines = values.len().checked_div(size).unwrap_or(0);
    for line in 0..lines {
        spend(8 * size);
        let start = line / inner * size * inner + line % inner;
        let places = || (0..size).map(|k| start + k * inner);
        let largest = places().map(|at| values[at].wrapping_sub(zero)).max().unwrap_or(0);
        // The distance to the maximum as a power of 2 and a remainder.
        let mut parts: Vec<(i32, i32)> = with_capacity(size);
        for at in places() {
            let x = values[at].wrapping_sub(zero).wrapping_sub(largest);
            let x = x.wrapping_add(x >> 1).wrapping_sub(x >> 4);
            let halvings = x.wrapping_div(-unit).clamp(0, 20);
            let rest = x.wrapping_add(halvings.wrapping_mul(unit));
            parts.push((halvings, (rest >> 1).wrapping_add(unit)));
        }
        let most = parts.iter().map(|part| part.0).max().unwrap_or(0);
        let power = |&(halvings, base): &(i32, i32)| base.wrapping_shl((most - halvings) as u32);
        let sum = parts.iter().map(power).fold(0, i32::wrapping_add);
        let factor = (1i32 << 30).checked_div(sum).unwrap_or(0);
        for (at, part) in places().zip(&parts) {
            out[at] = factor.wrapping_mul(power(part)) >> 23;
        }
    }
    let scaling = Scaling { input_scales: vec![1.0 / 128.0], ..Scaling::to(target.0, target.1) };
    let out = scaling.run(call, &out, shape)?;
    Ok(saturated(call, shape, out, DataType::INT8)?.into())
}
