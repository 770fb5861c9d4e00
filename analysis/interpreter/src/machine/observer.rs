//! Notifications about a running definition.

use std::time::Duration;

use operators::Operator;
use semantics::SourceFile;
use smallvec::SmallVec;
use syntax::TextRange;
use types::{Attrs, DataType, Dim, Type};

use crate::value::Value;

/// Receives notifications about a running definition.
pub trait Observer {
    /// A variable whose name is at `place` got a value. This includes parameters, but not those of
    /// function expressions, nor variables in other files than that of the definition.
    fn bound(&mut self, place: (SourceFile, TextRange), value: &Value) {
        let _ = (place, value);
    }

    /// Returns true if [`Observer::called`] is wanted. It costs two clock readings per operator and
    /// the shortcut for scalars. It is queried repeatedly, since an observer may have received
    /// enough.
    fn measures(&self) -> bool {
        false
    }

    /// An operator was called.
    fn called(&mut self, call: &Measured<'_>) {
        let _ = call;
    }
}

/// A completed call of an operator.
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
    /// The duration.
    pub time: Duration,
    /// The calling function.
    pub function: &'c str,
    /// The range of the call.
    pub place: (SourceFile, TextRange),
}

/// The type of an argument, recorded before the kernel consumes the value.
pub(super) enum Given {
    Tensor(DataType, SmallVec<[usize; 4]>),
    Tuple(Vec<Given>),
    Other,
}

impl Given {
    pub(super) fn of(value: &Value) -> Given {
        Given::within(value, 4)
    }

    /// Tuples nested deeper than `depth` levels are ignored.
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
