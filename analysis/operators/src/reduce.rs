//! Operators that fold axes: sums, extremes, scans; and questions about a shape.

use crate::prelude::*;

/// A reduction over the axes in `axis`, whose result has the data type of the argument.
const fn reduction(name: &'static str, summary: &'static str, example: &'static str) -> Operator {
    op(name, &["data"]).attrs(&REDUCE).rule("Reduce", reduce).cost(Cost::Reduction).doc(Doc {
        summary,
        args: &["any tensor"],
        shape: REDUCED,
        example,
    })
}

/// The shape rule of every reduction.
const REDUCED: &str = "the shape of `data` without the axes in `axis` (all where it is not given, \
                       all others where `exclude` is set); with `keepdims` they stay, with size 1";

pub(crate) static OPERATORS: &[Operator] = &[
    reduction("all", "Whether all elements are true.", "all(%x, axis=[1])"),
    reduction("any", "Whether any element is true.", "any(%x, axis=[1])"),
    op("argmax", &["data"])
        .attrs(&ARG_REDUCE)
        .rule("ArgReduce", arg_reduce)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Finds the index of the largest element along some axes.",
            args: &["a tensor of at least one axis"],
            shape: REDUCED,
            example: "argmax(%x, axis=[1])",
        }),
    op("argmin", &["data"])
        .attrs(&ARG_REDUCE)
        .rule("ArgReduce", arg_reduce)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Finds the index of the smallest element along some axes.",
            args: &["a tensor of at least one axis"],
            shape: REDUCED,
            example: "argmin(%x, axis=[1])",
        }),
    op("cumprod", &["data"])
        .detached_attrs(&SCANOP)
        .rule("Cumprod", scan)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Multiplies, for each element, all elements up to it along one axis.",
            args: &["any tensor"],
            shape: "the shape of `data`, or a vector of all elements where `axis` is not given",
            example: "cumprod(%x, axis=1, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
        }),
    op("cumsum", &["data"])
        .detached_attrs(&SCANOP)
        .rule("Cumsum", scan)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Adds up, for each element, all elements up to it along one axis.",
            args: &["any tensor"],
            shape: "the shape of `data`, or a vector of all elements where `axis` is not given",
            example: "cumsum(%x, axis=1, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
        }),
    reduction("max", "Finds the largest element along some axes.", "max(%x, axis=[1])"),
    reduction("mean", "Computes the arithmetic mean along some axes.", "mean(%x, axis=[2, 3])"),
    reduction("min", "Finds the smallest element along some axes.", "min(%x, axis=[1])"),
    op("ndarray_size", &["data"])
        .attrs(&NDARRAY_SIZE)
        .rule("NdarraySize", ndarray_size)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Counts the elements of a tensor.",
            args: &["any tensor"],
            shape: "a scalar of data type `dtype`",
            example: "ndarray_size(%x, dtype=\"int32\")",
        }),
    reduction("prod", "Multiplies the elements along some axes.", "prod(%x, axis=[1])"),
    op("shape_of", &["data"]).attrs(&SHAPE_OF).rule("ShapeOf", shape_of).cost(Cost::Free).doc(
        Doc {
            summary: "Gives the shape of a tensor as a tensor.",
            args: &["any tensor"],
            shape: "`(rank,)` of data type `dtype`; a scalar where `data` is one",
            example: "shape_of(%x, dtype=\"int64\")",
        },
    ),
    reduction("sum", "Adds up the elements along some axes.", "sum(%x, axis=[1], keepdims=True)"),
    op("variance", &["data", "mean"])
        .attrs(&VARIANCE)
        .rule("Variance", variance)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Computes the mean of the squared distances from `mean` along some axes.",
            args: &[
                "a tensor of at least one axis",
                "the mean of `data`, with as many axes: with `keepdims=True`",
            ],
            shape: REDUCED,
            example: "variance(%x, %mean, axis=[1], keepdims=True)",
        }),
];

/// Which axes of a tensor of `rank` are folded, in ascending order. An axis that is named twice is
/// there twice.
fn folded(call: &Call<'_>, rank: usize) -> Result<SmallVec<[usize; 8]>, Halt> {
    let written = optional_ints(call, "axis")?.unwrap_or_default();
    let mut named: SmallVec<[usize; 8]> = SmallVec::new();
    for &axis in &written {
        match normal_axis(axis, rank) {
            Some(axis) => named.push(axis),
            None => return axis_out_of_range(call, "axis", axis, 0, rank),
        }
    }
    if named.is_empty() {
        return Ok((0..rank).collect());
    }
    if named.len() > rank {
        return fault(
            call,
            "attribute-length",
            format!("`axis` names {}, {} has {rank}", axes(named.len()), call.name(0)),
        )
        .rule("each axis can be folded once")
        .attribute("axis", axes(named.len()))
        .argument(0, axes(rank))
        .fail();
    }
    named.sort_unstable();
    if !call.attrs().bool("exclude") {
        return Ok(named);
    }
    let others = (0..rank).filter(|axis| !named.contains(axis));
    Ok(others.take(rank - named.len()).collect())
}

/// The shape that is left of a tensor.
fn reduced(call: &Call<'_>, data: &TensorType) -> Result<Shape, Halt> {
    let folded = folded(call, data.rank())?;
    if folded.is_empty() {
        return Ok(data.shape.clone());
    }
    // Where one of the sizes folded is dynamic, TVM wants those before it to count in 32 bits.
    let mut sizes = folded.iter().map(|&axis| &data.shape[axis]);
    let mut counted = 1i128;
    let dynamic = sizes.any(|dim| match dim.as_known() {
        Some(size) => {
            counted = counted.saturating_mul(size.into());
            false
        }
        None => true,
    });
    if dynamic && counted >= i32::MAX.into() {
        return fault(call, "shape-mismatch", format!("more than {counted} elements are folded"))
            .rule("where a size is dynamic, the others may make 2147483646 elements at most")
            .argument(0, shape_text(&data.shape))
            .fail();
    }
    // TVM walks both lists side by side, so that an axis named twice hides those behind it: they
    // stay with `keepdims`, and without it the result has as many axes as are not named.
    let keep = call.attrs().bool("keepdims");
    let mut next = folded.iter().peekable();
    let mut left = Shape::new();
    for (axis, dim) in data.shape.iter().enumerate() {
        if next.next_if(|&&folded| folded == axis).is_none() {
            left.push(dim.clone());
        } else if keep {
            left.push(Dim::known(1));
        }
    }
    if !keep {
        left.truncate(data.rank() - folded.len());
    }
    Ok(left)
}

fn reduce(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let shape = reduced(call, &data)?;
    call.output_tensor(shape, data.dtype)
}

/// The failure that a scalar has no axis to be folded.
fn has_axes(call: &Call<'_>, data: &TensorType) -> Outcome {
    if data.rank() > 0 {
        return Ok(());
    }
    fault(call, "rank-mismatch", format!("{} is a scalar: it has no axis", call.name(0)))
        .argument(0, "a scalar")
        .fail()
}

fn arg_reduce(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    has_axes(call, &data)?;
    let shape = reduced(call, &data)?;
    // Indices are as wide as the size of the first axis is.
    let wide = matches!(data.shape.first(), Some(Dim::Known { wide: true, .. }));
    call.output_tensor(shape, if wide { DataType::INT64 } else { DataType::INT32 })
}

fn variance(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    has_axes(call, &data)?;
    let mean = call.tensor(1)?;
    let (m, n) = (data.rank(), mean.rank());
    if m != n {
        let (x, y) = (call.name(0), call.name(1));
        return fault(call, "rank-mismatch", format!("{y} has {}, {x} has {m}", axes(n)))
            .rule(format!("{y} must have as many axes as {x}"))
            .argument(1, axes(n))
            .argument(0, axes(m))
            .help("compute it with `keepdims=True`")
            .fail();
    }
    let shape = reduced(call, &data)?;
    call.output_tensor(shape, data.dtype)
}

fn scan(call: &mut Call<'_>) -> Outcome {
    let data = call.need_tensor(0)?;
    needs_attrs(call, "relay.attrs.ScanopAttrs")?;
    let dtype = dtype_or(call, "dtype", data.dtype);
    if optional_int(call, "axis")?.is_some() {
        return call.output_tensor(data.shape.clone(), dtype);
    }
    has_axes(call, &data)?;
    call.output_tensor([product(&data.shape)], dtype)
}

fn ndarray_size(call: &mut Call<'_>) -> Outcome {
    call.tensor(0)?;
    let dtype = call.attrs().dtype("dtype");
    call.output(Type::scalar(dtype))
}

fn shape_of(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let dtype = call.attrs().dtype("dtype");
    let rank = (data.rank() > 0).then_some(Dim::known(data.rank() as i64));
    call.output_tensor(rank, dtype)
}
