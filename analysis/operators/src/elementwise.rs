//! Operators that work element by element: arithmetic, comparisons, functions, casts.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("abs", &["data"]).rule("Identity", identity),
    op("acos", &["data"]).rule("Identity", identity),
    op("acosh", &["data"]).rule("Identity", identity),
    op("add", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("asin", &["data"]).rule("Identity", identity),
    op("asinh", &["data"]).rule("Identity", identity),
    op("atan", &["data"]).rule("Identity", identity),
    op("atanh", &["data"]).rule("Identity", identity),
    op("bitwise_and", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("bitwise_not", &["data"]).rule("Identity", identity),
    op("bitwise_or", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("bitwise_xor", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("cast", &["data"]).attrs(&CAST).rule("Cast", cast),
    op("cast_like", &["data", "dtype_like"]).rule("CastLike", cast_like),
    op("ceil", &["data"]).rule("Identity", identity),
    op("clip", &["data"]).attrs(&CLIP).rule("Identity", identity),
    op("copy", &["data"]).rule("Identity", identity),
    op("cos", &["data"]).rule("Identity", identity),
    op("cosh", &["data"]).rule("Identity", identity),
    op("device_copy", &["data"]).attrs(&DEVICE_COPY).rule("Identity", identity),
    op("divide", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("equal", &["lhs", "rhs"]).rule("BroadcastComp", broadcast_compare),
    op("erf", &["data"]).rule("Identity", identity),
    op("exp", &["data"]).rule("Identity", identity),
    op("fast_erf", &["data"]).rule("Identity", identity),
    op("fast_exp", &["data"]).rule("Identity", identity),
    op("fast_tanh", &["data"]).rule("Identity", identity),
    op("fixed_point_multiply", &["data"]).attrs(&FIXED_POINT_MULTIPLY).rule("Identity", identity),
    op("fixed_point_multiply_per_axis", &["data", "fp_multiplier", "left_shift", "right_shift"]).attrs(&FIXED_POINT_MULTIPLY_PER_AXIS),
    op("floor", &["data"]).rule("Identity", identity),
    op("floor_divide", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("floor_mod", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("greater", &["lhs", "rhs"]).rule("BroadcastComp", broadcast_compare),
    op("greater_equal", &["lhs", "rhs"]).rule("BroadcastComp", broadcast_compare),
    op("hardswish", &[]).variadic(),
    op("invert_permutation", &["data"]).rule("Identity", identity),
    op("isfinite", &["data"]).rule("IdentityCompRel", predicate),
    op("isinf", &["data"]).rule("IdentityCompRel", predicate),
    op("isnan", &["data"]).rule("IdentityCompRel", predicate),
    op("left_shift", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("less", &["lhs", "rhs"]).rule("BroadcastComp", broadcast_compare),
    op("less_equal", &["lhs", "rhs"]).rule("BroadcastComp", broadcast_compare),
    op("log", &["data"]).rule("Identity", identity),
    op("log10", &["data"]).rule("Identity", identity),
    op("log2", &["data"]).rule("Identity", identity),
    op("logical_and", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("logical_not", &["data"]).rule("Identity", identity),
    op("logical_or", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("logical_xor", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("maximum", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("minimum", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("mod", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("multiply", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("negative", &["data"]).rule("Identity", identity),
    op("not_equal", &["lhs", "rhs"]).rule("BroadcastComp", broadcast_compare),
    op("on_device", &["body"]).attrs(&ON_DEVICE).rule("Identity", identity),
    op("ones_like", &["data"]).rule("Identity", identity),
    op("power", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("reinterpret", &["data"]).attrs(&CAST),
    op("right_shift", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("round", &["data"]).rule("Identity", identity),
    op("rsqrt", &["data"]).rule("Identity", identity),
    op("sigmoid", &["data"]).rule("Identity", identity),
    op("sign", &["data"]).rule("Identity", identity),
    op("sin", &["data"]).rule("Identity", identity),
    op("sinh", &["data"]).rule("Identity", identity),
    op("sqrt", &["data"]).rule("Identity", identity),
    op("subtract", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("tan", &["data"]).rule("Identity", identity),
    op("tanh", &["data"]).rule("Identity", identity),
    op("trunc", &["data"]).rule("Identity", identity),
    op("trunc_divide", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("trunc_mod", &["lhs", "rhs"]).rule("Broadcast", broadcast),
    op("zeros_like", &["data"]).rule("Identity", identity),
];

/// A truth value for each element.
fn predicate(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    call.output_tensor(data.shape.clone(), DataType::BOOL)
}

/// The shape of the argument, with the data type of the attribute.
fn cast(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(data.shape.clone(), dtype)
}

/// The shape of the first argument, with the data type of the second.
fn cast_like(call: &mut Call<'_>) -> Outcome {
    let (data, like) = (call.tensor(0)?, call.tensor(1)?);
    call.output_tensor(data.shape.clone(), like.dtype)
}
