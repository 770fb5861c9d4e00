//! The memory of values.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use types::Type;

use super::{Run, kernel_thread::is_large_value};
use crate::{
    allocate::collected,
    fault::Fault,
    interrupt::spend,
    limits::memory_fault,
    pool::{self, BufferPool},
    tensor::{Element, Tensor, count_of, each_dtype},
    value::{SLOT, TENSOR_OVERHEAD, Value},
};

impl Run<'_, '_, '_> {
    /// Returns the size of the tensors in the result of an operator, or 0 if memory is not limited.
    pub(super) fn bytes(&self, value: &Value) -> u64 {
        match (self.memory, value) {
            (None, _) => 0,
            (_, Value::Tensor(tensor)) => tensor.bytes() as u64 + TENSOR_OVERHEAD,
            // Tuples with more tensors share them: all live values are measured.
            (_, other) => other.leaves_within(1 << 16).map_or(u64::MAX, |leaves| {
                leaves.iter().map(|tensor| tensor.bytes() as u64 + TENSOR_OVERHEAD).sum()
            }),
        }
    }

    /// Drops values; large ones in the background.
    #[cold]
    pub(super) fn discard(&mut self, values: impl IntoIterator<Item = Value>) {
        for value in values {
            let Some(value) = recycle(self.watch.pool(), value) else { continue };
            if self.has_large
                && is_large_value(&value)
                && let Some(thread) = self.thread.get()
            {
                thread.discard(value);
            }
        }
    }

    /// Drops the values of a frame.
    pub(super) fn truncate(&mut self, base: usize) {
        if self.has_large {
            while self.stack.len() > base {
                let value = self.stack.pop();
                self.discard(value);
            }
        } else {
            self.stack.truncate(base);
        }
    }

    /// Counts created bytes, and measures the live values when there may be too many. Must be
    /// called while all live values are on the stack.
    pub(super) fn count_created(&mut self, bytes: u64) -> Result<(), Fault> {
        self.created = self.created.saturating_add(bytes);
        if self.created < self.measure_after { Ok(()) } else { self.measure(&[]) }
    }

    /// Measures the live values: those on the stack, and arguments that were taken from it.
    ///
    /// # Errors
    /// They exceed the memory limit.
    pub(super) fn measure(&mut self, args: &[Value]) -> Result<(), Fault> {
        let Some(limit) = self.memory else { return Ok(()) };
        // Measuring many small values takes long.
        let live = self.watch.within(|| live_bytes(&self.stack, args, limit))?;
        if live > limit {
            return Err(memory_fault(limit, live));
        }
        (self.live, self.created) = (live, 0);
        // The bytes that may be created before the next measurement.
        self.measure_after = ((limit - live) / 2).max(limit / MEASURED_PART);
        Ok(())
    }

    /// Returns the bytes that are live during a call that takes `args` from the stack and returns
    /// `bytes`, if known. Small results are only measured afterwards; one of unknown size is taken to be
    /// as large as the arguments, which may be freed after the call.
    ///
    /// # Errors
    /// The live values exceed the memory limit.
    pub(super) fn live_during(&mut self, args: &[Value], bytes: Option<u64>) -> Result<u64, Fault> {
        let Some(limit) = self.memory else { return Ok(0) };
        let bytes = bytes.unwrap_or_else(|| args.iter().map(|arg| self.bytes(arg)).sum());
        if bytes < limit / MEASURED_PART {
            return Ok(0);
        }
        // An upper bound: many of the created values may have been dropped.
        let bound = self.live.saturating_add(self.created).saturating_add(bytes.saturating_mul(4));
        if bound > limit {
            self.measure(args)?;
        }
        Ok(self.live.saturating_add(self.created))
    }
}

/// Returns the size of the result of a call, if its type has all sizes.
pub(super) fn bytes_of(ty: &Type) -> Option<u64> {
    match ty {
        Type::Tensor(tensor) => {
            let shape: SmallVec<[usize; 6]> = tensor.lengths()?;
            (count_of(&shape)? as u64).checked_mul(tensor.dtype.bytes())
        }
        Type::Tuple(fields) => {
            fields.iter().try_fold(0u64, |sum, field| sum.checked_add(bytes_of(field)?))
        }
        _ => None,
    }
}

/// Keeps the elements of a tensor that nothing else holds. Returns the value if they are not kept.
pub(super) fn recycle(pool: &BufferPool, value: Value) -> Option<Value> {
    match value {
        Value::Tensor(shared) if (pool::MIN_LEN..=pool::MAX_LEN).contains(&shared.len()) => {
            match shared.into_unique() {
                Ok(tensor) => recycle_tensor(pool, tensor).map(Value::from),
                Err(shared) => Some(Value::Tensor(shared)),
            }
        }
        other => Some(other),
    }
}

fn recycle_tensor(pool: &BufferPool, tensor: Tensor) -> Option<Tensor> {
    each_dtype!(tensor, array => {
        let count = array.len();
        let (elements, _) = array.into_owned().into_raw_vec_and_offset();
        // The elements of a slice are not all of the buffer.
        if elements.len() != count {
            return None;
        }
        T::tensor(&[count], pool.put(elements)?)
    })
}

/// The visited addresses, in many sets: a single one would be reallocated again and again for a
/// list of ten million cells, without a check for cancellation.
struct VisitedAddresses(Vec<FxHashSet<usize>>);

impl VisitedAddresses {
    const SETS: usize = 256;

    /// Returns true if the address is new.
    fn insert(&mut self, address: usize) -> bool {
        // Neighbours are at least 16 bytes apart. The set itself uses other bits.
        let set = (address >> 4) % VisitedAddresses::SETS;
        self.0.get_mut(set).is_some_and(|set| set.insert(address))
    }
}

impl Drop for VisitedAddresses {
    fn drop(&mut self) {
        let sets = std::mem::take(&mut self.0);
        if sets.iter().any(|set| set.len() > 1 << 10) {
            rayon::spawn(move || drop(sets));
        }
    }
}

/// The divisor of the memory limit below which results are not measured.
const MEASURED_PART: u64 = 64;

/// Returns the size of the values on the stack and of arguments, with shared ones counted once. Stops
/// counting above `limit`.
fn live_bytes(stack: &[Value], args: &[Value], limit: u64) -> u64 {
    let mut seen =
        VisitedAddresses(collected((0..VisitedAddresses::SETS).map(|_| FxHashSet::default())));
    let mut bytes = SLOT * stack.len() as u64;
    let mut todo: Vec<Value> = Vec::new();
    let mut roots = args.iter().chain(stack);
    while let Some(value) = todo.pop().or_else(|| roots.next_back().cloned()) {
        spend(16);
        let (address, size) = match &value {
            Value::Tensor(tensor) => (tensor.address(), tensor.held() as u64 + TENSOR_OVERHEAD),
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
            Value::Unknown(_) | Value::Empty | Value::Released => continue,
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
    use crate::tensor::Tensor;

    #[test]
    fn shared_values_count_once() {
        let number = Value::from(Tensor::scalar(1i32));
        let pair = Value::tuple([number.clone(), number.clone()]);
        let one = 4 + TENSOR_OVERHEAD;
        assert_eq!(live_bytes(std::slice::from_ref(&number), &[], u64::MAX), SLOT + one);
        let both = 2 * SLOT + one + 32 + 2 * SLOT;
        assert_eq!(live_bytes(&[pair.clone(), number.clone()], &[], u64::MAX), both);
        assert_eq!(live_bytes(std::slice::from_ref(&pair), &[number], u64::MAX), both - SLOT);
        let mut list = Value::data("Nil".into(), []);
        for _ in 0..300_000 {
            list = Value::data("Cons".into(), [pair.clone(), list]);
        }
        let cells = 300_000 * (64 + 2 * SLOT) + 64;
        assert_eq!(
            live_bytes(&[list.clone(), list, pair], &[], u64::MAX),
            3 * SLOT + cells + both - 2 * SLOT
        );
    }

    #[test]
    fn elements_of_unshared_tensors_are_recycled() {
        let pool = BufferPool::new(None);
        let zeros = Tensor::zeros(types::DataType::FLOAT32, &[2, pool::MIN_LEN]).expect("zeros");
        let value = Value::from(zeros);
        assert!(recycle(&pool, value.clone()).is_some());
        assert!(recycle(&pool, value).is_none());
        assert_eq!(
            pool.take::<f32>(2 * pool::MIN_LEN).map(|all| all.len()),
            Some(2 * pool::MIN_LEN)
        );
        assert!(recycle(&pool, Tensor::scalar(1f32).into()).is_some());
    }
}
