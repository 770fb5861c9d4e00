//! Operators of the Arm Ethos-U NPU, the output of its code generator for quantized Relay.
//!
//! A feature map is in the layout NHWC, `(batch, height, width, channels)`, or in NHCWB16,
//! `(batch, height, channels / 16, width, 16)`, which groups channels in bricks of 16.

use types::Place;

use crate::prelude::*;

const CONV: &[&str] = &["ifm", "weight", "scale_bias", "lut"];
const ONE: &[&str] = &["ifm", "lut"];

const IFM: &str = "the input feature map: `(batch, height, width, channels)` for `ifm_layout` \
                   NHWC, `(batch, height, channels / 16, width, 16)` for NHCWB16";
const LUT: &str = "a table of values for `activation=\"LUT\"`; empty otherwise";

pub(crate) static OPERATORS: &[Operator] = &[
    op("contrib.ethosu.binary_elementwise", &["ifm", "ifm2", "lut"])
        .controls(&["lut"])
        .since(8)
        .until(18)
        .attrs(&ETHOSU_BINARY_ELEMENTWISE)
        .rule("EthosuBinaryElementwise", binary_elementwise)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Adds, subtracts, multiplies, compares or shifts two feature maps.",
            args: &[IFM, "the second feature map, of the data type of the first", LUT],
            shape: "the height and width of `ifm`, with `ifm_channels` channels, in \
                    `ofm_layout`; the data type `ofm_dtype`",
            example: "contrib.ethosu.binary_elementwise(%x, %y, %lut, operator_type=\"ADD\", \
                      ifm_scale=1f, ifm_zero_point=0, ifm2_scale=1f, ifm2_zero_point=0, \
                      ofm_scale=1f, ofm_zero_point=0, ifm_channels=4, ifm2_channels=4, \
                      ofm_dtype=\"int8\")",
        }),
    op("contrib.ethosu.conv2d", CONV)
        .since(8)
        .until(18)
        .attrs(&ETHOSU_CONV2D)
        .rule("EthosuConv2D", conv2d)
        .cost(Cost::Macs(conv_macs))
        .doc(Doc {
            summary: "Quantized 2D convolution.",
            args: &[
                IFM,
                "`(ofm_channels, kernel_shape.0, kernel_shape.1, ifm_channels)`; int8 or uint8",
                "`(ofm_channels, 10)`; uint8: scale and bias of each output channel, packed",
                LUT,
            ],
            shape: "with `r = (kernel_shape − 1) · dilation + 1` and `p` the padding of both \
                    sides: `(size + p − r) / strides + 1` for height and width, and \
                    `ofm_channels` channels, in `ofm_layout`; the data type of `ifm`",
            example: "contrib.ethosu.conv2d(%x, %w, %sb, %lut, ifm_scale=1f, ifm_zero_point=0, \
                      weight_zero_point=0, ofm_scale=1f, ofm_zero_point=0, kernel_shape=[3, 3], \
                      ofm_channels=16)",
        }),
    op("contrib.ethosu.depthwise_conv2d", CONV)
        .since(8)
        .until(18)
        .attrs(&ETHOSU_DEPTHWISE_CONV2D)
        .rule("EthosuDepthwiseConv2D", depthwise_conv2d)
        .cost(Cost::Macs(conv_macs))
        .doc(Doc {
            summary: "Quantized depthwise 2D convolution.",
            args: &[
                IFM,
                "`(ofm_channels, kernel_shape.0, kernel_shape.1, 1)`; int8 or uint8",
                "`(ofm_channels, 10)`; uint8: scale and bias of each output channel, packed",
                LUT,
            ],
            shape: "height and width as `contrib.ethosu.conv2d`, with `ofm_channels` channels, \
                    in `ofm_layout`; the data type `ofm_dtype`",
            example: "contrib.ethosu.depthwise_conv2d(%x, %w, %sb, %lut, ifm_scale=1f, \
                      ifm_zero_point=0, weight_zero_point=0, ofm_scale=1f, ofm_zero_point=0, \
                      kernel_shape=[3, 3], ofm_channels=4)",
        }),
    op("contrib.ethosu.identity", ONE)
        .in_category(Category::Movement)
        .since(9)
        .until(18)
        .attrs(&ETHOSU_IDENTITY)
        .rule("EthosuIdentity", keep)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Requantizes a feature map.",
            args: &["at most four axes; int8 or uint8", LUT],
            shape: "the type of `ifm`",
            example: "contrib.ethosu.identity(%x, %lut, ifm_scale=1f, ifm_zero_point=0, \
                      ofm_scale=0.5f, ofm_zero_point=0)",
        }),
    op("contrib.ethosu.pooling", ONE)
        .since(8)
        .until(18)
        .attrs(&ETHOSU_POOLING)
        .rule("EthosuPooling", pooling)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "The mean, maximum or sum over each window of the height and width.",
            args: &[IFM, LUT],
            shape: "`(size + p − pool_shape) / strides + 1` for height and width, with `p` the \
                    padding of both sides, and `ofm_channels` channels, in `ofm_layout`; the \
                    data type `ofm_dtype`",
            example: "contrib.ethosu.pooling(%x, %lut, pooling_type=\"MAX\", ifm_scale=1f, \
                      ifm_zero_point=0, ofm_scale=1f, ofm_zero_point=0, pool_shape=[2, 2], \
                      ofm_channels=4, ofm_dtype=\"int8\", strides=[2, 2])",
        }),
    op("contrib.ethosu.unary_elementwise", ONE)
        .since(9)
        .until(18)
        .attrs(&ETHOSU_UNARY_ELEMENTWISE)
        .rule("EthosuUnaryElementwise", unary_elementwise)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "The absolute value of each element, or the number of its leading zeros.",
            args: &[IFM, LUT],
            shape: "the height and width of `ifm`, with `ofm_channels` channels, in \
                    `ofm_layout`; the data type of `ifm`",
            example: "contrib.ethosu.unary_elementwise(%x, %lut, operator_type=\"ABS\", \
                      ifm_scale=1f, ifm_zero_point=0, ofm_scale=1f, ofm_zero_point=0, \
                      ofm_channels=4)",
        }),
];

const BYTES: &[DataType] = &[DataType::INT8, DataType::UINT8];

/// Number of channels in a brick of NHCWB16.
const BRICK: i64 = 16;

fn binary_elementwise(call: &mut Call<'_>) -> Outcome {
    let (ifm, ifm2) = (call.tensor(0)?, call.tensor(1)?);
    let ofm = dtype_attr(call)?;
    if ifm.dtype != ifm2.dtype {
        return dtype_mismatch(call, (0, ifm.dtype), (1, ifm2.dtype));
    }
    const SHIFTED: &[DataType] = &[DataType::INT32];
    let (inputs, outputs): (&[DataType], &[DataType]) = match call.attrs().str("operator_type") {
        "ADD" | "SUB" | "MUL" => {
            const ALL: &[DataType] =
                &[DataType::INT8, DataType::UINT8, DataType::INT16, DataType::INT32];
            (ALL, ALL)
        }
        "MIN" | "MAX" => (BYTES, std::slice::from_ref(&ifm.dtype)),
        "SHR" => (SHIFTED, &[DataType::UINT8, DataType::INT8, DataType::INT32]),
        "SHL" => (SHIFTED, SHIFTED),
        _ => return Err(Halt::Silent),
    };
    input(call, 0, "operator_type", inputs)?;
    output(call, ofm, "operator_type", outputs)?;
    let shape = elementwise_shape(call, &ifm, "ifm_channels")?;
    call.output_tensor(shape, ofm)
}

fn unary_elementwise(call: &mut Call<'_>) -> Outcome {
    let ifm = call.tensor(0)?;
    let inputs = match call.attrs().str("operator_type") {
        "CLZ" => &[DataType::INT32],
        "ABS" => BYTES,
        _ => return Err(Halt::Silent),
    };
    input(call, 0, "operator_type", inputs)?;
    let shape = elementwise_shape(call, &ifm, "ofm_channels")?;
    call.output_tensor(shape, ifm.dtype)
}

fn keep(call: &mut Call<'_>) -> Outcome {
    let ifm = call.tensor(0)?;
    input(call, 0, "", BYTES)?;
    if ifm.rank() > 4 {
        return Reason::new(
            Code::RankMismatch,
            text!("`{}`: `ifm` has {} axes, expected at most 4", call.operator(), ifm.rank()),
        )
        .argument(0, axes(ifm.rank()))
        .fail();
    }
    call.output_tensor(ifm.shape.clone(), ifm.dtype)
}

fn conv2d(call: &mut Call<'_>) -> Outcome {
    let (ifm, weight) = (call.tensor(0)?, call.tensor(1)?);
    let scale_bias = call.tensor(2)?;
    for position in [0, 1] {
        input(call, position, "", BYTES)?;
    }
    input(call, 2, "", &[DataType::UINT8])?;
    let rows = axis(call, 1, &weight.shape, 0)?;
    let packed = Dim::known(10);
    let fits = scale_bias.rank() == 2
        && may_equal(&scale_bias.shape[0], &rows)
        && may_equal(&scale_bias.shape[1], &packed);
    if !fits {
        return Reason::new(
            Code::ShapeMismatch,
            text!(
                "`{}`: `scale_bias` has the shape `{}`, expected `({rows}, 10)`",
                call.operator(),
                shape_text(&scale_bias.shape)
            ),
        )
        .rule("`scale_bias` has 10 bytes for each output channel of `weight`")
        .argument(2, shape_text(&scale_bias.shape))
        .axis(1, 0, Fact::Size(rows.clone(), "output channels"))
        .fail();
    }
    call.assign(2, TensorType::new([rows, packed], DataType::UINT8))?;
    convolve(call, &ifm, &weight, ifm.dtype)
}

fn depthwise_conv2d(call: &mut Call<'_>) -> Outcome {
    let (ifm, weight) = (call.tensor(0)?, call.tensor(1)?);
    call.tensor(2)?;
    for position in [0, 1] {
        input(call, position, "", BYTES)?;
    }
    input(call, 2, "", &[DataType::UINT8])?;
    let ofm = dtype_attr(call)?;
    const OUTPUTS: &[DataType] =
        &[DataType::UINT8, DataType::INT8, DataType::INT16, DataType::INT32];
    output(call, ofm, "", OUTPUTS)?;
    convolve_in(call, &ifm.shape, &weight, ofm)
}

/// A convolution of a feature map that may be upscaled by 2.
fn convolve(call: &mut Call<'_>, ifm: &TensorType, weight: &TensorType, ofm: DataType) -> Outcome {
    let shape = upscaled(call, &ifm.shape)?;
    convolve_in(call, &shape, weight, ofm)
}

fn convolve_in(call: &mut Call<'_>, ifm: &Shape, weight: &TensorType, ofm: DataType) -> Outcome {
    let kernel = two(call, "kernel_shape")?;
    let channels = channels(call, "ofm_channels")?;
    let inner = axis(call, 1, &weight.shape, 3)?;
    let expected = [channels.clone(), kernel[0].clone(), kernel[1].clone(), inner];
    if weight.rank() != expected.len() {
        let rank = weight.rank();
        return Reason::new(
            Code::RankMismatch,
            text!("`{}`: `weight` must have 4 axes, but it has {rank}", call.operator()),
        )
        .argument(1, axes(rank))
        .fail();
    }
    for (at, (expected, found)) in expected.iter().zip(&weight.shape).enumerate() {
        if may_equal(expected, found) {
            continue;
        }
        let (attr, value) = match at {
            0 => ("ofm_channels", AttrValue::from(found)),
            _ => ("kernel_shape", AttrValue::list(&weight.shape[1..3])),
        };
        return Reason::new(
            Code::AttributeMismatch,
            text!(
                "`{}`: `{attr}` is {expected}, but axis {at} of `weight` has size {found}",
                call.operator()
            ),
        )
        .rule(text!(
            "`weight` is `(ofm_channels, kernel_shape.0, kernel_shape.1, …)`: `{}`",
            shape_text(&wanted_shape(&channels, &kernel))
        ))
        .attribute(attr, text!("{expected}"))
        .axis(1, at, found)
        .fix(attr, value)
        .fail();
    }
    call.assign(1, TensorType::new(expected, weight.dtype))?;
    let shape = window_shape(call, ifm, &kernel, &two(call, "dilation")?, channels)?;
    call.output_tensor(shape, ofm)
}

fn wanted_shape(channels: &Dim, kernel: &[Dim; 2]) -> Shape {
    [channels.clone(), kernel[0].clone(), kernel[1].clone()].into_iter().collect()
}

fn pooling(call: &mut Call<'_>) -> Outcome {
    let ifm = call.tensor(0)?;
    let ofm;
    if call.attrs().str("pooling_type") == "SUM" {
        const SUMMED: &[DataType] =
            &[DataType::UINT8, DataType::INT8, DataType::INT16, DataType::INT32];
        input(call, 0, "pooling_type", SUMMED)?;
        ofm = dtype_attr(call)?;
        output(call, ofm, "pooling_type", &[DataType::INT32])?;
    } else {
        const POOLED: &[DataType] = &[DataType::UINT8, DataType::INT8, DataType::INT16];
        input(call, 0, "pooling_type", POOLED)?;
        ofm = dtype_attr(call)?;
        output(call, ofm, "pooling_type", &[ifm.dtype])?;
    }
    let shape = upscaled(call, &ifm.shape)?;
    let channels = channels(call, "ofm_channels")?;
    let ones = [Dim::known(1), Dim::known(1)];
    let shape = window_shape(call, &shape, &two(call, "pool_shape")?, &ones, channels)?;
    call.output_tensor(shape, ofm)
}

/// Checks that the hardware accepts the data type of the argument at `position`, for the value
/// of `attr` if that is not empty.
fn input(call: &Call<'_>, position: usize, attr: &'static str, dtypes: &[DataType]) -> Outcome {
    let found = call.tensor(position)?.dtype;
    if dtypes.contains(&found) {
        return Ok(());
    }
    let name = call.name(position);
    let mut reason = Reason::new(
        Code::DtypeMismatch,
        text!("`{}` does not accept {found} as {name}{}", call.operator(), mode(call, attr)),
    )
    .rule(text!("{name} must be {}{}", alternatives(dtypes), mode(call, attr)))
    .argument(position, found);
    if !attr.is_empty() {
        reason = reason.attribute(attr, text!("\"{}\"", call.attrs().str(attr)));
    }
    reason.fail()
}

/// Checks that the hardware supports the data type of the result.
fn output(call: &Call<'_>, found: DataType, attr: &'static str, dtypes: &[DataType]) -> Outcome {
    if dtypes.contains(&found) {
        return Ok(());
    }
    let mut reason = Reason::new(
        Code::AttributeValue,
        text!(
            "`{}` does not support {found} as its data type{}",
            call.operator(),
            mode(call, attr)
        ),
    )
    .rule(text!("`ofm_dtype` must be {}{}", alternatives(dtypes), mode(call, attr)))
    .attribute("ofm_dtype", text!("{found}"));
    if !attr.is_empty() {
        reason = reason.attribute(attr, text!("\"{}\"", call.attrs().str(attr)));
    }
    if let [only] = dtypes {
        reason = reason.fix("ofm_dtype", *only);
    }
    reason.fail()
}

/// Returns the suffix of a message: `` for `operator_type` "SHL"``.
fn mode(call: &Call<'_>, attr: &'static str) -> Text {
    if attr.is_empty() {
        return Text::default();
    }
    text!(" for `{attr}` \"{}\"", call.attrs().str(attr))
}

/// Parses the attribute `ofm_dtype`, which is a string in these operators.
fn dtype_attr(call: &Call<'_>) -> Result<DataType, Halt> {
    let text = call.attrs().str("ofm_dtype");
    DataType::parse(text).map_or_else(
        || {
            Reason::new(
                Code::AttributeValue,
                text!("`{}`: \"{text}\" is not a data type", call.operator()),
            )
            .attribute("ofm_dtype", "not a data type")
            .help("write `ofm_dtype=\"int8\"`, for example")
            .fail()
        },
        Ok,
    )
}

/// Returns the first two values of a list, for height and width.
fn two(call: &Call<'_>, attr: &'static str) -> Result<[Dim; 2], Halt> {
    if !call.attrs().has(attr) {
        return needed(call, attr);
    }
    let Some(values) = call.attrs().dims(attr) else { return Err(Halt::Silent) };
    match &values[..] {
        [height, width, ..] => Ok([height.clone(), width.clone()]),
        values => wrong_length(call, attr, values.len(), 2),
    }
}

/// Returns the number of channels given by `attr`.
fn channels(call: &Call<'_>, attr: &'static str) -> Result<Dim, Halt> {
    if !call.attrs().has(attr) {
        return needed(call, attr);
    }
    call.attrs().dim(attr).ok_or(Halt::Silent)
}

fn needed<T>(call: &Call<'_>, attr: &'static str) -> Result<T, Halt> {
    Reason::new(
        Code::AttributeValue,
        text!("`{}` requires the attribute `{attr}`", call.operator()),
    )
    .rule(text!("the shape of the result follows from `{attr}`"))
    .mark(Place::Operator, None, text!("no `{attr}`"))
    .fail()
}

/// Returns the size of an axis, or fails if the rank is too small.
fn axis(call: &Call<'_>, position: usize, shape: &Shape, at: usize) -> Result<Dim, Halt> {
    shape.get(at).cloned().map_or_else(
        || {
            let (operator, name, rank) = (call.operator(), call.name(position), shape.len());
            Reason::new(
                Code::RankMismatch,
                text!("`{operator}`: {name} has {rank} axes, expected {} or more", at + 1),
            )
            .argument(position, axes(rank))
            .fail()
        },
        Ok,
    )
}

fn in_bricks(call: &Call<'_>, attr: &str) -> bool {
    call.attrs().str(attr) == "NHCWB16"
}

/// Returns batch, height and width of a feature map.
fn spatial(call: &Call<'_>, ifm: &Shape) -> Result<[Dim; 3], Halt> {
    let width = if in_bricks(call, "ifm_layout") { 3 } else { 2 };
    let width = axis(call, 0, ifm, width)?;
    Ok([axis(call, 0, ifm, 0)?, axis(call, 0, ifm, 1)?, width])
}

/// Returns the shape of a feature map in the layout of the result.
fn in_ofm_layout(
    call: &Call<'_>,
    [batch, height, width]: [Dim; 3],
    channels: Dim,
    attr: &'static str,
) -> Result<Shape, Halt> {
    if !in_bricks(call, "ofm_layout") {
        return Ok([batch, height, width, channels].into_iter().collect());
    }
    let Some(count) = channels.as_known() else {
        return Reason::new(
            Code::TypeNeeded,
            text!("`{}`: the number of channels must be known", call.operator()),
        )
        .rule("NHCWB16 groups channels in bricks of 16")
        .attribute(attr, text!("{channels}"))
        .fail();
    };
    let bricks = Dim::known((count - 1) / BRICK + 1);
    Ok([batch, height, bricks, width, Dim::known(BRICK)].into_iter().collect())
}

fn elementwise_shape(call: &Call<'_>, ifm: &TensorType, attr: &'static str) -> Result<Shape, Halt> {
    let spatial = spatial(call, &ifm.shape)?;
    in_ofm_layout(call, spatial, channels(call, attr)?, attr)
}

/// Returns the shape of the input, upscaled by 2 if requested.
fn upscaled(call: &Call<'_>, ifm: &Shape) -> Result<Shape, Halt> {
    if call.attrs().str("upscale") == "NONE" {
        return Ok(ifm.clone());
    }
    let [batch, height, width] = spatial(call, ifm)?;
    let mut shape = ifm.clone();
    let last = if in_bricks(call, "ifm_layout") { 2 } else { 3 };
    axis(call, 0, ifm, last)?;
    shape[0] = batch;
    shape[1] = &height * 2;
    shape[if last == 2 { 3 } else { 2 }] = &width * 2;
    Ok(shape)
}

/// Returns the shape of the result of a sliding window.
fn window_shape(
    call: &Call<'_>,
    ifm: &Shape,
    window: &[Dim; 2],
    dilation: &[Dim; 2],
    channels: Dim,
) -> Result<Shape, Halt> {
    let [batch, height, width] = spatial(call, ifm)?;
    let strides = two(call, "strides")?;
    if strides.iter().any(|stride| stride.is(0)) {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}`: a stride must not be 0", call.operator()),
        )
        .attribute("strides", "0")
        .fail();
    }
    let padding = padding_of(call)?;
    let size = |at: usize, size: &Dim| {
        let reach = (&window[at] - 1) * dilation[at].clone() + 1;
        (size + &padding[at] - reach) / strides[at].clone() + 1
    };
    let spatial = [batch, size(0, &height), size(1, &width)];
    in_ofm_layout(call, spatial, channels, "ofm_channels")
}

/// Returns the sums of the padding of both sides, for height and width.
fn padding_of(call: &Call<'_>) -> Result<[Dim; 2], Halt> {
    let sums = padding(call, "padding", 2)?;
    match &sums[..] {
        [height, width] => Ok([height.clone(), width.clone()]),
        _ => Err(Halt::Silent),
    }
}

/// One multiply-accumulate per element of the result and of a kernel.
fn conv_macs(call: &CostCall<'_>) -> Option<u64> {
    let weight = call.args.get(1)?.as_tensor()?;
    let window = product(weight.shape.get(1..)?).as_known()?;
    elements(call.result)?.checked_mul(u64::try_from(window).ok()?)
}
