//! Conversion between layouts.

use operators::Layout;

use super::prelude::*;

/// Converts a tensor from layout `from` to layout `to`: `"NCHW"`, `"NHWC"`, `"NCHW4c"`. Sizes are
/// padded with zeros to a multiple of the block.
pub(super) fn convert(
    call: &Call<'_>,
    tensor: &Tensor,
    from: &str,
    to: &str,
) -> Result<Tensor, Fault> {
    if from == to || from.is_empty() || to.is_empty() {
        return Ok(tensor.clone());
    }
    let read = |text: &str| Layout::parse(text).map_err(|error| call.fault(error));
    let (source, target) = (read(from)?, read(to)?);
    if source.rank() != tensor.rank() {
        return Err(call.fault(format_args!(
            "layout `{from}` has {} axes, but the tensor has {}",
            source.rank(),
            tensor.rank()
        )));
    }
    let sizes = source.axes().iter().zip(tensor.shape());
    for (axis, &size) in sizes.filter(|(axis, _)| axis.letter.is_ascii_lowercase()) {
        if usize::try_from(axis.factor) != Ok(size) {
            let letter = char::from(axis.letter);
            return Err(call.fault(format_args!(
                "the axis {letter} of the layout `{from}` has size {size} in the tensor"
            )));
        }
    }
    // Moves each block after its axis and merges the two, which leaves one axis per letter.
    let letters: Vec<u8> =
        source.axes().iter().map(|axis| axis.letter).filter(u8::is_ascii_uppercase).collect();
    let mut order = Vec::new();
    let mut joined = Vec::new();
    for &letter in &letters {
        let mut size = 1usize;
        for (at, axis) in source.axes().iter().enumerate() {
            if axis.letter.to_ascii_uppercase() == letter && axis.letter == letter {
                order.push(at);
                size *= tensor.shape()[at];
            }
        }
        for (at, axis) in source.axes().iter().enumerate() {
            if axis.letter == letter.to_ascii_lowercase() {
                order.push(at);
                size *= tensor.shape()[at];
            }
        }
        joined.push(size);
    }
    let mut plain = call.reshaped(tensor.permuted(&order), &joined)?;
    // Splits the axes into the blocks of the target.
    let mut parts: Vec<usize> = Vec::new();
    let mut labels: Vec<(u8, usize)> = Vec::new();
    for (axis, &letter) in letters.iter().enumerate() {
        let block = letter.to_ascii_lowercase();
        let factors: Vec<usize> = target
            .axes()
            .iter()
            .filter(|axis| axis.letter == block)
            .map(|axis| usize::try_from(axis.factor).unwrap_or(1).max(1))
            .collect();
        let whole: usize = factors.iter().product();
        let size = plain.shape()[axis];
        let filled = size.next_multiple_of(whole);
        if filled != size {
            let mut shape = plain.shape().to_vec();
            shape[axis] = filled - size;
            let Some(zeros) = Tensor::zeros(plain.dtype(), &shape) else {
                return call.unsupported(plain.dtype());
            };
            plain = super::shape::joined(call, &[&plain, &zeros], axis)?;
        }
        parts.push(filled / whole);
        labels.push((letter, 0));
        for (k, factor) in factors.into_iter().enumerate() {
            parts.push(factor);
            labels.push((block, k));
        }
    }
    let apart = call.reshaped(plain, &parts)?;
    let mut order = with_capacity(parts.len());
    let mut seen: Vec<u8> = Vec::new();
    for axis in target.axes() {
        let nth = seen.iter().filter(|&&letter| letter == axis.letter).count();
        seen.push(axis.letter);
        match labels.iter().position(|&label| label == (axis.letter, nth)) {
            Some(at) => order.push(at),
            None => {
                return Err(
                    call.fault(format_args!("layout `{from}` cannot be converted to `{to}`"))
                );
            }
        }
    }
    if order.len() != labels.len() {
        return Err(call.fault(format_args!("layout `{from}` cannot be converted to `{to}`")));
    }
    Ok(apart.permuted(&order))
}
