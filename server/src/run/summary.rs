//! Summaries of tensors in a few numbers.

use interpreter::{SharedTensor, Tensor, Value};
use rayon::prelude::*;
use serde::Serialize;
use types::ElementKind;

/// A summary of the elements of a tensor.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Summary {
    /// The type.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The shape.
    pub(crate) shape: Vec<usize>,
    /// The minimum, mean and maximum of the finite elements, if there are any.
    pub(crate) finite: Option<(f64, f64, f64)>,
    /// The minimum and maximum of integers, which 64-bit floats may round.
    #[serde(skip)]
    pub(crate) exact: Option<(i128, i128)>,
    /// The number of NaN elements.
    pub(crate) nan: usize,
    /// The number of infinite elements.
    pub(crate) infinite: usize,
}

impl Summary {
    pub(crate) fn of(tensor: &Tensor) -> Summary {
        match tensor {
            // Fast path for the most frequent type, and that of the largest tensors.
            Tensor::F32(array) => match array.as_slice() {
                Some(numbers) => Summary::of_singles(tensor, numbers),
                None => Summary::one_by_one(tensor),
            },
            _ => Summary::one_by_one(tensor),
        }
    }

    /// Summarises a tensor without computing a pending transpose, which would take memory for another copy of a weight.
    fn of_shared(tensor: &SharedTensor) -> Summary {
        let of_elements = Summary::of(tensor.stored());
        Summary { ty: tensor.ty().to_string(), shape: tensor.shape().to_vec(), ..of_elements }
    }

    /// Summarises a float32 tensor with SIMD on all cores.
    fn of_singles(tensor: &Tensor, numbers: &[f32]) -> Summary {
        let mut whole = Part::default();
        for numbers in numbers.chunks(SEGMENT) {
            interpreter::poll();
            let parts = numbers.par_chunks(PIECE).map(Part::of);
            whole = whole.and(parts.reduce(Part::default, Part::and));
        }
        whole.summary(tensor)
    }

    /// Summarises a tensor like [`Summary::of`], with the sum in double precision.
    pub(crate) fn one_by_one(tensor: &Tensor) -> Summary {
        let mut whole = Part::default();
        let mut looked = 0;
        tensor.each_f64s(|numbers| {
            if looked % PIECE == 0 {
                interpreter::poll();
            }
            looked += numbers.len();
            numbers.iter().for_each(|&x| whole.add(x));
        });
        let summary = whole.summary(tensor);
        let ends = summary.finite.map(|(least, _, most)| (least, most));
        Summary { exact: ends.and_then(|ends| integers(tensor, ends)), ..summary }
    }

    /// Formats the minimum or the maximum.
    fn end(&self, number: f64, exact: fn(&(i128, i128)) -> i128) -> String {
        self.exact.as_ref().map_or_else(|| short(number), |ends| exact(ends).to_string())
    }

    /// Formats a line: `(2, 3) min -1 mean 0.5 max 2, 1 NaN`; a scalar is its number.
    pub(crate) fn line(&self) -> String {
        if self.shape.is_empty() {
            return self.brief();
        }
        let sizes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let shape = format!("({}{})", sizes.join(", "), if sizes.len() == 1 { "," } else { "" });
        let brief = self.brief();
        match self.finite {
            _ if brief.is_empty() => shape,
            Some(_) => format!("{shape} {brief}"),
            None => format!("{shape}, {brief}"),
        }
    }

    /// Formats a line without the shape: `min -1 mean 0.5 max 2, 1 NaN`.
    pub(crate) fn brief(&self) -> String {
        if self.shape.is_empty() {
            return match self.finite {
                Some((number, ..)) => self.end(number, |ends| ends.0),
                None => if self.nan > 0 { "NaN" } else { "Inf" }.to_owned(),
            };
        }
        let mut parts = Vec::new();
        if let Some((least, mean, most)) = self.finite {
            parts.push(match least == most {
                true => format!("all {}", self.end(least, |ends| ends.0)),
                false => {
                    let (least, most) =
                        (self.end(least, |ends| ends.0), self.end(most, |ends| ends.1));
                    format!("min {least} mean {} max {most}", short(mean))
                }
            });
        }
        for (count, what) in [(self.nan, "NaN"), (self.infinite, "Inf")] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        parts.join(", ")
    }
}

/// Returns the ends of a tensor of integers, given as 64-bit floats.
fn integers(tensor: &Tensor, (least, most): (f64, f64)) -> Option<(i128, i128)> {
    fn ends<T: Copy + Ord + Into<i128>>(numbers: &[T]) -> Option<(i128, i128)> {
        Some(((*numbers.iter().min()?).into(), (*numbers.iter().max()?).into()))
    }
    match tensor {
        Tensor::I64(array) => ends(array.as_slice()?),
        Tensor::U64(array) => ends(array.as_slice()?),
        _ => {
            let kind = tensor.dtype().kind;
            let is_integer = matches!(kind, ElementKind::Int | ElementKind::UInt);
            is_integer.then_some((least as i128, most as i128))
        }
    }
}

/// The number of elements between checks for cancellation, less than a millisecond.
const SEGMENT: usize = 1 << 20;
/// The number of elements of a parallel task.
const PIECE: usize = 1 << 16;
/// The number of elements that are summed in single precision.
const RUN: usize = 512;
/// The number of SIMD lanes.
const LANES: usize = 8;

/// The summary of some elements.
#[derive(Clone, Copy)]
pub(super) struct Part {
    least: f64,
    most: f64,
    sum: f64,
    count: usize,
    pub(super) nan: usize,
    pub(super) infinite: usize,
}

impl Default for Part {
    fn default() -> Part {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        Part { least, most, sum: 0.0, count: 0, nan: 0, infinite: 0 }
    }
}

impl Part {
    /// Adds an element.
    pub(super) fn add(&mut self, x: f64) {
        if x.is_finite() {
            self.least = self.least.min(x);
            self.most = self.most.max(x);
            self.sum += x;
            self.count += 1;
        } else if x.is_nan() {
            self.nan += 1;
        } else {
            self.infinite += 1;
        }
    }

    /// Returns the mean of the finite elements.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }

    /// Returns the summary of the tensor that it is, apart from the ends of integers.
    fn summary(&self, tensor: &Tensor) -> Summary {
        let (ty, shape) = (tensor.ty().to_string(), tensor.shape().to_vec());
        let finite = (self.count > 0).then(|| (self.least, self.mean(), self.most));
        Summary { ty, shape, finite, exact: None, nan: self.nan, infinite: self.infinite }
    }

    fn of(numbers: &[f32]) -> Part {
        numbers.chunks(RUN).map(Part::of_run).fold(Part::default(), Part::and)
    }

    fn of_run(numbers: &[f32]) -> Part {
        let mut least = [f32::INFINITY; LANES];
        let mut most = [f32::NEG_INFINITY; LANES];
        let mut sum = [0f32; LANES];
        let (chunks, rest) = numbers.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                least[lane] = least[lane].min(chunk[lane]);
                most[lane] = most[lane].max(chunk[lane]);
                sum[lane] += chunk[lane];
            }
        }
        // Fast path: a finite sum has only finite terms.
        let total: f64 = sum.iter().copied().map(f64::from).sum();
        if total.is_finite() {
            let part = Part {
                least: least.into_iter().fold(f32::INFINITY, f32::min).into(),
                most: most.into_iter().fold(f32::NEG_INFINITY, f32::max).into(),
                sum: total,
                count: numbers.len() - rest.len(),
                ..Part::default()
            };
            return part.and(Part::one_by_one(rest));
        }
        Part::one_by_one(numbers)
    }

    fn one_by_one(numbers: &[f32]) -> Part {
        let mut part = Part::default();
        numbers.iter().for_each(|&x| part.add(f64::from(x)));
        part
    }

    fn and(self, other: Part) -> Part {
        Part {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            sum: self.sum + other.sum,
            count: self.count + other.count,
            nan: self.nan + other.nan,
            infinite: self.infinite + other.infinite,
        }
    }
}

/// Formats a number with four significant digits.
pub(crate) fn short(x: f64) -> String {
    let text = match x.abs() {
        size if size != 0.0 && !(1e-3..1e6).contains(&size) => return format!("{x:.2e}"),
        size if size >= 1000.0 => format!("{x:.1}"),
        size if size >= 1.0 => format!("{x:.3}"),
        _ => format!("{x:.4}"),
    };
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns the summaries of a tensor, or of the first fields of a tuple.
pub(crate) fn of_value(value: &Value) -> Vec<Summary> {
    match value {
        Value::Tensor(tensor) => vec![Summary::of_shared(tensor)],
        Value::Tuple(_) => {
            let fields = value.as_tuple().unwrap_or_default().iter().take(FIELDS);
            let tensors = fields.filter_map(|field| match field {
                Value::Tensor(tensor) => Some(tensor),
                _ => None,
            });
            tensors.map(Summary::of_shared).collect()
        }
        _ => Vec::new(),
    }
}

/// The number of fields of a tuple that are summarised.
const FIELDS: usize = 4;

/// Formats the summaries from [`of_value`] in one line.
pub(crate) fn line(value: &Value, summaries: &[Summary]) -> String {
    join(value, summaries, Summary::line)
}

/// Formats the summaries without shapes.
pub(crate) fn brief(value: &Value, summaries: &[Summary]) -> String {
    join(value, summaries, Summary::brief)
}

fn join(value: &Value, summaries: &[Summary], tensor: fn(&Summary) -> String) -> String {
    match value {
        Value::Tensor(_) => summaries.first().map(tensor).unwrap_or_default(),
        Value::Tuple(_) => {
            let fields = value.as_tuple().unwrap_or_default();
            let mut tensors = summaries.iter();
            let field = |value: &Value| match value {
                Value::Tensor(_) => tensors.next().map(tensor).unwrap_or_default(),
                other => contents(other, MAX_INLINE),
            };
            let mut shown: Vec<String> = fields.iter().take(FIELDS).map(field).collect();
            if fields.len() > shown.len() {
                shown.push(format!("{} more", fields.len() - shown.len()));
            }
            format!("({})", shown.join("; "))
        }
        Value::Data(_) => contents(value, MAX_INLINE),
        Value::Closure(_) => "a function".to_owned(),
        Value::Ref(_) => "a reference".to_owned(),
        Value::Unknown(_) | Value::Empty | Value::Released => String::new(),
    }
}

/// The length from which a value in one line is cut.
const MAX_INLINE: usize = 40;

/// Formats a value with its fields: `Cons(1, Cons(2, Nil))`. Scalars are numbers, other tensors their types. The text
/// is cut where it exceeds `limit` bytes.
pub(crate) fn contents(value: &Value, limit: usize) -> String {
    let mut out = String::new();
    put(value, limit, &mut out);
    out
}

fn put(value: &Value, limit: usize, out: &mut String) {
    if out.len() >= limit {
        out.push('…');
        return;
    }
    match value {
        Value::Tensor(tensor) if tensor.shape().is_empty() => *out += &Summary::of(tensor).line(),
        Value::Tensor(tensor) => *out += &tensor.ty().to_string(),
        Value::Tuple(_) => put_fields(value.as_tuple().unwrap_or_default(), limit, out),
        Value::Data(data) => {
            *out += &data.constructor;
            if !data.fields().is_empty() {
                put_fields(data.fields(), limit, out);
            }
        }
        Value::Closure(_) => *out += "a function",
        Value::Ref(_) => *out += "a reference",
        Value::Unknown(_) | Value::Empty | Value::Released => {}
    }
}

/// The nesting is bounded by the limit: each level has a parenthesis.
fn put_fields(fields: &[Value], limit: usize, out: &mut String) {
    out.push('(');
    for (at, field) in fields.iter().enumerate() {
        if out.trim_end_matches(')').ends_with('…') {
            break;
        }
        if at > 0 {
            *out += ", ";
        }
        put(field, limit, out);
    }
    out.push(')');
}

#[cfg(test)]
mod tests {
    use interpreter::Element;

    use super::*;

    #[test]
    fn lines() {
        let line = |value: &Value| line(value, &of_value(value));
        let tensor = f32::tensor(&[4], vec![1.0, -2.5, f32::NAN, f32::INFINITY]).expect("a tensor");
        assert_eq!(Summary::of(&tensor).line(), "(4,) min -2.5 mean -0.75 max 1, 1 NaN, 1 Inf");
        assert_eq!(line(&Tensor::scalar(3i32).into()), "3");
        assert_eq!(line(&Tensor::scalar(f32::NAN).into()), "NaN");
        let zeros = f32::tensor(&[2, 2], vec![0.0; 4]).expect("a tensor");
        assert_eq!(Summary::of(&zeros).line(), "(2, 2) all 0");
        let pair = Value::tuple([tensor.into(), Tensor::scalar(1i32).into()]);
        assert_eq!(line(&pair), "((4,) min -2.5 mean -0.75 max 1, 1 NaN, 1 Inf; 1)");
        let brief = |value: &Value| brief(value, &of_value(value));
        assert_eq!(brief(&pair), "(min -2.5 mean -0.75 max 1, 1 NaN, 1 Inf; 1)");
        let not_finite = f32::tensor(&[2], vec![f32::NAN, f32::INFINITY]).expect("a tensor");
        assert_eq!(Summary::of(&not_finite).line(), "(2,), 1 NaN, 1 Inf");
        assert_eq!(brief(&not_finite.into()), "1 NaN, 1 Inf");
        let empty = f32::tensor(&[0], Vec::new()).expect("a tensor");
        assert_eq!(
            (Summary::of(&empty).line(), Summary::of(&empty).brief()),
            ("(0,)".into(), String::new())
        );
    }

    #[test]
    fn integers_are_exact() {
        let scalar = |value: Value| line(&value, &of_value(&value));
        assert_eq!(scalar(Tensor::scalar(30_000_001i32).into()), "30000001");
        assert_eq!(scalar(Tensor::scalar(i64::MAX).into()), "9223372036854775807");
        let ends = i64::tensor(&[2], vec![i64::MIN, 1]).expect("a tensor");
        assert!(Summary::of(&ends).line().starts_with("(2,) min -9223372036854775808 mean "));
    }

    #[test]
    fn pieces_and_one_by_one_agree() {
        for count in [1usize, 7, 8, 511, 513, 70_000, 200_000] {
            let mut numbers: Vec<f32> = (0..count).map(|k| (k % 97) as f32 - 40.5).collect();
            for special in [None, Some(f32::NAN), Some(f32::NEG_INFINITY), Some(f32::MAX)] {
                if let Some(special) = special {
                    numbers[count / 2] = special;
                    numbers[count - 1] = special;
                }
                let tensor = f32::tensor(&[count], numbers.clone()).expect("a tensor");
                let (fast, slow) = (Summary::of(&tensor), Summary::one_by_one(&tensor));
                assert_eq!((fast.nan, fast.infinite), (slow.nan, slow.infinite));
                assert_eq!(fast.finite.map(|f| (f.0, f.2)), slow.finite.map(|f| (f.0, f.2)));
                let mean = |summary: &Summary| summary.finite.map_or(0.0, |finite| finite.1);
                let (a, b) = (mean(&fast), mean(&slow));
                assert!((a - b).abs() <= 1e-3 * b.abs().max(1.0), "{count} {special:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn numbers() {
        let shown = [0.0, 1.0, -0.00001, 1234.56, 0.12345, 1e9].map(short);
        assert_eq!(shown, ["0", "1", "-1.00e-5", "1234.6", "0.1235", "1.00e9"]);
    }
}
