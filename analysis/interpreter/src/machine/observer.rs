//! Who is told what happens while a definition runs.

use std::time::Duration;

use operators::Operator;
use semantics::SourceFile;
use smallvec::SmallVec;
use syntax::TextRange;
use types::{Attrs, DataType, Dim, Type};

use crate::value::Value;

/// Is told what happens while a definition runs.
pub trait Observer {
    /// The variable whose name is at `place` has a value; parameters have, too. Those of function
    /// expressions are not told of, nor those of definitions in other files than that of the definition that is run.
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        let _ = (place, value);
    }

    /// Returns true if [`Observer::called`] is wanted: it takes a look at the clock for each operator,
    /// and the quick way for scalars is not taken. Asked now and then: an observer may have had enough.
    fn measures(&self) -> bool {
        false
    }

    /// An operator was called.
    fn called(&mut self, call: &Measured<'_>) {
        let _ = call;
    }
}

/// A call of an operator that has been made.
#[derive(Debug)]
pub struct Measured<'c> {
    /// The operator.
    pub operator: &'static Operator,
    /// Its attributes.
    pub attrs: &'c Attrs,
    /// The arguments.
    pub args: &'c [Type],
    /// The result.
    pub value: &'c Value,
    /// The time.
    pub time: Duration,
    /// The function that calls it.
    pub function: &'c str,
    /// The call in the text.
    pub place: (SourceFile, TextRange),
}

/// The type of a value that a kernel may take.
pub(super) enum Given {
    Tensor(DataType, SmallVec<[usize; 4]>),
    Tuple(Vec<Given>),
    Other,
}

impl Given {
    pub(super) fn of(value: &Value) -> Given {
        Given::within(value, 4)
    }

    /// Values deeper in tuples than `depth` are not looked at.
    fn within(value: &Value, depth: u32) -> Given {
        match value {
            Value::Tensor(tensor) => Given::Tensor(tensor.dtype(), tensor.shape().into()),
            Value::Tuple(_) if depth > 0 => {
                let fields = value.as_tuple().unwrap_or_default().iter();
                Given::Tuple(fields.map(|field| Given::within(field, depth - 1)).collect())
            }
            _ => Given::Other,
        }
    }

    pub(super) fn ty(&self) -> Type {
        match self {
            Given::Tensor(dtype, shape) => {
                Type::tensor(shape.iter().map(|&size| Dim::known(size as i64)), *dtype)
            }
            Given::Tuple(fields) => Type::tuple(fields.iter().map(Given::ty)),
            Given::Other => Type::Error,
        }
    }
}
