//! Matrix products: `nn.dense`, `nn.matmul`, `nn.batch_matmul`, `einsum`.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("einsum", &["data"]).attrs(&EINSUM),
    op("nn.batch_matmul", &["tensor_a", "tensor_b"])
        .attrs(&BATCH_MATMUL)
        .rule("BatchMatmul", batch_matmul),
    op("nn.contrib_dense_pack", &["data", "weight"]).attrs(&DENSE),
    op("nn.dense", &["data", "weight"]).attrs(&DENSE).rule("Dense", dense).doc(Doc {
        summary: "Multiplies by the transpose of a matrix: `data · weightᵀ`.",
        args: &["`(d1, …, dn, input_dim)`", "`(units, input_dim)`"],
        shape: "the shape of `data` with the last axis replaced by `units`",
        example: "nn.dense(%x, %w, units=128)",
    }),
    op("nn.matmul", &["tensor_a", "tensor_b"]).attrs(&MATMUL).rule("Matmul", matmul),
];

fn dense(call: &mut Call<'_>) -> Outcome {
    matmul_with(call, false, true)
}

fn matmul(call: &mut Call<'_>) -> Outcome {
    let (a, b) = (call.attrs().bool("transpose_a"), call.attrs().bool("transpose_b"));
    matmul_with(call, a, b)
}

/// The last axis of the first argument (or the one before, if it is transposed) is summed over
/// against a matrix.
fn matmul_with(call: &mut Call<'_>, transpose_a: bool, transpose_b: bool) -> Outcome {
    let a = call.tensor(0)?;
    let b = match call.tensor(1) {
        Ok(b) => Some(b),
        Err(Halt::NotYet | Halt::Undecided(_)) => None,
        Err(other) => return Err(other),
    };
    let rank = a.rank();
    let least = if transpose_a { 2 } else { 1 };
    if rank < least {
        return Reason::new(
            "rank-mismatch",
            format!("`{}` wants {} with at least {least} axes, it has {rank}", call.operator(),
                call.name(0)),
        )
        .argument(0, format!("{rank} axes"))
        .fail();
    }
    let reduce_axis = if transpose_a { rank - 2 } else { rank - 1 };
    let reduce = a.shape[reduce_axis].clone();
    let mut shape = a.shape.clone();
    if transpose_a {
        shape[rank - 2] = a.shape[rank - 1].clone();
    }
    let dtype_b = b.as_ref().map_or(a.dtype, |b| b.dtype);
    let rewritten = !call.attrs().str("auto_scheduler_rewritten_layout").is_empty();
    let original = call.attrs().dims("meta_schedule_original_shape").filter(|s| !s.is_empty());
    let b_shape = original.clone().or_else(|| b.as_ref().map(|b| b.shape.clone()));
    if let Some(units) = call.attrs().dim("units") {
        let wanted: Shape = if transpose_b {
            [units.clone(), reduce.clone()].into_iter().collect()
        } else {
            [reduce.clone(), units.clone()].into_iter().collect()
        };
        if !rewritten && original.is_none() {
            if let Some(b) = &b {
                check_weight(call, &a, reduce_axis, b, &units, transpose_b)?;
            }
            call.assign(1, TensorType::new(wanted, dtype_b))?;
        }
        shape[rank - 1] = units;
    } else {
        let Some(b_shape) = b_shape else { return Err(Halt::NotYet) };
        if rewritten {
            shape[rank - 1] = product(&b_shape) / a.shape[rank - 1].clone();
        } else {
            if b_shape.len() != 2 {
                let (operator, name, found) = (call.operator(), call.name(1), b_shape.len());
                return Reason::new(
                    "rank-mismatch",
                    format!("`{operator}`: {name} must be a matrix, it has {found} axes"),
                )
                .argument(1, format!("{found} axes"))
                .fail();
            }
            if original.is_none() {
                let b_axis = usize::from(transpose_b);
                let inner = &b_shape[b_axis];
                if !may_equal(&reduce, inner) {
                    return inner_mismatch(call, (0, reduce_axis, &reduce), (1, b_axis, inner));
                }
                // One dynamic side takes the size of the other.
                let (mut new_a, mut new_b) = (a.shape.clone(), b_shape.clone());
                if reduce.is_any() {
                    new_a[reduce_axis] = inner.clone();
                }
                if inner.is_any() {
                    new_b[b_axis] = reduce.clone();
                }
                call.assign(0, TensorType::new(new_a, a.dtype))?;
                call.assign(1, TensorType::new(new_b, dtype_b))?;
            }
            shape[rank - 1] = b_shape[usize::from(!transpose_b)].clone();
        }
    }
    let dtype = dtype_or(call, "out_dtype", a.dtype);
    call.output_tensor(shape, dtype)
}

/// The second argument against what `units` and the first argument make of it.
fn check_weight(
    call: &Call<'_>,
    a: &TensorType,
    reduce_axis: usize,
    b: &TensorType,
    units: &Dim,
    transpose_b: bool,
) -> Outcome {
    let (units_axis, inner_axis) = if transpose_b { (0, 1) } else { (1, 0) };
    if b.rank() != 2 {
        return Reason::new(
            "rank-mismatch",
            format!(
                "`{}`: {} must be a matrix, it has {} axes",
                call.operator(),
                call.name(1),
                b.rank()
            ),
        )
        .argument(1, format!("{} axes", b.rank()))
        .fail();
    }
    let (found, inner) = (&b.shape[units_axis], &b.shape[inner_axis]);
    let reduce = &a.shape[reduce_axis];
    if !may_equal(reduce, inner) {
        return inner_mismatch(call, (0, reduce_axis, reduce), (1, inner_axis, inner));
    }
    if !may_equal(found, units) {
        return Reason::new(
            "attribute-mismatch",
            format!(
                "`{}`: `units` is {units}, but {} has {found} rows on axis {units_axis}",
                call.operator(),
                call.name(1)
            ),
        )
        .rule(format!("`units` is axis {units_axis} of {}", call.name(1)))
        .attribute("units", format!("{units}"))
        .axis(1, units_axis, format!("{found}"))
        .fix("units", format!("{found}"))
        .fail();
    }
    Ok(())
}

/// The failure that the axes summed over differ in size.
fn inner_mismatch<T>(
    call: &Call<'_>,
    a: (usize, usize, &Dim),
    b: (usize, usize, &Dim),
) -> Result<T, Halt> {
    let (x, y) = (call.name(a.0), call.name(b.0));
    let (m, n) = (a.2, b.2);
    Reason::new(
        "shape-mismatch",
        format!("`{}`: {x} has {m} features, {y} takes {n}", call.operator()),
    )
    .rule(format!(
        "the axes summed over must be equal: axis {} of {x} is {m}, axis {} of {y} is {n}",
        a.1, b.1
    ))
    .axis(b.0, b.1, format!("{n}"))
    .axis(a.0, a.1, format!("{m}"))
    .fail()
}

fn batch_matmul(call: &mut Call<'_>) -> Outcome {
    let (x, y) = (call.tensor(0)?, call.tensor(1)?);
    let dtype = dtype_or(call, "out_dtype", x.dtype);
    let original = call.attrs().dims("meta_schedule_original_shape").filter(|s| !s.is_empty());
    let y_shape = original.unwrap_or_else(|| y.shape.clone());
    for (position, rank) in [(0, x.rank()), (1, y_shape.len())] {
        if rank != 3 {
            return Reason::new(
                "rank-mismatch",
                format!("`{}`: {} must have 3 axes (batch, rows, columns), it has {rank}",
                    call.operator(), call.name(position)),
            )
            .argument(position, format!("{rank} axes"))
            .fail();
        }
    }
    let (a, b) = (call.attrs().bool("transpose_a"), call.attrs().bool("transpose_b"));
    let (x_row, x_inner) = if a { (2, 1) } else { (1, 2) };
    let (y_column, y_inner) = if b { (1, 2) } else { (2, 1) };
    let dynamic = x.shape.iter().chain(&y_shape).any(Dim::is_any);
    let (xb, yb) = (&x.shape[0], &y_shape[0]);
    if !dynamic {
        if !may_equal(xb, yb) && !may_equal(xb, &Dim::known(1)) && !may_equal(yb, &Dim::known(1)) {
            return Reason::new(
                "shape-mismatch",
                format!(
                    "`{}`: {} has {xb} batches, {} has {yb}",
                    call.operator(),
                    call.name(0),
                    call.name(1)
                ),
            )
            .rule("the batch sizes (axis 0) must be equal, or one of them 1".to_owned())
            .axis(1, 0, format!("{yb}"))
            .axis(0, 0, format!("{xb}"))
            .fail();
        }
        if !may_equal(&x.shape[x_inner], &y_shape[y_inner]) {
            let (m, n) = (&x.shape[x_inner], &y_shape[y_inner]);
            return inner_mismatch(call, (0, x_inner, m), (1, y_inner, n));
        }
    }
    let batch = if xb.is_any() || yb.is_any() {
        Dim::Any
    } else {
        Dim::apply(types::Op::Max, xb, yb)
    };
    call.output_tensor([batch, x.shape[x_row].clone(), y_shape[y_column].clone()], dtype)
}
