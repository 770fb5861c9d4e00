//! Values as text: arrays in the format of numpy, with their types.

use std::collections::HashMap;

use interpreter::{Tensor, Value};
use types::{DataType, ElementKind};

use super::summary::Summary;

/// The number of elements above which the middle of each long axis is omitted.
const THRESHOLD: usize = 1000;
/// The number of elements at either end of such an axis.
const EDGE: usize = 3;
/// The longest line.
const LINE: usize = 75;
/// The number of elements up to which the mean is computed in double precision.
const EXACT: usize = 1 << 20;
/// The largest depth of a value.
const DEPTH: usize = 100;
/// The largest text of a value in bytes.
const LENGTH: usize = 1 << 20;
/// The largest number of elements of a tensor, which fill that text.
const MAX_ELEMENTS: usize = 1 << 18;
/// The largest number of axes of a tensor whose elements are listed, the limit of numpy.
const AXES: usize = 64;

/// Formats a value with the types of its tensors.
pub(crate) fn human(value: &Value) -> String {
    let mut out = String::new();
    put(value, 0, &mut out);
    out
}

fn put(value: &Value, depth: usize, out: &mut String) {
    if depth > DEPTH || out.len() > LENGTH {
        out.push('…');
        return;
    }
    let fields = |open: &str, fields: &[Value], close: &str, out: &mut String| {
        out.push_str(open);
        for (k, field) in fields.iter().enumerate() {
            if k > 0 {
                out.push_str(", ");
            }
            put(field, depth + 1, out);
        }
        out.push_str(close);
    };
    match value {
        Value::Tensor(t) => out.push_str(&tensor(t)),
        Value::Tuple(_) => match value.as_tuple().unwrap_or_default() {
            [one] => fields("(", std::slice::from_ref(one), ",)", out),
            many => fields("(", many, ")", out),
        },
        Value::Data(data) => {
            out.push_str(&data.constructor);
            if !data.fields().is_empty() {
                fields("(", data.fields(), ")", out);
            }
        }
        Value::Closure(_) => out.push_str("<function>"),
        Value::Ref(cell) => {
            out.push_str("ref(");
            put(&cell.get(), depth + 1, out);
            out.push(')');
        }
        Value::Unknown(_) => out.push_str("<unknown>"),
        Value::Empty | Value::Released => out.push_str("<nothing>"),
    }
}

/// Formats the type, the summary and the elements of a tensor.
fn tensor(tensor: &Tensor) -> String {
    let ty = tensor.ty();
    if tensor.shape().is_empty() {
        return format!("{} ({ty})", scalar(tensor));
    }
    let mut out = format!("{ty}");
    let summary = match tensor.len() <= EXACT {
        true => Summary::one_by_one(tensor),
        false => Summary::of(tensor),
    };
    if let Some((least, mean, most)) = summary.finite {
        out += &format!("  min {least:.6} mean {mean:.6} max {most:.6}");
    }
    if summary.nan > 0 {
        out += &format!(" nan {}", summary.nan);
    }
    if summary.infinite > 0 {
        out += &format!(" inf {}", summary.infinite);
    }
    out.push('\n');
    if tensor.is_empty() {
        out.push_str("[]");
        return out;
    }
    if tensor.rank() > AXES {
        out.push_str("[…]");
        return out;
    }
    let short = tensor.len() > THRESHOLD;
    let shown = indices(tensor.shape(), short);
    let texts: HashMap<usize, String> =
        shown.iter().copied().zip(elements(tensor, &shown)).collect();
    rows(tensor.shape(), &texts, short, 0, 0, &mut out);
    out
}

/// Formats an element of a tensor, by its position in the order of the rows.
pub(crate) fn element(tensor: &Tensor, at: usize) -> String {
    elements(tensor, &[at]).pop().unwrap_or_default().trim().trim_end_matches('.').to_owned()
}

/// Formats a scalar.
fn scalar(tensor: &Tensor) -> String {
    match tensor.dtype().kind {
        ElementKind::Float | ElementKind::BFloat => {
            let x = tensor.get_f64(0).unwrap_or(f64::NAN);
            match not_finite(x) {
                Some(text) => text.to_owned(),
                None if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) => {
                    let (digits, exponent) = scientific(x, tensor.dtype(), 17);
                    digits + &tail(exponent, 2)
                }
                None => positional(x, tensor.dtype(), 17),
            }
        }
        _ => {
            let text = elements(tensor, &[0]).pop().unwrap_or_default();
            text.trim_start().to_owned()
        }
    }
}

/// Returns the positions of the first elements that are listed, in order. The number is limited, as
/// many short axes have no middle to omit.
fn indices(shape: &[usize], short: bool) -> Vec<usize> {
    let mut found = vec![0];
    for &size in shape {
        let kept = kept(size, short);
        let inner: Vec<usize> = kept.into_iter().flatten().collect();
        let next = found.iter().flat_map(|at| inner.iter().map(move |i| at * size + i));
        found = next.take(MAX_ELEMENTS).collect();
    }
    found
}

/// Returns the listed positions of an axis; `None` denotes the omitted ones.
fn kept(size: usize, short: bool) -> Vec<Option<usize>> {
    if !short || size <= 2 * EDGE {
        return (0..size).map(Some).collect();
    }
    let front = (0..EDGE).map(Some);
    front.chain([None]).chain((size - EDGE..size).map(Some)).collect()
}

fn rows(
    shape: &[usize],
    texts: &HashMap<usize, String>,
    short: bool,
    offset: usize,
    depth: usize,
    out: &mut String,
) {
    let Some((&size, rest)) = shape.split_first() else {
        *out += texts.get(&offset).map_or("", String::as_str);
        return;
    };
    out.push('[');
    let stride: usize = rest.iter().product();
    for (k, at) in kept(size, short).into_iter().enumerate() {
        // Elements are listed in order: after one that is omitted by the limit, all are.
        let is_left_out = at.is_some_and(|at| !texts.contains_key(&(offset + at * stride)));
        if out.len() > LENGTH || is_left_out {
            out.push('…');
            break;
        }
        if k > 0 {
            if rest.is_empty() {
                // Long rows are wrapped as in numpy.
                let line = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
                let word = at.and_then(|at| texts.get(&(offset + at * stride)));
                let width = word.map_or(3, |word| word.chars().count());
                if line + 1 + width > LINE - 1 - depth.min(LINE / 2) {
                    out.truncate(out.trim_end_matches(' ').len());
                    out.push('\n');
                    out.push_str(&" ".repeat(depth + 1));
                } else {
                    out.push(' ');
                }
            } else {
                out.push_str(&"\n".repeat(rest.len()));
                out.push_str(&" ".repeat(depth + 1));
            }
        }
        match at {
            Some(at) => {
                rows(rest, texts, short, offset + at * stride, depth + 1, out);
            }
            None => out.push_str("..."),
        }
    }
    out.push(']');
}

/// Formats the elements at the given positions in one notation and of equal width.
fn elements(tensor: &Tensor, shown: &[usize]) -> Vec<String> {
    let dtype = tensor.dtype();
    let right = |texts: Vec<String>, least: usize| -> Vec<String> {
        let width = texts.iter().map(String::len).max().unwrap_or(0).max(least);
        texts.into_iter().map(|text| format!("{text:>width$}")).collect()
    };
    match dtype.kind {
        ElementKind::Float | ElementKind::BFloat => {
            let numbers: Vec<f64> = shown.iter().filter_map(|&at| tensor.get_f64(at)).collect();
            floats(&numbers, dtype)
        }
        _ if dtype.is_bool() => {
            let word = |&at: &usize| if tensor.get_f64(at) == Some(0.0) { "False" } else { "True" };
            right(shown.iter().map(word).map(str::to_owned).collect(), 5)
        }
        _ => {
            let texts = shown.iter().map(|&at| match tensor {
                Tensor::U64(array) => {
                    array.as_slice().and_then(|all| all.get(at)).map(ToString::to_string)
                }
                Tensor::I64(array) => {
                    array.as_slice().and_then(|all| all.get(at)).map(ToString::to_string)
                }
                // All other types are exact as 64-bit floats.
                _ => tensor.get_f64(at).map(|x| (x as i64).to_string()),
            });
            right(texts.map(Option::unwrap_or_default).collect(), 0)
        }
    }
}

/// The largest number of fraction digits in numpy.
const PRECISION: usize = 8;

/// Formats numbers as numpy does: the shortest text that parses as the number, with aligned points.
fn floats(numbers: &[f64], dtype: DataType) -> Vec<String> {
    let known = || numbers.iter().copied().filter(|x| x.is_finite() && *x != 0.0).map(f64::abs);
    let most = known().fold(0.0, f64::max);
    let least = known().fold(f64::INFINITY, f64::min);
    let exponents = most >= 1e8
        || known().next().is_some() && (least < 1e-4 || ratio(most, least, dtype) > 1e3);
    // The exponents have equally many digits.
    let width = if known().any(|x| !(1e-99..1e100).contains(&x)) { 3 } else { 2 };
    let parts: Vec<Option<(String, String, String)>> = numbers
        .iter()
        .map(|&x| {
            if !x.is_finite() {
                return None;
            }
            let (text, tail) = if exponents {
                let (digits, exponent) = scientific(x, dtype, PRECISION);
                (digits, tail(exponent, width))
            } else {
                (positional(x, dtype, PRECISION), String::new())
            };
            let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
            // numpy writes `0.` for `0.0`.
            let fraction = if fraction == "0" { "" } else { fraction };
            Some((whole.to_owned(), fraction.to_owned(), tail))
        })
        .collect();
    let widest = |of: fn(&(String, String, String)) -> usize| {
        parts.iter().flatten().map(of).max().unwrap_or(0)
    };
    let (left, right) = (widest(|(whole, ..)| whole.len()), widest(|(_, part, _)| part.len()));
    let decimals = right + widest(|(.., tail)| tail.len());
    let not_finite_width =
        numbers.iter().filter_map(|&x| not_finite(x)).map(str::len).max().unwrap_or(0);
    let left = left.max(not_finite_width.saturating_sub(decimals + 1));
    let text = |(part, &x): (&Option<(String, String, String)>, &f64)| match part {
        // With exponents, all fractions have equally many digits.
        Some((whole, part, tail)) if exponents => {
            let exact = format!("{x:.right$e}");
            let digits = exact.split('e').next().unwrap_or_default();
            let (whole, part) = digits.split_once('.').unwrap_or((whole, part));
            format!("{whole:>left$}.{part}{tail}")
        }
        Some((whole, part, _)) => format!("{whole:>left$}.{part:<right$}"),
        None => format!("{:>width$}", not_finite(x).unwrap_or("nan"), width = left + decimals + 1),
    };
    parts.iter().zip(numbers).map(text).collect()
}

/// Divides in the data type of the array: 100 / 0.1 is 1000 in half precision.
fn ratio(x: f64, y: f64, dtype: DataType) -> f64 {
    match (dtype.kind, dtype.bits) {
        (ElementKind::Float, 64) => x / y,
        _ => Tensor::from_f64s(dtype, &[], vec![x / y])
            .and_then(|tensor| tensor.to_f64s().first().copied())
            .unwrap_or(x / y),
    }
}

/// Returns the text of NaN and infinities.
pub(super) fn not_finite(x: f64) -> Option<&'static str> {
    match x {
        _ if x.is_nan() => Some("nan"),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

/// Formats an exponent, as in `e-05`, with at least `width` digits.
fn tail(exponent: i32, width: usize) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:0width$}", exponent.abs())
}

/// Returns the shortest mantissa, as in `1.25`, and the exponent that identify a number of this
/// type, with at most `precision` fraction digits.
fn scientific(x: f64, dtype: DataType, precision: usize) -> (String, i32) {
    let text = match (dtype.kind, dtype.bits) {
        (ElementKind::Float, 64) => format!("{x:e}"),
        (ElementKind::Float, 32) => format!("{:e}", x as f32),
        _ => {
            let same = |text: &String| {
                let read: f64 = text.parse().unwrap_or(f64::NAN);
                let read = Tensor::from_f64s(dtype, &[], vec![read]);
                read.is_some_and(|read| read.to_f64s() == [x])
            };
            let tries = (0..PRECISION).map(|digits| format!("{x:.digits$e}"));
            tries.into_iter().find(same).unwrap_or_else(|| format!("{x:e}"))
        }
    };
    let mantissa = text.split('e').next().unwrap_or_default();
    let digits = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let text = if digits > precision { format!("{x:.precision$e}") } else { text };
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (trimmed(digits).to_owned(), exponent.parse().unwrap_or(0))
}

/// Returns the shortest decimal, as in `12.5`, that identifies a number of this type, with one to
/// `precision` fraction digits.
fn positional(x: f64, dtype: DataType, precision: usize) -> String {
    let text = match (dtype.kind, dtype.bits) {
        (ElementKind::Float, 64) => format!("{x}"),
        (ElementKind::Float, 32) => format!("{}", x as f32),
        _ => {
            let (digits, exponent) = scientific(x, dtype, precision);
            let shortest: f64 = format!("{digits}e{exponent}").parse().unwrap_or(x);
            format!("{shortest}")
        }
    };
    let fraction = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let text = if fraction > precision { format!("{x:.precision$}") } else { text };
    let text = trimmed(&text);
    if text.contains('.') { text.to_owned() } else { format!("{text}.0") }
}

/// Removes zeros at the end of a fraction.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter::Element;

    #[test]
    fn arrays_have_the_format_of_numpy() {
        let matrix = f32::tensor(&[2, 2], vec![1.0, -2.5, 0.0, 3.25]).expect("a matrix");
        let shown = human(&matrix.into());
        assert_eq!(
            shown,
            "Tensor[(2, 2), float32]  min -2.500000 mean 0.437500 max 3.250000\n\
             [[ 1.   -2.5 ]\n [ 0.    3.25]]"
        );
        let long = i32::tensor(&[2000], (0..2000).collect()).expect("a vector");
        assert!(human(&long.into()).ends_with("[   0    1    2 ... 1997 1998 1999]"));
        let wide = i32::tensor(&[40], (0..40).collect()).expect("a vector");
        let shown = human(&wide.into());
        assert!(shown.lines().skip(1).all(|line| line.len() <= LINE));
        assert_eq!(shown.lines().count(), 3);
        assert_eq!(human(&Tensor::scalar(true).into()), "True (bool)");
    }

    /// The expected texts are those of `print(numpy.array(…))`.
    #[test]
    fn numbers_have_the_format_of_numpy() {
        let written = |tensor: Option<Tensor>| {
            let shown = human(&tensor.expect("an array").into());
            shown.lines().skip(1).collect::<Vec<_>>().join("\n")
        };
        let singles = |numbers: &[f32]| written(f32::tensor(&[numbers.len()], numbers.to_vec()));
        assert_eq!(singles(&[0.1, 0.25, 1.0 / 3.0]), "[0.1        0.25       0.33333334]");
        assert_eq!(singles(&[1e-5, 1.0]), "[1.e-05 1.e+00]");
        assert_eq!(singles(&[1.5e-5, -1.0]), "[ 1.5e-05 -1.0e+00]");
        assert_eq!(singles(&[1.0, f32::NAN, f32::NEG_INFINITY]), "[  1.  nan -inf]");
        assert_eq!(singles(&[0.0, 0.0]), "[0. 0.]");
        assert_eq!(singles(&[f32::NAN]), "[nan]");
        assert_eq!(written(f64::tensor(&[1], vec![2.0 / 3.0])), "[0.66666667]");
        let halves = Tensor::from_f64s(DataType::FLOAT16, &[2], vec![0.1, 2.0]);
        assert_eq!(written(halves), "[0.1 2. ]");
        assert_eq!(written(bool::tensor(&[2], vec![true, true])), "[ True  True]");
        assert_eq!(written(i64::tensor(&[1], vec![i64::MAX])), "[9223372036854775807]");
        assert_eq!(written(f32::tensor(&[2, 0], Vec::new())), "[]");
        assert_eq!(human(&Tensor::scalar(0.1f32).into()), "0.1 (float32)");
        assert_eq!(human(&Tensor::scalar(2.0f64).into()), "2.0 (float64)");
        assert_eq!(human(&Tensor::scalar(1.5e-7f32).into()), "1.5e-07 (float32)");
    }

    /// The expected texts were printed by numpy: see `tests/printing`.
    #[test]
    fn arrays_equal_those_printed_by_numpy() {
        let cases = include_str!("../../../tests/printing/cases.jsonl");
        let mut differ = Vec::new();
        for (number, line) in cases.lines().enumerate() {
            let case: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let name = case["dtype"].as_str().expect("a data type");
            let dtype = DataType::parse(name).expect("a data type");
            let shape: Vec<usize> = serde_json::from_value(case["shape"].clone()).expect("sizes");
            let digits = case["data"].as_str().expect("digits").as_bytes();
            let digit = |digit: u8| char::from(digit).to_digit(16).expect("a digit") as u8;
            let bytes: Vec<u8> =
                digits.chunks(2).map(|pair| 16 * digit(pair[0]) + digit(pair[1])).collect();
            let tensor = Tensor::from_le_bytes(dtype, &shape, &bytes).expect("an array");
            let shown = human(&tensor.into());
            let shown = match shape.is_empty() {
                true => shown.split(' ').next().unwrap_or_default().to_owned(),
                false => shown.split_once('\n').map_or("", |(_, rows)| rows).to_owned(),
            };
            let expected = case["text"].as_str().expect("a text");
            if shown != expected {
                differ.push(format!("line {}: {name} {shape:?}\n{expected}\n{shown}", number + 1));
            }
        }
        let first = differ.iter().take(25).cloned().collect::<Vec<_>>().join("\n\n");
        assert!(differ.is_empty(), "{} of {}:\n{first}", differ.len(), cases.lines().count());
    }

    #[test]
    fn tensors_of_many_axes_and_no_elements() {
        let empty = |shape: &[usize]| {
            human(&Tensor::zeros(DataType::FLOAT32, shape).expect("a tensor").into())
        };
        let text = "Tensor[(0, 4611686018427387904), float32]\n[]";
        assert_eq!(empty(&[0, 1 << 62]), text);
        assert!(empty(&[1 << 62, 0, 1]).ends_with("\n[]"));
        // No axis is long enough to have a middle, and there are 2^22 elements.
        let cube = Tensor::zeros(DataType::INT8, &[2; 22]).expect("a tensor");
        let shown = human(&cube.into());
        assert!(shown.len() < 2 * LENGTH && shown.contains('…'), "{}", shown.len());
        let deep = Tensor::zeros(DataType::INT8, &[1; 10_000]).expect("a tensor");
        assert!(human(&deep.into()).ends_with("\n[…]"));
    }

    #[test]
    fn shared_parts_are_limited() {
        let mut value = Value::from(Tensor::scalar(1i32));
        for _ in 0..60 {
            value = Value::tuple([value.clone(), value]);
        }
        assert!(human(&value).len() < 2 * LENGTH);
    }
}
