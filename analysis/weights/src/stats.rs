//! Statistics of the elements of a tensor.

use half::{bf16, f16};
use serde::Serialize;
use types::{DataType, ElementKind};

use crate::{
    payload::{DecodeError, Payload},
    section::Header,
};

/// The number of bins of a histogram: enough for a picture.
pub const BINS: usize = 64;
/// The number of bars of a histogram as text; a divisor of [`BINS`].
pub const BARS: usize = 16;
/// The number of elements that are shown.
const FIRST: usize = 6;

/// The distribution of the elements of a tensor.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Stats {
    /// The number of elements.
    #[serde(skip)]
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
    #[serde(skip)]
    pub first: Vec<f64>,
    /// The number of finite elements in each of equal parts of the range from `min` to `max`.
    #[serde(serialize_with = "<[u64]>::serialize")]
    pub histogram: [u64; BINS],
}

/// The number of elements that are converted at once.
const BLOCK: usize = 512;
/// The number of accumulators side by side, so that the compiler uses vectors.
const LANES: usize = 8;
/// A tensor of no more bytes is decoded once and kept meanwhile; a larger one is decoded twice.
const MAX_KEPT: u64 = 16 << 20;

/// Calls `f` with the elements in blocks. `None` for elements that are no single numbers.
fn blocks(dtype: DataType, bytes: &[u8], mut f: impl FnMut(&[f64])) -> Option<()> {
    macro_rules! numbers {
        ($ty:ty, $as:expr) => {{
            const SIZE: usize = size_of::<$ty>();
            let mut block = [0.0; BLOCK];
            for piece in bytes.chunks(BLOCK * SIZE) {
                let mut count = 0;
                for (to, element) in block.iter_mut().zip(piece.chunks_exact(SIZE)) {
                    // The length of a chunk is that of the type.
                    *to = $as(<$ty>::from_le_bytes(element.try_into().unwrap_or_default()));
                    count += 1;
                }
                f(&block[..count]);
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

/// Sums over the elements, of which each lane has every eighth.
struct Sums {
    min: [f64; LANES],
    max: [f64; LANES],
    sum: [f64; LANES],
    zeros: [u64; LANES],
    nans: [u64; LANES],
    infinities: [u64; LANES],
}

impl Sums {
    const EMPTY: Sums = Sums {
        min: [f64::INFINITY; LANES],
        max: [f64::NEG_INFINITY; LANES],
        sum: [0.0; LANES],
        zeros: [0; LANES],
        nans: [0; LANES],
        infinities: [0; LANES],
    };

    fn add(&mut self, lane: usize, x: f64) {
        // Without branches: what does not count is replaced by what changes nothing.
        let is_finite = x.abs() < f64::INFINITY;
        let low = if is_finite { x } else { f64::INFINITY };
        let high = if is_finite { x } else { f64::NEG_INFINITY };
        self.min[lane] = if low < self.min[lane] { low } else { self.min[lane] };
        self.max[lane] = if high > self.max[lane] { high } else { self.max[lane] };
        self.sum[lane] += if is_finite { x } else { 0.0 };
        self.zeros[lane] += u64::from(x == 0.0);
        self.nans[lane] += u64::from(x.is_nan());
        self.infinities[lane] += u64::from(x.abs() == f64::INFINITY);
    }

    fn block(&mut self, block: &[f64]) {
        let lanes = block.chunks_exact(LANES);
        let rest = lanes.remainder();
        for elements in lanes {
            for (lane, &x) in elements.iter().enumerate() {
                self.add(lane, x);
            }
        }
        for (lane, &x) in rest.iter().enumerate() {
            self.add(lane, x);
        }
    }
}

/// The bytes of the elements, decoded once or each time that they are wanted.
enum Bytes<'p, 's> {
    Kept(Vec<u8>),
    Coded(&'p Payload<'s>, &'p Header),
}

impl Bytes<'_, '_> {
    fn each(&self, mut f: impl FnMut(&[u8])) -> Result<(), DecodeError> {
        match self {
            Bytes::Kept(bytes) => {
                f(bytes);
                Ok(())
            }
            Bytes::Coded(payload, header) => payload.elements(header, f),
        }
    }
}

impl Stats {
    /// Computes the statistics of a tensor. `None` for elements that are no single numbers.
    ///
    /// # Errors
    /// The tensor cannot be decoded.
    pub fn of(payload: &Payload<'_>, header: &Header) -> Result<Option<Stats>, DecodeError> {
        let dtype = header.ty.dtype;
        if dtype.lanes != 1 || blocks(dtype, &[], |_| {}).is_none() {
            return Ok(None);
        }
        let bytes = match header.bytes() {
            Some(0..=MAX_KEPT) => Bytes::Kept(payload.decode(header)?),
            _ => Bytes::Coded(payload, header),
        };
        let mut failure = Ok(());
        let stats = Stats::of_blocks(|f| {
            if failure.is_ok() {
                failure = bytes.each(|bytes| {
                    blocks(dtype, bytes, &mut *f);
                });
            }
        });
        failure.map(|()| Some(stats))
    }

    /// Computes the statistics of elements that `each` passes on in blocks, each time that it is called.
    pub fn of_blocks(mut each: impl FnMut(&mut dyn FnMut(&[f64]))) -> Stats {
        let (mut count, mut first, mut sums) = (0, Vec::new(), Sums::EMPTY);
        each(&mut |block| {
            first.extend(block.iter().take(FIRST - first.len()));
            count += block.len() as u64;
            sums.block(block);
        });
        let sum = |counts: [u64; LANES]| counts.iter().sum::<u64>();
        let mut stats = Stats {
            count,
            min: sums.min.into_iter().fold(f64::INFINITY, f64::min),
            max: sums.max.into_iter().fold(f64::NEG_INFINITY, f64::max),
            mean: f64::NAN,
            zeros: sum(sums.zeros),
            nans: sum(sums.nans),
            infinities: sum(sums.infinities),
            first,
            histogram: [0; BINS],
        };
        let finite = count - stats.nans - stats.infinities;
        if finite == 0 {
            (stats.min, stats.max) = (f64::NAN, f64::NAN);
            return stats;
        }
        stats.mean = sums.sum.iter().sum::<f64>() / finite as f64;
        // Halves, as the width of the greatest range is infinite.
        let (low, width) = (stats.min / 2.0, stats.max / 2.0 - stats.min / 2.0);
        let scale = if width > 0.0 { BINS as f64 / width } else { 0.0 };
        let histogram = &mut stats.histogram;
        each(&mut |block| {
            for x in block.iter().filter(|x| x.is_finite()) {
                // The greatest element belongs to the last bin.
                histogram[(((x / 2.0 - low) * scale) as usize).min(BINS - 1)] += 1;
            }
        });
        stats
    }

    /// Returns the histogram as one line of [`BARS`] bars.
    pub fn bars(&self) -> String {
        let joined: Vec<u64> =
            self.histogram.chunks(BINS / BARS).map(|bins| bins.iter().sum()).collect();
        bars(&joined)
    }
}

/// Returns counts as one line of bars.
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
