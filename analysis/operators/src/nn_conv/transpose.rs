//! Transposed convolutions.

use super::{Layouts, channels, equal_groups, exact, kernel_size, reach, weight::Weight};
use crate::prelude::*;

pub(super) fn conv1d_transpose(call: &mut Call<'_>) -> Outcome {
    conv_transpose(call, "NCW", "IOW")
}

pub(super) fn conv2d_transpose(call: &mut Call<'_>) -> Outcome {
    conv_transpose(call, "NCHW", "IOHW")
}

pub(super) fn conv3d_transpose(call: &mut Call<'_>) -> Outcome {
    conv_transpose(call, "NCDHW", "IODHW")
}

/// A transposed convolution over the axes after `NC` of `data_base`.
fn conv_transpose(call: &mut Call<'_>, data_base: &str, weight_base: &str) -> Outcome {
    let axes = data_base.len() - 2;
    let data = call.tensor(0)?;
    let weight = match call.tensor(1) {
        Err(Halt::Silent) => return Err(Halt::Silent),
        weight => weight,
    };
    let groups = call.attrs().int("groups").unwrap_or(1);
    let grouped = axes == 2 && groups > 1 && call.attrs().str("kernel_layout").contains('G');
    let layouts = Layouts::read(call, data_base, if grouped { "GIOHW" } else { weight_base })?;
    let dshape = layouts.data_shape(call, &data)?;
    let reasons =
        Weight { position: 1, layouts: &layouts, groups, transposed: true, depthwise: false };

    let output = channels(call)?.unwrap_or(Dim::Any);
    call.lenient(equal_groups(call, groups, &dshape[1], &output))?;
    let in_channels = &dshape[1];
    let by_groups = |size: &Dim| floor_div(call, "groups", size, &Dim::known(groups));
    let dilation = list(call, "dilation")?;
    let (out_channels, mut reaches): (Dim, Shape);
    if let (Some(size), Some(channels)) = (kernel_size(call)?, channels(call)?) {
        exact(call, "kernel_size", axes)?;
        exact(call, "dilation", axes)?;
        let per_group = by_groups(&channels)?;
        let mut expected: Shape = if grouped {
            [Dim::known(groups), by_groups(in_channels)?, per_group].into_iter().collect()
        } else {
            [in_channels.clone(), per_group].into_iter().collect()
        };
        expected.extend(size.iter().cloned());
        if let Ok(weight) = &weight {
            reasons.check(call, weight, &expected, &dshape)?;
        }
        let dtype = weight.map_or(data.dtype, |weight| weight.dtype);
        let Some(shape) = layouts.weight_base.convert(&expected, &layouts.weight) else {
            return Err(Halt::Silent);
        };
        call.assign(1, TensorType::new(shape, dtype))?;
        reaches = size.iter().zip(dilation).map(|(k, by)| reach(k, by)).collect();
        out_channels = channels;
    } else {
        let weight = weight?;
        let wshape = layouts.weight_shape(call, 1, &weight)?;
        if let Some(size) = kernel_size(call)? {
            exact(call, "kernel_size", axes)?;
            let weight: Shape = wshape[..2 + axes].iter().cloned().collect();
            reasons.check_kernel(call, &size, &weight)?;
        }
        if let Some(channels) = channels(call)?
            && !may_equal(&by_groups(&channels)?, &wshape[1])
        {
            return reasons.output_mismatch(call, &channels, &wshape[1]);
        }
        if !in_channels.is_any() && !wshape[0].is_any() && !may_equal(in_channels, &wshape[0]) {
            return reasons.input_mismatch(call, in_channels, &wshape[0]);
        }
        reaches = Shape::new();
        for i in 0..axes {
            reaches.push(reach(&wshape[2 + i], element(call, "dilation", &dilation, i, axes)?));
        }
        if axes == 3 {
            // TVM swaps the height and the width of the kernel if it takes
            // them from the weight.
            call.lenient(exchanged_sides(call, &wshape))?;
            reaches.swap(1, 2);
        }
        // As in TVM, the output channels of one group, not of all groups.
        call.lenient(all_channels(call, groups, &wshape[1]))?;
        out_channels = wshape[1].clone();
    }

    let pad = padding(call, "padding", axes)?;
    let (strides, extra) = (list(call, "strides")?, list(call, "output_padding")?);
    call.lenient(moves_forward(call))?;
    let mut shape: Shape = [dshape[0].clone(), out_channels].into_iter().collect();
    for (i, letter) in data_base.chars().skip(2).enumerate() {
        call.lenient(has_elements(call, letter, &reaches[i]))?;
        let size = &dshape[2 + i];
        shape.push(if size.is_any() {
            Dim::Any
        } else {
            let stride = element(call, "strides", &strides, i, axes)?;
            let extra = element(call, "output_padding", &extra, i, axes)?;
            stride * (size - 1) + reaches[i].clone() - pad[i].clone() + extra
        });
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    layouts.output(call, &shape, dtype)
}

/// The failure that TVM's relation misreads a weight, which it does not read if both attributes are
/// specified.
fn needs_attributes(call: &Call<'_>, message: Text, rule: Text) -> Outcome {
    fault(call, Code::AttributeMismatch, message)
        .rule(rule)
        .argument(1, "this weight determines the result")
        .help("write both `channels` and `kernel_size`")
        .fail()
}

/// Checks that the result has the channels of all groups.
fn all_channels(call: &Call<'_>, groups: i64, each: &Dim) -> Outcome {
    if groups <= 1 || each.is_any() {
        return Ok(());
    }
    let all = each * groups;
    needs_attributes(
        call,
        text!("the result has {all} channels, but its type would have {each}, those of one group"),
        text!(
            "without `channels` and `kernel_size`, the type has the output channels of {}",
            call.name(1)
        ),
    )
}

/// Checks that the height and the width of a three-dimensional kernel are equal.
fn exchanged_sides(call: &Call<'_>, weight: &Shape) -> Outcome {
    let (height, width) = (&weight[3], &weight[4]);
    if may_equal(height, width) {
        return Ok(());
    }
    needs_attributes(
        call,
        text!("the kernel has the height {height} and the width {width}, which its type would exchange"),
        "without `channels` and `kernel_size`, the type exchanges the height and the width of the kernel".into(),
    )
}
