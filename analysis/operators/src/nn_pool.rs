//! Pooling over sliding windows, over windows adapted to a target size, and over whole planes.
//!
//! The rules change the axes H and W (and D) of the layout, and keep the other axes of
//! the argument.

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.adaptive_avg_pool1d", &["data"]).since(8)
        .attrs(&ADAPTIVE_POOL1D)
        .rule("AdaptiveAvgPool1D", adaptive_pool1d)
        .cost(Cost::Reduction)
        .doc(adaptive_1d(
            "Averages `output_size` windows that cover the axis.",
            "nn.adaptive_avg_pool1d(%x, output_size=[4])",
        )),
    op("nn.adaptive_avg_pool2d", &["data"])
        .since(7)
        .formerly(&[("contrib.adaptive_avg_pool2d", Releases::between(6, 6))])
        .attrs(&ADAPTIVE_POOL2D)
        .rule("AdaptiveAvgPool2D", adaptive_pool2d)
        .cost(Cost::Reduction)
        .doc(adaptive_2d(
            "Averages `output_size` windows that cover each plane.",
            "nn.adaptive_avg_pool2d(%x, output_size=[7, 7])",
        )),
    op("nn.adaptive_avg_pool3d", &["data"]).since(7)
        .attrs(&ADAPTIVE_POOL3D)
        .rule("AdaptiveAvgPool3D", adaptive_pool3d)
        .cost(Cost::Reduction)
        .doc(adaptive_3d(
            "Averages `output_size` windows that cover each volume.",
            "nn.adaptive_avg_pool3d(%x, output_size=[1, 1, 1])",
        )),
    op("nn.adaptive_max_pool1d", &["data"]).since(8)
        .attrs(&ADAPTIVE_POOL1D)
        .rule("AdaptiveMaxPool1D", adaptive_pool1d)
        .cost(Cost::Reduction)
        .doc(adaptive_1d(
            "Takes the largest element of each of `output_size` windows that cover the axis.",
            "nn.adaptive_max_pool1d(%x, output_size=[4])",
        )),
    op("nn.adaptive_max_pool2d", &["data"])
        .since(7)
        .formerly(&[("contrib.adaptive_max_pool2d", Releases::between(6, 6))])
        .attrs(&ADAPTIVE_POOL2D)
        .rule("AdaptiveMaxPool2D", adaptive_pool2d)
        .cost(Cost::Reduction)
        .doc(adaptive_2d(
            "Takes the largest element of each of `output_size` windows that cover each plane.",
            "nn.adaptive_max_pool2d(%x, output_size=[7, 7])",
        )),
    op("nn.adaptive_max_pool3d", &["data"]).since(7)
        .attrs(&ADAPTIVE_POOL3D)
        .rule("AdaptiveMaxPool3D", adaptive_pool3d)
        .cost(Cost::Reduction)
        .doc(adaptive_3d(
            "Takes the largest element of each of `output_size` windows that cover each volume.",
            "nn.adaptive_max_pool3d(%x, output_size=[1, 1, 1])",
        )),
    op("nn.avg_pool1d", &["data"]).since(7)
        .attrs(&AVG_POOL1D)
        .rule("AvgPool1D", pool1d)
        .cost(Cost::Reduction)
        .doc(pool_1d(
            "Averages each window of `pool_size` elements along one axis.",
            "nn.avg_pool1d(%x, pool_size=[2], strides=[2])",
        )),
    op("nn.avg_pool2d", &["data"])
        .attrs(&AVG_POOL2D)
        .rule("AvgPool2D", pool2d)
        .cost(Cost::Reduction)
        .doc(pool_2d(
            "Averages each window of `pool_size` elements of a plane; padding counts as elements \
             only with `count_include_pad`.",
            "nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2])",
        )),
    op("nn.avg_pool2d_grad", &["data", "grad"]).data(&["grad"]).since(6)
        .attrs(&MAX_POOL2D)
        .made_with(&AVG_POOL2D)
        .rule("MaxPool2DGrad", pool2d_grad)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "The gradient of `nn.avg_pool2d`: distributes each incoming gradient evenly over \
                      its window.",
            args: GRAD_ARGS,
            shape: "the type of `grad`, the second argument",
            example: "nn.avg_pool2d_grad(%dy, %x, pool_size=[2, 2], strides=[2, 2])",
        }),
    op("nn.avg_pool3d", &["data"]).since(7)
        .attrs(&AVG_POOL3D)
        .rule("AvgPool3D", pool3d)
        .cost(Cost::Reduction)
        .doc(pool_3d(
            "Averages each window of `pool_size` elements of a volume.",
            "nn.avg_pool3d(%x, pool_size=[2, 2, 2], strides=[2, 2, 2])",
        )),
    op("nn.global_avg_pool2d", &["data"])
        .attrs(&GLOBAL_POOL2D)
        .rule("GlobalAvgPool2D", global_pool2d)
        .cost(Cost::Reduction)
        .doc(global_2d("Averages each plane to one element.", "nn.global_avg_pool2d(%x)")),
    op("nn.global_max_pool2d", &["data"])
        .attrs(&GLOBAL_POOL2D)
        .rule("GlobalMaxPool2D", global_pool2d)
        .cost(Cost::Reduction)
        .doc(global_2d("Takes the largest element of each plane.", "nn.global_max_pool2d(%x)")),
    op("nn.max_pool1d", &["data"]).since(7)
        .attrs(&MAX_POOL1D)
        .rule("MaxPool1D", pool1d)
        .cost(Cost::Reduction)
        .doc(pool_1d(
            "Takes the largest element of each window of `pool_size` elements along one axis.",
            "nn.max_pool1d(%x, pool_size=[2], strides=[2])",
        )),
    op("nn.max_pool2d", &["data"])
        .attrs(&MAX_POOL2D)
        .rule("MaxPool2D", pool2d)
        .cost(Cost::Reduction)
        .doc(pool_2d(
            "Takes the largest element of each window of `pool_size` elements of a plane.",
            "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1])",
        )),
    op("nn.max_pool2d_grad", &["data", "grad"]).data(&["grad"]).since(6)
        .attrs(&MAX_POOL2D)
        .rule("MaxPool2DGrad", pool2d_grad)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "The gradient of `nn.max_pool2d`: moves each incoming gradient to the largest \
                      element of its window.",
            args: GRAD_ARGS,
            shape: "the type of `grad`, the second argument",
            example: "nn.max_pool2d_grad(%dy, %x, pool_size=[2, 2], strides=[2, 2])",
        }),
    op("nn.max_pool3d", &["data"]).since(7)
        .attrs(&MAX_POOL3D)
        .rule("MaxPool3D", pool3d)
        .cost(Cost::Reduction)
        .doc(pool_3d(
            "Takes the largest element of each window of `pool_size` elements of a volume.",
            "nn.max_pool3d(%x, pool_size=[3, 3, 3], strides=[2, 2, 2], padding=[1, 1, 1])",
        )),
];

const DATA_1D: &[&str] = &["`(N, C, W)`, or in the order of `layout`"];
const DATA_2D: &[&str] = &["`(N, C, H, W)`, or in the order of `layout`"];
const DATA_3D: &[&str] = &["`(N, C, D, H, W)`, or in the order of `layout`"];
// TVM's names of the two arguments are swapped.
const GRAD_ARGS: &[&str] = &[
    "the gradient of the pooling's result",
    "the pooled data, `(N, C, H, W)` or in the order of `layout`",
];

const fn pool_1d(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: DATA_1D,
        shape: "`W` becomes `(W + padding − (pool_size − 1) · dilation − 1) / strides + 1`, \
                rounded down, or up with `ceil_mode`; other axes are unchanged",
        example,
    }
}

const fn pool_2d(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: DATA_2D,
        shape: "`H` and `W` become `(size + padding − (pool_size − 1) · dilation − 1) / strides + \
                1`, rounded down, or up with `ceil_mode`; other axes are unchanged",
        example,
    }
}

const fn pool_3d(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: DATA_3D,
        shape: "`D`, `H` and `W` become `(size + padding − (pool_size − 1) · dilation − 1) / \
                strides + 1`, rounded down, or up with `ceil_mode`; other axes are unchanged",
        example,
    }
}

const fn adaptive_1d(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: DATA_1D,
        shape: "`W` becomes `output_size`, or is unchanged if none is given",
        example,
    }
}

const fn adaptive_2d(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: DATA_2D,
        shape: "`H` and `W` become `output_size`: two values, one for both, or none to keep them",
        example,
    }
}

const fn adaptive_3d(summary: &'static str, example: &'static str) -> Doc {
    Doc {
        summary,
        args: DATA_3D,
        shape: "`D`, `H` and `W` become `output_size`: three values, one for all, or none to keep \
                them",
        example,
    }
}

const fn global_2d(summary: &'static str, example: &'static str) -> Doc {
    Doc { summary, args: DATA_2D, shape: "`H` and `W` become 1; other axes are unchanged", example }
}

fn pool1d(call: &mut Call<'_>) -> Outcome {
    pool(call, "W")
}

fn pool2d(call: &mut Call<'_>) -> Outcome {
    pool(call, "HW")
}

fn pool3d(call: &mut Call<'_>) -> Outcome {
    pool(call, "DHW")
}

/// Pooling over a sliding window on the axes of `letters`.
fn pool(call: &mut Call<'_>, letters: &str) -> Outcome {
    let data = call.tensor(0)?;
    let positions = pooled_axes(call, &data, letters)?;
    // The result keeps the layout of the argument. TVM still validates this attribute,
    // except in 2D.
    if letters != "HW" && !call.attrs().str("out_layout").is_empty() {
        layout_attr(call, "out_layout")?;
    }
    let axes = positions.len();
    let pad = padding_sums(call, "padding", axes)?.or_else(Reason::undecided)?;
    let (window, dilation) = (list(call, "pool_size")?, list(call, "dilation")?);
    let strides = list(call, "strides")?;
    call.lenient(at_least(call, "pool_size", 1))?;
    call.lenient(moves_forward(call))?;
    let mut shape = data.shape.clone();
    for (i, (&at, letter)) in positions.iter().zip(letters.chars()).enumerate() {
        if data.shape[at].is_any() {
            continue;
        }
        let window = element(call, "pool_size", &window, i, axes)?;
        let dilation = element(call, "dilation", &dilation, i, axes)?;
        let stride = element(call, "strides", &strides, i, axes)?;
        let reach = (window - 1) * dilation + 1;
        let mut slack = &data.shape[at] + &pad[i] - reach.clone();
        if call.attrs().bool("ceil_mode") {
            slack = slack + stride.clone() - 1;
        }
        shape[at] = trunc_div(call, "strides", &slack, &stride)? + 1;
        let (size, mut pad) = (&data.shape[at], pad[i].clone());
        call.lenient(keeps_elements(call, at, size, &pad))?;
        if call.attrs().bool("ceil_mode") {
            pad = pad + stride - 1;
        }
        let window = Window { axis: at, letter, size, pad: &pad, reach: &reach };
        call.lenient(window.fits(call, &shape[at]))?;
    }
    call.output_tensor(shape, data.dtype)
}

fn global_pool2d(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let mut shape = data.shape.clone();
    for at in pooled_axes(call, &data, "HW")? {
        shape[at] = Dim::known(1);
    }
    call.output_tensor(shape, data.dtype)
}

fn adaptive_pool1d(call: &mut Call<'_>) -> Outcome {
    adaptive_pool(call, "W")
}

fn adaptive_pool2d(call: &mut Call<'_>) -> Outcome {
    adaptive_pool(call, "HW")
}

fn adaptive_pool3d(call: &mut Call<'_>) -> Outcome {
    adaptive_pool(call, "DHW")
}

/// Pooling to `output_size` windows on the axes of `letters`.
fn adaptive_pool(call: &mut Call<'_>, letters: &str) -> Outcome {
    let data = call.tensor(0)?;
    let positions = pooled_axes(call, &data, letters)?;
    let axes = positions.len();
    let expected = list(call, "output_size")?;
    let mut shape = data.shape.clone();
    match expected.len() {
        0 => {}
        1 => positions.iter().for_each(|&at| shape[at] = expected[0].clone()),
        n if n == axes => {
            positions.iter().zip(expected).for_each(|(&at, size)| shape[at] = size);
        }
        n => return output_size_length(call, n, letters),
    }
    call.output_tensor(shape, data.dtype)
}

fn output_size_length<T>(call: &Call<'_>, found: usize, letters: &str) -> Result<T, Halt> {
    let axes = letters.len();
    let each = match axes {
        1 => "",
        2 => ", or 2 (H and W)",
        _ => ", or 3 (D, H and W)",
    };
    Reason::new(
        Code::AttributeLength,
        text!("`{}`: `output_size` has {}", call.operator(), count(found, "value", "values")),
    )
    .rule(text!("`output_size` has 1 value{each}, or none to keep the size"))
    .attribute("output_size", count(found, "value", "values"))
    .fail()
}

/// Assigns the type of the pooled data, which is the second argument.
fn pool2d_grad(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(1)?;
    for name in ["pool_size", "strides"] {
        call.lenient(at_least(call, name, 1))?;
    }
    call.lenient(at_least(call, "padding", 0))?;
    if call.is_tensor(0) {
        let grad = call.tensor(0)?;
        call.lenient(fits_gradient(call, &grad, &data))?;
    }
    call.output_same(1)
}

/// Checks that the gradient has the images and channels of the data. TVM's names of the arguments
/// are swapped, so the message does not use them.
fn fits_gradient(call: &Call<'_>, grad: &TensorType, data: &TensorType) -> Outcome {
    let layout = layout_attr(call, "layout")?;
    if grad.rank() != data.rank() {
        let (x, y) = (axes(grad.rank()), axes(data.rank()));
        return fault(call, Code::RankMismatch, text!("the gradient has {x}, the data have {y}"))
            .rule("the gradient, which comes first, has the axes of the data")
            .argument(0, x)
            .argument(1, y)
            .fail();
    }
    for letter in ['N', 'C', 'c'] {
        let Some(axis) = layout.index_of(letter).filter(|&axis| axis < data.rank()) else {
            continue;
        };
        let (size, expected) = (&grad.shape[axis], &data.shape[axis]);
        // The rest of a larger gradient is ignored.
        if size.as_known().zip(expected.as_known()).is_some_and(|(size, expected)| size < expected)
        {
            return fault(
                call,
                Code::ShapeMismatch,
                text!("axis {axis} of the gradient has size {size}, that of the data {expected}"),
            )
            .rule("only the axes that are pooled over differ in size")
            .axis(0, axis, size)
            .axis(1, axis, expected)
            .fail();
        }
    }
    Ok(())
}

/// Returns the positions of the pooled axes, in the order of `letters`.
fn pooled_axes(call: &Call<'_>, data: &TensorType, letters: &str) -> Result<Vec<usize>, Halt> {
    let layout = layout_attr(call, "layout")?;
    let base = match letters {
        "W" => "NCW",
        "HW" => "NCHW",
        _ => "NCDHW",
    };
    letters.chars().map(|letter| pooled_axis(call, data, &layout, base, letter)).collect()
}

fn pooled_axis(
    call: &Call<'_>,
    data: &TensorType,
    layout: &Layout,
    base: &'static str,
    letter: char,
) -> Result<usize, Halt> {
    let operator = call.operator();
    let wrong = |message: Text| {
        Reason::new(Code::InvalidLayout, message)
            .rule("`layout` must hold the axes that are pooled over, none of them split")
            .attribute("layout", text!("\"{layout}\""))
            .help(text!("write `layout=\"{base}\"`, or the actual order of the axes"))
    };
    let Some(at) = layout.index_of(letter) else {
        return wrong(text!(
            "`{operator}` pools over the axis {letter}, which the layout \"{layout}\" does not have"
        ))
        .fail();
    };
    if layout.index_of(letter.to_ascii_lowercase()).is_some() {
        return wrong(text!(
            "`{operator}` pools over the axis {letter}, which the layout \"{layout}\" splits into \
             blocks"
        ))
        .fail();
    }
    let rank = data.rank();
    if at < rank {
        return Ok(at);
    }
    let name = call.name(0);
    Reason::new(
        Code::RankMismatch,
        text!(
            "`{operator}`: {name} has {}, but the layout \"{layout}\" has {}",
            axes(rank),
            layout.rank()
        ),
    )
    .rule(text!("in the layout \"{layout}\" {letter} is axis {at} of {name}"))
    .argument(0, axes(rank))
    .attribute("layout", text!("\"{layout}\""))
    .fail()
}
