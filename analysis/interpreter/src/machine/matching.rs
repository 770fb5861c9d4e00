//! Conditions and pattern matching.

use smallvec::SmallVec;

use crate::{code::Pattern, tensor::Tensor, value::Value};

/// Returns the truth value of a condition.
pub(super) fn truth(value: &Value) -> Option<bool> {
    match value.as_tensor()? {
        Tensor::Bool(array) => array.first().copied(),
        other => other.to_i64s().first().map(|&number| number != 0),
    }
}

/// Returns true if a pattern matches a value, and appends the values of its variables to `bound`.
pub(super) fn matches(
    pattern: &Pattern,
    value: &Value,
    bound: &mut SmallVec<[(u32, Value); 4]>,
) -> bool {
    match (pattern, value) {
        (Pattern::Wildcard, _) => true,
        (Pattern::Bind(slot), value) => {
            bound.push((*slot, value.clone()));
            true
        }
        (Pattern::Constructor(name, patterns), Value::Data(data)) => {
            *name == data.constructor
                && patterns
                    .iter()
                    .zip(data.fields())
                    .all(|(pattern, field)| matches(pattern, field, bound))
        }
        (Pattern::Tuple(patterns), Value::Tuple(_)) => {
            let fields = value.as_tuple().unwrap_or_default();
            patterns.len() == fields.len()
                && patterns
                    .iter()
                    .zip(fields)
                    .all(|(pattern, field)| matches(pattern, field, bound))
        }
        _ => false,
    }
}
