//! Operators that put elements at given positions.

use super::gather::tuple_length;
use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("scatter", &[])
        .variadic()
        .rule("", undefined)
        .cost(Cost::Undefined("the operator has no type rule, so no call of it is complete"))
        .doc(Doc {
            summary: "A name that TVM has kept without a type rule; its successor is \
                      `scatter_elements`.",
            args: &[],
            shape: "not defined: TVM refuses every call",
            example: "scatter_elements(%x, %i, %updates)",
        }),
    op("scatter_elements", &["data", "indices", "updates"])
        .detached_attrs(&SCATTER_ELEMENTS)
        .rule("ScatterElements", scatter_elements)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Puts each element of `updates` into `data`, at its index on axis `axis` and \
                      at its own place on the others.",
            args: &[
                "any tensor",
                "integers, one for each element of `updates`",
                "a tensor of the shape of `indices` and the data type of `data`",
            ],
            shape: "the shape of `data`",
            example: "scatter_elements(%x, %i, %updates)",
        }),
    op("scatter_nd", &["data", "indices", "updates"])
        .detached_attrs(&SCATTER_ND)
        .rule("ScatterND", scatter_nd)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Puts elements or slices into `data`, at tuples of indices, which stand on \
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
        .rule("StridedSet", strided_set)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Puts a tensor in the place of a strided slice of another.",
            args: &[
                "any tensor",
                "a tensor of the shape of the slice",
                "a vector of integers: where the slice begins on each axis",
                "a vector of integers: where it ends",
                "a vector of integers: its steps",
            ],
            shape: "the shape of `data`",
            example: "strided_set(%x, %v, %begin, %end, %strides)",
        }),
];

/// TVM keeps the name without a rule, and fails where it is called.
fn undefined(call: &mut Call<'_>) -> Outcome {
    Reason::new(
        "operator-undefined",
        format!("`{}` is a name without a type rule: TVM types no call of it", call.operator()),
    )
    .mark(types::Place::Operator, None, "not defined")
    .help("its successor is `scatter_elements`")
    .fail()
}

fn scatter_elements(call: &mut Call<'_>) -> Outcome {
    let data = call.need_tensor(0)?;
    let (indices, _) = (call.need_tensor(1)?, call.need_tensor(2)?);
    if !indices.dtype.is_int() && !indices.dtype.is_uint() {
        return not_integers(call, 1, indices.dtype);
    }
    call.output_tensor(data.shape.clone(), data.dtype)
}

fn scatter_nd(call: &mut Call<'_>) -> Outcome {
    let data = call.need_tensor(0)?;
    let (indices, updates) = (call.need_tensor(1)?, call.need_tensor(2)?);
    if !indices.dtype.is_int() && !indices.dtype.is_uint() {
        return not_integers(call, 1, indices.dtype);
    }
    let length = tuple_length(call, 1, &indices, data.rank())?;
    // TVM compares how many axes there are, and not their sizes.
    let (outer, inner) = (indices.rank() - 1, data.rank() - length);
    let needed = if inner > 0 { outer + inner } else { outer };
    if updates.rank() < needed {
        let (x, i, u) = (call.name(0), call.name(1), call.name(2));
        return fault(
            call,
            "rank-mismatch",
            format!("{u} has {}, {needed} are needed", axes(updates.rank())),
        )
        .rule(format!(
            "{u} has the axes of {i} without the first ({outer}), then those of {x} without the \
             first {length} ({inner})"
        ))
        .argument(2, axes(updates.rank()))
        .argument(1, axes(indices.rank()))
        .argument(0, axes(data.rank()))
        .fail();
    }
    let wanted = || indices.shape.iter().skip(1).chain(data.shape.iter().skip(length));
    let is_other = |(found, wanted): (&Dim, &Dim)| !may_equal(found, wanted);
    let mismatch = updates.shape.iter().zip(wanted()).position(is_other);
    if let Some((axis, wanted)) = mismatch.and_then(|axis| Some((axis, wanted().nth(axis)?))) {
        let (x, i, u) = (call.name(0), call.name(1), call.name(2));
        let found = &updates.shape[axis];
        let check = fault(
            call,
            "shape-mismatch",
            format!("{u} has {found} elements on axis {axis}, {wanted} are needed"),
        )
        .rule(format!(
            "{u} has the axes of {i} without the first, then those of {x} without the first {length}"
        ))
        .axis(2, axis, found.to_string())
        .fail();
        call.lenient(check)?;
    }
    call.output_tensor(data.shape.clone(), data.dtype)
}

fn strided_set(call: &mut Call<'_>) -> Outcome {
    call.output_same(0)
}
