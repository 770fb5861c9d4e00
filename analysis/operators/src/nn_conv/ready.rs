//! Convolutions with a weight prepared for a specific algorithm. The attributes and the data
//! determine the type of the result; TVM does not compare them with the weight.

use super::{Layouts, channels, equal_groups, exact, kernel_size, reach};
use crate::prelude::*;

/// `nn.contrib_conv2d_NCHWc`, and Winograd's algorithm in 2D.
pub(crate) fn ready_conv2d(call: &mut Call<'_>) -> Outcome {
    ready_conv(call, "NCHW", "OIHW", |size, _| size)
}

/// Winograd's algorithm in 3D.
pub(crate) fn ready_conv3d(call: &mut Call<'_>) -> Outcome {
    // TVM tests the depth to decide if the height is known.
    ready_conv(call, "NCDHW", "OIDHW", |size, axis| match axis {
        1 => size - 1,
        _ => size,
    })
}

/// Convolution as a matrix product.
pub(crate) fn ready_conv2d_gemm(call: &mut Call<'_>) -> Outcome {
    // TVM's rule mixes NCHW and NHWC: it tests the axis after a spatial axis to decide if that is
    // known.
    ready_conv(call, "NHWC", "HWIO", |size, _| size + 1)
}

/// The rule for the layout `data_base`. `asked` returns the position of the size that decides if
/// the size at a position, of a spatial axis, is computed or kept.
fn ready_conv(
    call: &mut Call<'_>,
    data_base: &str,
    weight_base: &str,
    asked: fn(usize, usize) -> usize,
) -> Outcome {
    let axes = data_base.len() - 2;
    let data = call.tensor(0)?;
    let layouts = Layouts::read(call, data_base, weight_base)?;
    let dshape = layouts.data_shape(call, &data)?;
    call.lenient(fits_ready(call, (&layouts, &dshape)))?;
    let Some(channels) = channels(call)? else { return attribute_needed(call, "channels") };
    let groups = call.attrs().int("groups").unwrap_or(1);
    call.lenient(equal_groups(call, groups, &Dim::Any, &channels))?;
    if kernel_size(call)?.is_none() {
        return attribute_needed(call, "kernel_size");
    }
    let kernel = exact(call, "kernel_size", axes)?;
    let dilation = exact(call, "dilation", axes)?;
    let pad = padding(call, "padding", axes)?;
    let strides = list(call, "strides")?;
    let first = layouts.data_base.rank() - axes - usize::from(data_base.ends_with('C'));
    call.lenient(moves_forward(call))?;
    let mut shape = dshape.clone();
    if let Some(at) = layouts.data_base.index_of('C') {
        shape[at] = channels;
    }
    for i in 0..axes {
        let at = first + i;
        if dshape[asked(at, i)].is_any() {
            continue;
        }
        let stride = element(call, "strides", &strides, i, axes)?;
        let reach = reach(&kernel[i], dilation[i].clone());
        let slack = &dshape[at] + &pad[i] - reach.clone();
        shape[at] = trunc_div(call, "strides", &slack, &stride)? + 1;
        let window = layouts.window(at, &dshape[at], &pad[i], &reach);
        call.lenient(window.fits(call, &shape[at]))?;
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    layouts.output(call, &shape, dtype)
}

/// Checks the weight, which TVM ignores, against the requirements of the algorithm.
fn fits_ready(call: &Call<'_>, (layouts, data): (&Layouts, &Shape)) -> Outcome {
    let Some(channels) = layouts.data_base.index_of('C').map(|at| &data[at]) else { return Ok(()) };
    let layout = call.attrs().str("data_layout");
    match call.operator() {
        "nn.contrib_conv2d_winograd_without_weight_transform" => {
            fits_transformed(call, (layout, "NCHW"), channels)
        }
        "nn.contrib_conv3d_winograd_without_weight_transform" => {
            fits_transformed(call, (layout, "NCDHW"), channels)
        }
        "nn.contrib_conv2d_gemm_without_weight_transform" => enough_tiles(call, channels),
        "nn.contrib_conv2d_NCHWc" => fits_blocked(call, layouts),
        _ => Ok(()),
    }
}

/// Checks that a blocked weight has the kernels that the attributes describe, and the input channels
/// of a group.
fn fits_blocked(call: &Call<'_>, layouts: &Layouts) -> Outcome {
    let data = call.tensor(0)?;
    let (Type::Tensor(weight), groups) = (call.ty(1), known_int(call, "groups").unwrap_or(1))
    else {
        return Ok(());
    };
    // `kernel_layout` may leave out the blocks that the weight has.
    let rank = layouts.weight.rank();
    let (blocks, plain) = match &weight.shape[..] {
        [.., inputs, outputs] if rank == 4 && weight.rank() == 6 => {
            let plain = TensorType::new(weight.shape[..4].to_vec(), weight.dtype);
            ([Some(inputs), Some(outputs)], plain)
        }
        _ => ([None, None], (*weight).clone()),
    };
    let shape = layouts.weight_shape(call, 1, &plain)?;
    let whole = |letter: char, block: Option<&Dim>| {
        let axis = layouts.weight_base.index_of(letter)?;
        Some(product(shape.get(axis).into_iter().chain(block)))
    };
    let (found, outputs) = (whole('I', blocks[0]), whole('O', blocks[1]));
    for (letter, attribute, found) in [
        ('O', "channels", outputs),
        ('H', "kernel_size", whole('H', None)),
        ('W', "kernel_size", whole('W', None)),
    ] {
        let Some((found, expected)) = found.zip(kernel_attribute(call, letter)) else { continue };
        let block =
            layouts.weight.axes().iter().filter(|axis| axis.letter == b'o').map(|axis| axis.factor);
        let filled = match block.fold(1i64, |product, factor| product.saturating_mul(factor.max(1)))
        {
            // The last block may have more kernels than the result has channels.
            block if letter == 'O' && block > 1 => (&expected + (block - 1)) / block * block,
            _ => expected.clone(),
        };
        if !may_equal(&filled, &found) {
            fits_attribute(call, attribute, &expected, &found, letter)?;
        }
    }
    let size = |layout: &Layout, tensor: &TensorType, letters: [char; 2]| {
        let axes = letters.into_iter().filter_map(|letter| layout.index_of(letter));
        product(axes.filter_map(|axis| tensor.shape.get(axis))).as_known()
    };
    let channels = size(&layouts.data, &data, ['C', 'c']);
    let (Some(found), Some(channels)) = (found.and_then(|found| found.as_known()), channels) else {
        return Ok(());
    };
    if found.checked_mul(groups.max(1)) == Some(channels) {
        return Ok(());
    }
    let (x, w) = (call.name(0), call.name(1));
    let each = if groups > 1 { text!(" in {groups} groups") } else { Text::default() };
    fault(call, Code::ShapeMismatch, text!("{x} has {channels} channels{each}, {w} is for {found}"))
        .rule(text!("{w} must have the input channels of a group"))
        .argument(1, shape_text(&weight.shape))
        .argument(0, shape_text(&data.shape))
        .fail()
}

/// Returns the size along an axis of a weight that the attributes specify.
fn kernel_attribute(call: &Call<'_>, letter: char) -> Option<Dim> {
    let kernel = |from_back: usize| {
        let size = call.attrs().dims("kernel_size")?;
        size.get(size.len().checked_sub(from_back)?).cloned()
    };
    match letter {
        'O' => call.attrs().dim("channels"),
        'D' => kernel(3),
        'H' => kernel(2),
        _ => kernel(1),
    }
}

/// Checks that an attribute, from which the type of the result follows, describes the weight, which
/// TVM does not check.
fn fits_attribute(
    call: &Call<'_>,
    attribute: &'static str,
    expected: &Dim,
    found: &Dim,
    letter: char,
) -> Outcome {
    if may_equal(expected, found) {
        return Ok(());
    }
    let name = call.name(1);
    let message = text!("`{attribute}` says {expected}, but {name} is for {found} along {letter}");
    fault(call, Code::AttributeMismatch, message)
        .rule(text!("the type of the result follows from `{attribute}`, its elements from {name}"))
        .attribute(attribute, text!("{expected}"))
        .argument(1, text!("{found} along {letter}"))
        .fail()
}

/// The failure that an attribute is missing, which other operators infer from the weight.
pub(crate) fn attribute_needed<T>(call: &Call<'_>, name: &'static str) -> Result<T, Halt> {
    let operator = call.operator();
    Reason::new(Code::AttributeValue, text!("`{operator}` requires the attribute `{name}`"))
        .rule(text!("`{name}` cannot be inferred from the shape of the weight"))
        .attribute(name, "missing")
        .help(text!("write `{name}=`"))
        .fail()
}

/// Checks the data of Winograd's algorithm, of `spatial` axes, against a weight that is
/// transformed.
fn fits_transformed(call: &Call<'_>, (layout, plain): (&str, &str), channels: &Dim) -> Outcome {
    let spatial = plain.len() - 2;
    within(call, "tile_size", 2, 8)?;
    for name in ["strides", "dilation"] {
        within(call, name, 1, 1)?;
    }
    let Type::Tensor(weight) = call.ty(1) else { return Ok(()) };
    let name = call.name(1);
    if weight.rank() != spatial + 2 {
        return needs_rank(call, 1, &weight, spatial + 2, "the transformed window, I, O");
    }
    let tile = known_int(call, "tile_size").unwrap_or(2);
    // An untransformed depth is the last axis of the window.
    let is_deep = spatial == 2 || weight.shape[2].equals(&weight.shape[0]) != Some(false);
    for axis in 0..if is_deep { spatial } else { 2 } {
        let size = &weight.shape[axis];
        let window = size.as_known().map(|size| size.saturating_add(1).saturating_sub(tile));
        if window.is_some_and(|window| !(3..8).contains(&window)) {
            return fault(
                call,
                Code::ShapeMismatch,
                text!("axis {axis} of {name} has size {size}"),
            )
            .rule(text!(
                "the weight is transformed for tiles of {tile} and a window of 3 to 7 \
                     elements: {} to {}",
                tile + 2,
                tile + 6
            ))
            .axis(1, axis, size)
            .attribute("tile_size", text!("{tile}"))
            .fail();
        }
    }
    for (axis, letter) in plain.chars().skip(2).enumerate() {
        let window = match (is_deep, axis) {
            (true, _) => &weight.shape[axis] + (1 - tile),
            (false, 0) => weight.shape[2].clone(),
            (false, _) => &weight.shape[axis - 1] + (1 - tile),
        };
        if let Some(expected) = kernel_attribute(call, letter) {
            fits_attribute(call, "kernel_size", &expected, &window, letter)?;
        }
    }
    let (a, b) = (&weight.shape[spatial], &weight.shape[spatial + 1]);
    if may_equal(a, channels) || may_equal(b, channels) {
        // The inputs are the second of the two, unless only the first fits.
        let is_first = may_equal(b, channels) && (!may_equal(a, channels) || layout != plain);
        if let Some(expected) = kernel_attribute(call, 'O') {
            fits_attribute(call, "channels", &expected, if is_first { a } else { b }, 'O')?;
        }
        return Ok(());
    }
    let (x, at) = (call.name(0), layout.find('C').unwrap_or(1));
    fault(call, Code::ShapeMismatch, text!("{x} has {channels} channels, {name} is {a} by {b}"))
        .rule(text!("the last two axes of {name} are the channels of {x} and of the result"))
        .axis(0, at, channels)
        .axis(1, spatial, a)
        .axis(1, spatial + 1, b)
        .fail()
}

/// Checks that the tiles of a weight hold all products and outputs of a convolution.
fn enough_tiles(call: &Call<'_>, inputs: &Dim) -> Outcome {
    let Type::Tensor(tiles) = call.ty(1) else { return Ok(()) };
    let [across, down, rows, columns] = &tiles.shape[..] else {
        return needs_rank(
            call,
            1,
            &tiles,
            4,
            "tiles of outputs, tiles of products, rows, columns",
        );
    };
    let Some(kernel) = call.attrs().dims("kernel_size") else { return Ok(()) };
    let depth = product(kernel.iter().chain([inputs])).as_known();
    let outputs = call.attrs().dim("channels").and_then(|channels| channels.as_known());
    let name = call.name(1);
    for (found, needed, what) in
        [(across * rows, outputs, "outputs"), (down * columns, depth, "products")]
    {
        if let (Some(found), Some(needed)) = (found.as_known(), needed)
            && found < needed
        {
            let message = text!("{name} has tiles for {found} {what}, expected {needed}");
            return fault(call, Code::ShapeMismatch, message)
                .rule("the tiles hold `channels` outputs, each of kernel height · width · inputs")
                .argument(1, shape_text(&tiles.shape))
                .fail();
        }
    }
    Ok(())
}
