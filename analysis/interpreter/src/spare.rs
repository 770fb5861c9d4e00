//! Buffers of values that are gone, for those that come.
//!
//! A network makes a tensor of the same size for each of its layers, and drops the one before. To ask the
//! system for each, and to fill it with zeros that a kernel overwrites, takes as long as the operators on
//! elements themselves. So a run keeps a few buffers of what it has dropped, up to a bound.

use std::sync::{Mutex, PoisonError};

use crate::{
    tensor::{Element, Tensor},
    value::Value,
};

/// Elements from which a buffer is worth keeping, and up to which.
pub(crate) const LEAST: usize = 1 << 13;
const MOST: usize = 1 << 21;
/// The most bytes that are kept, and the part of the memory limit that they may be.
const BYTES: usize = 24 << 20;
const PART: u64 = 16;
/// The most buffers that are kept.
const COUNT: usize = 32;

/// Buffers that are not in use.
#[derive(Debug)]
pub(crate) struct Spare {
    kept: Mutex<Kept>,
    /// The most bytes.
    most: usize,
}

#[derive(Debug, Default)]
struct Kept {
    tensors: Vec<Tensor>,
    bytes: usize,
}

impl Spare {
    /// None yet, for a run with a memory limit.
    pub(crate) fn new(memory: Option<u64>) -> Spare {
        let part = memory.map_or(BYTES as u64, |memory| memory / PART);
        Spare { kept: Mutex::default(), most: BYTES.min(usize::try_from(part).unwrap_or(BYTES)) }
    }

    /// A buffer of so many elements, each of any value.
    pub(crate) fn take<T: Element>(&self, count: usize) -> Option<Vec<T>> {
        if !(LEAST..=MOST).contains(&count) {
            return None;
        }
        let tensor = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            // The one that was in use last is in the caches.
            let fits = |tensor: &Tensor| tensor.dtype() == T::DTYPE && tensor.len() == count;
            let at = kept.tensors.iter().rposition(fits)?;
            let tensor = kept.tensors.remove(at);
            kept.bytes -= tensor.bytes();
            tensor
        };
        let (elements, _) = T::unwrap_owned(tensor)?.into_owned().into_raw_vec_and_offset();
        (elements.len() == count).then_some(elements)
    }

    /// Keeps a buffer.
    pub(crate) fn give<T: Element>(&self, elements: Vec<T>) {
        if (LEAST..=MOST).contains(&elements.len())
            && let Some(tensor) = T::tensor(&[elements.len()], elements)
        {
            self.keep(tensor);
        }
    }

    /// Keeps the buffer of a value that nothing else holds; returns what is not kept.
    pub(crate) fn give_value(&self, value: Value) -> Option<Value> {
        match value {
            Value::Tensor(shared) if (LEAST..=MOST).contains(&shared.len()) => {
                match shared.into_unique() {
                    Ok(tensor) => self.keep(tensor).map(Value::from),
                    Err(shared) => Some(Value::Tensor(shared)),
                }
            }
            other => Some(other),
        }
    }

    fn keep(&self, tensor: Tensor) -> Option<Tensor> {
        let bytes = tensor.bytes();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > self.most {
            return Some(tensor);
        }
        // The oldest make room.
        while kept.bytes + bytes > self.most || kept.tensors.len() >= COUNT {
            let oldest = kept.tensors.remove(0);
            kept.bytes -= oldest.bytes();
        }
        kept.bytes += bytes;
        kept.tensors.push(tensor);
        None
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests choose their sizes")]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back() {
        let spare = Spare::new(None);
        assert!(spare.take::<f32>(LEAST).is_none());
        spare.give(vec![1f32; LEAST]);
        assert!(spare.take::<f32>(LEAST + 1).is_none() && spare.take::<i32>(LEAST).is_none());
        assert_eq!(spare.take::<f32>(LEAST), Some(vec![1f32; LEAST]));
        assert!(spare.take::<f32>(LEAST).is_none());
        // What somebody else holds stays with them.
        let value = Value::from(Tensor::zeros(types::DataType::FLOAT32, &[2, LEAST]).expect("it"));
        assert!(spare.give_value(value.clone()).is_some());
        assert!(spare.give_value(value).is_none());
        assert_eq!(spare.take::<f32>(2 * LEAST), Some(vec![0f32; 2 * LEAST]));
    }

    #[test]
    fn they_are_bounded() {
        let spare = Spare::new(None);
        for _ in 0..100 {
            spare.give(vec![0f64; MOST]);
            spare.give(vec![0u8; LEAST]);
        }
        let kept = spare.kept.lock().expect("nobody panicked");
        assert!(kept.bytes <= BYTES && kept.tensors.len() <= COUNT);
        assert_eq!(kept.bytes, kept.tensors.iter().map(Tensor::bytes).sum::<usize>());
        let small = Spare::new(Some(1 << 20));
        small.give(vec![0f64; LEAST]);
        small.give(vec![0f32; LEAST]);
        assert!(small.take::<f64>(LEAST).is_none() || small.most >= 8 * LEAST);
    }
}
