//! `nn.correlation`.

use crate::prelude::*;

pub(super) fn correlation(call: &mut Call<'_>) -> Outcome {
    let (data1, data2) = (call.tensor(0)?, call.tensor(1)?);
    let layout = call.attrs().str("layout");
    if layout != "NCHW" {
        return Reason::new(
            Code::InvalidLayout,
            text!("`{}` supports the layout \"NCHW\" only, found \"{layout}\"", call.operator()),
        )
        .attribute("layout", text!("\"{layout}\""))
        .fix("layout", "NCHW")
        .fail();
    }
    let pad = padding(call, "padding", 2)?;
    let number = |name| call.attrs().int(name).ok_or(Halt::Silent);
    let (kernel, reach) = (number("kernel_size")?, number("max_displacement")?);
    let (stride1, stride2) = (number("stride1")?, number("stride2")?);
    for (name, stride) in [("stride1", stride1), ("stride2", stride2)] {
        if stride == 0 {
            return Reason::new(
                Code::AttributeValue,
                text!("`{}`: `{name}` is 0", call.operator()),
            )
            .rule("a stride must be at least 1")
            .attribute(name, "0")
            .fix(name, 1)
            .fail();
        }
    }
    // TVM takes the height from the first argument and the width from the second, and does not
    // compare the two.
    let (height, width) = (size(call, &data1, 0, 2)?, size(call, &data2, 1, 3)?);
    let batch = size(call, &data1, 0, 0)?;
    call.lenient(same_shape(call, (1, &data2.shape), (0, &data1.shape)))?;
    for name in ["stride1", "stride2"] {
        call.lenient(at_least(call, name, 1))?;
    }
    call.lenient(at_least(call, "max_displacement", 0))?;
    call.lenient(at_least(call, "kernel_size", 1))?;
    if kernel % 2 == 0 {
        let check = fault(call, Code::AttributeValue, text!("`kernel_size` is {kernel}"))
            .rule("`kernel_size` must be odd")
            .attribute("kernel_size", text!("{kernel}"))
            .fix("kernel_size", kernel.saturating_add(1))
            .fail();
        call.lenient(check)?;
    }
    let out_of_range = || {
        Reason::new(
            Code::AttributeValue,
            text!("`{}`: the number of displacements overflows", call.operator()),
        )
        .attribute("max_displacement", text!("{reach}"))
    };
    let displacements =
        reach.checked_div(stride2).and_then(|d| d.checked_mul(2)).and_then(|d| d.checked_add(1));
    let border = reach.checked_add((kernel.saturating_sub(1)) / 2).and_then(|b| b.checked_mul(2));
    let channels = displacements.and_then(|d| d.checked_mul(d));
    let (Some(border), Some(channels)) = (border, channels) else { return out_of_range().fail() };
    let places = |size: Dim, pad: &Dim| (size + pad.clone() - border + stride1 - 1) / stride1;
    let shape = [batch, Dim::known(channels), places(height, &pad[0]), places(width, &pad[1])];
    call.output_tensor(shape, data1.dtype)
}

/// Returns the size of an axis, or fails if the argument does not have 4 axes.
fn size(call: &Call<'_>, tensor: &TensorType, position: usize, axis: usize) -> Result<Dim, Halt> {
    if let Some(size) = tensor.shape.get(axis) {
        return Ok(size.clone());
    }
    let (name, rank) = (call.name(position), tensor.rank());
    Reason::new(
        Code::RankMismatch,
        text!("`{}`: {name} must have 4 axes (N, C, H, W), but it has {rank}", call.operator()),
    )
    .argument(position, axes(rank))
    .fail()
}
