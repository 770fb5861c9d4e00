//! Formatting of numbers and attribute values.

use std::{
    fmt::{Display, Write},
    time::Duration,
};

use semantics::body::BinderKind;
use types::{AttrDefault, DataType};

/// Formats a number of bytes: `1.5 KiB` for 1536.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if n < 1024 {
        return counted(n, "byte");
    }
    scaled(n, 1024.0, UNITS)
}

/// Formats a number with the unit that leaves it below `base`, which each unit is of the one before it.
fn scaled(n: u64, base: f64, units: [&str; 5]) -> String {
    let mut size = n as f64 / base;
    let mut unit = 0;
    // A value that rounds to 1 of the next unit is shown in that unit.
    while size >= base - 0.05 && unit + 1 < units.len() {
        size /= base;
        unit += 1;
    }
    format!("{size:.1} {}", units[unit])
}

/// Formats a time: `2.50 s`, `12.3 ms`, `45.6 µs`.
pub fn duration(time: Duration) -> String {
    match time.as_secs_f64() {
        // A value that rounds to 1 of the next unit is shown in that unit.
        seconds if seconds >= 0.99995 => format!("{seconds:.2} s"),
        seconds if seconds >= 0.99995e-3 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{:.1} µs", seconds * 1e6),
    }
}

/// Formats a number with separators: `802,816` for 802816.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number with a unit prefix: `11.7 M` for 11689512.
pub fn short_number(n: u64) -> String {
    const UNITS: [&str; 5] = ["k", "M", "G", "T", "P"];
    if n < 10_000 {
        return number(n);
    }
    scaled(n, 1000.0, UNITS)
}

/// Formats a number with a noun: `1 byte`, `2 bytes`.
pub fn counted(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", number(n)) }
}

/// Formats the default of an attribute in Relay syntax. Returns `None` if the attribute is required.
pub fn default(default: &AttrDefault) -> Option<String> {
    Some(match default {
        AttrDefault::Required => return None,
        AttrDefault::None => "None".into(),
        AttrDefault::Int(n) => n.to_string(),
        AttrDefault::Bool(true) => "True".into(),
        AttrDefault::Bool(false) => "False".into(),
        AttrDefault::Float(x) => format!("{x}f"),
        AttrDefault::Str(text) => format!("\"{text}\""),
        // The data type follows from the arguments.
        AttrDefault::DType(dtype) if *dtype == DataType::VOID => "\"\"".into(),
        AttrDefault::DType(dtype) => format!("\"{dtype}\""),
        AttrDefault::Ints(values) => format!("{values:?}"),
        AttrDefault::Floats(values) => format!("{values:?}"),
    })
}

/// Names the kind of a variable.
pub(crate) fn binder(kind: BinderKind) -> &'static str {
    match kind {
        BinderKind::Param => "parameter",
        BinderKind::Let => "`let` variable",
        BinderKind::Graph => "graph variable",
        BinderKind::Pattern => "pattern variable",
        BinderKind::Free => "free variable",
    }
}

/// Formats `value` up to `longest` characters, and returns true if that is the whole text.
/// Formatting stops at the limit, because a type can be as large as the module.
pub fn bounded(value: impl Display, longest: usize) -> (String, bool) {
    struct BoundedText {
        text: String,
        left: usize,
    }
    impl Write for BoundedText {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            let end = text.char_indices().nth(self.left).map(|(end, _)| end);
            let part = &text[..end.unwrap_or(text.len())];
            self.left -= part.chars().count();
            self.text += part;
            // An error stops the formatting.
            if end.is_some() { Err(std::fmt::Error) } else { Ok(()) }
        }
    }
    let mut bounded = BoundedText { text: String::new(), left: longest };
    let whole = write!(bounded, "{value}").is_ok();
    (bounded.text, whole)
}

/// Formats `value` up to `longest` characters and a mark.
pub fn shortened(value: impl Display, longest: usize) -> String {
    let (text, is_whole) = bounded(value, longest);
    if is_whole { text } else { text + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_bytes_are_formatted() {
        let sizes = [0, 1, 1023, 1024, 1536, 1 << 20, 44 << 20, (1 << 30) - 1];
        let words: Vec<String> = sizes.into_iter().map(bytes).collect();
        assert_eq!(
            words,
            [
                "0 bytes",
                "1 byte",
                "1,023 bytes",
                "1.0 KiB",
                "1.5 KiB",
                "1.0 MiB",
                "44.0 MiB",
                "1.0 GiB"
            ]
        );
        let times =
            [0, 45_600, 999_949, 999_950, 12_345_678, 999_949_999, 999_950_000, 2_500_000_000];
        let words = times.map(|nanos| duration(Duration::from_nanos(nanos)));
        assert_eq!(
            words,
            ["0.0 µs", "45.6 µs", "999.9 µs", "1.0 ms", "12.3 ms", "999.9 ms", "1.00 s", "2.50 s"]
        );
        assert_eq!(number(802_816), "802,816");
        assert_eq!(bounded("größer", 6), ("größer".to_owned(), true));
        assert_eq!(bounded("größer", 3), ("grö".to_owned(), false));
        assert_eq!(bounded("", 0), (String::new(), true));
        assert_eq!([6, 3].map(|longest| shortened("größer", longest)), ["größer", "grö…"]);
        let short = [0, 9_999, 10_000, 999_949, 999_950, 11_689_512, u64::MAX].map(short_number);
        assert_eq!(short, ["0", "9,999", "10.0 k", "999.9 k", "1.0 M", "11.7 M", "18446.7 P"]);
    }
}
