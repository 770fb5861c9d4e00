//! Moving blocks of the spatial axes to channels or batches.

use super::pairs;
use crate::families::{
    index::slice::{Cut, cut},
    layouts,
    prelude::*,
};

/// The block size and the data in NCHW.
fn blocked(call: &Call<'_>) -> Result<(usize, Tensor), Fault> {
    let Some(block) = usize::try_from(call.int("block_size")?).ok().filter(|&block| block > 0)
    else {
        return Err(call.fault("`block_size` must be 1 or more"));
    };
    let data = layouts::convert(call, call.tensor(0)?, call.str("layout"), "NCHW")?;
    if data.rank() != 4 {
        return Err(call.fault(format_args!("the data has {} axes, not 4", data.rank())));
    }
    Ok((block, data))
}

/// The part of an axis that fills whole blocks.
fn trimmed(call: &Call<'_>, data: &Tensor, blocks: &[usize]) -> Result<Tensor, Fault> {
    let front = |(&size, &block): (&usize, &usize)| Cut::whole(size / block.max(1) * block);
    let cuts: Vec<Cut> = data.shape().iter().zip(blocks).map(front).collect();
    if cuts.iter().zip(data.shape()).all(|(cut, &size)| cut.count == size) {
        return Ok(data.clone());
    }
    cut(call, data, &cuts)
}

pub(super) fn space_to_depth(call: &mut Call<'_>) -> Outcome {
    let (block, data) = blocked(call)?;
    let data = trimmed(call, &data, &[1, 1, block, block])?;
    let &[n, c, h, w] = data.shape() else { return Err(call.fault("the data must have 4 axes")) };
    let apart = call.reshaped(data, &[n, c, h / block, block, w / block, block])?;
    // The position in the block is the outer part of the new channel.
    let blocks = apart.permuted(&[0, 3, 5, 1, 2, 4]);
    let image = call.reshaped(
        blocks,
        &[n, c.saturating_mul(block.saturating_mul(block)), h / block, w / block],
    )?;
    Ok(layouts::convert(call, &image, "NCHW", call.str("layout"))?.into())
}

pub(super) fn depth_to_space(call: &mut Call<'_>) -> Outcome {
    let (block, data) = blocked(call)?;
    let data = trimmed(call, &data, &[1, block.saturating_mul(block), 1, 1])?;
    let &[n, c, h, w] = data.shape() else { return Err(call.fault("the data must have 4 axes")) };
    let kept = c / block.saturating_mul(block);
    let apart = if call.str("mode") == "DCR" {
        let apart = call.reshaped(data, &[n, block, block, kept, h, w])?;
        apart.permuted(&[0, 3, 4, 1, 5, 2])
    } else {
        let apart = call.reshaped(data, &[n, kept, block, block, h, w])?;
        apart.permuted(&[0, 1, 4, 2, 5, 3])
    };
    let image =
        call.reshaped(apart, &[n, kept, h.saturating_mul(block), w.saturating_mul(block)])?;
    Ok(layouts::convert(call, &image, "NCHW", call.str("layout"))?.into())
}

/// The sizes of the blocks.
fn block_shape(call: &Call<'_>, rank: usize) -> Result<Vec<usize>, Fault> {
    let size = |&size: &i64| match usize::try_from(size) {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(call.fault(format_args!("{size} is not a valid block size"))),
    };
    let blocks = call.ints("block_shape")?.iter().map(size).collect::<Result<Vec<_>, Fault>>()?;
    if blocks.len() >= rank {
        return Err(
            call.fault(format_args!("there are {} block sizes, but {rank} axes", blocks.len()))
        );
    }
    Ok(blocks)
}

pub(super) fn space_to_batch_nd(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let blocks = block_shape(call, data.rank())?;
    let mut widths = vec![(0, 0)];
    widths.extend(pairs(call, "paddings")?);
    widths.resize(data.rank(), (0, 0));
    let value = Tensor::scalar(call.float("pad_value")?);
    let padded = super::pad::padded(call, data, &widths, value, "constant")?;
    let mut apart = vec![padded.shape()[0]];
    let mut order: Vec<usize> = (0..blocks.len()).map(|axis| 2 + 2 * axis).collect();
    order.push(0);
    let whole = blocks.iter().fold(1usize, |product, &block| product.saturating_mul(block));
    let mut shape = vec![padded.shape()[0].saturating_mul(whole)];
    for (axis, &size) in padded.shape().iter().enumerate().skip(1) {
        match blocks.get(axis - 1) {
            Some(&block) => {
                if size % block != 0 {
                    return Err(call.fault(format_args!(
                        "axis {axis} has {size} elements with its padding, which blocks of \
                         {block} do not divide"
                    )));
                }
                order.push(apart.len());
                apart.extend([size / block, block]);
                shape.push(size / block);
            }
            None => {
                order.push(apart.len());
                apart.push(size);
                shape.push(size);
            }
        }
    }
    let blocks = call.reshaped(padded, &apart)?.permuted(&order);
    Ok(call.reshaped(blocks, &shape)?.into())
}

pub(super) fn batch_to_space_nd(call: &mut Call<'_>) -> Outcome {
    let data = call.tensor(0)?;
    let blocks = block_shape(call, data.rank())?;
    let crops = pairs(call, "crops")?;
    let [batch, sizes @ ..] = data.shape() else {
        return Err(call.fault("the data has no batch axis"));
    };
    let whole = blocks.iter().fold(1usize, |product, &block| product.saturating_mul(block));
    if batch % whole != 0 {
        return Err(call
            .fault(format_args!("{batch} batches are not a multiple of the block size {whole}")));
    }
    let count = blocks.len();
    let mut apart = blocks.clone();
    apart.push(batch / whole);
    apart.extend(sizes);
    let mut order = vec![count];
    let mut shape = vec![batch / whole];
    let mut cuts = vec![Cut::whole(batch / whole)];
    for (axis, &size) in sizes.iter().enumerate() {
        order.push(count + 1 + axis);
        let Some(&block) = blocks.get(axis) else {
            shape.push(size);
            cuts.push(Cut::whole(size));
            continue;
        };
        order.push(axis);
        let size = size.saturating_mul(block);
        shape.push(size);
        let (before, after) = crops.get(axis).copied().unwrap_or((0, 0));
        let mut kept = Cut::whole(size);
        match (usize::try_from(before), usize::try_from(after)) {
            (Ok(before), Ok(after)) if before.saturating_add(after) <= size => {
                (kept.begin, kept.count) = (before, size - before - after);
            }
            _ => {
                return Err(call.fault(format_args!(
                    "{before} and {after} elements cannot be cropped from {size}"
                )));
            }
        }
        cuts.push(kept);
    }
    let space = call.reshaped(data.clone(), &apart)?.permuted(&order);
    Ok(cut(call, &call.reshaped(space, &shape)?, &cuts)?.into())
}
