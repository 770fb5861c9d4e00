//! Quantized operators: integers that represent reals by a scale and a zero point,
//! `real = scale · (quantized − zero_point)`.
//!
//! Most of them check their scales and zero points, and use the type relation of the operator on
//! reals for the shape.

pub(crate) mod convert;
pub(crate) mod elementwise;
pub(crate) mod linear;
pub(crate) mod tensors;

use types::Place;

use crate::prelude::*;

/// The quantized data types of `quantize` and `dequantize`: integers of up to 32 bits.
const QUANTIZED: &[DataType] =
    &[DataType::INT8, DataType::UINT8, DataType::INT16, DataType::UINT16, DataType::INT32];

/// The 8-bit integers.
const BYTES: &[DataType] = &[DataType::INT8, DataType::UINT8];

/// The scale by which reals are divided.
const SCALE: &[(&str, Domain)] = &[("output_scale", Domain::NonZero)];

/// Applies the type relation of the operator on reals.
fn as_in(call: &mut Call<'_>, operator: &str) -> Outcome {
    match crate::find(operator).and_then(|operator| operator.rule) {
        Some((_, solve)) => solve(call),
        None => Err(Halt::Silent),
    }
}

/// Returns the multiply-accumulates of the operator on reals.
fn cost_as_in(call: &CostCall<'_>, operator: &str) -> Option<u64> {
    match crate::find(operator)?.cost {
        Cost::Macs(count) => count(call),
        _ => None,
    }
}

/// Waits until the arguments in `positions` are known, of whatever type.
fn known(call: &Call<'_>, positions: std::ops::Range<usize>) -> Outcome {
    for position in positions {
        match call.ty(position) {
            Type::Var(_) => return Err(Halt::NotYet),
            Type::Error => return Err(Halt::Silent),
            _ => {}
        }
    }
    Ok(())
}

/// Checks that an argument has one of the given data types.
fn data_of(call: &Call<'_>, position: usize, dtypes: &[DataType]) -> Outcome {
    let found = call.tensor(position)?.dtype;
    if dtypes.contains(&found) {
        return Ok(());
    }
    let (operator, name) = (call.operator(), call.name(position));
    let expected = alternatives(dtypes);
    let reason =
        Reason::new(Code::DtypeMismatch, text!("`{operator}` does not accept {found} as {name}"))
            .rule(text!("{name} must be {expected}"))
            .argument(position, found);
    let quantizes = dtypes.iter().all(|dtype| !dtype.is_float());
    if quantizes && found.is_float() {
        reason.help("quantize it first: `qnn.quantize(…)`").fail()
    } else if !quantizes && !found.is_float() {
        reason.help("dequantize it first: `qnn.dequantize(…)` or `cast(…)`").fail()
    } else {
        reason.fail()
    }
}

/// Returns the attribute `out_dtype`, which must be one of `dtypes`.
fn out_dtype(call: &Call<'_>, dtypes: &[DataType]) -> Result<DataType, Halt> {
    let found = call.attrs().dtype("out_dtype");
    if dtypes.contains(&found) {
        return Ok(found);
    }
    let operator = call.operator();
    let expected = alternatives(dtypes);
    let first = dtypes.first().map_or_else(Text::default, |dtype| text!("\"{dtype}\""));
    let message = if found.is_void() {
        text!("`{operator}` requires the attribute `out_dtype`: {expected}")
    } else {
        text!("`{operator}` does not support {found} as its data type")
    };
    let reason = Reason::new(Code::AttributeValue, message)
        .rule(text!("`out_dtype` must be {expected}"))
        .help(text!("write `out_dtype={first}`, for example"));
    if found.is_void() {
        return reason.mark(Place::Operator, None, "no `out_dtype`").fail();
    }
    reason.attribute("out_dtype", text!("{found}")).fail()
}

/// Checks a scale or zero point for the whole tensor: a scalar.
fn scalar(call: &mut Call<'_>, position: usize, dtype: DataType) -> Outcome {
    let found = parameter(call, position, dtype)?;
    if found.rank() == 0 {
        return Ok(());
    }
    let (operator, name) = (call.operator(), call.name(position));
    Reason::new(
        Code::RankMismatch,
        text!(
            "`{operator}`: {name} must be a scalar, but it has the shape `{}`",
            shape_text(&found.shape)
        ),
    )
    .rule(text!("{name} applies to the whole tensor: a scalar of type {dtype}"))
    .argument(position, text!("shape {}", shape_text(&found.shape)))
    .fail()
}

/// Checks the pairs of scale and zero point from `position` on: scalars.
fn scalar_pairs(call: &mut Call<'_>, position: usize, pairs: usize) -> Outcome {
    for pair in 0..pairs {
        scalar(call, position + 2 * pair, DataType::FLOAT32)?;
        scalar(call, position + 2 * pair + 1, DataType::INT32)?;
    }
    Ok(())
}

/// Returns a scale or zero point, after a check of its data type.
fn parameter(
    call: &mut Call<'_>,
    position: usize,
    dtype: DataType,
) -> Result<std::sync::Arc<TensorType>, Halt> {
    if let Type::OpenTensor(_) = call.ty(position) {
        // An unsuffixed literal has the required data type.
        call.assign(position, Type::scalar(dtype))?;
    }
    let found = call.require_tensor(position)?;
    if found.dtype == dtype {
        return Ok(found);
    }
    let (operator, name, was) = (call.operator(), call.name(position), found.dtype);
    let kind = if dtype.is_float() { "scales" } else { "zero points" };
    Reason::new(Code::DtypeMismatch, text!("`{operator}`: {name} is {was}, but it must be {dtype}"))
        .rule(text!("{kind} are {dtype}"))
        .argument(position, was)
        .help(text!("cast it: `cast(…, dtype=\"{dtype}\")`"))
        .fail()
}

/// The channels of a per-channel scale or zero point.
struct Channels {
    /// The number of channels.
    count: Dim,
    /// The argument and its axis that has the channels.
    axis: Option<(usize, usize)>,
    /// The attribute with the number of channels.
    attr: Option<&'static str>,
}

impl Channels {
    /// Returns the channels on the axis `attr` of the argument at `position`. A scalar has one
    /// channel.
    fn of_axis(call: &Call<'_>, attr: &'static str, position: usize) -> Result<Channels, Halt> {
        let tensor = call.tensor(position)?;
        let Some(axis) = call.attrs().int(attr) else { return Err(Halt::Silent) };
        let rank = tensor.rank();
        if rank == 0 {
            if axis > 0 {
                return axis_out_of_range(call, attr, axis, position, rank);
            }
            return Ok(Channels { count: Dim::known(1), axis: None, attr: Some(attr) });
        }
        match normal_axis(axis, rank) {
            Some(axis) => {
                let count = tensor.shape[axis].clone();
                Ok(Channels { count, axis: Some((position, axis)), attr: Some(attr) })
            }
            None => axis_out_of_range(call, attr, axis, position, rank),
        }
    }

    /// Checks that the argument at `position` is a scalar, or has one value per channel.
    fn parameter(&self, call: &mut Call<'_>, position: usize, dtype: DataType) -> Outcome {
        let found = parameter(call, position, dtype)?;
        if found.rank() == 0 {
            return Ok(());
        }
        let count = &self.count;
        let (operator, name) = (call.operator(), call.name(position));
        let source = match self.axis {
            Some((of, axis)) => text!("axis {axis} of {} has {count}", call.name(of)),
            None => match self.attr {
                Some(attr) => text!("`{attr}` is {count}"),
                None => text!("there are {count} channels"),
            },
        };
        let rule = text!("{name} is a scalar, or has one value for each channel: {source}");
        if found.rank() != 1 {
            return Reason::new(
                Code::RankMismatch,
                text!(
                    "`{operator}`: {name} of shape `{}` is neither a scalar nor one value for \
                     each channel",
                    shape_text(&found.shape)
                ),
            )
            .rule(rule)
            .argument(position, axes(found.rank()))
            .fail();
        }
        let values = &found.shape[0];
        if may_equal(values, count) {
            return call.assign(position, TensorType::new([count.clone()], dtype));
        }
        let mut reason = Reason::new(
            Code::ShapeMismatch,
            text!(
                "`{operator}`: {name} has {} for {}",
                counted(values, "value"),
                counted(count, "channel")
            ),
        )
        .rule(rule)
        .axis(position, 0, counted(values, "value"));
        if let Some((of, axis)) = self.axis {
            reason = reason.axis(of, axis, counted(count, "channel"));
            if let (Some(attr), Type::Tensor(tensor)) = (self.attr, call.ty(of)) {
                let fitting =
                    tensor.shape.iter().position(|size| values.equals(size) == Some(true));
                if let Some(fitting) = fitting {
                    reason = reason
                        .help(text!("axis {fitting} of {} has {values}", call.name(of)))
                        .fix(attr, fitting);
                }
            }
        } else if let Some(attr) = self.attr {
            reason = reason.attribute(attr, text!("{count}"));
        }
        reason.fail()
    }
}

/// `1 value`, `3 values`
fn counted(count: &Dim, what: &str) -> Text {
    if count.is(1) { text!("1 {what}") } else { text!("{count} {what}s") }
}
