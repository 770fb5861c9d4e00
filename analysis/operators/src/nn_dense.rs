//! Matrix products: `nn.dense`, `nn.matmul`, `nn.batch_matmul`, `einsum`.

mod einsum;

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("einsum", &["data"])
        .tuples(&["data"])
        .since(8)
        .attrs(&EINSUM)
        .rule("Einsum", einsum::einsum)
        .cost(Cost::Macs(einsum::macs))
        .doc(Doc {
            summary: "Sums products over named axes (Einstein summation).",
            args: &["a tuple of tensors, one for each subscript before the arrow"],
            shape: "the axes named after the arrow; the other axes are summed over",
            example: "einsum((%a, %b), equation=\"ij,jk->ik\")",
        }),
    op("nn.batch_matmul", &["tensor_a", "tensor_b"])
        .data(&["tensor_b"])
        .since(6)
        .forms(&[
            form(Releases::between(6, 7), 2).defaults(&[("transpose_b", AttrDefault::Bool(true))])
        ])
        .attrs(&BATCH_MATMUL)
        .rule("BatchMatmul", batch_matmul)
        .cost(Cost::Macs(matmul_macs))
        .doc(Doc {
            summary: "Multiplies matrices, batch by batch.",
            args: &[
                "`(B, M, K)`, or `(B, K, M)` with `transpose_a`",
                "`(B, K, N)`, or `(B, N, K)` with `transpose_b`; either may have a single batch",
            ],
            shape: "`(B, M, N)`",
            example: "nn.batch_matmul(%a, %b, transpose_b=True)",
        }),
    op("nn.contrib_dense_pack", &["data", "weight"])
        .python("data weight weight_layout units out_dtype")
        .since(8)
        .detached_attrs(&DENSE_PACK)
        .registered_with(&DENSE)
        .rule("DensePack", dense_pack)
        .cost(Cost::Macs(dense_macs))
        .doc(Doc {
            summary: "`nn.dense` with a weight in blocks of rows.",
            args: &[
                "`(N, input_dim)`",
                "`(units / n, input_dim, n)`, or with blocks of inputs too",
            ],
            shape: "`(N, units)`, from the first and third axis of `weight`",
            example: "nn.contrib_dense_pack(%x, %w, units=None, weight_layout=\"NC8n\", \
                      attrs_type_key=\"relay.attrs.DensePackAttrs\")",
        }),
    op("nn.dense", &["data", "weight"])
        .attrs(&DENSE)
        .rule("Dense", dense)
        .cost(Cost::Macs(dense_macs))
        .doc(Doc {
            summary: "Multiplies by the transpose of a matrix: `data · weightᵀ`.",
            args: &["`(d1, …, dn, input_dim)`", "`(units, input_dim)`"],
            shape: "the shape of `data` with the last axis replaced by `units`",
            example: "nn.dense(%x, %w, units=128)",
        }),
    op("nn.matmul", &["tensor_a", "tensor_b"])
        .operands(&["tensor_a", "tensor_b"])
        .since(8)
        .attrs(&MATMUL)
        .rule("Matmul", matmul)
        .cost(Cost::Macs(matmul_macs))
        .doc(Doc {
            summary: "Multiplies by a matrix: `tensor_a · tensor_b`, optionally transposed.",
            args: &[
                "`(d1, …, M, K)`, or `(d1, …, K, M)` with `transpose_a`",
                "`(K, units)`, or `(units, K)` with `transpose_b`",
            ],
            shape: "`(d1, …, M, units)`",
            example: "nn.matmul(%a, %b, units=64, transpose_b=True)",
        }),
];

fn dense(call: &mut Call<'_>) -> Outcome {
    matmul_with(call, false, true)
}

fn matmul(call: &mut Call<'_>) -> Outcome {
    let (a, b) = (call.attrs().bool("transpose_a"), call.attrs().bool("transpose_b"));
    matmul_with(call, a, b)
}

/// Multiplies the first argument by a matrix, over its last axis or, if it is transposed, the one
/// before.
///
/// If `units` is `None`, TVM takes the columns from the matrix and does not compare the sizes of
/// the contracted axes.
fn matmul_with(call: &mut Call<'_>, transpose_a: bool, transpose_b: bool) -> Outcome {
    let a = call.tensor(0)?;
    let b = match call.tensor(1) {
        Err(Halt::Silent) => return Err(Halt::Silent),
        b => b,
    };
    let rank = a.rank();
    let least = if transpose_a { 2 } else { 1 };
    if rank < least {
        let (operator, name) = (call.operator(), call.name(0));
        let found = if rank == 0 { "is a scalar" } else { "has 1 axis" };
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must have {} at least, it {found}", axes(least)),
        )
        .argument(0, if rank == 0 { "a scalar" } else { "1 axis" })
        .fail();
    }
    let reduce_axis = rank - least;
    let mut shape = a.shape.clone();
    if transpose_a {
        shape[rank - 2] = a.shape[rank - 1].clone();
    }
    shape[rank - 1] = match call.attrs().get("units") {
        AttrValue::None => {
            let b = b?;
            let [rows, columns] = &b.shape[..] else { return not_a_matrix(call, b.rank()) };
            let (units, inner) = if transpose_b { (rows, columns) } else { (columns, rows) };
            // A dynamic size is replaced by that of the other side.
            let (mut new_a, mut new_b) = (a.shape.clone(), b.shape.clone());
            if new_a[reduce_axis].is_any() {
                new_a[reduce_axis] = inner.clone();
            }
            if inner.is_any() {
                new_b[usize::from(transpose_b)] = a.shape[reduce_axis].clone();
            }
            call.assign(0, TensorType::new(new_a, a.dtype))?;
            call.assign(1, TensorType::new(new_b, b.dtype))?;
            if a.shape[reduce_axis].equals(inner) == Some(false) {
                let weight = (1, usize::from(transpose_b), inner);
                let mismatch =
                    inner_mismatch(call, (0, reduce_axis, &a.shape[reduce_axis]), weight);
                call.lenient(mismatch)?;
            }
            units.clone()
        }
        units => {
            let units = whole(call, "units", units)?;
            if let Ok(b) = &b {
                check_weight(call, &a, reduce_axis, b, &units, transpose_b)?;
            }
            let mut expected = [units.clone(), a.shape[reduce_axis].clone()];
            if !transpose_b {
                expected.reverse();
            }
            let dtype = b.map_or(a.dtype, |b| b.dtype);
            call.assign(1, TensorType::new(expected, dtype))?;
            units
        }
    };
    let dtype = dtype_or(call, "out_dtype", a.dtype);
    call.output_tensor(shape, dtype)
}

/// Checks the second argument against `units` and the first argument.
fn check_weight(
    call: &Call<'_>,
    a: &TensorType,
    reduce_axis: usize,
    b: &TensorType,
    units: &Dim,
    transpose_b: bool,
) -> Outcome {
    let (units_axis, inner_axis) = if transpose_b { (0, 1) } else { (1, 0) };
    if b.rank() != 2 {
        return not_a_matrix(call, b.rank());
    }
    let (found, inner) = (&b.shape[units_axis], &b.shape[inner_axis]);
    let reduce = &a.shape[reduce_axis];
    if !may_equal(reduce, inner) {
        return inner_mismatch(call, (0, reduce_axis, reduce), (1, inner_axis, inner));
    }
    if !may_equal(found, units) {
        return Reason::new(
            Code::AttributeMismatch,
            text!(
                "`{}`: `units` is {units}, but {} has {found} {} (axis {units_axis})",
                call.operator(),
                call.name(1),
                if transpose_b { "rows" } else { "columns" }
            ),
        )
        .rule(text!("`units` is the size of axis {units_axis} of {}", call.name(1)))
        .attribute("units", text!("{units}"))
        .axis(1, units_axis, found)
        .fix("units", found)
        .fail();
    }
    Ok(())
}

fn not_a_matrix<T>(call: &Call<'_>, rank: usize) -> Result<T, Halt> {
    let (operator, name) = (call.operator(), call.name(1));
    Reason::new(
        Code::RankMismatch,
        text!("`{operator}`: {name} must be a matrix, but it has {}", axes(rank)),
    )
    .argument(1, axes(rank))
    .fail()
}

/// The failure that the contracted axes differ in size.
fn inner_mismatch<T>(
    call: &Call<'_>,
    a: (usize, usize, &Dim),
    b: (usize, usize, &Dim),
) -> Result<T, Halt> {
    let (x, y) = (call.name(a.0), call.name(b.0));
    let (m, n) = (a.2, b.2);
    Reason::new(
        Code::ShapeMismatch,
        text!("`{}`: {x} has {m} features, but {y} expects {n}", call.operator()),
    )
    .rule(text!(
        "the contracted axes must have equal sizes: axis {} of {x} is {m}, axis {} of {y} is {n}",
        a.1,
        b.1
    ))
    .axis(b.0, b.1, n)
    .axis(a.0, a.1, m)
    .fail()
}

fn batch_matmul(call: &mut Call<'_>) -> Outcome {
    let (x, y) = (call.tensor(0)?, call.tensor(1)?);
    for (position, rank) in [(0, x.rank()), (1, y.rank())] {
        if rank != 3 {
            return Reason::new(
                Code::RankMismatch,
                text!(
                    "`{}`: {} must have 3 axes (batch, rows, columns), but it has {rank}",
                    call.operator(),
                    call.name(position)
                ),
            )
            .argument(position, axes(rank))
            .fail();
        }
    }
    let (a, b) = (call.attrs().bool("transpose_a"), call.attrs().bool("transpose_b"));
    let (x_row, x_inner) = if a { (2, 1) } else { (1, 2) };
    let (y_column, y_inner) = if b { (1, 2) } else { (2, 1) };
    let (xb, yb) = (&x.shape[0], &y.shape[0]);
    // TVM checks nothing if any size is unknown.
    if !x.shape.iter().chain(&y.shape).any(Dim::is_any) {
        let one = Dim::known(1);
        if !may_equal(xb, yb) && !may_equal(xb, &one) && !may_equal(yb, &one) {
            return Reason::new(
                Code::ShapeMismatch,
                text!(
                    "`{}`: {} has {xb} batches, {} has {yb}",
                    call.operator(),
                    call.name(0),
                    call.name(1)
                ),
            )
            .rule("the batch sizes (axis 0) must be equal, or one of them 1")
            .axis(1, 0, yb)
            .axis(0, 0, xb)
            .fail();
        }
        let (m, n) = (&x.shape[x_inner], &y.shape[y_inner]);
        if !may_equal(m, n) {
            return inner_mismatch(call, (0, x_inner, m), (1, y_inner, n));
        }
    }
    call.lenient(empty_batch(call, xb, yb))?;
    let batch = larger(xb, yb);
    let dtype = dtype_or(call, "out_dtype", x.dtype);
    call.output_tensor([batch, x.shape[x_row].clone(), y.shape[y_column].clone()], dtype)
}

/// Checks that a batch without matrices does not meet one of a single matrix, of which TVM's type has
/// the size.
fn empty_batch(call: &Call<'_>, x: &Dim, y: &Dim) -> Outcome {
    if !(x.is(0) && y.is(1) || x.is(1) && y.is(0)) {
        return Ok(());
    }
    let (a, b) = (call.name(0), call.name(1));
    fault(call, Code::ShapeMismatch, text!("{a} has {x} batches, {b} has {y}"))
        .rule("a batch of size 1 is repeated, but at least once")
        .axis(0, 0, x)
        .axis(1, 0, y)
        .fail()
}

/// Returns the larger of two sizes.
fn larger(a: &Dim, b: &Dim) -> Dim {
    if a == b { a.clone() } else { Dim::apply(types::Op::Max, a, b) }
}

fn dense_pack(call: &mut Call<'_>) -> Outcome {
    let (data, weight) = (call.tensor(0)?, call.tensor(1)?);
    let (operator, rank) = (call.operator(), data.rank());
    if call.attrs().schema().is_none() {
        return Reason::new(
            Code::AttributeValue,
            text!("`{operator}` requires attributes, but has none"),
        )
        .fail();
    }
    if rank != 2 {
        let name = call.name(0);
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must have 2 axes (N, input_dim), but it has {rank}"),
        )
        .argument(0, axes(rank))
        .fail();
    }
    let blocks = match &weight.shape[..] {
        [blocks, _, block] | [blocks, _, block, _] => blocks * block,
        _ => {
            let (name, rank) = (call.name(1), weight.rank());
            return Reason::new(
                Code::RankMismatch,
                text!("`{operator}`: {name} must have 3 or 4 axes, but it has {rank}"),
            )
            .rule("the rows of the weight are blocked, and optionally its columns")
            .argument(1, axes(rank))
            .fail();
        }
    };
    call.lenient(packed_columns(call, &data, &weight))?;
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    call.output_tensor([data.shape[0].clone(), blocks], dtype)
}

/// Checks that a blocked weight has as many columns as the data.
pub(crate) fn packed_columns(call: &Call<'_>, data: &TensorType, weight: &TensorType) -> Outcome {
    let layout = Layout::parse(call.attrs().str("weight_layout"));
    let columns = match layout.ok().filter(|layout| layout.rank() == weight.rank()) {
        Some(layout)
            if !layout
                .axes()
                .iter()
                .map(|axis| axis.letter)
                .eq(b"NCnc"[..layout.rank().min(4)].iter().copied()) =>
        {
            let message = text!("\"{layout}\" does not have the axes of the weight");
            return fault(call, Code::InvalidLayout, message)
                .rule("the rows of the weight are blocked, and optionally its columns")
                .attribute("weight_layout", text!("\"{layout}\""))
                .help("write a layout such as \"NC8n\" or \"NC8n4c\"")
                .fail();
        }
        Some(layout) => {
            let axes = ['C', 'c'].into_iter().filter_map(|letter| layout.index_of(letter));
            product(axes.map(|axis| &weight.shape[axis]))
        }
        None if weight.rank() == 3 => weight.shape[1].clone(),
        None => return Ok(()),
    };
    if may_equal(&data.shape[1], &columns) {
        return Ok(());
    }
    let (x, w, found) = (call.name(0), call.name(1), &data.shape[1]);
    fault(
        call,
        Code::ShapeMismatch,
        text!("axis 1 of {x} has size {found}, {w} has {columns} columns"),
    )
    .rule(text!("the rows of {x} are multiplied by the rows of {w}, which are blocked"))
    .axis(0, 1, found)
    .argument(1, shape_text(&weight.shape))
    .fail()
}

/// Returns the size of an axis, counted from the last one.
fn from_last(ty: &Type, axis: usize) -> Option<u64> {
    let shape = &ty.as_tensor()?.shape;
    let at = shape.len().checked_sub(axis + 1)?;
    u64::try_from(shape[at].as_known()?).ok()
}

fn dense_macs(call: &CostCall<'_>) -> Option<u64> {
    elements(call.result)?.checked_mul(from_last(call.args.first()?, 0)?)
}

fn matmul_macs(call: &CostCall<'_>) -> Option<u64> {
    let inner = from_last(call.args.first()?, usize::from(call.attrs.bool("transpose_a")))?;
    elements(call.result)?.checked_mul(inner)
}
