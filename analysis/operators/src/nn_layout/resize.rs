//! Upsampling by factors.

use crate::prelude::*;

pub(super) fn upsampling(call: &mut Call<'_>) -> Outcome {
    upsample(call, "NCHW", &["scale_h", "scale_w"])
}

pub(super) fn upsampling3d(call: &mut Call<'_>) -> Outcome {
    upsample(call, "NCDHW", &["scale_d", "scale_h", "scale_w"])
}

fn upsample(call: &mut Call<'_>, base: &str, scales: &[&'static str]) -> Outcome {
    let data = call.tensor(0)?;
    let base = Layout::plain(base);
    let layout = needs_axes(call, "layout", layout_attr(call, "layout")?, &base)?;
    let mut shape = in_layout(call, 0, &data, &layout, &base)?;
    for (size, scale) in shape[2..].iter_mut().zip(scales) {
        let Some(factor) = call.attrs().float(scale) else { return Err(Halt::Silent) };
        // TVM cannot scale a dynamic size by a fraction.
        *size = size
            .as_known()
            .map_or(Dim::Any, |size| Dim::known((size as f64 * factor).round_ties_even() as i64));
    }
    let Some(shape) = base.convert(&shape, &layout) else { return Err(Halt::Silent) };
    call.output_tensor(shape, data.dtype)
}
