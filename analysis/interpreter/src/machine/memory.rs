//! How much memory values take.

use std::sync::Arc;

use crate::{interrupt::spend, value::Value};

/// Bytes of the values on the stack, each shared one counted once; stops counting above `limit`.
pub(super) fn alive(stack: &[Value], limit: u64) -> u64 {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut bytes = 112 * stack.len() as u64;
    let mut todo: Vec<Value> = stack.to_vec();
    while let Some(value) = todo.pop() {
        spend(16);
        let (address, size) = match &value {
            Value::Tensor(tensor) => (tensor.address(), tensor.bytes() as u64 + 64),
            Value::Tuple(cell) => {
                let fields = value.as_tuple().unwrap_or_default();
                (Arc::as_ptr(cell) as usize, 32 + 112 * fields.len() as u64)
            }
            Value::Data(data) => {
                (Arc::as_ptr(data) as usize, 64 + 112 * data.fields().len() as u64)
            }
            Value::Closure(closure) => {
                (Arc::as_ptr(closure) as usize, 64 + 112 * closure.captured().len() as u64)
            }
            Value::Ref(cell) => (Arc::as_ptr(cell) as usize, 160),
            Value::Empty => continue,
        };
        if !seen.insert(address) {
            continue;
        }
        bytes += size;
        if bytes > limit {
            break;
        }
        match &value {
            Value::Tuple(_) => todo.extend(value.as_tuple().unwrap_or_default().iter().cloned()),
            Value::Data(data) => todo.extend(data.fields().iter().cloned()),
            Value::Closure(closure) => todo.extend(closure.captured().iter().cloned()),
            Value::Ref(cell) => todo.push(cell.get()),
            _ => {}
        }
    }
    bytes
}
