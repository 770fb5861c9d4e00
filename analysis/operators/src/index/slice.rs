//! Operators that slice tensors.

use types::AttrValue;

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("slice_like", &["data", "shape_like"])
        .controls(&["shape_like"])
        .attrs(&SLICE_LIKE)
        .rule("SliceLike", slice_like)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Slices a tensor from the start of each axis to the size of another tensor.",
            args: &["any tensor", "a tensor of the target sizes, whose elements are not used"],
            shape: "the shape of `data` with the sizes of `shape_like` on the axes in `axes`, or \
                    on all that both have where it is `None`",
            example: "slice_like(%x, %y, axes=[2, 3])",
        }),
    op("sliding_window", &["data"])
        .since(9)
        .attrs(&SLIDING_WINDOW)
        .rule("SlidingWindow", sliding_window)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Extracts the window at each position along the last axes.",
            args: &["a tensor; the window covers its axes from `axis` on"],
            shape: "the axes before `axis`, then the number of positions along each axis, \
                    `(size - window) / stride + 1`, then `window_shape`",
            example: "sliding_window(%x, axis=2, window_shape=[3, 3], strides=[1, 1])",
        }),
    op("strided_slice", &["data"])
        .python("data begin end strides axes slice_mode")
        .fill(Fill::Argument(0))
        .forms(&[
            form(Releases::between(7, 7), 1).defaults(&[("axes", AttrDefault::None)]),
            form(Releases::until(6), 1)
                .defaults(&[("axes", AttrDefault::None), ("strides", AttrDefault::Ints(&[]))]),
        ])
        .attrs(&STRIDED_SLICE)
        .rule("StridedSlice", strided_slice)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Extracts the elements between two positions of each axis, with strides.",
            args: &["any tensor"],
            shape: "on each axis `(end - begin) / stride`, rounded up; positions count from the \
                    end where they are negative, and are brought inside the axis. With \
                    `slice_mode=\"size\"` `end` contains sizes, and -1 means the rest",
            example: "strided_slice(%x, begin=[0, 1], end=[2, 4], strides=[1, 1], axes=None)",
        }),
];

fn slice_like(call: &mut Call<'_>) -> Outcome {
    let (data, like) = (call.tensor(0)?, call.tensor(1)?);
    let mut shape = data.shape.clone();
    let chosen: SmallVec<[i64; 6]> = match optional_ints(call, "axes")? {
        None => (0..data.rank().min(like.rank()) as i64).collect(),
        Some(axes) if axes.is_empty() => {
            return fault(call, Code::AttributeValue, "`axes` must not be empty")
                .rule("`axes` lists the axes to slice; `None` means all of them")
                .attribute("axes", "no axes")
                .fix("axes", AttrValue::None)
                .fail();
        }
        Some(axes) => axes,
    };
    for written in chosen {
        // Negative axes count from the end of `data`, also for `shape_like`.
        let Some(axis) = normal_axis(written, data.rank()) else {
            return axis_out_of_range(call, "axes", written, 0, data.rank());
        };
        let Some(size) = like.shape.get(axis) else {
            return axis_out_of_range(call, "axes", axis as i64, 1, like.rank());
        };
        let whole = &data.shape[axis];
        if let (Some(m), Some(n)) = (size.as_known(), whole.as_known())
            && m > n
        {
            return fault(
                call,
                Code::ShapeMismatch,
                text!(
                    "axis {axis} of {} has size {m}, more than the {n} of {}",
                    call.name(1),
                    call.name(0)
                ),
            )
            .rule("a slice must not be larger than the tensor")
            .axis(1, axis, m)
            .axis(0, axis, n)
            .fail();
        }
        shape[axis] = size.clone();
    }
    call.output_tensor(shape, data.dtype)
}

fn sliding_window(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let axis = int_attr(call, "axis")?;
    let window = optional_dims(call, "window_shape")?.unwrap_or_default();
    let strides = optional_dims(call, "strides")?.unwrap_or_default();
    let rank = data.rank();
    // Negative axes are not counted from the end here.
    let first = if window.is_empty() { axis.max(0) } else { axis };
    let Some(first) = usize::try_from(first).ok().filter(|&axis| axis <= rank) else {
        return fault(
            call,
            Code::AxisOutOfRange,
            text!("{} has no axis {axis}: it has {}", call.name(0), axes(rank)),
        )
        .rule("`axis` is counted from the front: it must not be negative")
        .attribute("axis", text!("axis {axis}"))
        .argument(0, axes(rank))
        .fail();
    };
    if first + window.len() > rank {
        return fault(
            call,
            Code::RankMismatch,
            text!(
                "a window over {} does not fit {}, which has {} from axis {first} on",
                axes(window.len()),
                call.name(0),
                axes(rank - first)
            ),
        )
        .rule("the window covers the axes from `axis` on")
        .attribute("window_shape", axes(window.len()))
        .argument(0, axes(rank))
        .fail();
    }
    if first + window.len() < rank {
        let check = fault(
            call,
            Code::AttributeLength,
            text!(
                "a window over {} does not cover {}, which has {} from axis {first} on",
                axes(window.len()),
                call.name(0),
                axes(rank - first)
            ),
        )
        .rule("the window must cover every axis from `axis` on")
        .attribute("window_shape", axes(window.len()))
        .argument(0, axes(rank))
        .fail();
        call.lenient(check)?;
    }
    if strides.len() < window.len() {
        return wrong_length(call, "strides", strides.len(), window.len());
    }
    let mut shape: Shape = data.shape[..first].iter().cloned().collect();
    for (i, (window, stride)) in window.iter().zip(&strides).enumerate() {
        if stride.is(0) {
            return fault(call, Code::AttributeValue, "`strides` must not be 0")
                .rule("each stride must be at least 1")
                .attribute("strides", "0")
                .fail();
        }
        let size = &data.shape[first + i];
        shape.push((size - &(window - 1) + stride.clone() - 1) / stride.clone());
    }
    shape.extend(window);
    call.output_tensor(shape, data.dtype)
}

/// The range of one axis of a slice.
struct Cut {
    axis: usize,
    begin: i64,
    end: i64,
    stride: i64,
}

fn strided_slice(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let mut lists = [SmallVec::new(), SmallVec::new(), SmallVec::new()];
    for (list, name) in lists.iter_mut().zip(["begin", "end", "strides"]) {
        match optional_ints(call, name)? {
            Some(values) => *list = values,
            None => return attribute_missing(call, name, "[0, 1]"),
        }
    }
    let [begin, end, strides] = lists;
    let mut shape = data.shape.clone();
    for cut in cuts(call, &data, begin, end, strides)? {
        let Some(size) = data.shape[cut.axis].as_known() else {
            shape[cut.axis] = Dim::Any;
            continue;
        };
        let length = cut.length(call, size)?;
        shape[cut.axis] = Dim::known(length);
    }
    // TVM takes the integer width of a new size from the axis at the position of the entry in the
    // list, which is another axis if `axes` skips some.
    let listed: SmallVec<[usize; 6]> = match optional_ints(call, "axes")? {
        Some(axes) => axes.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect(),
        None => (0..data.rank()).collect(),
    };
    let mut sized = data.shape.clone();
    for (i, &axis) in listed.iter().enumerate() {
        let wide = matches!(sized.get(i), Some(Dim::Known { wide: true, .. }));
        let (Some(to), Some(from)) = (sized.get_mut(axis), shape.get(axis)) else {
            return Err(Halt::Silent);
        };
        *to = from.clone().with_width(wide);
    }
    call.output_tensor(sized, data.dtype)
}

/// Returns the ranges to slice, by axis.
fn cuts(
    call: &Call<'_>,
    data: &TensorType,
    mut begin: SmallVec<[i64; 6]>,
    mut end: SmallVec<[i64; 6]>,
    mut strides: SmallVec<[i64; 6]>,
) -> Result<Vec<Cut>, Halt> {
    let rank = data.rank();
    if rank == 0 {
        return fault(
            call,
            Code::RankMismatch,
            text!("{} is a scalar: it has no axis", call.name(0)),
        )
        .argument(0, "a scalar")
        .fail();
    }
    let listed = optional_ints(call, "axes")?;
    let expected = listed.as_ref().map_or(rank, |axes| axes.len());
    if listed.is_none() {
        // Missing entries select the whole axis.
        while strides.len() < rank {
            strides.push(1);
        }
        for i in begin.len()..rank {
            begin.push(if strides[i] > 0 { 0 } else { i64::MAX });
        }
        for i in end.len()..rank {
            end.push(if strides[i] < 0 { 0 } else { i64::MAX });
        }
    }
    for (name, list) in [("begin", &begin), ("end", &end), ("strides", &strides)] {
        let found = list.len();
        if found != expected {
            return fault(
                call,
                Code::AttributeLength,
                text!("`{name}` has {}, expected {expected}", count(found, "value", "values"),),
            )
            .rule(match listed {
                Some(_) => {
                    text!("`{name}` has one value for each of the {expected} axes in `axes`")
                }
                None => text!("{} has {}", call.name(0), axes(rank)),
            })
            .attribute(name, count(found, "value", "values"))
            .fail();
        }
    }
    if expected == 0 || expected > rank {
        return fault(call, Code::AttributeLength, text!("`axes` lists {}", axes(expected)))
            .rule(text!("`axes` lists at least 1 and at most {}", axes(rank)))
            .attribute("axes", axes(expected))
            .fail();
    }
    let by_size = call.attrs().str("slice_mode") == "size";
    let stepped = call.attrs().str("slice_mode") == "end";
    if matches!(call.attrs().get("slice_mode"), AttrValue::Error | AttrValue::Opaque) {
        return Err(Halt::Silent);
    }
    let mut cuts = Vec::new();
    for i in 0..expected {
        let written = listed.as_ref().map_or(i as i64, |axes| axes[i]);
        let Some(axis) = usize::try_from(written).ok().filter(|&axis| axis < rank) else {
            let reason = fault(
                call,
                Code::AxisOutOfRange,
                text!("{} has no axis {written}: it has {}", call.name(0), axes(rank)),
            )
            .rule(text!("`axes` counts from the front: from 0 to {}", rank - 1))
            .attribute("axes", text!("axis {written}"))
            .argument(0, axes(rank));
            return match normal_axis(written, rank) {
                Some(axis) => reason.help(text!("write {axis} for {written}")),
                None => reason,
            }
            .fail();
        };
        // Strides apply to `slice_mode="end"` only.
        let stride = if stepped { strides[i] } else { 1 };
        let end = match end[i] {
            size if by_size && size < 0 => i64::MAX,
            size if by_size => begin[i].wrapping_add(size),
            position => position,
        };
        cuts.push(Cut { axis, begin: begin[i], end, stride });
    }
    Ok(cuts)
}

impl Cut {
    /// Returns the number of elements selected from an axis of `size`.
    fn length(&self, call: &Call<'_>, size: i64) -> Result<i64, Halt> {
        let Cut { axis, begin, end, stride } = *self;
        if stride == 0 {
            return fault(call, Code::AttributeValue, text!("the stride of axis {axis} is 0"))
                .rule("a stride must not be 0; negative ones go backwards")
                .attribute("strides", "0")
                .axis(0, axis, size)
                .fail();
        }
        // Negative positions count from the end, and all are clamped to the axis.
        let (low, high) = if stride < 0 { (-1, size - 1) } else { (0, size) };
        let place = |position: i64| {
            let position = if position < 0 { position.saturating_add(size) } else { position };
            position.max(low).min(high)
        };
        let (from, to) = (place(begin), place(end));
        let backwards = if stride < 0 { to > from } else { from > to };
        if backwards {
            let (what, rule) = if stride < 0 {
                let what = text!("goes backwards, but ends at {to}, after its begin at {from}");
                (what, "with a negative stride `end` must not be after `begin`")
            } else {
                let what = text!("ends at {to}, before its begin at {from}");
                (what, "with a positive stride `end` must not be before `begin`")
            };
            return fault(call, Code::AttributeValue, text!("the slice of axis {axis} {what}"))
                .rule(text!(
                    "{rule}; negative positions count from the end, and all are clamped to the axis"
                ))
                .attribute("begin", text!("{begin} is position {from}"))
                .attribute("end", text!("{end} is position {to}"))
                .axis(0, axis, size)
                .fail();
        }
        let distance = from.abs_diff(to);
        let length = distance.div_ceil(stride.unsigned_abs());
        Ok(i64::try_from(length).unwrap_or(i64::MAX))
    }
}
