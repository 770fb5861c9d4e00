//! Convolutions and matrix products for specific algorithms: packed bits, matrix products and
//! Winograd's algorithm, and the operators that prepare their weights.

use crate::{
    nn_conv::{
        attribute_needed, channels, kernel_size, ready_conv2d, ready_conv2d_gemm, ready_conv3d,
        ready_macs,
    },
    prelude::*,
};

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.bitpack", &["data"]).in_category(Category::Movement)
        .since(6)
        .attrs(&BIT_PACK)
        .rule("BitPack", bitpack)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Packs bits of small integers into words along `pack_axis`, one plane of \
                      words for each of `bits`.",
            args: &["any shape; the size of `pack_axis` a multiple of the bits of `pack_type`"],
            shape: "the size of `pack_axis` divided by the bits of `pack_type`, and a new axis of \
                    `bits` before `bit_axis`",
            example: "nn.bitpack(%x, bits=2, pack_axis=1, bit_axis=4, pack_type=\"uint32\")",
        }),
    op("nn.bitserial_conv2d", &["data", "weight"])
        .python(
            "data weight strides padding channels kernel_size activation_bits weight_bits \
             data_layout kernel_layout pack_dtype out_dtype unipolar",
        ).in_category(Category::Product)
        .since(6)
        .attrs(&BINARY_CONV2D)
        .rule("BinaryConv2D", bitserial_conv2d)
        .cost(Cost::Undefined("it counts bits of packed words, it does not multiply"))
        .doc(Doc {
            summary: "`nn.conv2d` on integers of few bits, computed on packed bits.",
            args: &[
                "`(N, C, H, W)`, or in the order of `data_layout`",
                "`(O, C, KH, KW)`, or `(KH, KW, C, O)` for \"NHWC\"; with an axis of bits after them \
                 if it is packed",
            ],
            shape: "`(N, channels, OH, OW)` with `OH = (H + padding − kernel_size) / strides + 1`, \
                    and `OW` likewise; `channels` and `out_dtype` must be specified",
            example: "nn.bitserial_conv2d(%x, %w, channels=32, kernel_size=[3, 3], \
                      padding=[1, 1], out_dtype=\"int16\")",
        }),
    op("nn.bitserial_dense", &["data", "weight"]).in_category(Category::Product)
        .since(6)
        .attrs(&BINARY_DENSE)
        .rule("BinaryDense", bitserial_dense)
        .cost(Cost::Undefined("it counts bits of packed words, it does not multiply"))
        .doc(Doc {
            summary: "`nn.dense` on integers of few bits, computed on packed bits.",
            args: &["`(N, input_dim)`", "`(units, input_dim)`, or `(units, bits, words)` if it is packed"],
            shape: "`(N, units)`",
            example: "nn.bitserial_dense(%x, %w, units=32, out_dtype=\"int16\")",
        }),
    op("nn.contrib_conv2d_gemm_weight_transform", &["weights"])
        .since(7)
        .attrs(&CONV_GEMM_WEIGHT_TRANSFORM)
        .rule("Conv2DGemmWeightTransform", gemm_weight)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Tiles a weight, for `nn.contrib_conv2d_gemm_without_weight_\
                      transform`.",
            args: &["`(KH, KW, I, O)`"],
            shape: "`(O / tile_rows, K / tile_cols, tile_rows, tile_cols)` with `K = KH · KW · I`, \
                    where `O` is rounded up to whole `tile_rows` and `K` to whole `4 · tile_cols`",
            example: "nn.contrib_conv2d_gemm_weight_transform(%w, tile_rows=4, tile_cols=16)",
        }),
    op("nn.contrib_conv2d_gemm_without_weight_transform", &["data", "weight"])
        .since(7)
        .attrs(&CONV2D)
        .rule("Conv2DGemm", ready_conv2d_gemm)
        .cost(Cost::Macs(ready_macs))
        .doc(Doc {
            summary: "`nn.conv2d` as a product of matrices, with a weight in tiles.",
            args: &[
                "`(N, H, W, C)`, or in the order of `data_layout`",
                "the result of `nn.contrib_conv2d_gemm_weight_transform`",
            ],
            shape: "as `nn.conv2d` has it; `channels` and `kernel_size` must be specified",
            example: "nn.contrib_conv2d_gemm_without_weight_transform(%x, %w, channels=32, \
                      kernel_size=[3, 3], data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
        }),
    op("nn.contrib_conv2d_winograd_nnpack_weight_transform", &["weight"])
        .since(6)
        .attrs(&CONV2D_WINOGRAD_NNPACK_WEIGHT_TRANSFORM)
        .rule("Conv2DWinogradNNPACKWeightTransform", nnpack_weight)
        .cost(Cost::Undefined("it depends on the transform that NNPACK chooses"))
        .doc(Doc {
            summary: "Transforms a weight for Winograd's algorithm as NNPACK computes it.",
            args: &["`(O, I, KH, KW)`"],
            shape: "`(O, I, 8, 8)`",
            example: "nn.contrib_conv2d_winograd_nnpack_weight_transform(%w, \
                      convolution_algorithm=3)",
        }),
    op("nn.contrib_conv2d_winograd_weight_transform", &["weight"])
        .attrs(&CONV_WINOGRAD_WEIGHT_TRANSFORM)
        .rule("Conv2DWinogradWeightTransform", winograd_weight2d)
        .cost(Cost::Undefined("it runs once, before the convolution"))
        .doc(Doc {
            summary: "Transforms a weight for Winograd's algorithm, for `nn.contrib_conv2d_\
                      winograd_without_weight_transform`.",
            args: &["`(O, I, KH, KW)`"],
            shape: "`(tile_size + KH − 1, tile_size + KW − 1, O, I)`",
            example: "nn.contrib_conv2d_winograd_weight_transform(%w, tile_size=4)",
        }),
    op("nn.contrib_conv2d_winograd_without_weight_transform", &["data", "weight"])
        .attrs(&CONV2D_WINOGRAD)
        .rule("Conv2DWinograd", ready_conv2d)
        .cost(Cost::Macs(ready_macs))
        .doc(Doc {
            summary: "`nn.conv2d` by Winograd's algorithm, with a weight transformed \
                      in advance.",
            args: &[
                "`(N, C, H, W)`, or in the order of `data_layout`",
                "the result of `nn.contrib_conv2d_winograd_weight_transform`",
            ],
            shape: "as `nn.conv2d` has it; `channels` and `kernel_size` must be specified",
            example: "nn.contrib_conv2d_winograd_without_weight_transform(%x, %w, tile_size=4, \
                      padding=[1, 1], channels=64, kernel_size=[3, 3])",
        }),
    op("nn.contrib_conv3d_winograd_weight_transform", &["weight"])
        .since(7)
        .attrs(&CONV_WINOGRAD_WEIGHT_TRANSFORM)
        .rule("Conv3DWinogradWeightTransform", winograd_weight3d)
        .cost(Cost::Undefined("it runs once, before the convolution"))
        .doc(Doc {
            summary: "Transforms a weight for Winograd's algorithm, for `nn.contrib_conv3d_\
                      winograd_without_weight_transform`.",
            args: &["`(O, I, KD, KH, KW)`"],
            shape: "`(t + KD − 1, t + KH − 1, t + KW − 1, O, I)` with `t = tile_size`; where `KD` \
                    is not 3 to 7, the depth stays: `(t + KH − 1, t + KW − 1, KD, O, I)`",
            example: "nn.contrib_conv3d_winograd_weight_transform(%w, tile_size=2)",
        }),
    op("nn.contrib_conv3d_winograd_without_weight_transform", &["data", "weight"])
        .since(7)
        .attrs(&CONV3D_WINOGRAD)
        .rule("Conv3DWinograd", ready_conv3d)
        .cost(Cost::Macs(ready_macs))
        .doc(Doc {
            summary: "`nn.conv3d` by Winograd's algorithm, with a weight transformed \
                      in advance.",
            args: &[
                "`(N, C, D, H, W)`, or in the order of `data_layout`",
                "the result of `nn.contrib_conv3d_winograd_weight_transform`",
            ],
            shape: "as `nn.conv3d` has it; `channels` and `kernel_size` must be specified",
            example: "nn.contrib_conv3d_winograd_without_weight_transform(%x, %w, tile_size=2, \
                      padding=[1, 1, 1], channels=8, kernel_size=[3, 3, 3])",
        }),
];

fn bitpack(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let number = |name| call.attrs().int(name).ok_or(Halt::Silent);
    let (bits, pack_axis) = (number("bits")?, number("pack_axis")?);
    let bit_axis = number("bit_axis")?;
    let pack_type = call.attrs().dtype("pack_type");
    let rank = data.rank() as i64;
    call.lenient(fits_words(call, &data, pack_type))?;
    let mut shape = Shape::new();
    for (axis, size) in (0..).zip(&data.shape) {
        if axis == bit_axis {
            shape.push(Dim::known(bits));
        }
        shape.push(if axis == pack_axis {
            if pack_type.bits == 0 {
                return no_pack_type(call);
            }
            size / i64::from(pack_type.bits)
        } else {
            size.clone()
        });
    }
    if bit_axis == rank {
        shape.push(Dim::known(bits));
    }
    call.output_tensor(shape, pack_type)
}

/// Checks the axes of packing and of the bits, and that the elements fill whole words.
fn fits_words(call: &Call<'_>, data: &TensorType, pack_type: DataType) -> Outcome {
    let rank = data.rank();
    if pack_type.is_void() {
        return no_pack_type(call);
    }
    within(call, "bits", 1, 8)?;
    names_axis(call, "pack_axis", 0, rank)?;
    within(call, "bit_axis", 0, rank as i64)?;
    let word = i64::from(pack_type.bits);
    if !pack_type.is_uint() || word < 8 {
        return fault(call, Code::AttributeValue, text!("`pack_type` is {pack_type}"))
            .rule("a word is of an unsigned integer type of 8 bits or more")
            .attribute("pack_type", text!("{pack_type}"))
            .fix("pack_type", "uint32")
            .fail();
    }
    let axis = known_int(call, "pack_axis").and_then(|axis| normal_axis(axis, rank));
    let Some(axis) = axis else { return Ok(()) };
    let size = &data.shape[axis];
    if size.as_known().is_none_or(|size| size % word == 0) {
        return Ok(());
    }
    let name = call.name(0);
    fault(
        call,
        Code::ShapeMismatch,
        text!("axis {axis} of {name} has size {size}, a {pack_type} has {word} bits"),
    )
    .rule("each word is filled: its bits divide the size of the axis that is packed")
    .axis(0, axis, size)
    .attribute("pack_type", text!("{pack_type}"))
    .fail()
}

/// Checks that the data and the weight of a bit-serial product have as many channels, given as the
/// position of the argument, the axis and the size; the weight may be packed in words.
fn same_channels(
    call: &Call<'_>,
    data: (usize, &Dim),
    weight: (usize, &Dim),
    packed: bool,
) -> Outcome {
    let bits = match call.ty(1) {
        Type::Tensor(weight) if packed => i64::from(weight.dtype.bits),
        _ => 1,
    };
    let channels = weight.1 * bits;
    if may_equal(data.1, &channels) {
        return Ok(());
    }
    let (x, w, found) = (call.name(0), call.name(1), data.1);
    fault(call, Code::ShapeMismatch, text!("{x} has {found} channels, {w} is for {channels}"))
        .rule(text!("the channels of {x} are multiplied with those of {w}"))
        .axis(0, data.0, found)
        .axis(1, weight.0, weight.1)
        .fail()
}

fn no_pack_type<T>(call: &Call<'_>) -> Result<T, Halt> {
    let operator = call.operator();
    Reason::new(Code::AttributeValue, text!("`{operator}` needs `pack_type`, the type of a word"))
        .rule("the size of `pack_axis` is divided by the bits of `pack_type`")
        .attribute("pack_type", "no type")
        .fix("pack_type", "uint32")
        .fail()
}

fn bitserial_conv2d(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let nchw = Layout::plain("NCHW");
    let layout = needs_axes(call, "data_layout", layout_attr(call, "data_layout")?, &nchw)?;
    let dshape = in_layout(call, 0, &data, &layout, &nchw)?;
    for name in ["activation_bits", "weight_bits"] {
        call.lenient(within(call, name, 1, 64))?;
    }
    if let (Type::Tensor(weight), Some(at)) = (call.ty(1), layout.index_of('C'))
        && matches!(weight.rank(), 4 | 5)
    {
        let axis = if call.attrs().str("data_layout") == "NHWC" { 2 } else { 1 };
        let (found, expected) = ((at, &dshape[1]), (axis, &weight.shape[axis]));
        call.lenient(same_channels(call, found, expected, weight.rank() == 5))?;
    }
    let Some(channels) = channels(call)? else { return attribute_needed(call, "channels") };
    let Some(kernel) = kernel_size(call)? else { return attribute_needed(call, "kernel_size") };
    if call.is_tensor(1) {
        let weight = call.tensor(1)?;
        call.lenient(fits_attributes(call, &weight, &channels, &kernel))?;
    }
    let pad = padding(call, "padding", 2)?;
    let strides = list(call, "strides")?;
    call.lenient(at_least(call, "strides", 1))?;
    let mut shape: Shape = [dshape[0].clone(), channels].into_iter().collect();
    for (i, letter) in ['H', 'W'].into_iter().enumerate() {
        let kernel = element(call, "kernel_size", &kernel, i, 2)?;
        let stride = element(call, "strides", &strides, i, 2)?;
        let (size, axis) = (&dshape[2 + i], layout.index_of(letter).unwrap_or(2 + i));
        let slack = size + &pad[i] - kernel.clone();
        shape.push(trunc_div(call, "strides", &slack, &stride)? + 1);
        let window = Window { axis, letter, size, pad: &pad[i], reach: &kernel };
        call.lenient(window.fits(call, &shape[2 + i]))?;
    }
    let Some(shape) = nchw.convert(&shape, &layout) else { return Err(Halt::Silent) };
    let dtype = call.attrs().dtype("out_dtype");
    call.output_tensor(shape, dtype)
}

/// Checks that a weight, which TVM does not check, has the kernels that the attributes describe. Its
/// layout follows that of the data; a packed weight has one axis more, of bits.
fn fits_attributes(
    call: &Call<'_>,
    weight: &TensorType,
    channels: &Dim,
    kernel: &Shape,
) -> Outcome {
    if !matches!(weight.rank(), 4 | 5) {
        return needs_rank(call, 1, weight, 4, "O, I, KH, KW, or 5 if it is packed");
    }
    let (outputs, first) = match call.attrs().str("data_layout") {
        "NHWC" => (3, 0),
        _ => (0, 2),
    };
    let name = call.name(1);
    let window = kernel.iter().take(2).zip(first..).map(|(size, axis)| ("kernel_size", size, axis));
    for (attribute, expected, axis) in window.chain([("channels", channels, outputs)]) {
        let found = &weight.shape[axis];
        if !may_equal(found, expected) {
            let message =
                text!("`{attribute}` says {expected}, but {name} has size {found} on axis {axis}");
            return fault(call, Code::AttributeMismatch, message)
                .rule(text!(
                    "the type of the result follows from `{attribute}`, its elements from {name}"
                ))
                .attribute(attribute, text!("{expected}"))
                .axis(1, axis, found)
                .fail();
        }
    }
    Ok(())
}

fn bitserial_dense(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let units = match call.attrs().get("units") {
        AttrValue::None => return attribute_needed(call, "units"),
        value => whole(call, "units", value)?,
    };
    let mut shape = data.shape.clone();
    let Some(last) = shape.last_mut() else {
        return Reason::new(
            Code::RankMismatch,
            text!("`{}`: {} is a scalar and has no features", call.operator(), call.name(0)),
        )
        .argument(0, "a scalar")
        .fail();
    };
    *last = units.clone();
    call.lenient(needs_rank(call, 0, &data, 2, "batch, features"))?;
    if call.is_tensor(1) {
        let weight = call.tensor(1)?;
        call.lenient(has_units(call, &weight, &units))?;
    }
    for name in ["data_bits", "weight_bits"] {
        call.lenient(within(call, name, 1, 64))?;
    }
    if let (Type::Tensor(weight), Some(columns)) = (call.ty(1), data.shape.last())
        && matches!(weight.rank(), 2 | 3)
    {
        let axis = weight.rank() - 1;
        let (found, expected) = ((data.rank() - 1, columns), (axis, &weight.shape[axis]));
        call.lenient(same_channels(call, found, expected, axis == 2))?;
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    call.output_tensor(shape, dtype)
}

/// Checks that a weight, which TVM does not check, has a row for each of `units`.
fn has_units(call: &Call<'_>, weight: &TensorType, units: &Dim) -> Outcome {
    if !matches!(weight.rank(), 2 | 3) {
        return needs_rank(call, 1, weight, 2, "units, features, or 3 if it is packed");
    }
    let (found, name) = (&weight.shape[0], call.name(1));
    if may_equal(found, units) {
        return Ok(());
    }
    fault(call, Code::AttributeMismatch, text!("`units` is {units}, but {name} has {found} rows"))
        .rule(text!("{name} has a row for each of the `units` of the result"))
        .attribute("units", text!("{units}"))
        .axis(1, 0, found)
        .fix("units", found)
        .fail()
}

fn gemm_weight(call: &mut Call<'_>) -> Outcome {
    let weight = call.tensor(0)?;
    let [height, width, inputs, outputs] = &weight.shape[..] else {
        return wrong_rank(call, weight.rank(), "KH, KW, I, O");
    };
    let number = |name| call.attrs().int(name).map(Dim::known).ok_or(Halt::Silent);
    let (rows, columns) = (number("tile_rows")?, number("tile_cols")?);
    let reduced = height * width * inputs.clone();
    let reduced = round_up(call, "tile_cols", &reduced, &(&columns * 4))?;
    let outputs = round_up(call, "tile_rows", outputs, &rows)?;
    call.output_tensor(
        [outputs / rows.clone(), reduced / columns.clone(), rows, columns],
        weight.dtype,
    )
}

/// Rounds `size` up to a multiple of `unit`, the value of the attribute `name`.
fn round_up(call: &Call<'_>, name: &'static str, size: &Dim, unit: &Dim) -> Result<Dim, Halt> {
    if unit.is(0) {
        return Reason::new(Code::AttributeValue, text!("`{}`: `{name}` is 0", call.operator()))
            .rule("a tile has at least one row and one column")
            .attribute(name, "0")
            .fail();
    }
    let rest = size % unit;
    if rest.is(0) {
        return Ok(size.clone());
    }
    Ok(size + &(unit - &rest))
}

fn nnpack_weight(call: &mut Call<'_>) -> Outcome {
    let weight = call.tensor(0)?;
    let [outputs, inputs, _, _] = &weight.shape[..] else {
        return wrong_rank(call, weight.rank(), "O, I, KH, KW");
    };
    let dtype = dtype_or(call, "out_dtype", weight.dtype);
    call.output_tensor([outputs.clone(), inputs.clone(), Dim::known(8), Dim::known(8)], dtype)
}

fn winograd_weight2d(call: &mut Call<'_>) -> Outcome {
    let weight = call.tensor(0)?;
    let [outputs, inputs, height, width] = &weight.shape[..] else {
        return wrong_rank(call, weight.rank(), "O, I, KH, KW");
    };
    call.lenient(square_window(call, 2, &[height, width]))?;
    let tile = |size: &Dim| tile_and(call, size);
    let shape = [tile(height)?, tile(width)?, outputs.clone(), inputs.clone()];
    call.output_tensor(shape, weight.dtype)
}

fn winograd_weight3d(call: &mut Call<'_>) -> Outcome {
    let weight = call.tensor(0)?;
    let [outputs, inputs, depth, height, width] = &weight.shape[..] else {
        return wrong_rank(call, weight.rank(), "O, I, KD, KH, KW");
    };
    // The depth is transformed if there is a transform for it.
    match depth.as_known().is_some_and(|depth| (3..8).contains(&depth)) {
        true => call.lenient(square_window(call, 2, &[depth, height, width]))?,
        false => call.lenient(square_window(call, 3, &[height, width]))?,
    }
    let (outputs, inputs) = (outputs.clone(), inputs.clone());
    let tile = |size: &Dim| tile_and(call, size);
    let shape = match depth.as_known() {
        Some(3..8) => [tile(depth)?, tile(height)?, tile(width)?, outputs, inputs],
        Some(_) => [tile(height)?, tile(width)?, depth.clone(), outputs, inputs],
        // The axes are known at run time only.
        None => [Dim::Any, Dim::Any, Dim::Any, outputs, inputs],
    };
    call.output_tensor(shape, weight.dtype)
}

/// Checks that the sides of a window, from axis `first` on, are equal and that there is a transform
/// for them: tiles of 2 to 8 elements and windows of 3 to 7.
fn square_window(call: &Call<'_>, first: usize, sides: &[&Dim]) -> Outcome {
    within(call, "tile_size", 2, 8)?;
    let name = call.name(0);
    let rule = "the sides of the window are equal, 3 to 7 elements long";
    for (k, side) in sides.iter().enumerate() {
        let fits = side.as_known().is_none_or(|side| (3..8).contains(&side));
        if !fits || !may_equal(side, sides[0]) {
            let axis = first + k;
            return fault(
                call,
                Code::ShapeMismatch,
                text!("axis {axis} of {name} has size {side}"),
            )
            .rule(rule)
            .axis(0, axis, *side)
            .axis(0, first, sides[0])
            .fail();
        }
    }
    Ok(())
}

/// `tile_size + size - 1`
fn tile_and(call: &Call<'_>, size: &Dim) -> Result<Dim, Halt> {
    let tile = call.attrs().int("tile_size").ok_or(Halt::Silent)?;
    Ok(Dim::known(tile) + size.clone() - 1)
}

fn wrong_rank<T>(call: &Call<'_>, rank: usize, letters: &str) -> Result<T, Halt> {
    let (operator, name) = (call.operator(), call.name(0));
    let expected = letters.split(", ").count();
    Reason::new(
        Code::RankMismatch,
        text!("`{operator}`: {name} must have {expected} axes ({letters}), but it has {rank}"),
    )
    .argument(0, axes(rank))
    .fail()
}
