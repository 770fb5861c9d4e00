//! Multiply-accumulates of convolutions.

use crate::prelude::*;

/// One multiply-accumulate per element of the weight and position of the result.
pub(super) fn conv(call: &CostCall<'_>) -> Option<u64> {
    result_places(call)?.checked_mul(elements(call.args.get(1)?)?)
}

/// Like [`conv`], without the interpolation.
pub(super) fn deformable(call: &CostCall<'_>) -> Option<u64> {
    result_places(call)?.checked_mul(elements(call.args.get(2)?)?)
}

/// One multiply-accumulate per element of the weight and position of the data.
pub(super) fn transposed(call: &CostCall<'_>) -> Option<u64> {
    let (places, _) = places(call.args.first()?, call.attrs.str("data_layout"))?;
    places.checked_mul(elements(call.args.get(1)?)?)
}

/// Each element of the weight's gradient is a sum over the positions of the result's gradient.
pub(super) fn gradient(call: &CostCall<'_>) -> Option<u64> {
    let (places, _) = places(call.args.first()?, call.attrs.str("data_layout"))?;
    places.checked_mul(elements(call.result)?)
}

/// The cost of the direct convolution, independent of the layout of the weight.
pub(crate) fn ready(call: &CostCall<'_>) -> Option<u64> {
    let (_, channels) = places(call.args.first()?, call.attrs.str("data_layout"))?;
    let groups = u64::try_from(call.attrs.int("groups")?).ok()?;
    let window =
        call.attrs.dims("kernel_size")?.iter().try_fold(1u64, |window, size| {
            window.checked_mul(u64::try_from(size.as_known()?).ok()?)
        })?;
    elements(call.result)?.checked_mul(window)?.checked_mul(channels.checked_div(groups)?)
}

/// Each element of the result correlates two patches over all channels.
pub(super) fn correlation(call: &CostCall<'_>) -> Option<u64> {
    let channels = u64::try_from(call.args.first()?.as_tensor()?.shape.get(1)?.as_known()?).ok()?;
    let kernel = u64::try_from(call.attrs.int("kernel_size")?).ok()?;
    let patch = kernel.checked_mul(kernel)?.checked_mul(channels)?;
    elements(call.result)?.checked_mul(patch)
}

fn result_places(call: &CostCall<'_>) -> Option<u64> {
    let layout = match call.attrs.str("out_layout") {
        "" => call.attrs.str("data_layout"),
        layout => layout,
    };
    places(call.result, layout).map(|(places, _)| places)
}

/// Returns the positions of a tensor in `layout` (batches times spatial elements), and its
/// channels.
fn places(ty: &Type, layout: &str) -> Option<(u64, u64)> {
    let layout = Layout::parse(layout).ok()?;
    let (mut places, mut channels) = (1u64, 1u64);
    for (axis, size) in layout.axes().iter().zip(&ty.as_tensor()?.shape) {
        let size = u64::try_from(size.as_known()?).ok()?;
        let of = if axis.letter.eq_ignore_ascii_case(&b'C') { &mut channels } else { &mut places };
        *of = of.checked_mul(size)?;
    }
    Some((places, channels))
}
