//! Values: tensors, tuples, closures, data, references.
//!
//! Values are shared: cloning one increments a reference count. A kernel that owns the only
//! reference may work in place. Dropping never recurses, so that dropping a list of ten million
//! cells does not overflow the stack.

use std::{cell::RefCell, sync::Arc};

use parking_lot::Mutex;
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;
use types::Type;

use crate::{code::Callable, shared::SharedTensor, tensor::Tensor};

/// The value of an expression.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor.
    Tensor(SharedTensor),
    /// A tuple.
    Tuple(Arc<Cell>),
    /// A value of an algebraic data type.
    Data(Arc<Data>),
    /// A function with its captured values.
    Closure(Arc<Closure>),
    /// A reference.
    Ref(Arc<Reference>),
    /// The value of an expression that failed or depends on one that did, in a run that goes on after failures
    /// ([`Observer::unknown`](crate::Observer::unknown)), with the number of the failure.
    Unknown(u32),
    /// The content of a slot before it is written or after its last use. No expression evaluates to it.
    Empty,
    /// The content of the slot of a variable whose value was released at its last use or later, in a run with
    /// [`TraceLevel::Points`](crate::TraceLevel::Points). No expression evaluates to it.
    Released,
}

/// The size of a value inside of another one or of a frame, in bytes.
pub(crate) const SLOT: u64 = size_of::<Value>() as u64;
/// The approximate size of a tensor without its elements, in bytes.
pub(crate) const TENSOR_OVERHEAD: u64 = size_of::<Tensor>() as u64 + 64;

/// The fields of a tuple, inline for pairs and the cells of lists.
#[derive(Debug)]
pub struct Cell(SmallVec<[Value; 2]>);

/// A value of an algebraic data type: `Cons(1, Nil)`.
#[derive(Debug)]
pub struct Data {
    /// The constructor.
    pub constructor: SmolStr,
    /// Its fields.
    fields: Cell,
}

/// A function as a value.
#[derive(Debug)]
pub struct Closure {
    /// The code.
    pub(crate) body: Callable,
    /// The values of the variables that it captures.
    pub(crate) captured: Cell,
}

/// A reference cell.
#[derive(Debug)]
pub struct Reference(Mutex<Cell>);

thread_local! {
    /// The values that are being dropped; `None` if no drop is in progress.
    static DROPPING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

impl Drop for Cell {
    fn drop(&mut self) {
        if self.0.iter().all(|value| {
            !matches!(value, Value::Tuple(_) | Value::Data(_) | Value::Closure(_) | Value::Ref(_))
        }) {
            return;
        }
        let fields = std::mem::take(&mut self.0);
        // An outer drop in progress takes over the fields. Otherwise this is the outer one.
        let first = DROPPING.with_borrow_mut(|dropping| match dropping {
            Some(queue) => {
                queue.extend(fields);
                None
            }
            None => {
                *dropping = Some(Vec::new());
                Some(fields)
            }
        });
        if let Some(fields) = first {
            drop(fields);
            let next = || DROPPING.with_borrow_mut(|dropping| dropping.as_mut().and_then(Vec::pop));
            let dropped = std::iter::from_fn(next).take(DROP_BATCH).map(drop).count();
            let rest = DROPPING.take().unwrap_or_default();
            if dropped == DROP_BATCH && !rest.is_empty() {
                rayon::spawn(move || drop_all(rest));
            }
        }
    }
}

/// The number of values that a thread drops before another one takes over the rest, so that it can
/// still be interrupted.
const DROP_BATCH: usize = 1 << 15;

/// Drops values and everything in them.
fn drop_all(values: Vec<Value>) {
    let before = DROPPING.replace(Some(values));
    while let Some(value) =
        DROPPING.with_borrow_mut(|dropping| dropping.as_mut().and_then(Vec::pop))
    {
        drop(value);
    }
    DROPPING.set(before);
}

impl Data {
    /// Returns the fields in the order of the constructor.
    pub fn fields(&self) -> &[Value] {
        &self.fields.0
    }
}

impl Reference {
    /// Returns the content.
    pub fn get(&self) -> Value {
        let cell = self.0.lock();
        cell.0.first().cloned().unwrap_or(Value::Empty)
    }

    /// Replaces the content.
    pub fn set(&self, value: Value) {
        let old = {
            let mut cell = self.0.lock();
            std::mem::replace(&mut *cell, Cell(smallvec![value]))
        };
        drop(old);
    }
}

impl Closure {
    pub(crate) fn captured(&self) -> &[Value] {
        &self.captured.0
    }

    /// Returns the values of the variables that the function took from around, for a debugger.
    pub fn captures(&self) -> &[Value] {
        self.captured()
    }
}

impl Value {
    /// Creates a tuple.
    pub fn tuple(fields: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(Arc::new(Cell(fields.into_iter().collect())))
    }

    /// Creates a value of an algebraic data type.
    pub fn data(constructor: SmolStr, fields: impl IntoIterator<Item = Value>) -> Value {
        Value::Data(Arc::new(Data { constructor, fields: Cell(fields.into_iter().collect()) }))
    }

    /// Creates a reference.
    pub fn reference(value: Value) -> Value {
        Value::Ref(Arc::new(Reference(Mutex::new(Cell(smallvec![value])))))
    }

    pub(crate) fn closure(body: Callable, captured: impl IntoIterator<Item = Value>) -> Value {
        let captured = Cell(captured.into_iter().collect());
        Value::Closure(Arc::new(Closure { body, captured }))
    }

    /// Returns the tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the tensor, if it is one, without computing a pending transpose.
    pub(crate) fn shared(&self) -> Option<&SharedTensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Returns the fields, if it is a tuple.
    pub fn as_tuple(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(cell) => Some(&cell.0),
            _ => None,
        }
    }

    /// Returns the type of a tensor or a tuple of them, with all sizes known. Other values have
    /// [`Type::Error`], as do tuples nested deeper than sixteen levels: the type of a tuple that
    /// contains another one twice, and so on, is exponentially large.
    pub fn ty(&self) -> Type {
        self.type_within(16)
    }

    fn type_within(&self, depth: u32) -> Type {
        match self {
            Value::Tensor(tensor) => tensor.ty(),
            Value::Tuple(cell) if depth > 0 => {
                Type::tuple(cell.0.iter().map(|field| field.type_within(depth - 1)))
            }
            _ => Type::Error,
        }
    }

    /// Returns false if the value is a tensor, or a tuple of them down to `depth` levels, of another
    /// rank, size, data type or number of fields than those that `ty` knows.
    pub(crate) fn conforms(&self, ty: &Type, depth: u32) -> bool {
        match (self, ty) {
            (Value::Tensor(tensor), Type::Tensor(wanted)) => {
                let mut sizes = tensor.shape().iter().zip(&wanted.shape);
                tensor.dtype() == wanted.dtype
                    && tensor.shape().len() == wanted.shape.len()
                    && sizes
                        .all(|(&size, dim)| dim.as_known().is_none_or(|known| known == size as i64))
            }
            (Value::Tuple(cell), Type::Tuple(fields)) if depth > 0 => {
                let mut pairs = cell.0.iter().zip(fields.iter());
                cell.0.len() == fields.len()
                    && pairs.all(|(field, ty)| field.conforms(ty, depth - 1))
            }
            _ => true,
        }
    }

    /// Describes the value in a message.
    pub fn describe(&self) -> String {
        match self {
            Value::Tensor(tensor) => types::describe(&tensor.ty()),
            Value::Tuple(cell) => match cell.0.len() {
                0 => "the empty tuple `()`".into(),
                1 => "a tuple of 1 field".into(),
                n => format!("a tuple of {n} fields"),
            },
            Value::Data(data) => format!("a value made by `{}`", data.constructor),
            Value::Closure(_) => "a function".into(),
            Value::Ref(_) => "a reference".into(),
            Value::Unknown(_) => "a value that is not known".into(),
            Value::Empty | Value::Released => "nothing".into(),
        }
    }

    /// Returns the number of a failure that a value depends on. Fields of tuples and data are searched up to a limit,
    /// references and functions are not.
    pub fn failure(&self) -> Option<u32> {
        let mut left = 1 << 12;
        let mut stack = vec![self];
        while let Some(value) = stack.pop() {
            let parts = match value {
                Value::Unknown(number) => return Some(*number),
                Value::Tuple(cell) => &cell.0[..],
                Value::Data(data) => data.fields(),
                Value::Tensor(_)
                | Value::Closure(_)
                | Value::Ref(_)
                | Value::Empty
                | Value::Released => continue,
            };
            if parts.len() > left {
                return None;
            }
            left -= parts.len();
            stack.extend(parts);
        }
        None
    }

    /// Returns the tensors in a value that is known to be small, with the fields of tuples and data
    /// in order. References are not followed.
    pub fn leaves(&self) -> Vec<&Tensor> {
        self.leaves_within(usize::MAX).unwrap_or_default()
    }

    /// Like [`Value::leaves`]; `None` for more than `most` parts. A shared part counts at each
    /// occurrence: sixty tuples that contain the previous one twice have 2^60.
    pub fn leaves_within(&self, most: usize) -> Option<Vec<&Tensor>> {
        let leaves = self.shared_leaves_within(most)?;
        Some(leaves.into_iter().map(|tensor| &**tensor).collect())
    }

    /// Like [`Value::leaves_within`], without their elements: transposes may be pending.
    pub fn shared_leaves_within(&self, most: usize) -> Option<Vec<&SharedTensor>> {
        let mut leaves = Vec::new();
        let mut left = most.checked_sub(1)?;
        let mut stack = vec![self];
        while let Some(value) = stack.pop() {
            let parts = match value {
                Value::Tensor(tensor) => {
                    leaves.push(tensor);
                    continue;
                }
                Value::Tuple(cell) => &cell.0[..],
                Value::Data(data) => data.fields(),
                Value::Closure(_)
                | Value::Ref(_)
                | Value::Unknown(_)
                | Value::Empty
                | Value::Released => continue,
            };
            left = left.checked_sub(parts.len())?;
            stack.extend(parts.iter().rev());
        }
        Some(leaves)
    }

    /// Returns true if it surely is another value to the last bit. It is not for functions, references, and values of
    /// more than `most` parts.
    pub fn is_identical(&self, other: &Value, most: usize) -> bool {
        let mut left = most;
        let mut pairs: SmallVec<[(&Value, &Value); 4]> = smallvec![(self, other)];
        while let Some((a, b)) = pairs.pop() {
            let (a, b) = match (a, b) {
                (Value::Tensor(a), Value::Tensor(b)) if a.is_identical(b) => continue,
                (Value::Tuple(a), Value::Tuple(b)) if Arc::ptr_eq(a, b) => continue,
                (Value::Tuple(a), Value::Tuple(b)) => (&a.0[..], &b.0[..]),
                (Value::Data(a), Value::Data(b)) if Arc::ptr_eq(a, b) => continue,
                (Value::Data(a), Value::Data(b)) if a.constructor == b.constructor => {
                    (a.fields(), b.fields())
                }
                _ => return false,
            };
            if a.len() != b.len() || a.len() > left {
                return false;
            }
            left -= a.len();
            pairs.extend(a.iter().zip(b));
        }
        true
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Tensor(tensor.into())
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests choose their sizes")]
mod tests {
    use ndarray::IxDyn;

    use super::*;
    use crate::tensor::{Array, Element};

    #[test]
    fn leaves_of_shared_parts_are_limited() {
        let mut value = Value::from(Tensor::scalar(1i32));
        for _ in 0..60 {
            value = Value::tuple([value.clone(), value]);
        }
        assert!(value.leaves_within(1000).is_none());
        // Its type is truncated.
        assert!(matches!(value.ty(), Type::Tuple(fields) if fields.len() == 2));
        let pair = Value::tuple([Tensor::scalar(1i32).into(), Tensor::scalar(2i32).into()]);
        assert_eq!(pair.leaves_within(3).map(|leaves| leaves.len()), Some(2));
        assert!(pair.leaves_within(2).is_none());
    }

    #[test]
    fn dropping_long_lists_does_not_overflow() {
        let mut list = Value::data("Nil".into(), []);
        for number in 0..1_000_000 {
            list = Value::data("Cons".into(), [Tensor::scalar(number).into(), list]);
        }
        drop(list);
    }

    #[test]
    fn long_lists_are_dropped_completely() {
        let number = Array::from_elem(IxDyn(&[]), 7i32);
        let mut list = Value::data("Nil".into(), []);
        for _ in 0..3 * DROP_BATCH {
            list = Value::data("Cons".into(), [i32::wrap(number.clone()).into(), list]);
        }
        drop(list);
        // Another thread may still be dropping the rest.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let mut number = number;
        while !number.is_unique() {
            assert!(std::time::Instant::now() < end, "not everything is dropped");
            std::thread::yield_now();
        }
        assert_eq!(number.get_mut(IxDyn(&[])), Some(&mut 7));
    }
}
