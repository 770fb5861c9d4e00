//! Elementwise operators: arithmetic, comparisons, functions, casts.

use types::Place;

use crate::prelude::*;

/// A function of each element.
macro_rules! unary {
    ($name:literal, $summary:literal) => {
        op($name, &["data"]).rule("Identity", same_tensor).cost(Cost::Elementwise).doc(Doc {
            summary: $summary,
            args: &["any shape"],
            shape: "the type of `data`",
            example: concat!($name, "(%x)"),
        })
    };
}

/// A function of each element that is defined for floating point numbers.
macro_rules! floating {
    ($name:literal, $summary:literal) => {
        unary!($name, $summary).rule("Identity", floating)
    };
}

/// A predicate on each element.
macro_rules! predicate {
    ($name:literal, $summary:literal) => {
        op($name, &["data"]).rule("IdentityCompRel", predicate).cost(Cost::Elementwise).doc(Doc {
            summary: $summary,
            args: &["any shape"],
            shape: "the shape of `data`, with the data type bool",
            example: concat!($name, "(%x)"),
        })
    };
}

/// A function of two elements, under broadcasting.
macro_rules! binary {
    ($name:literal, $summary:literal) => {
        op($name, PAIR).operands(PAIR).rule("Broadcast", broadcast).cost(Cost::Elementwise).doc(
            Doc {
                summary: $summary,
                args: PAIR_SHAPES,
                shape: "`lhs` and `rhs` broadcast together, with their data type",
                example: concat!($name, "(%x, %y)"),
            },
        )
    };
}

/// A function of the bits of two integers, under broadcasting.
macro_rules! bits {
    ($name:literal, $summary:literal) => {
        binary!($name, $summary).rule("Broadcast", broadcast_bits)
    };
}

/// A comparison of two elements, under broadcasting.
macro_rules! compare {
    ($name:literal, $summary:literal) => {
        op($name, PAIR)
            .operands(PAIR)
            .rule("BroadcastComp", broadcast_compare)
            .cost(Cost::Elementwise)
            .doc(Doc {
                summary: $summary,
                args: PAIR_SHAPES,
                shape: "`lhs` and `rhs` broadcast together, with the data type bool",
                example: concat!($name, "(%x, %y)"),
            })
    };
}

const DIVISOR: &[(&str, Domain)] = &[("rhs", Domain::NonZero)];
const SHIFT: &[(&str, Domain)] = &[("rhs", Domain::Shift)];
const POSITIVE: &[(&str, Domain)] = &[("data", Domain::Open(0.0, f64::INFINITY))];
const COSINE: &[(&str, Domain)] = &[("data", Domain::Closed(-1.0, 1.0))];

const PAIR: &[&str] = &["lhs", "rhs"];
const PAIR_SHAPES: &[&str] = &[
    "any shape",
    "any shape that broadcasts with `lhs`: counted from the last axis, sizes are equal or one of \
     them is 1; of the same data type",
];

pub(crate) static OPERATORS: &[Operator] = &[
    unary!("abs", "The absolute value of each element."),
    floating!("acos", "The inverse cosine of each element.").domains(COSINE).since(7),
    floating!("acosh", "The inverse hyperbolic cosine of each element.").domains(&[("data", Domain::Closed(1.0, f64::INFINITY))]).since(7),
    binary!("add", "Elementwise `lhs + rhs`."),
    floating!("asin", "The inverse sine of each element.").domains(COSINE).since(7),
    floating!("asinh", "The inverse hyperbolic sine of each element.").since(7),
    floating!("atan", "The inverse tangent of each element.").since(6),
    floating!("atanh", "The inverse hyperbolic tangent of each element.").domains(&[("data", Domain::Open(-1.0, 1.0))]).since(7),
    bits!("bitwise_and", "The bits that are set in both integers.").since(7),
    unary!("bitwise_not", "The bits of each integer, inverted.").since(7).rule("Identity", inverted_bits),
    bits!("bitwise_or", "The bits that are set in one of two integers or in both.").since(7),
    bits!("bitwise_xor", "The bits that are set in exactly one of two integers.").since(7),
    op("cast", &["data"]).in_category(Category::Movement).keeps_data().attrs(&CAST).rule("Cast", cast).cost(Cost::Elementwise).doc(Doc {
        summary: "Converts each element to another data type.",
        args: &["any shape"],
        shape: "the shape of `data`, with the data type `dtype`",
        example: "cast(%x, dtype=\"float16\")",
    }),
    op("cast_like", &["data", "dtype_like"]).in_category(Category::Movement).keeps_data().controls(&["dtype_like"]).since(6)
        .rule("CastLike", cast_like)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Converts each element to the data type of another tensor.",
            args: &["any shape", "a tensor, of which only the data type is used"],
            shape: "the shape of `data`, with the data type of `dtype_like`",
            example: "cast_like(%x, %y)",
        }),
    unary!("ceil", "Each element rounded up to an integer."),
    op("clip", &["data"])
        .python("a/data a_min a_max").in_category(Category::Activation).attrs(&CLIP).rule("Identity", clip).cost(Cost::Elementwise).doc(
        Doc {
            summary: "Clips each element to the range from `a_min` to `a_max`.",
            args: &["any shape"],
            shape: "the type of `data`",
            example: "clip(%x, a_min=0f, a_max=6f)",
        },
    ),
    op("copy", &["data"]).keeps_data().rule("Identity", same_tensor).cost(Cost::Free).doc(Doc {
        summary: "A copy of the tensor.",
        args: &["any shape"],
        shape: "the type of `data`",
        example: "copy(%x)",
    }),
    floating!("cos", "The cosine of each element.").since(6),
    floating!("cosh", "The hyperbolic cosine of each element.").since(7),
    binary!("divide", "Elementwise `lhs / rhs`.").domains(DIVISOR),
    compare!("equal", "Elementwise `lhs == rhs`."),
    floating!("erf", "The error function of each element.").in_category(Category::Activation).since(6),
    floating!("exp", "The exponential of each element, `e^x`."),
    floating!("fast_erf", "The error function of each element, approximated by a quotient of polynomials.").in_category(Category::Activation).since(7),
    floating!("fast_exp", "The exponential of each element, approximated by a polynomial.").since(7),
    floating!("fast_tanh", "The hyperbolic tangent of each element, approximated by a quotient of polynomials.").in_category(Category::Activation).since(7),
    op("fixed_point_multiply", &["data"]).since(7)
        .attrs(&FIXED_POINT_MULTIPLY)
        .rule("Identity", same_tensor)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Multiplies integers by a real in fixed point: \
                      `round(x · multiplier · 2^(shift − 31))`.",
            args: &["any shape; integers"],
            shape: "the type of `data`",
            example: "fixed_point_multiply(%x, multiplier=1395864371, shift=1)",
        }),
    op(
        "fixed_point_multiply_per_axis",
        &["data", "fp_multiplier", "left_shift", "right_shift"],
    ).since(11)
    .attrs(&FIXED_POINT_MULTIPLY_PER_AXIS)
    .rule("FixedPointMultiplyPerAxis", multiply_per_axis)
    .cost(Cost::Elementwise)
    .doc(Doc {
        summary: "Multiplies integers by reals in fixed point, one real for each index of some \
                  axes.",
        args: &[
            "any shape; integers",
            "one multiplier for each index of `axes`; int32",
            "one shift to the left for each, taken if `is_lshift_required`; int32",
            "one shift to the right for each, taken if `is_rshift_required`; int32",
        ],
        shape: "the type of `data`",
        example: "fixed_point_multiply_per_axis(%x, %m, %l, %r, is_lshift_required=True, axes=[1])",
    }),
    unary!("floor", "Each element rounded down to an integer."),
    binary!("floor_divide", "The elementwise quotient, rounded down.").domains(DIVISOR).since(6),
    binary!("floor_mod", "The remainder of the quotient rounded down, with the sign of `rhs`.").domains(DIVISOR).since(6),
    compare!("greater", "Elementwise `lhs > rhs`."),
    compare!("greater_equal", "Elementwise `lhs >= rhs`."),
    op("hardswish", &[]).in_category(Category::Activation).since(9)
        .variadic()
        .rule("", undefined)
        .cost(Cost::Undefined("the operator is not defined"))
        .doc(Doc {
            summary: "`x · min(max(x + 3, 0), 6) / 6`. Registered in TVM without a \
                      definition.",
            args: &[],
            shape: "none: every call is rejected",
            example: "multiply(%x, divide(clip(add(%x, 3f), a_min=0f, a_max=6f), 6f))",
        }),
    op("invert_permutation", &["data"]).since(8).rule("Identity", same_tensor).cost(Cost::Free).doc(Doc {
        summary: "The permutation that undoes a permutation: `result[data[i]] = i`.",
        args: &["`(n,)`, the numbers 0 to n − 1 in some order; an integer type"],
        shape: "the type of `data`",
        example: "invert_permutation(%p)",
    }),
    predicate!("isfinite", "Tests each element for being finite: neither infinite nor NaN.").since(7),
    predicate!("isinf", "Tests each element for infinity.").since(7),
    predicate!("isnan", "Tests each element for NaN.").since(7),
    bits!("left_shift", "The bits of `lhs` shifted left by `rhs` positions.").domains(SHIFT),
    compare!("less", "Elementwise `lhs < rhs`."),
    compare!("less_equal", "Elementwise `lhs <= rhs`."),
    floating!("log", "The natural logarithm of each element.").domains(POSITIVE),
    floating!("log10", "The logarithm of each element to the base 10.").domains(POSITIVE).since(7),
    floating!("log2", "The logarithm of each element to the base 2.").domains(POSITIVE).since(7),
    binary!("logical_and", "Elementwise logical and.").since(6),
    unary!("logical_not", "Elementwise logical negation.").since(6),
    binary!("logical_or", "Elementwise logical or.").since(6),
    binary!("logical_xor", "Elementwise exclusive or.").since(7),
    binary!("maximum", "The larger of two elements."),
    binary!("minimum", "The smaller of two elements."),
    binary!("mod", "The remainder of the quotient rounded toward zero, with the sign of `lhs`.").domains(DIVISOR),
    binary!("multiply", "Elementwise `lhs · rhs`."),
    unary!("negative", "The negation of each element.").fill(Fill::Negation(0)),
    compare!("not_equal", "Elementwise `lhs != rhs`."),
    op("ones_like", &["data"]).fill(Fill::Number(1.0)).rule("Identity", same_tensor).cost(Cost::Free).doc(Doc {
        summary: "Creates a tensor of ones with the type of `data`.",
        args: &["a tensor, of which only the type is used"],
        shape: "the type of `data`",
        example: "ones_like(%x)",
    }),
    binary!("power", "Elementwise `lhs` to the power of `rhs`.").domains(&[("rhs", Domain::Exponent)]),
    op("reinterpret", &["data"]).since(6).attrs(&CAST).rule("Reinterpret", cast).cost(Cost::Free).doc(Doc {
        summary: "Reinterprets the bits of each element as another data type of the same width.",
        args: &["any shape"],
        shape: "the shape of `data`, with the data type `dtype`",
        example: "reinterpret(%x, dtype=\"int32\")",
    }),
    bits!("right_shift", "The bits of `lhs` shifted right by `rhs` positions.").domains(SHIFT),
    unary!("round", "Each element rounded to the nearest integer, halves away from zero."),
    floating!("rsqrt", "One over the square root of each element.").domains(POSITIVE).since(6),
    floating!("sigmoid", "`1 / (1 + e^-x)` of each element.").in_category(Category::Activation),
    unary!("sign", "The sign of each element: -1, 0 or 1.").since(6),
    floating!("sin", "The sine of each element.").since(6),
    floating!("sinh", "The hyperbolic sine of each element.").since(7),
    floating!("sqrt", "The square root of each element.").domains(&[("data", Domain::Closed(0.0, f64::INFINITY))]),
    binary!("subtract", "Elementwise `lhs − rhs`."),
    floating!("tan", "The tangent of each element.").since(7),
    floating!("tanh", "The hyperbolic tangent of each element.").in_category(Category::Activation),
    unary!("trunc", "Each element rounded toward zero to an integer."),
    binary!("trunc_divide", "The elementwise quotient, rounded toward zero.").domains(DIVISOR).since(9),
    binary!("trunc_mod", "The remainder of the quotient rounded toward zero, with the sign of `lhs`.").domains(DIVISOR).since(9),
    op("zeros_like", &["data"]).fill(Fill::Number(0.0)).rule("Identity", same_tensor).cost(Cost::Free).doc(Doc {
        summary: "Creates a tensor of zeros with the type of `data`.",
        args: &["a tensor, of which only the type is used"],
        shape: "the type of `data`",
        example: "zeros_like(%x)",
    }),
];

/// The rule of functions such as `exp`, which TVM types for integers too.
fn floating(call: &mut Call<'_>) -> Outcome {
    same_tensor(call)?;
    if let Type::Tensor(data) = call.ty(0)
        && (data.dtype.is_int() || data.dtype.is_uint())
    {
        let (operator, dtype) = (call.operator(), data.dtype);
        let message = text!("`{operator}` of {dtype}: the result has the data type {dtype}, too");
        let rule = text!(
            "TVM compiles `{operator}` for floating point numbers only; a run rounds the results toward zero"
        );
        let reason = Reason::new(Code::DoubtfulCall, message).rule(rule).argument(0, dtype);
        call.warn(reason.help("convert it first: `cast(…, dtype=\"float32\")`"));
    }
    Ok(())
}

fn clip(call: &mut Call<'_>) -> Outcome {
    same_tensor(call)?;
    if let (Some(low), Some(high)) = (call.attrs().float("a_min"), call.attrs().float("a_max"))
        && low > high
    {
        let message = text!("the range from {low} to {high} is empty: all elements become equal");
        let reason = Reason::new(Code::DoubtfulCall, message)
            .rule("`a_min` must not be above `a_max`")
            .attribute("a_min", text!("{low}"))
            .attribute("a_max", text!("{high}"));
        call.warn(reason);
    }
    Ok(())
}

/// The rule of shifts and of other functions of bits, which TVM types for all numbers.
fn broadcast_bits(call: &mut Call<'_>) -> Outcome {
    broadcast(call)?;
    (0..2).for_each(|position| expect_bits(call, position));
    Ok(())
}

fn inverted_bits(call: &mut Call<'_>) -> Outcome {
    same_tensor(call)?;
    expect_bits(call, 0);
    Ok(())
}

/// Warns of an argument of floating point numbers.
fn expect_bits(call: &mut Call<'_>, position: usize) {
    let Type::Tensor(tensor) = call.ty(position) else { return };
    if !tensor.dtype.is_floating() {
        return;
    }
    let (operator, name) = (call.operator(), call.name(position));
    let message =
        text!("`{operator}`: {name} is {}, which has no bits to compute with", tensor.dtype);
    let rule = text!("TVM types `{operator}` for all data types, and computes it for integers");
    let reason = Reason::new(Code::DoubtfulCall, message).rule(rule);
    let reason = reason.argument(position, tensor.dtype);
    call.warn(reason.help("convert it first: `cast(…, dtype=\"int32\")`"));
}

/// Assigns the shape of the argument with the data type bool.
fn predicate(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    call.output_tensor(data.shape.clone(), DataType::BOOL)
}

/// Assigns the shape of the argument with the data type of the attribute.
fn cast(call: &mut Call<'_>) -> Outcome {
    let shape = call.require_shape(0)?;
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(shape, dtype)
}

/// Assigns the shape of the first argument with the data type of the second.
fn cast_like(call: &mut Call<'_>) -> Outcome {
    let (data, like) = (call.require_tensor(0)?, call.require_tensor(1)?);
    call.output_tensor(data.shape.clone(), like.dtype)
}

/// Assigns the type of the first argument; the others are tensors of any type.
fn multiply_per_axis(call: &mut Call<'_>) -> Outcome {
    for position in 0..4 {
        if !matches!(call.ty(position), Type::OpenTensor(_)) {
            call.require_tensor(position)?;
        }
    }
    if call.is_tensor(0) {
        let rank = call.tensor(0)?.rank();
        call.lenient(names_axes(call, "axes", 0, rank))?;
    }
    call.output_same(0)
}

/// Fails: TVM registers the name without an operator.
fn undefined(call: &mut Call<'_>) -> Outcome {
    Reason::new(
        Code::OperatorUndefined,
        text!("`{}` is registered in TVM without a definition", call.operator()),
    )
    .mark(Place::Operator, None, "not defined")
    .help("write `multiply(x, divide(clip(add(x, 3f), a_min=0f, a_max=6f), 6f))`")
    .fail()
}
