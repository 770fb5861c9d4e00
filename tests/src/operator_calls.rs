//! Random calls of every operator, and the law that they satisfy: a call without errors runs to a value of
//! exactly the inferred type, or fails with a reason.
//!
//! Nothing here is about a particular operator. The attributes and their kinds are those of the table; the
//! calls of the markdown tests and of `tests/kernels/cases.jsonl`, of which every operator has one, are the
//! [`seeds`]. [`random`] changes a seed by the choices of a tape, [`law`] checks the result, and [`shrink`]
//! reduces a call that violates the law.

mod law;
mod random;
mod seeds;
mod shrink;

use std::fmt::Write;

pub use law::{Outcome, Violation, check_law};
use operators::Operator;
pub use random::random;
pub use seeds::{WITHOUT_CALL, callable, read_seeds};
pub use shrink::shrink;
use types::{AttrField, AttrSchema, AttrValue, DataType, Dim, Type};

use interpreter::{Tensor, Value, count_of};

/// The largest number of elements of an argument.
const MAX_ELEMENTS: usize = 4096;

/// A call of an operator with its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// The operator.
    pub operator: &'static Operator,
    form: Form,
    /// The arguments, which are the parameters of the function around the call.
    pub args: Vec<Arg>,
    /// True if the square of the result is computed as well: elementwise calls are computed together with
    /// the call before them.
    is_squared: bool,
}

/// The text of a call.
#[derive(Clone, Debug)]
enum Form {
    /// `operator(%a, %b, name=value)`
    Table(Vec<(&'static AttrField, AttrValue)>),
    /// An expression of a test with what it needs around, for an operator whose arguments are not all
    /// tensors. Its numbers change.
    Text { before: String, expr: String, after: String },
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A tensor.
    Tensor(TensorArg),
    /// A tuple.
    Tuple(Vec<Arg>),
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct TensorArg {
    dtype: DataType,
    shape: Vec<usize>,
    /// For each axis true if its declared size is `?`.
    open: Vec<bool>,
    /// True for a scalar that is written into the call.
    literal: bool,
    elements: Elements,
}

/// The elements of a tensor.
#[derive(Clone, Debug)]
enum Elements {
    /// All are equal.
    All(i64),
    /// `first`, `first + step`, …, modulo `period`.
    Counting { first: i64, step: i64, period: i64 },
    /// Those of a test, repeated to fill the shape.
    Given(Vec<f64>),
}

impl TensorArg {
    fn new(dtype: DataType, shape: Vec<usize>) -> TensorArg {
        let open = vec![false; shape.len()];
        let elements = Elements::Counting { first: 0, step: 1, period: 5 };
        TensorArg { dtype, shape, open, literal: false, elements }
    }

    fn number(&self, at: usize) -> f64 {
        match &self.elements {
            Elements::All(number) => *number as f64,
            Elements::Counting { first, step, period } => {
                ((first + step * at as i64) % period) as f64
            }
            Elements::Given(numbers) => {
                numbers.get(at % numbers.len().max(1)).copied().unwrap_or(0.0)
            }
        }
    }

    fn value(&self) -> Option<Tensor> {
        let count = count_of(&self.shape).filter(|&count| count <= MAX_ELEMENTS)?;
        Tensor::from_f64s(self.dtype, &self.shape, (0..count).map(|at| self.number(at)).collect())
    }

    fn ty(&self) -> Type {
        let sizes = self.shape.iter().zip(&self.open);
        let sizes =
            sizes.map(|(&size, open)| if *open { Dim::Any } else { Dim::known(size as i64) });
        Type::tensor(sizes.collect::<Vec<_>>(), self.dtype)
    }

    /// The scalar as a literal: `2i64`. `None` if its data type has no suffix.
    fn literal(&self) -> Option<String> {
        if !self.literal || !self.shape.is_empty() {
            return None;
        }
        let number = self.number(0);
        match self.dtype {
            DataType::INT32 => Some(format!("{}", number as i64)),
            DataType::INT64 => Some(format!("{}i64", number as i64)),
            DataType::FLOAT32 => Some(format!("{number:?}f")),
            _ => None,
        }
    }
}

impl Arg {
    /// Returns the declared type.
    pub fn ty(&self) -> Type {
        match self {
            Arg::Tensor(tensor) => tensor.ty(),
            Arg::Tuple(fields) => Type::tuple(fields.iter().map(Arg::ty).collect::<Vec<_>>()),
        }
    }

    fn value(&self) -> Option<Value> {
        match self {
            Arg::Tensor(tensor) => tensor.value().map(Value::from),
            Arg::Tuple(fields) => {
                let fields: Option<Vec<Value>> = fields.iter().map(Arg::value).collect();
                fields.map(Value::tuple)
            }
        }
    }

    /// An argument of a type. A size that is not known is 2. `None` for other types than tensors and tuples.
    fn of(ty: &Type) -> Option<Arg> {
        match ty {
            Type::Tensor(tensor) => {
                let size = |dim: &Dim| match dim.as_known() {
                    Some(size) => usize::try_from(size).ok(),
                    None => Some(2),
                };
                let shape = tensor.shape.iter().map(size).collect::<Option<_>>()?;
                let mut arg = TensorArg::new(tensor.dtype, shape);
                arg.open = tensor.shape.iter().map(|dim| dim.as_known().is_none()).collect();
                count_of(&arg.shape).filter(|&count| count <= MAX_ELEMENTS)?;
                Some(Arg::Tensor(arg))
            }
            Type::Tuple(fields) => {
                fields.iter().map(Arg::of).collect::<Option<_>>().map(Arg::Tuple)
            }
            _ => None,
        }
    }

    /// Calls `change` for each tensor.
    fn each(&mut self, change: &mut dyn FnMut(&mut TensorArg)) {
        match self {
            Arg::Tensor(tensor) => change(tensor),
            Arg::Tuple(fields) => fields.iter_mut().for_each(|field| field.each(change)),
        }
    }

    fn tensors(&self) -> Vec<&TensorArg> {
        match self {
            Arg::Tensor(tensor) => vec![tensor],
            Arg::Tuple(fields) => fields.iter().flat_map(Arg::tensors).collect(),
        }
    }
}

impl Call {
    fn each_tensor(&mut self, change: &mut dyn FnMut(&mut TensorArg)) {
        self.args.iter_mut().for_each(|arg| arg.each(change));
    }

    fn schema(&self) -> Option<&'static AttrSchema> {
        self.operator.schema
    }

    fn attrs_mut(&mut self) -> Option<&mut Vec<(&'static AttrField, AttrValue)>> {
        match &mut self.form {
            Form::Table(attrs) => Some(attrs),
            Form::Text { .. } => None,
        }
    }

    /// The values of the arguments that are parameters.
    fn values(&self) -> Option<Vec<Value>> {
        let is_table = matches!(self.form, Form::Table(_));
        let is_written = |arg: &&Arg| match arg {
            Arg::Tensor(tensor) => !(is_table && tensor.literal().is_some()),
            Arg::Tuple(_) => true,
        };
        self.args.iter().filter(is_written).map(Arg::value).collect()
    }

    /// The program: a function `@main` with the call.
    pub fn text(&self) -> String {
        let mut params = Vec::new();
        let mut args = Vec::new();
        let is_table = matches!(self.form, Form::Table(_));
        for (arg, name) in self.args.iter().zip('a'..) {
            match arg {
                Arg::Tensor(tensor) if is_table && let Some(literal) = tensor.literal() => {
                    args.push(literal)
                }
                arg => {
                    params.push(format!("%{name}: {}", arg.ty()));
                    args.push(format!("%{name}"));
                }
            }
        }
        let params = params.join(", ");
        let attrs = match &self.form {
            Form::Text { before, expr, after } => {
                return format!("{before}\ndef @main({params}) {{ {expr} }}\n{after}");
            }
            Form::Table(attrs) => attrs,
        };
        let mut constants = Vec::new();
        for (field, value) in attrs {
            let mut text = format!("{}=", field.name);
            write_value(&mut text, value, &mut constants);
            args.push(text);
        }
        if self.operator.detached
            && let Some(schema) = self.schema()
            && !attrs.is_empty()
        {
            args.push(format!("attrs_type_key=\"{}\"", schema.key));
        }
        let call = format!("{}({})", self.operator.name, args.join(", "));
        let body = match self.is_squared {
            true => format!("let %r = {call}; multiply(%r, %r)"),
            false => call,
        };
        let mut text = format!("def @main({params}) {{ {body} }}\n");
        if !constants.is_empty() {
            text += &metadata(&constants);
        }
        text
    }
}

/// Writes a value of an attribute; constants become entries of the metadata section.
fn write_value(text: &mut String, value: &AttrValue, constants: &mut Vec<f64>) {
    // Writing to a string cannot fail.
    let _ = match value {
        AttrValue::Bool(true) => write!(text, "True"),
        AttrValue::Bool(false) => write!(text, "False"),
        AttrValue::Int { value, wide } => write!(text, "{value}{}", if *wide { "i64" } else { "" }),
        AttrValue::Float(number) => write!(text, "{:?}f", number.0),
        AttrValue::Str(string) => write!(text, "\"{string}\""),
        AttrValue::DType(dtype) if dtype.is_void() => write!(text, "None"),
        AttrValue::DType(dtype) => write!(text, "\"{dtype}\""),
        AttrValue::List(values) => {
            for (at, value) in values.iter().enumerate() {
                text.push_str(if at == 0 { "[" } else { ", " });
                write_value(text, value, constants);
            }
            write!(text, "{}", if values.is_empty() { "[]" } else { "]" })
        }
        AttrValue::Constant(constant) => {
            constants.push(constant.as_number().unwrap_or_default());
            write!(text, "meta[relay.Constant][{}]", constants.len() - 1)
        }
        _ => write!(text, "None"),
    };
}

/// Returns a metadata section with scalars of type float32.
fn metadata(constants: &[f64]) -> String {
    let mut nodes = vec![
        r#"{"type_key": ""}"#.to_owned(),
        r#"{"type_key": "Map", "keys": ["relay.Constant"], "data": [2]}"#.to_owned(),
    ];
    let first = 3;
    let entries: Vec<String> = (0..constants.len()).map(|at| (first + at).to_string()).collect();
    nodes.push(format!(r#"{{"type_key": "Array", "data": [{}]}}"#, entries.join(", ")));
    for at in 0..constants.len() {
        nodes.push(format!(
            r#"{{"type_key": "relay.Constant", "attrs": {{"_checked_type_": "0", "data": "{at}", "span": "0", "virtual_device_": "0"}}}}"#
        ));
    }
    let arrays: Vec<String> =
        constants.iter().map(|&number| format!("\"{}\"", scalar(number))).collect();
    format!(
        "#[metadata]\n{{\"root\": 1, \"nodes\": [{}], \"b64ndarrays\": [{}], \"attrs\": {{\"tvm_version\": \"0.14.0\"}}}}\n",
        nodes.join(", "),
        arrays.join(", ")
    )
}

/// Returns a scalar of type float32 as TVM saves it.
fn scalar(number: f64) -> String {
    let mut bytes = Vec::new();
    bytes.extend(0xDD5E_40F0_96B4_A13F_u64.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    // The device, the rank, the data type and the number of bytes.
    bytes.extend([1_u32, 0, 0].into_iter().flat_map(u32::to_le_bytes));
    bytes.extend([2, 32, 1, 0]);
    bytes.extend(4_u64.to_le_bytes());
    bytes.extend((number as f32).to_le_bytes());
    base64(&bytes)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let group = piece
            .iter()
            .chain(&[0, 0])
            .take(3)
            .fold(0, |group, &byte| group << 8 | usize::from(byte));
        for at in 0..4 {
            let letter = char::from(LETTERS[group >> (18 - 6 * at) & 63]);
            text.push(if at <= piece.len() { letter } else { '=' });
        }
    }
    text
}
