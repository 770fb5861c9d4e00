//! Convolutions.
//!
//! Each is converted to one layout: data `(batch, channels, spatial…)`, weight
//! `(outputs, channels of a group, spatial…)`. A block of positions is unfolded to the columns of a
//! matrix, by which the weight is multiplied, unless the [windows] can be read in place. A depthwise
//! convolution goes along rows instead.

mod exact;
mod windows;

use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use operators::Layout;

use super::{
    layouts,
    nn_dense::{claimed_chain, finish, out_dtype},
    prelude::*,
};
use crate::gemm::{Epilogue, Gemm, Operands, PlaneSizes, each_sum_type, operand, sum_type};
use crate::parallel::{each_item, threads};

pub(super) static KERNELS: &[Kernel] = &[
    kernel("nn.conv1d", |c| convolution(c, "NCW", "OIW"))
        .epilogue("NCW")
        .overflow(|c, result| Convolution::of(c, "NCW", "OIW").ok()?.overflow(c, result)),
    kernel("nn.conv2d", |c| convolution(c, "NCHW", "OIHW"))
        .epilogue("NCHW")
        .overflow(|c, result| Convolution::of(c, "NCHW", "OIHW").ok()?.overflow(c, result)),
    kernel("nn.conv3d", |c| convolution(c, "NCDHW", "OIDHW"))
        .epilogue("NCDHW")
        .overflow(|c, result| Convolution::of(c, "NCDHW", "OIDHW").ok()?.overflow(c, result)),
    kernel("nn.contrib_conv2d_NCHWc", |c| convolution(c, "NCHW", "OIHW"))
        .overflow(|c, result| Convolution::of(c, "NCHW", "OIHW").ok()?.overflow(c, result)),
    kernel("nn.contrib_depthwise_conv2d_NCHWc", |c| convolution(c, "NCHW", "OIHW"))
        .overflow(|c, result| Convolution::of(c, "NCHW", "OIHW").ok()?.overflow(c, result)),
];

/// A convolution whose operands have plain layouts.
pub(super) struct Convolution<'l> {
    /// `(batch, channels, spatial…)`
    pub(super) data: Tensor,
    /// `(outputs, channels of a group, spatial…)`
    pub(super) weight: Tensor,
    pub(super) strides: Vec<usize>,
    pub(super) dilations: Vec<usize>,
    /// The padding before and after the data.
    pub(super) padding: Vec<(usize, usize)>,
    pub(super) groups: usize,
    /// The plain layout of the result, and that in which the call returns it.
    pub(super) layouts: (&'l str, String),
}

/// The sizes of a convolution.
struct ConvolutionSizes {
    batches: usize,
    channels: usize,
    /// The number of channels of a group.
    each: usize,
    outputs: usize,
    walks: Vec<Walk>,
}

impl ConvolutionSizes {
    /// Returns the shape of the result.
    fn shape(&self) -> Vec<usize> {
        let mut shape = vec![self.batches, self.outputs];
        shape.extend(self.walks.iter().map(|walk| walk.count));
        shape
    }
}

/// The positions of a window along one axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    /// The size of the data.
    pub(super) size: usize,
    /// The size of the window.
    pub(super) window: usize,
    /// The distance between windows.
    pub(super) stride: usize,
    /// The distance between elements of a window.
    pub(super) dilation: usize,
    /// The padding before the data.
    pub(super) before: usize,
    /// The number of windows.
    pub(super) count: usize,
}

impl Walk {
    /// Creates a walk over an axis of `size` elements with padding before and after them. No attributes
    /// overflow: the extent of a window saturates, and is then larger than any axis.
    pub(super) fn new(
        size: usize,
        window: usize,
        (stride, dilation): (usize, usize),
        (before, after): (usize, usize),
    ) -> Walk {
        let padded = size.saturating_add(before).saturating_add(after);
        let reach = window.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
        let rest = padded.checked_sub(reach);
        let count = rest.map_or(0, |rest| (rest / stride).saturating_add(1));
        Walk { size, window, stride, dilation, before, count }
    }

    /// Returns the range of the elements of window `at` inside of the data, and the data element of its
    /// start.
    pub(super) fn inside(&self, at: usize) -> (usize, usize, usize) {
        let start = at.saturating_mul(self.stride);
        let from = self.before.saturating_sub(start).div_ceil(self.dilation).min(self.window);
        let end = self.size.saturating_add(self.before).saturating_sub(start);
        let to = end.div_ceil(self.dilation).min(self.window);
        let first =
            start.saturating_add(from.saturating_mul(self.dilation)).saturating_sub(self.before);
        (from, to.max(from), first)
    }
}

/// Returns the padding before and after each of `spatial` axes. Negative padding removes elements.
pub(super) fn padding(call: &Call<'_>, spatial: usize) -> Result<Vec<(i64, i64)>, Fault> {
    let values = call.ints("padding")?;
    let pairs = match values.as_slice() {
        [] => repeated((0, 0), spatial),
        [all] => repeated((*all, *all), spatial),
        each if each.len() == spatial => each.iter().map(|&p| (p, p)).collect(),
        both if both.len() == 2 * spatial => {
            (0..spatial).map(|k| (both[k], both[spatial + k])).collect()
        }
        other => {
            return Err(
                call.fault(format_args!("`padding` has {} values for {spatial} axes", other.len()))
            );
        }
    };
    Ok(pairs)
}

/// Removes the elements that negative padding of the last axes removes; returns the rest, and the
/// padding that is left.
pub(super) fn cropped(
    call: &Call<'_>,
    mut data: Tensor,
    padding: &[(i64, i64)],
) -> Result<(Tensor, Vec<(usize, usize)>), Fault> {
    let first = data.rank().saturating_sub(padding.len());
    let mut left = with_capacity(padding.len());
    for (axis, &(mut before, mut after)) in (first..).zip(padding) {
        let size = data.shape().get(axis).map_or(0, |&size| size as i64);
        if size.saturating_add(before).saturating_add(after) < 0 {
            return Err(call.fault(format_args!(
                "`padding` removes more elements than the {size} of axis {axis}"
            )));
        }
        let from = before.saturating_neg().clamp(0, size);
        let to = size.saturating_add(after.min(0)).clamp(from, size);
        if (from, to) != (0, size) {
            data = super::shape::slice_axis(call, &data, axis, from as usize, to as usize)?;
        }
        // Negative padding larger than the axis reduces the padding of the other side.
        before = before.saturating_add(from);
        after = after.saturating_add(size - to);
        let positive = |one: i64, other: i64| usize::try_from(one.saturating_add(other.min(0)));
        left.push((positive(before, after).unwrap_or(0), positive(after, before).unwrap_or(0)));
    }
    Ok((data, left))
}

/// Returns the sizes, strides or dilations of windows, each at least 1.
pub(super) fn steps(call: &Call<'_>, name: &str, count: usize) -> Result<Vec<usize>, Fault> {
    let step = |&value: &i64| match usize::try_from(value) {
        Ok(step) if step > 0 => Ok(step),
        _ => Err(call.fault(format_args!("`{name}` must be at least 1, but it is {value}"))),
    };
    call.ints_for(name, count)?.iter().map(step).collect()
}

pub(super) fn convolution(call: &mut Call<'_>, plain_data: &str, plain_weight: &str) -> Outcome {
    let dtype = out_dtype(call)?;
    Ok(Convolution::of(call, plain_data, plain_weight)?.compute(call, dtype)?.into())
}

impl<'l> Convolution<'l> {
    /// Returns the convolution of a call.
    fn of(
        call: &Call<'_>,
        plain_data: &'l str,
        plain_weight: &str,
    ) -> Result<Convolution<'l>, Fault> {
        let data_layout = match call.str("data_layout") {
            "" => plain_data.to_owned(),
            written => written.to_owned(),
        };
        let weight_layout = match (call.str("kernel_layout"), call.tensor(1)?.shape()) {
            // `nn.contrib_conv2d_NCHWc` takes a weight in blocks even if its layout does not say so.
            (written, &[.., inputs, outputs])
                if written.len() == plain_weight.len()
                    && call.tensor(1)?.rank() == plain_weight.len() + 2 =>
            {
                format!("{written}{inputs}i{outputs}o")
            }
            (written, _) => written.to_owned(),
        };
        let out_layout = match call.str("out_layout") {
            "" => data_layout.clone(),
            written => written.to_owned(),
        };
        let data = layouts::convert(call, call.tensor(0)?, &data_layout, plain_data)?;
        let weight = layouts::convert(call, call.tensor(1)?, &weight_layout, plain_weight)?;
        let spatial = plain_data.len() - 2;
        let (strides, dilations) =
            (steps(call, "strides", spatial)?, steps(call, "dilation", spatial)?);
        let (data, padding) = cropped(call, data, &padding(call, spatial)?)?;
        let groups = usize::try_from(call.int("groups").unwrap_or(1)).unwrap_or(1).max(1);
        let channels = if call.attrs().has("channels") { call.int("channels").ok() } else { None };
        if let Some(channels) = channels.filter(|channels| channels % groups as i64 != 0) {
            return Err(call.fault(format_args!("{channels} channels do not make {groups} groups")));
        }
        let each = data.shape().get(1).map_or(0, |channels| channels / groups);
        let is_depthwise = each == 1 && groups > 1;
        let kernels = channels.and_then(|channels| usize::try_from(channels).ok());
        // Several kernels of each channel may have an axis of their own.
        let kernels =
            if is_depthwise && weight.shape().get(1) != Some(&1) { Some(groups) } else { kernels };
        let mut sizes = vec![kernels, (!is_depthwise).then_some(each)];
        sizes.extend(kernel_size(call, spatial)?);
        let weight = unpadded(call, weight, (&weight_layout, plain_weight), &sizes)?;
        let layouts = (plain_data, out_layout);
        Ok(Convolution { data, weight, strides, dilations, padding, groups, layouts })
    }

    /// Computes the result in the layout of the call.
    pub(super) fn compute(&self, call: &Call<'_>, dtype: DataType) -> Result<Tensor, Fault> {
        let out = self.convolve(call, dtype)?;
        layouts::convert(call, &out, self.layouts.0, &self.layouts.1)
    }

    /// Checks the shapes of the operands, and returns their sizes.
    fn sizes(&self, call: &Call<'_>) -> Result<ConvolutionSizes, Fault> {
        let Convolution { data, weight, strides, dilations, padding, groups, .. } = self;
        let groups = *groups;
        let (from, by) = (data.shape(), weight.shape());
        let spatial = strides.len();
        if from.len() != spatial + 2 || by.len() != spatial + 2 {
            return Err(call.fault("the arguments have the wrong rank"));
        }
        let (batches, channels) = (from[0], from[1]);
        let each = channels / groups;
        // The weight of a depthwise convolution is (channels, outputs of each, …). The outputs of one channel
        // are adjacent, so that this is also (outputs, 1, …).
        let (outputs, inner) = match (by[0], by[1]) {
            (rows, columns) if each == 1 && groups > 1 => (rows * columns, 1),
            pair => pair,
        };
        if each * groups != channels || inner != each || outputs % groups != 0 {
            return Err(call.fault(format_args!(
                "{channels} channels in {groups} groups do not meet a weight of shape {by:?}"
            )));
        }
        if by[2..].contains(&0) {
            return Err(call.fault("the window has no elements"));
        }
        let mut walks = with_capacity(spatial);
        for axis in 0..spatial {
            let (size, window) = (from[2 + axis], by[2 + axis]);
            let (before, after) = padding[axis];
            let step = (strides[axis], dilations[axis]);
            walks.push(Walk::new(size, window, step, (before, after)));
        }
        Ok(ConvolutionSizes { batches, channels, each, outputs, walks })
    }

    /// Computes the result in its plain layout.
    pub(super) fn convolve(&self, call: &Call<'_>, dtype: DataType) -> Result<Tensor, Fault> {
        let Convolution { data, weight, groups, .. } = self;
        let groups = *groups;
        let sizes = self.sizes(call)?;
        let shape = sizes.shape();
        let ConvolutionSizes { batches, channels, each, outputs, walks } = sizes;
        call.allow(&shape, dtype)?;
        let out = each_sum_type!(sum_type(data.dtype(), weight.dtype(), dtype), {
            let (Some(x), Some(weights)) = (operand::<T>(data), operand::<T>(weight)) else {
                return call.unsupported(data.dtype());
            };
            let (x, w) = (x.as_slice().unwrap_or_default(), weights.as_slice().unwrap_or_default());
            let whole = Some(&weights).filter(|_| groups == 1);
            let places: usize = walks.iter().map(|walk| walk.count).product();
            let area: usize = walks.iter().map(|walk| walk.size).product();
            let window: usize = walks.iter().map(|walk| walk.window).product();
            // Only convolutions whose result stays in this layout have one.
            let chain = claimed_chain::<T>(call, &shape, dtype);
            // A depthwise convolution adds to the elements.
            let count = batches * outputs * places;
            let is_set = each > 1 && window > 0;
            let mut out = if is_set { unspecified(count) } else { repeated(T::default(), count) };
            if !out.is_empty() && each * window > 0 {
                if each == 1 {
                    let size = channels * area;
                    let per_group = outputs / groups;
                    each_chunk(&mut out, places, window, &|at, to| {
                        let (batch, output) = (at / outputs, at % outputs);
                        let start = batch * size + output / per_group * area;
                        let filter =
                            w.get(output * window..(output + 1) * window).unwrap_or_default();
                        let plane = x.get(start..start + area).unwrap_or_default();
                        depthwise(plane, filter, &walks, to);
                        if let Ok(row) = ArrayViewMut2::from_shape((1, places), to) {
                            Epilogue::new(chain, at * places).apply(places, row);
                        }
                    });
                } else {
                    let per_group = outputs / groups;
                    for (at, to) in out.chunks_mut(per_group * places).enumerate() {
                        let (batch, group) = (at / groups, at % groups);
                        let start = (batch * channels + group * each) * area;
                        let planes = x.get(start..start + each * area).unwrap_or_default();
                        let depth = each * window;
                        let filter = w
                            .get(group * per_group * depth..(group + 1) * per_group * depth)
                            .unwrap_or_default();
                        let epilogue = Epilogue::new(chain, at * per_group * places);
                        let filter = (filter, whole);
                        by_columns(planes, filter, &walks, (each, per_group), to, epilogue);
                    }
                }
            }
            finish::<T>(call, &shape, out, dtype)?
        });
        match out {
            Value::Tensor(tensor) => Ok(tensor.into_tensor()),
            other => Err(call.fault(other.describe())),
        }
    }
}

/// Returns the attribute `kernel_size`, if it has a value.
pub(super) fn kernel_size(call: &Call<'_>, spatial: usize) -> Result<Vec<Option<usize>>, Fault> {
    if !call.attrs().has("kernel_size") {
        return Ok(repeated(None, spatial));
    }
    Ok(steps(call, "kernel_size", spatial)?.into_iter().map(Some).collect())
}

/// Removes what fills the last blocks of a weight: 3 kernels in the layout `"OIHW4o"` are stored as 4.
/// `plain` has the letters of the axes, and `sizes` the number of elements of each, if it is known.
pub(super) fn unpadded(
    call: &Call<'_>,
    mut weight: Tensor,
    (layout, plain): (&str, &str),
    sizes: &[Option<usize>],
) -> Result<Tensor, Fault> {
    for (axis, (letter, &size)) in plain.bytes().zip(sizes).enumerate() {
        let Some((size, &found)) = size.zip(weight.shape().get(axis)) else { continue };
        if size == found {
            continue;
        }
        let layout = Layout::parse(layout).map_err(|error| call.fault(error))?;
        let blocks = layout.axes().iter().filter(|axis| axis.letter == letter.to_ascii_lowercase());
        let block = blocks.fold(1usize, |all, axis| {
            all.saturating_mul(usize::try_from(axis.factor).unwrap_or(1).max(1))
        });
        if size.checked_next_multiple_of(block) != Some(found) {
            let letter = char::from(letter);
            return Err(call.fault(format_args!(
                "the axis {letter} of the weight has size {found}, expected {size}"
            )));
        }
        weight = super::shape::slice_axis(call, &weight, axis, 0, size)?;
    }
    Ok(weight)
}

/// Convolves one plane with one filter.
fn depthwise<T: Gemm>(plane: &[T], filter: &[T], walks: &[Walk], to: &mut [T]) {
    let Some((&row, outer)) = walks.split_last() else { return };
    // Along the last axis, each element of the filter is applied to a run of positions at once.
    let mut index = repeated(0usize, outer.len());
    let counts: Vec<usize> = outer.iter().map(|walk| walk.count).collect();
    let windows: Vec<usize> = outer.iter().map(|walk| walk.window).collect();
    let lines: usize = windows.iter().product();
    for to in to.chunks_mut(row.count.max(1)) {
        let mut tap = repeated(0usize, outer.len());
        for line in 0..lines {
            let mut base = Some(0usize);
            for (axis, walk) in outer.iter().enumerate() {
                let at = (index[axis] * walk.stride + tap[axis] * walk.dilation)
                    .checked_sub(walk.before)
                    .filter(|&at| at < walk.size);
                base = base.zip(at).map(|(base, at)| base * walk.size + at);
            }
            if let Some(base) = base {
                let source = plane.get(base * row.size..(base + 1) * row.size).unwrap_or_default();
                for k in 0..row.window {
                    let factor = filter.get(line * row.window + k).copied().unwrap_or_default();
                    let (first, last) = reach(&row, k);
                    if first >= last {
                        continue;
                    }
                    let start = first * row.stride + k * row.dilation - row.before;
                    let source = source.get(start..).unwrap_or_default();
                    let to = to.get_mut(first..last).unwrap_or_default();
                    spend(to.len());
                    T::add_scaled(to, source, row.stride, factor);
                }
            }
            super::index::advance(&mut tap, &windows);
        }
        super::index::advance(&mut index, &counts);
    }
}

/// Returns the range of the windows whose element `k` is inside of the data.
fn reach(walk: &Walk, k: usize) -> (usize, usize) {
    let offset = k.saturating_mul(walk.dilation);
    let first = walk.before.saturating_sub(offset).div_ceil(walk.stride);
    let end = walk.size.saturating_add(walk.before).saturating_sub(offset);
    let last = end.div_ceil(walk.stride).min(walk.count);
    (first.min(last), last)
}

/// The maximum number of elements in the columns of one block: they should stay in the cache.
const BLOCK: usize = 1 << 17;

/// Convolves the planes of one group with its filters, one block of positions after another. `weights` is the array of the
/// filters if there are no other groups.
fn by_columns<T: Gemm>(
    planes: &[T],
    (filter, weights): (&[T], Option<&Array<T>>),
    walks: &[Walk],
    (channels, outputs): (usize, usize),
    to: &mut [T],
    epilogue: Epilogue<'_>,
) {
    let places: usize = walks.iter().map(|walk| walk.count).product();
    let area: usize = walks.iter().map(|walk| walk.size).product();
    let window: usize = walks.iter().map(|walk| walk.window).product();
    let depth = channels * window;
    let direct = window == 1
        && walks.iter().all(|walk| walk.stride == 1 && walk.before == 0)
        && places == area;
    if let &[rows, columns] = walks
        && [rows, columns].iter().all(|walk| (walk.window, walk.stride, walk.dilation) == (3, 1, 1))
    {
        let sizes = PlaneSizes {
            channels,
            outputs,
            height: rows.size,
            width: columns.size,
            top: rows.before,
            left: columns.before,
            lines: rows.count,
            count: columns.count,
        };
        if T::convolve_tiles(Operands { sizes, planes, filter, weights }, to, epilogue) {
            return;
        }
    }
    let filters = (filter, weights);
    if !direct && windows::by_windows(planes, filters, walks, (channels, outputs), to, epilogue) {
        return;
    }
    let (Ok(filter), Ok(mut to)) = (
        ArrayView2::from_shape((outputs, depth), filter),
        ArrayViewMut2::from_shape((outputs, places), to),
    ) else {
        return;
    };
    if direct {
        if let Ok(columns) = ArrayView2::from_shape((depth, places), planes) {
            T::multiply(filter, columns, to, epilogue);
        }
        return;
    }
    let threads = threads();
    let block = (BLOCK / depth.max(1)).max(64).min(places.div_ceil(threads)).max(1);
    // Whole tiles, so that the number of threads does not affect which columns are multiplied together: a
    // column alone is added up in another order.
    let block = block.next_multiple_of(T::tile().map_or(1, |tile| tile.columns));
    let blocks = to.axis_chunks_iter_mut(Axis(1), block).enumerate();
    each_item(blocks, places.div_ceil(block), &|(at, mut to)| {
        let start = at * block;
        let width = to.ncols();
        let mut columns = repeated(T::default(), depth * width);
        for (row, columns) in columns.chunks_mut(width.max(1)).enumerate() {
            let (channel, tap) = (row / window, row % window);
            let plane = planes.get(channel * area..(channel + 1) * area).unwrap_or_default();
            unfold(plane, walks, tap, start, columns);
        }
        if let Ok(columns) = ArrayView2::from_shape((depth, width), &columns) {
            T::product(filter, columns, to.view_mut());
            epilogue.at(start).apply(places, to);
        }
    });
}

/// Writes the elements under element `tap` of each window from `start` on, and zeros outside of the data.
fn unfold<T: Copy + Default>(
    plane: &[T],
    walks: &[Walk],
    tap: usize,
    start: usize,
    columns: &mut [T],
) {
    let Some((row, outer)) = walks.split_last() else { return };
    let mut rest = tap / row.window.max(1);
    let k = tap % row.window.max(1);
    let mut taps = [0usize; 8];
    for (axis, walk) in outer.iter().enumerate().rev() {
        taps[axis & 7] = rest % walk.window.max(1);
        rest /= walk.window.max(1);
    }
    let (first, last) = reach(row, k);
    let mut place = start;
    let mut columns = columns;
    while !columns.is_empty() {
        let (mut line, from) = (place / row.count, place % row.count);
        let length = (row.count - from).min(columns.len());
        spend(length);
        let (now, later) = std::mem::take(&mut columns).split_at_mut(length);
        columns = later;
        place += length;
        // The line of the plane under this line of windows.
        let mut base = Some(0usize);
        let mut scale = 1usize;
        for (axis, walk) in outer.iter().enumerate().rev() {
            let window = line % walk.count;
            line /= walk.count;
            let at = (window * walk.stride + taps[axis & 7] * walk.dilation)
                .checked_sub(walk.before)
                .filter(|&at| at < walk.size);
            base = base.zip(at).map(|(base, at)| base + at * scale);
            scale *= walk.size;
        }
        let Some(base) = base else { continue };
        let (low, high) = (first.max(from), last.min(from + length));
        if low >= high {
            continue;
        }
        let source = base * row.size + low * row.stride + k * row.dilation - row.before;
        let source = plane.get(source..).unwrap_or_default();
        let to = now.get_mut(low - from..high - from).unwrap_or_default();
        if row.stride == 1 {
            to.iter_mut().zip(source).for_each(|(to, &x)| *to = x);
        } else {
            to.iter_mut().zip(source.iter().step_by(row.stride)).for_each(|(to, &x)| *to = x);
        }
    }
}
