//! Operators on images: resizing, cropping, sampling, dilation.

use types::AttrValue;

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("image.affine_grid", &["data"]).in_category(Category::Movement).since(7)
        .attrs(&AFFINE_GRID)
        .rule("AffineGrid", affine_grid)
        .cost(Cost::Macs(affine_grid_macs))
        .doc(Doc {
            summary: "Applies an affine map to a regular grid of positions, for `image.grid_sample`.",
            args: &["`(n, 2, 3)`: an affine map for each sample"],
            shape: "`(n, 2, target_shape[0], target_shape[1])`",
            example: "image.affine_grid(%theta, target_shape=[16, 32])",
        }),
    op("image.crop_and_resize", &["data", "boxes", "box_indices"]).in_category(Category::Movement).controls(&["box_indices"]).data(&["boxes"]).since(7)
        .attrs(&CROP_AND_RESIZE)
        .rule("CropAndResize", crop_and_resize)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Crops boxes from images and resizes them to one size.",
            args: &[
                "images in `layout`: `(n, c, h, w)` for \"NCHW\"",
                "`(boxes, 4)`: `y1, x1, y2, x2` of each box, as fractions of the image",
                "`(boxes,)`, `int32`: the image of each box",
            ],
            shape: "the shape of `data` with a batch of `boxes`, and `crop_size` for the height \
                    and the width",
            example: "image.crop_and_resize(%x, %boxes, %of, crop_size=[14, 14])",
        }),
    op("image.dilation2d", &["data", "weight"]).since(7)
        .attrs(&DILATION2D)
        .rule("Dilation2D", dilation2d)
        .cost(Cost::Undefined("a maximum over sums, without multiplications"))
        .doc(Doc {
            summary: "Grayscale dilation: the maximum over a window of data plus kernel, for each \
                      channel.",
            args: &[
                "images in `data_layout`: `(n, c, h, w)` for \"NCHW\"",
                "kernels in `kernel_layout`: `(c, h, w)` for \"IHW\"",
            ],
            shape: "as a convolution: `(size + padding - reach) / stride + 1`, where the reach of \
                    a kernel is `(kernel - 1) * dilation + 1`",
            example: "image.dilation2d(%x, %w, padding=[1, 1])",
        }),
    op("image.grid_sample", &["data", "grid"]).in_category(Category::Movement).data(&["grid"]).since(7)
        .attrs(&GRID_SAMPLE)
        .rule("GridSample", grid_sample)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Samples images at the positions given by a grid.",
            args: &[
                "images in `layout`: `(n, c, h, w)`, or `(n, c, d, h, w)` for \"NCDHW\"",
                "`(n, 2, h, w)` or `(n, 3, d, h, w)`: positions between -1 and 1",
            ],
            shape: "the shape of `data`, with the spatial sizes of `grid`",
            example: "image.grid_sample(%x, %grid, method=\"bilinear\")",
        }),
    op("image.resize1d", &["data"]).in_category(Category::Movement)
        .since(8)
        .forms(&[form(Releases::between(8, 8), 1)
            .absent(&["roi"])
            .defaults(&[("roi", AttrDefault::Floats(&[0.0, 0.0]))])])
        .attrs(&RESIZE1D)
        .rule("Resize1D", resize1d)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Resizes signals by interpolation.",
            args: &["signals in `layout`: `(n, c, w)` for \"NCW\""],
            shape: "the shape of `data`, with `size` for the width",
            example: "image.resize1d(%x, size=[32], roi=[0f, 0f])",
        }),
    op("image.resize2d", &["data"]).in_category(Category::Movement)
        .since(8)
        .forms(&[form(Releases::between(8, 8), 1)
            .absent(&["roi"])
            .defaults(&[("roi", AttrDefault::Floats(&[0.0, 0.0, 0.0, 0.0]))])])
        .attrs(&RESIZE2D)
        .rule("Resize2D", resize2d)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Resizes images by interpolation.",
            args: &["images in `layout`: `(n, c, h, w)` for \"NCHW\""],
            shape: "the shape of `data`, with `size` for the height and the width",
            example: "image.resize2d(%x, size=[224, 224], roi=[0f, 0f, 0f, 0f])",
        }),
    op("image.resize3d", &["data"]).in_category(Category::Movement)
        .since(7)
        .forms(&[form(Releases::between(7, 8), 1)
            .absent(&["roi"])
            .defaults(&[("roi", AttrDefault::Floats(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))])])
        .attrs(&RESIZE3D)
        .rule("Resize3d", resize3d)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Resizes volumes by interpolation.",
            args: &["volumes in `layout`: `(n, c, d, h, w)` for \"NCDHW\""],
            shape: "the shape of `data`, with `size` for the depth, the height and the width",
            example: "image.resize3d(%x, size=[8, 8, 8], roi=[0f, 0f, 0f, 0f, 0f, 0f])",
        }),
];

/// Two dot products of length 3 per position.
fn affine_grid_macs(call: &CostCall<'_>) -> Option<u64> {
    elements(call.result)?.checked_mul(3)
}

/// Returns the first `N` values of the list attribute `name`; TVM ignores the others.
fn leading<const N: usize>(
    call: &Call<'_>,
    name: &'static str,
    what: &str,
) -> Result<[Dim; N], Halt> {
    let values = list_attr(call, name)?;
    let found = values.len();
    let first: Vec<Dim> = values.into_iter().take(N).collect();
    first.try_into().or_else(|_| {
        let values = count(found, "value", "values");
        Reason::new(
            Code::AttributeLength,
            text!("`{}`: `{name}` has {values}, expected {N}", call.operator()),
        )
        .rule(text!("`{name}` contains {what}"))
        .attribute(name, values)
        .fail()
    })
}

fn resize1d(call: &mut Call<'_>) -> Outcome {
    resize(call, "NCW")
}

fn resize2d(call: &mut Call<'_>) -> Outcome {
    resize(call, "NCHW")
}

fn resize3d(call: &mut Call<'_>) -> Outcome {
    resize(call, "NCDHW")
}

/// Assigns the sizes of the attribute `size` to the axes after `NC` of `base`.
fn resize(call: &mut Call<'_>, base: &str) -> Outcome {
    region(call, base.len().saturating_sub(2))?;
    resized(call, base)
}

/// Assigns the sizes without a region, as TVM 0.8 and before.
pub(crate) fn resized(call: &mut Call<'_>, base: &str) -> Outcome {
    let data = call.tensor(0)?;
    let axes = base.len().saturating_sub(2);
    let size = list_attr(call, "size")?;
    if size.len() != axes {
        return wrong_length(call, "size", size.len(), axes);
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    let shape = with_sizes(call, &data, "layout", base, &size)?;
    call.output_tensor(shape, dtype)
}

/// Checks that the attribute `roi` has two numbers for each spatial axis, even if it is not used.
fn region(call: &Call<'_>, axes: usize) -> Outcome {
    let found = floats(call, "roi")?;
    if found == 2 * axes {
        return Ok(());
    }
    let zeros = AttrValue::list(vec![Number(0.0); 2 * axes]);
    let found = count(found, "value", "values");
    Reason::new(
        Code::AttributeLength,
        text!("`{}`: `roi` has {found}, expected {}", call.operator(), 2 * axes),
    )
    .rule(text!(
        "`roi` has a start and an end for each of the {} resized, {} numbers in all; they count \
         for `coordinate_transformation_mode=\"tf_crop_and_resize\"` alone",
        count(axes, "axis", "axes"),
        2 * axes
    ))
    .attribute("roi", found)
    .help(text!("write `roi={}` for no region", zeros.to_string().as_str()))
    .fix("roi", zeros)
    .fail()
}

/// Returns the length of a list of floating point numbers; TVM rejects integers in it.
pub(crate) fn floats(call: &Call<'_>, name: &'static str) -> Result<usize, Halt> {
    let values = match call.attrs().get(name) {
        AttrValue::List(values) => values,
        AttrValue::None => return Ok(0),
        _ => return Err(Halt::Silent),
    };
    let integer = |value: &&AttrValue| matches!(value, AttrValue::Int { .. } | AttrValue::Bool(_));
    if let Some(integer) = values.iter().find(integer).and_then(AttrValue::as_int) {
        return Reason::new(
            Code::AttributeValue,
            text!(
                "`{}`: `{name}` takes floating point numbers, but {integer} is an integer",
                call.operator()
            ),
        )
        .attribute(name, text!("{integer}"))
        .help(text!("write `{integer}f`"))
        .fail();
    }
    Ok(values.len())
}

/// Checks that a list attribute that sizes are divided by or multiplied with contains no floating
/// point number.
fn integers(call: &Call<'_>, name: &'static str) -> Outcome {
    let values = call.attrs().get(name).as_list().unwrap_or_default();
    let Some(number) = values.iter().find_map(|value| match value {
        AttrValue::Float(number) => Some(format!("{:?}", number.0)),
        _ => None,
    }) else {
        return Ok(());
    };
    let number = number.as_str();
    Reason::new(
        Code::AttributeValue,
        text!("`{}`: `{name}` takes integers, but {number} is not an integer", call.operator()),
    )
    .attribute(name, text!("{number}"))
    .fail()
}

/// Returns the shape of an image in the layout given by `attribute`, with new sizes for the axes
/// after `NC` of `base`.
pub(crate) fn with_sizes(
    call: &Call<'_>,
    data: &TensorType,
    attribute: &'static str,
    base: &str,
    sizes: &[Dim],
) -> Result<Shape, Halt> {
    let base = Layout::parse(base).map_err(|_| Halt::Silent)?;
    let layout = needs_axes(call, attribute, layout_attr(call, attribute)?, &base)?;
    let mut shape = in_layout(call, 0, data, &layout, &base)?;
    for (axis, size) in shape.iter_mut().skip(2).zip(sizes) {
        *axis = size.clone();
    }
    base.convert(&shape, &layout).ok_or(Halt::Silent)
}

fn crop_and_resize(call: &mut Call<'_>) -> Outcome {
    let (data, boxes) = (call.tensor(0)?, call.tensor(1)?);
    call.tensor(2)?;
    let size: [Dim; 2] = leading(call, "crop_size", "the height and the width of the crops")?;
    let Some(crops) = boxes.shape.first() else {
        let (operator, name) = (call.operator(), call.name(1));
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must have 2 axes (boxes, corners), but it is a scalar"),
        )
        .rule(text!("axis 0 of {name} is the number of boxes"))
        .argument(1, "a scalar")
        .fail();
    };
    call.lenient(fits_boxes(call, &boxes))?;
    let base = Layout::parse("NCHW").map_err(|_| Halt::Silent)?;
    let layout = needs_axes(call, "layout", layout_attr(call, "layout")?, &base)?;
    let mut shape = in_layout(call, 0, &data, &layout, &base)?;
    let sizes = [(0, crops.clone()), (2, size[0].clone()), (3, size[1].clone())];
    for (axis, size) in sizes {
        if let Some(dim) = shape.get_mut(axis) {
            *dim = size;
        }
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    let Some(shape) = base.convert(&shape, &layout) else { return Err(Halt::Silent) };
    call.output_tensor(shape, dtype)
}

/// Checks that each box has four numbers, and one index of its image.
fn fits_boxes(call: &Call<'_>, boxes: &TensorType) -> Outcome {
    let [crops, corners] = &*boxes.shape else {
        return needs_rank(call, 1, boxes, 2, "boxes, corners");
    };
    has_size(call, (1, 1, corners), 4, "a box has four numbers: y1, x1, y2, x2")?;
    match &*call.tensor(2)?.shape {
        [of] => same_size(call, (2, 0, of), (1, 0, crops), "each box has one index"),
        _ => Ok(()),
    }
}

fn affine_grid(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let (operator, name) = (call.operator(), call.name(0));
    let [batch, rows, columns] = &*data.shape else {
        return needs_rank(call, 0, &data, 3, "batch, 2, 3");
    };
    for (axis, dim, expected) in [(1, rows, 2), (2, columns, 3)] {
        if !may_equal(dim, &Dim::known(expected)) {
            return Reason::new(
                Code::ShapeMismatch,
                text!(
                    "`{operator}`: axis {axis} of {name} must have {expected} elements, but it has \
                     {dim}"
                ),
            )
            .rule("an affine map of the plane is a matrix of 2 rows and 3 columns")
            .axis(0, axis, dim)
            .fail();
        }
    }
    let target = list_attr(call, "target_shape")?;
    let [height, width] = &*target else {
        let found = count(target.len(), "value", "values");
        return Reason::new(
            Code::AttributeLength,
            text!("`{operator}`: `target_shape` has {found}, expected 2"),
        )
        .rule("`target_shape` is the height and the width of the grid")
        .attribute("target_shape", found)
        .fail();
    };
    call.lenient(at_least(call, "target_shape", 2))?;
    let shape = [batch.clone(), Dim::known(2), height.clone(), width.clone()];
    call.output_tensor(shape, data.dtype)
}

fn grid_sample(call: &mut Call<'_>) -> Outcome {
    let (data, grid) = (call.tensor(0)?, call.tensor(1)?);
    let layout = layout_attr(call, "layout")?;
    let rank = data.rank();
    let base = match rank {
        4 => "NCHW",
        5 => "NCDHW",
        _ => {
            return Reason::new(
                Code::RankMismatch,
                text!(
                    "`{}`: {} must have 4 axes or 5, but it has {rank}",
                    call.operator(),
                    call.name(0)
                ),
            )
            .rule("images are in the layout \"NCHW\", volumes in \"NCDHW\", or an order of these")
            .argument(0, axes(rank))
            .undecided();
        }
    };
    let base_layout = Layout::parse(base).map_err(|_| Halt::Silent)?;
    needs_axes(call, "layout", layout, &base_layout)?;
    let Some(sizes) = grid.shape.get(2..rank) else {
        let (operator, name, found) = (call.operator(), call.name(1), grid.rank());
        return Reason::new(
            Code::RankMismatch,
            text!(
                "`{operator}`: {name} must have {rank} axes as {} has, but it has {found}",
                call.name(0)
            ),
        )
        .rule(text!(
            "{name} has a coordinate for each axis of an image, for each element of the result: \
             `(batch, {}, {})`",
            rank - 2,
            if rank == 4 { "height, width" } else { "depth, height, width" }
        ))
        .argument(1, axes(found))
        .argument(0, axes(rank))
        .fail();
    };
    let shape = with_sizes(call, &data, "layout", base, sizes)?;
    call.lenient(fits_grid(call, (&data, &grid), base))?;
    call.output_tensor(shape, data.dtype)
}

/// Checks that the layout is supported, and that the grid has a coordinate for each
/// spatial axis and is as large as the batch.
fn fits_grid(
    call: &Call<'_>,
    (data, grid): (&TensorType, &TensorType),
    base: &'static str,
) -> Outcome {
    let layout = call.attrs().str("layout");
    if layout != base {
        return fault(
            call,
            Code::AttributeValue,
            text!("the layout \"{layout}\" is not supported"),
        )
        .rule(text!("only \"{base}\" is supported"))
        .attribute("layout", text!("\"{layout}\""))
        .help("convert the data with `layout_transform`")
        .fail();
    }
    let rank = data.rank();
    if grid.rank() != rank {
        return needs_rank(call, 1, grid, rank, "batch, coordinates, and the axes of the result");
    }
    let rule = "each image of the batch has a grid";
    same_size(call, (1, 0, &grid.shape[0]), (0, 0, &data.shape[0]), rule)?;
    let rule = "the grid has a coordinate for each spatial axis of the data";
    has_size(call, (1, 1, &grid.shape[1]), rank as i64 - 2, rule)?;
    if rank == 5 && call.attrs().str("method") == "bicubic" {
        return fault(call, Code::AttributeValue, "volumes cannot be sampled with \"bicubic\"")
            .rule("the methods for volumes are \"nearest\" and \"bilinear\"")
            .attribute("method", "\"bicubic\"")
            .fail();
    }
    Ok(())
}

fn dilation2d(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let (nchw, ihw) = (Layout::parse("NCHW"), Layout::parse("IHW"));
    let (Ok(nchw), Ok(ihw)) = (nchw, ihw) else { return Err(Halt::Silent) };
    let layout = needs_axes(call, "data_layout", layout_attr(call, "data_layout")?, &nchw)?;
    let kernel = layout_attr(call, "kernel_layout")?;
    let kernel = needs_axes(call, "kernel_layout", kernel, &ihw)?;
    let image = in_layout(call, 0, &data, &layout, &nchw)?;
    let weight = call.tensor(1)?;
    let window = in_layout(call, 1, &weight, &kernel, &ihw)?;
    let (dilations, strides): ([Dim; 2], [Dim; 2]) = (
        leading(call, "dilations", "a factor for the height and one for the width")?,
        leading(call, "strides", "a step for the height and one for the width")?,
    );
    for name in ["dilations", "strides", "padding"] {
        integers(call, name)?;
    }
    let padding = padding(call, "padding", 2)?;
    let (Some(batch), Some(channels)) = (image.first(), window.first()) else {
        return Err(Halt::Silent);
    };
    let rule = "each channel has one kernel";
    let (c, k) = (layout.index_of('C'), kernel.index_of('I'));
    if let (Some(c), Some(k)) = (c, k) {
        call.lenient(same_size(call, (1, k, channels), (0, c, &image[1]), rule))?;
    }
    for name in ["dilations", "strides"] {
        call.lenient(at_least(call, name, 1))?;
    }
    let mut shape: Shape = [batch.clone(), channels.clone()].into_iter().collect();
    for (axis, letter) in ['H', 'W'].into_iter().enumerate() {
        let size = &image[2 + axis];
        if size.is_any() {
            shape.push(Dim::Any);
            continue;
        }
        if strides[axis].is(0) {
            return Reason::new(
                Code::AttributeValue,
                text!("`{}`: `strides` must not be 0", call.operator()),
            )
            .rule("the sizes of the result are divided by `strides`")
            .attribute("strides", "0")
            .fail();
        }
        let reach = (&window[1 + axis] - 1) * dilations[axis].clone() + 1;
        shape.push((size + &padding[axis] - reach.clone()) / strides[axis].clone() + 1);
        let at = layout.index_of(letter).unwrap_or(2 + axis);
        let window = Window { axis: at, letter, size, pad: &padding[axis], reach: &reach };
        call.lenient(window.fits(call, &shape[2 + axis]))?;
    }
    let dtype = dtype_or(call, "out_dtype", data.dtype);
    let Some(shape) = nchw.convert(&shape, &layout) else { return Err(Halt::Silent) };
    call.output_tensor(shape, dtype)
}
