//! Convolutions and matrix products of quantized integers. The result is a sum of products of
//! integers, and its scale the product of both scales.

use super::*;
use crate::nn_dense::packed_columns;

const CONV: &[&str] =
    &["data", "weight", "input_zero_point", "weight_zero_point", "input_scale", "weight_scale"];

/// TVM 0.6 has the scales and zero points as attributes.
const ATTRIBUTES: &[crate::CallForm] = &[form(Releases::between(6, 6), 2).attrs(&[
    zero_point("input_zero_point", 2),
    zero_point("kernel_zero_point", 3),
    scale("input_scale", 4),
    scale("kernel_scale", 5),
])];

pub(crate) static OPERATORS: &[Operator] = &[
    op("qnn.batch_matmul", &["x", "y", "x_zero_point", "y_zero_point", "x_scale", "y_scale"])
        .data(&["y"])
        .since(8)
        .attrs(&BATCH_MATMUL)
        .rule("QBatchMatmul", batch_matmul)
        .cost(Cost::Macs(|call| cost_as_in(call, "nn.batch_matmul")))
        .doc(Doc {
            summary: "Multiplies quantized matrices, batch by batch.",
            args: &[
                "`(batch, m, k)`; int8 or uint8",
                "`(batch, n, k)` with `transpose_b=True`; int8 or uint8",
                "int32 scalar",
                "int32 scalar",
                "float32 scalar",
                "float32 scalar",
            ],
            shape: "`(batch, m, n)`, int32; `transpose_a` and `transpose_b` exchange the last axes \
                of an argument",
            example: "qnn.batch_matmul(%x, %y, 0, 0, 0.5f, 0.5f, out_dtype=\"int32\", \
                  transpose_b=True)",
        }),
    op("qnn.contrib_dense_pack", CONV)
        .python(
            "data weight input_zero_point kernel_zero_point/weight_zero_point input_scale \
             kernel_scale/weight_scale kernel_layout/weight_layout units out_dtype=int32",
        )
        .since(12)
        .attrs(&DENSE_PACK)
        .rule("QnnDensePack", dense_pack)
        .cost(Cost::Macs(dense_pack_macs))
        .doc(Doc {
            summary: "`qnn.dense` with a blocked weight.",
            args: &[
                "`(batch, input_dim)`",
                "`(blocks, …, block, …)`: four axes",
                "zero point of `data`",
                "zero point of `weight`",
                "scale of `data`",
                "scale of `weight`",
            ],
            shape: "`(batch, weight.0 · weight.2)`, with the data type `out_dtype`",
            example: "qnn.contrib_dense_pack(%x, %w, 0, 0, 0.5f, 0.5f, units=64, \
                      out_dtype=\"int32\")",
        }),
    op("qnn.conv2d", CONV)
        .python(
            "data kernel/weight input_zero_point kernel_zero_point/weight_zero_point \
             input_scale kernel_scale/weight_scale kernel_size channels strides padding \
             dilation groups data_layout kernel_layout out_layout out_dtype=int32",
        )
        .since(6)
        .forms(ATTRIBUTES)
        .attrs(&CONV2D)
        .rule("QnnConv2D", conv2d)
        .cost(Cost::Macs(|call| cost_as_in(call, "nn.conv2d")))
        .doc(Doc {
            summary: "2D convolution of quantized integers.",
            args: &[
                "`(batch, in_channels, height, width)` in the layout `data_layout`; int8, uint8 \
                 or int16",
                "`(channels, in_channels / groups, height, width)` in the layout \
                 `kernel_layout`; int8, uint8 or int16",
                "int32 scalar",
                "zero point of the weight",
                "float32 scalar",
                "float32: a scalar, or one scale for each output channel",
            ],
            shape: "as `nn.conv2d`, with the data type `out_dtype` (int16, int32 or int64)",
            example: "qnn.conv2d(%x, %w, 0, 0, 0.5f, 0.25f, padding=[1, 1, 1, 1], channels=16, \
                      kernel_size=[3, 3], out_dtype=\"int32\")",
        }),
    op("qnn.conv2d_transpose", CONV)
        .python(
            "data weight input_zero_point kernel_zero_point/weight_zero_point input_scale \
             kernel_scale/weight_scale strides padding dilation groups channels kernel_size \
             data_layout kernel_layout out_layout output_padding out_dtype=int32",
        )
        .since(8)
        .attrs(&CONV2D_TRANSPOSE)
        .rule("QnnConv2DTranspose", conv2d_transpose)
        .cost(Cost::Macs(|call| cost_as_in(call, "nn.conv2d_transpose")))
        .doc(Doc {
            summary: "Transposed 2D convolution of quantized integers.",
            args: &[
                "`(batch, in_channels, height, width)` in the layout `data_layout`; int8, uint8, \
                 int16 or uint16",
                "`(in_channels, channels / groups, height, width)` in the layout \
                 `kernel_layout`; int8 or uint8",
                "int32: one value",
                "int32: zero point of the weight",
                "float32: one value",
                "float32: a scalar, or one scale for each output channel",
            ],
            shape: "as `nn.conv2d_transpose`, with the data type `out_dtype` (int16, int32 or \
                    int64)",
            example: "qnn.conv2d_transpose(%x, %w, 0, 0, 0.5f, 0.25f, channels=8, \
                      kernel_size=[2, 2], strides=[2, 2], out_dtype=\"int32\")",
        }),
    op("qnn.dense", CONV)
        .python(
            "data weight input_zero_point kernel_zero_point/weight_zero_point input_scale \
             kernel_scale/weight_scale units out_dtype=int32",
        )
        .since(6)
        .forms(ATTRIBUTES)
        .attrs(&DENSE)
        .rule("QDense", dense)
        .cost(Cost::Macs(|call| cost_as_in(call, "nn.dense")))
        .doc(Doc {
            summary: "Multiplies by the transpose of a matrix of quantized integers.",
            args: &[
                "`(d1, …, dn, input_dim)`; int8, uint8, int16 or uint16",
                "`(units, input_dim)`; int8 or uint8",
                "int32 scalar",
                "zero point of the weight",
                "float32 scalar",
                "float32: a scalar, or one scale for each unit",
            ],
            shape: "the shape of `data` with the last axis replaced by `units`; int32 or int64",
            example: "qnn.dense(%x, %w, 0, 0, 0.5f, 0.25f, units=128, out_dtype=\"int32\")",
        }),
];

fn batch_matmul(call: &mut Call<'_>) -> Outcome {
    call.tensor(0)?;
    call.tensor(1)?;
    data_of(call, 0, BYTES)?;
    data_of(call, 1, BYTES)?;
    out_dtype(call, &[DataType::INT32])?;
    known(call, 2..6)?;
    for (position, dtype) in
        [(2, DataType::INT32), (3, DataType::INT32), (4, DataType::FLOAT32), (5, DataType::FLOAT32)]
    {
        scalar(call, position, dtype)?;
    }
    as_in(call, "nn.batch_matmul")
}

fn dense(call: &mut Call<'_>) -> Outcome {
    call.tensor(0)?;
    call.tensor(1)?;
    data_of(call, 0, &[DataType::INT8, DataType::UINT8, DataType::INT16, DataType::UINT16])?;
    data_of(call, 1, BYTES)?;
    out_dtype(call, &[DataType::INT32, DataType::INT64])?;
    known(call, 2..6)?;
    scalar(call, 2, DataType::INT32)?;
    scalar(call, 4, DataType::FLOAT32)?;
    let units = call.attrs().dim("units");
    let channels = Channels { count: units.unwrap_or(Dim::Any), axis: None, attr: Some("units") };
    channels.parameter(call, 5, DataType::FLOAT32)?;
    as_in(call, "nn.dense")
}

fn dense_pack(call: &mut Call<'_>) -> Outcome {
    let (data, weight) = (call.tensor(0)?, call.tensor(1)?);
    for (position, found, expected) in [(0, data.rank(), 2), (1, weight.rank(), 4)] {
        if found != expected {
            let (operator, name) = (call.operator(), call.name(position));
            return Reason::new(
                Code::RankMismatch,
                text!("`{operator}`: {name} must have {expected} axes, but it has {found}"),
            )
            .argument(position, axes(found))
            .fail();
        }
    }
    let dtype = call.attrs().dtype("out_dtype");
    if dtype.bits == 0 {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}` requires the attribute `out_dtype`", call.operator()),
        )
        .rule("the data type of the result cannot be inferred from the arguments")
        .mark(Place::Operator, None, "no `out_dtype`")
        .help("write `out_dtype=\"int32\"`, for example")
        .fail();
    }
    call.lenient(packed_columns(call, &data, &weight))?;
    let units = &weight.shape[0] * &weight.shape[2];
    call.output_tensor([data.shape[0].clone(), units], dtype)
}

/// One multiply-accumulate per element of the result and of a row of the data.
fn dense_pack_macs(call: &CostCall<'_>) -> Option<u64> {
    let row = call.args.first()?.as_tensor()?.shape.last()?.as_known()?;
    elements(call.result)?.checked_mul(u64::try_from(row).ok()?)
}

fn conv2d(call: &mut Call<'_>) -> Outcome {
    let (data, weight) = (call.tensor(0)?, call.tensor(1)?);
    let dtypes = [DataType::INT8, DataType::UINT8, DataType::INT16];
    data_of(call, 0, &dtypes)?;
    data_of(call, 1, &dtypes)?;
    out_dtype(call, &[DataType::INT16, DataType::INT32, DataType::INT64])?;
    known(call, 2..6)?;
    scalar(call, 2, DataType::INT32)?;
    scalar(call, 4, DataType::FLOAT32)?;
    let kernel_layout = call.attrs().str("kernel_layout");
    let output = kernel_layout.find('O');
    let channels = if call.attrs().int("groups") == Some(1) {
        let axis = output_axis(call, kernel_layout, &weight)?;
        Channels { count: weight.shape[axis].clone(), axis: Some((1, axis)), attr: None }
    } else {
        let per_weight = |letter| Some(weight.shape.get(kernel_layout.find(letter)?)?.clone());
        let data_channels = call.attrs().str("data_layout").find('C');
        let Some(in_channels) = data_channels.and_then(|axis| data.shape.get(axis)) else {
            return no_letter(call, "data_layout", 'C', 0, data.rank());
        };
        let groups = call.attrs().int("groups").map(Dim::known);
        let depthwise = match (call.attrs().dim("channels"), per_weight('I'), output) {
            (Some(channels), Some(per_group), Some(_)) => {
                groups.as_ref() == Some(in_channels) && channels == per_group
            }
            _ => false,
        };
        let count = if depthwise {
            per_weight('I').zip(per_weight('O')).map(|(i, o)| i * o)
        } else {
            call.attrs().dim("channels")
        };
        let attr = (!depthwise).then_some("channels");
        Channels { count: count.unwrap_or(Dim::Any), axis: None, attr }
    };
    channels.parameter(call, 5, DataType::FLOAT32)?;
    as_in(call, "nn.conv2d")
}

/// Returns the axis of the output channels in the weight.
fn output_axis(call: &Call<'_>, layout: &str, weight: &TensorType) -> Result<usize, Halt> {
    match layout.find('O') {
        Some(axis) if axis < weight.rank() => Ok(axis),
        _ => no_letter(call, "kernel_layout", 'O', 1, weight.rank()),
    }
}

/// The failure that a layout has no axis `letter` that the argument has.
fn no_letter<T>(
    call: &Call<'_>,
    attr: &'static str,
    letter: char,
    position: usize,
    rank: usize,
) -> Result<T, Halt> {
    let (operator, name, layout) = (call.operator(), call.name(position), call.attrs().str(attr));
    Reason::new(
        Code::InvalidLayout,
        text!("`{operator}`: \"{layout}\" does not have the channels `{letter}` of {name}"),
    )
    .rule(text!("`{attr}` must contain `{letter}` among the {rank} axes of {name}"))
    .attribute(attr, text!("\"{layout}\""))
    .argument(position, axes(rank))
    .fail()
}

fn conv2d_transpose(call: &mut Call<'_>) -> Outcome {
    call.tensor(0)?;
    let weight = call.tensor(1)?;
    data_of(call, 0, &[DataType::INT8, DataType::UINT8, DataType::INT16, DataType::UINT16])?;
    data_of(call, 1, BYTES)?;
    out_dtype(call, &[DataType::INT16, DataType::INT32, DataType::INT64])?;
    known(call, 2..6)?;
    parameter(call, 3, DataType::INT32)?;
    let one = Channels { count: Dim::known(1), axis: None, attr: None };
    single(call, 2, &one, DataType::INT32)?;
    single(call, 4, &one, DataType::FLOAT32)?;
    let layout = call.attrs().str("kernel_layout");
    let axis = output_axis(call, layout, &weight)?;
    let channels = if call.attrs().int("groups") == Some(1) {
        Channels { count: weight.shape[axis].clone(), axis: Some((1, axis)), attr: None }
    } else {
        let Some(per_group) = layout.find('I').and_then(|axis| weight.shape.get(axis)) else {
            return no_letter(call, "kernel_layout", 'I', 1, weight.rank());
        };
        Channels { count: per_group * &weight.shape[axis], axis: None, attr: None }
    };
    channels.parameter(call, 5, DataType::FLOAT32)?;
    as_in(call, "nn.conv2d_transpose")
}

/// Checks a scale or zero point with a single value, as a scalar or a vector.
fn single(call: &mut Call<'_>, position: usize, one: &Channels, dtype: DataType) -> Outcome {
    let found = parameter(call, position, dtype)?;
    if found.rank() > 0 && !product(&found.shape).is(1) {
        let (operator, name) = (call.operator(), call.name(position));
        return Reason::new(
            Code::ShapeMismatch,
            text!(
                "`{operator}`: {name} must be one value, but it has the shape `{}`",
                shape_text(&found.shape)
            ),
        )
        .rule(text!("{name} applies to the whole tensor"))
        .argument(position, text!("shape {}", shape_text(&found.shape)))
        .fail();
    }
    one.parameter(call, position, dtype)
}
