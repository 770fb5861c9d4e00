//! Functions and arithmetic on quantized integers.

use super::*;

const ONE: &[&str] = &["data", "scale", "zero_point", "output_scale", "output_zero_point"];
const TWO: &[&str] = &[
    "lhs",
    "rhs",
    "lhs_scale",
    "lhs_zero_point",
    "rhs_scale",
    "rhs_zero_point",
    "output_scale",
    "output_zero_point",
];

/// Returns the documentation of a unary function.
const fn function(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: &[
            "any shape; int8 or uint8",
            "float32 scalar: the scale of `data`",
            "int32 scalar: the zero point of `data`",
            "float32 scalar: the scale of the result",
            "int32 scalar: the zero point of the result",
        ],
        shape: "the type of `data`",
        example,
    }
}

const fn arithmetic(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: &[
            "any shape",
            "any shape that broadcasts with `lhs`, of the same data type",
            "float32: a scalar, or one scale for each index of `lhs_axis`",
            "int32: a scalar, or one zero point for each index of `lhs_axis`",
            "float32: a scalar, or one scale for each index of `rhs_axis`",
            "int32: a scalar, or one zero point for each index of `rhs_axis`",
            "float32 scalar: the scale of the result",
            "int32 scalar: the zero point of the result",
        ],
        shape: "`lhs` and `rhs` broadcast together, with their data type",
        example,
    }
}

const fn unary(name: &'static str, relation: &'static str, doc: Doc) -> Operator {
    op(name, ONE).domains(SCALE).rule(relation, byte_function).cost(Cost::Elementwise).doc(doc)
}

const fn binary(name: &'static str, doc: Doc) -> Operator {
    op(name, TWO)
        .domains(SCALE)
        .operands(&["lhs", "rhs"])
        .attrs(&BROADCAST)
        .rule("QnnBroadcast", broadcast_scaled)
        .cost(Cost::Elementwise)
        .doc(doc)
}

/// `qnn.add` and `qnn.mul` of TVM 0.6.
static ADD_UNSCALED: Operator = op("qnn.add", &["lhs", "rhs"])
    .operands(&["lhs", "rhs"])
    .rule("Broadcast", broadcast)
    .cost(Cost::Elementwise)
    .another();
static MUL_UNSCALED: Operator = op("qnn.mul", &["lhs", "rhs"])
    .operands(&["lhs", "rhs"])
    .rule("Broadcast", broadcast)
    .cost(Cost::Elementwise)
    .another();
/// `qnn.leaky_relu` of TVM 0.9.
static LEAKY_RELU_9: Operator = op("qnn.leaky_relu", &["data", "scale", "zero_point"])
    .in_category(Category::Activation)
    .attrs(&LEAKY_RELU)
    .rule("QLeakyRelu", |call| {
        data_of(call, 0, BYTES)?;
        known(call, 1..3)?;
        scalar_pairs(call, 1, 1)?;
        call.output_same(0)
    })
    .cost(Cost::Elementwise)
    .another();

pub(crate) static OPERATORS: &[Operator] = &[
    unary("qnn.abs", "abs", function("The absolute value.", "qnn.abs(%x, 0.1f, 0, 0.1f, 0)"))
        .since(10),
    binary(
        "qnn.add",
        arithmetic(
            "Adds two quantized tensors, and quantizes the sum.",
            "qnn.add(%x, %y, 0.1f, 0, 0.2f, 0, 0.3f, 0)",
        ),
    )
    .since(6)
    .forms(&[form(Releases::between(6, 6), 2).as_operator(&ADD_UNSCALED)]),
    unary("qnn.erf", "erf", function("The error function.", "qnn.erf(%x, 0.1f, 0, 0.01f, 0)"))
        .in_category(Category::Activation)
        .since(9),
    unary("qnn.exp", "exp", function("The exponential, `e^x`.", "qnn.exp(%x, 0.1f, 0, 0.5f, 0)"))
        .since(9),
    unary(
        "qnn.hardswish",
        "hardswish",
        function("`x · min(max(x + 3, 0), 6) / 6`.", "qnn.hardswish(%x, 0.1f, 0, 0.1f, 0)"),
    )
    .in_category(Category::Activation)
    .since(9),
    op(
        "qnn.leaky_relu",
        &["data", "input_scale", "input_zero_point", "output_scale", "output_zero_point"],
    )
    .python("x/data alpha input_scale input_zero_point output_scale output_zero_point")
    .domains(SCALE)
    .in_category(Category::Activation)
    .since(9)
    .forms(&[form(Releases::between(9, 9), 3).as_operator(&LEAKY_RELU_9)])
    .attrs(&LEAKY_RELU)
    .rule("QLeakyRelu", byte_function)
    .cost(Cost::Elementwise)
    .doc(function(
        "`data` where it is positive, `alpha · data` where it is not.",
        "qnn.leaky_relu(%x, 0.1f, 0, 0.1f, 0, alpha=0.3f)",
    )),
    unary(
        "qnn.log",
        "log",
        function("The natural logarithm.", "qnn.log(%x, 0.1f, -128, 0.05f, 0)"),
    )
    .since(9),
    binary(
        "qnn.mul",
        arithmetic(
            "Multiplies two quantized tensors, and quantizes the product.",
            "qnn.mul(%x, %y, 0.1f, 0, 0.2f, 0, 0.3f, 0)",
        ),
    )
    .since(6)
    .forms(&[form(Releases::between(6, 6), 2).as_operator(&MUL_UNSCALED)]),
    unary(
        "qnn.rsqrt",
        "rsqrt",
        function("One over the square root.", "qnn.rsqrt(%x, 0.1f, -128, 0.05f, 0)"),
    )
    .since(9),
    unary(
        "qnn.sigmoid",
        "sigmoid",
        function("`1 / (1 + e^-x)`.", "qnn.sigmoid(%x, 0.1f, 0, 0.00390625f, -128)"),
    )
    .in_category(Category::Activation)
    .since(9),
    op("qnn.softmax", ONE)
        .domains(SCALE)
        .in_category(Category::Activation)
        .since(13)
        .attrs(&SOFTMAX)
        .rule("QSoftmax", softmax)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "The exponentials along `axis`, divided by their sum.",
            args: &[
                "any shape; int8",
                "float32 scalar: the scale of `data`",
                "int32 scalar: the zero point of `data`",
                "float32 scalar: the scale of the result",
                "int32 scalar: the zero point of the result",
            ],
            shape: "the type of `data`",
            example: "qnn.softmax(%x, 0.1f, 0, 0.00390625f, -128, axis=1)",
        }),
    unary("qnn.sqrt", "sqrt", function("The square root.", "qnn.sqrt(%x, 0.1f, -128, 0.05f, 0)"))
        .since(9),
    binary(
        "qnn.subtract",
        arithmetic(
            "Subtracts two quantized tensors, and quantizes the difference.",
            "qnn.subtract(%x, %y, 0.1f, 0, 0.2f, 0, 0.3f, 0)",
        ),
    )
    .since(7),
    unary(
        "qnn.tanh",
        "tanh",
        function("The hyperbolic tangent.", "qnn.tanh(%x, 0.1f, 0, 0.0078125f, 0)"),
    )
    .in_category(Category::Activation)
    .since(9),
];

/// The relation of a function on 8-bit integers.
fn byte_function(call: &mut Call<'_>) -> Outcome {
    function_of(call, BYTES)
}

fn softmax(call: &mut Call<'_>) -> Outcome {
    let rank = call.tensor(0)?.rank();
    call.lenient(names_axis(call, "axis", 0, rank))?;
    function_of(call, &[DataType::INT8])
}

fn function_of(call: &mut Call<'_>, dtypes: &[DataType]) -> Outcome {
    data_of(call, 0, dtypes)?;
    known(call, 1..5)?;
    scalar_pairs(call, 1, 2)?;
    call.output_same(0)
}

fn broadcast_scaled(call: &mut Call<'_>) -> Outcome {
    known(call, 0..8)?;
    call.tensor(0)?;
    call.tensor(1)?;
    for (position, attr, parameters) in [(0, "lhs_axis", 2), (1, "rhs_axis", 4)] {
        let channels = side(call, attr, position)?;
        channels.parameter(call, parameters, DataType::FLOAT32)?;
        channels.parameter(call, parameters + 1, DataType::INT32)?;
    }
    scalar_pairs(call, 6, 1)?;
    broadcast(call)
}

/// Returns the channels of one side. The elements of a vector are channels, whatever the attribute
/// is.
fn side(call: &Call<'_>, attr: &'static str, position: usize) -> Result<Channels, Halt> {
    let tensor = call.tensor(position)?;
    match (tensor.rank(), tensor.shape.first()) {
        (1, Some(size)) => {
            Ok(Channels { count: size.clone(), axis: Some((position, 0)), attr: None })
        }
        (0, _) => Ok(Channels { count: Dim::known(1), axis: None, attr: None }),
        _ => Channels::of_axis(call, attr, position),
    }
}
