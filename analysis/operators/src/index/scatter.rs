//! Operators that put elements at given positions.

use super::gather::tuple_length;
use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("scatter", &[])
        .since(7)
        .variadic()
        .rule("", undefined)
        .cost(Cost::Undefined("the operator has no type relation"))
        .doc(Doc {
            summary: "Registered in TVM without a type relation; replaced by \
                      `scatter_elements`.",
            args: &[],
            shape: "not defined: TVM rejects every call",
            example: "scatter_elements(%x, %i, %updates)",
        }),
    op("scatter_elements", &["data", "indices", "updates"])
        .controls(&["indices"])
        .data(&["updates"])
        .since(12)
        .detached_attrs(&SCATTER_ELEMENTS)
        .rule("ScatterElements", scatter_elements)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Writes each element of `updates` to `data`, at its index on axis `axis` and \
                      at its own position on the other axes.",
            args: &[
                "any tensor",
                "integers, one for each element of `updates`",
                "a tensor of the shape of `indices` and the data type of `data`",
            ],
            shape: "the shape of `data`",
            example: "scatter_elements(%x, %i, %updates)",
        }),
    op("scatter_nd", &["data", "indices", "updates"])
        .controls(&["indices"])
        .data(&["updates"])
        .since(8)
        .detached_attrs(&SCATTER_ND)
        .rule("ScatterND", scatter_nd)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Writes elements or slices to `data`, at tuples of indices along \
                      the first axis of `indices`.",
            args: &[
                "`(x0, …, xN)`",
                "`(m, y0, …, yK)` integers: m indices for each slice",
                "`(y0, …, yK, xm, …, xN)`: the slices",
            ],
            shape: "the shape of `data`",
            example: "scatter_nd(%x, %i, %updates)",
        }),
    op("strided_set", &["data", "v", "begin", "end", "strides"])
        .domains(&[("strides", Domain::NonZero)])
        .controls(&["begin", "end", "strides"])
        .data(&["v"])
        .since(7)
        .rule("StridedSet", strided_set)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Replaces a strided slice of a tensor by another tensor.",
            args: &[
                "any tensor",
                "a tensor of the shape of the slice",
                "a vector of integers: the begin of the slice on each axis",
                "a vector of integers: the end",
                "a vector of integers: the strides",
            ],
            shape: "the shape of `data`",
            example: "strided_set(%x, %v, %begin, %end, %strides)",
        }),
];

/// Fails: TVM registers the name without a type relation.
fn undefined(call: &mut Call<'_>) -> Outcome {
    Reason::new(
        Code::OperatorUndefined,
        text!("`{}` is registered in TVM without a type relation", call.operator()),
    )
    .mark(types::Place::Operator, None, "not defined")
    .help("use `scatter_elements` instead")
    .fail()
}

fn scatter_elements(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let (indices, _) = (call.require_tensor(1)?, call.require_tensor(2)?);
    if !indices.dtype.is_int() && !indices.dtype.is_uint() {
        return not_integers(call, 1, indices.dtype);
    }
    call.lenient(fits_elements(call))?;
    call.output_tensor(data.shape.clone(), data.dtype)
}

/// Checks that `axis` exists, that `updates` has an element for each index, and that `data` has a
/// position for each of them.
pub(crate) fn fits_elements(call: &Call<'_>) -> Outcome {
    let (data, indices, updates) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let rank = data.rank();
    names_axis(call, "axis", 0, rank)?;
    let Some(axis) = normal_axis(known_int(call, "axis").unwrap_or(0), rank) else {
        return axis_out_of_range(call, "axis", 0, 0, rank);
    };
    let (x, i, u) = (call.name(0), call.name(1), call.name(2));
    if indices.rank() != rank {
        let found = axes(indices.rank());
        return fault(call, Code::RankMismatch, text!("{i} has {found}, {x} has {}", axes(rank)))
            .rule(text!("{i} must have as many axes as {x}"))
            .argument(1, found)
            .argument(0, axes(rank))
            .fail();
    }
    if let (Some(many), Some(few)) = (element_count(&indices.shape), element_count(&updates.shape))
        && few < many
    {
        return fault(call, Code::ShapeMismatch, text!("{u} has {few} elements, {i} has {many}"))
            .rule(text!("there must be an element of {u} for each index"))
            .argument(2, shape_text(&updates.shape))
            .argument(1, shape_text(&indices.shape))
            .fail();
    }
    let (Some(from), Some(at)) = (known_sizes(&data.shape), known_sizes(&indices.shape)) else {
        return Ok(());
    };
    if at.contains(&0) {
        return Ok(());
    }
    // The axes before `axis` are treated as one, and so are those after it.
    let product = |sizes: &[i128]| sizes.iter().fold(1, |n: i128, &size| n.saturating_mul(size));
    let block = product(&from[axis..]);
    let last = product(&at[..axis])
        .saturating_sub(1)
        .saturating_mul(block)
        .saturating_add(product(&at[axis + 1..]).saturating_sub(1));
    if last < product(&from) {
        return Ok(());
    }
    let (large, small) = (shape_text(&indices.shape), shape_text(&data.shape));
    fault(call, Code::ShapeMismatch, text!("{i} of shape {large} exceeds {x} of shape {small}"))
        .rule(text!("except on axis {axis}, {i} must not be larger than {x}"))
        .argument(1, large)
        .argument(0, small)
        .fail()
}

fn scatter_nd(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let (indices, updates) = (call.require_tensor(1)?, call.require_tensor(2)?);
    if !indices.dtype.is_int() && !indices.dtype.is_uint() {
        return not_integers(call, 1, indices.dtype);
    }
    let length = tuple_length(call, 1, &indices, data.rank())?;
    // TVM compares the number of axes, but not their sizes.
    let (outer, inner) = (indices.rank() - 1, data.rank() - length);
    let needed = if inner > 0 { outer + inner } else { outer };
    if updates.rank() < needed {
        let (x, i, u) = (call.name(0), call.name(1), call.name(2));
        return fault(
            call,
            Code::RankMismatch,
            text!("{u} has {}, expected {needed}", axes(updates.rank())),
        )
        .rule(text!(
            "{u} has the axes of {i} without the first ({outer}), then those of {x} without the \
             first {length} ({inner})"
        ))
        .argument(2, axes(updates.rank()))
        .argument(1, axes(indices.rank()))
        .argument(0, axes(data.rank()))
        .fail();
    }
    let expected = || indices.shape.iter().skip(1).chain(data.shape.iter().skip(length));
    let is_other = |(found, expected): (&Dim, &Dim)| !may_equal(found, expected);
    let mismatch = updates.shape.iter().zip(expected()).position(is_other);
    if let Some((axis, expected)) = mismatch.and_then(|axis| Some((axis, expected().nth(axis)?))) {
        let (x, i, u) = (call.name(0), call.name(1), call.name(2));
        let found = &updates.shape[axis];
        let check = fault(
            call,
            Code::ShapeMismatch,
            text!("{u} has {found} elements on axis {axis}, expected {expected}"),
        )
        .rule(text!(
            "{u} has the axes of {i} without the first, then those of {x} without the first {length}"
        ))
        .axis(2, axis, found)
        .fail();
        call.lenient(check)?;
    }
    let extra = &updates.shape[needed.min(updates.rank())..];
    if extra.iter().any(|size| size.as_known().is_some_and(|size| size != 1)) {
        let (i, u) = (call.name(1), call.name(2));
        let check = fault(
            call,
            Code::ShapeMismatch,
            text!("{u} has {}, expected {needed}", axes(updates.rank())),
        )
        .rule(text!("{u} must have as many elements as the indices of {i} name"))
        .argument(2, shape_text(&updates.shape))
        .argument(1, shape_text(&indices.shape))
        .fail();
        call.lenient(check)?;
    }
    call.output_tensor(data.shape.clone(), data.dtype)
}

fn strided_set(call: &mut Call<'_>) -> Outcome {
    if call.is_tensor(0) && call.is_tensor(1) {
        call.lenient(fits_slice(call))?;
    }
    call.output_same(0)
}

/// Checks that `v` broadcasts to some slice of `data`.
fn fits_slice(call: &Call<'_>) -> Outcome {
    let (data, v) = (call.tensor(0)?, call.tensor(1)?);
    let (m, n) = (v.rank(), data.rank());
    let (x, y) = (call.name(0), call.name(1));
    if m > n {
        return fault(call, Code::RankMismatch, text!("{y} has {}, {x} has {}", axes(m), axes(n)))
            .rule(text!("{y} is broadcast to a slice of {x}, and broadcasting removes no axes"))
            .argument(1, axes(m))
            .argument(0, axes(n))
            .fail();
    }
    let larger = |i: &usize| {
        let sizes = (v.shape[m - i].as_known(), data.shape[n - i].as_known());
        matches!(sizes, (Some(size), Some(whole)) if size > whole && size != 1)
    };
    let Some(i) = (1..=m).find(larger) else { return Ok(()) };
    let (size, whole) = (&v.shape[m - i], &data.shape[n - i]);
    fault(
        call,
        Code::ShapeMismatch,
        text!("axis {} of {y} has size {size}, axis {} of {x} has {whole}", m - i, n - i),
    )
    .rule(text!("{y} is broadcast to a slice of {x}, and no slice is larger than {x}"))
    .axis(1, m - i, size)
    .axis(0, n - i, whole)
    .fail()
}
