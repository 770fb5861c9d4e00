//! Convolutions that read the windows in place instead of unfolding them to columns.
//!
//! The data is copied once, with its padding. The elements under one element of the window are then
//! adjacent for all positions of a line, and lines have equal distances: each row of the right matrix of
//! the product is the copy from another offset. The positions between two lines are computed as well and
//! ignored. With strides above 1, the copy holds each phase separately.

use ndarray::{ArrayViewMut3, Axis};

use super::Walk;
use crate::{
    families::prelude::*,
    gemm::{AlignedElements, Epilogue, FilterRows, Gemm, InterleavedFilters, Windows},
    parallel::{each_item, threads},
};

/// The maximum size of a copy that is not divided, since it fits into the second level cache, in
/// elements.
const CACHED: usize = 1 << 17;
/// The maximum size of a group of lines of a larger copy, which all rows of the filter process before
/// the next group, in elements.
const GROUP: usize = 18_432;
/// The number of multiplications between checks for cancellation.
const WORK: usize = 1 << 25;
/// The maximum number of tiles of a filter whose weights are kept interleaved.
const FEW_TILES: usize = 16;
/// The number of parts of the work per thread.
const PARTS_PER_THREAD: usize = 8;

/// The layout of the copy along one axis.
struct CopiedAxis {
    walk: Walk,
    /// The phases of the elements of the window: their positions modulo the stride.
    phases: Vec<usize>,
    /// The number of elements of each phase.
    size: usize,
}

impl CopiedAxis {
    fn new(walk: Walk) -> CopiedAxis {
        let mut phases = collected((0..walk.window).map(|tap| tap * walk.dilation % walk.stride));
        phases.sort_unstable();
        phases.dedup();
        let size = walk.count + walk.window.saturating_sub(1) * walk.dilation / walk.stride;
        CopiedAxis { walk, phases, size }
    }

    /// Returns the index of the phase of an element of the window, and the offset of the element in it.
    fn tap(&self, tap: usize) -> (usize, usize) {
        let at = tap * self.walk.dilation;
        let phase = self.phases.binary_search(&(at % self.walk.stride)).unwrap_or(0);
        (phase, at / self.walk.stride)
    }

    /// Returns the range of a phase inside of the data, and the data element of its start.
    fn inside(&self, phase: usize) -> (usize, usize, usize) {
        let (walk, phase) = (&self.walk, self.phases[phase]);
        let from = walk.before.saturating_sub(phase).div_ceil(walk.stride).min(self.size);
        let end = (walk.size + walk.before).saturating_sub(phase);
        let to = end.div_ceil(walk.stride).clamp(from, self.size);
        (from, to, (from * walk.stride + phase).saturating_sub(walk.before))
    }
}

/// Convolves the planes of one group with its filters. Returns false, and computes nothing, if this does
/// not pay off.
pub(super) fn by_windows<T: Gemm>(
    planes: &[T],
    (filter, weights): (&[T], Option<&Array<T>>),
    walks: &[Walk],
    (channels, outputs): (usize, usize),
    to: &mut [T],
    epilogue: Epilogue<'_>,
) -> bool {
    let (rows, columns) = match walks {
        [rows, columns] => (CopiedAxis::new(*rows), CopiedAxis::new(*columns)),
        [columns] => (CopiedAxis::new(Walk::new(1, 1, (1, 1), (0, 0))), CopiedAxis::new(*columns)),
        _ => return false,
    };
    let (lines, count) = (rows.walk.count, columns.walk.count);
    let area = rows.walk.size * columns.walk.size;
    let plane = rows.size.saturating_mul(columns.size);
    let copy = plane.saturating_mul(rows.phases.len()).saturating_mul(columns.phases.len());
    let Some(tile) = T::tile() else { return false };
    let pays_off = outputs >= tile.rows / 2
        && columns.size * 5 <= count * 7
        && copy <= 4 * (area + lines * count);
    let Ok(mut to) = ArrayViewMut3::from_shape((outputs, lines, count), to) else { return false };
    if !pays_off {
        return false;
    }
    let mut elements = AlignedElements::new(channels * copy + tile.columns);
    let all = elements.get_mut().get_mut(..channels * copy).unwrap_or_default();
    each_chunk(all, copy, 2, &|channel, to| {
        let from = planes.get(channel * area..(channel + 1) * area).unwrap_or_default();
        copied(from, &rows, &columns, to);
    });
    // The last tile reads and ignores these.
    let rest = elements.get_mut().get_mut(channels * copy..).unwrap_or_default();
    rest.fill(T::default());
    let (elements, line) = (elements.get(), columns.size);
    let mut offsets = with_capacity(channels * rows.walk.window * columns.walk.window);
    for channel in 0..channels {
        for (phase, row) in (0..rows.walk.window).map(|tap| rows.tap(tap)) {
            for (second, column) in (0..columns.walk.window).map(|tap| columns.tap(tap)) {
                let plane = (phase * columns.phases.len() + second) * plane;
                offsets.push(channel * copy + plane + row * line + column);
            }
        }
    }
    let depth = offsets.len();
    // Otherwise interleaving takes little time beside the tiles.
    let has_few_tiles = lines * line <= FEW_TILES * tile.columns;
    let kept = weights.filter(|_| has_few_tiles).and_then(|weights| T::interleaved(weights, depth));
    let filter = kept.as_ref().map_or(FilterRows::Separate(filter), InterleavedFilters::rows);
    let is_cached = channels * copy <= CACHED;
    let group = if is_cached { lines } else { (GROUP / channels.max(1) / line).clamp(1, lines) };
    let groups = lines.div_ceil(group);
    // If there are few groups of lines, the rows of the filter are divided as well.
    let parts = (threads() * PARTS_PER_THREAD).div_ceil(groups);
    let height = outputs.div_ceil(parts).next_multiple_of(tile.rows);
    let mut tasks = with_capacity(groups * outputs.div_ceil(height));
    for (at, mut rest) in to.axis_chunks_iter_mut(Axis(1), group).enumerate() {
        for top in (0..outputs).step_by(height) {
            let (now, later) = rest.split_at(Axis(0), height.min(outputs - top));
            tasks.push((at * group, top, now));
            rest = later;
        }
    }
    let count_of_tasks = tasks.len();
    each_item(tasks.into_iter(), count_of_tasks, &|(from, top, mut to)| {
        let places = to.shape()[1] * line;
        let step = (WORK / (depth * places).max(1) / tile.rows * tile.rows).max(tile.rows);
        for (at, mut out) in to.axis_chunks_iter_mut(Axis(0), step).enumerate() {
            spend(out.len_of(Axis(0)) * depth * places / 32);
            let rows = filter.from((top + at * step) * depth);
            let offsets = &offsets;
            T::windows(Windows { rows, elements, offsets, line, count, from, out: &mut out });
            let plane = lines * count;
            epilogue.at((top + at * step) * plane + from * count).apply(plane, out);
        }
    });
    true
}

/// Copies a plane phase by phase, with zeros outside of the data.
fn copied<T: Copy + Default>(from: &[T], rows: &CopiedAxis, columns: &CopiedAxis, to: &mut [T]) {
    let mut lines = to.chunks_exact_mut(columns.size);
    let (width, stride) = (columns.walk.size, columns.walk.stride);
    for phase in 0..rows.phases.len() {
        let (top, bottom, first) = rows.inside(phase);
        for second in 0..columns.phases.len() {
            let (left, right, start) = columns.inside(second);
            for at in 0..rows.size {
                let Some(line) = lines.next() else { return };
                if at < top || at >= bottom {
                    line.fill(T::default());
                    continue;
                }
                line.get_mut(..left).unwrap_or_default().fill(T::default());
                line.get_mut(right..).unwrap_or_default().fill(T::default());
                spend(line.len());
                let row = (first + (at - top) * rows.walk.stride) * width;
                let from = from.get(row + start..row + width).unwrap_or_default();
                let line = line.get_mut(left..right).unwrap_or_default();
                if stride == 1 {
                    line.iter_mut().zip(from).for_each(|(to, &x)| *to = x);
                } else {
                    let from = from.iter().step_by(stride);
                    line.iter_mut().zip(from).for_each(|(to, &x)| *to = x);
                }
            }
        }
    }
}
