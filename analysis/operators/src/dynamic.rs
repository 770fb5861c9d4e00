//! Operators with a shape argument: the sizes of the result are known at run time only, and are
//! `?`. The rank is the length of the shape argument, which must be known.

use crate::{
    image::{floats, with_sizes},
    prelude::*,
    sparse::{fits_places, places_and_values},
};

/// `dyn.image.resize2d` of TVM 0.8.
static RESIZE2D_8: Operator = op("dyn.image.resize2d", &["data", "size"])
    .in_category(Category::Movement)
    .controls(&["size"])
    .attrs(&RESIZE2D)
    .rule("DynResize2D", resize2d)
    .cost(Cost::Elementwise)
    .another();

pub(crate) static OPERATORS: &[Operator] = &[
    op("dyn.broadcast_to", &["data", "shape"]).keeps_data().controls(&["shape"]).since(7)
        .attrs(&INIT_OP)
        .rule("DynamicBroadCastTo", broadcast_to)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Broadcasts a tensor to a \
                      shape.",
            args: &["any tensor", "`(rank,)`, integers: the shape of the result"],
            shape: "`?` on each of the `rank` axes",
            example: "dyn.broadcast_to(%x, %shape, shape=None)",
        }),
    op("dyn.expand_dims", &["data", "axis"]).keeps_data().controls(&["axis"]).since(8)
        .detached_attrs(&DYN_EXPAND_DIMS)
        .rule("DynamicExpandDims", expand_dims)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Adds `num_newaxis` axes of size 1.",
            args: &["any tensor", "a scalar integer: the position of the new axes"],
            shape: "`?` on each axis, `num_newaxis` of them more than `data` has",
            example: "dyn.expand_dims(%x, %axis, num_newaxis=1, \
                      attrs_type_key=\"relay.attrs.DynExpandDimsAttrs\")",
        }),
    op("dyn.full", &["fill_value", "shape"]).fill(Fill::Argument(0)).controls(&["shape"]).since(7)
        .attrs(&INIT_OP)
        .rule("DynamicFull", full)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Creates a tensor filled with one value.",
            args: &["a scalar: the value", "`(rank,)`, integers: the shape of the result"],
            shape: "`?` on each of the `rank` axes",
            example: "dyn.full(%value, %shape, shape=None, dtype=\"float32\")",
        }),
    op("dyn.image.resize2d", &["data", "size", "roi"]).in_category(Category::Movement).controls(&["size", "roi"])
        .since(8)
        .forms(&[form(Releases::between(8, 8), 2)
            .as_operator(&RESIZE2D_8)])
        .attrs(&RESIZE2D)
        .rule("DynResize2D", resize2d)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Resizes images by interpolation.",
            args: &[
                "images in `layout`: `(n, c, h, w)` for \"NCHW\"",
                "`(2,)`, integers: the height and the width",
                "`(4,)`: the region that is resized, as fractions of the image",
            ],
            shape: "the shape of `data`, with `?` for the height and the width",
            example: "dyn.image.resize2d(%x, %size, %roi, layout=\"NHWC\")",
        }),
    op("dyn.nn.pad", &["data", "pad_width", "pad_val"]).controls(&["pad_width"]).since(7)
        .attrs(&PAD)
        .rule("DynamicPad", pad)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Adds elements before and after each axis.",
            args: &[
                "a tensor of `rank` axes",
                "`(rank, 2)`, integers: how many before and after each axis",
                "a scalar: the value of the new elements",
            ],
            shape: "`?` on each axis",
            example: "dyn.nn.pad(%x, %width, 0f, pad_width=[])",
        }),
    op("dyn.nn.upsampling", &["data", "scale_h", "scale_w"]).in_category(Category::Movement).controls(&["scale_h", "scale_w"]).since(7)
        .attrs(&UP_SAMPLING)
        .rule("DynamicUpSampling", upsampling)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Upsamples images by factors.",
            args: &[
                "images in `layout`: `(n, c, h, w)` for \"NCHW\"",
                "a scalar: the factor of the height",
                "a scalar: the factor of the width",
            ],
            shape: "the shape of `data`, with `?` for the height and the width",
            example: "dyn.nn.upsampling(%x, %h, %w, scale_h=0f, scale_w=0f)",
        }),
    op("dyn.nn.upsampling3d", &["data", "scale_d", "scale_h", "scale_w"]).in_category(Category::Movement).controls(&["scale_d", "scale_h", "scale_w"]).since(7)
        .attrs(&UP_SAMPLING3D)
        .rule("DynamicUpSampling3D", upsampling3d)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Upsamples volumes by factors.",
            args: &[
                "volumes in `layout`: `(n, c, d, h, w)` for \"NCDHW\"",
                "a scalar: the factor of the depth",
                "a scalar: the factor of the height",
                "a scalar: the factor of the width",
            ],
            shape: "the shape of `data`, with `?` for the depth, the height and the width",
            example: "dyn.nn.upsampling3d(%x, %d, %h, %w, scale_d=0f, scale_h=0f, scale_w=0f)",
        }),
    op("dyn.one_hot", &["indices", "on_value", "off_value", "depth"]).domains(&[("depth", Domain::Closed(1.0, f64::INFINITY))]).controls(&["indices", "depth"]).since(7)
        .attrs(&ONE_HOT)
        .rule("DynOneHot", one_hot)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Creates a vector for each index: `on_value` at the index, `off_value` \
                      elsewhere.",
            args: &[
                "integers of any shape",
                "a scalar: the value at the index",
                "a scalar: the value elsewhere",
                "a scalar: the length of the vectors",
            ],
            shape: "the shape of `indices` with `?` added at `axis`",
            example: "dyn.one_hot(%indices, %on, %off, %depth, axis=-1, dtype=\"float32\")",
        }),
    op("dyn.ones", &["shape"]).fill(Fill::Number(1.0)).since(7).attrs(&INIT_OP).rule("DynamicInitOp", init).cost(Cost::Free).doc(
        Doc {
            summary: "Creates a tensor of ones.",
            args: &["`(rank,)`, integers: the shape of the result"],
            shape: "`?` on each of the `rank` axes",
            example: "dyn.ones(%shape, shape=None, dtype=\"float32\")",
        },
    ),
    op("dyn.reshape", &["data", "newshape"]).keeps_data().controls(&["newshape"]).since(7)
        .attrs(&RESHAPE)
        .rule("DynamicReshape", reshape)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Changes the shape.",
            args: &[
                "any tensor",
                "`(rank,)`, integers: the shape of the result, where 0 copies a size and -1 is \
                 inferred",
            ],
            shape: "`?` on each of the `rank` axes",
            example: "dyn.reshape(%x, %shape, newshape=[])",
        }),
    op(
        "dyn.sparse_to_dense",
        &["sparse_indices", "sparse_values", "default_value", "output_shape"],
    ).controls(&["sparse_indices", "output_shape"]).since(8)
    .rule("DynSparseToDense", sparse_to_dense)
    .cost(Cost::Free)
    .doc(Doc {
        summary: "Creates a tensor from values at given positions and a default value \
                  elsewhere.",
        args: &[
            "`(n, rank)`, `(n,)` or a scalar, integers: the position of each value",
            "`(n,)` or a scalar: the values",
            "a scalar: the value elsewhere",
            "`(rank,)`, integers: the shape of the result",
        ],
        shape: "`?` on each of the `rank` axes",
        example: "dyn.sparse_to_dense(%indices, %values, %default, %shape)",
    }),
    op("dyn.squeeze", &["data", "axes"]).keeps_data().controls(&["axes"]).since(8)
        .attrs(&SQUEEZE)
        .rule("DynSqueeze", squeeze)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Removes axes of size 1.",
            args: &["any tensor", "`(n,)`, integers: the axes"],
            shape: "`?` on each axis, `n` of them fewer than `data` has",
            example: "dyn.squeeze(%x, %axes)",
        }),
    op("dyn.strided_slice", &["data", "begin", "end", "strides"]).fill(Fill::Argument(0)).domains(&[("strides", Domain::NonZero)]).controls(&["begin", "end", "strides"])
        .since(7)
        .forms(&[form(Releases::between(7, 7), 4)
            .defaults(&[("axes", AttrDefault::None)])])
        .attrs(&STRIDED_SLICE)
        .rule("DynStridedSlice", strided_slice)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Extracts every `strides`-th element from `begin` to `end`, exclusive, on the first axes.",
            args: &[
                "any tensor",
                "`(n,)`, integers: the begin on each of the first `n` axes",
                "`(n,)`, integers: the end",
                "`(n,)`, integers: the stride",
            ],
            shape: "`?` on the first `n` axes, the sizes of `data` on the others",
            example: "dyn.strided_slice(%x, %begin, %end, %strides, begin=None, end=None, \
                      strides=None, axes=None)",
        }),
    op("dyn.tile", &["data", "reps"]).fill(Fill::Argument(0)).controls(&["reps"]).since(7).attrs(&TILE).rule("DynamicTile", tile).cost(Cost::Free).doc(
        Doc {
            summary: "Repeats a tensor along each axis.",
            args: &["any tensor", "`(n,)`, integers: how often for each axis, the last ones"],
            shape: "`?` on each axis, as many as the longer of `data` and `reps` has",
            example: "dyn.tile(%x, %reps, reps=[])",
        },
    ),
    op("dyn.topk", &["data", "k"]).controls(&["k"]).since(7).attrs(&TOPK).rule("DynTopK", topk).cost(Cost::Reduction).doc(
        Doc {
            summary: "Finds the `k` largest elements along one axis, or with `is_ascend` the smallest.",
            args: &["any tensor", "a scalar integer, or one of shape `(1,)`"],
            shape: "the shape of `data` with `?` on `axis`; a tuple of values and indices with \
                    `ret_type=\"both\"`",
            example: "dyn.topk(%x, %k, k=None, axis=-1, dtype=\"int64\")",
        },
    ),
    op("dyn.zeros", &["shape"]).fill(Fill::Number(0.0)).since(7).attrs(&INIT_OP).rule("DynamicInitOp", init).cost(Cost::Free).doc(
        Doc {
            summary: "Creates a tensor of zeros.",
            args: &["`(rank,)`, integers: the shape of the result"],
            shape: "`?` on each of the `rank` axes",
            example: "dyn.zeros(%shape, shape=None, dtype=\"float32\")",
        },
    ),
];

/// Maximum rank. A shape argument of such a length is an error in the program.
const MAX_AXES: i64 = 1 << 12;

/// Returns the length of the argument at `position`, which contains a number for each of some axes.
fn length(
    call: &mut Call<'_>,
    position: usize,
    tensor: &TensorType,
    what: &'static str,
) -> Result<usize, Halt> {
    let (operator, name) = (call.operator(), call.name(position));
    let Some(length) = tensor.shape.first() else {
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must be a vector, but it is a scalar"),
        )
        .rule(text!("{name} contains {what}"))
        .argument(position, "a scalar")
        .fail();
    };
    // TVM reads the size of the first axis only.
    call.lenient(needs_rank(call, position, tensor, 1, what))?;
    // TVM treats a negative length as 0.
    match length.as_known() {
        Some(known) if known <= MAX_AXES => Ok(usize::try_from(known).unwrap_or(0)),
        Some(known) => Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: {name} has {known} elements, which exceeds the maximum rank"),
        )
        .rule(text!("{name} contains {what}"))
        .axis(position, 0, known)
        .fail(),
        None => Reason::new(
            Code::ShapeMismatch,
            text!("`{operator}`: the length of {name} must be known, but it is {length}"),
        )
        .rule(text!("{name} contains {what}: its length determines the rank of the result"))
        .axis(position, 0, length)
        .help("annotate it with a type of known length, such as `Tensor[(2), int64]`")
        .fail(),
    }
}

/// Returns `rank` unknown sizes.
fn unknown(rank: usize) -> impl Iterator<Item = Dim> {
    std::iter::repeat_n(Dim::Any, rank)
}

const SIZES: &str = "the size of each axis of the result";

fn init(call: &mut Call<'_>) -> Outcome {
    let shape = call.require_tensor(0)?;
    let rank = length(call, 0, &shape, SIZES)?;
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(unknown(rank), dtype)
}

fn full(call: &mut Call<'_>) -> Outcome {
    let (value, shape) = (call.tensor(0)?, call.tensor(1)?);
    needs_rank(call, 0, &value, 0, "")?;
    let rank = length(call, 1, &shape, SIZES)?;
    let dtype = dtype_or(call, "dtype", value.dtype);
    call.output_tensor(unknown(rank), dtype)
}

fn broadcast_to(call: &mut Call<'_>) -> Outcome {
    let (shape, data) = (call.tensor(1)?, call.tensor(0)?);
    let rank = length(call, 1, &shape, SIZES)?;
    if data.rank() > rank {
        call.lenient(too_few(call, rank, data.rank()))?;
    }
    call.output_tensor(unknown(rank), data.dtype)
}

fn reshape(call: &mut Call<'_>) -> Outcome {
    let (data, shape) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let rank = length(call, 1, &shape, SIZES)?;
    call.output_tensor(unknown(rank), data.dtype)
}

fn sparse_to_dense(call: &mut Call<'_>) -> Outcome {
    let shape = call.tensor(3)?;
    let dtype = places_and_values(call)?;
    let rank = length(call, 3, &shape, SIZES)?;
    call.lenient(fits_places(call, rank))?;
    call.output_tensor(unknown(rank), dtype)
}

fn tile(call: &mut Call<'_>) -> Outcome {
    let (data, reps) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let what = "how often each axis is repeated";
    not_negative(call, 1, &reps, what)?;
    let rank = length(call, 1, &reps, what)?;
    call.output_tensor(unknown(rank.max(data.rank())), data.dtype)
}

/// Checks that an argument has no negative size, which some of TVM's relations reject.
fn not_negative(call: &Call<'_>, position: usize, tensor: &TensorType, what: &str) -> Outcome {
    match tensor.shape.first() {
        Some(length) if length.as_known().is_some_and(|known| known < 0) => {
            let (operator, name) = (call.operator(), call.name(position));
            Reason::new(
                Code::ShapeMismatch,
                text!("`{operator}`: {name} has a negative length: {length}"),
            )
            .rule(text!("{name} contains {what}"))
            .axis(position, 0, length)
            .fail()
        }
        _ => Ok(()),
    }
}

fn squeeze(call: &mut Call<'_>) -> Outcome {
    let (data, axes) = (call.tensor(0)?, call.tensor(1)?);
    let what = "the axes that are removed";
    needs_rank(call, 1, &axes, 1, what)?;
    let (removed, rank) = (length(call, 1, &axes, what)?, data.rank());
    if removed > rank {
        return too_many(call, 1, removed, rank, what);
    }
    let ones = data.shape.iter().filter(|size| may_equal(size, &Dim::known(1))).count();
    if removed > ones {
        let (x, name) = (call.name(0), call.name(1));
        let message = text!("{name} lists {removed}, but {x} has {ones} of size 1");
        let check = fault(call, Code::ShapeMismatch, message)
            .rule("only axes of size 1 are removed")
            .axis(1, 0, removed)
            .argument(0, shape_text(&data.shape))
            .fail();
        call.lenient(check)?;
    }
    call.output_tensor(unknown(rank - removed), data.dtype)
}

/// The failure that a shape has fewer axes than the tensor broadcast to it.
fn too_few(call: &Call<'_>, rank: usize, needed: usize) -> Outcome {
    let (name, data) = (call.name(1), call.name(0));
    let message = text!("{name} is for {}, but {data} has {needed}", axes(rank));
    fault(call, Code::RankMismatch, message)
        .rule("broadcasting adds axes and removes none")
        .axis(1, 0, rank)
        .argument(0, axes(needed))
        .fail()
}

/// The failure that the argument at `position` has entries for more axes than the data has.
fn too_many<T>(
    call: &Call<'_>,
    position: usize,
    found: usize,
    rank: usize,
    what: &str,
) -> Result<T, Halt> {
    let (operator, name, data) = (call.operator(), call.name(position), call.name(0));
    Reason::new(
        Code::ShapeMismatch,
        text!(
            "`{operator}`: {name} is for {found} axes, but {data} has {}",
            count(rank, "axis", "axes")
        ),
    )
    .rule(text!("{name} contains {what}: {found} > {rank}"))
    .axis(position, 0, found)
    .argument(0, axes(rank))
    .fail()
}

fn strided_slice(call: &mut Call<'_>) -> Outcome {
    let (data, begin) = (call.tensor(0)?, call.tensor(1)?);
    let what = "the begin of the slice on each of the first axes";
    let (sliced, rank) = (length(call, 1, &begin, what)?, data.rank());
    if sliced > rank {
        return too_many(call, 1, sliced, rank, what);
    }
    not_negative(call, 1, &begin, what)?;
    for (position, what) in [(2, "the end of the slice on each axis"), (3, "the step on each axis")]
    {
        if call.is_tensor(position) {
            let bounds = call.tensor(position)?;
            call.lenient(bounds_axes(call, (position, &bounds), sliced, what))?;
        }
    }
    let rest = data.shape.iter().skip(sliced).cloned();
    call.output_tensor(unknown(sliced).chain(rest), data.dtype)
}

/// Checks that an argument has a number for each of the `sliced` axes.
fn bounds_axes(
    call: &Call<'_>,
    (position, bounds): (usize, &TensorType),
    sliced: usize,
    what: &'static str,
) -> Outcome {
    needs_rank(call, position, bounds, 1, what)?;
    let length = &bounds.shape[0];
    if length.as_known().is_none_or(|length| length >= sliced as i64) {
        return Ok(());
    }
    let (begin, name) = (call.name(1), call.name(position));
    let sliced = axes(sliced);
    fault(call, Code::ShapeMismatch, text!("{name} has size {length}, {begin} is for {sliced}"))
        .rule(text!("{name} contains {what} that {begin} names"))
        .axis(position, 0, length)
        .axis(1, 0, sliced)
        .fail()
}

fn expand_dims(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    needs_attrs(call, DYN_EXPAND_DIMS.key)?;
    let Some(added) = call.attrs().int("num_newaxis") else { return Err(Halt::Silent) };
    let Some(added) = usize::try_from(added).ok().filter(|&n| n <= MAX_AXES as usize) else {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}`: `num_newaxis` cannot be {added}", call.operator()),
        )
        .rule("`num_newaxis` is the number of added axes, at least 0")
        .attribute("num_newaxis", text!("{added}"))
        .fix("num_newaxis", 1)
        .fail();
    };
    let axis = call.require_tensor(1)?;
    needs_rank(call, 1, &axis, 0, "")?;
    call.output_tensor(unknown(data.rank() + added), data.dtype)
}

fn one_hot(call: &mut Call<'_>) -> Outcome {
    let indices = call.require_tensor(0)?;
    let rank = indices.rank();
    let Some(written) = call.attrs().int("axis") else { return Err(Halt::Silent) };
    let axis = if written == -1 { Some(rank) } else { usize::try_from(written).ok() };
    let Some(axis) = axis.filter(|&axis| axis <= rank) else {
        return Reason::new(
            Code::AxisOutOfRange,
            text!("`{}`: the result has no position {written} for a new axis", call.operator()),
        )
        .rule(text!(
            "`axis` is the position of the new axis among the {} of the result: 0 to {rank}, or -1 \
             for the last",
            rank + 1
        ))
        .attribute("axis", text!("axis {written}"))
        .argument(0, axes(rank))
        .fix("axis", -1)
        .fail();
    };
    let mut shape = indices.shape.clone();
    shape.insert(axis, Dim::Any);
    let dtype = call.attrs().dtype("dtype");
    call.output_tensor(shape, dtype)
}

fn pad(call: &mut Call<'_>) -> Outcome {
    let (data, width) = (call.tensor(0)?, call.tensor(1)?);
    call.tensor(2)?;
    let rank = data.rank();
    if rank == 0 {
        return Reason::new(
            Code::RankMismatch,
            text!(
                "`{}`: {} must not be a scalar: there is no axis to pad",
                call.operator(),
                call.name(0)
            ),
        )
        .argument(0, "a scalar")
        .fail();
    }
    needs_rank(call, 1, &width, 2, "axes, before and after")?;
    let rule = "each axis has two numbers: before and after";
    if !may_equal(&width.shape[0], &Dim::known(rank as i64)) {
        call.lenient(has_size(call, (1, 0, &width.shape[0]), rank as i64, rule))?;
    }
    call.lenient(has_size(call, (1, 1, &width.shape[1]), 2, rule))?;
    call.output_tensor(unknown(rank), data.dtype)
}

pub(crate) fn resize2d(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    floats(call, "roi")?;
    if call.is_tensor(1) {
        let size = call.tensor(1)?;
        if let [length] = &size.shape[..] {
            let rule = "the sizes are the height and the width of the result";
            call.lenient(has_size(call, (1, 0, length), 2, rule))?;
        }
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    let shape = with_sizes(call, &data, "layout", "NCHW", &[Dim::Any, Dim::Any])?;
    call.output_tensor(shape, dtype)
}

fn upsampling(call: &mut Call<'_>) -> Outcome {
    let (data, height, width) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    needs_rank(call, 1, &height, 0, "")?;
    needs_rank(call, 2, &width, 0, "")?;
    let shape = with_sizes(call, &data, "layout", "NCHW", &[Dim::Any, Dim::Any])?;
    call.output_tensor(shape, data.dtype)
}

/// TVM does not check the factors.
fn upsampling3d(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let shape = with_sizes(call, &data, "layout", "NCDHW", &[Dim::Any, Dim::Any, Dim::Any])?;
    call.output_tensor(shape, data.dtype)
}

fn topk(call: &mut Call<'_>) -> Outcome {
    let (data, k) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let (operator, name) = (call.operator(), call.name(1));
    if k.rank() > 1 || k.shape.first().is_some_and(|length| !length.is(1)) {
        return Reason::new(
            Code::RankMismatch,
            text!(
                "`{operator}`: {name} must be a scalar, but its shape is `{}`",
                shape_text(&k.shape)
            ),
        )
        .rule(text!("{name} must be a scalar or a vector with one element"))
        .argument(1, shape_text(&k.shape))
        .fail();
    }
    let axis = axis_attr(call, "axis", 0, data.rank())?;
    let mut shape = data.shape.clone();
    shape[axis] = Dim::Any;
    let indices = Type::tensor(shape.clone(), call.attrs().dtype("dtype"));
    let values = Type::tensor(shape, data.dtype);
    match call.attrs().str("ret_type") {
        "both" => call.output(Type::tuple([values, indices])),
        "values" => call.output(values),
        "indices" => call.output(indices),
        other => Reason::new(
            Code::AttributeValue,
            text!("`{operator}`: `ret_type` cannot be \"{other}\""),
        )
        .rule("`ret_type` is \"both\", \"values\" or \"indices\"")
        .attribute("ret_type", text!("\"{other}\""))
        .fix("ret_type", "both")
        .fail(),
    }
}
