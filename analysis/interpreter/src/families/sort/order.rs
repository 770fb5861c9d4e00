//! The order of elements along an axis.

use rayon::slice::ParallelSliceMut;

use super::merge;
use crate::families::prelude::*;

/// Elements in comparable form: two types instead of thirteen.
pub(super) enum Keys {
    /// Floating point numbers.
    Float(Vec<f64>),
    /// Integers and booleans.
    Integer(Vec<i64>),
}

fn is_float(dtype: DataType) -> bool {
    dtype.is_float() || dtype.is_bfloat()
}

impl Keys {
    pub(super) fn of(tensor: &Tensor) -> Keys {
        match tensor {
            // Unsigned integers are shifted by 2^63 to keep their order as signed ones.
            Tensor::U64(array) => {
                Keys::Integer(collected(watched(array.iter()).map(|&x| (x ^ (1 << 63)) as i64)))
            }
            _ if is_float(tensor.dtype()) => Keys::Float(tensor.to_f64s()),
            _ => Keys::Integer(tensor.to_i64s()),
        }
    }

    /// Converts the elements of two tensors to one type.
    pub(super) fn both(x: &Tensor, y: &Tensor) -> (Keys, Keys) {
        if x.dtype() == y.dtype() {
            (Keys::of(x), Keys::of(y))
        } else if is_float(x.dtype()) || is_float(y.dtype()) {
            (Keys::Float(x.to_f64s()), Keys::Float(y.to_f64s()))
        } else {
            (Keys::Integer(x.to_i64s()), Keys::Integer(y.to_i64s()))
        }
    }

    /// Returns true if two elements differ.
    #[expect(clippy::float_cmp, reason = "equal elements are meant")]
    pub(super) fn differ(&self, x: usize, y: usize) -> bool {
        match self {
            Keys::Float(keys) => keys[x] != keys[y],
            Keys::Integer(keys) => keys[x] != keys[y],
        }
    }
}

/// An axis of a tensor, and the layout of the elements along it.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) axis: usize,
    /// The number of elements.
    pub(super) size: usize,
    outer: usize,
    inner: usize,
}

impl Lanes {
    pub(super) fn of(shape: &[usize], axis: usize) -> Lanes {
        Lanes {
            axis,
            size: shape[axis],
            outer: shape[..axis].iter().product(),
            inner: shape[axis + 1..].iter().product(),
        }
    }

    /// The position of the element at `place` of the lane through position `at` of a tensor with
    /// `count` elements on the axis.
    pub(super) fn at(self, at: usize, count: usize, place: usize) -> usize {
        let outer = at / (count * self.inner).max(1);
        (outer * self.size + place) * self.inner + at % self.inner.max(1)
    }
}

/// The number of elements from which the work is shared among threads.
const MIN_PARALLEL: usize = 1 << 15;

/// The positions of each lane's elements in sorted order, in the layout of the tensor. With
/// `first`, only that many of them, sorted stably.
pub(super) fn orders(
    keys: &Keys,
    lanes: Lanes,
    ascending: bool,
    first: Option<usize>,
) -> Vec<usize> {
    match keys {
        Keys::Float(keys) => sorted(keys, lanes, ascending, first, |x| x.is_nan()),
        Keys::Integer(keys) => sorted(keys, lanes, ascending, first, |_| false),
    }
}

fn sorted<K: PartialOrd + Copy + Send + Sync>(
    keys: &[K],
    lanes: Lanes,
    ascending: bool,
    first: Option<usize>,
    is_nan: fn(K) -> bool,
) -> Vec<usize> {
    let Lanes { size, outer, inner, .. } = lanes;
    let count = first.unwrap_or(size);
    let mut out = repeated(0usize, outer * count * inner);
    if out.is_empty() {
        return out;
    }
    let each = size * inner;
    let lane = |at: usize, to: &mut [usize]| {
        let from = keys.get(at * each..(at + 1) * each).unwrap_or_default();
        for k in 0..inner {
            let mut lane: Vec<(usize, K)> =
                collected(watched(from.iter().skip(k).step_by(inner)).copied().enumerate());
            sort_lane(&mut lane, ascending, first, is_nan);
            let places = to.iter_mut().skip(k).step_by(inner);
            watched(places).zip(&lane).for_each(|(to, (place, _))| *to = *place);
        }
    };
    each_chunk(&mut out, count * inner, size.div_ceil(count), &lane);
    out
}

fn sort_lane<K: PartialOrd + Copy + Send>(
    lane: &mut Vec<(usize, K)>,
    ascending: bool,
    first: Option<usize>,
    is_nan: fn(K) -> bool,
) {
    if pieces(lane).flatten().any(|&(_, key)| is_nan(key)) {
        // Comparisons with NaN are always false, so its position depends on the algorithm.
        let less = |x: &(usize, K), y: &(usize, K)| {
            spend(2);
            if ascending { x.1 < y.1 } else { x.1 > y.1 }
        };
        match first {
            None => merge::stable_sort(lane, less),
            Some(count) => {
                merge::select(lane, count, |x, y| if x.1 == y.1 { x.0 < y.0 } else { less(x, y) })
            }
        }
        return;
    }
    // Large ones are sorted by several threads.
    let run = RunHandle::current();
    let compare = |x: &(usize, K), y: &(usize, K)| {
        run.spend(2);
        let (x, y) = if ascending { (x, y) } else { (y, x) };
        x.1.partial_cmp(&y.1).unwrap_or(std::cmp::Ordering::Equal)
    };
    if let Some(count) = first.filter(|&count| count > 0 && count < lane.len() / 4) {
        let total = |x: &(usize, K), y: &(usize, K)| compare(x, y).then(x.0.cmp(&y.0));
        lane.select_nth_unstable_by(count - 1, total);
        lane.truncate(count);
        lane.sort_unstable_by(total);
    } else {
        // Both sorts allocate this much themselves, without checking the limit.
        drop(with_capacity::<(usize, K)>(lane.len()));
        if lane.len() > MIN_PARALLEL {
            lane.par_sort_by(compare);
        } else {
            lane.sort_by(compare);
        }
    }
    if let Some(count) = first {
        lane.truncate(count);
    }
}
