//! `concatenate`, `stack` and `split`.

use std::sync::Arc;

use types::{AttrValue, Place};

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("concatenate", &["data"]).tuples(&["data"])
        .attrs(&CONCATENATE)
        .rule("Concatenate", concatenate)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Concatenates tensors along an existing axis.",
            args: &["a tuple of tensors with equal sizes on all axes but `axis`"],
            shape: "the shape of a field, with the sizes of axis `axis` added up",
            example: "concatenate((%a, %b), axis=1)",
        }),
    op("split", &["data"]).attrs(&SPLIT).rule("Split", split).cost(Cost::Free).doc(Doc {
        summary: "Splits a tensor into sections along one axis.",
        args: &["any tensor that has the axis `axis`"],
        shape: "a tuple: `indices_or_sections` sections of equal size, or one section more than the \
                list has positions",
        example: "split(%x, indices_or_sections=[2, 5], axis=1)",
    }),
    op("stack", &["data"]).tuples(&["data"]).since(6).attrs(&STACK).rule("Stack", stack).cost(Cost::Free).doc(Doc {
        summary: "Stacks tensors of one shape along a new axis.",
        args: &["a tuple of tensors of one shape"],
        shape: "the shape of a field with a new axis before `axis`, as long as the tuple",
        example: "stack((%a, %b), axis=0)",
    }),
];

/// Returns the fields of the tuple: at least one, all of the same rank and data type.
fn joined(call: &Call<'_>) -> Result<Vec<Arc<TensorType>>, Halt> {
    let fields = call.tensors(0)?;
    let Some(first) = fields.first() else {
        return fault(call, Code::ArgumentType, "the tuple must not be empty")
            .argument(0, "no fields")
            .fail();
    };
    for (k, field) in fields.iter().enumerate().skip(1) {
        let (rank, expected) = (field.rank(), first.rank());
        if rank != expected {
            return fault(
                call,
                Code::RankMismatch,
                text!("field {k} has {}, field 0 has {expected}", axes(rank)),
            )
            .rule("all tensors must have the same number of axes")
            .mark(Place::Field(0, k), None, axes(rank))
            .mark(Place::Field(0, 0), None, axes(expected))
            .fail();
        }
        if field.dtype != first.dtype {
            return fault(
                call,
                Code::DtypeMismatch,
                text!("field {k} is {}, field 0 is {}", field.dtype, first.dtype),
            )
            .rule("all tensors must have the same data type")
            .mark(Place::Field(0, k), None, field.dtype)
            .mark(Place::Field(0, 0), None, first.dtype)
            .help(text!("cast one of them: `cast(…, dtype=\"{}\")`", first.dtype))
            .fail();
        }
    }
    Ok(fields)
}

/// The failure that two fields have different sizes on an axis.
fn differ<T>(
    call: &Call<'_>,
    fields: &[Arc<TensorType>],
    (a, b): (usize, usize),
    axis: usize,
    rule: Text,
) -> Result<T, Halt> {
    let (m, n) = (&fields[a].shape[axis], &fields[b].shape[axis]);
    fault(
        call,
        Code::ShapeMismatch,
        text!("field {b} has size {n} on axis {axis}, field {a} has {m}"),
    )
    .rule(rule)
    .mark(Place::Field(0, b), Some(axis), n)
    .mark(Place::Field(0, a), Some(axis), m)
    .fail()
}

pub(crate) fn concatenate(call: &mut Call<'_>) -> Outcome {
    let fields = joined(call)?;
    let rank = fields[0].rank();
    let written = int_attr(call, "axis")?;
    let Some(axis) = normal_axis(written, rank) else {
        let reason = fault(
            call,
            Code::AxisOutOfRange,
            text!("the tensors have no axis {written}: they have {}", axes(rank)),
        )
        .attribute("axis", text!("axis {written}"))
        .mark(Place::Field(0, 0), None, axes(rank));
        return match rank {
            0 => reason.rule("scalars have no axis").help("use `stack` for scalars"),
            _ => reason.rule(text!("`axis` must be from 0 to {} (or -{rank} to -1)", rank - 1)),
        }
        .fail();
    };
    // One dynamic size along the axis makes the sum dynamic.
    let dynamic = fields.iter().any(|field| field.shape[axis].is_any());
    let sum = fields[1..]
        .iter()
        .fold(fields[0].shape[axis].clone(), |sum, field| &sum + &field.shape[axis]);
    let mut shape = Shape::new();
    for i in 0..rank {
        if i == axis {
            shape.push(if dynamic { Dim::Any } else { sum.clone() });
            continue;
        }
        let known: SmallVec<[usize; 8]> =
            (0..fields.len()).filter(|&k| !fields[k].shape[i].is_any()).collect();
        let Some(&first) = known.first() else {
            shape.push(Dim::Any);
            continue;
        };
        let size = &fields[first].shape[i];
        if let Some(&other) = known.iter().find(|&&k| !may_equal(size, &fields[k].shape[i])) {
            let rule = text!(
                "the tensors are concatenated along axis {axis}; on every other axis their sizes must \
                 be equal"
            );
            return differ(call, &fields, (first, other), i, rule);
        }
        // A size that is known for some of the tensors only is used if sizes are checked at run
        // time anyway, because the concatenated axis is dynamic: `(?, 3)` and `(?, ?)` give `(?,
        // 3)`, but `(1, 3)` and `(1, ?)` give `(2, ?)`.
        let taken = known.len() == fields.len() || dynamic;
        shape.push(if taken { size.clone() } else { Dim::Any });
    }
    call.output_tensor(shape, fields[0].dtype)
}

fn stack(call: &mut Call<'_>) -> Outcome {
    let fields = joined(call)?;
    let first = &fields[0];
    let rank = first.rank();
    let axis = int_attr(call, "axis")?;
    // The position after the last axis is valid.
    let Some(at) = normal_axis(axis, rank + 1) else {
        return fault(
            call,
            Code::AxisOutOfRange,
            text!("there is no position {axis} for the new axis: the tensors have {}", axes(rank)),
        )
        .rule(text!("`axis` must be a position from 0 to {rank} (or -{} to -1)", rank + 1))
        .attribute("axis", text!("axis {axis}"))
        .mark(Place::Field(0, 0), None, axes(rank))
        .fail();
    };
    for (k, field) in fields.iter().enumerate() {
        for i in 0..rank {
            // TVM includes the new axis in those of the fields here, and does not compare the
            // sizes on it.
            if i != at && !may_equal(&first.shape[i], &field.shape[i]) {
                let rule = "all tensors must have the same shape".into();
                return differ(call, &fields, (0, k), i, rule);
            }
        }
    }
    let other = |field: &Arc<TensorType>| {
        first.shape.get(at).zip(field.shape.get(at)).is_some_and(|(a, b)| !may_equal(a, b))
    };
    if let Some(k) = fields.iter().position(other) {
        let rule = "all tensors must have the same shape".into();
        call.lenient(differ(call, &fields, (0, k), at, rule))?;
    }
    let mut shape = first.shape.clone();
    shape.insert(at, Dim::known(fields.len() as i64));
    call.output_tensor(shape, first.dtype)
}

/// Maximum number of sections. TVM has no limit and runs out of memory.
const MAX_SECTIONS: i64 = 1 << 16;

fn split(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let axis = axis_attr(call, "axis", 0, data.rank())?;
    let name = "indices_or_sections";
    let value = call.attrs().get(name).clone();
    match &value {
        AttrValue::Error | AttrValue::Opaque | AttrValue::Meta { .. } => Err(Halt::Silent),
        AttrValue::List(_) => {
            let Some(cuts) = call.attrs().ints(name) else { return Err(Halt::Silent) };
            split_at(call, &data, axis, &cuts)
        }
        _ => match value.as_int() {
            Some(sections) => split_evenly(call, &data, axis, sections),
            None => fault(
                call,
                Code::AttributeValue,
                "`indices_or_sections` must be a number or a list",
            )
            .rule("it is the number of equal sections, or a list of positions to split at")
            .attribute(name, "neither a number nor a list")
            .help("write `indices_or_sections=2`, or `indices_or_sections=[3]`")
            .fail(),
        },
    }
}

/// Splits into sections of equal size.
fn split_evenly(call: &mut Call<'_>, data: &TensorType, axis: usize, sections: i64) -> Outcome {
    let name = "indices_or_sections";
    let size = &data.shape[axis];
    let divides = |n: i64| (size % n).as_known().is_none_or(|rest| rest == 0);
    // As in TVM, a negative number of sections results in none.
    if (sections == 0 && !size.is_any()) || !divides(sections) || sections > MAX_SECTIONS {
        let pieces = if sections == 0 { "0 sections".into() } else { count_of(sections) };
        let mut reason = fault(
            call,
            Code::ShapeMismatch,
            text!("axis {axis} of {}, of size {size}, cannot be split into {pieces}", call.name(0)),
        )
        .rule(text!("all sections must have the same size: {sections} must divide {size}"))
        .axis(0, axis, size)
        .attribute(name, pieces);
        if let Some(n) = size.as_known().filter(|&n| n > 0 && sections > 0) {
            let divisor = (1..=n.min(sections)).rev().find(|d| n % d == 0).unwrap_or(1);
            reason = reason
                .help("a list of positions splits into pieces of different sizes")
                .fix(name, divisor);
        }
        return reason.fail();
    }
    if sections < 0 {
        call.lenient(at_least(call, name, 1))?;
    }
    let piece = if sections == 0 { Dim::Any } else { size / sections };
    let mut shape = data.shape.clone();
    shape[axis] = piece;
    let field = Type::tensor(shape, data.dtype);
    call.output(Type::tuple((0..sections).map(|_| field.clone())))
}

fn count_of(sections: i64) -> Text {
    match sections {
        1 => "1 equal section".into(),
        n => text!("{n} equal sections"),
    }
}

/// Splits at the positions of a list.
fn split_at(call: &mut Call<'_>, data: &TensorType, axis: usize, cuts: &[i64]) -> Outcome {
    let name = "indices_or_sections";
    let size = &data.shape[axis];
    let mut start = 0;
    let mut fields = Vec::new();
    let mut add = |piece: Dim| {
        let mut shape = data.shape.clone();
        shape[axis] = piece;
        fields.push(Type::tensor(shape, data.dtype));
    };
    for &cut in cuts {
        if cut <= start {
            return fault(call, Code::AttributeValue, text!("position {cut} is not after {start}"))
                .rule("the positions must be positive and ascending")
                .attribute(name, text!("{cut} after {start}"))
                .fail();
        }
        add(Dim::known(cut - start));
        start = cut;
    }
    if size.as_known().is_some_and(|size| start >= size) {
        return fault(
            call,
            Code::AttributeValue,
            text!("position {start} is not inside axis {axis} of {}, of size {size}", call.name(0)),
        )
        .rule(text!("the last position must be less than {size}"))
        .attribute(name, text!("position {start}"))
        .axis(0, axis, size)
        .fail();
    }
    add(size - start);
    call.output(Type::tuple(fields))
}
