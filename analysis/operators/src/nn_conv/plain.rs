//! `nn.conv1d`, `nn.conv2d`, `nn.conv3d` and `nn.deformable_conv2d`.

use super::{Layouts, channels, equal_groups, exact, kernel_size, reach, weight::Weight};
use crate::prelude::*;

pub(super) fn conv1d(call: &mut Call<'_>) -> Outcome {
    conv(call, "NCW", "OIW")
}

pub(super) fn conv2d(call: &mut Call<'_>) -> Outcome {
    conv(call, "NCHW", "OIHW")
}

pub(super) fn conv3d(call: &mut Call<'_>) -> Outcome {
    conv(call, "NCDHW", "OIDHW")
}

/// A convolution over the axes after `NC` of `data_base`. The rule is defined in that
/// layout, and shapes are converted to it and back.
///
/// As in TVM, the rule for one axis differs from the others: it ignores excess elements of
/// lists, and ignores `groups` when it compares the data with the weight.
fn conv(call: &mut Call<'_>, data_base: &str, weight_base: &str) -> Outcome {
    let axes = data_base.len() - 2;
    let data = call.tensor(0)?;
    let weight = match call.tensor(1) {
        Err(Halt::Silent) => return Err(Halt::Silent),
        weight => weight,
    };
    let groups = call.attrs().int("groups").unwrap_or(1);
    let grouped = axes == 2 && groups > 1 && call.attrs().str("kernel_layout").contains('G');
    let layouts = Layouts::read(call, data_base, if grouped { "GOIHW" } else { weight_base })?;
    let dshape = layouts.data_shape(call, &data)?;
    let mut reasons =
        Weight { position: 1, layouts: &layouts, groups, transposed: false, depthwise: false };
    if axes == 2 && groups > 1 {
        let Ok(weight) = &weight else { return weight_needed(call) };
        let wshape = layouts.weight_shape(call, 1, weight)?;
        reasons.depthwise = !grouped && dshape[1].is(groups) && wshape[0].is(groups);
    }

    let in_channels = &dshape[1];
    let by_groups = |size: &Dim| floor_div(call, "groups", size, &Dim::known(groups));
    let (out_channels, kernel): (Dim, Shape);
    if let (Some(size), Some(channels)) = (kernel_size(call)?, channels(call)?) {
        if axes > 1 {
            exact(call, "kernel_size", axes)?;
            exact(call, "dilation", axes)?;
        }
        let size = elements_of(call, "kernel_size", &size, axes)?;
        let mut expected: Shape = if grouped {
            let per_group = by_groups(&channels)?;
            [Dim::known(groups), per_group, by_groups(in_channels)?].into_iter().collect()
        } else if reasons.depthwise {
            [in_channels.clone(), &channels / in_channels].into_iter().collect()
        } else {
            [channels.clone(), by_groups(in_channels)?].into_iter().collect()
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
        (out_channels, kernel) = (channels, size);
    } else {
        let weight = weight?;
        let wshape = layouts.weight_shape(call, 1, &weight)?;
        let wrong = check_by_weight(call, &reasons, axes, &dshape, &wshape);
        // TVM interprets the axes of a grouped weight as those of an ungrouped one here.
        match wrong {
            Err(Halt::Failed(_)) if grouped => return grouped_needs_attributes(call, &layouts),
            wrong => wrong?,
        }
        if axes == 1 {
            call.lenient(inputs_of_a_group(call, groups, (in_channels, &wshape[1])))?;
        }
        out_channels = wshape[0].clone();
        kernel = wshape[2..2 + axes].iter().cloned().collect();
    }

    call.lenient(equal_groups(call, groups, in_channels, &out_channels))?;
    let pad = match axes {
        1 if dshape[2].is_any() => [Dim::Any].into_iter().collect(),
        1 => both_sides(call)?,
        _ => padding(call, "padding", axes)?,
    };
    let (strides, dilation) = (list(call, "strides")?, list(call, "dilation")?);
    call.lenient(moves_forward(call))?;
    let mut shape: Shape = [dshape[0].clone(), out_channels].into_iter().collect();
    for i in 0..axes {
        let reach = reach(&kernel[i], element(call, "dilation", &dilation, i, axes)?);
        let size = &dshape[2 + i];
        shape.push(if size.is_any() {
            Dim::Any
        } else {
            let stride = element(call, "strides", &strides, i, axes)?;
            floor_div(call, "strides", &(size + &pad[i] - reach.clone()), &stride)? + 1
        });
        let window = layouts.window(2 + i, size, &pad[i], &reach);
        call.lenient(window.fits(call, &shape[2 + i]))?;
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    layouts.output(call, &shape, dtype)
}

/// Checks the attributes and the data against a weight that determines the shape of the result.
fn check_by_weight(
    call: &Call<'_>,
    reasons: &Weight<'_>,
    axes: usize,
    dshape: &Shape,
    wshape: &Shape,
) -> Outcome {
    if let Some(size) = kernel_size(call)? {
        if axes > 1 {
            exact(call, "kernel_size", axes)?;
        }
        let size = elements_of(call, "kernel_size", &size, axes)?;
        let weight: Shape = wshape[..2 + axes].iter().cloned().collect();
        reasons.check_kernel(call, &size, &weight)?;
    }
    if let Some(channels) = channels(call)?
        && !may_equal(&channels, &wshape[0])
    {
        return reasons.output_mismatch(call, &channels, &wshape[0]);
    }
    let (data, weight) = (&dshape[1], &wshape[1]);
    if data.is_any() || weight.is_any() {
        return Ok(());
    }
    let groups = Dim::known(if axes == 1 { 1 } else { reasons.groups });
    if !may_equal(&floor_div(call, "groups", data, &groups)?, weight) {
        return reasons.input_mismatch(call, data, weight);
    }
    Ok(())
}

/// Checks that the weight of `nn.conv1d` has the input channels of one group, where TVM requires those of
/// the data.
fn inputs_of_a_group(call: &Call<'_>, groups: i64, (data, weight): (&Dim, &Dim)) -> Outcome {
    if groups <= 1 || may_equal(&(weight * groups), data) {
        return Ok(());
    }
    let name = call.name(1);
    let message = text!(
        "{name} has {weight} input channels, but {data} in {groups} groups are {}",
        data / groups
    );
    fault(call, Code::ShapeMismatch, message)
        .rule("without `channels` and `kernel_size`, TVM's type relation ignores `groups`")
        .argument(1, Fact::Size(weight.clone(), "input channels"))
        .attribute("groups", text!("{groups}"))
        .help(text!("write both `channels` and `kernel_size`, with {name} for one group"))
        .fail()
}

/// Returns the first `axes` values of a list.
pub(super) fn elements_of(
    call: &Call<'_>,
    name: &'static str,
    values: &Shape,
    axes: usize,
) -> Result<Shape, Halt> {
    (0..axes).map(|i| element(call, name, values, i, axes)).collect()
}

/// Returns the padding of `nn.conv1d`, which requires a value for each side.
fn both_sides(call: &Call<'_>) -> Result<Shape, Halt> {
    let values = list(call, "padding")?;
    let [left, right, ..] = &values[..] else {
        let count = if values.len() == 1 { "1 value" } else { "no values" };
        let reason = Reason::new(
            Code::AttributeLength,
            text!("`{}`: `padding` has {count}, expected 2", call.operator()),
        )
        .rule("`padding` has a value for the left side and one for the right")
        .attribute("padding", count);
        return match values.first() {
            Some(value) => reason.fix("padding", AttrValue::list([value, value])).fail(),
            None => reason.fix("padding", AttrValue::list([0, 0])).fail(),
        };
    };
    Ok([left + right].into_iter().collect())
}

fn weight_needed(call: &Call<'_>) -> Outcome {
    Reason::new(
        Code::TypeNeeded,
        text!(
            "`{}`: the type of {} must be known where `groups` is more than 1",
            call.operator(),
            call.name(1)
        ),
    )
    .rule("the shape of the weight decides if the convolution is depthwise")
    .argument(1, "of unknown type")
    .help("annotate the weight with its type")
    .fail()
}

fn grouped_needs_attributes(call: &Call<'_>, layouts: &Layouts) -> Outcome {
    Reason::new(
        Code::AttributeMismatch,
        text!(
            "`{}`: the shape of the result cannot be inferred from a weight of layout \"{}\"",
            call.operator(),
            layouts.weight
        ),
    )
    .rule("with an axis G in `kernel_layout`, `channels` and `kernel_size` must be specified")
    .attribute("kernel_layout", text!("\"{}\"", layouts.weight))
    .help("write both `channels` and `kernel_size`")
    .fail()
}

pub(super) fn deformable_conv2d(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let weight = match call.tensor(2) {
        Err(Halt::Silent) => return Err(Halt::Silent),
        weight => weight,
    };
    let groups = call.attrs().int("groups").unwrap_or(1);
    let layouts = Layouts::read(call, "NCHW", "OIHW")?;
    let dshape = layouts.data_shape(call, &data)?;
    let reasons =
        Weight { position: 2, layouts: &layouts, groups, transposed: false, depthwise: false };
    let (out_channels, kernel): (Dim, Shape);
    if let (Some(size), Some(channels)) = (kernel_size(call)?, channels(call)?) {
        exact(call, "kernel_size", 2)?;
        exact(call, "dilation", 2)?;
        let per_group = floor_div(call, "groups", &dshape[1], &Dim::known(groups))?;
        let expected: Shape =
            [channels.clone(), per_group].into_iter().chain(size.clone()).collect();
        if let Ok(weight) = &weight {
            reasons.check(call, weight, &expected, &dshape)?;
            if weight.dtype != data.dtype {
                return dtype_mismatch(call, (0, data.dtype), (2, weight.dtype));
            }
        }
        let Some(shape) = layouts.weight_base.convert(&expected, &layouts.weight) else {
            return Err(Halt::Silent);
        };
        call.assign(2, TensorType::new(shape, data.dtype))?;
        (out_channels, kernel) = (channels, size);
    } else {
        let weight = weight?;
        let wshape = layouts.weight_shape(call, 2, &weight)?;
        check_by_weight(call, &reasons, 2, &dshape, &wshape)?;
        out_channels = wshape[0].clone();
        kernel = wshape[2..].iter().cloned().collect();
    }

    let pad = padding(call, "padding", 2)?;
    let (strides, dilation) = (list(call, "strides")?, list(call, "dilation")?);
    call.lenient(moves_forward(call))?;
    let mut spatial = Shape::new();
    for i in 0..2 {
        let reach = reach(&kernel[i], element(call, "dilation", &dilation, i, 2)?);
        let stride = element(call, "strides", &strides, i, 2)?;
        let slack = &dshape[2 + i] + &pad[i] - reach.clone();
        spatial.push(floor_div(call, "strides", &slack, &stride)? + 1);
        let window = layouts.window(2 + i, &dshape[2 + i], &pad[i], &reach);
        call.lenient(window.fits(call, &spatial[i]))?;
    }
    let batch = dshape[0].clone();
    let deformable = call.attrs().int("deformable_groups").unwrap_or(1);
    let shifts = &kernel[0] * 2 * kernel[1].clone() * deformable;
    let offset: Shape = [batch.clone(), shifts].into_iter().chain(spatial.clone()).collect();
    let Some(offset) = layouts.data_base.convert(&offset, &layouts.data) else {
        return Err(Halt::Silent);
    };
    check_offset(call, &offset, data.dtype)?;
    call.assign(1, TensorType::new(offset, data.dtype))?;
    let shape: Shape = [batch, out_channels].into_iter().chain(spatial).collect();
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    layouts.output(call, &shape, dtype)
}

/// Checks the shape and the data type of the offsets of a deformable convolution.
fn check_offset(call: &Call<'_>, expected: &Shape, dtype: DataType) -> Outcome {
    let Ok(found) = call.tensor(1) else { return Ok(()) };
    let name = call.name(1);
    if found.dtype != dtype {
        return dtype_mismatch(call, (0, dtype), (1, found.dtype));
    }
    let differs = found.shape.iter().zip(expected).position(|(a, b)| !may_equal(a, b));
    if found.rank() == expected.len() && differs.is_none() {
        return Ok(());
    }
    let reason = Reason::new(
        Code::ShapeMismatch,
        text!(
            "`{}`: {name} has shape `{}`, expected `{}`",
            call.operator(),
            shape_text(&found.shape),
            shape_text(expected)
        ),
    )
    .rule(
        "the offsets have two values (down and right) for each element of the kernel and each of \
         `deformable_groups`, at each place of the result",
    );
    match differs {
        Some(axis) => reason.axis(1, axis, text!("{}", found.shape[axis])).fail(),
        None => reason.argument(1, axes(found.rank())).fail(),
    }
}
