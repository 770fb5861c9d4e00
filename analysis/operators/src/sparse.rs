//! Sparse matrices in CSR format: stored elements, their column indices, and the starts of the
//! rows.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op(
        "nn.internal.sparse_dense_padded",
        &["data", "weight_data", "weight_indices", "weight_indptr"],
    ).controls(&["weight_indices", "weight_indptr"]).since(8)
    .attrs(&SPARSE_DENSE)
    .rule("SparseDense", sparse_dense)
    .cost(Cost::Macs(sparse_dense_macs))
    .doc(Doc {
        summary: "`nn.sparse_dense` with rows padded to a common length; created by GPU \
                  code generation.",
        args: SPARSE_DENSE_ARGS,
        shape: "`(m, units)`",
        example: "nn.internal.sparse_dense_padded(%x, %data, %indices, %indptr)",
    }),
    op("nn.sparse_add", &["dense_data", "sparse_data", "sparse_indices", "sparse_indptr"]).in_category(Category::Movement).controls(&["sparse_indices", "sparse_indptr"]).since(8)
        .rule("SparseAdd", sparse_add)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Adds a sparse matrix to a dense one.",
            args: &[
                "`(m, n)`: the dense matrix",
                "`(nnz,)`: the stored elements",
                "`(nnz,)`: the column of each stored element",
                "`(m + 1,)`: the start of each row among the stored elements",
            ],
            shape: "the shape of `dense_data`",
            example: "nn.sparse_add(%x, %data, %indices, %indptr)",
        }),
    op("nn.sparse_conv2d", &["dense_data", "sparse_data", "sparse_indices", "sparse_indptr"]).controls(&["sparse_indices", "sparse_indptr"]).since(8)
        .attrs(&SPARSE_CONV2D)
        .rule("SparseConv2d", sparse_conv2d)
        .cost(Cost::Macs(sparse_conv2d_macs))
        .doc(Doc {
            summary: "2D convolution with a block-sparse weight.",
            args: &[
                "an image in `layout`: `(n, h, w, c)` for \"NHWC\"",
                "`(nnz, rows)` or `(nnz, rows, columns)`: the stored blocks",
                "`(nnz,)`: the column of each stored block",
                "`(units / rows + 1,)`: the start of each row of blocks",
            ],
            shape: "the shape of `dense_data` with the channels replaced by `units`",
            example: "nn.sparse_conv2d(%x, %data, %indices, %indptr, layout=\"NHWC\")",
        }),
    op("nn.sparse_dense", &["dense_data", "sparse_data", "sparse_indices", "sparse_indptr"]).controls(&["sparse_indices", "sparse_indptr"]).since(6)
        .attrs(&SPARSE_DENSE)
        .rule("SparseDense", sparse_dense)
        .cost(Cost::Macs(sparse_dense_macs))
        .doc(Doc {
            summary: "Multiplies a dense matrix by the transpose of a sparse one, or with \
                      `sparse_lhs` a sparse one by the transpose of a dense one.",
            args: SPARSE_DENSE_ARGS,
            shape: "`(m, units)`; `(units, m)` with `sparse_lhs`",
            example: "nn.sparse_dense(%x, %data, %indices, %indptr)",
        }),
    op("nn.sparse_transpose", &["sparse_data", "sparse_indices", "sparse_indptr"]).controls(&["sparse_indices", "sparse_indptr"]).since(6)
        .attrs(&SPARSE_TRANSPOSE)
        .rule("SparseTranspose", sparse_transpose)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Transposes a square sparse matrix.",
            args: &[
                "`(nnz,)`: the stored elements",
                "`(nnz,)`: the column of each stored element",
                "`(n + 1,)`: the start of each row among the stored elements",
            ],
            shape: "a tuple of three, with the types of the arguments",
            example: "nn.sparse_transpose(%data, %indices, %indptr)",
        }),
    op(
        "sparse_fill_empty_rows",
        &["sparse_indices", "sparse_values", "dense_shape", "default_value"],
    ).controls(&["sparse_indices", "dense_shape"]).since(8)
    .rule("sparse_fill_empty_rows", sparse_fill_empty_rows)
    .cost(Cost::Free)
    .doc(Doc {
        summary: "Stores a default value in the first column of each empty row.",
        args: &[
            "`(nnz, axes)`: the position of each stored element",
            "`(nnz,)`: the stored elements",
            "`(axes,)`: the shape of the sparse tensor",
            "a scalar: the value for empty rows",
        ],
        shape: "a tuple of three, `int64` each: the positions `(?, axes)`, the elements `(?,)`, and \
                `(?,)` flags of the empty rows",
        example: "sparse_fill_empty_rows(%indices, %values, %shape, %default)",
    }),
    op("sparse_reshape", &["sparse_indices", "prev_shape", "new_shape"]).in_category(Category::Movement).controls(&["sparse_indices", "prev_shape", "new_shape"]).since(8)
        .rule("sparse_reshape", sparse_reshape)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Computes the positions of the stored elements in another shape.",
            args: &[
                "`(nnz, axes)`, integers: the position of each stored element",
                "`(axes,)`, integers: the old shape",
                "`(new_axes,)`, integers: the new shape, with at most one -1",
            ],
            shape: "a tuple of two: the positions `(nnz, new_axes)`, and the shape `(new_axes,)`",
            example: "sparse_reshape(%indices, %old, %new)",
        }),
    op("sparse_to_dense", &["sparse_indices", "sparse_values", "default_value"])
        .python("sparse_indices output_shape sparse_values default_value=0").controls(&["sparse_indices"]).since(7)
        .attrs(&SPARSE_TO_DENSE)
        .rule("SparseToDense", sparse_to_dense)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Creates a tensor from values at given positions and a default value \
                      elsewhere.",
            args: &[
                "`(n, axes)`, `(n,)` or a scalar, integers: the position of each value",
                "`(n,)` or a scalar: the values",
                "a scalar: the value elsewhere",
            ],
            shape: "`output_shape`, with the data type of `sparse_values`",
            example: "sparse_to_dense(%indices, %values, 0f, output_shape=[3, 4])",
        }),
];

const SPARSE_DENSE_ARGS: &[&str] = &[
    "`(m, k)`: the dense matrix",
    "`(nnz,)` stored elements, or `(nnz, rows, columns)` stored blocks",
    "`(nnz,)`: the column of each of them",
    "`(units + 1,)`: the start of each row among them; `(units / rows + 1,)` for blocks",
];

/// One multiply-accumulate per stored element and row of the dense matrix.
fn sparse_dense_macs(call: &CostCall<'_>) -> Option<u64> {
    let rows = call.args.first()?.as_tensor()?.shape.first()?.as_known()?;
    elements(call.args.get(1)?)?.checked_mul(u64::try_from(rows).ok()?)
}

/// One multiply-accumulate per stored element and position of the image.
fn sparse_conv2d_macs(call: &CostCall<'_>) -> Option<u64> {
    let result = call.result.as_tensor()?;
    let channels = if call.attrs.str("layout") == "NCHW" { 1 } else { 3 };
    let units = u64::try_from(result.shape.get(channels)?.as_known()?).ok()?;
    elements(call.args.get(1)?)?.checked_mul(result.elements()?.checked_div(units)?)
}

const ROW_STARTS: &str = "the start of each row, and the end of the last one";

/// Returns the number of rows delimited by the starts in the argument at `position`.
fn rows(call: &mut Call<'_>, position: usize) -> Result<Dim, Halt> {
    let starts = call.require_tensor(position)?;
    if starts.rank() > 1 {
        // TVM reads the size of the first axis only.
        call.lenient(needs_rank(call, position, &starts, 1, ROW_STARTS))?;
    }
    let Some(length) = starts.shape.first() else {
        let (operator, name) = (call.operator(), call.name(position));
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must be a vector, but it is a scalar"),
        )
        .rule(text!("{name} contains the start of each row, and the end of the last one"))
        .argument(position, "a scalar")
        .fail();
    };
    Ok(length - 1)
}

/// Checks that there is a column, in the argument at `columns`, for each stored element or block of
/// that at `position`.
fn stored_columns(
    call: &Call<'_>,
    (position, stored): (usize, &TensorType),
    columns: usize,
) -> Outcome {
    let Ok(found) = call.tensor(columns) else { return Ok(()) };
    needs_rank(call, columns, &found, 1, "the column of each stored element or block")?;
    match (found.shape.first(), stored.shape.first()) {
        (Some(size), Some(count)) => {
            let rule = "each stored element or block has a column index";
            same_size(call, (columns, 0, size), (position, 0, count), rule)
        }
        _ => Ok(()),
    }
}

/// Checks that a block of the weight is not wider than the contracted axis of the data.
fn fits_blocks(call: &Call<'_>, stored: &TensorType, (axis, depth): (usize, &Dim)) -> Outcome {
    let Some(width) = stored.shape.get(2) else { return Ok(()) };
    match (width.as_known(), depth.as_known(), stored.shape[0].as_known()) {
        (Some(wide), Some(deep), Some(1..)) if wide > deep => {
            let (x, w) = (call.name(0), call.name(1));
            let message = text!("axis {axis} of {x} has size {deep}, blocks of {w} have {wide}");
            fault(call, Code::ShapeMismatch, message)
                .rule("a block must not be wider than the axis that it is multiplied with")
                .axis(0, axis, deep)
                .axis(1, 2, wide)
                .fail()
        }
        _ => Ok(()),
    }
}

/// The product of a dense matrix and a sparse one, of elements or of blocks.
fn sparse_dense(call: &mut Call<'_>) -> Outcome {
    let stored = call.require_tensor(1)?;
    let (operator, dense_name) = (call.operator(), call.name(0));
    let block = match &*stored.shape {
        [_] => None,
        [_, rows, _] => Some(rows),
        shape => {
            let (name, rank) = (call.name(1), shape.len());
            return Reason::new(
                Code::RankMismatch,
                text!("`{operator}`: {name} must have 1 axis or 3, but it has {rank}"),
            )
            .rule(text!("{name} is `(nnz,)` elements or `(nnz, rows, columns)` blocks"))
            .argument(1, axes(rank))
            .fail();
        }
    };
    let dense = call.tensor(0)?;
    call.lenient(stored_columns(call, (1, &stored), 2))?;
    if call.arity() > 3 && dense.rank() == 2 {
        call.lenient(fits_blocks(call, &stored, (1, &dense.shape[1])))?;
    }
    if dense.rank() != 2 {
        call.lenient(needs_rank(call, 0, &dense, 2, "rows, columns"))?;
    }
    let mut units = rows(call, 3)?;
    if let Some(rows) = block {
        units = units * rows.clone();
    }
    let Some(batch) = dense.shape.first().cloned() else {
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {dense_name} must be a matrix, but it is a scalar"),
        )
        .argument(0, "a scalar")
        .fail();
    };
    let shape = if call.attrs().bool("sparse_lhs") { [units, batch] } else { [batch, units] };
    call.output_tensor(shape, dense.dtype)
}

fn sparse_add(call: &mut Call<'_>) -> Outcome {
    let (dense, stored) = (call.require_tensor(0)?, call.require_tensor(1)?);
    if dense.dtype != stored.dtype {
        return dtype_mismatch(call, (0, dense.dtype), (1, stored.dtype));
    }
    needs_rank(call, 1, &stored, 1, "the stored elements")?;
    let indices = call.require_tensor(2)?;
    needs_rank(call, 2, &indices, 1, "the column of each stored element")?;
    call.lenient(stored_columns(call, (1, &stored), 2))?;
    call.lenient(needs_rank(call, 0, &dense, 2, "rows, columns"))?;
    if call.is_tensor(3) {
        let (rows, height) = (rows(call, 3)?, dense.shape.first().unwrap_or(&Dim::Any));
        if !may_equal(&rows, height) {
            let (x, starts) = (call.name(0), call.name(3));
            let check = fault(
                call,
                Code::ShapeMismatch,
                text!("{starts} is for {rows} rows, {x} has {height}"),
            )
            .rule(text!("{starts} has a start for each row, and the end of the last one"))
            .argument(3, Fact::Size(rows.clone(), "rows"))
            .axis(0, 0, height)
            .fail();
            call.lenient(check)?;
        }
    }
    call.output_tensor(dense.shape.clone(), dense.dtype)
}

fn sparse_transpose(call: &mut Call<'_>) -> Outcome {
    let (stored, indices) = (call.require_tensor(0)?, call.require_tensor(1)?);
    needs_rank(call, 0, &stored, 1, "the stored elements")?;
    needs_rank(call, 1, &indices, 1, "the column of each stored element")?;
    call.lenient(stored_columns(call, (0, &stored), 1))?;
    let starts = call.require_tensor(2)?;
    call.lenient(needs_rank(call, 2, &starts, 1, ROW_STARTS))?;
    if let (Some(1..), Some(..2)) =
        (stored.shape.first().and_then(Dim::as_known), starts.shape.first().and_then(Dim::as_known))
    {
        let (name, of) = (call.name(2), call.name(0));
        let check =
            fault(call, Code::ShapeMismatch, text!("{name} is for no rows, {of} has elements"))
                .rule(text!("{name} has a start for each row, and the end of the last one"))
                .argument(2, shape_text(&starts.shape))
                .argument(0, shape_text(&stored.shape))
                .fail();
        call.lenient(check)?;
    }
    call.output(Type::tuple([stored, indices, starts].map(Type::Tensor)))
}

fn sparse_conv2d(call: &mut Call<'_>) -> Outcome {
    let (stored, data) = (call.require_tensor(1)?, call.tensor(0)?);
    let (operator, name) = (call.operator(), call.name(1));
    let (2 | 3, Some(block)) = (stored.rank(), stored.shape.get(1)) else {
        let rank = stored.rank();
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must have 2 axes or 3, but it has {rank}"),
        )
        .rule(text!("{name} contains blocks: `(nnz, rows)` or `(nnz, rows, columns)`"))
        .argument(1, axes(rank))
        .fail();
    };
    let layout = call.attrs().str("layout");
    let (channels, needed) = match layout {
        "NHWC" => (3, 3),
        "NCHW" => (1, 4),
        _ => {
            return Reason::new(
                Code::InvalidLayout,
                text!("`{operator}` does not take the layout \"{layout}\""),
            )
            .rule("`layout` is \"NHWC\" or \"NCHW\"")
            .attribute("layout", text!("\"{layout}\""))
            .fix("layout", "NHWC")
            .fail();
        }
    };
    let rank = data.rank();
    if rank < needed {
        return Reason::new(
            Code::RankMismatch,
            text!(
                "`{operator}`: {} has {}, but the layout \"{layout}\" has 4",
                call.name(0),
                count(rank, "axis", "axes")
            ),
        )
        .argument(0, axes(rank))
        .fail();
    }
    call.lenient(stored_columns(call, (1, &stored), 2))?;
    call.lenient(within(call, "kernel_size", 1, 1))?;
    if let Some(depth) = data.shape.get(channels) {
        call.lenient(fits_blocks(call, &stored, (channels, depth)))?;
    }
    let units = rows(call, 3)? * block.clone();
    let mut shape: Shape = data.shape.iter().take(4).cloned().collect();
    shape.resize(4, Dim::Any);
    shape[channels] = units;
    call.output_tensor(shape, data.dtype)
}

fn sparse_fill_empty_rows(call: &mut Call<'_>) -> Outcome {
    let indices = call.require_tensor(0)?;
    let Some(axes) = indices.shape.get(1) else {
        let (operator, name, rank) = (call.operator(), call.name(0), indices.rank());
        return Reason::new(
            Code::RankMismatch,
            text!(
                "`{operator}`: {name} must be a matrix, but it has {}",
                count(rank, "axis", "axes")
            ),
        )
        .rule(text!("{name} has a row for each stored element: its position on each axis"))
        .argument(0, axes(rank))
        .fail();
    };
    if call.is_tensor(1) {
        let values = call.tensor(1)?;
        call.lenient(value_of_places(call, (&indices, &values)))?;
    }
    let vector = Type::tensor([Dim::Any], DataType::INT64);
    let places = Type::tensor([Dim::Any, axes.clone()], DataType::INT64);
    call.output(Type::tuple([places, vector.clone(), vector]))
}

fn sparse_reshape(call: &mut Call<'_>) -> Outcome {
    let (indices, old, new) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    for (position, tensor) in [(0, &indices), (1, &old), (2, &new)] {
        needs_integers(call, position, tensor)?;
    }
    needs_rank(call, 0, &indices, 2, "stored elements, axes")?;
    needs_rank(call, 1, &old, 1, "the size of each axis")?;
    needs_rank(call, 2, &new, 1, "the size of each axis")?;
    let rule = "the positions have a number for each axis";
    call.lenient(same_size(call, (0, 1, &indices.shape[1]), (1, 0, &old.shape[0]), rule))?;
    let places = [indices.shape[0].clone(), new.shape[0].clone()];
    let places = Type::tensor(places, indices.dtype);
    call.output(Type::tuple([places, Type::Tensor(new)]))
}

/// Checks that the argument at `position` has a signed integer type.
fn needs_integers(call: &Call<'_>, position: usize, tensor: &TensorType) -> Outcome {
    if tensor.dtype.is_int() {
        return Ok(());
    }
    let (operator, name, found) = (call.operator(), call.name(position), tensor.dtype);
    Reason::new(
        Code::DtypeMismatch,
        text!("`{operator}`: {name} must have a signed integer type, but it is {found}"),
    )
    .argument(position, found)
    .help("cast it: `cast(…, dtype=\"int64\")`")
    .fail()
}

fn sparse_to_dense(call: &mut Call<'_>) -> Outcome {
    let dtype = places_and_values(call)?;
    if !call.attrs().has("output_shape") {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}`: `output_shape` must be a list of integers", call.operator()),
        )
        .attribute("output_shape", "None")
        .help("write the shape of the result: `output_shape=[3, 4]`")
        .fail();
    }
    let shape = list_attr(call, "output_shape")?;
    call.lenient(fits_places(call, shape.len()))?;
    call.output_tensor(shape, dtype)
}

/// Checks that each position has a value.
fn value_of_places(call: &Call<'_>, (places, values): (&TensorType, &TensorType)) -> Outcome {
    let one = Dim::known(1);
    let found = element_count(&values.shape);
    let expected = places.shape.first().unwrap_or(&one).as_known().map(i128::from);
    match (found, expected) {
        (Some(found), Some(expected)) if found < expected => {
            let (p, v) = (call.name(0), call.name(1));
            fault(call, Code::ShapeMismatch, text!("{v} has {found} elements, {p} has {expected}"))
                .rule("each position has a value")
                .argument(1, shape_text(&values.shape))
                .argument(0, shape_text(&places.shape))
                .fail()
        }
        _ => Ok(()),
    }
}

/// Checks the positions and values of a tensor of `rank` axes.
pub(crate) fn fits_places(call: &Call<'_>, rank: usize) -> Outcome {
    let (places, values) = (call.tensor(0)?, call.tensor(1)?);
    value_of_places(call, (&places, &values))?;
    if places.rank() > 2 {
        return needs_rank(call, 0, &places, 2, "stored elements, axes");
    }
    let depth = match places.shape.get(1) {
        Some(depth) => depth.as_known(),
        None => Some(1),
    };
    let Some(depth) = depth.filter(|&depth| depth > rank as i64) else { return Ok(()) };
    let name = call.name(0);
    fault(
        call,
        Code::RankMismatch,
        text!("{name} has {depth} numbers for each element, the result has {}", axes(rank)),
    )
    .rule("a position has at most one number for each axis")
    .argument(0, shape_text(&places.shape))
    .fail()
}

/// Checks positions, values and a default value; returns the data type of the values.
pub(crate) fn places_and_values(call: &Call<'_>) -> Result<DataType, Halt> {
    let (places, values, default) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    needs_integers(call, 0, &places)?;
    // TVM accepts one axis more for each of the two than it can compute.
    for (position, tensor, most) in [(0, &places, 3), (1, &values, 2)] {
        let rank = tensor.rank();
        if rank > most {
            return Reason::new(
                Code::RankMismatch,
                text!("`{}`: {} has too many axes: {rank}", call.operator(), call.name(position)),
            )
            .rule(
                "the positions are `(n, axes)`, `(n,)` or a scalar, the values `(n,)` or a scalar",
            )
            .argument(position, axes(rank))
            .fail();
        }
    }
    needs_rank(call, 2, &default, 0, "")?;
    Ok(values.dtype)
}
