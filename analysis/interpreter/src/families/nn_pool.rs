//! Pooling.

use operators::Layout;

use super::{
    nn_conv::{Walk, cropped, padding, steps},
    prelude::*,
    shape::slice_axis,
};
use crate::convert::{converted, each_wide, widened};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("nn.max_pool1d", |c| pool(c, "NCW", Fold::Max)),
    kernel("nn.max_pool2d", |c| pool(c, "NCHW", Fold::Max)),
    kernel("nn.max_pool3d", |c| pool(c, "NCDHW", Fold::Max)),
    kernel("nn.avg_pool1d", |c| pool(c, "NCW", Fold::Mean)),
    kernel("nn.avg_pool2d", |c| pool(c, "NCHW", Fold::Mean)),
    kernel("nn.avg_pool3d", |c| pool(c, "NCDHW", Fold::Mean)),
    kernel("nn.global_max_pool2d", |c| adaptive(c, "NCHW", Fold::Max, true)),
    kernel("nn.global_avg_pool2d", |c| adaptive(c, "NCHW", Fold::Mean, true)),
    kernel("nn.adaptive_max_pool1d", |c| adaptive(c, "NCW", Fold::Max, false)),
    kernel("nn.adaptive_max_pool2d", |c| adaptive(c, "NCHW", Fold::Max, false)),
    kernel("nn.adaptive_max_pool3d", |c| adaptive(c, "NCDHW", Fold::Max, false)),
    kernel("nn.adaptive_avg_pool1d", |c| adaptive(c, "NCW", Fold::Mean, false)),
    kernel("nn.adaptive_avg_pool2d", |c| adaptive(c, "NCHW", Fold::Mean, false)),
    kernel("nn.adaptive_avg_pool3d", |c| adaptive(c, "NCDHW", Fold::Mean, false)),
    kernel("nn.max_pool2d_grad", |c| gradient(c, Fold::Max)),
    kernel("nn.avg_pool2d_grad", |c| gradient(c, Fold::Mean)),
];

/// The reduction of the elements of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    /// The maximum.
    Max,
    /// The mean.
    Mean,
}

/// The elements of one axis in a window, and the divisor of their mean.
struct Span {
    first: usize,
    count: usize,
    step: usize,
    divisor: f64,
}

/// The windows of an axis.
fn spans(walk: &Walk, after: usize, include_pad: bool) -> Vec<Span> {
    let one = |at: usize| {
        let (from, to, first) = walk.inside(at);
        let divisor = if include_pad {
            // Padding counts, but positions beyond it do not: the mean of a window that
            // `ceil_mode` places there is 0 / 0, which is NaN in TVM as well.
            let start = at.saturating_mul(walk.stride);
            let padded = walk.size.saturating_add(walk.before).saturating_add(after);
            let end = start
                .saturating_add((walk.window - 1).saturating_mul(walk.dilation))
                .min(padded.saturating_sub(1));
            (end as i64 - start as i64) / walk.dilation as i64 + 1
        } else {
            (to - from).max(1) as i64
        };
        Span { first, count: to - from, step: walk.dilation, divisor: divisor as f64 }
    };
    collected((0..walk.count).map(one))
}

/// A tensor with its pooled axes last, which the other axes precede as one.
struct Planes {
    data: Tensor,
    /// The axes of the tensor in the order of `data`.
    order: Vec<usize>,
    /// The sizes of the other axes.
    outer: Vec<usize>,
}

impl Planes {
    /// The planes of a tensor whose pooled axes are the letters after `NC` of `plain`. All other axes,
    /// also blocks of channels, are kept as they are: `out_layout` has no effect, as in TVM.
    fn of(call: &Call<'_>, tensor: &Tensor, plain: &str) -> Result<Planes, Fault> {
        let written = match call.str("layout") {
            "" => plain,
            written => written,
        };
        let layout = Layout::parse(written).map_err(|error| call.fault(error))?;
        let mut order: Vec<usize> = (0..tensor.rank()).collect();
        for letter in plain.chars().skip(2) {
            let Some(axis) = layout.index_of(letter).filter(|&axis| axis < tensor.rank()) else {
                return Err(call.fault(format_args!("the data has no axis {letter} of {written}")));
            };
            order.retain(|&other| other != axis);
            order.push(axis);
        }
        let data = tensor.permuted(&order);
        let (outer, sizes) = data.shape().split_at(order.len() - (plain.len() - 2));
        let mut shape = vec![outer.iter().product()];
        shape.extend_from_slice(sizes);
        let outer = outer.to_vec();
        Ok(Planes { data: call.reshaped(data, &shape)?, order, outer })
    }

    /// Returns planes with the other axes as they were.
    fn restored(&self, call: &Call<'_>, planes: Tensor) -> Outcome {
        let sizes = planes.shape().get(1..).unwrap_or_default();
        let shape = [&self.outer, sizes].concat();
        let mut back = repeated(0usize, self.order.len());
        for (at, &axis) in self.order.iter().enumerate() {
            back[axis] = at;
        }
        Ok(call.reshaped(planes, &shape)?.permuted(&back).into())
    }
}

pub(super) fn pool(call: &mut Call<'_>, plain: &str, fold: Fold) -> Outcome {
    let spatial = plain.len() - 2;
    let planes = Planes::of(call, call.tensor(0)?, plain)?;
    let (data, padding) = cropped(call, planes.data.clone(), &padding(call, spatial)?)?;
    let window = steps(call, "pool_size", spatial)?;
    let (strides, dilations) =
        (steps(call, "strides", spatial)?, steps(call, "dilation", spatial)?);
    let (ceil, include_pad) = (call.bool("ceil_mode"), call.bool("count_include_pad"));
    let mut all = with_capacity(spatial);
    for axis in 0..spatial {
        let size = data.shape()[1 + axis];
        let (before, after) = padding[axis];
        let last = if ceil { strides[axis] - 1 } else { 0 };
        let walk = Walk::new(
            size,
            window[axis],
            (strides[axis], dilations[axis]),
            (before, after.saturating_add(last)),
        );
        all.push(spans(&walk, after, include_pad));
    }
    planes.restored(call, fold_windows(call, &data, &all, fold)?)
}

/// The maxima or means of windows.
fn fold_windows(
    call: &Call<'_>,
    data: &Tensor,
    all: &[Vec<Span>],
    fold: Fold,
) -> Result<Tensor, Fault> {
    let planes = data.shape()[0];
    let sizes: Vec<usize> = data.shape()[1..].to_vec();
    let counts: Vec<usize> = all.iter().map(Vec::len).collect();
    let mut shape = vec![planes];
    shape.extend_from_slice(&counts);
    call.allow(&shape, data.dtype())?;
    let area: usize = sizes.iter().product();
    let places: usize = counts.iter().product();
    let source = widened(data);
    // The value of an empty window is the minimum of the type.
    let lowest = match data.dtype() {
        DataType::FLOAT16 => half::f16::MIN.to_f64(),
        DataType::BFLOAT16 => half::bf16::MIN.to_f64(),
        DataType::FLOAT32 => f64::from(f32::MIN),
        _ => f64::MIN,
    };
    let made = each_wide!(&source, array => {
        let elements = array.as_slice().unwrap_or_default();
        let count = planes * places;
        let mut out = if area > 0 { unspecified(count) } else { repeated(T::default(), count) };
        if places > 0 && area > 0 {
            each_chunk(&mut out, places, 8, &|plane, to| {
                let plane = elements.get(plane * area..(plane + 1) * area).unwrap_or_default();
                if let ([rows, columns], Fold::Max) = (all, fold)
                    && rows.iter().chain(columns).all(|span| span.count > 0)
                    // The result of comparisons with NaN depends on the order.
                    && !plane.iter().fold(false, |nan, x| nan | x.partial_cmp(x).is_none())
                {
                    return largest(plane, sizes[1], (rows, columns), to);
                }
                let mut index = repeated(0usize, all.len());
                for to in to {
                    *to = window::<T>(plane, all, &index, &sizes, fold)
                        .unwrap_or_else(|| <T as Element>::nearest(lowest));
                    super::index::advance(&mut index, &counts);
                }
            });
        } else if fold == Fold::Max {
            out.fill(<T as Element>::nearest(lowest));
        }
        T::tensor(&shape, out)
    }, else None);
    made.and_then(|tensor| converted(tensor, data.dtype()))
        .ok_or_else(|| call.fault("the shapes do not fit"))
}

/// The maxima of windows, none of which is empty: first along rows, then along the other axes.
fn largest<T: Element>(
    plane: &[T],
    width: usize,
    (rows, columns): (&[Span], &[Span]),
    to: &mut [T],
) {
    let larger = |best: T, x: T| if best > x { best } else { x };
    let mut best = repeated(T::default(), width);
    let whole = columns.iter().map(|span| span.count).max().unwrap_or(1);
    let mut across: Vec<T> = with_capacity(width);
    for (span, to) in rows.iter().zip(to.chunks_mut(columns.len().max(1))) {
        for k in 0..span.count {
            let start = (span.first + k * span.step) * width;
            let Some(row) = plane.get(start..start + width) else { continue };
            spend(width);
            if k == 0 {
                best.copy_from_slice(row);
            } else {
                best.iter_mut().zip(row).for_each(|(best, &x)| *best = larger(*best, x));
            }
        }
        // The maxima at every position, independent of the stride.
        let starts = (width + 1).saturating_sub(whole);
        across.clear();
        across.extend_from_slice(best.get(..starts).unwrap_or_default());
        for k in 1..whole {
            spend(width);
            let next = best.get(k..).unwrap_or_default();
            across.iter_mut().zip(next).for_each(|(best, &x)| *best = larger(*best, x));
        }
        for (span, to) in columns.iter().zip(to) {
            if span.count == whole
                && (span.step == 1 || whole == 1)
                && let Some(&best) = across.get(span.first)
            {
                *to = best;
                continue;
            }
            spend(span.count);
            let window = best.get(span.first..).unwrap_or_default();
            let mut window = window.iter().step_by(span.step.max(1)).take(span.count);
            let Some(&first) = window.next() else { continue };
            *to = window.fold(first, |best, &x| larger(best, x));
        }
    }
}

/// One window of a plane; `None` for the maximum of an empty one.
fn window<T: Element>(
    plane: &[T],
    all: &[Vec<Span>],
    index: &[usize],
    sizes: &[usize],
    fold: Fold,
) -> Option<T> {
    let is_float = T::DTYPE.is_float();
    let (&last, outer) = index.split_last()?;
    let row = &all[outer.len()][last];
    let width = sizes[outer.len()];
    let mut tap = [0usize; 4];
    let lines: usize = outer.iter().zip(all).map(|(&at, spans)| spans[at].count).product();
    let divisor: f64 = index.iter().zip(all).map(|(&at, spans)| spans[at].divisor).product();
    let mut best: Option<T> = None;
    let (mut sum, mut whole) = (0f64, 0i64);
    for _ in 0..lines {
        spend(row.count);
        let mut base = 0;
        for (axis, &at) in outer.iter().enumerate() {
            let span = &all[axis][at];
            base = base * sizes[axis] + span.first + tap[axis & 3] * span.step;
        }
        for k in 0..row.count {
            let Some(&x) = plane.get(base * width + row.first + k * row.step) else { continue };
            match fold {
                Fold::Max => {
                    best = Some(match best {
                        Some(best) if best > x => best,
                        _ => x,
                    })
                }
                Fold::Mean if is_float => sum += x.to_f64(),
                Fold::Mean => whole = whole.wrapping_add(x.to_i64()),
            }
        }
        for axis in (0..outer.len()).rev() {
            tap[axis & 3] += 1;
            if tap[axis & 3] < all[axis][outer[axis]].count {
                break;
            }
            tap[axis & 3] = 0;
        }
    }
    match fold {
        Fold::Max => best,
        Fold::Mean if is_float => Some(T::from_f64(sum / divisor)),
        Fold::Mean => Some(T::from_i64(whole / (divisor.max(1.0) as i64))),
    }
}

fn adaptive(call: &mut Call<'_>, plain: &str, fold: Fold, global: bool) -> Outcome {
    let spatial = plain.len() - 2;
    let planes = Planes::of(call, call.tensor(0)?, plain)?;
    let wanted = if global { Default::default() } else { call.ints("output_size")? };
    let mut all = with_capacity(spatial);
    for axis in 0..spatial {
        let size = planes.data.shape()[1 + axis];
        let count = match wanted.as_slice() {
            [] if global => 1,
            [] => size,
            [one] => usize::try_from(*one).unwrap_or(0),
            many => many.get(axis).and_then(|&n| usize::try_from(n).ok()).unwrap_or(0),
        };
        let span = |at: usize| {
            let first = at * size / count;
            let end = ((at + 1) * size).div_ceil(count);
            Span { first, count: end - first, step: 1, divisor: (end - first) as f64 }
        };
        all.push(collected((0..count).map(span)));
    }
    planes.restored(call, fold_windows(call, &planes.data, &all, fold)?)
}

/// The gradient of pooling: each element of the incoming gradient is added to the maximum of its
/// window, or distributed equally over the window.
fn gradient(call: &mut Call<'_>, fold: Fold) -> Outcome {
    let dtype = call.tensor(1)?.dtype();
    let planes = Planes::of(call, call.tensor(1)?, "NCHW")?;
    let mut grad = Planes::of(call, call.tensor(0)?, "NCHW")?;
    if grad.order.len() != planes.order.len() {
        return Err(call.fault("the gradient has the wrong rank"));
    }
    if grad.outer != planes.outer {
        // The rest of a larger gradient is ignored.
        let mut part = call.tensor(0)?.clone();
        for (&axis, &size) in planes.order.iter().zip(&planes.outer) {
            if part.shape()[axis] < size {
                return Err(call.fault("the gradient does not fit the data"));
            }
            part = slice_axis(call, &part, axis, 0, size)?;
        }
        grad = Planes::of(call, &part, "NCHW")?;
    }
    let window = steps(call, "pool_size", 2)?;
    let strides = steps(call, "strides", 2)?;
    let padding = padding(call, 2)?;
    let include_pad = call.bool("count_include_pad");
    let (&[count, height, width], &[_, rows, columns]) = (planes.data.shape(), grad.data.shape())
    else {
        return Err(call.fault("the data has the wrong rank"));
    };
    if padding.iter().any(|&(before, after)| before < 0 || after < 0) {
        return Err(call.fault("`padding` must be at least 0"));
    }
    let walk = |axis: usize, size: usize, count: usize| Walk {
        size,
        window: window[axis],
        stride: strides[axis],
        dilation: 1,
        before: usize::try_from(padding[axis].0).unwrap_or(0),
        count,
    };
    let (down, across) = (walk(0, height, rows), walk(1, width, columns));
    let (x, g) = (planes.data.to_f64s(), grad.data.to_f64s());
    let mut out = repeated(0f64, x.len());
    for plane in 0..count {
        let base = plane * height * width;
        for row in 0..rows {
            let (top, bottom, y) = down.inside(row);
            for column in watched(0..columns) {
                let (left, right, z) = across.inside(column);
                spend(2 * (bottom - top) * (right - left));
                let amount = g[(plane * rows + row) * columns + column];
                let cells = || {
                    (0..bottom - top).flat_map(move |i| {
                        (0..right - left).map(move |j| base + (y + i) * width + z + j)
                    })
                };
                match fold {
                    Fold::Max => {
                        let mut best: Option<usize> = None;
                        for at in cells() {
                            if best.is_none_or(|best| x[at] > x[best]) {
                                best = Some(at);
                            }
                        }
                        if let Some(best) = best {
                            out[best] += amount;
                        }
                    }
                    Fold::Mean => {
                        let count = if include_pad {
                            window[0] * window[1]
                        } else {
                            ((bottom - top) * (right - left)).max(1)
                        };
                        for at in cells() {
                            out[at] += amount / count as f64;
                        }
                    }
                }
            }
        }
    }
    match Tensor::from_f64s(dtype, planes.data.shape(), out) {
        Some(out) => planes.restored(call, out),
        None => call.unsupported(dtype),
    }
}
