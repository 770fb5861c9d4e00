//! Selecting elements at regular positions.

use crate::families::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("strided_slice", strided_slice),
    kernel("slice_like", slice_like),
    kernel("sliding_window", sliding_window),
];

/// A slice of one axis.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    /// The first position.
    pub(crate) begin: usize,
    /// The distance between positions; negative goes backwards.
    pub(crate) stride: i64,
    /// The number of elements.
    pub(crate) count: usize,
}

impl Cut {
    /// The positions from `begin` to `end`: negative ones count from the end, and both are clamped
    /// to the axis. Empty if they cross.
    pub(crate) fn of(begin: i64, end: i64, stride: i64, size: usize) -> Cut {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let stride = if stride == 0 { 1 } else { stride };
        let (low, high) = if stride < 0 { (-1, size - 1) } else { (0, size) };
        let place = |position: i64| {
            let position = if position < 0 { position.saturating_add(size) } else { position };
            position.max(low).min(high)
        };
        let (from, to) = (place(begin), place(end));
        let distance = if stride < 0 { from - to } else { to - from };
        let count = if distance > 0 {
            distance.unsigned_abs().div_ceil(stride.unsigned_abs()) as usize
        } else {
            0
        };
        Cut { begin: usize::try_from(from).unwrap_or(0), stride, count }
    }

    /// The whole axis.
    pub(crate) fn whole(size: usize) -> Cut {
        Cut { begin: 0, stride: 1, count: size }
    }
}

/// Slices each axis of a tensor.
pub(crate) fn cut(call: &Call<'_>, tensor: &Tensor, cuts: &[Cut]) -> Result<Tensor, Fault> {
    let shape: Vec<usize> = cuts.iter().map(|cut| cut.count).collect();
    call.allow(&shape, tensor.dtype())?;
    let steps = super::strides(tensor.shape());
    // Trailing axes that are taken whole are copied in one run.
    let mut inner = 1;
    let mut rank = cuts.len();
    while let Some(axis) = rank.checked_sub(1)
        && cuts[axis].begin == 0
        && cuts[axis].stride == 1
        && cuts[axis].count == tensor.shape()[axis]
    {
        inner *= cuts[axis].count;
        rank = axis;
    }
    let made = each_dtype!(tensor, array => {
        let elements = array.as_slice().unwrap_or_default();
        let mut out: Vec<T> = with_capacity(shape.iter().product());
        if !shape.contains(&0) {
            let (outer, last) = match rank.checked_sub(1) {
                Some(last) => (last, Some(last)),
                None => (0, None),
            };
            let mut index = repeated(0usize, outer);
            loop {
                let at = |axis: usize, k: usize| -> usize {
                    let moved = cuts[axis].begin as i64 + cuts[axis].stride * k as i64;
                    moved as usize * steps[axis]
                };
                let base: usize = (0..outer).map(|axis| at(axis, index[axis])).sum();
                match last {
                    Some(last) if cuts[last].stride == 1 => {
                        let start = base + at(last, 0);
                        let length = cuts[last].count * inner;
                        let part = elements.get(start..start + length).unwrap_or_default();
                        pieces(part).for_each(|piece| out.extend_from_slice(piece));
                    }
                    Some(last) => {
                        for k in watched(0..cuts[last].count) {
                            let start = base + at(last, k);
                            let part = elements.get(start..start + inner).unwrap_or_default();
                            pieces(part).for_each(|piece| out.extend_from_slice(piece));
                        }
                    }
                    None => pieces(elements).for_each(|piece| out.extend_from_slice(piece)),
                }
                super::gather::advance(&mut index, &shape[..outer]);
                if index.iter().all(|&k| k == 0) {
                    break;
                }
            }
        }
        T::tensor(&shape, out)
    });
    made.ok_or_else(|| call.fault("the slice is out of range"))
}

fn strided_slice(call: &mut Call<'_>) -> Outcome {
    let tensor = call.tensor(0)?;
    let shape = tensor.shape();
    let (begin, end) = (call.ints("begin")?, call.ints("end")?);
    let strides = call.ints("strides")?;
    let axes = call.optional_ints("axes")?;
    let by_size = call.str("slice_mode") == "size";
    let mut cuts: Vec<Cut> = shape.iter().map(|&size| Cut::whole(size)).collect();
    let count = axes.as_ref().map_or(shape.len(), |axes| axes.len());
    for k in 0..count {
        let axis = call.axis(axes.as_ref().map_or(k as i64, |axes| axes[k]), shape.len())?;
        let stride = match strides.get(k) {
            Some(&stride) if !by_size => stride,
            _ => 1,
        };
        if stride == 0 {
            return Err(call.fault(format_args!("the stride of axis {axis} is 0")));
        }
        let from = begin.get(k).copied().unwrap_or(if stride > 0 { 0 } else { i64::MAX });
        let to = match end.get(k) {
            Some(&size) if by_size && size < 0 => i64::MAX,
            Some(&size) if by_size => from.saturating_add(size),
            Some(&end) => end,
            None if stride < 0 => 0,
            None => i64::MAX,
        };
        cuts[axis] = Cut::of(from, to, stride, shape[axis]);
    }
    Ok(cut(call, tensor, &cuts)?.into())
}

fn slice_like(call: &mut Call<'_>) -> Outcome {
    let (tensor, like) = (call.tensor(0)?, call.tensor(1)?);
    let shape = tensor.shape();
    let mut axes: Vec<usize> = Vec::new();
    for axis in call.ints("axes")? {
        axes.push(call.axis(axis, shape.len())?);
    }
    if axes.is_empty() {
        axes = (0..like.rank().min(shape.len())).collect();
    }
    let mut cuts: Vec<Cut> = shape.iter().map(|&size| Cut::whole(size)).collect();
    for axis in axes {
        match like.shape().get(axis) {
            Some(&size) if size <= shape[axis] => cuts[axis] = Cut::whole(size),
            _ => {
                return Err(
                    call.fault(format_args!("axis {axis} cannot be sliced to a larger size"))
                );
            }
        }
    }
    Ok(cut(call, tensor, &cuts)?.into())
}

fn sliding_window(call: &mut Call<'_>) -> Outcome {
    let (shape, _) = call.result()?;
    let axis = usize::try_from(call.int("axis")?).unwrap_or(0);
    let (window, moves) = (call.ints("window_shape")?, call.ints("strides")?);
    let tensor = call.tensor(0)?;
    let steps = super::strides(tensor.shape());
    if axis + window.len() != tensor.rank() {
        return Err(call.fault("the window must cover every axis after `axis`"));
    }
    // The distance in the data for one step along each axis of the result.
    let mut walk: Vec<usize> = steps[..axis].to_vec();
    walk.extend(
        steps[axis..]
            .iter()
            .zip(&moves)
            .map(|(&step, &by)| step.saturating_mul(by.max(0) as usize)),
    );
    walk.extend_from_slice(&steps[axis..]);
    each_dtype!(tensor, array => {
        let elements = array.as_slice().unwrap_or_default();
        let count = shape.iter().product();
        let mut index = repeated(0usize, shape.len());
        let mut out: Vec<T> = with_capacity(count);
        for _ in 0..count {
            let moved = index.iter().zip(&walk).map(|(k, step)| k.saturating_mul(*step));
            let at = moved.fold(0usize, usize::saturating_add);
            out.push(elements.get(at).copied().unwrap_or_default());
            super::gather::advance(&mut index, &shape);
        }
        call.build(&shape, out)
    })
}
