//! Conversions between reals and quantized integers, and between two quantizations.

use super::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("qnn.dequantize", &["data", "input_scale", "input_zero_point"])
        .python("data input_scale input_zero_point axis out_dtype")
        .in_category(Category::Normalization)
        .since(6)
        .forms(&[
            form(Releases::between(7, 13), 3)
                .defaults(&[("out_dtype", AttrDefault::DType(DataType::FLOAT32))]),
            form(Releases::between(6, 6), 1)
                .attrs(&[scale("input_scale", 1), zero_point("input_zero_point", 2)])
                .defaults(&[("out_dtype", AttrDefault::DType(DataType::FLOAT32))]),
        ])
        .attrs(&DEQUANTIZE)
        .rule("Dequantize", dequantize)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Converts quantized integers to reals: \
                      `input_scale · (data − input_zero_point)`.",
            args: &[
                "any shape; int8, uint8, int16, uint16 or int32",
                "float32: a scalar, or one scale for each index of `axis`",
                "int32: a scalar, or one zero point for each index of `axis`",
            ],
            shape: "the shape of `data`, with the data type `out_dtype` (float16 or float32)",
            example: "qnn.dequantize(%x, 0.25f, 128, out_dtype=\"float32\")",
        }),
    op("qnn.quantize", &["data", "output_scale", "output_zero_point"])
        .python("data output_scale output_zero_point axis out_dtype")
        .domains(SCALE)
        .in_category(Category::Normalization)
        .since(6)
        .forms(&[form(Releases::between(6, 6), 1)
            .attrs(&[scale("output_scale", 1), zero_point("output_zero_point", 2)])])
        .attrs(&QUANTIZE)
        .rule("Quantize", quantize)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Quantizes reals: `round(data / output_scale) + \
                      output_zero_point`, clipped to the range of `out_dtype`.",
            args: &[
                "any shape; float32",
                "float32: a scalar, or one scale for each index of `axis`",
                "int32: a scalar, or one zero point for each index of `axis`",
            ],
            shape: "the shape of `data`, with the data type `out_dtype`",
            example: "qnn.quantize(%x, 0.25f, 128, out_dtype=\"uint8\")",
        }),
    op(
        "qnn.requantize",
        &["data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"],
    )
    .domains(SCALE)
    .in_category(Category::Normalization)
    .since(6)
    .forms(&[
        form(Releases::between(7, 8), 5).defaults(&[("rounding", AttrDefault::Str("UPWARD"))]),
        form(Releases::between(6, 6), 1)
            .attrs(&[
                scale("input_scale", 1),
                zero_point("input_zero_point", 2),
                scale("output_scale", 3),
                zero_point("output_zero_point", 4),
            ])
            .defaults(&[("rounding", AttrDefault::Str("UPWARD"))]),
    ])
    .attrs(&REQUANTIZE)
    .rule("Requantize", requantize)
    .cost(Cost::Elementwise)
    .doc(Doc {
        summary: "Changes the scale and zero point of quantized integers.",
        args: &[
            "any shape; int8, uint8, int16, int32 or int64",
            "float32: a scalar, or one scale for each index of `axis`",
            "int32: a scalar, or one zero point for each index of `axis`",
            "float32 scalar",
            "int32 scalar",
        ],
        shape: "the shape of `data`, with the data type `out_dtype`",
        example: "qnn.requantize(%x, 0.5f, 0, 0.25f, 3, out_dtype=\"int8\")",
    }),
    op("qnn.simulated_dequantize", &["data", "in_dtype", "input_scale", "input_zero_point"])
        .in_category(Category::Normalization)
        .controls(&["in_dtype"])
        .since(8)
        .attrs(&DEQUANTIZE)
        .rule("QNNSimulatedDequantize", simulated)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Simulates `qnn.dequantize` on reals, with the quantized data type given \
                      at run time.",
            args: &[
                "any shape",
                "a code for the simulated data type",
                "a scalar, or one scale for each index of `axis`",
                "a scalar, or one zero point for each index of `axis`",
            ],
            shape: "the type of `data`",
            example: "qnn.simulated_dequantize(%x, 1, 0.25f, 0, out_dtype=\"float32\")",
        }),
    op("qnn.simulated_quantize", &["data", "out_dtype", "output_scale", "output_zero_point"])
        .domains(SCALE)
        .in_category(Category::Normalization)
        .controls(&["out_dtype"])
        .since(8)
        .attrs(&SIMULATED_QUANTIZE)
        .rule("QNNSimulatedQuantize", simulated)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Simulates `qnn.quantize` on reals, with the quantized \
                      data type given at run time.",
            args: &[
                "any shape",
                "a code for the simulated data type",
                "a scalar, or one scale for each index of `axis`",
                "a scalar, or one zero point for each index of `axis`",
            ],
            shape: "the type of `data`",
            example: "qnn.simulated_quantize(%x, 1, 0.25f, 0)",
        }),
];

fn quantize(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    data_of(call, 0, &[DataType::FLOAT32])?;
    let scalars = is_scalar(call, 1)? & is_scalar(call, 2)?;
    // TVM checks the axis even if it is not used, except for a scalar.
    if !(scalars && data.rank() == 0) {
        let channels = Channels::of_axis(call, "axis", 0)?;
        channels.parameter(call, 1, DataType::FLOAT32)?;
        channels.parameter(call, 2, DataType::INT32)?;
    } else {
        scalar_pairs(call, 1, 1)?;
    }
    let dtype = out_dtype(call, QUANTIZED)?;
    call.output_tensor(data.shape.clone(), dtype)
}

/// Returns true if a scale or zero point is a scalar or an unsuffixed literal.
fn is_scalar(call: &Call<'_>, position: usize) -> Result<bool, Halt> {
    match call.ty(position) {
        Type::OpenTensor(_) => Ok(true),
        _ => Ok(call.require_tensor(position)?.rank() == 0),
    }
}

fn dequantize(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    data_of(call, 0, QUANTIZED)?;
    let single = is_single(call, 1)? & is_single(call, 2)?;
    let channels = if single {
        Channels { count: Dim::known(1), axis: None, attr: None }
    } else {
        Channels::of_axis(call, "axis", 0)?
    };
    channels.parameter(call, 1, DataType::FLOAT32)?;
    channels.parameter(call, 2, DataType::INT32)?;
    let dtype = out_dtype(call, &[DataType::FLOAT16, DataType::FLOAT32])?;
    call.output_tensor(data.shape.clone(), dtype)
}

/// Returns true if a scale or zero point is a scalar or a tensor of one element.
fn is_single(call: &Call<'_>, position: usize) -> Result<bool, Halt> {
    if is_scalar(call, position)? {
        return Ok(true);
    }
    let found = call.require_tensor(position)?;
    match product(&found.shape).as_known() {
        Some(elements) => Ok(elements == 1),
        None => {
            let (operator, name) = (call.operator(), call.name(position));
            Reason::new(
                Code::TypeNeeded,
                text!(
                    "`{operator}`: the size of {name} must be known, but its shape is `{}`",
                    shape_text(&found.shape)
                ),
            )
            .rule(text!("{name} is a scalar, or has one value for each channel"))
            .argument(position, "of unknown size")
            .fail()
        }
    }
}

fn requantize(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    known(call, 3..5)?;
    let dtypes =
        [DataType::INT8, DataType::UINT8, DataType::INT16, DataType::INT32, DataType::INT64];
    data_of(call, 0, &dtypes)?;
    let channels = Channels::of_axis(call, "axis", 0)?;
    channels.parameter(call, 1, DataType::FLOAT32)?;
    channels.parameter(call, 2, DataType::INT32)?;
    scalar_pairs(call, 3, 1)?;
    let dtypes = [DataType::INT8, DataType::UINT8, DataType::INT16, DataType::INT32];
    let dtype = out_dtype(call, &dtypes)?;
    call.output_tensor(data.shape.clone(), dtype)
}

/// Scales and zero points are checked at run time.
fn simulated(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    if !matches!(call.ty(1), Type::OpenTensor(_)) {
        call.tensor(1)?;
    }
    call.lenient(names_axis(call, "axis", 0, data.rank()))?;
    call.output_tensor(data.shape.clone(), data.dtype)
}
