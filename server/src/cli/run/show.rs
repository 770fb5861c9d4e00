//! Values as people read them: arrays the way numpy shows them, each with its type.

use interpreter::{Tensor, Value};
use serde_json::{Value as Json, json};
use types::ElementKind;

/// Above this many elements, the middle of each long axis is left out.
const THRESHOLD: usize = 1000;
/// How many elements are kept at either end then.
const EDGE: usize = 3;
/// How long a line may be.
const LINE: usize = 75;
/// How deep a value is shown.
const DEPTH: usize = 100;
/// How many bytes of text a value may take.
const LENGTH: usize = 1 << 20;

/// A value with the types of its tensors.
pub(super) fn human(value: &Value) -> String {
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
        Value::Empty => out.push_str("<nothing>"),
    }
}

/// The type, the elements, and what they are like.
fn tensor(tensor: &Tensor) -> String {
    let ty = tensor.ty();
    if tensor.shape().is_empty() {
        let number = elements(tensor).pop().unwrap_or_default();
        return format!("{number} ({ty})");
    }
    let mut out = format!("{ty}");
    let numbers = tensor.to_f64s();
    let known: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
    if !known.is_empty() {
        let least = known.iter().copied().fold(f64::INFINITY, f64::min);
        let most = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        out += &format!("  min {least:.6} mean {mean:.6} max {most:.6}");
        let nan = numbers.iter().filter(|x| x.is_nan()).count();
        let infinite = numbers.iter().filter(|x| x.is_infinite()).count();
        if nan > 0 {
            out += &format!(" nan {nan}");
        }
        if infinite > 0 {
            out += &format!(" inf {infinite}");
        }
    }
    out.push('\n');
    let short = numbers.len() > THRESHOLD;
    let texts = elements(tensor);
    let shown: Vec<usize> = indices(tensor.shape(), short);
    let width = shown.iter().filter_map(|&at| texts.get(at)).map(String::len).max().unwrap_or(0);
    rows(tensor.shape(), &texts, short, width, 0, 0, &mut out);
    out
}

/// The positions of the elements that are shown.
fn indices(shape: &[usize], short: bool) -> Vec<usize> {
    let mut found = vec![0];
    for &size in shape {
        let kept = kept(size, short);
        let inner: Vec<usize> = kept.into_iter().flatten().collect();
        found = found.iter().flat_map(|at| inner.iter().map(move |i| at * size + i)).collect();
    }
    found
}

/// Which of `size` positions are shown; `None` stands for what is left out.
fn kept(size: usize, short: bool) -> Vec<Option<usize>> {
    if !short || size <= 2 * EDGE {
        return (0..size).map(Some).collect();
    }
    let front = (0..EDGE).map(Some);
    front.chain([None]).chain((size - EDGE..size).map(Some)).collect()
}

fn rows(
    shape: &[usize],
    texts: &[String],
    short: bool,
    width: usize,
    offset: usize,
    depth: usize,
    out: &mut String,
) {
    let Some((&size, rest)) = shape.split_first() else {
        let text = texts.get(offset).map_or("", String::as_str);
        *out += &format!("{text:>width$}");
        return;
    };
    out.push('[');
    let stride: usize = rest.iter().product();
    for (k, at) in kept(size, short).into_iter().enumerate() {
        if k > 0 {
            if rest.is_empty() {
                // Long rows go on in the next line, as numpy breaks them.
                let line = out.len() - out.rfind('\n').map_or(0, |at| at + 1);
                if line + width + 1 > LINE {
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
                rows(rest, texts, short, width, offset + at * stride, depth + 1, out);
            }
            None => out.push_str("..."),
        }
    }
    out.push(']');
}

/// Every element as text, in one notation for all.
fn elements(tensor: &Tensor) -> Vec<String> {
    let dtype = tensor.dtype();
    match dtype.kind {
        ElementKind::Float | ElementKind::BFloat => {
            let numbers = tensor.to_f64s();
            let known = || numbers.iter().copied().filter(|x| x.is_finite() && *x != 0.0);
            let most = known().map(f64::abs).fold(0.0, f64::max);
            let least = known().map(f64::abs).fold(f64::INFINITY, f64::min);
            let scientific = most >= 1e8 || least < 1e-4 || most / least > 1e3 && most > 1e3;
            numbers.iter().map(|&x| float(x, scientific)).collect()
        }
        _ if dtype.is_bool() => {
            let word = |x: &i64| if *x != 0 { "True" } else { "False" };
            tensor.to_i64s().iter().map(|x| word(x).to_owned()).collect()
        }
        _ => match tensor {
            Tensor::U64(array) => array.iter().map(ToString::to_string).collect(),
            _ => tensor.to_i64s().iter().map(ToString::to_string).collect(),
        },
    }
}

fn float(x: f64, scientific: bool) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if scientific {
        let text = format!("{x:.6e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, number) = match exponent.strip_prefix('-') {
            Some(number) => ('-', number),
            None => ('+', exponent),
        };
        return format!("{digits}e{sign}{number:0>2}");
    }
    let text = format!("{x:.6}");
    let text = text.trim_end_matches('0');
    text.to_owned()
}

/// A value for machines: tensors with shape, type and elements; what is not finite as text.
pub(super) fn json(value: &Value) -> Json {
    json_at(value, 0)
}

fn json_at(value: &Value, depth: usize) -> Json {
    if depth > DEPTH {
        return Json::Null;
    }
    let all = |fields: &[Value]| -> Vec<Json> {
        fields.iter().map(|field| json_at(field, depth + 1)).collect()
    };
    match value {
        Value::Tensor(tensor) => {
            let data: Vec<Json> = match tensor.dtype().kind {
                ElementKind::Float | ElementKind::BFloat => {
                    let number = |x: f64| match serde_json::Number::from_f64(x) {
                        Some(number) => Json::Number(number),
                        None => json!(float(x, false)),
                    };
                    tensor.to_f64s().into_iter().map(number).collect()
                }
                _ if tensor.dtype().is_bool() => {
                    tensor.to_i64s().into_iter().map(|x| json!(x != 0)).collect()
                }
                _ => tensor.to_i64s().into_iter().map(|x| json!(x)).collect(),
            };
            json!({
                "type": tensor.ty().to_string(),
                "shape": tensor.shape(),
                "dtype": tensor.dtype().to_string(),
                "data": data,
            })
        }
        Value::Tuple(_) => json!({ "tuple": all(value.as_tuple().unwrap_or_default()) }),
        Value::Data(data) => {
            json!({ "constructor": data.constructor.as_str(), "fields": all(data.fields()) })
        }
        Value::Closure(_) => json!({ "function": true }),
        Value::Ref(cell) => json!({ "ref": json_at(&cell.get(), depth + 1) }),
        Value::Empty => Json::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter::Element;

    #[test]
    fn arrays_as_numpy_shows_them() {
        let matrix = f32::tensor(&[2, 2], vec![1.0, -2.5, 0.0, 3.25]).expect("a matrix");
        let shown = human(&matrix.into());
        assert_eq!(
            shown,
            "Tensor[(2, 2), float32]  min -2.500000 mean 0.437500 max 3.250000\n\
             [[  1. -2.5]\n [  0. 3.25]]"
        );
        let long = i32::tensor(&[2000], (0..2000).collect()).expect("a vector");
        assert!(human(&long.into()).ends_with("[   0    1    2 ... 1997 1998 1999]"));
        let wide = i32::tensor(&[40], (0..40).collect()).expect("a vector");
        let shown = human(&wide.into());
        assert!(shown.lines().skip(1).all(|line| line.len() <= LINE));
        assert_eq!(shown.lines().count(), 3);
        assert_eq!(human(&Tensor::scalar(true).into()), "True (bool)");
    }

    #[test]
    fn what_is_not_finite_is_text_in_json() {
        let numbers = f64::tensor(&[3], vec![1.5, f64::NAN, f64::NEG_INFINITY]).expect("numbers");
        let shown = json(&numbers.into());
        assert_eq!(shown["data"], json!([1.5, "nan", "-inf"]));
    }
}
