//! The calls of `tests/kernels/cases.jsonl` with their results, which `tests/kernels/make.py` writes.

use interpreter::Tensor;
use serde::Deserialize;
use types::DataType;

use crate::corpus::here;

/// A call of an operator with its arguments.
#[derive(Deserialize)]
pub struct Case {
    /// The call; its arguments are `%a`, `%b`, ….
    pub expr: String,
    /// The arguments.
    pub args: Vec<Array>,
    /// The tensors of the result.
    #[serde(default)]
    pub out: Vec<Array>,
    /// The absolute and relative difference from them that floating-point numbers may have.
    #[serde(default)]
    pub tolerance: f64,
    /// The message of an operator that cannot be computed.
    pub fault: Option<String>,
    /// Definitions before `@main`.
    #[serde(default)]
    pub before: String,
    /// The metadata section.
    #[serde(default)]
    pub after: String,
}

/// An argument or a result.
#[derive(Deserialize)]
pub struct Array {
    dtype: String,
    /// Its sizes, outermost axis first.
    pub shape: Vec<usize>,
    /// Its elements, row by row.
    pub data: Vec<serde_json::Value>,
}

impl Case {
    /// The program: `@main` with the arguments as parameters.
    pub fn text(&self) -> String {
        let params = self.args.iter().zip('a'..);
        let params = params.map(|(arg, name)| format!("%{name}: {}", arg.tensor().ty()));
        let params = params.collect::<Vec<_>>().join(", ");
        format!("{}\ndef @main({params}) {{ {} }}\n{}", self.before, self.expr, self.after)
    }
}

impl Array {
    /// The data type of its elements.
    ///
    /// # Panics
    /// There is no such data type.
    pub fn dtype(&self) -> DataType {
        DataType::parse(&self.dtype).expect("a data type")
    }

    /// Returns true for floating-point elements.
    pub fn is_float(&self) -> bool {
        self.dtype().is_float() || self.dtype().is_bfloat()
    }

    /// Returns the elements as floating-point numbers.
    ///
    /// # Panics
    /// An element is not a number.
    pub fn floats(&self) -> Vec<f64> {
        let number = |value: &serde_json::Value| match value {
            serde_json::Value::String(name) => name.parse().expect("nan, inf or -inf"),
            other => other.as_f64().expect("a number"),
        };
        self.data.iter().map(number).collect()
    }

    /// Returns the elements as exact 64-bit integers, such as keys of random generators.
    ///
    /// # Panics
    /// An element is not an integer.
    pub fn integers(&self) -> Vec<i64> {
        let number = |value: &serde_json::Value| match value {
            serde_json::Value::Bool(truth) => i64::from(*truth),
            // Numbers from 2⁶³ on are of `uint64`.
            other => match other.as_i64() {
                Some(number) => number,
                None => other.as_u64().expect("an integer").cast_signed(),
            },
        };
        self.data.iter().map(number).collect()
    }

    /// Converts it to a tensor.
    ///
    /// # Panics
    /// The elements do not fit the shape or the data type.
    pub fn tensor(&self) -> Tensor {
        let tensor = if self.is_float() {
            Tensor::from_f64s(self.dtype(), &self.shape, self.floats())
        } else {
            Tensor::from_i64s(self.dtype(), &self.shape, self.integers())
        };
        tensor.expect("as many as the shape has")
    }
}

/// Returns the ranges of the separate number tokens of an expression.
pub fn numbers(expr: &str) -> Vec<std::ops::Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '"');
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = expr[at..].find(|c: char| c.is_ascii_digit()).map(|start| at + start) {
        let end =
            expr[start..].find(|c: char| !c.is_ascii_digit()).map_or(expr.len(), |n| start + n);
        if !expr[..start].ends_with(is_part) && !expr[end..].starts_with(is_part) {
            let signed = expr[..start].ends_with('-');
            found.push(start - usize::from(signed)..end);
        }
        at = end;
    }
    found
}

/// Returns all calls of the file.
///
/// # Panics
/// The file is missing or malformed.
pub fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(here().join("kernels/cases.jsonl")).expect("the cases");
    text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect()
}
