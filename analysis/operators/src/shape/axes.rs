//! Operators that insert, drop, reorder and flip axes.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("expand_dims", &["data"])
        .keeps_data()
        .attrs(&EXPAND_DIMS)
        .rule("ExpandDims", expand_dims)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Inserts axes of size 1.",
            args: &["any tensor"],
            shape: "the shape of `data` with `num_newaxis` axes of size 1 before axis `axis`; \
                    counted from the end, where -1 is after the last axis",
            example: "expand_dims(%x, axis=1)",
        }),
    op("reverse", &["data"])
        .since(6)
        .attrs(&REVERSE)
        .rule("Reverse", reverse)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Reverses the order of the elements along one axis.",
            args: &["any tensor that has the axis `axis`"],
            shape: "the shape of `data`",
            example: "reverse(%x, axis=0)",
        }),
    op("squeeze", &["data"])
        .keeps_data()
        .attrs(&SQUEEZE)
        .rule("Squeeze", squeeze)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Removes axes of size 1.",
            args: &["a tensor with axes of size 1"],
            shape: "the shape of `data` without the axes in `axis`, or without any axis of size 1 \
                if `axis` is not given",
            example: "squeeze(%x, axis=[0])",
        }),
    op("transpose", &["data"])
        .keeps_data()
        .reorders_axes()
        .attrs(&TRANSPOSE)
        .rule("Transpose", transpose)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Permutes the axes.",
            args: &["any tensor"],
            shape: "axis `i` of the result is axis `axes[i]` of `data`; the reverse order if \
                    `axes` is `None`",
            example: "transpose(%x, axes=[0, 2, 3, 1])",
        }),
];

/// Maximum number of axes. TVM has no limit and runs out of memory.
const MAX_AXES: i64 = 4096;

fn expand_dims(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let rank = data.rank();
    let (axis, new) = (int_attr(call, "axis")?, int_attr(call, "num_newaxis")?);
    if !(0..=MAX_AXES).contains(&new) {
        return fault(call, Code::AttributeValue, text!("cannot insert {new} axes"))
            .rule("`num_newaxis` must not be negative")
            .attribute("num_newaxis", text!("{new}"))
            .fix("num_newaxis", 1)
            .fail();
    }
    // The position after the last axis is valid.
    let Some(at) = normal_axis(axis, rank + 1) else {
        return fault(
            call,
            Code::AxisOutOfRange,
            text!(
                "there is no position {axis} for a new axis: {} has {}",
                call.name(0),
                axes(rank)
            ),
        )
        .rule(text!("`axis` must be a position from 0 to {rank} (or -{} to -1)", rank + 1))
        .attribute("axis", text!("axis {axis}"))
        .argument(0, axes(rank))
        .fail();
    };
    let mut shape: Shape = data.shape[..at].iter().cloned().collect();
    shape.extend((0..new).map(|_| Dim::known(1)));
    shape.extend(data.shape[at..].iter().cloned());
    call.output_tensor(shape, data.dtype)
}

fn reverse(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let Some(axis) = optional_int(call, "axis")? else {
        return attribute_missing(call, "axis", "0");
    };
    if normal_axis(axis, data.rank()).is_none() {
        return axis_out_of_range(call, "axis", axis, 0, data.rank());
    }
    call.output_same(0)
}

fn squeeze(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let rank = data.rank();
    let Some(axes) = optional_ints(call, "axis")? else {
        // The removed axes must be known at compile time.
        if let Some(open) = data.shape.iter().position(|dim| dim.as_known().is_none()) {
            let size = &data.shape[open];
            return fault(
                call,
                Code::MissingAttribute,
                text!(
                    "missing attribute `axis`: it is unknown if axis {open} of {}, of size {size}, can be \
                     removed",
                    call.name(0)
                ),
            )
            .rule("without `axis` every axis of size 1 is removed, so every size must be known")
            .axis(0, open, size)
            .attribute("axis", "no value")
            .help("write the axes to remove: `axis=[0]`")
            .fail();
        }
        let kept: Shape = data.shape.iter().filter(|dim| !dim.is(1)).cloned().collect();
        return call.output_tensor(kept, data.dtype);
    };
    let mut kept: SmallVec<[bool; 6]> = SmallVec::from_elem(true, rank);
    for &axis in &axes {
        match normal_axis(axis, rank) {
            Some(axis) => kept[axis] = false,
            None => return axis_out_of_range(call, "axis", axis, 0, rank),
        }
    }
    let dropped = |axis: &usize| !kept[*axis];
    if let Some(axis) =
        (0..rank).filter(dropped).find(|&axis| !may_equal(&data.shape[axis], &Dim::known(1)))
    {
        return not_one(call, &data, axis);
    }
    let shape: Shape =
        (0..rank).filter(|&axis| kept[axis]).map(|axis| data.shape[axis].clone()).collect();
    call.output_tensor(shape, data.dtype)
}

/// The failure that a removed axis has a size other than 1.
fn not_one<T>(call: &Call<'_>, data: &TensorType, axis: usize) -> Result<T, Halt> {
    let (size, name) = (&data.shape[axis], call.name(0));
    let ones: Vec<i64> =
        (0..data.rank()).filter(|&axis| data.shape[axis].is(1)).map(|axis| axis as i64).collect();
    let reason = fault(
        call,
        Code::ShapeMismatch,
        text!("axis {axis} of {name} cannot be removed: its size is {size}, not 1"),
    )
    .rule("only axes of size 1 can be removed")
    .axis(0, axis, size)
    .attribute("axis", text!("axis {axis}"));
    match ones.is_empty() {
        true => reason.help(text!("{name} has no axis of size 1; `reshape` merges axes")),
        false => reason.fix("axis", AttrValue::list(ones)),
    }
    .fail()
}

fn transpose(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let rank = data.rank();
    let Some(order) = optional_ints(call, "axes")? else {
        return call.output_tensor(data.shape.iter().rev().cloned(), data.dtype);
    };
    if order.len() != rank {
        return fault(
            call,
            Code::AttributeLength,
            text!("`axes` lists {}, but {} has {rank}", axes(order.len()), call.name(0)),
        )
        .rule(text!("`axes` names each of the {} of {} once", axes(rank), call.name(0)))
        .attribute("axes", axes(order.len()))
        .argument(0, axes(rank))
        .fail();
    }
    let mut shape = Shape::new();
    let mut used: SmallVec<[bool; 6]> = SmallVec::from_elem(false, rank);
    for &axis in &order {
        let Some(at) = normal_axis(axis, rank) else {
            return axis_out_of_range(call, "axes", axis, 0, rank);
        };
        if std::mem::replace(&mut used[at], true) {
            let missing: Vec<i64> = (0..rank as i64)
                .filter(|&k| !order.iter().any(|&a| a == k || a + rank as i64 == k))
                .collect();
            return fault(call, Code::AttributeValue, text!("`axes` names axis {at} twice"))
                .rule(text!("`axes` names each of the {} of {} once", axes(rank), call.name(0)))
                .attribute("axes", text!("axis {at} twice"))
                .help(text!("not named: {}", list_text(&missing)))
                .fail();
        }
        shape.push(data.shape[at].clone());
    }
    call.output_tensor(shape, data.dtype)
}
