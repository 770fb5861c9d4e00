//! Quantization, dequantization, and conversion between scales.

use super::*;
use crate::convert::converted;

/// The conversion from one scale to another.
pub(super) struct Scaling {
    pub(super) input_scales: Vec<f32>,
    pub(super) input_zeros: Vec<i32>,
    pub(super) output_scale: f32,
    pub(super) output_zero: i32,
    /// The axis that the scales or zero points belong to.
    pub(super) axis: i64,
    pub(super) rounding: Rounding,
    pub(super) compute: Compute,
}

/// The rounding of halves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    Upward,
    /// Away from zero.
    ToNearest,
}

/// The intermediate type of `qnn.requantize`.
#[derive(Clone, Copy)]
pub(super) enum Compute {
    Integers,
    Single,
    Double,
}

impl Scaling {
    /// From the scale and zero point in the arguments at `position` to another pair.
    pub(super) fn of(
        call: &Call<'_>,
        position: usize,
        (output_scale, output_zero): (f32, i32),
        axis: i64,
    ) -> Result<Scaling, Fault> {
        Ok(Scaling {
            input_scales: scales(call, position)?,
            input_zeros: zeros(call, position + 1)?,
            axis,
            ..Scaling::to(output_scale, output_zero)
        })
    }

    /// From the unscaled integers, as used inside of operators.
    pub(super) fn to(output_scale: f32, output_zero: i32) -> Scaling {
        Scaling {
            input_scales: vec![1.0],
            input_zeros: vec![0],
            output_scale,
            output_zero,
            axis: -1,
            rounding: Rounding::Upward,
            compute: Compute::Integers,
        }
    }

    /// Returns true if the conversion changes nothing.
    pub(super) fn is_identity(&self) -> bool {
        self.input_scales == [self.output_scale] && self.input_zeros == [self.output_zero]
    }

    /// Converts the integers without saturation.
    pub(super) fn run(
        &self,
        call: &Call<'_>,
        data: &[i32],
        shape: &[usize],
    ) -> Result<Vec<i32>, Fault> {
        if self.output_scale == 0.0 {
            return Err(call.fault("the scale of the result is 0"));
        }
        let zero = PerChannel::new(call, self.input_zeros.clone(), shape, self.axis)?;
        // Equal scales need no multiplication.
        let equal = self.input_scales == [self.output_scale];
        let ratio = |&scale: &f32| f64::from(scale) / f64::from(self.output_scale);
        let ratios = collected(self.input_scales.iter().map(ratio));
        let out_zero = self.output_zero;
        let out = match self.compute {
            Compute::Integers => {
                let fixed = mapped(&ratios, fixed_point);
                let fixed = PerChannel::new(call, fixed, shape, self.axis)?;
                let single = fixed.values.len() == 1;
                map_indexed(data, |place, x| {
                    let x = x.wrapping_sub(zero.at(place));
                    let x = match self.rounding {
                        _ if equal => x,
                        Rounding::Upward if single => multiply_upward(x, fixed.at(place)),
                        Rounding::Upward => multiply_fixed(x, fixed.at(place), false),
                        Rounding::ToNearest => multiply_fixed(x, fixed.at(place), true),
                    };
                    x.wrapping_add(out_zero)
                })
            }
            Compute::Single => {
                let ratios = mapped(&ratios, |ratio| ratio as f32);
                let ratios = PerChannel::new(call, ratios, shape, self.axis)?;
                map_indexed(data, |place, x| {
                    let x = x as f32 - zero.at(place) as f32;
                    let x = if equal { x } else { x * ratios.at(place) } + out_zero as f32;
                    match self.rounding {
                        Rounding::Upward => truncate(f64::from((x + 0.5).floor())),
                        // The sum is rounded, too: 12345679.5 to even.
                        Rounding::ToNearest => {
                            truncate(f64::from((x.abs() + 0.5).floor().copysign(x)))
                        }
                    }
                })
            }
            Compute::Double => {
                let ratios = PerChannel::new(call, ratios, shape, self.axis)?;
                map_indexed(data, |place, x| {
                    let x = f64::from(x) - f64::from(zero.at(place));
                    let x = if equal { x } else { x * ratios.at(place) } + f64::from(out_zero);
                    truncate(match self.rounding {
                        Rounding::Upward => (x + 0.5).floor(),
                        Rounding::ToNearest => (x.abs() + 0.5).floor().copysign(x),
                    })
                })
            }
        };
        Ok(out)
    }
}

/// Converts a whole number to a 32 bit integer. Numbers out of range become the minimum, as in
/// hardware.
fn truncate(x: f64) -> i32 {
    let within = x >= f64::from(i32::MIN) && x <= f64::from(i32::MAX);
    if within { x as i32 } else { i32::MIN }
}

/// `qnn.requantize`
pub(super) fn requantize(call: &mut Call<'_>) -> Outcome {
    let rounding = match call.str("rounding") {
        "" | "None" | "UPWARD" => Rounding::Upward,
        "TONEAREST" => Rounding::ToNearest,
        other => {
            return Err(call.fault(format_args!(
                "the rounding must be \"UPWARD\" or \"TONEAREST\", not \"{other}\""
            )));
        }
    };
    let compute = match call.str("compute_dtype") {
        "" | "None" | "int64" => Compute::Integers,
        "float32" => Compute::Single,
        "float64" => Compute::Double,
        other => {
            return Err(call.fault(format_args!(
                "the intermediate type must be \"int64\", \"float32\" or \"float64\", not \"{other}\""
            )));
        }
    };
    let dtype = call.result_dtype()?;
    let output = (single(call, &scales(call, 3)?)?, single(call, &zeros(call, 4)?)?);
    let scaling = Scaling { rounding, compute, ..Scaling::of(call, 1, output, call.int("axis")?)? };
    let data = call.tensor(0)?;
    let out = scaling.run(call, &integers(data), data.shape())?;
    Ok(saturated(call, data.shape(), out, dtype)?.into())
}

/// Rounds `x / scale` to the nearest integer, halves away from zero, adds the zero point and clamps
/// to the range of the data type.
pub(super) fn quantized(x: f32, scale: f32, zero: i32, (low, high): (i32, i32)) -> f32 {
    ((x / scale).round() + zero as f32).min(high as f32).max(low as f32)
}

/// `qnn.quantize`
pub(super) fn quantize(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("out_dtype");
    let axis = call.int("axis")?;
    let data = call.tensor(0)?;
    let shape = data.shape();
    let scale = PerChannel::new(call, scales(call, 1)?, shape, axis)?;
    let zero = PerChannel::new(call, zeros(call, 2)?, shape, axis)?;
    let range = range(dtype);
    let out = map_indexed(&data.to_f32s(), |place, x| {
        quantized(x, scale.at(place), zero.at(place), range)
    });
    match f32::tensor(shape, out).and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// `qnn.dequantize`
pub(super) fn dequantize(call: &mut Call<'_>) -> Outcome {
    let dtype = call.result_dtype()?;
    let axis = call.int("axis")?;
    let data = call.tensor(0)?;
    let shape = data.shape();
    let scale = PerChannel::new(call, scales(call, 1)?, shape, axis)?;
    let zero = PerChannel::new(call, zeros(call, 2)?, shape, axis)?;
    let highest = match dtype {
        DataType::FLOAT16 => half::f16::MAX.to_f32(),
        _ => f32::INFINITY,
    };
    let out = map_indexed(&integers(data), |place, x| {
        let x = x.wrapping_sub(zero.at(place)) as f32 * scale.at(place);
        x.min(highest).max(-highest)
    });
    match f32::tensor(shape, out).and_then(|tensor| converted(tensor, dtype)) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(dtype),
    }
}

/// The data type argument of the simulating operators.
fn simulated_range(call: &Call<'_>) -> Result<Option<(i32, i32)>, Fault> {
    Ok(match call.numbers(1)?.first() {
        Some(1) => Some(range(DataType::INT8)),
        Some(2) => Some(range(DataType::UINT8)),
        Some(3) => Some(range(DataType::INT32)),
        _ => None,
    })
}

/// `qnn.simulated_quantize`: the results of quantization as real numbers. The data type is given by
/// a code: 1 is int8, 2 uint8, 3 int32, and others leave the data unchanged.
pub(super) fn simulated_quantize(call: &mut Call<'_>) -> Outcome {
    call.axis(call.int("axis")?, call.tensor(0)?.rank())?;
    let Some(range) = simulated_range(call)? else { return Ok(call.take(0)) };
    simulated(call, |x, scale, zero| {
        ((x / scale).round() + zero).min(range.1 as f32).max(range.0 as f32)
    })
}

/// `qnn.simulated_dequantize`
pub(super) fn simulated_dequantize(call: &mut Call<'_>) -> Outcome {
    call.axis(call.int("axis")?, call.tensor(0)?.rank())?;
    if simulated_range(call)?.is_none() {
        return Ok(call.take(0));
    }
    simulated(call, |x, scale, zero| (x - zero) * scale)
}

fn simulated(call: &Call<'_>, f: impl Fn(f32, f32, f32) -> f32 + Sync) -> Outcome {
    let data = call.tensor(0)?;
    let shape = data.shape();
    let axis = call.axis(call.int("axis")?, shape.len())?;
    // If there are fewer values than channels, they are repeated.
    let inner: usize = shape[axis + 1..].iter().product();
    let (scales, zeros) = (scales(call, 2)?, call.tensor(3)?.to_f32s());
    if scales.is_empty() || zeros.is_empty() {
        return Err(call.fault("the scale or the zero point is empty"));
    }
    let size = shape[axis].max(1);
    let out = map_indexed(&data.to_f32s(), |place, x| {
        let channel = place / inner.max(1) % size;
        f(x, scales[channel % scales.len()], zeros[channel % zeros.len()])
    });
    match f32::tensor(shape, out).and_then(|tensor| converted(tensor, data.dtype())) {
        Some(tensor) => Ok(tensor.into()),
        None => call.unsupported(data.dtype()),
    }
}
