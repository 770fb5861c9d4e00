//! What a tensor is like, in a few numbers.

use interpreter::{Tensor, Value};
use serde::Serialize;

/// What the elements of a tensor are like.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Summary {
    /// The type, with every size.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// The sizes of the axes.
    pub(crate) shape: Vec<usize>,
    /// The least, the mean and the greatest of the finite elements, if there are any.
    pub(crate) finite: Option<(f64, f64, f64)>,
    /// How many elements are no numbers.
    pub(crate) nan: usize,
    /// How many are infinite.
    pub(crate) infinite: usize,
}

impl Summary {
    pub(crate) fn of(tensor: &Tensor) -> Summary {
        match tensor {
            // The most frequent type by far, and the largest tensors are of it.
            Tensor::F32(array) => match array.as_slice() {
                Some(numbers) => {
                    Summary::collect(tensor, numbers.iter().map(|&number| f64::from(number)))
                }
                None => Summary::collect(tensor, array.iter().map(|&number| f64::from(number))),
            },
            _ => Summary::of_numbers(tensor, &tensor.to_f64s()),
        }
    }

    /// As [`Summary::of`], where the numbers are there already.
    pub(crate) fn of_numbers(tensor: &Tensor, numbers: &[f64]) -> Summary {
        Summary::collect(tensor, numbers.iter().copied())
    }

    fn collect(tensor: &Tensor, numbers: impl Iterator<Item = f64>) -> Summary {
        let (mut least, mut most, mut sum) = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let (mut count, mut nan, mut infinite) = (0usize, 0, 0);
        for x in numbers {
            if x.is_finite() {
                count += 1;
                sum += x;
                least = least.min(x);
                most = most.max(x);
            } else if x.is_nan() {
                nan += 1;
            } else {
                infinite += 1;
            }
        }
        let finite = (count > 0).then(|| (least, sum / count as f64, most));
        let shape = tensor.shape().to_vec();
        Summary { ty: tensor.ty().to_string(), shape, finite, nan, infinite }
    }

    /// In a line: `(2, 3) min -1 mean 0.5 max 2, 1 NaN`; a scalar is its number.
    pub(crate) fn line(&self) -> String {
        let mut out = String::new();
        if self.shape.is_empty() {
            match self.finite {
                Some((number, ..)) => out += &short(number),
                None => out += if self.nan > 0 { "NaN" } else { "Inf" },
            }
            return out;
        }
        let sizes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        out += &format!("({}{})", sizes.join(", "), if sizes.len() == 1 { "," } else { "" });
        if let Some((least, mean, most)) = self.finite {
            out += &match least == most {
                true => format!(" all {}", short(least)),
                false => format!(" min {} mean {} max {}", short(least), short(mean), short(most)),
            };
        }
        for (count, what) in [(self.nan, "NaN"), (self.infinite, "Inf")] {
            if count > 0 {
                out += &format!(", {count} {what}");
            }
        }
        out
    }
}

/// A number with four digits that count.
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

/// What a value is like: the summaries of its tensors, no more than a few.
pub(crate) fn line(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => Summary::of(tensor).line(),
        Value::Tuple(_) => {
            let fields = value.as_tuple().unwrap_or_default();
            let mut shown: Vec<String> = fields.iter().take(4).map(field).collect();
            if fields.len() > shown.len() {
                shown.push(format!("{} more", fields.len() - shown.len()));
            }
            format!("({})", shown.join("; "))
        }
        Value::Data(data) => format!("{}(…)", data.constructor),
        Value::Closure(_) => "a function".to_owned(),
        Value::Ref(_) => "a reference".to_owned(),
        Value::Empty => String::new(),
    }
}

fn field(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => Summary::of(tensor).line(),
        other => other.describe(),
    }
}

#[cfg(test)]
mod tests {
    use interpreter::Element;

    use super::*;

    #[test]
    fn lines() {
        let tensor = f32::tensor(&[4], vec![1.0, -2.5, f32::NAN, f32::INFINITY]).expect("a tensor");
        assert_eq!(Summary::of(&tensor).line(), "(4,) min -2.5 mean -0.75 max 1, 1 NaN, 1 Inf");
        assert_eq!(line(&Tensor::scalar(3i32).into()), "3");
        assert_eq!(line(&Tensor::scalar(f32::NAN).into()), "NaN");
        let zeros = f32::tensor(&[2, 2], vec![0.0; 4]).expect("a tensor");
        assert_eq!(Summary::of(&zeros).line(), "(2, 2) all 0");
        let pair = Value::tuple([tensor.into(), Tensor::scalar(1i32).into()]);
        assert_eq!(line(&pair), "((4,) min -2.5 mean -0.75 max 1, 1 NaN, 1 Inf; 1)");
    }

    #[test]
    fn numbers() {
        let shown = [0.0, 1.0, -0.00001, 1234.56, 0.12345, 1e9].map(short);
        assert_eq!(shown, ["0", "1", "-1.00e-5", "1234.6", "0.1235", "1.00e9"]);
    }
}
