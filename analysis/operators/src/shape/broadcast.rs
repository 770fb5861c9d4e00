//! Operators that broadcast to a larger shape, and their inverses.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("broadcast_to", &["data"]).keeps_data()
        .attrs(&INIT_OP)
        .rule("BroadCastTo", broadcast_to)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Broadcasts a tensor to a given shape.",
            args: &["a tensor whose sizes, from the last axis on, are those of `shape` or 1"],
            shape: "`shape`, with the data type of `data`",
            example: "broadcast_to(%x, shape=[4, 3])",
        }),
    op("broadcast_to_like", &["data", "broadcast_type"]).keeps_data().controls(&["broadcast_type"])
        .rule("BroadCastToLike", broadcast_to_like)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Broadcasts a tensor to the shape of another one.",
            args: &[
                "a tensor whose sizes, from the last axis on, are those of `broadcast_type` or 1",
                "a tensor of the target type, whose elements are not used",
            ],
            shape: "the type of `broadcast_type`",
            example: "broadcast_to_like(%x, %y)",
        }),
    op("collapse_sum_like", &["data", "collapse_type"]).controls(&["collapse_type"])
        .rule("CollapseSumLike", collapse_sum_like)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Sums over broadcast axes, down to the shape of another tensor.",
            args: &[
                "a tensor that `collapse_type` broadcasts to",
                "a tensor of the target type, whose elements are not used",
            ],
            shape: "the type of `collapse_type`",
            example: "collapse_sum_like(%grad, %x)",
        }),
    op("collapse_sum_to", &["data", "shape"]).controls(&["shape"]).since(7)
        .detached_attrs(&INIT_OP)
        .rule("CollapseSumTo", collapse_sum_to)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Sums over broadcast axes, down to a given shape.",
            args: &["any tensor", "the target shape: `(rank,)` integers"],
            shape: "the attribute `shape`, or as many dynamic sizes as the argument `shape` has \
                    elements, with the data type of `data`",
            example: "collapse_sum_to(%grad, %shape, shape=[3], \
                      attrs_type_key=\"relay.attrs.InitOpAttrs\")",
        }),
    op("repeat", &["data"]).fill(Fill::Argument(0)).since(6).attrs(&REPEAT).rule("Repeat", repeat).cost(Cost::Free).doc(Doc {
        summary: "Repeats each element along one axis.",
        args: &["any tensor that has the axis `axis`"],
        shape: "the shape of `data`, with the size of axis `axis` multiplied by `repeats`",
        example: "repeat(%x, repeats=2, axis=0)",
    }),
    op("tile", &["data"]).fill(Fill::Argument(0)).since(6).attrs(&TILE).rule("Tile", tile).cost(Cost::Free).doc(Doc {
        summary: "Repeats the whole tensor along each axis.",
        args: &["any tensor"],
        shape: "the sizes of `data` times those of `reps`, aligned at the last axis; the shorter one \
                is padded with 1 at the front",
        example: "tile(%x, reps=[2, 1])",
    }),
];

/// Checks that an argument broadcasts to a type.
fn broadcasts_to(
    call: &Call<'_>,
    (position, from): (usize, &TensorType),
    (target, to): (Fact, &TensorType),
) -> Outcome {
    let name = call.name(position);
    if from.dtype != to.dtype {
        return fault(
            call,
            Code::DtypeMismatch,
            text!("{name} is {}, but {target} is {}", from.dtype, to.dtype),
        )
        .rule("broadcasting does not change the data type")
        .argument(position, from.dtype)
        .fail();
    }
    let (m, n) = (from.rank(), to.rank());
    let skew = (1..=m.min(n)).find(|i| {
        let size = &from.shape[m - i];
        !size.is(1) && !may_equal(size, &to.shape[n - i])
    });
    if m > n || skew.is_some() {
        let mut reason = fault(
            call,
            Code::BroadcastMismatch,
            text!(
                "{name} of shape `{}` does not broadcast to {target} of shape `{}`",
                shape_text(&from.shape),
                shape_text(&to.shape)
            ),
        );
        if m > n {
            reason = reason
                .rule(text!("broadcasting adds axes and removes none: {m} axes cannot become {n}"))
                .argument(position, axes(m));
        } else if let Some(i) = skew {
            let (size, expected) = (&from.shape[m - i], &to.shape[n - i]);
            reason = reason
                .rule(text!(
                    "counted from the last axis, each size of {name} must be 1 or the target size; \
                     axis {} is {size}, expected {expected}",
                    m - i
                ))
                .axis(position, m - i, size);
        }
        return reason.fail();
    }
    Ok(())
}

/// Returns the broadcast of two compatible shapes.
fn broadcast_of(a: &TensorType, b: &TensorType) -> Result<TensorType, Halt> {
    let shape = broadcast_shapes(&a.shape, &b.shape).or(Err(Halt::Silent))?;
    Ok(TensorType::of(shape, a.dtype))
}

fn broadcast_to(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let Some(shape) = optional_dims(call, "shape")? else {
        return attribute_missing(call, "shape", "[4, 3]");
    };
    // TVM compares the shapes only if the type of the result is known beforehand.
    let expected = call.ty(call.arity());
    call.lenient(broadcasts_into(call, (0, &data.shape), ("a result".into(), &shape)))?;
    call.output_tensor(shape, data.dtype)?;
    let Type::Tensor(expected) = expected else { return Ok(()) };
    broadcasts_to(call, (0, &data), ("the result".into(), &expected))?;
    call.output(broadcast_of(&data, &expected)?)
}

fn broadcast_to_like(call: &mut Call<'_>) -> Outcome {
    call.output_same(1)?;
    let (data, like) = (call.tensor(0)?, call.tensor(1)?);
    let target = call.name(1);
    broadcasts_to(call, (0, &data), (target, &like))?;
    call.assign(1, broadcast_of(&data, &like)?)
}

fn collapse_sum_like(call: &mut Call<'_>) -> Outcome {
    call.output_same(1)?;
    let (data, like) = (call.tensor(0)?, call.tensor(1)?);
    let target = call.name(0);
    broadcasts_to(call, (1, &like), (target, &data))?;
    call.assign(0, broadcast_of(&data, &like)?)
}

fn collapse_sum_to(call: &mut Call<'_>) -> Outcome {
    needs_attrs(call, "relay.attrs.InitOpAttrs")?;
    let (data, target) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let Some(length) = target.shape.first() else {
        return wrong_rank(call, 1, 0, "a vector");
    };
    call.lenient(needs_rank(call, 1, &target, 1, "the size of each axis"))?;
    // Do not build a shape with more axes than any tensor has.
    let Some(rank) = length.as_known().and_then(|n| usize::try_from(n.clamp(0, 4096)).ok()) else {
        return fault(
            call,
            Code::ShapeMismatch,
            text!("the length of {} must be known, but it is {length}", call.name(1)),
        )
        .rule("the length of the target shape is the rank of the result")
        .axis(1, 0, length)
        .fail();
    };
    let shape =
        optional_dims(call, "shape")?.unwrap_or_else(|| (0..rank).map(|_| Dim::Any).collect());
    let expected = call.ty(call.arity());
    call.lenient(collapses(call, &data.shape, &shape))?;
    call.output_tensor(shape, data.dtype)?;
    let Type::Tensor(expected) = expected else { return Ok(()) };
    // As for `broadcast_to`, only a result that is known beforehand is compared.
    let whole = broadcast_shapes(&data.shape, &expected.shape);
    let fits = whole.is_ok_and(|shape| {
        shape.len() == data.rank() && shape.iter().zip(&data.shape).all(|(a, b)| may_equal(a, b))
    });
    if !fits || expected.dtype != data.dtype {
        return fault(
            call,
            Code::BroadcastMismatch,
            text!(
                "{} of type `{}` does not collapse to `{}`",
                call.name(0),
                Type::Tensor(data),
                Type::Tensor(expected)
            ),
        )
        .rule("the result must broadcast to the argument")
        .argument(0, "does not collapse")
        .fail();
    }
    Ok(())
}

/// Checks that the shape `data` is a broadcast of `shape`.
fn collapses(call: &Call<'_>, data: &[Dim], shape: &[Dim]) -> Outcome {
    let skip = data.len().saturating_sub(shape.len());
    let mut pairs = shape.iter().zip(&data[skip..]);
    if shape.len() <= data.len()
        && pairs.all(|(small, large)| small.is(1) || may_equal(small, large))
    {
        return Ok(());
    }
    let (found, expected) = (shape_text(data), shape_text(shape));
    let message = text!("{} of shape `{found}` does not collapse to `{expected}`", call.name(0));
    fault(call, Code::BroadcastMismatch, message)
        .rule("the result must broadcast to the argument")
        .argument(0, found)
        .fail()
}

fn repeat(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let repeats = int_attr(call, "repeats")?;
    let Some(axis) = optional_int(call, "axis")? else {
        return attribute_missing(call, "axis", "0");
    };
    if repeats < 1 {
        return fault(
            call,
            Code::AttributeValue,
            text!("`repeats` must be at least 1, but it is {repeats}"),
        )
        .rule("`repeats` must be at least 1")
        .attribute("repeats", text!("{repeats}"))
        .fix("repeats", 1)
        .fail();
    }
    let Some(axis) = normal_axis(axis, data.rank()) else {
        return axis_out_of_range(call, "axis", axis, 0, data.rank());
    };
    let mut shape = data.shape.clone();
    shape[axis] = &shape[axis] * repeats;
    call.output_tensor(shape, data.dtype)
}

fn tile(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let Some(mut reps) = optional_dims(call, "reps")? else {
        return attribute_missing(call, "reps", "[2, 1]");
    };
    if let Some(rep) = reps.iter().find(|rep| rep.as_known().is_some_and(|n| n < 1)) {
        return fault(
            call,
            Code::AttributeValue,
            text!("`reps` must be at least 1, but it has {rep}"),
        )
        .rule("each value of `reps` must be at least 1")
        .attribute("reps", text!("{rep}"))
        .fail();
    }
    let mut shape = data.shape.clone();
    while reps.len() < shape.len() {
        reps.insert(0, Dim::known(1));
    }
    while shape.len() < reps.len() {
        shape.insert(0, Dim::known(1));
    }
    // The size becomes dynamic if it is not a known number.
    let times = |(size, rep): (&Dim, &Dim)| match size {
        Dim::Known { .. } => size * rep,
        _ => Dim::Any,
    };
    let shape: Shape = shape.iter().zip(&reps).map(times).collect();
    call.output_tensor(shape, data.dtype)
}
