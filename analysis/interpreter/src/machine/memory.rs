//! How much memory values take.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{
    interrupt::spend,
    value::{HEAD, SLOT, Value},
};

/// The addresses that have been seen, in many sets: a list of ten million cells makes a single one
/// grow again and again, and nothing else can happen while it does.
struct Seen(Vec<FxHashSet<usize>>);

impl Seen {
    const SETS: usize = 256;

    /// Whether it is new.
    fn insert(&mut self, address: usize) -> bool {
        // Neighbours lie 16 bytes apart at least; what the set itself looks at is something else.
        let set = (address >> 4) % Seen::SETS;
        self.0.get_mut(set).is_some_and(|set| set.insert(address))
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        let sets = std::mem::take(&mut self.0);
        if sets.iter().any(|set| set.len() > 1 << 10) {
            rayon::spawn(move || drop(sets));
        }
    }
}

/// Bytes of the values on the stack, each shared one counted once; stops counting above `limit`.
pub(super) fn alive(stack: &[Value], limit: u64) -> u64 {
    let mut seen = Seen(vec![FxHashSet::default(); Seen::SETS]);
    let mut bytes = SLOT * stack.len() as u64;
    let mut todo: Vec<Value> = Vec::new();
    let mut roots = stack.iter();
    while let Some(value) = todo.pop().or_else(|| roots.next_back().cloned()) {
        spend(16);
        let (address, size) = match &value {
            Value::Tensor(tensor) => (tensor.address(), tensor.bytes() as u64 + HEAD),
            Value::Tuple(cell) => {
                let fields = value.as_tuple().unwrap_or_default();
                (Arc::as_ptr(cell) as usize, 32 + SLOT * fields.len() as u64)
            }
            Value::Data(data) => {
                (Arc::as_ptr(data) as usize, 64 + SLOT * data.fields().len() as u64)
            }
            Value::Closure(closure) => {
                (Arc::as_ptr(closure) as usize, 64 + SLOT * closure.captured().len() as u64)
            }
            Value::Ref(cell) => (Arc::as_ptr(cell) as usize, 64 + SLOT),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Tensor;

    #[test]
    fn shared_values_count_once() {
        let number = Value::from(Tensor::scalar(1i32));
        let pair = Value::tuple([number.clone(), number.clone()]);
        let one = 4 + HEAD;
        assert_eq!(alive(std::slice::from_ref(&number), u64::MAX), SLOT + one);
        let both = 2 * SLOT + one + 32 + 2 * SLOT;
        assert_eq!(alive(&[pair.clone(), number], u64::MAX), both);
        let mut list = Value::data("Nil".into(), []);
        for _ in 0..300_000 {
            list = Value::data("Cons".into(), [pair.clone(), list]);
        }
        let cells = 300_000 * (64 + 2 * SLOT) + 64;
        assert_eq!(
            alive(&[list.clone(), list, pair], u64::MAX),
            3 * SLOT + cells + both - 2 * SLOT
        );
    }
}
