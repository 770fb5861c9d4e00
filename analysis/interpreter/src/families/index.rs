//! Operators that select elements by position.

mod gather;
mod scatter;
mod sequence;
pub(super) mod slice;

pub(super) use gather::advance;

use super::prelude::*;

pub(super) static GATHER: &[Kernel] = gather::KERNELS;
pub(super) static SCATTER: &[Kernel] = scatter::KERNELS;
pub(super) static SEQUENCE: &[Kernel] = sequence::KERNELS;
pub(super) static SLICE: &[Kernel] = slice::KERNELS;

/// The strides of a shape in row-major order.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = repeated(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Resolves a position on an axis of `size`, which must be in range.
fn position(call: &Call<'_>, index: i64, axis: usize, size: usize) -> Result<usize, Fault> {
    match usize::try_from(index) {
        Ok(at) if at < size => Ok(at),
        _ => Err(call.fault(format_args!(
            "index {index} is out of range for axis {axis}, which has size {size}"
        ))),
    }
}
