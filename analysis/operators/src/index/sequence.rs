//! Operators on sequences: reversing, masking, Fourier transforms.

use crate::prelude::*;

const TRANSFORM: Cost = Cost::Undefined("it depends on the algorithm of the Fourier transform");

pub(crate) static OPERATORS: &[Operator] = &[
    op("dft", &["re_data", "im_data"])
        .in_category(Category::Product)
        .data(&["im_data"])
        .since(12)
        .detached_attrs(&DFT)
        .rule("DFT", dft)
        .cost(TRANSFORM)
        .doc(Doc {
            summary: "Computes the discrete Fourier transform along the last axis, or its inverse.",
            args: &["the real part: any tensor", "the imaginary part: a tensor of the same shape"],
            shape: "a tuple of the types of the two arguments",
            example: "dft(%re, %im)",
        }),
    op("reverse_sequence", &["data", "seq_lengths"])
        .controls(&["seq_lengths"])
        .since(7)
        .attrs(&REVERSE_SEQUENCE)
        .rule("ReverseSequence", reverse_sequence)
        .cost(Cost::Free)
        .doc(Doc {
            summary: "Reverses the first elements of each sequence of a batch, as many as its \
                      length.",
            args: &[
                "a tensor with an axis of sequences and an axis of the elements of a sequence",
                "`(batch,)` signed integers: the length of each sequence",
            ],
            shape: "the shape of `data`",
            example: "reverse_sequence(%x, %lengths, seq_axis=1, batch_axis=0)",
        }),
    op("sequence_mask", &["data", "valid_length"])
        .in_category(Category::Movement)
        .controls(&["valid_length"])
        .since(6)
        .attrs(&SEQUENCE_MASK)
        .rule("SequenceMask", sequence_mask)
        .cost(Cost::Elementwise)
        .doc(Doc {
            summary: "Replaces the elements after the end of each sequence of a batch by \
                      `mask_value`.",
            args: &[
                "`(length, batch, …)` where `axis` is 0, `(batch, length, …)` where it is 1",
                "`(batch,)`: the length of each sequence",
            ],
            shape: "the shape of `data`",
            example: "sequence_mask(%x, %lengths, mask_value=0f, axis=1)",
        }),
    op("stft", &["data", "window"])
        .python("data n_fft hop_length win_length window normalized onesided")
        .since(9)
        .detached_attrs(&STFT)
        .rule("stft", stft)
        .cost(TRANSFORM)
        .doc(Doc {
            summary: "Computes the short-time Fourier transform, over overlapping windows.",
            args: &["`(length,)` or `(batch, length)`", "`(win_length,)`: the window function"],
            shape: "`(batch, n_fft / 2 + 1, (length - n_fft) / hop_length + 1, 2)`, without \
                    `batch` for one signal, and with `n_fft` frequencies unless `onesided`",
            example: "stft(%x, %window, n_fft=400, hop_length=160, win_length=400, \
                      attrs_type_key=\"relay.attrs.StftAttrs\")",
        }),
];

fn dft(call: &mut Call<'_>) -> Outcome {
    let (re, im) = (call.require_tensor(0)?, call.require_tensor(1)?);
    call.lenient(same_shape(call, (1, &im.shape), (0, &re.shape)))?;
    if re.dtype != im.dtype {
        call.lenient(dtype_mismatch(call, (0, re.dtype), (1, im.dtype)))?;
    }
    if re.rank() == 0 {
        call.lenient(wrong_rank(call, 0, 0, "a vector or a tensor of more axes"))?;
    }
    call.output(Type::tuple([Type::Tensor(re), Type::Tensor(im)]))
}

fn reverse_sequence(call: &mut Call<'_>) -> Outcome {
    let (data, lengths) = (call.require_tensor(0)?, call.require_tensor(1)?);
    if lengths.rank() != 1 {
        return wrong_rank(call, 1, lengths.rank(), "a vector");
    }
    if !lengths.dtype.is_int() {
        return not_integers(call, 1, lengths.dtype);
    }
    let batch = axis_attr(call, "batch_axis", 0, data.rank())?;
    axis_attr(call, "seq_axis", 0, data.rank())?;
    let (found, expected) = (&lengths.shape[0], &data.shape[batch]);
    if !may_equal(found, expected) {
        return fault(
            call,
            Code::ShapeMismatch,
            text!(
                "{} has {found} values, but axis {batch} of {} has size {expected}",
                call.name(1),
                call.name(0)
            ),
        )
        .rule("each sequence has one length, and `batch_axis` counts the sequences")
        .axis(1, 0, found)
        .axis(0, batch, expected)
        .fail();
    }
    call.output_same(0)
}

fn sequence_mask(call: &mut Call<'_>) -> Outcome {
    let (data, lengths) = (call.require_tensor(0)?, call.require_tensor(1)?);
    let axis = int_attr(call, "axis")?;
    let Some(batch) = (0..2).contains(&axis).then(|| 1 - axis as usize) else {
        return fault(call, Code::AttributeValue, text!("sequences cannot lie along axis {axis}"))
            .rule("`axis` is 0 for `(length, batch, …)` and 1 for `(batch, length, …)`")
            .attribute("axis", text!("{axis}"))
            .fix("axis", 0)
            .fail();
    };
    let name = call.name(0);
    let Some(size) = data.shape.get(batch) else {
        let message = text!("{name} has {}, and no axis {batch}", axes(data.rank()));
        return fault(call, Code::RankMismatch, message)
            .rule(text!("with `axis={axis}` the sequences are counted by axis {batch}"))
            .argument(0, axes(data.rank()))
            .fail();
    };
    if lengths.rank() != 1 {
        return wrong_rank(call, 1, lengths.rank(), "a vector");
    }
    let found = &lengths.shape[0];
    if !may_equal(found, size) {
        return fault(
            call,
            Code::ShapeMismatch,
            text!(
                "{} has {found} values, but axis {batch} of {name} has size {size}",
                call.name(1)
            ),
        )
        .rule(text!(
            "each sequence has one length, and with `axis={axis}` axis {batch} counts \
             them"
        ))
        .axis(1, 0, found)
        .axis(0, batch, size)
        .fail();
    }
    call.assign(1, TensorType::new([size.clone()], lengths.dtype))?;
    call.output_same(0)
}

fn stft(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    needs_attrs(call, "relay.attrs.StftAttrs")?;
    let (points, hop) = (int_attr(call, "n_fft")?, int_attr(call, "hop_length")?);
    let time = usize::from(data.rank() == 2);
    let Some(length) = data.shape.get(time) else {
        return wrong_rank(call, 0, data.rank(), "a signal `(length,)` or `(batch, length)`");
    };
    if hop == 0 && !length.is_any() {
        return fault(call, Code::AttributeValue, "windows cannot be moved in steps of 0")
            .rule("`hop_length` is the distance between two windows")
            .attribute("hop_length", "0")
            .fail();
    }
    let frequencies = if call.attrs().bool("onesided") { points / 2 + 1 } else { points };
    let mut shape: Shape = data.shape[..time].iter().cloned().collect();
    shape.push(Dim::known(frequencies));
    shape.push((length - points) / hop + 1);
    shape.push(Dim::known(2));
    call.output_tensor(shape, data.dtype)
}
