//! Conditions and pattern matching.

use smallvec::SmallVec;

use crate::{code::Test, tensor::Tensor, value::Value};

/// The truth value of a condition.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value.as_tensor()? {
        Tensor::Bool(array) => array.first().copied(),
        other => other.to_i64s().first().map(|&number| number != 0),
    }
}

/// Returns true if a pattern matches a value, and appends the values of its variables to `bound`.
pub(super) fn takes(test: &Test, value: &Value, bound: &mut SmallVec<[(u32, Value); 4]>) -> bool {
    match (test, value) {
        (Test::Any, _) => true,
        (Test::Keep(slot), value) => {
            bound.push((*slot, value.clone()));
            true
        }
        (Test::Data(name, tests), Value::Data(data)) => {
            *name == data.constructor
                && tests.iter().zip(data.fields()).all(|(test, field)| takes(test, field, bound))
        }
        (Test::Tuple(tests), Value::Tuple(_)) => {
            let fields = value.as_tuple().unwrap_or_default();
            tests.len() == fields.len()
                && tests.iter().zip(fields).all(|(test, field)| takes(test, field, bound))
        }
        _ => false,
    }
}
