//! Values: tensors, tuples, closures, data, references.
//!
//! Values are shared: a copy counts a reference. A kernel that gets the only one may work in
//! place. Dropping never recurses, so a list of ten million cells ends as quietly as it grew.

use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

use half::{bf16, f16};
use ndarray::{ArcArray, ArrayD, ArrayViewD, IxDyn};
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;
use types::{DataType, Dim, Type};

use crate::{
    code::Proc,
    interrupt::{mapped, repeated},
};

/// What an expression gives.
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor.
    Tensor(Arc<Tensor>),
    /// A tuple.
    Tuple(Arc<Cell>),
    /// A value of an algebraic data type.
    Data(Arc<Data>),
    /// A function with what it captured.
    Closure(Arc<Closure>),
    /// A reference.
    Ref(Arc<Reference>),
    /// A variable that has no value (any more); no expression gives it.
    Empty,
}

/// Bytes of a value where it lies in another one, or in a frame.
pub(crate) const SLOT: u64 = size_of::<Value>() as u64;
/// Bytes that a tensor takes beside its elements, about.
pub(crate) const HEAD: u64 = size_of::<Tensor>() as u64 + 64;

/// The fields of a tuple. Pairs and the cells of lists have them in place.
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
    /// What it runs.
    pub(crate) body: Callable,
    /// The values of the names that it takes from around it.
    pub(crate) captured: Cell,
}

/// What a function value runs.
#[derive(Clone, Debug)]
pub(crate) enum Callable {
    /// A function expression.
    Proc(Arc<Proc>),
    /// A definition, by its number in the program.
    Global(u32),
    /// An operator with default attributes: `nn.relu` where it is not called.
    Operator(&'static operators::Operator),
    /// A constructor.
    Constructor(SmolStr),
}

/// A reference cell.
#[derive(Debug)]
pub struct Reference(Mutex<Cell>);

thread_local! {
    /// Fields of values that are being dropped; `None` while nothing is.
    static DROPPING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
}

impl Drop for Cell {
    fn drop(&mut self) {
        if self.0.iter().all(|value| matches!(value, Value::Tensor(_) | Value::Empty)) {
            return;
        }
        let fields = std::mem::take(&mut self.0);
        // Where a drop is under way further out, it takes over the fields; otherwise this is it.
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
            let dropped = std::iter::from_fn(next).take(AT_ONCE).map(drop).count();
            let rest = DROPPING.take().unwrap_or_default();
            if dropped == AT_ONCE && !rest.is_empty() {
                rayon::spawn(move || drop_all(rest));
            }
        }
    }
}

/// How many values a thread drops before another one takes over the rest: what runs on it may be
/// asked to stop.
const AT_ONCE: usize = 1 << 15;

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
    /// The fields, in the order of the constructor.
    pub fn fields(&self) -> &[Value] {
        &self.fields.0
    }
}

impl Reference {
    /// What it holds.
    pub fn get(&self) -> Value {
        let cell = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        cell.0.first().cloned().unwrap_or(Value::Empty)
    }

    /// Gives it another value.
    pub fn set(&self, value: Value) {
        let old = {
            let mut cell = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            std::mem::replace(&mut *cell, Cell(smallvec![value]))
        };
        drop(old);
    }
}

impl Closure {
    pub(crate) fn captured(&self) -> &[Value] {
        &self.captured.0
    }
}

impl Value {
    /// A tuple.
    pub fn tuple(fields: impl IntoIterator<Item = Value>) -> Value {
        Value::Tuple(Arc::new(Cell(fields.into_iter().collect())))
    }

    /// A value of an algebraic data type.
    pub fn data(constructor: SmolStr, fields: impl IntoIterator<Item = Value>) -> Value {
        Value::Data(Arc::new(Data { constructor, fields: Cell(fields.into_iter().collect()) }))
    }

    /// A reference.
    pub fn reference(value: Value) -> Value {
        Value::Ref(Arc::new(Reference(Mutex::new(Cell(smallvec![value])))))
    }

    pub(crate) fn closure(body: Callable, captured: impl IntoIterator<Item = Value>) -> Value {
        let captured = Cell(captured.into_iter().collect());
        Value::Closure(Arc::new(Closure { body, captured }))
    }

    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The fields, if it is a tuple.
    pub fn as_tuple(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(cell) => Some(&cell.0),
            _ => None,
        }
    }

    /// The type, with every size known. Functions, data and references do not say theirs.
    pub fn ty(&self) -> Type {
        match self {
            Value::Tensor(tensor) => tensor.ty(),
            Value::Tuple(cell) => Type::tuple(cell.0.iter().map(Value::ty)),
            _ => Type::Error,
        }
    }

    /// What kind of value it is, in a sentence.
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
            Value::Empty => "nothing".into(),
        }
    }

    /// The tensors in it, fields of tuples and data in order.
    ///
    /// Data that holds itself through a reference is not followed.
    pub fn leaves(&self) -> Vec<&Tensor> {
        let mut leaves = Vec::new();
        let mut stack = vec![self];
        while let Some(value) = stack.pop() {
            match value {
                Value::Tensor(tensor) => leaves.push(&**tensor),
                Value::Tuple(cell) => stack.extend(cell.0.iter().rev()),
                Value::Data(data) => stack.extend(data.fields().iter().rev()),
                Value::Closure(_) | Value::Ref(_) | Value::Empty => {}
            }
        }
        leaves
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Tensor(Arc::new(tensor))
    }
}

/// An array that is shared until someone writes to it. Its elements lie in row-major order without
/// gaps: `as_slice()` always has them.
pub type Array<T> = ArcArray<T, IxDyn>;

macro_rules! tensors {
    ($($(#[$doc:meta])* $variant:ident $ty:ty = $dtype:ident,)*) => {
        /// A tensor: one variant a data type.
        #[derive(Clone, Debug)]
        pub enum Tensor {
            $($(#[$doc])* $variant(Array<$ty>),)*
        }

        impl Tensor {
            /// The type of the elements.
            pub fn dtype(&self) -> DataType {
                match self {
                    $(Tensor::$variant(_) => DataType::$dtype,)*
                }
            }

            /// The sizes of the axes.
            pub fn shape(&self) -> &[usize] {
                match self {
                    $(Tensor::$variant(array) => array.shape(),)*
                }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self {
                    $(Tensor::$variant(array) => array.len(),)*
                }
            }

            /// The same elements in another shape; `None` where their number differs.
            pub fn reshape(self, shape: &[usize]) -> Option<Tensor> {
                match self {
                    $(Tensor::$variant(array) => {
                        Some(Tensor::$variant(array.into_shape_with_order(IxDyn(shape)).ok()?))
                    })*
                }
            }

            /// Zeros.
            pub fn zeros(dtype: DataType, shape: &[usize]) -> Option<Tensor> {
                match dtype {
                    $(DataType::$dtype => Some(Tensor::$variant(
                        Array::from_elem(IxDyn(shape), <$ty as Element>::from_i64(0)),
                    )),)*
                    _ => None,
                }
            }

            /// Where the elements are in memory: tensors that share them give the same.
            pub(crate) fn address(&self) -> usize {
                match self {
                    $(Tensor::$variant(array) => array.as_ptr() as usize,)*
                }
            }
        }

        $(
            impl Element for $ty {
                const DTYPE: DataType = DataType::$dtype;

                fn wrap(array: Array<$ty>) -> Tensor {
                    debug_assert!(array.is_standard_layout());
                    Tensor::$variant(array)
                }

                fn unwrap(tensor: &Tensor) -> Option<&Array<$ty>> {
                    match tensor {
                        Tensor::$variant(array) => Some(array),
                        _ => None,
                    }
                }

                fn unwrap_mut(tensor: &mut Tensor) -> Option<&mut Array<$ty>> {
                    match tensor {
                        Tensor::$variant(array) => Some(array),
                        _ => None,
                    }
                }

                fn unwrap_owned(tensor: Tensor) -> Option<Array<$ty>> {
                    match tensor {
                        Tensor::$variant(array) => Some(array),
                        _ => None,
                    }
                }

                tensors!(@convert $variant $ty);
            }
        )*

        /// Runs the body with `$name` bound to the array and `T` to the type of its elements.
        macro_rules! each_dtype {
            ($tensor:expr, $name:ident => $body:expr) => {
                match $tensor {
                    $($crate::Tensor::$variant($name) => {
                        type T = $ty;
                        // Not every body names the type.
                        let _ = std::marker::PhantomData::<T>;
                        $body
                    })*
                }
            };
        }
    };
    (@convert Bool $ty:ty) => {
        fn to_f64(self) -> f64 { f64::from(u8::from(self)) }
        fn from_f64(value: f64) -> bool { value != 0.0 }
        fn to_i64(self) -> i64 { i64::from(self) }
        fn from_i64(value: i64) -> bool { value != 0 }
    };
    (@convert F16 $ty:ty) => { tensors!(@half $ty); };
    (@convert BF16 $ty:ty) => { tensors!(@half $ty); };
    (@convert $variant:ident $ty:ty) => {
        fn to_f64(self) -> f64 { self as f64 }
        fn from_f64(value: f64) -> $ty { value as $ty }
        fn to_i64(self) -> i64 { self as i64 }
        fn from_i64(value: i64) -> $ty { value as $ty }
    };
    (@half $ty:ty) => {
        fn to_f64(self) -> f64 { f64::from(self) }
        fn from_f64(value: f64) -> $ty { <$ty>::from_f64(value) }
        fn to_i64(self) -> i64 { f64::from(self) as i64 }
        fn from_i64(value: i64) -> $ty { <$ty>::from_f64(value as f64) }
    };
}

/// A type of elements.
pub trait Element: Copy + Default + PartialOrd + Send + Sync + std::fmt::Debug + 'static {
    /// Its data type.
    const DTYPE: DataType;

    /// An array as a tensor.
    fn wrap(array: Array<Self>) -> Tensor;
    /// The array, if the tensor has elements of this type.
    fn unwrap(tensor: &Tensor) -> Option<&Array<Self>>;
    /// The array, to be written to, if the tensor has elements of this type.
    fn unwrap_mut(tensor: &mut Tensor) -> Option<&mut Array<Self>>;
    /// The array, if the tensor has elements of this type.
    fn unwrap_owned(tensor: Tensor) -> Option<Array<Self>>;
    /// The number, rounded to the nearest.
    fn to_f64(self) -> f64;
    /// The nearest element: integers are cut toward zero and saturate.
    fn from_f64(value: f64) -> Self;
    /// The number, cut toward zero.
    fn to_i64(self) -> i64;
    /// The number; integers wrap.
    fn from_i64(value: i64) -> Self;

    /// A tensor of elements in row-major order; `None` where their number is not the shape's.
    fn tensor(shape: &[usize], elements: Vec<Self>) -> Option<Tensor> {
        Some(Self::wrap(Array::from_shape_vec(IxDyn(shape), elements).ok()?))
    }
}

tensors! {
    /// Truth values.
    Bool bool = BOOL,
    /// Signed integers of 8 bits.
    I8 i8 = INT8,
    /// Signed integers of 16 bits.
    I16 i16 = INT16,
    /// Signed integers of 32 bits.
    I32 i32 = INT32,
    /// Signed integers of 64 bits.
    I64 i64 = INT64,
    /// Unsigned integers of 8 bits.
    U8 u8 = UINT8,
    /// Unsigned integers of 16 bits.
    U16 u16 = UINT16,
    /// Unsigned integers of 32 bits.
    U32 u32 = UINT32,
    /// Unsigned integers of 64 bits.
    U64 u64 = UINT64,
    /// Half precision.
    F16 half::f16 = FLOAT16,
    /// Brain floating point.
    BF16 half::bf16 = BFLOAT16,
    /// Single precision.
    F32 f32 = FLOAT32,
    /// Double precision.
    F64 f64 = FLOAT64,
}

#[expect(clippy::single_component_path_imports, reason = "it gives the macro a path")]
pub(crate) use each_dtype;

/// The elements of an array, in row-major order.
pub(crate) fn elements<T: Element>(array: &Array<T>) -> &[T] {
    array.as_slice().unwrap_or_default()
}

/// An array that nobody else holds, to be written to.
pub(crate) fn own<T: Element>(array: Array<T>) -> Array<T> {
    if array.is_unique() {
        return array;
    }
    let copy = Array::from_shape_vec(array.raw_dim(), mapped(elements(&array), |x| x));
    copy.unwrap_or(array)
}

impl Tensor {
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many axes there are.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// Bytes of the elements.
    pub fn bytes(&self) -> usize {
        self.len() * self.dtype().bytes() as usize
    }

    /// The type.
    pub fn ty(&self) -> Type {
        Type::tensor(self.shape().iter().map(|&size| Dim::known(size as i64)), self.dtype())
    }

    /// An array with elements in any order.
    pub fn from_array<T: Element>(array: ArrayD<T>) -> Tensor {
        let array = if array.is_standard_layout() {
            array
        } else {
            array.as_standard_layout().into_owned()
        };
        T::wrap(array.into_shared())
    }

    /// A copy of a view, row-major.
    pub fn from_view<T: Element>(view: ArrayViewD<'_, T>) -> Tensor {
        T::wrap(view.as_standard_layout().into_owned().into_shared())
    }

    /// A scalar.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        T::wrap(Array::from_elem(IxDyn(&[]), value))
    }

    /// A tensor of a shape that has the first element of this one everywhere; `None` where there is
    /// none, or more than there can be.
    pub fn filled(&self, shape: &[usize]) -> Option<Tensor> {
        let count = shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size))?;
        each_dtype!(self, array => T::tensor(shape, repeated(*elements(array).first()?, count)))
    }

    /// Every element as a 64-bit number.
    pub fn to_f64s(&self) -> Vec<f64> {
        each_dtype!(self, array => mapped(elements(array), Element::to_f64))
    }

    /// The element at a position in row-major order, as a 64-bit number.
    pub fn get_f64(&self, at: usize) -> Option<f64> {
        each_dtype!(self, array => elements(array).get(at).map(|&x| Element::to_f64(x)))
    }

    /// Every element as a 64-bit integer, cut toward zero.
    pub fn to_i64s(&self) -> Vec<i64> {
        each_dtype!(self, array => mapped(elements(array), Element::to_i64))
    }

    /// Every element in single precision.
    pub fn to_f32s(&self) -> Vec<f32> {
        match self {
            Tensor::F32(array) => mapped(elements(array), |x| x),
            other => {
                each_dtype!(other, array => mapped(elements(array), |x| Element::to_f64(x) as f32))
            }
        }
    }

    /// A tensor of a data type that is known when the program runs, from 64-bit numbers; `None`
    /// where their number is not the shape's, or the data type has no tensors.
    pub fn from_f64s(dtype: DataType, shape: &[usize], values: Vec<f64>) -> Option<Tensor> {
        if dtype == DataType::FLOAT64 {
            return f64::tensor(shape, values);
        }
        let like = Tensor::zeros(dtype, &[])?;
        each_dtype!(like, _array => T::tensor(shape, mapped(&values, <T as Element>::from_f64)))
    }

    /// As [`Tensor::from_f64s`], from integers, which wrap.
    pub fn from_i64s(dtype: DataType, shape: &[usize], values: Vec<i64>) -> Option<Tensor> {
        if dtype == DataType::INT64 {
            return i64::tensor(shape, values);
        }
        let like = Tensor::zeros(dtype, &[])?;
        each_dtype!(like, _array => T::tensor(shape, mapped(&values, <T as Element>::from_i64)))
    }

    /// A tensor from little-endian bytes in row-major order; `None` where they are too few or too
    /// many.
    pub fn from_le_bytes(dtype: DataType, shape: &[usize], bytes: &[u8]) -> Option<Tensor> {
        macro_rules! read {
            ($($dtype:ident $ty:ty,)*) => {
                match dtype {
                    DataType::BOOL => {
                        bool::tensor(shape, mapped(bytes, |byte| byte != 0))
                    }
                    $(DataType::$dtype => {
                        let (chunks, rest) = bytes.as_chunks::<{ size_of::<$ty>() }>();
                        if !rest.is_empty() {
                            return None;
                        }
                        <$ty>::tensor(shape, mapped(chunks, <$ty>::from_le_bytes))
                    })*
                    _ => None,
                }
            };
        }
        read! {
            INT8 i8, INT16 i16, INT32 i32, INT64 i64, UINT8 u8, UINT16 u16, UINT32 u32, UINT64 u64,
            FLOAT16 f16, BFLOAT16 bf16, FLOAT32 f32, FLOAT64 f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_end_quietly() {
        let mut list = Value::data("Nil".into(), []);
        for number in 0..1_000_000 {
            list = Value::data("Cons".into(), [Tensor::scalar(number).into(), list]);
        }
        drop(list);
    }

    #[test]
    fn long_lists_end_wholly() {
        let number = Array::from_elem(IxDyn(&[]), 7i32);
        let mut list = Value::data("Nil".into(), []);
        for _ in 0..3 * AT_ONCE {
            list = Value::data("Cons".into(), [i32::wrap(number.clone()).into(), list]);
        }
        drop(list);
        // Another thread may still be at it.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        let mut number = number;
        while !number.is_unique() {
            assert!(std::time::Instant::now() < end, "not everything is dropped");
            std::thread::yield_now();
        }
        assert_eq!(number.get_mut(IxDyn(&[])), Some(&mut 7));
    }

    #[test]
    fn bytes_and_numbers() {
        let tensor = Tensor::from_le_bytes(DataType::INT16, &[2], &[1, 0, 255, 255]);
        assert_eq!(tensor.map(|t| t.to_i64s()), Some(vec![1, -1]));
        assert!(Tensor::from_le_bytes(DataType::INT16, &[2], &[1, 0, 255]).is_none());
        let tensor = Tensor::from_f64s(DataType::UINT8, &[3], vec![-1.0, 2.9, 300.0]);
        assert_eq!(tensor.map(|t| t.to_i64s()), Some(vec![0, 2, 255]));
    }
}
