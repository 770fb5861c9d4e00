//! Layouts, flattening and buffers.

use crate::prelude::*;

pub(super) fn batch_flatten(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let Some((batch, rest)) = data.shape.split_first() else {
        return Reason::new(
            Code::RankMismatch,
            text!("`{}`: {} is a scalar and has no batch axis", call.operator(), call.name(0)),
        )
        .rule("the first axis stays, the others become one")
        .argument(0, "a scalar")
        .undecided();
    };
    call.output_tensor([batch.clone(), product(rest)], data.dtype)
}

pub(super) fn layout_transform(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let src = layout_attr(call, "src_layout")?;
    let dst = layout_attr(call, "dst_layout")?;
    if !src.converts_to(&dst) {
        return not_convertible(call, &src, &dst);
    }
    let shape = in_layout(call, 0, &data, &src, &dst)?;
    call.output_tensor(shape, data.dtype)
}

fn not_convertible(call: &Call<'_>, src: &Layout, dst: &Layout) -> Outcome {
    let lacks = |a: &Layout, b: &Layout| {
        b.axes()
            .iter()
            .map(|axis| axis.letter.to_ascii_uppercase() as char)
            .find(|letter| a.index_of(*letter).is_none())
    };
    let (name, message) = match (lacks(dst, src), lacks(src, dst)) {
        (Some(letter), _) => {
            ("dst_layout", text!("the axis {letter} of \"{src}\" is not in \"{dst}\""))
        }
        (None, Some(letter)) => {
            ("src_layout", text!("the axis {letter} of \"{dst}\" is not in \"{src}\""))
        }
        (None, None) => ("src_layout", "a layout has at least one axis".into()),
    };
    Reason::new(Code::InvalidLayout, text!("`{}`: {message}", call.operator()))
        .rule("both layouts must have the same axes; the order and the blocks may differ")
        .attribute(name, message)
        .fail()
}

/// Returns the axes of a layout of the auto-scheduler, such as `"8O64I8O"`, by their letters.
fn sized_axes(layout: &str) -> Vec<&str> {
    let axes = layout.split(|letter: char| letter.is_ascii_digit());
    axes.filter(|letters| !letters.is_empty()).collect()
}

/// Checks that the tensor is in `src_layout`, and that `dst_layout` has the same axes and holds as
/// many elements.
fn same_elements(call: &Call<'_>, data: &TensorType, shape: &[Dim]) -> Outcome {
    let (source, target) = (call.attrs().str("src_layout"), call.attrs().str("dst_layout"));
    let (from, to) = (sized_axes(source), sized_axes(target));
    if from.len() != data.rank() {
        let message =
            text!("{} has {}, \"{source}\" has {}", call.name(0), axes(data.rank()), from.len());
        return fault(call, Code::RankMismatch, message)
            .rule("`src_layout` has a size and a name for each axis")
            .attribute("src_layout", axes(from.len()))
            .argument(0, axes(data.rank()))
            .fail();
    }
    if let Some(name) = to.iter().find(|name| !from.contains(name)) {
        let message = text!("`dst_layout` has an axis {name}, and \"{source}\" does not");
        return fault(call, Code::InvalidLayout, message)
            .rule("both layouts have the same axes")
            .attribute("dst_layout", text!("\"{target}\""))
            .attribute("src_layout", text!("\"{source}\""))
            .fail();
    }
    match (element_count(&data.shape), element_count(shape)) {
        (Some(old), Some(new)) if old != new => fault(
            call,
            Code::ShapeMismatch,
            text!("{} has {old} elements, \"{target}\" has {new}", call.name(0)),
        )
        .rule("the number of elements must stay the same")
        .argument(0, shape_text(&data.shape))
        .attribute("dst_layout", shape_text(shape))
        .fail(),
        _ => Ok(()),
    }
}

pub(super) fn auto_scheduler(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let layout = call.attrs().str("dst_layout");
    let mut shape = Shape::new();
    let mut size = 0i64;
    for letter in layout.bytes() {
        match letter {
            // As in TVM, punctuation between the letters counts as a letter.
            b'A'..=b'z' => {
                if size != 0 {
                    shape.push(Dim::known(size));
                    size = 0;
                }
            }
            b'0'..=b'9' => size = (size * 10 + i64::from(letter - b'0')).min(1 << 31),
            _ => {
                let why = text!("`{}` is neither a size nor an axis", letter as char);
                return Reason::new(
                    Code::InvalidLayout,
                    text!("`{}`: \"{layout}\" is not a layout: {why}", call.operator()),
                )
                .rule("`dst_layout` has a size before each axis, as in \"8O64I8O\"")
                .attribute("dst_layout", why)
                .fail();
            }
        }
    }
    call.lenient(same_elements(call, &data, &shape))?;
    call.output_tensor(shape, data.dtype)
}

/// The index map is a TIR function in the metadata section, which is not evaluated. The type of the
/// result stays unknown, without a diagnostic.
pub(super) fn meta_schedule(call: &mut Call<'_>) -> Outcome {
    call.require_tensor(0)?;
    Err(Halt::Silent)
}

pub(super) fn fifo_buffer(call: &mut Call<'_>) -> Outcome {
    let (data, buffer) = (call.tensor(0)?, call.tensor(1)?);
    let (x, b) = (data.rank(), buffer.rank());
    if x != b {
        let (operator, name, other) = (call.operator(), call.name(0), call.name(1));
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} has {}, {other} has {b}", axes(x)),
        )
        .rule("data and buffer have the same axes, and differ in size on `axis` only")
        .argument(0, axes(x))
        .argument(1, axes(b))
        .fail();
    }
    let axis = axis_attr(call, "axis", 1, b)?;
    let same =
        (0..x).filter(|&k| k != axis).find(|&k| !may_equal(&data.shape[k], &buffer.shape[k]));
    if let Some(k) = same {
        let (operator, name, other) = (call.operator(), call.name(0), call.name(1));
        let (found, expected) = (&data.shape[k], &buffer.shape[k]);
        let mismatch = Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: {name} has {found} on axis {k}, {other} has {expected}"),
        )
        .rule("data and buffer have the same axes, and differ in size on `axis` only")
        .axis(0, k, found)
        .axis(1, k, expected)
        .fail();
        call.lenient(mismatch)?;
    }
    call.output_tensor(buffer.shape.clone(), buffer.dtype)
}
