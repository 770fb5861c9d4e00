//! Which arm of an `if` or `match` a value takes.

use smallvec::SmallVec;

use crate::{code::Test, tensor::Tensor, value::Value};

/// The truth value of a condition.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value.as_tensor()? {
        Tensor::Bool(array) => array.first().copied(),
        other => other.to_i64s().first().map(|&number| number != 0),
    }
}

/// Returns true if a pattern takes a value; the values that it binds are put into `kept`.
pub(super) fn takes(test: &Test, value: &Value, kept: &mut SmallVec<[(u32, Value); 4]>) -> bool {
    match (test, value) {
        (Test::Any, _) => true,
        (Test::Keep(slot), value) => {
            kept.push((*slot, value.clone()));
            true
        }
        (Test::Data(name, tests), Value::Data(data)) => {
            *name == data.constructor
                && tests.iter().zip(data.fields()).all(|(test, field)| takes(test, field, kept))
        }
        (Test::Tuple(tests), Value::Tuple(_)) => {
            let fields = value.as_tuple().unwrap_or_default();
            tests.len() == fields.len()
                && tests.iter().zip(fields).all(|(test, field)| takes(test, field, kept))
        }
        _ => false,
    }
}
