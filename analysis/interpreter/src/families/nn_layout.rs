//! Operators that move data: layouts, padding, blocks to channels or batches, upsampling.

mod blocks;
mod pad;
mod resize;

pub(super) use pad::pad_by;
pub(super) use resize::upsampling;

use super::{layouts, prelude::*};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("auto_scheduler_layout_transform", auto_scheduler),
    kernel("layout_transform", |c| {
        let (from, to) = (c.str("src_layout"), c.str("dst_layout"));
        let (shape, dtype) = c.result()?;
        c.allow(&shape, dtype)?;
        Ok(layouts::convert(c, c.tensor(0)?, from, to)?.into())
    }),
    absent(
        "meta_schedule_layout_transform",
        "its index map is a TIR program, which is not supported",
    ),
    kernel("nn.batch_to_space_nd", blocks::batch_to_space_nd),
    kernel("nn.depth_to_space", blocks::depth_to_space),
    kernel("nn.dilate", pad::dilate),
    kernel("nn.mirror_pad", pad::mirror_pad),
    kernel("nn.pad", pad::pad),
    kernel("nn.space_to_batch_nd", blocks::space_to_batch_nd),
    kernel("nn.space_to_depth", blocks::space_to_depth),
    kernel("nn.upsampling", |c| {
        let factors = [c.float("scale_h")?, c.float("scale_w")?];
        upsampling(c, b"HW", &factors, f64::round_ties_even)
    }),
    kernel("nn.upsampling3d", |c| {
        let factors = [c.float("scale_d")?, c.float("scale_h")?, c.float("scale_w")?];
        upsampling(c, b"DHW", &factors, f64::round_ties_even)
    }),
];

/// The axes of a layout of the auto-scheduler, `"8O64I8O"`: letters and sizes.
fn sized_axes(layout: &str) -> Vec<(String, usize)> {
    let mut axes: Vec<(String, usize)> = Vec::new();
    let mut size = 0usize;
    for letter in layout.chars() {
        match letter.to_digit(10) {
            Some(digit) => {
                size = size.saturating_mul(10).saturating_add(digit as usize);
            }
            // Letters without a size between them name one axis.
            None if size == 0 && !axes.is_empty() => {
                if let Some((name, _)) = axes.last_mut() {
                    name.push(letter);
                }
            }
            None => axes.push((letter.into(), std::mem::take(&mut size))),
        }
    }
    axes
}

/// Splits each axis of the source into the blocks of that name in the result, outermost first.
fn auto_scheduler(call: &mut Call<'_>) -> Outcome {
    let (from, to) = (call.str("src_layout"), call.str("dst_layout"));
    let data = call.tensor(0)?;
    let (source, target) = (sized_axes(from), sized_axes(to));
    let mut order = repeated(0usize, target.len());
    let mut apart = Vec::new();
    for (name, _) in &source {
        for (at, (_, size)) in target.iter().enumerate().filter(|(_, axis)| axis.0 == *name) {
            order[at] = apart.len();
            apart.push(*size);
        }
    }
    let sizes: usize = apart.iter().product();
    if apart.len() != target.len() || source.len() != data.rank() || sizes != data.len() {
        return Err(call.fault(format_args!(
            "a tensor of shape {:?} in layout `{from}` cannot be converted to `{to}`",
            data.shape()
        )));
    }
    Ok(call.reshaped(data.clone(), &apart)?.permuted(&order).into())
}

/// The pairs of an attribute that holds a list of them.
fn pairs(call: &Call<'_>, name: &str) -> Result<Vec<(i64, i64)>, Fault> {
    let lists = call.attrs().get(name).as_list().unwrap_or_default();
    let pair = |list: &types::AttrValue| match list.as_list() {
        Some([before, after, ..]) => before.as_int().zip(after.as_int()),
        _ => None,
    };
    let pairs: Option<Vec<(i64, i64)>> = lists.iter().map(pair).collect();
    pairs.ok_or_else(|| call.fault(format_args!("`{name}` has no value that could be used")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_with_sizes() {
        let axes = |layout: &str| -> Vec<(String, usize)> { sized_axes(layout) };
        assert_eq!(axes("8O64I8o"), [("O".into(), 8), ("I".into(), 64), ("o".into(), 8)]);
        assert_eq!(axes(""), []);
    }
}
