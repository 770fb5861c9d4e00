//! Padding and dilation.

use crate::prelude::*;

pub(super) fn pad(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let mut shape = Shape::new();
    for (axis, (before, after)) in widths(call, &data)?.into_iter().enumerate() {
        let size = &data.shape[axis];
        let padded = match before.checked_add(after) {
            Some(width) => size + width,
            None => Dim::Any,
        };
        if padded.as_known().is_some_and(|size| size < 0) {
            return Reason::new(
                Code::AttributeValue,
                text!(
                    "`{}`: axis {axis} has {size} elements, but `pad_width` removes {}",
                    call.operator(),
                    before.saturating_add(after).saturating_neg()
                ),
            )
            .rule(text!("a size must not become negative: {size} + {before} + {after} = {padded}"))
            .attribute("pad_width", text!("[{before}, {after}] for axis {axis}"))
            .axis(0, axis, size)
            .fail();
        }
        let mode = call.attrs().str("pad_mode");
        call.lenient(enough_to_mirror(call, mode, (axis, size), (before, after)))?;
        shape.push(padded);
    }
    call.output_tensor(shape, data.dtype)
}

pub(super) fn mirror_pad(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let mut shape = Shape::new();
    for (axis, (before, after)) in widths(call, &data)?.into_iter().enumerate() {
        if before < 0 || after < 0 {
            return Reason::new(
                Code::AttributeValue,
                text!(
                    "`{}`: `pad_width` is [{before}, {after}] on axis {axis}, which is negative",
                    call.operator()
                ),
            )
            .rule("mirrored padding cannot be negative")
            .attribute("pad_width", text!("[{before}, {after}] for axis {axis}"))
            .fail();
        }
        let mode = call.attrs().str("mode");
        call.lenient(enough_to_mirror(call, mode, (axis, &data.shape[axis]), (before, after)))?;
        shape.push(&data.shape[axis] + before.saturating_add(after));
    }
    call.output_tensor(shape, data.dtype)
}

/// Checks that an axis has enough elements to be repeated or mirrored on either side.
fn enough_to_mirror(
    call: &Call<'_>,
    mode: &str,
    (axis, size): (usize, &Dim),
    (before, after): (i64, i64),
) -> Outcome {
    let Some(known) = size.as_known() else { return Ok(()) };
    // The number of available elements on each side, with or without the border.
    let most = match mode {
        "edge" if known > 0 => return Ok(()),
        "edge" => 0,
        "reflect" | "REFLECT" => known.saturating_sub(1).max(0),
        "SYMMETRIC" => known,
        _ => return Ok(()),
    };
    if before.max(after) <= most || known.saturating_add(before).saturating_add(after) <= 0 {
        return Ok(());
    }
    fault(
        call,
        Code::AttributeValue,
        text!(
            "`pad_width` is [{before}, {after}] on axis {axis} of {}, which has size {size}",
            call.name(0)
        ),
    )
    .rule(text!("with \"{mode}\" at most {most} can be added on each side of the axis"))
    .attribute("pad_width", text!("[{before}, {after}] for axis {axis}"))
    .axis(0, axis, size)
    .fail()
}

/// Returns the pairs of `pad_width`, one for each axis.
fn widths(call: &Call<'_>, data: &TensorType) -> Result<Vec<(i64, i64)>, Halt> {
    let Some(pairs) = call.attrs().get("pad_width").as_list() else { return Err(Halt::Silent) };
    let (operator, rank) = (call.operator(), data.rank());
    if pairs.len() != rank {
        let number = pairs.len();
        let reason = Reason::new(
            Code::AttributeLength,
            text!(
                "`{operator}`: `pad_width` has {}, {} has {}",
                count(number, "pair", "pairs"),
                call.name(0),
                axes(rank)
            ),
        )
        .rule("`pad_width` has one pair for each axis: before and after")
        .attribute("pad_width", count(number, "pair", "pairs"))
        .argument(0, axes(rank));
        // The most likely intent is to pad the last axes.
        if pairs.len() < rank && number > 0 {
            return reason
                .help("write `[0, 0]` for each axis that is not padded, including the first ones")
                .fail();
        }
        return reason.fail();
    }
    pairs.iter().enumerate().map(|(axis, pair)| width(call, axis, pair)).collect()
}

fn width(call: &Call<'_>, axis: usize, pair: &AttrValue) -> Result<(i64, i64), Halt> {
    let Some(values) = pair.as_list() else { return Err(Halt::Silent) };
    let [before, after] = values else {
        return not_a_pair(call, "pad_width", axis, values.len());
    };
    match (before.as_int(), after.as_int()) {
        (Some(before), Some(after)) => Ok((before, after)),
        _ if values.iter().any(|value| matches!(value, AttrValue::Error)) => Err(Halt::Silent),
        _ => Reason::new(
            Code::AttributeValue,
            text!("`{}`: `pad_width` on axis {axis} must be two integers", call.operator()),
        )
        .attribute("pad_width", text!("the pair of axis {axis}"))
        .fail(),
    }
}

/// The failure that entry `axis` of a list of pairs has another length.
pub(super) fn not_a_pair<T>(
    call: &Call<'_>,
    name: &'static str,
    axis: usize,
    found: usize,
) -> Result<T, Halt> {
    let values = count(found, "value", "values");
    Reason::new(
        Code::AttributeLength,
        text!("`{}`: entry {axis} of `{name}` has {values}, expected 2", call.operator()),
    )
    .rule(text!("each entry of `{name}` is a pair: before and after"))
    .attribute(name, text!("{values} in entry {axis}"))
    .fail()
}

pub(super) fn dilate(call: &mut Call<'_>) -> Outcome {
    let x = call.tensor(0)?;
    if call.attrs().schema().is_none() {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}` requires the attribute `strides`", call.operator()),
        )
        .rule("`strides` has one value for each axis")
        .attribute("strides", "missing")
        .fail();
    }
    let strides = list(call, "strides")?;
    let (rank, number) = (x.rank(), strides.len());
    if rank != number {
        let values = count(number, "value", "values");
        return Reason::new(
            Code::AttributeLength,
            text!(
                "`{}`: `strides` has {values}, {} has {}",
                call.operator(),
                call.name(0),
                axes(rank)
            ),
        )
        .rule("`strides` has one value for each axis, 1 for no change")
        .attribute("strides", values)
        .argument(0, axes(rank))
        .fail();
    }
    call.lenient(at_least(call, "strides", 1))?;
    let dilated = x.shape.iter().zip(strides).map(|(size, stride)| (size - 1) * stride + 1);
    let shape: Shape = dilated.collect();
    call.output_tensor(shape, x.dtype)
}
