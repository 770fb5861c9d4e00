//! Convolutions with windows of 3 × 3 by Winograd's algorithm.
//!
//! A tile of 2 × 2 results is `Aᵀ ((G w Gᵀ) · (Bᵀ d B)) A`, where `w` is a window and `d` a tile of 4 × 4
//! elements of the data: 16 multiplications instead of 36. Summed over channels, each of the 16 places of a tile is a
//! product of matrices. The transforms only add, subtract and halve, so that small integers stay exact. Larger tiles
//! would save more, but their transforms multiply rounding errors by ten.

#![expect(
    clippy::needless_range_loop,
    reason = "adapters of iterators are not always inlined into functions with more instructions"
)]

use std::{
    ops::Range,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

use ndarray::{ArrayViewMut3, Axis};
use pulp::{Simd, WithSimd};

use super::{
    AlignedElements, Epilogue,
    tile::{FEW_ROWS, MAX_ROWS, Strips, has_many_registers, shape},
    weights::{Need, derived},
};
use crate::{
    allocate::{repeated, with_capacity},
    interrupt::{poll, spend},
    parallel::{each_chunk, each_item, threads},
    tensor::Array,
    wide::ARCH,
};

/// The number of places of a tile of the data.
const PLACES: usize = 16;
/// The maximum number of elements of the transformed data of a block: half of a second level cache.
const DATA: usize = 1 << 16;
/// The number of strips of outputs that are multiplied by the data of one place after the other, while it is in the first
/// level cache.
const STRIPS: usize = 4;
/// The least numbers of channels, of outputs and of tiles for which the transforms pay off.
const MIN_CHANNELS: usize = 16;
const MIN_OUTPUTS: usize = 16;
const MIN_TILES: usize = 40;
/// The number of parts of the work per thread.
const PARTS_PER_THREAD: usize = 4;
/// The number of elements of the largest vector.
const LANES: usize = 16;
/// The sign bit of a number.
const SIGN: u32 = 1 << 31;
/// The maximum difference between the exponents of the largest element and of the mean. A tile adds elements of
/// windows that do not overlap: beside one of 2³⁰, those near 1 would be lost.
const MAX_RANGE: u64 = 10;

/// The sizes of a convolution with windows of 3 × 3 and strides of 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaneSizes {
    /// The numbers of planes of the data and of the result.
    pub(crate) channels: usize,
    pub(crate) outputs: usize,
    /// The size of a plane of the data.
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// The padding before the data.
    pub(crate) top: usize,
    pub(crate) left: usize,
    /// The size of a plane of the result.
    pub(crate) lines: usize,
    pub(crate) count: usize,
}

/// The operands of a convolution: `(channels, height, width)` and `(outputs, channels, 3, 3)`.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a, T> {
    pub(crate) sizes: PlaneSizes,
    pub(crate) planes: &'a [T],
    pub(crate) filter: &'a [T],
    /// The array of the filter, if it has no other elements.
    pub(crate) weights: Option<&'a Array<T>>,
}

/// Computes the result and applies the epilogue. Returns false if this does not pay off, or if the result would be less
/// exact than sums of products: then the content of `to` is unspecified.
pub(super) fn convolve(
    operands: Operands<'_, f32>,
    to: &mut [f32],
    epilogue: Epilogue<'_>,
) -> bool {
    let PlaneSizes { channels, outputs, lines, count, .. } = operands.sizes;
    let (down, across) = (lines.div_ceil(2), count.div_ceil(2));
    let pays_off = channels >= MIN_CHANNELS && outputs >= MIN_OUTPUTS && down * across >= MIN_TILES;
    let Ok(mut to) = ArrayViewMut3::from_shape((outputs, lines, count), to) else { return false };
    if !pays_off {
        return false;
    }
    let transform = || {
        let weights = TransformedWeights::new(operands)?;
        let bytes = size_of_val(weights.elements.get());
        Some((weights, bytes))
    };
    let weights = derived(operands.weights, [outputs, channels], Need::Always, transform);
    let Some(weights) = weights else { return false };
    let block = (DATA / (PLACES * channels).saturating_mul(across)).clamp(1, down);
    let tiling = Tiling { operands, down, across, block };
    let blocks = down.div_ceil(block);
    let parts = (threads() * PARTS_PER_THREAD).div_ceil(blocks);
    let rows = outputs.div_ceil(parts).next_multiple_of(weights.rows);
    let mut tasks = with_capacity(blocks * outputs.div_ceil(rows));
    for (at, mut rest) in to.axis_chunks_iter_mut(Axis(1), block * 2).enumerate() {
        for top in (0..outputs).step_by(rows) {
            let (now, later) = rest.split_at(Axis(0), rows.min(outputs - top));
            tasks.push((at * block, top, now));
            rest = later;
        }
    }
    let count_of_tasks = tasks.len();
    let (magnitudes, largest) = (Magnitudes::default(), AtomicU32::new(0));
    each_item(tasks.into_iter(), count_of_tasks, &|(first, top, out)| {
        let (exponents, found) = tiling.compute(&weights, (first, top), out, epilogue);
        magnitudes.add(exponents);
        largest.fetch_max(found, Ordering::Relaxed);
    });
    !magnitudes.are_spread() && f32::from_bits(largest.into_inner()).is_finite()
}

/// The weights in groups of [`STRIPS`] strips, each of shape `(places, strips, channels, outputs of a strip)`.
struct TransformedWeights {
    elements: AlignedElements<f32>,
    /// The number of outputs of a group.
    rows: usize,
    channels: usize,
}

impl TransformedWeights {
    /// Transforms the weights, unless their magnitudes differ too much.
    fn new(operands: Operands<'_, f32>) -> Option<TransformedWeights> {
        let Operands { sizes: PlaneSizes { channels, outputs, .. }, filter, .. } = operands;
        let height = shape::<f32>().rows;
        let rows = STRIPS * height;
        let size = |outputs: usize| match outputs.next_multiple_of(height) {
            0 => 0,
            rows => PLACES * place_size(rows * channels),
        };
        let count = outputs / rows * size(rows) + size(outputs % rows);
        let mut elements = AlignedElements::new(count);
        let magnitudes = Magnitudes::default();
        let all = elements.get_mut().get_mut(..count).unwrap_or_default();
        each_chunk(all, size(rows), 2, &|at, to| {
            spend(to.len());
            let size = rows * channels * 9;
            let end = filter.len().min((at + 1) * size);
            let filter = filter.get(at * size..end).unwrap_or_default();
            magnitudes.add(ARCH.dispatch(WeightTransform { filter, channels, to }));
        });
        (!magnitudes.are_spread()).then_some(TransformedWeights { elements, rows, channels })
    }

    /// Returns the places of the group that begins with output `top`, as strips of `rows` outputs altogether.
    fn places(&self, top: usize, rows: usize) -> impl Iterator<Item = &[f32]> {
        let start = top / self.rows * PLACES * place_size(self.rows * self.channels);
        let group = self.elements.get().get(start..).unwrap_or_default();
        group.chunks_exact(place_size(rows * self.channels)).take(PLACES)
    }
}

/// The division of a result into tiles.
struct Tiling<'a> {
    operands: Operands<'a, f32>,
    /// The numbers of rows of tiles, and of tiles of a row.
    down: usize,
    across: usize,
    /// The maximum number of rows of tiles of a block.
    block: usize,
}

impl Tiling<'_> {
    /// Computes the outputs from `top` on of the block from row `first` of tiles on. Returns the exponents of the data, and
    /// the bits of the largest magnitude of the result, which are larger than those of any number if it is infinite or NaN.
    fn compute(
        &self,
        weights: &TransformedWeights,
        (first, top): (usize, usize),
        mut out: ArrayViewMut3<'_, f32>,
        epilogue: Epilogue<'_>,
    ) -> (Exponents, u32) {
        let Tiling { operands, down, across, block } = *self;
        let PlaneSizes { channels, lines, count, .. } = operands.sizes;
        let tiles = first..down.min(first + block);
        let width_of = |rows: usize| (rows * across).next_multiple_of(LANES);
        // All blocks are allocated alike, so that the buffers are reused.
        let mut data = AlignedElements::new(PLACES * place_size(channels * width_of(block)));
        let mut sums = AlignedElements::new(PLACES * weights.rows * width_of(block));
        let width = width_of(tiles.len());
        let place = place_size(channels * width);
        let to = data.get_mut().get_mut(..PLACES * place).unwrap_or_default();
        poll();
        let exponents = ARCH.dispatch(DataTransform { operands, tiles, across, to });
        let mut largest = 0;
        for (at, mut out) in out.axis_chunks_iter_mut(Axis(0), weights.rows).enumerate() {
            let top = top + at * weights.rows;
            let rows = out.len_of(Axis(0)).next_multiple_of(shape::<f32>().rows);
            spend(PLACES * rows * channels * width / 32);
            let sums = sums.get_mut().get_mut(..PLACES * rows * width).unwrap_or_default();
            let operands = weights.places(top, rows).zip(data.get().chunks_exact(place));
            for (out, (rows, columns)) in sums.chunks_exact_mut(rows * width).zip(operands) {
                Strips { rows, depth: channels, columns, width, out }.multiply();
            }
            let transform = ResultTransform { sums, width, across, out: &mut out };
            largest = largest.max(ARCH.dispatch(transform));
            epilogue.at((top * lines + first * 2) * count).apply(lines * count, out);
        }
        (exponents, largest)
    }
}

/// Returns the distance between two places of `count` elements. There is one more line of the cache between them: at
/// distances of powers of two, all would compete for the same lines.
fn place_size(count: usize) -> usize {
    count + LANES
}

/// The exponents of elements that are not zero.
#[derive(Default)]
struct Magnitudes {
    largest: AtomicU32,
    sum: AtomicU64,
    count: AtomicU64,
}

impl Magnitudes {
    fn add(&self, Exponents { largest, sum, count }: Exponents) {
        self.largest.fetch_max(largest, Ordering::Relaxed);
        self.sum.fetch_add(sum, Ordering::Relaxed);
        self.count.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns true if the largest element exceeds the mean by more than [`MAX_RANGE`] powers of two.
    fn are_spread(&self) -> bool {
        let count = self.count.load(Ordering::Relaxed).max(1);
        let largest = u64::from(self.largest.load(Ordering::Relaxed));
        largest > self.sum.load(Ordering::Relaxed) / count + MAX_RANGE
    }
}

/// The largest exponent, the sum and the number of those that are not zero.
#[derive(Default)]
struct Exponents {
    largest: u32,
    sum: u64,
    count: u64,
}

impl Exponents {
    #[inline(always)]
    fn add(&mut self, elements: &[f32]) {
        // A piece has at most 2¹⁶ elements, so that the sums of their exponents fit.
        for piece in elements.chunks(1 << 16) {
            let (mut sum, mut count) = (0u32, 0u32);
            for at in 0..piece.len() {
                let exponent = piece[at].to_bits() >> 23 & 255;
                self.largest = self.largest.max(exponent);
                sum += exponent;
                count += u32::from(exponent > 0);
            }
            (self.sum, self.count) = (self.sum + u64::from(sum), self.count + u64::from(count));
        }
    }
}

/// Transforms the weights of some strips of outputs: `to` has the shape `(places, strips, channels, outputs)`. Missing
/// outputs are zeros.
struct WeightTransform<'a> {
    filter: &'a [f32],
    channels: usize,
    to: &'a mut [f32],
}

impl WeightTransform<'_> {
    #[inline(always)]
    fn transform<const ROWS: usize>(self) -> Exponents {
        let WeightTransform { filter, channels, to } = self;
        let mut exponents = Exponents::default();
        exponents.add(filter);
        let (filter, _) = filter.as_chunks::<9>();
        let place = to.len() / PLACES;
        for strip in 0..(place - LANES) / (channels * ROWS) {
            let mut rows: [&[[f32; 9]]; ROWS] = [&[]; ROWS];
            for row in 0..ROWS {
                let start = (strip * ROWS + row) * channels;
                rows[row] = filter.get(start..start + channels).unwrap_or_default();
            }
            for channel in 0..channels {
                let mut windows = [[0f32; ROWS]; 9];
                for row in 0..ROWS {
                    let Some(window) = rows[row].get(channel) else { continue };
                    for tap in 0..9 {
                        windows[tap][row] = window[tap];
                    }
                }
                let mut half = [[0f32; ROWS]; 12];
                for x in 0..3 {
                    let column = transformed(&[windows[x], windows[3 + x], windows[6 + x]]);
                    for y in 0..4 {
                        half[3 * y + x] = column[y];
                    }
                }
                for y in 0..4 {
                    let row = transformed(&[half[3 * y], half[3 * y + 1], half[3 * y + 2]]);
                    for x in 0..4 {
                        let start = (4 * y + x) * place + (strip * channels + channel) * ROWS;
                        if let Some(to) = to[start..].first_chunk_mut() {
                            *to = row[x];
                        }
                    }
                }
            }
        }
        exponents
    }
}

impl WithSimd for WeightTransform<'_> {
    type Output = Exponents;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Exponents {
        match has_many_registers::<S>() {
            true => self.transform::<MAX_ROWS>(),
            false => self.transform::<FEW_ROWS>(),
        }
    }
}

/// Multiplies three vectors by `G`.
#[inline(always)]
fn transformed<const ROWS: usize>([a, b, c]: &[[f32; ROWS]; 3]) -> [[f32; ROWS]; 4] {
    let mut to = [*a, [0f32; ROWS], [0f32; ROWS], *c];
    for row in 0..ROWS {
        let (ends, middle) = (0.5 * (a[row] + c[row]), 0.5 * b[row]);
        to[1][row] = ends + middle;
        to[2][row] = ends - middle;
    }
    to
}

/// Transforms rows of tiles of all channels: `to` has the shape `(places, channels, width)`, where rows are filled with zeros
/// after the tiles.
struct DataTransform<'a> {
    operands: Operands<'a, f32>,
    /// The rows of tiles.
    tiles: Range<usize>,
    /// The number of tiles of a row.
    across: usize,
    to: &'a mut [f32],
}

impl WithSimd for DataTransform<'_> {
    type Output = Exponents;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Exponents {
        let DataTransform { operands, tiles, across, to } = self;
        let PlaneSizes { channels, height, width, top, left, .. } = operands.sizes;
        let (place, count) = (to.len() / PLACES, tiles.len() * across);
        let size = (place - LANES) / channels;
        // The rows of a plane that the tiles overlap, after so many rows of padding.
        let first = tiles.start * 2;
        let end = (tiles.end * 2 + 2).saturating_sub(top).min(height);
        let rows = first.saturating_sub(top).min(end)..end;
        let skipped = (rows.start + top).saturating_sub(first);
        // Each line has the elements in even columns first, then those in odd columns.
        let (side, line) = (across + 1, 2 * (across + 1));
        let mut lines = repeated(0f32, (2 * tiles.len() + 2) * line);
        let mut sums = repeated(0f32, 4 * line);
        let mut exponents = Exponents::default();
        for channel in 0..channels {
            spend(PLACES * count);
            let plane = operands.planes.get(channel * height * width..).unwrap_or_default();
            let rows = plane.get(rows.start * width..rows.end * width).unwrap_or_default();
            exponents.add(rows);
            for (at, row) in rows.chunks_exact(width).enumerate() {
                split(row, left, &mut lines[(skipped + at) * line..][..line]);
            }
            for at in 0..tiles.len() {
                add_lines(&lines[2 * at * line..][..4 * line], &mut sums);
                for y in 0..4 {
                    let (even, odd) = sums[y * line..][..line].split_at(side);
                    let to = &mut to[4 * y * place..][..4 * place];
                    let start = channel * size + at * across;
                    add_columns(even, odd, to, start..start + across);
                }
            }
            for place in to.chunks_exact_mut(place) {
                place[channel * size + count..(channel + 1) * size].fill(0.0);
            }
        }
        exponents
    }
}

/// Writes the elements in even columns of a padded row to the first half of a line, and those in odd columns to the
/// second half.
#[inline(always)]
fn split(row: &[f32], left: usize, line: &mut [f32]) {
    let (even, odd) = line.split_at_mut(line.len() / 2);
    // The first element is at `left`; the next one has the other parity.
    let (first, second) = if left.is_multiple_of(2) { (even, odd) } else { (odd, even) };
    let (first, second) = (&mut first[left / 2..], &mut second[left.div_ceil(2)..]);
    let (pairs, rest) = row.as_chunks::<2>();
    let count = pairs.len().min(first.len()).min(second.len());
    let (now, second) = (&mut first[..count], &mut second[..count]);
    for at in 0..count {
        now[at] = pairs[at][0];
        second[at] = pairs[at][1];
    }
    if let (Some(to), [last]) = (first.get_mut(count), rest) {
        *to = *last;
    }
}

/// Multiplies four lines by `Bᵀ`.
#[inline(always)]
fn add_lines(lines: &[f32], sums: &mut [f32]) {
    let line = lines.len() / 4;
    let (a, b) = (&lines[..line], &lines[line..2 * line]);
    let (c, d) = (&lines[2 * line..3 * line], &lines[3 * line..4 * line]);
    let (top, bottom) = sums.split_at_mut(2 * line);
    let ((first, second), (third, fourth)) = (top.split_at_mut(line), bottom.split_at_mut(line));
    let (third, fourth) = (&mut third[..line], &mut fourth[..line]);
    for x in 0..line {
        first[x] = a[x] - c[x];
        second[x] = b[x] + c[x];
        third[x] = c[x] - b[x];
        fourth[x] = b[x] - d[x];
    }
}

/// Multiplies a line by `B`: writes the tiles `range` of four places.
#[inline(always)]
fn add_columns(even: &[f32], odd: &[f32], to: &mut [f32], range: Range<usize>) {
    let (count, place) = (range.len(), to.len() / 4);
    let (top, bottom) = to.split_at_mut(2 * place);
    let ((a, b), (c, d)) = (top.split_at_mut(place), bottom.split_at_mut(place));
    let (a, b) = (&mut a[range.clone()], &mut b[range.clone()]);
    let (c, d) = (&mut c[range.clone()], &mut d[range]);
    let (next, even, odd_next, odd) =
        (&even[1..=count], &even[..count], &odd[1..=count], &odd[..count]);
    for x in 0..count {
        a[x] = even[x] - next[x];
        b[x] = odd[x] + next[x];
        c[x] = next[x] - odd[x];
        d[x] = odd[x] - odd_next[x];
    }
}

/// Transforms the sums of some outputs, of shape `(places, outputs, width)`, where there may be more outputs than in the
/// result.
struct ResultTransform<'a, 'c> {
    sums: &'a [f32],
    width: usize,
    across: usize,
    out: &'a mut ArrayViewMut3<'c, f32>,
}

impl WithSimd for ResultTransform<'_, '_> {
    /// The bits of the largest magnitude.
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u32 {
        let ResultTransform { sums, width, across, out } = self;
        let place = sums.len() / PLACES;
        let mut half = repeated(0f32, 8 * across);
        let mut line = repeated(0f32, 2 * across);
        let mut largest = 0;
        for (output, mut plane) in out.outer_iter_mut().enumerate() {
            for (pair, mut lines) in plane.axis_chunks_iter_mut(Axis(0), 2).enumerate() {
                let start = output * width + pair * across;
                let row = |y: usize, x: usize| -> &[f32] {
                    sums.get((4 * y + x) * place + start..).unwrap_or_default()
                };
                for x in 0..4 {
                    let (a, b) = (&row(0, x)[..across], &row(1, x)[..across]);
                    let (c, d) = (&row(2, x)[..across], &row(3, x)[..across]);
                    let (first, second) = half[2 * x * across..][..2 * across].split_at_mut(across);
                    for at in 0..across {
                        first[at] = a[at] + b[at] + c[at];
                        second[at] = b[at] - c[at] - d[at];
                    }
                }
                for (y, mut to) in lines.outer_iter_mut().enumerate() {
                    let part = |x: usize| &half[(2 * x + y) * across..][..across];
                    let (a, b, c, d) = (part(0), part(1), part(2), part(3));
                    let (pairs, _) = line.as_chunks_mut::<2>();
                    let pairs = &mut pairs[..across];
                    for at in 0..across {
                        pairs[at] = [a[at] + b[at] + c[at], b[at] - c[at] - d[at]];
                    }
                    let Some(to) = to.as_slice_mut() else { continue };
                    let from = &line[..to.len()];
                    for at in 0..from.len() {
                        largest = largest.max(from[at].to_bits() & !SIGN);
                    }
                    to.copy_from_slice(from);
                }
            }
        }
        largest
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests choose their sizes")]
mod tests {
    use super::*;

    /// Returns a convolution of drawn numbers.
    fn drawn(sizes: PlaneSizes) -> (Vec<f32>, Vec<f32>) {
        let PlaneSizes { channels, outputs, height, width, .. } = sizes;
        let mut rng = fastrand::Rng::with_seed(7);
        let mut draw = |count: usize| (0..count).map(|_| rng.f32() - 0.5).collect::<Vec<f32>>();
        (draw(channels * height * width), draw(outputs * channels * 9))
    }

    /// Returns the sums of products in double precision.
    fn sums(sizes: PlaneSizes, planes: &[f32], filter: &[f32]) -> Vec<f64> {
        let PlaneSizes { channels, outputs, height, width, top, left, lines, count } = sizes;
        let mut to = vec![0f64; outputs * lines * count];
        for (at, to) in to.iter_mut().enumerate() {
            let (output, line, place) = (at / count / lines, at / count % lines, at % count);
            for term in 0..channels * 9 {
                let (channel, y, x) = (term / 9, line + term % 9 / 3, place + term % 3);
                if (top..top + height).contains(&y) && (left..left + width).contains(&x) {
                    let element = (channel * height + y - top) * width + x - left;
                    let weight = filter[output * channels * 9 + term];
                    *to += f64::from(planes[element]) * f64::from(weight);
                }
            }
        }
        to
    }

    /// Sizes of planes of `height` by `width` with padding `(top, left, bottom, right)`.
    fn sizes(
        (channels, outputs): (usize, usize),
        (height, width): (usize, usize),
        [top, left, bottom, right]: [usize; 4],
    ) -> PlaneSizes {
        let (lines, count) = (height + top + bottom - 2, width + left + right - 2);
        PlaneSizes { channels, outputs, height, width, top, left, lines, count }
    }

    #[test]
    fn tiles_have_the_sums_of_products() {
        let all = [
            sizes((16, 16), (14, 14), [1; 4]),
            sizes((17, 19), (13, 28), [1; 4]),
            sizes((16, 23), (21, 16), [0; 4]),
            sizes((18, 16), (12, 15), [2, 0, 1, 3]),
            sizes((16, 17), (40, 5), [0, 3, 4, 2]),
            sizes((33, 16), (2, 230), [1, 1, 2, 1]),
        ];
        for sizes in all {
            let (planes, filter) = drawn(sizes);
            let mut to = vec![f32::NAN; sizes.outputs * sizes.lines * sizes.count];
            let operands = Operands { sizes, planes: &planes, filter: &filter, weights: None };
            assert!(convolve(operands, &mut to, Epilogue::default()), "{sizes:?}");
            for (to, sum) in to.iter().zip(sums(sizes, &planes, &filter)) {
                assert!((f64::from(*to) - sum).abs() < 1e-5, "{to} instead of {sum}: {sizes:?}");
            }
        }
    }

    /// Planes whose sums tiles would round worse are left to the caller.
    #[test]
    fn elements_of_other_magnitudes_are_left_to_sums_of_products() {
        let sizes = sizes((16, 16), (14, 14), [1; 4]);
        let is_computed = |planes: &[f32], filter: &[f32]| {
            let mut to = vec![0.0; sizes.outputs * sizes.lines * sizes.count];
            convolve(
                Operands { sizes, planes, filter, weights: None },
                &mut to,
                Epilogue::default(),
            )
        };
        let (planes, filter) = drawn(sizes);
        assert!(is_computed(&planes, &filter));
        for element in [1e9, f32::INFINITY, f32::NAN] {
            let mut planes = planes.clone();
            planes[1000] = element;
            assert!(!is_computed(&planes, &filter), "{element}");
        }
        for weight in [f32::INFINITY, f32::NAN, f32::MAX] {
            let mut filter = filter.clone();
            filter[1000] = weight;
            assert!(!is_computed(&planes, &filter), "{weight}");
        }
    }
}
