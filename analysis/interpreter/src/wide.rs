//! Vectorised functions of numbers in single precision.
//!
//! Each is a polynomial without branches, which the compiler vectorises; the standard library is called
//! once for each number. The results are accurate to one unit in the last place.

#![expect(
    clippy::needless_range_loop,
    reason = "adapters of iterators are not always inlined into functions with more instructions"
)]

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

use crate::interrupt::{pieces_mut, spend};

/// The instructions of this processor.
pub(crate) static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Replaces each number by its error function.
pub(crate) fn erf(numbers: &mut [f32]) {
    ARCH.dispatch(Erf(numbers));
}

/// Replaces each number by the exponential of its difference to `from`. Returns the sum of the results.
pub(crate) fn exp_less(numbers: &mut [f32], from: f32) -> f32 {
    let mut total = 0.0;
    for numbers in pieces_mut(numbers) {
        spend(numbers.len());
        total += ARCH.dispatch(Exp { numbers, from });
    }
    total
}

/// Normalises the numbers of a row to mean 0 and variance 1, in double precision, and applies `gamma`
/// and `beta`. Cancellation is not checked within a row.
pub(crate) fn standardise(row: &mut [f32], gamma: &[f64], beta: &[f64], epsilon: f64) {
    spend(4 * row.len());
    ARCH.dispatch(Standardise { row, gamma, beta, epsilon });
}

/// Returns the largest number, or negative infinity if there is none apart from NaN.
pub(crate) fn largest(numbers: &[f32]) -> f32 {
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            most[lane] = if chunk[lane] > most[lane] { chunk[lane] } else { most[lane] };
        }
    }
    most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

/// The number of independent partial results, which hide the latency of each operation.
const LANES: usize = 16;

struct Erf<'a>(&'a mut [f32]);

impl WithSimd for Erf<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let numbers = self.0;
        for at in 0..numbers.len() {
            numbers[at] = erf_of(numbers[at], !S::IS_SCALAR);
        }
    }
}

struct Exp<'a> {
    numbers: &'a mut [f32],
    from: f32,
}

impl WithSimd for Exp<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f32 {
        let (chunks, rest) = self.numbers.as_chunks_mut::<LANES>();
        let mut totals = [0f32; LANES];
        for at in 0..chunks.len() {
            let chunk = &mut chunks[at];
            for lane in 0..LANES {
                chunk[lane] = exp_of(chunk[lane] - self.from, !S::IS_SCALAR);
                totals[lane] += chunk[lane];
            }
        }
        let mut total = 0.0;
        for lane in 0..LANES {
            total += totals[lane];
        }
        for at in 0..rest.len() {
            rest[at] = exp_of(rest[at] - self.from, !S::IS_SCALAR);
            total += rest[at];
        }
        total
    }
}

/// Returns the sum of an expression of each number, as eight independent partial sums.
///
/// A function with a closure would not always be inlined into functions with more instructions.
macro_rules! eight_sums {
    ($numbers:ident, $x:ident => $value:expr) => {{
        let (chunks, rest) = $numbers.as_chunks::<8>();
        let mut sums = [0f64; 8];
        for at in 0..chunks.len() {
            let chunk = &chunks[at];
            for lane in 0..8 {
                let $x = f64::from(chunk[lane]);
                sums[lane] += $value;
            }
        }
        for at in 0..rest.len() {
            let $x = f64::from(rest[at]);
            sums[at] += $value;
        }
        let mut total = 0.0;
        for lane in 0..8 {
            total += sums[lane];
        }
        total
    }};
}

struct Standardise<'a> {
    row: &'a mut [f32],
    gamma: &'a [f64],
    beta: &'a [f64],
    epsilon: f64,
}

impl WithSimd for Standardise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Standardise { row, gamma, beta, epsilon } = self;
        let (Some(gamma), Some(beta)) = (gamma.get(..row.len()), beta.get(..row.len())) else {
            return;
        };
        let count = row.len() as f64;
        let mean = eight_sums!(row, x => x) / count;
        let variance = eight_sums!(row, x => (x - mean) * (x - mean)) / count;
        let factor = 1.0 / (variance + epsilon).sqrt();
        for at in 0..row.len() {
            let x = (f64::from(row[at]) - mean) * factor;
            row[at] = (x * gamma[at] + beta[at]) as f32;
        }
    }
}

/// Computes `a · b + c`, rounded once if `fused`.
#[inline(always)]
fn mul_add(fused: bool, a: f32, b: f32, c: f32) -> f32 {
    if fused { a.mul_add(b, c) } else { a * b + c }
}

/// Evaluates a polynomial. The coefficient of the highest power is the first.
#[inline(always)]
fn polynomial<const N: usize>(fused: bool, x: f32, coefficients: [f32; N]) -> f32 {
    let mut value = coefficients[0];
    for k in 1..N {
        value = mul_add(fused, value, x, coefficients[k]);
    }
    value
}

#[inline(always)]
fn exp_of(x: f32, fused: bool) -> f32 {
    // Adding it to a number leaves the nearest integer in the last bits.
    const ROUND: f32 = 12_582_912.0;
    // The logarithm of 2, the first part with few bits.
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
    const SERIES: [f32; 6] =
        [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    // Outside of this range the result is 0 or infinite.
    let x = x.clamp(-105.0, 89.0);
    let rounded = mul_add(fused, x, std::f32::consts::LOG2_E, ROUND);
    let power = (rounded.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let whole = rounded - ROUND;
    let rest = mul_add(fused, whole, -LOW, mul_add(fused, whole, -HIGH, x));
    let series = polynomial(fused, rest, SERIES);
    let value = mul_add(fused, series * rest, rest, rest) + 1.0;
    // In two steps: the power may be below that of the least normal number.
    let half = power >> 1;
    let two_to = |n: i32| f32::from_bits((n.wrapping_add(127) as u32) << 23);
    value * two_to(half) * two_to(power.wrapping_sub(half))
}

/// Computes the error function. `fused` tells that the processor has fused multiply-add.
#[inline(always)]
pub(crate) fn erf_of(x: f32, fused: bool) -> f32 {
    const NEAR: [f32; 6] = [
        -5.967_617e-4,
        4.991_194_2e-3,
        -2.676_813_5e-2,
        1.128_199_25e-1,
        -3.761_253_4e-1,
        1.283_791_7e-1,
    ];
    const FAR: [f32; 7] = [
        -1.728_534_7e-5,
        3.831_972e-4,
        -3.883_964_4e-3,
        2.425_462_2e-2,
        -1.067_778_8e-1,
        -6.348_467e-1,
        -1.287_175_1e-1,
    ];
    let size = x.abs();
    let near = mul_add(fused, polynomial(fused, x * x, NEAR), x, x);
    let far = polynomial(fused, size, FAR);
    let far = 1.0 - exp_of(mul_add(fused, far, size, -size), fused);
    let far = far.copysign(x);
    if size > 0.927_734_4 { far } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers() {
        for k in 0..400_000 {
            let x = (k - 210_000) as f32 / 2000.0;
            let mut numbers = [x + 1.0];
            let total = exp_less(&mut numbers, 1.0);
            let x = (x + 1.0) - 1.0;
            let wanted = f64::from(x).exp();
            let apart = (f64::from(numbers[0]) - wanted).abs();
            assert!(apart <= wanted * 1.2e-7 + 1.5e-45 || wanted > 3.4e38, "exp({x}): {numbers:?}");
            assert_eq!(total, numbers[0]);
        }
        let mut all = [0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1000.0];
        exp_less(&mut all, 0.0);
        assert_eq!(all[..3], [1.0, f32::INFINITY, 0.0]);
        assert!(all[3].is_nan() && all[4] == f32::INFINITY);
    }

    #[test]
    fn sums_and_largest() {
        let mut numbers: Vec<f32> = (0..100_003).map(|k| (k % 97) as f32 / 97.0).collect();
        assert_eq!(largest(&numbers), 96.0 / 97.0);
        let wanted: f64 = numbers.iter().map(|&x| (f64::from(x) - 1.0).exp()).sum();
        let total = f64::from(exp_less(&mut numbers, 1.0));
        assert!((total - wanted).abs() < wanted * 1e-5, "{total} {wanted}");
        assert_eq!(largest(&[]), f32::NEG_INFINITY);
        assert_eq!(largest(&[f32::NAN, 3.0]), 3.0);
    }
}
