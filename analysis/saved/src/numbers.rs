//! Formatting of numbers as in C++, and of scalar arrays.

use base64::{Engine, engine::general_purpose::STANDARD};

/// Formats a number like an output stream of C++: with six significant digits.
pub(crate) fn general(value: f64) -> String {
    rounded(value, 6)
}

/// Returns a number as TVM 0.14 saves it: with all of its digits.
pub(crate) fn whole(value: f64) -> String {
    rounded(value, 17)
}

/// Returns a number with as many significant digits, without the zeros at the end.
fn rounded(value: f64, most: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let scientific = format!("{:.*e}", most - 1, value);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..most as i32).contains(&exponent) {
        let places = (most as i32 - 1 - exponent) as usize;
        return trimmed(&format!("{value:.places$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

/// Removes trailing zeros after a decimal point.
fn trimmed(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// Converts a half-precision number.
pub(crate) fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let [exponent, fraction] = [i32::from(bits >> 10 & 31), i32::from(bits & 1023)];
    match exponent {
        0 => sign * fraction as f32 * 2f32.powi(-24),
        31 if fraction == 0 => sign * f32::INFINITY,
        31 => f32::NAN.copysign(sign),
        _ => sign * (fraction + 1024) as f32 * 2f32.powi(exponent - 25),
    }
}

/// Returns the literal of an array without axes, if TVM has literals of its data type.
pub(crate) fn scalar(encoded: &str) -> Option<String> {
    // The header of an array without axes has 40 bytes, and the longest element 8.
    let head = encoded.as_bytes();
    let head = &head[..head.len().min(64)];
    let bytes = STANDARD.decode(head).ok()?;
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let is_array = word(4)? == 0xDD5E_40F0;
    if !is_array || word(24)? != 0 {
        return None;
    }
    let [code, bits, low, high] = word(28)?.to_le_bytes();
    if u16::from_le_bytes([low, high]) != 1 {
        return None;
    }
    let element = bytes.get(40..)?;
    let whole = |count: usize| {
        let mut wide = [0; 8];
        wide[..count].copy_from_slice(element.get(..count)?);
        Some(i64::from_le_bytes(wide))
    };
    Some(match (code, bits) {
        (0, 16) => format!("{}i16", whole(2)? as i16),
        (0, 32) => format!("{}", whole(4)? as i32),
        (0, 64) => format!("{}i64", whole(8)?),
        (1, 1) => if whole(1)? != 0 { "True" } else { "False" }.to_owned(),
        (2, 16) => format!("{}f16", general(half(whole(2)? as u16).into())),
        (2, 32) => format!("{}f", general(f32::from_bits(whole(4)? as u32).into())),
        (2, 64) => format!("{}f64", general(f64::from_bits(whole(8)? as u64))),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let shown = |value: f64| general(value);
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (0.000_1, "0.0001"),
            (0.000_012_345_67, "1.23457e-05"),
            (999_999.5, "1e+06"),
            (1e100, "1e+100"),
            (f64::NEG_INFINITY, "-inf"),
            (9.999_995e-5, "0.0001"),
        ] {
            assert_eq!(shown(value), text);
        }
    }

    #[test]
    fn saved_numbers_have_all_digits() {
        for (value, text) in [
            (1e-5, "1.0000000000000001e-05"),
            (0.1, "0.10000000000000001"),
            (0.5, "0.5"),
            (1e300, "1.0000000000000001e+300"),
            (-3.0, "-3"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(whole(value), text);
        }
    }

    #[test]
    fn halves_are_widened() {
        for (bits, value) in [(0x3C00, 1.0), (0xC000, -2.0), (1, 5.960_464_5e-8), (0x7BFF, 65504.0)]
        {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7E00).is_nan());
    }
}
