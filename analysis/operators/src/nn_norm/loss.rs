//! Losses.

use types::ElementKind;

use crate::prelude::*;

/// Reduces two batches of distributions over the same classes to a scalar.
pub(super) fn cross_entropy(call: &mut Call<'_>) -> Outcome {
    let (x, y) = (call.tensor(0)?, call.tensor(1)?);
    let operator = call.operator();
    for (position, tensor) in [(0, &x), (1, &y)] {
        let rank = tensor.rank();
        if rank != 2 {
            return Reason::new(
                Code::RankMismatch,
                text!(
                    "`{operator}`: {} must have 2 axes (batch, classes), but it has {rank}",
                    call.name(position)
                ),
            )
            .rule("both arguments have shape `(batch, classes)`")
            .argument(position, axes(rank))
            .fail();
        }
    }
    for (axis, what) in ["samples", "classes"].into_iter().enumerate() {
        let (m, n) = (&x.shape[axis], &y.shape[axis]);
        if !may_equal(m, n) {
            let (left, right) = (call.name(0), call.name(1));
            return Reason::new(
                Code::ShapeMismatch,
                text!("`{operator}`: {left} has {m} {what}, {right} has {n}"),
            )
            .rule(text!(
                "both arguments have shape `(batch, classes)`: `{}` against `{}`",
                shape_text(&x.shape),
                shape_text(&y.shape)
            ))
            .axis(1, axis, n)
            .axis(0, axis, m)
            .fail();
        }
    }
    call.output_tensor([], x.dtype)
}

/// Checks log-probabilities with a class axis, targets without it, and a weight per class.
pub(super) fn nll_loss(call: &mut Call<'_>) -> Outcome {
    let (predictions, targets, weights) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let operator = call.operator();
    let (p, t, w) = (call.name(0), call.name(1), call.name(2));
    let (rank, inner) = (predictions.rank(), targets.rank());
    if rank != inner + 1 {
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {p} has {rank} axes and {t} has {inner}"),
        )
        .rule(text!("{p} has one axis more than {t}: the classes, on axis 1"))
        .argument(1, axes(inner))
        .argument(0, axes(rank))
        .fail();
    }
    let Some(classes) = predictions.shape.get(1) else {
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {p} must have 2 axes or more, but it has {rank}"),
        )
        .rule(text!("axis 0 of {p} is the batch, axis 1 the classes"))
        .argument(0, axes(rank))
        .fail();
    };
    if weights.rank() != 1 {
        let found = weights.rank();
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {w} must be a vector, but it has {found} axes"),
        )
        .rule(text!("{w} has one element for each of the {classes} classes"))
        .argument(2, axes(found))
        .fail();
    }
    let count = &weights.shape[0];
    if !may_equal(classes, count) {
        return Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: {p} has {classes} classes, {w} has weights for {count}"),
        )
        .rule(text!("axis 1 of {p} is the classes; {w} has one element for each"))
        .axis(2, 0, count)
        .axis(0, 1, classes)
        .fail();
    }
    let dtype = predictions.dtype;
    if dtype != weights.dtype {
        return dtype_mismatch(call, (0, dtype), (2, weights.dtype));
    }
    if !matches!(dtype.kind, ElementKind::Float | ElementKind::BFloat) {
        return Reason::new(
            Code::DtypeMismatch,
            text!("`{operator}`: {p} must be of a floating point type, not {dtype}"),
        )
        .argument(0, dtype)
        .fail();
    }
    if targets.dtype.kind != ElementKind::Int {
        let found = targets.dtype;
        return Reason::new(
            Code::DtypeMismatch,
            text!("`{operator}`: {t} must be of a signed integer type, not {found}"),
        )
        .rule(text!("{t} contains the class index of each position"))
        .argument(1, found)
        .help("cast the targets: `cast(…, dtype=\"int32\")`")
        .fail();
    }
    if call.attrs().str("reduction") == "none" {
        call.output_tensor(targets.shape.clone(), dtype)
    } else {
        call.output_tensor([], dtype)
    }
}
