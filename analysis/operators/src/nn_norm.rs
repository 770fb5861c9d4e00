//! Activations, normalizations and losses.

mod loss;

use crate::prelude::*;

pub(crate) static OPERATORS: &[Operator] = &[
    op("nn.batch_norm", &["data", "gamma", "beta", "moving_mean", "moving_var"]).in_category(Category::Normalization)
        .attrs(&BATCH_NORM)
        .rule("BatchNorm", batch_norm)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "Normalizes each channel by the running mean and variance, then scales by \
                      `gamma` and shifts by `beta`.",
            args: &[
                "a tensor with `k` channels on axis `axis`",
                "`(k,)`: the scale of each channel",
                "`(k,)`: an offset for each channel",
                "`(k,)`: the mean of each channel",
                "`(k,)`: the variance of each channel",
            ],
            shape: "a tuple of three: the shape of `data`, and twice `(k,)` for the mean and the \
                    variance",
            example: "nn.batch_norm(%x, %gamma, %beta, %mean, %var, axis=1)",
        }),
    op("nn.bias_add", &["data", "bias"])
        .attrs(&BIAS_ADD)
        .rule("BiasAdd", bias_add)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Adds a vector along one axis of a tensor.",
            args: &["a tensor with `k` elements on axis `axis`", "`(k,)`"],
            shape: "the shape of `data`",
            example: "nn.bias_add(%x, %bias, axis=-1)",
        }),
    op("nn.cross_entropy", &["x", "y"]).data(&["y"]).since(6)
        .rule("CrossEntropy", loss::cross_entropy)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "The mean cross entropy of predicted probabilities against target \
                      distributions.",
            args: &["`(batch, classes)`: probabilities", "`(batch, classes)`: targets"],
            shape: "a scalar",
            example: "nn.cross_entropy(%probabilities, %targets)",
        }),
    op("nn.cross_entropy_with_logits", &["x", "y"]).data(&["y"]).since(6)
        .rule("CrossEntropy", loss::cross_entropy)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "The mean cross entropy of predicted log-probabilities against target \
                      distributions.",
            args: &["`(batch, classes)`: log-probabilities", "`(batch, classes)`: targets"],
            shape: "a scalar",
            example: "nn.cross_entropy_with_logits(%logits, %targets)",
        }),
    op("nn.dropout", &["data"]).in_category(Category::Normalization).attrs(&DROPOUT).rule("Dropout", dropout).cost(Cost::Reduction).doc(
        Doc {
            summary: "Sets random elements to zero in training; removed by simplification for inference.",
            args: &["any tensor"],
            shape: "a tuple of two: the result and the mask, both with the shape of `data`",
            example: "nn.dropout(%x, rate=0.1f).0",
        },
    ),
    op("nn.fast_softmax", &["data"]).in_category(Category::Activation).since(8)
        .attrs(&SOFTMAX)
        .rule("Softmax", softmax)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "`nn.softmax` with an approximate exponential.",
            args: &["a tensor that has axis `axis`"],
            shape: "the shape of `data`",
            example: "nn.fast_softmax(%x, axis=-1)",
        }),
    op("nn.group_norm", &["data", "gamma", "beta"]).in_category(Category::Normalization).since(7)
        .attrs(&GROUP_NORM)
        .rule("GroupNorm", group_norm)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Splits the channels into `num_groups` groups and normalizes each group of \
                      each sample by its own mean and variance.",
            args: &[
                "a tensor with `k` channels on axis `axis`",
                "`(k,)`: the scale of each channel",
                "`(k,)`: an offset for each channel",
            ],
            shape: "the shape of `data`",
            example: "nn.group_norm(%x, %gamma, %beta, num_groups=8)",
        }),
    op("nn.instance_norm", &["data", "gamma", "beta"]).in_category(Category::Normalization).since(6)
        .attrs(&INSTANCE_NORM)
        .rule("InstanceNorm", instance_norm)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Normalizes each channel of each sample by its own mean and variance.",
            args: &[
                "a tensor of 3 or more axes with `k` channels on axis `axis`",
                "`(k,)`: the scale of each channel",
                "`(k,)`: an offset for each channel",
            ],
            shape: "the shape of `data`",
            example: "nn.instance_norm(%x, %gamma, %beta)",
        }),
    op("nn.l2_normalize", &["data"]).in_category(Category::Normalization)
        .attrs(&L2_NORMALIZE)
        .rule("Identity", l2_normalize)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Divides by the Euclidean norm over the axes `axis`, clipped to at least `√eps`.",
            args: &["any tensor"],
            shape: "the shape of `data`",
            example: "nn.l2_normalize(%x, eps=1e-5f, axis=[1])",
        }),
    op("nn.layer_norm", &["data", "gamma", "beta"]).in_category(Category::Normalization).since(6)
        .attrs(&LAYER_NORM)
        .rule("LayerNorm", channel_norm)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Normalizes over one axis by the mean and variance of that axis, then scales \
                      by `gamma` and shifts by `beta`.",
            args: &[
                "a tensor with `k` elements on axis `axis`",
                "`(k,)`: the scale of each element of the axis",
                "`(k,)`: an offset for each element of the axis",
            ],
            shape: "the shape of `data`",
            example: "nn.layer_norm(%x, %gamma, %beta, axis=-1)",
        }),
    op("nn.leaky_relu", &["data"]).in_category(Category::Activation)
        .attrs(&LEAKY_RELU)
        .rule("Identity", leaky_relu)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "`data` where it is positive, `alpha · data` elsewhere.",
            args: &["any tensor"],
            shape: "the shape of `data`",
            example: "nn.leaky_relu(%x, alpha=0.1f)",
        }),
    op("nn.log_softmax", &["data"]).in_category(Category::Activation)
        .attrs(&SOFTMAX)
        .rule("Softmax", softmax)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "The logarithm of `nn.softmax`, computed without overflow.",
            args: &["a tensor that has axis `axis`"],
            shape: "the shape of `data`",
            example: "nn.log_softmax(%x, axis=-1)",
        }),
    op("nn.lrn", &["data"]).in_category(Category::Normalization).attrs(&LRN).rule("Identity", lrn).cost(Cost::Elementwise).doc(Doc {
        summary: "Divides each element by a power of the sum of squares of its `size` \
                      neighbours along `axis` (local response normalization).",
        args: &["any tensor"],
        shape: "the shape of `data`",
        example: "nn.lrn(%x, size=5, axis=1)",
    }),
    op("nn.nll_loss", &["predictions", "targets", "weights"]).data(&["targets"]).since(8)
        .attrs(&NLL_LOSS)
        .rule("NLLLoss", loss::nll_loss)
        .cost(Cost::Reduction)
        .doc(Doc {
            summary: "The negative log likelihood of the target classes, each weighted by its \
                      class.",
            args: &[
                "`(n, classes, d1, …, dk)`: log-probabilities",
                "`(n, d1, …, dk)`: the class of each position, of an integer type",
                "`(classes,)`: a weight for each class, of the type of `predictions`",
            ],
            shape: "a scalar; the shape of `targets` with `reduction=\"none\"`",
            example: "nn.nll_loss(%log_p, %target, %w, reduction=\"mean\", ignore_index=-100)",
        }),
    op("nn.prelu", &["data", "alpha"]).in_category(Category::Activation)
        .attrs(&P_RELU)
        .rule("PRelu", prelu)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "`data` where it is positive, `alpha · data` elsewhere, with an `alpha` per \
                      channel.",
            args: &["a tensor with `k` channels on axis `axis`", "`(k,)`"],
            shape: "the shape of `data`",
            example: "nn.prelu(%x, %alpha, axis=1)",
        }),
    op("nn.relu", &["data"]).in_category(Category::Activation).rule("Identity", same_tensor).cost(Cost::Elementwise).doc(Doc {
        summary: "Elementwise maximum of `data` and 0.",
        args: &["any tensor"],
        shape: "the shape of `data`",
        example: "nn.relu(%x)",
    }),
    op("nn.softmax", &["data"]).in_category(Category::Activation)
        .attrs(&SOFTMAX)
        .rule("Softmax", softmax)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Exponentials divided by their sum along one axis.",
            args: &["a tensor that has axis `axis`"],
            shape: "the shape of `data`",
            example: "nn.softmax(%x, axis=-1)",
        }),
];

/// Checks that the argument at `position` is a vector with one element per channel of `data`, which
/// are on `axis`, and with the same data type.
fn channel_vector(call: &mut Call<'_>, position: usize, data: &TensorType, axis: usize) -> Outcome {
    let Some(size) = data.shape.get(axis) else { return Err(Halt::Silent) };
    let (operator, name) = (call.operator(), call.name(position));
    if let Type::Tensor(vector) = call.ty(position) {
        let rank = vector.rank();
        let rule = || {
            text!(
                "{name} has one element for each of the {size} elements of axis {axis} of {}: it \
                 must be `Tensor[({size}), {}]`",
                call.name(0),
                data.dtype
            )
        };
        if rank != 1 {
            let found = shape_text(&vector.shape);
            return Reason::new(
                Code::RankMismatch,
                text!("`{operator}`: {name} must be a vector, but its shape is `{found}`"),
            )
            .rule(rule())
            .argument(position, axes(rank))
            .axis(0, axis, size)
            .fail();
        }
        if vector.dtype != data.dtype {
            return dtype_mismatch(call, (0, data.dtype), (position, vector.dtype));
        }
        if !may_equal(&vector.shape[0], size) {
            let length = &vector.shape[0];
            let elements = match length {
                length if length.is(1) => Text::from("1 element"),
                length => text!("{length} elements"),
            };
            let reason = Reason::new(
                Code::ShapeMismatch,
                text!(
                    "`{operator}`: {name} has {elements}, but axis {axis} of {} has {size}",
                    call.name(0)
                ),
            )
            .rule(rule())
            .axis(position, 0, length)
            .axis(0, axis, size);
            return other_axis(reason, data, axis, length).fail();
        }
    }
    call.assign(position, TensorType::new([size.clone()], data.dtype))
}

/// Suggests the axis of `data` that has `length` elements, if there is exactly one.
fn other_axis(reason: Reason, data: &TensorType, axis: usize, length: &Dim) -> Reason {
    let fits = |k: &usize| *k != axis && data.shape[*k].equals(length) == Some(true);
    let mut axes = (0..data.rank()).filter(fits);
    match (axes.next(), axes.next()) {
        (Some(other), None) => reason
            .help(text!("axis {other} has {length} elements: write `axis={other}`"))
            .fix("axis", other),
        _ => reason,
    }
}

fn bias_add(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let axis = axis_attr(call, "axis", 0, data.rank())?;
    channel_vector(call, 1, &data, axis)?;
    call.output_same(0)
}

fn l2_normalize(call: &mut Call<'_>) -> Outcome {
    if call.is_tensor(0) {
        let rank = call.tensor(0)?.rank();
        call.lenient(names_axes(call, "axis", 0, rank))?;
    }
    same_tensor(call)
}

fn lrn(call: &mut Call<'_>) -> Outcome {
    if call.is_tensor(0) {
        let rank = call.tensor(0)?.rank();
        call.lenient(names_axis(call, "axis", 0, rank))?;
    }
    same_tensor(call)
}

fn group_norm(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let axis = axis_attr(call, "axis", 0, data.rank())?;
    call.lenient(not_the_batch(call, axis))?;
    call.lenient(at_least(call, "num_groups", 1))?;
    if let Some(groups) = known_int(call, "num_groups").filter(|&groups| groups > 0) {
        call.lenient(divides(call, ("num_groups", groups), (0, axis, &data.shape[axis])))?;
    }
    channel_norm(call)
}

/// Checks that the channels are not on the batch axis: each batch is normalized separately.
fn not_the_batch(call: &Call<'_>, axis: usize) -> Outcome {
    if axis > 0 {
        return Ok(());
    }
    fault(call, Code::AttributeValue, "`axis` must not be the batch, axis 0")
        .rule("each channel of each batch is normalized separately, so they are different axes")
        .attribute("axis", "axis 0")
        .fail()
}

/// Checks a scale and an offset for each channel; the result has the type of the data.
fn channel_norm(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let axis = axis_attr(call, "axis", 0, data.rank())?;
    channel_vector(call, 1, &data, axis)?;
    channel_vector(call, 2, &data, axis)?;
    call.output_tensor(data.shape.clone(), data.dtype)
}

fn instance_norm(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let rank = data.rank();
    if rank < 3 {
        return Reason::new(
            Code::RankMismatch,
            text!(
                "`{}`: {} must have 3 axes or more, but it has {rank}",
                call.operator(),
                call.name(0)
            ),
        )
        .rule("there must be a batch axis, a channel axis, and at least one axis to normalize over")
        .argument(0, axes(rank))
        .fail();
    }
    let axis = axis_attr(call, "axis", 0, rank)?;
    call.lenient(not_the_batch(call, axis))?;
    channel_norm(call)
}

/// As in TVM, -1 is the only negative axis accepted.
fn batch_norm(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let rank = data.rank();
    let axis = axis_attr(call, "axis", 0, rank)?;
    if call.attrs().int("axis").is_some_and(|written| written < -1) {
        return negative_axis(call, axis, rank, "0 or more, or -1 for the last one");
    }
    for position in 1..=4 {
        channel_vector(call, position, &data, axis)?;
    }
    let Some(size) = data.shape.get(axis) else { return Err(Halt::Silent) };
    let vector = Type::tensor([size.clone()], data.dtype);
    let normed = Type::tensor(data.shape.clone(), data.dtype);
    call.output(Type::tuple([normed, vector.clone(), vector]))
}

/// The failure that a negative axis is not supported.
fn negative_axis<T>(call: &Call<'_>, axis: usize, rank: usize, expected: &str) -> Result<T, Halt> {
    let written = axis as i64 - rank as i64;
    Reason::new(
        Code::AxisOutOfRange,
        text!("`{}` does not accept `axis={written}`", call.operator()),
    )
    .rule(text!("`axis` must be {expected}; {} has {rank} axes", call.name(0)))
    .attribute("axis", text!("{written}"))
    .help(text!("write `axis={axis}`, which is the same axis"))
    .fix("axis", axis)
    .fail()
}

fn dropout(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let ty = Type::tensor(data.shape.clone(), data.dtype);
    call.output(Type::tuple([ty.clone(), ty]))
}

/// TVM rejects a negative slope when it parses the attributes.
fn leaky_relu(call: &mut Call<'_>) -> Outcome {
    if let Some(alpha) = call.attrs().float("alpha").filter(|&alpha| alpha < 0.0) {
        return Reason::new(
            Code::AttributeValue,
            text!("`{}`: `alpha` must not be negative, but it is {alpha}", call.operator()),
        )
        .rule("`alpha` is the slope below 0: 0 or more")
        .attribute("alpha", text!("{alpha}"))
        .fail();
    }
    same_tensor(call)
}

fn softmax(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    axis_attr(call, "axis", 0, data.rank())?;
    call.output_same(0)
}

fn prelu(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let rank = data.rank();
    let axis = axis_attr(call, "axis", 0, rank)?;
    if call.attrs().int("axis").is_some_and(|written| written < 0) {
        return negative_axis(call, axis, rank, "0 or more");
    }
    channel_vector(call, 1, &data, axis)?;
    call.output_tensor(data.shape.clone(), data.dtype)
}
