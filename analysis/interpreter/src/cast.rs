//! Conversions of floating point numbers to other types, with the results of numpy on x86-64.
//!
//! The result for a number outside of the range of the new integer type is that of the processor's
//! instructions, since numpy leaves it to the C compiler; `tests/kernels/casts.py` records numpy's
//! results. For unsigned 32 bit integers, numpy's results differ between long and short arrays;
//! these are the results for short arrays.

/// Truncates toward zero. Returns the minimum for numbers out of range, as `cvttsd2si` does.
/// Conversions to fewer bits keep the lower ones of the result.
pub(crate) fn to_i32(x: f64) -> i32 {
    let x = x.trunc();
    let within = x >= f64::from(i32::MIN) && x <= f64::from(i32::MAX);
    if within { x as i32 } else { i32::MIN }
}

/// Like [`to_i32`], for 64 bits.
pub(crate) fn to_i64(x: f64) -> i64 {
    // The maximum plus one is the first number out of range.
    let within = x >= i64::MIN as f64 && x < -(i64::MIN as f64);
    if within { x as i64 } else { i64::MIN }
}

/// Returns the lower bits of the signed 64 bit integer.
pub(crate) fn to_u32(x: f64) -> u32 {
    to_i64(x) as u32
}

/// Converts to an unsigned integer. Numbers from 2^63 are reduced by it before the conversion and
/// increased after it, so that infinity becomes 0.
pub(crate) fn to_u64(x: f64) -> u64 {
    let half = -(i64::MIN as f64);
    if x >= half { to_i64(x - half).cast_unsigned() ^ (1 << 63) } else { to_i64(x).cast_unsigned() }
}

/// Rounds to single precision such that rounding the result to half precision is the same as
/// rounding the number itself: a number that is not exact gets the last bit set in its neighbour
/// nearer to zero.
pub(crate) fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    let exact = f64::from(near);
    if exact == x || x.is_nan() {
        return near;
    }
    let bits = near.to_bits();
    let toward_zero = if exact.abs() > x.abs() { bits - 1 } else { bits };
    f32::from_bits(toward_zero | 1)
}

/// Rounds to single precision.
pub(crate) fn to_single(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_to_odd() {
        for x in [0.0, -0.0, 1.5, f64::INFINITY, f64::NEG_INFINITY, 1e-320, 1e300, -1e300] {
            let near = to_odd(x);
            assert!(near == x as f32 || !(near.is_infinite() || near == 0.0), "{x}: {near}");
        }
        assert!(to_odd(f64::NAN).is_nan());
    }

    #[test]
    fn unsigned_integers() {
        let two = |power| 2f64.powi(power);
        assert_eq!((to_u64(f64::INFINITY), to_u64(f64::NAN), to_u64(-1.0)), (0, 1 << 63, u64::MAX));
        assert_eq!((to_u64(two(63)), to_u64(two(64)), to_u64(two(62))), (1 << 63, 0, 1 << 62));
        assert_eq!((to_u32(f64::NAN), to_u32(two(32) + 5.0), to_u32(-1.5)), (0, 5, u32::MAX));
        assert_eq!((to_i64(two(63)), to_i64(-two(63))), (i64::MIN, i64::MIN));
    }
}
