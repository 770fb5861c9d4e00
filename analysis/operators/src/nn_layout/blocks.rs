//! Blocks of the spatial axes as channels or batches.

use super::pad::not_a_pair;
use crate::prelude::*;

pub(super) fn depth_to_space(call: &mut Call<'_>) -> Outcome {
    sub_pixel(call, |call, _, shape, block| {
        let in_block = block * block;
        if !shape[1].is_any() {
            let channels = shape[1].clone();
            shape[1] = floor_div(call, "block_size", &channels, &in_block)?;
            if shape[1].is(0) && !channels.is(0) {
                warn_of_channels(call, &channels, &in_block);
            }
        }
        shape[2] = &shape[2] * block;
        shape[3] = &shape[3] * block;
        Ok(())
    })
}

pub(super) fn space_to_depth(call: &mut Call<'_>) -> Outcome {
    sub_pixel(call, |call, layout, shape, block| {
        shape[1] = &shape[1] * &(block * block);
        for at in [2, 3] {
            let axis = layout.index_of(if at == 2 { 'H' } else { 'W' }).unwrap_or(at);
            if let Err(Halt::Failed(reason)) =
                whole_blocks(call, "block_size", axis, &shape[at], block)
            {
                // TVM leaves out what is left at the end of the axis.
                call.warn(*reason);
            }
            if !shape[at].is_any() {
                shape[at] = floor_div(call, "block_size", &shape[at], block)?;
            }
        }
        Ok(())
    })
}

/// Changes the shape in NCHW by a block size.
fn sub_pixel(
    call: &mut Call<'_>,
    change: fn(&mut Call<'_>, &Layout, &mut Shape, &Dim) -> Outcome,
) -> Outcome {
    let data = call.tensor(0)?;
    let nchw = Layout::plain("NCHW");
    let layout = needs_axes(call, "layout", layout_attr(call, "layout")?, &nchw)?;
    let mut shape = in_layout(call, 0, &data, &layout, &nchw)?;
    let Some(block) = call.attrs().int("block_size") else { return Err(Halt::Silent) };
    call.lenient(at_least(call, "block_size", 1))?;
    change(call, &layout, &mut shape, &Dim::known(block))?;
    let Some(shape) = nchw.convert(&shape, &layout) else { return Err(Halt::Silent) };
    call.output_tensor(shape, data.dtype)
}

/// Warns that the result is empty.
fn warn_of_channels(call: &mut Call<'_>, channels: &Dim, in_block: &Dim) {
    let (operator, name) = (call.operator(), call.name(0));
    let message = text!(
        "`{operator}`: the result has no channels, since {name} has {channels}, fewer than the \
         {in_block} of a block"
    );
    let reason = Reason::new(Code::DoubtfulCall, message)
        .rule("each block of the result takes `block_size` · `block_size` channels")
        .attribute("block_size", text!("{in_block} channels"));
    call.warn(reason);
}

pub(super) fn space_to_batch_nd(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let blocks = blocks(call, &data, "paddings")?;
    let mut shape = data.shape.clone();
    for (axis, pair) in pairs(call, "paddings")?.into_iter().enumerate() {
        let [before, after] = pair.as_slice() else {
            return not_a_pair(call, "paddings", axis, pair.len());
        };
        let (Some(before), Some(after)) = (before.as_known(), after.as_known()) else {
            return Reason::new(
                Code::AttributeValue,
                text!("`{}`: `paddings` must be known numbers", call.operator()),
            )
            .attribute("paddings", text!("not known in entry {axis}"))
            .fail();
        };
        // TVM takes the integer width of the padding from the axis before.
        let wide = matches!(data.shape[axis], Dim::Known { wide: true, .. });
        let padding = before.checked_add(after).map(|sum| Dim::known(sum).with_width(wide));
        shape[axis + 1] = &shape[axis + 1] + &padding.unwrap_or(Dim::Any);
    }
    call.lenient(at_least(call, "block_shape", 1))?;
    for (axis, (size, block)) in shape[1..].iter().zip(&blocks).enumerate() {
        call.lenient(whole_blocks(call, "block_shape", axis + 1, size, block))?;
    }
    shape[0] = &shape[0] * &product(&blocks);
    for (size, block) in shape[1..].iter_mut().zip(&blocks) {
        *size = trunc_div(call, "block_shape", size, block)?;
    }
    call.output_tensor(shape, data.dtype)
}

pub(super) fn batch_to_space_nd(call: &mut Call<'_>) -> Outcome {
    let data = call.require_tensor(0)?;
    let blocks = blocks(call, &data, "crops")?;
    let crops = pairs(call, "crops")?;
    call.lenient(at_least(call, "block_shape", 1))?;
    call.lenient(whole_blocks(call, "block_shape", 0, &data.shape[0], &product(&blocks)))?;
    if let Some(crop) = crops.iter().flatten().find_map(|crop| crop.as_known().filter(|&n| n < 0)) {
        let check = fault(call, Code::AttributeValue, text!("`crops` contains {crop}"))
            .rule("the cropped number of elements must not be negative")
            .attribute("crops", text!("{crop}"))
            .fail();
        call.lenient(check)?;
    }
    let mut shape = data.shape.clone();
    shape[0] = trunc_div(call, "block_shape", &shape[0], &product(&blocks))?;
    for (axis, (block, pair)) in blocks.iter().zip(&crops).enumerate() {
        let [before, after, ..] = pair.as_slice() else {
            return not_a_pair(call, "crops", axis, pair.len());
        };
        shape[axis + 1] = &(&(&shape[axis + 1] * block) - before) - after;
    }
    call.output_tensor(shape, data.dtype)
}

/// Checks that blocks divide an axis, whose `size` includes the padding.
fn whole_blocks(
    call: &Call<'_>,
    name: &'static str,
    axis: usize,
    size: &Dim,
    block: &Dim,
) -> Outcome {
    match (size.as_known(), block.as_known()) {
        (Some(size), Some(block)) if block > 0 && size % block != 0 => fault(
            call,
            Code::ShapeMismatch,
            text!("axis {axis} of {}, of size {size}, is not a multiple of {block}", call.name(0)),
        )
        .rule("the size of an axis, with its padding, must be a multiple of its blocks")
        .axis(0, axis, size)
        .attribute(name, text!("{block}"))
        .fail(),
        _ => Ok(()),
    }
}

/// Returns the block sizes: one for each pair of `pairs`, and fewer than there are axes.
fn blocks(call: &Call<'_>, data: &TensorType, pairs: &'static str) -> Result<Shape, Halt> {
    let (operator, name, rank) = (call.operator(), call.name(0), data.rank());
    if rank < 2 {
        return Reason::new(
            Code::RankMismatch,
            text!("`{operator}`: {name} must have 2 axes at least, but it has {rank}"),
        )
        .rule("the first axis is the batch, and the axes after it are divided into blocks")
        .argument(0, axes(rank))
        .undecided();
    }
    let blocks = list(call, "block_shape")?;
    let Some(number) = call.attrs().get(pairs).as_list().map(<[AttrValue]>::len) else {
        return Err(Halt::Silent);
    };
    if number != blocks.len() {
        let sizes = blocks.len();
        return Reason::new(
            Code::AttributeLength,
            text!(
                "`{operator}`: `{pairs}` has {}, `block_shape` has {sizes}",
                count(number, "pair", "pairs")
            ),
        )
        .rule(text!("each blocked axis has a size in `block_shape` and a pair in `{pairs}`"))
        .attribute(pairs, count(number, "pair", "pairs"))
        .attribute("block_shape", count(sizes, "value", "values"))
        .fail();
    }
    if number >= rank {
        return Reason::new(
            Code::AttributeLength,
            text!(
                "`{operator}`: `block_shape` has {}, but {name} has {} after the batch",
                count(number, "value", "values"),
                axes(rank - 1)
            ),
        )
        .attribute("block_shape", count(number, "value", "values"))
        .argument(0, axes(rank))
        .fail();
    }
    Ok(blocks)
}

fn pairs(call: &Call<'_>, name: &'static str) -> Result<Vec<Shape>, Halt> {
    let Some(pairs) = call.attrs().get(name).as_list() else { return Err(Halt::Silent) };
    let read = |pair: &AttrValue| match pair.as_list() {
        Some(values) => values.iter().map(|value| whole(call, name, value)).collect(),
        None => Err(Halt::Silent),
    };
    pairs.iter().map(read).collect()
}
