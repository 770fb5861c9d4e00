//! Statistics of the elements of a tensor.

use half::{bf16, f16};
use types::{DataType, ElementKind};

use crate::{
    payload::{DecodeError, Payload},
    section::Header,
};

/// The number of bins of a histogram.
pub const BINS: usize = 16;
/// The number of elements that are shown.
const FIRST: usize = 6;

/// The distribution of the elements of a tensor.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stats {
    /// The number of elements.
    pub count: u64,
    /// The smallest finite element.
    pub min: f64,
    /// The largest finite element.
    pub max: f64,
    /// The mean of the finite elements.
    pub mean: f64,
    /// The number of zeros, of either sign.
    pub zeros: u64,
    /// The number of NaN elements.
    pub nans: u64,
    /// The number of infinite elements, of either sign.
    pub infinities: u64,
    /// The first elements.
    pub first: Vec<f64>,
    /// The number of finite elements in each of equal parts of the range from `min` to `max`.
    pub histogram: [u64; BINS],
}

/// Calls `f` with each element.
fn each(dtype: DataType, bytes: &[u8], mut f: impl FnMut(f64)) -> Option<()> {
    macro_rules! numbers {
        ($ty:ty, $as:expr) => {{
            for element in bytes.chunks_exact(size_of::<$ty>()) {
                // The length of a chunk is that of the type.
                f($as(<$ty>::from_le_bytes(element.try_into().unwrap_or_default())));
            }
            Some(())
        }};
    }
    match (dtype.kind, dtype.bits) {
        (ElementKind::UInt, 1) => numbers!(u8, |x: u8| f64::from(u8::from(x != 0))),
        (ElementKind::UInt, 8) => numbers!(u8, f64::from),
        (ElementKind::UInt, 16) => numbers!(u16, f64::from),
        (ElementKind::UInt, 32) => numbers!(u32, f64::from),
        (ElementKind::UInt, 64) => numbers!(u64, |x| x as f64),
        (ElementKind::Int, 8) => numbers!(i8, f64::from),
        (ElementKind::Int, 16) => numbers!(i16, f64::from),
        (ElementKind::Int, 32) => numbers!(i32, f64::from),
        (ElementKind::Int, 64) => numbers!(i64, |x| x as f64),
        (ElementKind::Float, 16) => numbers!(f16, f64::from),
        (ElementKind::Float, 32) => numbers!(f32, f64::from),
        (ElementKind::Float, 64) => numbers!(f64, f64::from),
        (ElementKind::BFloat, 16) => numbers!(bf16, f64::from),
        _ => None,
    }
}

impl Stats {
    /// Computes the statistics of a tensor, in two passes over its text. `None` for elements that are
    /// no single numbers.
    ///
    /// # Errors
    /// The tensor cannot be decoded.
    pub fn of(payload: &Payload<'_>, header: &Header) -> Result<Option<Stats>, DecodeError> {
        let dtype = header.ty.dtype;
        if dtype.lanes != 1 || each(dtype, &[], |_| {}).is_none() {
            return Ok(None);
        }
        let mut stats = Stats { min: f64::INFINITY, max: f64::NEG_INFINITY, ..Stats::default() };
        let mut sum = 0.0;
        payload.elements(header, |bytes| {
            each(dtype, bytes, |x| {
                if stats.first.len() < FIRST {
                    stats.first.push(x);
                }
                stats.count += 1;
                stats.zeros += u64::from(x == 0.0);
                if x.is_finite() {
                    stats.min = stats.min.min(x);
                    stats.max = stats.max.max(x);
                    sum += x;
                } else if x.is_nan() {
                    stats.nans += 1;
                } else {
                    stats.infinities += 1;
                }
            });
        })?;
        let finite = stats.count - stats.nans - stats.infinities;
        if finite == 0 {
            (stats.min, stats.max, stats.mean) = (f64::NAN, f64::NAN, f64::NAN);
            return Ok(Some(stats));
        }
        stats.mean = sum / finite as f64;
        // Halves, as the width of the greatest range is infinite.
        let (low, width) = (stats.min / 2.0, stats.max / 2.0 - stats.min / 2.0);
        let scale = if width > 0.0 { BINS as f64 / width } else { 0.0 };
        let histogram = &mut stats.histogram;
        payload.elements(header, |bytes| {
            each(dtype, bytes, |x| {
                if x.is_finite() {
                    // The greatest element belongs to the last bin.
                    histogram[(((x / 2.0 - low) * scale) as usize).min(BINS - 1)] += 1;
                }
            });
        })?;
        Ok(Some(stats))
    }
}

/// Returns a histogram as one line of bars.
pub fn bars(histogram: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = histogram.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &u64| match count {
        0 => ' ',
        // Every nonzero count is visible.
        count => BARS[((count as f64 / most as f64 * 8.0).ceil() as usize).clamp(1, 8) - 1],
    };
    histogram.iter().map(bar).collect()
}
