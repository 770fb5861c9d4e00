//! Padding and dilation.

use super::pairs;
use crate::{
    convert::converted,
    families::{
        index::{advance, strides},
        prelude::*,
    },
};

/// The sources of the elements of an axis of the result: runs of consecutive elements with their
/// start and length, and runs of new elements without a source.
#[derive(Default)]
struct Sources {
    runs: Vec<(Option<usize>, usize)>,
    count: usize,
}

impl Sources {
    fn of(each: impl Iterator<Item = Result<Option<usize>, Fault>>) -> Result<Sources, Fault> {
        let mut all = Sources::default();
        for source in watched(each) {
            let source = source?;
            all.count += 1;
            match all.runs.last_mut() {
                Some((Some(from), length)) if source == Some(*from + *length) => *length += 1,
                Some((None, length)) if source.is_none() => *length += 1,
                _ => push(&mut all.runs, (source, 1)),
            }
        }
        Ok(all)
    }

    /// The sources one by one.
    fn each(&self) -> Vec<Option<usize>> {
        let mut each = with_capacity(self.count);
        for &(from, length) in &self.runs {
            let run = watched(0..length).map(|k| from.map(|from| from + k));
            each.extend(run);
        }
        each
    }
}

pub(super) fn pad(call: &mut Call<'_>) -> Outcome {
    let widths = pairs(call, "pad_width")?;
    pad_by(call, &widths, 1)
}

/// Pads by the pairs of widths with the value of the argument at `position`.
pub(in crate::families) fn pad_by(
    call: &mut Call<'_>,
    widths: &[(i64, i64)],
    position: usize,
) -> Outcome {
    let mode = match call.str("pad_mode") {
        "" => "constant",
        mode => mode,
    };
    let value = call.tensor(position)?.clone();
    Ok(padded(call, call.tensor(0)?, widths, value, mode)?.into())
}

/// Adds elements at both ends of each axis; negative widths remove some.
pub(super) fn padded(
    call: &Call<'_>,
    data: &Tensor,
    widths: &[(i64, i64)],
    value: Tensor,
    mode: &str,
) -> Result<Tensor, Fault> {
    if widths.len() != data.rank() {
        return Err(call.fault(format_args!(
            "`pad_width` has {} pairs for {} axes",
            widths.len(),
            data.rank()
        )));
    }
    let mut sources: Vec<Sources> = with_capacity(data.rank());
    let mut shape = with_capacity(data.rank());
    for (axis, (&size, &(before, after))) in data.shape().iter().zip(widths).enumerate() {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let length = size.saturating_add(before).saturating_add(after);
        let Ok(count) = usize::try_from(length) else {
            return Err(call.fault(format_args!("axis {axis} would have size {length}")));
        };
        shape.push(count);
        call.allow(&shape, data.dtype())?;
        let source = |at: i64| -> Result<Option<usize>, Fault> {
            let from = at - before;
            let from = match mode {
                "edge" => from.clamp(0, (size - 1).max(0)),
                "reflect" if from < 0 => -from,
                "reflect" if from >= size => 2 * (size - 1) - from,
                _ => from,
            };
            match usize::try_from(from) {
                Ok(from) if (from as i64) < size => Ok(Some(from)),
                _ if mode == "constant" => Ok(None),
                _ => Err(call.fault(format_args!(
                    "axis {axis} has {size} elements, too few for {before} and {after} more"
                ))),
            }
        };
        sources.push(Sources::of((0..length).map(source))?);
    }
    if !matches!(mode, "constant" | "edge" | "reflect") {
        return Err(call.fault(format_args!("unknown `pad_mode` \"{mode}\"")));
    }
    spread(call, data, &sources, value)
}

/// The tensor whose element at (i, j, …) comes from the sources of i, j, … along each axis, or is
/// `value` if one of them has none.
fn spread(
    call: &Call<'_>,
    data: &Tensor,
    sources: &[Sources],
    value: Tensor,
) -> Result<Tensor, Fault> {
    let shape: Vec<usize> = sources.iter().map(|axis| axis.count).collect();
    call.allow(&shape, data.dtype())?;
    let Some(value) = converted(value, data.dtype()) else {
        return call.unsupported(data.dtype());
    };
    if shape.contains(&0) {
        return call.reshaped(empty_like(call, data)?, &shape);
    }
    let steps = strides(data.shape());
    let Some((last, outer)) = sources.split_last() else { return Ok(data.clone()) };
    let outer: Vec<Vec<Option<usize>>> = outer.iter().map(Sources::each).collect();
    let rows: usize = shape[..outer.len()].iter().product();
    // The start of each row of the result in the data; `None` if all of it is new.
    let start = |index: &[usize]| -> Option<usize> {
        let mut start = 0;
        for ((source, &at), step) in outer.iter().zip(index).zip(&steps) {
            start += source[at]? * step;
        }
        Some(start)
    };
    let made = each_dtype!(data, data => {
        let from = data.as_slice().unwrap_or_default();
        let value: T =
            T::unwrap(&value).and_then(|value| value.first().copied()).unwrap_or_default();
        let mut out: Vec<T> = with_capacity(shape.iter().product());
        let mut index = repeated(0usize, outer.len());
        for _ in 0..rows {
            let row = start(&index);
            for &(source, length) in &last.runs {
                let found = row.zip(source).and_then(|(row, at)| from.get(row + at..row + at + length));
                spend(1);
                match found {
                    Some(found) => pieces(found).for_each(|piece| out.extend_from_slice(piece)),
                    None => ranges(length)
                        .for_each(|piece| out.extend(std::iter::repeat_n(value, piece.len()))),
                }
            }
            advance(&mut index, &shape[..outer.len()]);
        }
        T::tensor(&shape, out)
    });
    made.ok_or_else(|| call.fault("the widths do not fit"))
}

/// An empty vector of the tensor's data type.
fn empty_like(call: &Call<'_>, data: &Tensor) -> Result<Tensor, Fault> {
    match Tensor::zeros(data.dtype(), &[0]) {
        Some(tensor) => Ok(tensor),
        None => call.unsupported(data.dtype()),
    }
}

/// `SYMMETRIC` repeats the border element, `REFLECT` does not.
pub(super) fn mirror_pad(call: &mut Call<'_>) -> Outcome {
    let widths = pairs(call, "pad_width")?;
    let border = match call.str("mode") {
        "SYMMETRIC" => 1,
        "REFLECT" => 0,
        other => return Err(call.fault(format_args!("unknown mode \"{other}\""))),
    };
    let data = call.tensor(0)?;
    let mut sources: Vec<Sources> = with_capacity(data.rank());
    let mut shape = with_capacity(data.rank());
    for (axis, (&size, &(before, after))) in data.shape().iter().zip(&widths).enumerate() {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let length = size.saturating_add(before).saturating_add(after);
        shape.push(usize::try_from(length).unwrap_or(usize::MAX));
        call.allow(&shape, data.dtype())?;
        let source = |at: i64| {
            let from = match at - before {
                from if from < 0 => -from - border,
                from if from >= size => 2 * (size - 1) - from + border,
                from => from,
            };
            match usize::try_from(from) {
                Ok(from) if (from as i64) < size => Ok(Some(from)),
                _ => Err(call.fault(format_args!(
                    "axis {axis} has {size} elements, too few to mirror {before} and {after}"
                ))),
            }
        };
        sources.push(Sources::of((0..length).map(source))?);
    }
    if sources.len() != data.rank() {
        return Err(call.fault("`pad_width` does not have a pair for each axis"));
    }
    Ok(spread(call, data, &sources, Tensor::scalar(0f64))?.into())
}

/// Inserts elements between neighbours.
pub(super) fn dilate(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let steps = call.ints("strides")?;
    let value = Tensor::scalar(call.float("dilation_value")?);
    if steps.len() != data.rank() {
        return Err(call.fault("`strides` does not have a number for each axis"));
    }
    let mut sources: Vec<Sources> = with_capacity(data.rank());
    let mut shape = with_capacity(data.rank());
    for (&size, &step) in data.shape().iter().zip(&steps) {
        let Some(step) = usize::try_from(step).ok().filter(|&step| step > 0) else {
            return Err(call.fault(format_args!("the stride {step} is less than 1")));
        };
        // An empty axis has no elements to insert any between.
        let length = match size.checked_sub(1) {
            Some(gaps) => gaps.saturating_mul(step).saturating_add(1),
            None => 0,
        };
        shape.push(length);
        call.allow(&shape, data.dtype())?;
        let source = |at: usize| Ok(at.is_multiple_of(step).then_some(at / step));
        sources.push(Sources::of((0..length).map(source))?);
    }
    Ok(spread(call, data, &sources, value)?.into())
}
