//! Concatenation and pooling of quantized integers.

use super::*;

/// `qnn.concatenate` of TVM 0.6.
static CONCATENATE_6: Operator = op("qnn.concatenate", &["data"])
    .in_category(Category::Movement)
    .tuples(&["data"])
    .attrs(&CONCATENATE)
    .rule("Concatenate", crate::shape::join::concatenate)
    .cost(Cost::Elementwise)
    .another();

pub(crate) static OPERATORS: &[Operator] = &[
    op(
        "qnn.avg_pool2d",
        &["data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"],
    )
    .python(
        "data input_scale input_zero_point output_scale output_zero_point pool_size \
             strides padding dilation ceil_mode count_include_pad layout out_layout",
    )
    .domains(SCALE)
    .since(13)
    .attrs(&AVG_POOL2D)
    .rule("QnnAvgPool2D", avg_pool2d)
    .cost(Cost::Reduction)
    .doc(Doc {
        summary: "The mean over each window of the two spatial axes, requantized.",
        args: &[
            "`(batch, channels, height, width)` in the layout `layout`; int8 or uint8",
            "float32 scalar",
            "int32 scalar",
            "float32 scalar",
            "int32 scalar",
        ],
        shape: "as `nn.avg_pool2d`, with the data type of `data`",
        example: "qnn.avg_pool2d(%x, 0.5f, 0, 0.5f, 0, pool_size=[2, 2], strides=[2, 2])",
    }),
    op(
        "qnn.concatenate",
        &["data", "input_scales", "input_zero_points", "output_scale", "output_zero_point"],
    )
    .in_category(Category::Movement)
    .tuples(&["data", "input_scales", "input_zero_points"])
    .since(6)
    .forms(&[form(Releases::between(6, 6), 1)
        .attrs(&[
            was("input_scales", AttrType::Any, AttrDefault::Required, Becomes::Nothing),
            was("input_zero_points", AttrType::Any, AttrDefault::Required, Becomes::Nothing),
            was("output_scale", AttrType::Float, AttrDefault::Required, Becomes::Nothing),
            was("output_zero_point", AttrType::Int, AttrDefault::Required, Becomes::Nothing),
        ])
        .as_operator(&CONCATENATE_6)])
    .attrs(&CONCATENATE)
    .rule("QnnConcatenate", concatenate)
    .cost(Cost::Elementwise)
    .doc(Doc {
        summary: "Joins quantized tensors along `axis`, requantized to one scale and zero point.",
        args: &[
            "a tuple of tensors with equal sizes on all axes but `axis`",
            "a tuple of float32 scalars, one for each tensor",
            "a tuple of int32 scalars, one for each tensor",
            "float32 scalar",
            "int32 scalar",
        ],
        shape: "the shape of the first tensor, with `axis` the sum of all",
        example: "qnn.concatenate((%x, %y), (0.5f, 0.25f), (0, 3), 0.5f, 0, axis=1)",
    }),
];

fn avg_pool2d(call: &mut Call<'_>) -> Outcome {
    data_of(call, 0, BYTES)?;
    known(call, 1..5)?;
    scalar_pairs(call, 1, 2)?;
    as_in(call, "nn.avg_pool2d")
}

fn concatenate(call: &mut Call<'_>) -> Outcome {
    known(call, 0..1)?;
    fields(call, 1, DataType::FLOAT32)?;
    fields(call, 2, DataType::INT32)?;
    known(call, 3..5)?;
    scalar_pairs(call, 3, 1)?;
    as_in(call, "concatenate")
}

/// Checks a tuple of scales or zero points.
fn fields(call: &Call<'_>, position: usize, dtype: DataType) -> Outcome {
    let (operator, name) = (call.operator(), call.name(position));
    for (k, field) in call.tuple(position)?.iter().enumerate() {
        let wrong = match field {
            Type::Var(_) | Type::Param(_) => return Err(Halt::NotYet),
            Type::Error => return Err(Halt::Silent),
            // An unsuffixed literal has the required data type.
            Type::OpenTensor(_) => continue,
            Type::Tensor(tensor) if tensor.rank() > 0 => (
                Code::RankMismatch,
                text!(
                    "`{operator}`: field {k} of {name} must be a scalar, but it has the shape `{}`",
                    shape_text(&tensor.shape)
                ),
            ),
            Type::Tensor(tensor) if tensor.dtype != dtype => (
                Code::DtypeMismatch,
                text!(
                    "`{operator}`: field {k} of {name} is {}, but it must be {dtype}",
                    tensor.dtype
                ),
            ),
            Type::Tensor(_) => continue,
            other => (
                Code::ArgumentType,
                text!(
                    "`{operator}`: field {k} of {name} is {}, not a scalar",
                    Fact::Described(other.clone())
                ),
            ),
        };
        return Reason::new(wrong.0, wrong.1)
            .rule(text!("each field of {name} is a scalar of type {dtype}"))
            .mark(Place::Field(position, k), None, Fact::Described(field.clone()))
            .fail();
    }
    Ok(())
}
