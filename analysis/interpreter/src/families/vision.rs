//! Detection: boxes, their overlaps, and regions of interest.

mod boxes;
mod regions;
mod suppression;

use super::prelude::*;

pub(super) static KERNELS: &[Kernel] = &[
    kernel("vision.all_class_non_max_suppression", suppression::all_classes),
    kernel("vision.get_valid_counts", suppression::valid_counts),
    kernel("vision.multibox_prior", boxes::prior),
    kernel("vision.multibox_transform_loc", boxes::transform),
    kernel("vision.non_max_suppression", suppression::single),
    kernel("vision.proposal", boxes::proposal),
    kernel("vision.regular_non_max_suppression", suppression::regular),
    kernel("vision.roi_align", regions::align),
    kernel("vision.roi_pool", regions::pool),
    kernel("vision.yolo_reorg", regions::reorganized),
];

/// A tensor of floating point numbers in the data type of an argument.
fn floats(
    call: &Call<'_>,
    shape: &[usize],
    values: Vec<f32>,
    dtype: DataType,
) -> Result<Tensor, Fault> {
    let made = f32::tensor(shape, values);
    made.and_then(|tensor| crate::convert::converted(tensor, dtype))
        .ok_or_else(|| call.fault(format_args!("results of {dtype} are not supported")))
}

/// The only element of an argument.
fn number(call: &Call<'_>, position: usize) -> Result<f64, Fault> {
    match call.tensor(position)?.to_f64s().as_slice() {
        &[one] => Ok(one),
        all => Err(call.fault(format_args!("expected one number, but found {}", all.len()))),
    }
}

/// An attribute that is an index or a size.
fn size(call: &Call<'_>, name: &str) -> Result<usize, Fault> {
    usize::try_from(call.int(name)?).map_err(|_| call.fault(format_args!("`{name}` is negative")))
}

/// The indices of the numbers, sorted in descending order; the sort is stable.
fn descending(scores: &[f32]) -> Vec<usize> {
    let mut order = collected(0..scores.len());
    // The sort allocates this much itself, without checking the limit.
    drop(with_capacity::<usize>(scores.len()));
    order.sort_by(|&a, &b| {
        spend(2);
        scores[b].partial_cmp(&scores[a]).unwrap_or(std::cmp::Ordering::Equal)
    });
    order
}
