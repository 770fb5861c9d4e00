//! Reductions and scans, and operators on shapes.

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

/// The description of the shape of every reduction.
const REDUCED: &str = "the shape of `data` without the axes in `axis` (all if it is not given, \
                       all others if `exclude` is set); with `keepdims` they have size 1";

/// `contrib.ndarray_size` of TVM 0.6, which has one axis.
static NDARRAY_SIZE_6: Operator = op("ndarray_size", &["data"])
    .attrs(&NDARRAY_SIZE)
    .rule("NdarraySize", |call| {
        call.tensor(0)?;
        let dtype = call.attrs().dtype("dtype");
        call.output_tensor([Dim::known(1)], dtype)
    })
    .cost(Cost::Free)
    .another();

pub(crate) static OPERATORS: &[Operator] = &[
    reduction("all", "True where all elements along some axes are true.", "all(%x, axis=[1])")
        .since(6),
    reduction("any", "True where any element along some axes is true.", "any(%x, axis=[1])")
        .since(6),
    op("argmax", &["data"])
        .python("data axis keepdims exclude select_last_index")
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
        .python("data axis keepdims exclude select_last_index")
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
        .in_category(Category::Reduction)
        .since(8)
        .detached_attrs(&SCANOP)
        .rule("Cumprod", scan)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Computes the cumulative products along one axis.",
            args: &["any tensor"],
            shape: "the shape of `data`, or a vector of all elements if `axis` is not given",
            example: "cumprod(%x, axis=1, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
        }),
    op("cumsum", &["data"])
        .in_category(Category::Reduction)
        .since(8)
        .detached_attrs(&SCANOP)
        .rule("Cumsum", scan)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Computes the cumulative sums along one axis.",
            args: &["any tensor"],
            shape: "the shape of `data`, or a vector of all elements if `axis` is not given",
            example: "cumsum(%x, axis=1, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
        }),
    reduction("max", "Finds the largest element along some axes.", "max(%x, axis=[1])"),
    reduction("mean", "Computes the arithmetic mean along some axes.", "mean(%x, axis=[2, 3])"),
    reduction("min", "Finds the smallest element along some axes.", "min(%x, axis=[1])"),
    op("ndarray_size", &["data"])
        .since(7)
        .formerly(&[("contrib.ndarray_size", Releases::between(6, 6))])
        .forms(&[form(Releases::between(6, 6), 1).as_operator(&NDARRAY_SIZE_6)])
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
    op("shape_of", &["data"])
        .since(6)
        .attrs(&SHAPE_OF)
        .rule("ShapeOf", shape_of)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Returns the shape of a tensor as a tensor.",
            args: &["any tensor"],
            shape: "`(rank,)` of data type `dtype`; a scalar if `data` is one",
            example: "shape_of(%x, dtype=\"int64\")",
        }),
    reduction("sum", "Adds up the elements along some axes.", "sum(%x, axis=[1], keepdims=True)"),
    op("variance", &["data", "mean"])
        .python("data axis keepdims exclude unbiased with_mean/mean")
        .since(6)
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

/// Returns the axes that are not in an ascending list. As in TVM, the search stops at an axis that
/// is listed twice, so that later entries are not found.
fn not_listed(listed: &[usize], rank: usize) -> SmallVec<[usize; 8]> {
    let mut next = listed.iter().peekable();
    (0..rank).filter(|axis| next.next_if(|&listed| listed == axis).is_none()).collect()
}

/// The failure that an axis is listed twice, for which TVM's behaviour is undefined.
fn named_twice<T>(call: &Call<'_>, named: &[usize], rank: usize) -> Result<T, Halt> {
    let twice = named.windows(2).find(|pair| pair[0] == pair[1]).map_or(0, |pair| pair[0]);
    let mut once: Vec<i64> = named.iter().map(|&axis| axis as i64).collect();
    once.dedup();
    fault(call, Code::AttributeValue, text!("`axis` names axis {twice} twice"))
        .rule(text!(
            "`axis` lists axes of {}, which has {}, at most once each",
            call.name(0),
            axes(rank)
        ))
        .attribute("axis", text!("axis {twice} twice"))
        .fix("axis", AttrValue::list(once))
        .fail()
}

/// Returns the listed axes of a tensor of `rank`, in ascending order. An axis that is listed twice
/// occurs twice.
fn named_axes(call: &Call<'_>, rank: usize) -> Result<SmallVec<[usize; 8]>, Halt> {
    let mut named: SmallVec<[usize; 8]> = SmallVec::new();
    for axis in optional_ints(call, "axis")?.unwrap_or_default() {
        match normal_axis(axis, rank) {
            Some(axis) => named.push(axis),
            None => return axis_out_of_range(call, "axis", axis, 0, rank),
        }
    }
    named.sort_unstable();
    Ok(named)
}

/// Returns the reduced axes of a tensor of `rank`, of which an ascending list is given.
fn folded(call: &Call<'_>, named: &[usize], rank: usize) -> Result<SmallVec<[usize; 8]>, Halt> {
    if named.is_empty() {
        return Ok((0..rank).collect());
    }
    if !call.attrs().bool("exclude") {
        return Ok(named.into());
    }
    let mut others = not_listed(named, rank);
    // If an axis is listed twice, TVM allocates its list too short by one and writes past the end,
    // which has no effect up to the capacity of the allocation.
    match rank.checked_sub(named.len()) {
        Some(expected)
            if others.len() == expected
                || (expected > 0 && others.len() <= (expected | 1).max(3)) =>
        {
            others.truncate(expected);
            Ok(others)
        }
        _ => named_twice(call, named, rank),
    }
}

/// Returns the shape of a reduced tensor.
fn reduced(call: &mut Call<'_>, data: &TensorType) -> Result<Shape, Halt> {
    let named = named_axes(call, data.rank())?;
    let shape = shape_for(call, data, &named)?;
    let mut once = named.clone();
    once.dedup();
    // The operator counts each axis once, TVM's relation mostly does not.
    if once.len() < named.len() && shape_for(call, data, &once)? != shape {
        call.lenient(named_twice(call, &named, data.rank()))?;
    }
    Ok(shape)
}

/// Returns the shape of a reduced tensor if `axis` is an ascending list.
fn shape_for(call: &Call<'_>, data: &TensorType, named: &[usize]) -> Result<Shape, Halt> {
    let rank = data.rank();
    let folded = folded(call, named, rank)?;
    if folded.is_empty() {
        return Ok(data.shape.clone());
    }
    // If a reduced size is dynamic, TVM counts the elements of those before it in 32 bits.
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
        return fault(
            call,
            Code::ShapeMismatch,
            text!("the reduction covers {counted} elements or more"),
        )
        .rule("if a size is dynamic, the others may have at most 2147483646 elements")
        .argument(0, shape_text(&data.shape))
        .fail();
    }
    let mut left = not_listed(&folded, rank);
    if call.attrs().bool("keepdims") {
        let one = Dim::known(1);
        let size = |axis: usize| if left.contains(&axis) { &data.shape[axis] } else { &one };
        return Ok((0..rank).map(|axis| size(axis).clone()).collect());
    }
    // As above: a result with one axis may have an excess entry, which is dropped.
    match rank.checked_sub(folded.len()) {
        Some(expected) if left.len() == expected || (expected, left.len()) == (1, 2) => {
            left.truncate(expected)
        }
        _ => return named_twice(call, &folded, rank),
    }
    Ok(left.iter().map(|&axis| data.shape[axis].clone()).collect())
}

fn reduce(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let shape = reduced(call, &data)?;
    call.output_tensor(shape, data.dtype)
}

/// Checks that the argument has an axis to reduce.
fn has_axes(call: &Call<'_>, data: &TensorType) -> Outcome {
    if data.rank() > 0 {
        return Ok(());
    }
    fault(call, Code::RankMismatch, text!("{} is a scalar: it has no axis", call.name(0)))
        .argument(0, "a scalar")
        .fail()
}

fn arg_reduce(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    has_axes(call, &data)?;
    let shape = reduced(call, &data)?;
    // The integer width of the indices is that of the first size.
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
        return fault(call, Code::RankMismatch, text!("{y} has {}, {x} has {m}", axes(n)))
            .rule(text!("{y} must have as many axes as {x}"))
            .argument(1, axes(n))
            .argument(0, axes(m))
            .help("compute it with `keepdims=True`")
            .fail();
    }
    call.lenient(broadcasts_into(call, (1, &mean.shape), (call.name(0), &data.shape)))?;
    let shape = reduced(call, &data)?;
    call.output_tensor(shape, data.dtype)
}

fn scan(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    needs_attrs(call, "relay.attrs.ScanopAttrs")?;
    let dtype = dtype_or(call, "dtype", data.dtype);
    if optional_int(call, "axis")?.is_some() {
        call.lenient(names_axis(call, "axis", 0, data.rank()))?;
        return call.output_tensor(data.shape.clone(), dtype);
    }
    has_axes(call, &data)?;
    // A product with a known size of 0 is 0, even if another size is dynamic.
    let length = if data.shape.iter().any(|dim| dim.is(0)) {
        let wide = data.shape.iter().any(|dim| matches!(dim, Dim::Known { wide: true, .. }));
        Dim::known(0).with_width(wide)
    } else {
        product(&data.shape)
    };
    call.output_tensor([length], dtype)
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
