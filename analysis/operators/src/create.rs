//! Operators that create tensors.

use types::{AttrValue, Op};

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("arange", &["start", "end", "step"])
        .controls(&["start", "end", "step"])
        .domains(&[("step", Domain::NonZero)])
        .since(6)
        .attrs(&ARANGE)
        .rule("Arange", arange)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Creates a vector of evenly spaced values.",
            args: &[
                "a scalar: the first value",
                "a scalar: the end of the range, exclusive",
                "a scalar: the step",
            ],
            shape: "`(n,)`, with n = (stop - start) / step, rounded up, if the attributes of \
                    these names hold constants; `(?,)` otherwise",
            example: "arange(%start, %stop, %step, start=meta[relay.Constant][0], \
                      stop=meta[relay.Constant][1], step=meta[relay.Constant][2], dtype=\"int32\")",
        }),
    op("full", &["fill_value"]).fill(Fill::Argument(0)).attrs(&INIT_OP).rule("Full", full).cost(Cost::Free).doc(Doc {
        summary: "Creates a tensor of a given shape, filled with one value.",
        args: &["a scalar"],
        shape: "`shape`, with the data type `dtype`, or that of `fill_value` if it is not given",
        example: "full(1f, shape=[2, 3], dtype=\"float32\")",
    }),
    op("full_like", &["data", "fill_value"]).fill(Fill::Argument(1)).rule("FullLike", full_like).cost(Cost::Free).doc(
        Doc {
            summary: "Creates a tensor of the type of another one, filled with one value.",
            args: &["a tensor of the target type, whose elements are not used", "a scalar"],
            shape: "the shape and data type of `data`",
            example: "full_like(%x, 1f)",
        },
    ),
    op("matrix_set_diag", &["input", "diagonal"])
        .data(&["diagonal"])
        .since(7)
        .attrs(&MATRIX_SET_DIAG)
        .rule("MatrixSetDiag", matrix_set_diag)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Replaces diagonals of matrices.",
            args: &[
                "`(…, rows, columns)`",
                "`(…, length)` for one diagonal, `(…, k2 - k1 + 1, length)` for several",
            ],
            shape: "the shape of `input`",
            example: "matrix_set_diag(%x, %diagonal, k1=0, k2=0)",
        }),
    op("meshgrid", &["data"])
        .tuples(&["data"])
        .since(7)
        .attrs(&MESHGRID)
        .rule("Meshgrid", meshgrid)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Creates coordinate grids from vectors of coordinates.",
            args: &["a tuple of vectors or scalars of one data type"],
            shape: "a tuple of as many tensors as there are vectors, each with one axis for each \
                    vector; the first two axes are swapped where `indexing` is \"xy\"",
            example: "meshgrid((%x, %y), indexing=\"ij\")",
        }),
    op("one_hot", &["indices", "on_value", "off_value"])
        .controls(&["indices"])
        .since(6)
        .attrs(&ONE_HOT)
        .rule("OneHot", one_hot)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Creates, for each index, a vector with `on_value` at this index and \
                      `off_value` elsewhere.",
            args: &["integers of any shape", "a scalar", "a scalar"],
            shape: "the shape of `indices` with a new axis of size `depth` before `axis`, or \
                    after the last one if it is -1",
            example: "one_hot(%i, 1f, 0f, depth=10, axis=-1, dtype=\"float32\")",
        }),
    op("ones", &[]).fill(Fill::Number(1.0)).attrs(&INIT_OP).rule("InitOp", init).cost(Cost::Free).doc(Doc {
        summary: "Creates a tensor of ones.",
        args: &[],
        shape: "`shape`, with the data type `dtype`",
        example: "ones(shape=[2, 3], dtype=\"float32\")",
    }),
    op("trilu", &["data", "k"])
        .in_category(Category::Movement)
        .controls(&["k"])
        .since(10)
        .detached_attrs(&TRILU)
        .rule("trilu", trilu)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Keeps the upper or the lower triangle of matrices, and sets the rest to 0.",
            args: &["`(…, rows, columns)`", "a scalar: the diagonal at which the triangle starts"],
            shape: "the shape of `data`",
            example: "trilu(%x, %k)",
        }),
    op("zeros", &[]).fill(Fill::Number(0.0)).attrs(&INIT_OP).rule("InitOp", init).cost(Cost::Free).doc(Doc {
        summary: "Creates a tensor of zeros.",
        args: &[],
        shape: "`shape`, with the data type `dtype`",
        example: "zeros(shape=[2, 3], dtype=\"float32\")",
    }),
];

fn arange(call: &mut Call<'_>) -> Outcome {
    let dtype = call.attrs().dtype("dtype");
    for position in 0..3 {
        if let Type::Tensor(value) = call.ty(position) {
            if value.rank() != 0 {
                return wrong_rank(call, position, value.rank(), "a scalar");
            }
            if value.dtype != dtype {
                let (name, found) = (call.name(position), value.dtype);
                return fault(
                    call,
                    Code::DtypeMismatch,
                    text!("{name} is {found}, but `dtype` is {dtype}"),
                )
                .rule("the values have the data type of the result")
                .argument(position, found)
                .attribute("dtype", text!("{dtype}"))
                .fix("dtype", found)
                .fail();
            }
        }
    }
    call.assign_same(0, 1)?;
    call.assign_same(1, 2)?;
    call.assign(2, Type::scalar(dtype))?;
    let attrs = call.attrs();
    let value = |name: &str| match attrs.get(name) {
        AttrValue::Constant(constant) => constant.as_number(),
        _ => None,
    };
    // An unresolved reference may be a constant.
    let is_unresolved =
        |name: &str| matches!(attrs.get(name), AttrValue::Meta { .. } | AttrValue::Error);
    if ["start", "stop", "step"].into_iter().any(is_unresolved) {
        return Err(Halt::Silent);
    }
    let (Some(start), Some(stop), Some(step)) = (value("start"), value("stop"), value("step"))
    else {
        return call.output_tensor([Dim::Any], dtype);
    };
    let n = ((stop - start) / step).ceil();
    // Also false for what is not a number.
    if !(n >= 1.0 && n <= f64::from(i32::MAX)) {
        let reason = fault(
            call,
            Code::AttributeValue,
            text!("the range from {start} to {stop} in steps of {step} is empty"),
        )
        .attribute("stop", text!("{stop}"))
        .attribute("start", text!("{start}"))
        .attribute("step", text!("{step}"));
        return match step {
            0.0 => reason.rule("`step` must not be 0"),
            _ => reason.rule(
                "`stop` must follow `start` in the direction of `step`: a vector without \
                 elements is not supported",
            ),
        }
        .fail();
    }
    call.output_tensor([Dim::known(n as i64)], dtype)
}

/// Returns the attribute `shape`, which has no default.
fn init_shape(call: &Call<'_>) -> Result<Shape, Halt> {
    match optional_dims(call, "shape")? {
        Some(shape) => Ok(shape),
        None => attribute_missing(call, "shape", "[2, 3]"),
    }
}

/// Checks that the fill value is a scalar.
fn fill_rank(call: &Call<'_>, position: usize, value: &TensorType) -> Outcome {
    if value.rank() == 0 { Ok(()) } else { wrong_rank(call, position, value.rank(), "a scalar") }
}

fn full(call: &mut Call<'_>) -> Outcome {
    let value = call.tensor(0)?;
    fill_rank(call, 0, &value)?;
    let shape = init_shape(call)?;
    let dtype = dtype_or(call, "dtype", value.dtype);
    call.output_tensor(shape, dtype)
}

fn full_like(call: &mut Call<'_>) -> Outcome {
    let (data, value) = (call.tensor(0)?, call.tensor(1)?);
    fill_rank(call, 1, &value)?;
    call.output_tensor(data.shape.clone(), data.dtype)
}

fn init(call: &mut Call<'_>) -> Outcome {
    let shape = init_shape(call)?;
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(shape, dtype)
}

fn matrix_set_diag(call: &mut Call<'_>) -> Outcome {
    let (input, diagonal) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let (k1, k2) = (int_attr(call, "k1")?, int_attr(call, "k2")?);
    if k2 < k1 {
        return fault(
            call,
            Code::AttributeValue,
            text!("the range of diagonals from {k1} to {k2} is empty"),
        )
        .rule("`k1` is the lowest diagonal to be replaced and `k2` the highest")
        .attribute("k2", text!("{k2}"))
        .attribute("k1", text!("{k1}"))
        .fix("k2", k1)
        .fail();
    }
    // TVM checks the number of axes, but not their sizes.
    if input.rank() < 2 {
        return wrong_rank(call, 0, input.rank(), "a matrix or a batch of matrices");
    }
    let (least, most) = if k1 == k2 { (1, input.rank() + 1) } else { (2, input.rank() + 2) };
    let rank = diagonal.rank();
    if rank < least || rank > most {
        let expected = match k1 == k2 {
            true => text!("one axis shorter than {}, for one diagonal", call.name(0)),
            false => text!("as long as {}, for several diagonals", call.name(0)),
        };
        return wrong_rank(call, 1, rank, expected);
    }
    let check = fits_diagonals(call, &input, &diagonal, (k1, k2));
    call.lenient(check)?;
    call.output_tensor(input.shape.clone(), input.dtype)
}

/// Checks that the last axes of `diagonal` are those of the diagonals from `k1` to `k2` of `input`,
/// and the other axes the same as in `input`.
fn fits_diagonals(
    call: &Call<'_>,
    input: &TensorType,
    diagonal: &TensorType,
    (k1, k2): (i64, i64),
) -> Outcome {
    let (batch, matrix) = input.shape.split_at(input.rank() - 2);
    let [rows, columns] = matrix else { return Ok(()) };
    // The length of the longest diagonal.
    let length = Dim::apply(Op::Min, &(rows + k2.min(0)), &(columns - k1.max(0)));
    let mut expected: Vec<Dim> = batch.to_vec();
    if k1 != k2 {
        expected.push(Dim::known(k2.saturating_sub(k1).saturating_add(1)));
    }
    expected.push(length);
    // Diagonals outside the matrix and excess elements are ignored.
    let lines = rows.as_known().map(|rows| k2.saturating_sub(k1.max(1 - rows)).saturating_add(1));
    let fits = |(axis, (expected, found)): (usize, (&Dim, &Dim))| match axis < batch.len() {
        true => may_equal(expected, found),
        false => {
            let is_lines = k1 != k2 && axis == batch.len();
            let least = if is_lines { lines } else { expected.as_known() };
            least.zip(found.as_known()).is_none_or(|(least, found)| found >= least)
        }
    };
    if expected.len() == diagonal.rank()
        && expected.iter().zip(&diagonal.shape).enumerate().all(fits)
    {
        return Ok(());
    }
    let expected = Fact::List(expected.iter().map(Fact::from).collect(), ", ", ", ");
    let message = text!("{} must have the shape ({expected})", call.name(1));
    fault(call, Code::ShapeMismatch, message)
        .rule("it has a row for each diagonal, with the length of the longest one")
        .argument(1, &Type::from(diagonal.clone()))
        .fail()
}

fn meshgrid(call: &mut Call<'_>) -> Outcome {
    let fields = call.tensors(0)?;
    let Some(first) = fields.first() else {
        return fault(call, Code::ArgumentType, "the tuple must not be empty")
            .argument(0, "no fields")
            .fail();
    };
    let mut grid = Shape::new();
    for (k, field) in fields.iter().enumerate() {
        let place = types::Place::Field(0, k);
        if field.dtype != first.dtype {
            return fault(
                call,
                Code::DtypeMismatch,
                text!("field {k} is {}, field 0 is {}", field.dtype, first.dtype),
            )
            .rule("all vectors must have the same data type")
            .mark(place, None, field.dtype)
            .mark(types::Place::Field(0, 0), None, first.dtype)
            .help(text!("cast one of them: `cast(…, dtype=\"{}\")`", first.dtype))
            .fail();
        }
        match &field.shape[..] {
            [] => grid.push(Dim::known(1)),
            [size] => grid.push(size.clone()),
            _ => {
                let rank = axes(field.rank());
                return fault(
                    call,
                    Code::RankMismatch,
                    text!("field {k} must be a vector or a scalar, but it has {rank}"),
                )
                .rule("each field contains the coordinates along one axis of the grid")
                .mark(place, None, rank)
                .fail();
            }
        }
    }
    if call.attrs().str("indexing") == "xy" && grid.len() >= 2 {
        grid.swap(0, 1);
    }
    let field = Type::tensor(grid, first.dtype);
    call.output(Type::tuple(fields.iter().map(|_| field.clone())))
}

fn one_hot(call: &mut Call<'_>) -> Outcome {
    let indices = call.require_tensor(0)?;
    let (depth, axis) = (int_attr(call, "depth")?, int_attr(call, "axis")?);
    if depth <= 0 {
        return fault(call, Code::AttributeValue, text!("a vector cannot have {depth} elements"))
            .rule("`depth` is the number of distinct indices, at least 1")
            .attribute("depth", text!("{depth}"))
            .fix("depth", 1)
            .fail();
    }
    let rank = indices.rank();
    // Of the negative positions, TVM accepts -1 only.
    let at = if axis == -1 { Some(rank) } else { usize::try_from(axis).ok() };
    let Some(at) = at.filter(|&at| at <= rank) else {
        return fault(
            call,
            Code::AxisOutOfRange,
            text!(
                "there is no position {axis} for the new axis: {} has {}",
                call.name(0),
                axes(rank)
            ),
        )
        .rule(text!("`axis` must be a position from 0 to {rank}, or -1 for the last"))
        .attribute("axis", text!("axis {axis}"))
        .argument(0, axes(rank))
        .fix("axis", -1)
        .fail();
    };
    let mut shape = indices.shape.clone();
    shape.insert(at, Dim::known(depth));
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(shape, dtype)
}

fn trilu(call: &mut Call<'_>) -> Outcome {
    let (data, k) = (call.require_tensor(0)?, call.require_tensor(1)?);
    if k.rank() != 0 {
        return wrong_rank(call, 1, k.rank(), "a scalar");
    }
    call.output_tensor(data.shape.clone(), data.dtype)
}
