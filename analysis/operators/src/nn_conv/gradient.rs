//! `nn.conv2d_backward_weight`.

use super::{attribute_needed, channels, equal_groups, kernel_size};
use crate::prelude::*;

/// The attributes are those of a convolution, but the layouts have other roles:
/// `data_layout` is that of the gradient, `kernel_layout` that of the data, and `out_layout` that
/// of the weight.
pub(super) fn conv2d_backward_weight(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(1)?;
    let grad = call.require_tensor(0)?;
    let (nchw, oihw) = (Layout::plain("NCHW"), Layout::plain("OIHW"));
    let Some(size) = kernel_size(call)? else { return attribute_needed(call, "kernel_size") };
    let grad_layout = layout(call, "data_layout", &nchw, "the gradient")?;
    let data_layout = layout(call, "kernel_layout", &nchw, "the data")?;
    let weight_layout = layout(call, "out_layout", &oihw, "the weight")?;
    let dshape = in_layout(call, 1, &data, &data_layout, &nchw)?;
    let gshape = in_layout(call, 0, &grad, &grad_layout, &nchw)?;
    let (in_channels, out_channels) =
        (known_channels(call, 1, &dshape)?, known_channels(call, 0, &gshape)?);
    let groups = call.attrs().int("groups").unwrap_or(1);
    // Depthwise: `channels` is the number of output channels per input channel.
    let inner = if in_channels == out_channels && in_channels == groups {
        let Some(channels) = channels(call)? else { return attribute_needed(call, "channels") };
        call.lenient(one_each(call, &channels, groups))?;
        channels
    } else {
        dshape[1].clone()
    };
    call.lenient(at_least(call, "kernel_size", 1))?;
    call.lenient(moves_forward(call))?;
    let (grad_batch, batch) = (&gshape[0], &dshape[0]);
    let at = (grad_layout.index_of('N').unwrap_or(0), data_layout.index_of('N').unwrap_or(0));
    let rule = "each image of the batch has a gradient";
    call.lenient(same_size(call, (0, at.0, grad_batch), (1, at.1, batch), rule))?;
    call.lenient(equal_groups(call, groups, &dshape[1], &gshape[1]))?;
    let inner = floor_div(call, "groups", &inner, &Dim::known(groups))?;
    let height = element(call, "kernel_size", &size, 0, 2)?;
    let width = element(call, "kernel_size", &size, 1, 2)?;
    let shape = [gshape[1].clone(), inner, height, width];
    let Some(shape) = oihw.convert(&shape, &weight_layout) else { return Err(Halt::Silent) };
    let dtype = dtype_or(call, "out_dtype", grad.dtype);
    call.output_tensor(shape, dtype)
}

/// Checks `channels` in the gradient of a depthwise convolution of as many inputs as outputs: each has
/// one kernel.
fn one_each(call: &Call<'_>, channels: &Dim, groups: i64) -> Outcome {
    if groups < 1 || may_equal(&(channels / groups), &Dim::known(1)) {
        return Ok(());
    }
    let message = text!("`channels` is {channels}, but there are {groups} channels and groups");
    fault(call, Code::AttributeMismatch, message)
        .rule("with as many groups as input and output channels, each channel has one kernel")
        .attribute("channels", text!("{channels}"))
        .fix("channels", groups)
        .fail()
}

fn layout(call: &Call<'_>, name: &'static str, base: &Layout, of: &str) -> Result<Layout, Halt> {
    let layout = layout_attr(call, name)?;
    if layout.converts_to(base) {
        return Ok(layout);
    }
    Reason::new(
        Code::InvalidLayout,
        text!(
            "`{}`: `{name}` is the layout of {of} here, and \"{layout}\" does not have the axes of \
             \"{base}\"",
            call.operator()
        ),
    )
    .rule(
        "`data_layout` is the layout of the gradient, `kernel_layout` that of the data and \
         `out_layout` that of the weight",
    )
    .attribute(name, text!("\"{layout}\""))
    .fix(name, base.to_string().as_str())
    .fail()
}

fn known_channels(call: &Call<'_>, position: usize, shape: &Shape) -> Result<i64, Halt> {
    if let Some(channels) = shape[1].as_known() {
        return Ok(channels);
    }
    Reason::new(
        Code::TypeNeeded,
        text!(
            "`{}`: the channels of {} must be known, but they are `{}`",
            call.operator(),
            call.name(position),
            shape[1]
        ),
    )
    .argument(position, text!("{} channels", shape[1]))
    .fail()
}
