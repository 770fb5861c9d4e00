//! The steps of a chain, as data and as text.

use operators::Operator;
use smol_str::SmolStr;
use syntax::TextRange;
use types::{DataType, Dim, Type};

use crate::body::Name;

/// One step of the chain of a size or a data type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The range in the file.
    pub range: TextRange,
    kind: StepKind,
    /// The number of steps before this one that are not shown.
    pub(super) left_out: usize,
}

/// What happens in a step. `axis` is the axis of the value at the range of the step, `size` its size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum StepKind {
    /// A variable is declared with a type.
    Declared { name: Name, ty: Type },
    /// A size is written in the declaration of a variable.
    Written(Name),
    /// An axis of a value has a size.
    Size { axis: usize, of: SizedValue, size: Dim },
    /// The source of the axis of the described expression is not followed further.
    Rest { axis: usize, of: String },
    /// The described function returns a size.
    Returned { callee: String, axis: usize, size: Dim },
    /// An operator keeps the size of an axis of an operand, by a type relation.
    Kept { operator: &'static Operator, axis: usize, from: usize, relation: Option<&'static str> },
    /// An operator computes a size from that of an operand.
    Computed { operator: &'static Operator, axis: usize, size: Dim, from: Dim },
    /// An operator computes a size that is unknown before a run, from an operand if `is_computed` is set.
    Unknown { operator: &'static Operator, axis: usize, is_computed: bool },
    /// The attribute or the operator `by` sets a size.
    Set { by: SmolStr, axis: usize, size: Dim },
    /// An operator gives a data type, whatever its operands are.
    DataType { operator: &'static Operator, dtype: DataType },
}

/// The value that has a size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum SizedValue {
    Constant,
    Variable(Name),
    /// A field of a variable.
    Field(usize, Name),
}

impl Step {
    pub(super) fn new(range: TextRange, kind: StepKind) -> Step {
        Step { range, kind, left_out: 0 }
    }

    /// Creates the step of a size that is written in the declaration of a variable.
    pub fn written(range: TextRange, name: Name) -> Step {
        Step::new(range, StepKind::Written(name))
    }

    /// Creates the step of an axis of an expression, with a description, whose source is not followed further.
    pub fn rest(range: TextRange, axis: usize, of: String) -> Step {
        Step::new(range, StepKind::Rest { axis, of })
    }

    /// Returns a sentence about the step.
    pub fn message(&self) -> String {
        let message = match &self.kind {
            StepKind::Declared { name, ty } => format!("`{name}` is `{ty}`"),
            StepKind::Written(name) => format!("written at `{name}`"),
            StepKind::Size { axis, of, size } => match of {
                SizedValue::Constant => format!("axis {axis} of this constant is {size}"),
                SizedValue::Variable(name) => format!("axis {axis} of `{name}` is {size}"),
                SizedValue::Field(index, name) => {
                    format!("axis {axis} of field {index} of `{name}` is {size}")
                }
            },
            StepKind::Rest { axis, of } => format!("axis {axis} of {of}"),
            StepKind::Returned { callee, axis, size } => {
                format!("{callee} returns {size} on axis {axis}")
            }
            StepKind::Kept { operator, axis, from, relation } => {
                let how = match axis == from {
                    true => format!("keeps axis {axis}"),
                    false => format!("takes axis {axis} from axis {from}"),
                };
                let by = relation.map_or_else(String::new, |relation| format!(", by `{relation}`"));
                format!("`{}` {how}{by}", operator.name)
            }
            StepKind::Computed { operator, axis, size, from } => {
                format!("`{}` computes {size} from {from} on axis {axis}", operator.name)
            }
            StepKind::Unknown { operator, axis, is_computed } => {
                let how = if *is_computed { "from a `?`" } else { "at run time" };
                format!("`{}` computes axis {axis} {how}", operator.name)
            }
            StepKind::Set { by, axis, size } => format!("`{by}` sets axis {axis} to {size}"),
            StepKind::DataType { operator, dtype } => {
                format!("`{}` gives {dtype}", operator.name)
            }
        };
        match self.left_out {
            0 => message,
            left_out => format!("{message} ({left_out} more steps are not shown)"),
        }
    }
}
