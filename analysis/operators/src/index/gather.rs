//! Operators that select elements by indices or by a condition.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("adv_index", &["inputs"]).tuples(&["inputs"]).since(7).rule("AdvIndex", adv_index).cost(Cost::Free).doc(Doc {
        summary: "Gathers the elements whose positions on the first axes are given by one tensor of \
                  indices for each axis, as indexing with arrays does in NumPy.",
        args: &["a tuple: the data, then one tensor of indices for each of its first axes; the \
                 tensors of indices broadcast together"],
        shape: "what the indices broadcast to, followed by the axes of the data that have no \
                indices",
        example: "adv_index((%x, %rows, %columns))",
    }),
    op("gather", &["data", "indices"])
        .python("data axis indices").domains(&[("indices", Domain::Position)]).controls(&["indices"]).since(7).attrs(&GATHER).rule("Gather", gather).cost(Cost::Free).doc(
        Doc {
            summary: "Gathers, for each element of `indices`, the element of `data` \
                      this index on axis `axis` and at the same place on the others.",
            args: &["any tensor", "integers, of the sizes of `data` on every axis but `axis`"],
            shape: "the shape of `indices`",
            example: "gather(%x, %i, axis=1)",
        },
    ),
    op("gather_nd", &["data", "indices"]).controls(&["indices"]).since(6)
        .attrs(&GATHER_ND)
        .rule("GatherND", gather_nd)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Gathers elements or slices of `data` by tuples of indices along the \
                      first axis of `indices`.",
            args: &["`(x0, …, xN)`", "`(m, y0, …, yK)`: m indices for each element of the result"],
            shape: "`(y0, …, yK)`, followed by the axes of `data` after the first `batch_dims + m`
                    first ones",
            example: "gather_nd(%x, %i)",
        }),
    op("take", &["data", "indices"])
        .python("data indices axis batch_dims mode").domains(&[("indices", Domain::Position)]).weights(&["data"]).controls(&["indices"]).attrs(&TAKE).rule("Take", take).cost(Cost::Free).doc(Doc {
        summary: "Gathers slices along one axis by their indices, or elements of the flattened data \
                  where `axis` is not given.",
        args: &["any tensor", "integers of any shape"],
        shape: "the shape of `data` with axis `axis` replaced by the axes of `indices` (without \
                its first `batch_dims`, which are those of `data`)",
        example: "take(%table, %ids, axis=0)",
    }),
    op("unravel_index", &["data", "shape"]).domains(&[("shape", Domain::NonZero)]).in_category(Category::Movement).controls(&["shape"]).since(7)
        .rule("UnRavelIndexRel", unravel_index)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Turns positions in a flattened tensor into one index for each axis.",
            args: &["`(n,)` integers, or one: positions", "`(rank,)` integers: a shape"],
            shape: "`(rank, n)`, or `(rank,)` for one position",
            example: "unravel_index(%positions, %shape)",
        }),
    op("where", &["condition", "x", "y"]).operands(&["x", "y"]).controls(&["condition"])
        .forms(&[form(Releases::until(7), 3).as_operator(&WHERE_7)])
        .rule("Where", select)
        .cost(Cost::Elementwise)
        .doc(Doc {
        summary: "Takes each element from `x` where the condition holds, and from `y` elsewhere.",
        args: &[
            "truth values, or numbers of which 0 is false",
            "any tensor",
            "a tensor of the data type of `x`",
        ],
        shape: "what the three broadcast to",
        example: "where(%mask, %x, 0f)",
    }),
];

fn adv_index(call: &mut Call<'_>) -> Outcome {
    let fields = call.tensors(0)?;
    let Some((data, indices)) = fields.split_first() else {
        return fault(call, Code::ArgumentType, "the tuple must not be empty")
            .argument(0, "no fields")
            .fail();
    };
    let Some((first, rest)) = indices.split_first() else {
        return fault(call, Code::ArgumentType, "the tuple has data but no indices")
            .argument(0, "1 field")
            .help("write one tensor of indices for each of the first axes: `(%x, %i)`")
            .fail();
    };
    if indices.len() > data.rank() {
        return fault(
            call,
            Code::RankMismatch,
            text!(
                "the tuple has indices for {}, but the data has {}",
                axes(indices.len()),
                axes(data.rank())
            ),
        )
        .rule("the tuple contains the data and at most one tensor of indices for each of its axes")
        .mark(types::Place::Field(0, 0), None, axes(data.rank()))
        .mark(types::Place::Field(0, data.rank() + 1), None, "one too many")
        .fail();
    }
    let mut shape = first.shape.clone();
    for (k, index) in rest.iter().enumerate() {
        shape = broadcast_shapes(&shape, &index.shape).or_else(|from_back| {
            fault(
                call,
                Code::BroadcastMismatch,
                text!(
                    "indices of shape `{}` do not broadcast with the ones before them, of shape \
                     `{}`",
                    shape_text(&index.shape),
                    shape_text(&shape)
                ),
            )
            .rule("counted from the last axis, sizes must be equal or one of them 1")
            .mark(
                types::Place::Field(0, k + 2),
                index.rank().checked_sub(from_back),
                shape_text(&index.shape),
            )
            .fail()
        })?;
    }
    shape.extend(data.shape.iter().skip(indices.len()).cloned());
    call.output_tensor(shape, data.dtype)
}

fn gather(call: &mut Call<'_>) -> Outcome {
    let (data, indices) = (call.require_tensor(0)?, call.require_tensor(1)?);
    if !indices.dtype.is_int() {
        return not_integers(call, 1, indices.dtype);
    }
    let Some(written) = optional_int(call, "axis")? else {
        return attribute_missing(call, "axis", "0");
    };
    let (rank, found) = (data.rank(), indices.rank());
    if rank != found {
        let (x, i) = (call.name(0), call.name(1));
        return fault(call, Code::RankMismatch, text!("{i} has {}, {x} has {rank}", axes(found)))
            .rule(text!("{i} and {x} must have the same number of axes"))
            .argument(1, axes(found))
            .argument(0, axes(rank))
            .help("`take` selects slices by indices of any shape")
            .fail();
    }
    let Some(axis) = normal_axis(written, rank) else {
        return axis_out_of_range(call, "axis", written, 0, rank);
    };
    for i in 0..rank {
        let (size, expected) = (&indices.shape[i], &data.shape[i]);
        if i == axis {
            if size.as_known().is_some_and(|size| size < 1) {
                return fault(
                    call,
                    Code::ShapeMismatch,
                    text!("{} has no elements: axis {i} has size {size}", call.name(1)),
                )
                .rule("at least one element must be selected")
                .axis(1, i, size)
                .fail();
            }
        } else if !may_equal(size, expected) {
            return fault(
                call,
                Code::ShapeMismatch,
                text!(
                    "{} has size {size} on axis {i}, {} has {expected}",
                    call.name(1),
                    call.name(0)
                ),
            )
            .rule(text!("the shapes must be equal on every axis but axis {axis}, that of `axis`"))
            .axis(1, i, size)
            .axis(0, i, expected)
            .fail();
        }
    }
    call.output_tensor(indices.shape.clone(), data.dtype)
}

/// Returns the size of the first axis of an argument: the number of indices in a tuple.
pub(super) fn tuple_length(
    call: &Call<'_>,
    position: usize,
    indices: &TensorType,
    rank: usize,
) -> Result<usize, Halt> {
    let (name, data) = (call.name(position), call.name(0));
    let Some(first) = indices.shape.first() else {
        return fault(
            call,
            Code::RankMismatch,
            text!("{name} is a scalar, but it must have an axis"),
        )
        .rule(text!("the first axis of {name} contains one index for each axis of {data}"))
        .argument(position, "a scalar")
        .fail();
    };
    let Some(length) = first.as_known() else {
        return fault(
            call,
            Code::ShapeMismatch,
            text!("the size of axis 0 of {name} must be known, but it is {first}"),
        )
        .rule(text!(
            "the first axis of {name} contains one index for each axis of {data}, so its size decides \
             the rank of the result"
        ))
        .axis(position, 0, first)
        .fail();
    };
    match usize::try_from(length) {
        Ok(length) if length <= rank => Ok(length),
        _ => fault(
            call,
            Code::ShapeMismatch,
            text!("{name} has {length} indices for each element, but {data} has {}", axes(rank)),
        )
        .rule(text!("the first axis of {name} contains at most one index for each axis of {data}"))
        .axis(position, 0, length)
        .argument(0, axes(rank))
        .fail(),
    }
}

fn gather_nd(call: &mut Call<'_>) -> Outcome {
    let (data, indices) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let length = tuple_length(call, 1, &indices, data.rank())?;
    let batch = int_attr(call, "batch_dims")?;
    call.lenient(at_least(call, "batch_dims", 0))?;
    for i in 0..usize::try_from(batch).unwrap_or(0) {
        let (Some(size), Some(expected)) = (indices.shape.get(i + 1), data.shape.get(i)) else {
            return fault(
                call,
                Code::AttributeValue,
                text!("`batch_dims` is {batch}, which exceeds the number of shared axes"),
            )
            .rule(text!(
                "the first `batch_dims` axes of {} are axes 1 to `batch_dims` of {}",
                call.name(0),
                call.name(1)
            ))
            .attribute("batch_dims", text!("{batch}"))
            .argument(0, axes(data.rank()))
            .argument(1, axes(indices.rank()))
            .fail();
        };
        if !may_equal(size, expected) {
            return fault(
                call,
                Code::ShapeMismatch,
                text!(
                    "{} has size {size} on axis {}, {} has {expected} on axis {i}",
                    call.name(1),
                    i + 1,
                    call.name(0)
                ),
            )
            .rule(text!("with `batch_dims={batch}` these are the same axis"))
            .axis(1, i + 1, size)
            .axis(0, i, expected)
            .fail();
        }
    }
    let mut shape: Shape = indices.shape.iter().skip(1).cloned().collect();
    if batch > 0 && batch.saturating_add(length as i64) > data.rank() as i64 {
        let reason = fault(
            call,
            Code::AttributeValue,
            text!(
                "{} names {length} axes of {} after the first {batch}, but it has {}",
                call.name(1),
                call.name(0),
                axes(data.rank())
            ),
        )
        .rule(text!(
            "axis 0 of {} counts indices into the axes after the first `batch_dims`",
            call.name(1)
        ))
        .attribute("batch_dims", text!("{batch}"))
        .axis(1, 0, length)
        .argument(0, axes(data.rank()))
        .fail();
        call.lenient(reason)?;
    }
    // As in TVM, a negative number of batch axes adds axes.
    let from = batch.saturating_add(length as i64);
    let from = usize::try_from(from).unwrap_or(data.rank());
    shape.extend(data.shape.iter().skip(from).cloned());
    call.output_tensor(shape, data.dtype)
}

fn take(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    // Nothing but the data type of a literal may be unknown: it has no influence on the result.
    if let Some(indices) = call.open_shape(1) {
        take_at(call, &data, &indices)?;
        return Err(Halt::NotYet);
    }
    let indices = call.tensor(1)?;
    if !indices.dtype.is_int() && !indices.dtype.is_uint() {
        return not_integers(call, 1, indices.dtype);
    }
    take_at(call, &data, &indices.shape)
}

/// Assigns the result of `take` with indices of this shape.
fn take_at(call: &mut Call<'_>, data: &TensorType, indices: &[Dim]) -> Outcome {
    let Some(written) = optional_int(call, "axis")? else {
        return call.output_tensor(indices.iter().cloned(), data.dtype);
    };
    let (rank, places) = (data.rank(), indices.len());
    let batch = int_attr(call, "batch_dims")?;
    // As in TVM, the position after the last axis is accepted, and replaces none.
    let axis = if written < 0 { written.saturating_add(rank as i64) } else { written };
    let Some(axis) = usize::try_from(axis).ok().filter(|&axis| axis <= rank) else {
        return axis_out_of_range(call, "axis", written, 0, rank);
    };
    let Some(batch) = usize::try_from(batch).ok().filter(|&n| n <= places && n <= axis) else {
        return fault(
            call,
            Code::AttributeValue,
            text!("`batch_dims` is {batch}, which does not fit `axis={written}`"),
        )
        .rule(text!(
            "the first `batch_dims` axes are those of {} and of {}: there are at most {}",
            call.name(0),
            call.name(1),
            places.min(axis)
        ))
        .attribute("batch_dims", text!("{batch}"))
        .attribute("axis", text!("{axis}"))
        .argument(1, axes(places))
        .fix("batch_dims", batch.clamp(0, places.min(axis) as i64))
        .fail();
    };
    if rank == 0 && places == batch {
        return fault(
            call,
            Code::RankMismatch,
            text!("{} is a scalar: it has no slices", call.name(0)),
        )
        .argument(0, "a scalar")
        .help("without `axis`, `take` selects elements of the flattened data")
        .fail();
    }
    call.lenient(names_axis(call, "axis", 0, rank))?;
    for (i, (a, b)) in indices.iter().zip(&data.shape).enumerate().take(batch) {
        let rule = text!("the first {batch} axes are those of the batch in both arguments");
        call.lenient(same_size(call, (1, i, a), (0, i, b), rule))?;
    }
    let mut shape: Shape = data.shape[..axis].iter().cloned().collect();
    shape.extend(indices.iter().skip(batch).cloned());
    shape.extend(data.shape.iter().skip(axis + 1).cloned());
    call.output_tensor(shape, data.dtype)
}

fn unravel_index(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    if !data.dtype.is_int() && !data.dtype.is_uint() {
        return not_integers(call, 0, data.dtype);
    }
    let target = call.require_tensor(1)?;
    if !target.dtype.is_int() && !target.dtype.is_uint() {
        return not_integers(call, 1, target.dtype);
    }
    let Some(rank) = target.shape.first() else {
        return wrong_rank(call, 1, 0, "a vector");
    };
    // TVM reads the first axis of both only.
    call.lenient(needs_rank(call, 1, &target, 1, "the size of each axis"))?;
    if data.rank() > 1 {
        call.lenient(wrong_rank(call, 0, data.rank(), "a vector or a scalar"))?;
    }
    let shape = [rank].into_iter().chain(data.shape.first()).cloned();
    call.output_tensor(shape, data.dtype)
}

/// `where` up to TVM 0.7: a condition of rank 1 selects along the first axis.
static WHERE_7: Operator = op("where", &["condition", "x", "y"])
    .operands(&["x", "y"])
    .controls(&["condition"])
    .rule("Where", select_first)
    .cost(Cost::Elementwise)
    .another();

fn select_first(call: &mut Call<'_>) -> Outcome {
    call.infer_literal_dtype(1, 2)?;
    let (condition, x, y) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    if x.dtype != y.dtype {
        return dtype_mismatch(call, (1, x.dtype), (2, y.dtype));
    }
    let shape = if x.rank() == 0 { &condition.shape } else { &x.shape };
    call.output_tensor(shape.clone(), x.dtype)
}

fn select(call: &mut Call<'_>) -> Outcome {
    call.infer_literal_dtype(1, 2)?;
    let (condition, x, y) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    if x.dtype != y.dtype {
        return dtype_mismatch(call, (1, x.dtype), (2, y.dtype));
    }
    let values = broadcast_shapes(&x.shape, &y.shape)
        .or_else(|from_back| no_broadcast(call, (1, &x.shape), (2, &y.shape), from_back))?;
    let shape = broadcast_shapes(&condition.shape, &values).or_else(|from_back| {
        // Report the argument that has this size.
        let at = |shape: &Shape| shape.len().checked_sub(from_back).map(|at| shape[at].clone());
        let expected = values.len().checked_sub(from_back).map(|at| values[at].clone());
        let (position, shape) =
            if at(&x.shape) == expected { (1, &x.shape) } else { (2, &y.shape) };
        no_broadcast(call, (0, &condition.shape), (position, shape), from_back)
    })?;
    call.output_tensor(shape, x.dtype)
}

/// The failure that two of several arguments do not broadcast together.
fn no_broadcast<T>(
    call: &Call<'_>,
    (a, left): (usize, &Shape),
    (b, right): (usize, &Shape),
    from_back: usize,
) -> Result<T, Halt> {
    let (x, y) = (call.name(a), call.name(b));
    let mut reason = fault(
        call,
        Code::BroadcastMismatch,
        text!(
            "{x} of shape `{}` and {y} of shape `{}` do not broadcast",
            shape_text(left),
            shape_text(right)
        ),
    );
    let (i, j) = (left.len().checked_sub(from_back), right.len().checked_sub(from_back));
    if let (Some(i), Some(j)) = (i, j) {
        let (m, n) = (&left[i], &right[j]);
        reason = reason
            .rule(text!(
                "counted from the last axis, sizes must be equal or one of them 1; axis {i} of {x} \
                 is {m}, axis {j} of {y} is {n}"
            ))
            .axis(a, i, m)
            .axis(b, j, n);
    }
    reason.fail()
}
