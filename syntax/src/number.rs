//! The parts of numbers.

/// Returns the digits and the width of an integer: `3`, `3i64`, or `int64(3)` of TVM 0.5. The width is empty if the
/// text has none.
pub fn int_parts(text: &str) -> (&str, &str) {
    // Nearly all numbers have no suffix, and a search of a string prepares itself for longer than this takes.
    let Some(at) = text.bytes().position(|byte| byte == b'i') else { return (text, "") };
    let old = text.strip_prefix("int64(").and_then(|rest| rest.strip_suffix(')'));
    old.map_or((&text[..at], &text[at + 1..]), |digits| (digits, "64"))
}

/// Returns the digits of a floating-point number, `inf` or `nan`, and the text after its `f`: `1.5f16`, or
/// `float64(1.5)` of TVM 0.5.
pub fn float_parts(text: &str) -> (&str, Option<&str>) {
    if let Some(digits) = text.strip_prefix("float64(").and_then(|rest| rest.strip_suffix(')')) {
        return (digits, Some("64"));
    }
    // `inff` and `nanf` have a suffix directly after the name.
    match text.get(..3) {
        Some(name @ ("inf" | "nan")) => (name, text[3..].strip_prefix('f')),
        _ => text.split_once('f').map_or((text, None), |(digits, suffix)| (digits, Some(suffix))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_numbers() {
        for (text, parts) in [("3", ("3", "")), ("3i64", ("3", "64")), ("int64(-3)", ("-3", "64"))]
        {
            assert_eq!(int_parts(text), parts, "{text}");
        }
        for (text, parts) in [
            ("1.5", ("1.5", None)),
            ("1e-5f16", ("1e-5", Some("16"))),
            ("inff", ("inf", Some(""))),
            ("float64(1e-05)", ("1e-05", Some("64"))),
            ("float64(inf)", ("inf", Some("64"))),
        ] {
            assert_eq!(float_parts(text), parts, "{text}");
        }
    }
}
