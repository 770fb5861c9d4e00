//! Values as the client shows them: lines, and trees that it opens level by level and page by page.

use std::sync::{Arc, OnceLock};

use interpreter::{AxisSlice, SharedTensor, Value};
use syntax::TextRange;

use super::protocol::{PresentationHint, ValueDetails, Variable};
use crate::run::{show, summary};

/// The number of children of a value that are sent without being asked for a page.
const PAGE: usize = 1000;
/// The number of handles of a stop.
const MAX_HANDLES: usize = 1 << 20;
/// The longest value in one line, in bytes.
const MAX_LINE: usize = 200;

/// What a reference of the client stands for.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// The variables of a frame that are captured, or those that are not.
    Scope { frame: usize, is_captured: bool },
    /// The parts of a value.
    Value(Value),
    /// The value of a variable of a frame, which was released.
    Released { frame: usize, name: TextRange },
    /// A part of a tensor: the elements after the first ones, along the axes from one on.
    Part { tensor: SharedTensor, first: usize, axis: usize },
}

/// The lines of the arguments of a run, which are mostly its largest tensors: they are the same at each stop.
#[derive(Default)]
pub(super) struct ArgumentLines(Vec<(SharedTensor, OnceLock<String>)>);

impl ArgumentLines {
    /// Creates the lines of arguments. Each is computed when it is shown.
    pub(super) fn of(arguments: &[Value]) -> ArgumentLines {
        let tensors = arguments.iter().filter_map(|argument| match argument {
            Value::Tensor(tensor) => Some((tensor.clone(), OnceLock::new())),
            _ => None,
        });
        ArgumentLines(tensors.collect())
    }

    /// Returns the line of a tensor.
    fn line(&self, tensor: &SharedTensor) -> String {
        let compute = || {
            let value = Value::Tensor(tensor.clone());
            summary::line(&value, &summary::of_value(&value))
        };
        match self.0.iter().find(|(argument, _)| argument.is_same(tensor)) {
            Some((_, line)) => line.get_or_init(compute).clone(),
            None => compute(),
        }
    }
}

/// The references of the client, which are valid until the run goes on.
#[derive(Default)]
pub(super) struct Nodes {
    lines: Arc<ArgumentLines>,
    nodes: Vec<Node>,
    /// The tensors whose bytes can be read.
    memories: Vec<SharedTensor>,
}

impl Nodes {
    /// Creates the references of a stop.
    pub(super) fn new(lines: Arc<ArgumentLines>) -> Nodes {
        Nodes { lines, ..Nodes::default() }
    }

    /// Returns the number of a node; 0 for no children.
    pub(super) fn number(&mut self, node: Node) -> i64 {
        if self.nodes.len() >= MAX_HANDLES {
            return 0;
        }
        self.nodes.push(node);
        self.nodes.len() as i64
    }

    /// Returns the node with a number.
    pub(super) fn get(&self, number: i64) -> Option<&Node> {
        self.nodes.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// Returns the tensor that a node is, or a part of.
    pub(super) fn tensor(&self, number: i64) -> Option<SharedTensor> {
        match self.get(number)? {
            Node::Value(Value::Tensor(tensor)) => Some(tensor.clone()),
            Node::Part { tensor, first, axis } => part(tensor, *first, *axis),
            Node::Value(_) | Node::Scope { .. } | Node::Released { .. } => None,
        }
    }

    /// Returns the tensor with a reference of its memory.
    pub(super) fn memory(&self, reference: &str) -> Option<&SharedTensor> {
        self.memories.get(reference.parse::<usize>().ok()?)
    }

    /// Returns a reference of the bytes of a value, if it is a tensor.
    fn memory_of(&mut self, value: &Value) -> Option<String> {
        let Value::Tensor(tensor) = value else { return None };
        if self.memories.len() >= MAX_HANDLES {
            return None;
        }
        self.memories.push(tensor.clone());
        Some((self.memories.len() - 1).to_string())
    }

    /// Returns the variable of a frame with its name in the text, and the range of that.
    pub(super) fn frame_variable(
        &mut self,
        frame: usize,
        (name, range): (&str, TextRange),
        value: &Value,
    ) -> Variable {
        if matches!(value, Value::Empty) {
            return Variable {
                name: name.to_owned(),
                value: "not computed yet".to_owned(),
                presentation_hint: read_only("virtual"),
                ..Variable::default()
            };
        }
        if matches!(value, Value::Released) {
            let node = Node::Released { frame, name: range };
            return Variable {
                name: name.to_owned(),
                value: "released after its last use: open it to compute it again".to_owned(),
                presentation_hint: read_only("data")
                    .map(|hint| PresentationHint { lazy: true, ..hint }),
                evaluate_name: Some(name.to_owned()),
                details: ValueDetails {
                    variables_reference: self.number(node),
                    ..ValueDetails::default()
                },
            };
        }
        Variable { evaluate_name: Some(name.to_owned()), ..self.value(name, value) }
    }

    /// Returns a value with a reference to its parts.
    pub(super) fn value(&mut self, name: &str, value: &Value) -> Variable {
        let text = match value {
            Value::Tensor(tensor) if tensor.shape().is_empty() => show::element(tensor, 0),
            Value::Tensor(tensor) => self.lines.line(tensor),
            Value::Ref(cell) => format!("ref({})", summary::contents(&cell.get(), MAX_LINE)),
            _ => summary::contents(value, MAX_LINE),
        };
        let (indexed, named) = parts(value);
        let has_parts = indexed.is_some() || named.is_some();
        let reference = if has_parts { self.number(Node::Value(value.clone())) } else { 0 };
        Variable {
            name: name.to_owned(),
            value: text,
            presentation_hint: Some(hint(value)),
            evaluate_name: None,
            details: ValueDetails {
                ty: Some(type_of(value)),
                variables_reference: reference,
                indexed_variables: indexed.filter(|_| reference > 0),
                named_variables: named.filter(|_| reference > 0),
                memory_reference: self.memory_of(value),
            },
        }
    }

    /// Returns a page of the parts of a node, which is not a scope.
    pub(super) fn parts(&mut self, node: &Node, start: usize, count: usize) -> Vec<Variable> {
        let count = if count == 0 { PAGE } else { count.min(PAGE) };
        match node {
            Node::Scope { .. } | Node::Released { .. } => Vec::new(),
            Node::Value(Value::Tensor(tensor)) => self.elements(tensor, (0, 0), start, count),
            Node::Part { tensor, first, axis } => {
                self.elements(tensor, (*first, *axis), start, count)
            }
            Node::Value(value) => {
                let content;
                let fields = match value {
                    Value::Tuple(_) => value.as_tuple().unwrap_or_default(),
                    Value::Data(data) => data.fields(),
                    Value::Ref(cell) => {
                        content = [cell.get()];
                        &content[..]
                    }
                    Value::Closure(closure) => closure.captures(),
                    Value::Tensor(_) | Value::Unknown(_) | Value::Empty | Value::Released => &[],
                };
                let page = fields.iter().enumerate().skip(start).take(count);
                page.map(|(at, field)| match value {
                    Value::Ref(_) => self.value("content", field),
                    Value::Closure(_) => self.value(&format!("capture {at}"), field),
                    _ => self.value(&at.to_string(), field),
                })
                .collect()
            }
        }
    }

    fn elements(
        &mut self,
        tensor: &SharedTensor,
        (first, axis): (usize, usize),
        start: usize,
        count: usize,
    ) -> Vec<Variable> {
        let Some((&size, rest)) = tensor.shape().get(axis..).and_then(<[usize]>::split_first)
        else {
            return Vec::new();
        };
        let stride: usize = rest.iter().product();
        let mut found = Vec::new();
        for at in (start..size).take(count) {
            let first = first + at * stride;
            let ty = tensor.dtype().to_string();
            let mut details = ValueDetails::default();
            let value = if let Some(&next) = rest.first() {
                let sizes: Vec<String> = rest.iter().map(ToString::to_string).collect();
                let part = Node::Part { tensor: tensor.clone(), first, axis: axis + 1 };
                details.variables_reference = self.number(part);
                details.indexed_variables = (details.variables_reference > 0).then_some(next);
                format!("{ty} ({})", sizes.join(", "))
            } else {
                show::element(tensor, first)
            };
            found.push(Variable {
                name: format!("[{at}]"),
                value,
                presentation_hint: read_only("data"),
                evaluate_name: None,
                details: ValueDetails { ty: Some(ty), ..details },
            });
        }
        found
    }
}

/// Returns the numbers of parts by position and by name.
fn parts(value: &Value) -> (Option<usize>, Option<usize>) {
    let (indexed, named) = match value {
        Value::Tensor(tensor) => (tensor.shape().first().copied(), None),
        Value::Tuple(_) => (None, value.as_tuple().map(<[Value]>::len)),
        Value::Data(data) => (None, Some(data.fields().len())),
        Value::Ref(_) => (None, Some(1)),
        Value::Closure(closure) => (None, Some(closure.captures().len())),
        Value::Unknown(_) | Value::Empty | Value::Released => (None, None),
    };
    (indexed.filter(|count| *count > 0), named.filter(|count| *count > 0))
}

/// Returns the part of a tensor after the `first` elements, along the axes from `axis` on.
fn part(tensor: &SharedTensor, first: usize, axis: usize) -> Option<SharedTensor> {
    let mut rest = first;
    let mut axes = Vec::new();
    for (at, &size) in tensor.shape().iter().enumerate() {
        let stride: usize = tensor.shape().get(at + 1..)?.iter().product();
        if at < axis {
            axes.push(AxisSlice::Index(rest.checked_div(stride)?));
            rest %= stride;
        } else {
            axes.push(AxisSlice::Range { start: 0, end: size, step: 1 });
        }
    }
    tensor.slice(&axes).map(SharedTensor::from)
}

/// Returns the type of a value as text.
fn type_of(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => tensor.ty().to_string(),
        _ => value.describe(),
    }
}

fn hint(value: &Value) -> PresentationHint {
    let kind = if matches!(value, Value::Closure(_)) { "method" } else { "data" };
    PresentationHint { kind, ..PresentationHint::default() }
}

/// Returns the hint of a value that cannot be set.
fn read_only(kind: &'static str) -> Option<PresentationHint> {
    Some(PresentationHint { kind, attributes: vec!["readOnly"], lazy: false })
}

#[cfg(test)]
mod tests {
    use interpreter::Tensor;
    use types::DataType;

    use super::*;

    #[test]
    fn lines_of_arguments_are_computed_once() {
        let number = || SharedTensor::from(Tensor::scalar(5f32));
        let (argument, other) = (number(), number());
        let lines = Arc::new(ArgumentLines::of(&[Value::Tensor(argument.clone())]));
        let known = || lines.0.iter().filter(|(_, line)| line.get().is_some()).count();
        assert_eq!((lines.line(&other), known()), ("5".to_owned(), 0));
        assert_eq!((lines.line(&argument), known()), ("5".to_owned(), 1));
        assert_eq!((lines.line(&argument.clone()), known()), ("5".to_owned(), 1));
    }

    #[test]
    fn parts_are_those_of_the_first_axes() {
        let numbers = (0..24).collect();
        let tensor = Tensor::from_i64s(DataType::INT16, &[2, 3, 4], numbers).expect("24 elements");
        let found = part(&SharedTensor::from(tensor), 16, 2).expect("a part");
        assert_eq!((found.shape(), found.to_i64s()), (&[4][..], vec![16, 17, 18, 19]));
    }
}
