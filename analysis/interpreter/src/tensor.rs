//! Tensors: arrays of one of thirteen data types.

use half::{bf16, f16};
use ndarray::{ArcArray, ArrayD, IxDyn};
use types::{DataType, Dim, Type};

use crate::{
    allocate::{mapped, repeated, reused, with_capacity},
    cast,
    interrupt::{self, PIECE, spend},
    parallel::each_chunk,
};

/// An array that is shared until it is written to. Its elements are contiguous in row-major order:
/// `as_slice()` always succeeds.
pub type Array<T> = ArcArray<T, IxDyn>;

macro_rules! tensors {
    ($($(#[$doc:meta])* $variant:ident $ty:ty = $dtype:ident,)*) => {
        /// A tensor, with a variant per data type.
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

            /// Reshapes the tensor; `None` if the number of elements differs.
            pub fn reshape(self, shape: &[usize]) -> Option<Tensor> {
                match self {
                    $(Tensor::$variant(array) => {
                        Some(Tensor::$variant(array.into_shape_with_order(IxDyn(shape)).ok()?))
                    })*
                }
            }

            /// Creates zeros; `None` for data types without tensors and shapes that are too large.
            pub fn zeros(dtype: DataType, shape: &[usize]) -> Option<Tensor> {
                let count = count_of(shape)?;
                match dtype {
                    $(DataType::$dtype => {
                        <$ty>::tensor(shape, repeated(<$ty as Element>::from_i64(0), count))
                    })*
                    _ => None,
                }
            }

            /// The address of the elements in memory, which is equal for tensors that share them.
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
                        // Not every body uses the type.
                        let _ = std::marker::PhantomData::<T>;
                        $body
                    })*
                }
            };
        }
    };
    (@convert Bool $ty:ty) => {
        fn to_f64(self) -> f64 { f64::from(u8::from(self)) }
        fn to_f32(self) -> f32 { f32::from(u8::from(self)) }
        fn from_f64(value: f64) -> bool { value != 0.0 }
        fn from_f32(value: f32) -> bool { value != 0.0 }
        fn nearest(value: f64) -> bool { value != 0.0 }
        fn to_i64(self) -> i64 { i64::from(self) }
        fn from_i64(value: i64) -> bool { value != 0 }
    };
    (@convert F16 $ty:ty) => { tensors!(@half $ty, cast::to_odd); };
    // Every number becomes brain floating point through single precision.
    (@convert BF16 $ty:ty) => { tensors!(@half $ty, cast::to_single); };
    (@convert F32 $ty:ty) => { tensors!(@float $ty); };
    (@convert F64 $ty:ty) => { tensors!(@float $ty); };
    (@convert I64 $ty:ty) => { tensors!(@integer $ty, cast::to_i64); };
    (@convert U64 $ty:ty) => { tensors!(@integer $ty, cast::to_u64); };
    (@convert U32 $ty:ty) => { tensors!(@integer $ty, cast::to_u32); };
    (@convert $variant:ident $ty:ty) => { tensors!(@integer $ty, cast::to_i32); };
    (@integer $ty:ty, $cut:path) => {
        fn to_f64(self) -> f64 { self as f64 }
        fn to_f32(self) -> f32 { self as f32 }
        fn from_f64(value: f64) -> $ty { $cut(value) as $ty }
        fn from_f32(value: f32) -> $ty { $cut(f64::from(value)) as $ty }
        fn nearest(value: f64) -> $ty { value as $ty }
        fn to_i64(self) -> i64 { self as i64 }
        fn from_i64(value: i64) -> $ty { value as $ty }
    };
    (@float $ty:ty) => {
        fn to_f64(self) -> f64 { f64::from(self) }
        fn to_f32(self) -> f32 { self as f32 }
        fn from_f64(value: f64) -> $ty { value as $ty }
        fn from_f32(value: f32) -> $ty { <$ty>::from(value) }
        fn nearest(value: f64) -> $ty { value as $ty }
        fn to_i64(self) -> i64 { cast::to_i64(f64::from(self)) }
        fn from_i64(value: i64) -> $ty { value as $ty }
    };
    (@half $ty:ty, $single:path) => {
        fn to_f64(self) -> f64 { f64::from(self) }
        fn to_f32(self) -> f32 { f32::from(self) }
        fn from_f64(value: f64) -> $ty { <$ty>::from_f32($single(value)) }
        fn from_f32(value: f32) -> $ty { <$ty>::from_f32(value) }
        fn nearest(value: f64) -> $ty { Self::from_f64(value) }
        fn to_i64(self) -> i64 { cast::to_i64(f64::from(self)) }
        fn from_i64(value: i64) -> $ty { <$ty>::from_f32(value as f32) }
    };
}

/// The type of the elements of a tensor.
pub trait Element: Copy + Default + PartialOrd + Send + Sync + std::fmt::Debug + 'static {
    /// Its data type.
    const DTYPE: DataType;

    /// Wraps an array as a tensor.
    fn wrap(array: Array<Self>) -> Tensor;
    /// The array, if the tensor has elements of this type.
    fn unwrap(tensor: &Tensor) -> Option<&Array<Self>>;
    /// The array for writing, if the tensor has elements of this type.
    fn unwrap_mut(tensor: &mut Tensor) -> Option<&mut Array<Self>>;
    /// Unwraps the array, if the tensor has elements of this type.
    fn unwrap_owned(tensor: Tensor) -> Option<Array<Self>>;
    /// Converts to double precision, rounded to nearest.
    fn to_f64(self) -> f64;
    /// Converts to single precision, rounded once.
    fn to_f32(self) -> f32;
    /// Converts from double precision like numpy on x86-64: rounded to nearest, or truncated toward
    /// zero; integers out of range wrap or become the minimum of 32 or 64 bits, depending on the
    /// data type.
    fn from_f64(value: f64) -> Self;
    /// Like [`Element::from_f64`], from single precision.
    fn from_f32(value: f32) -> Self;
    /// Converts to the nearest element: integers are truncated toward zero and saturate, and NaN is
    /// 0.
    fn nearest(value: f64) -> Self;
    /// Converts to an integer, truncated toward zero; numbers out of range become the minimum.
    fn to_i64(self) -> i64;
    /// Converts from an integer, with wrapping.
    fn from_i64(value: i64) -> Self;

    /// A tensor of elements in row-major order; `None` if their number does not match the shape.
    fn tensor(shape: &[usize], elements: Vec<Self>) -> Option<Tensor> {
        Some(Self::wrap(Array::from_shape_vec(IxDyn(shape), elements).ok()?))
    }
}

tensors! {
    /// Booleans.
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

/// Returns the number of elements of a shape.
///
/// `None` if the product of the sizes that are not 0 exceeds `isize::MAX`, so that there is no
/// tensor of the shape. Products of sizes of a tensor therefore do not overflow; other shapes must
/// be checked here first.
pub fn count_of(shape: &[usize]) -> Option<usize> {
    let mut sizes = shape.iter().filter(|&&size| size != 0);
    let product = sizes.try_fold(1usize, |product, &size| product.checked_mul(size))?;
    isize::try_from(product).ok()?;
    Some(if shape.contains(&0) { 0 } else { product })
}

/// Returns the elements of an array, in row-major order.
pub(crate) fn elements<T: Element>(array: &Array<T>) -> &[T] {
    array.as_slice().unwrap_or_default()
}

/// Returns `count` elements of unspecified values, each of which is to be written, allocated as by
/// [`reused`].
pub(crate) fn unspecified<T: Element>(count: usize) -> Vec<T> {
    let mut all = reused(count);
    if cfg!(debug_assertions) {
        // Elements that a kernel does not write become visible.
        all.fill(T::from_f64(f64::NAN));
    }
    all
}

/// Returns an array that is not shared, for writing.
pub(crate) fn own<T: Element>(array: Array<T>) -> Array<T> {
    if array.is_unique() {
        return array;
    }
    let source = elements(&array);
    let mut copy = unspecified(source.len());
    each_chunk(&mut copy, PIECE, 1, &|at, piece| {
        spend(piece.len());
        if let Some(source) = source.get(at * PIECE..at * PIECE + piece.len()) {
            piece.copy_from_slice(source);
        }
    });
    Array::from_shape_vec(array.raw_dim(), copy).unwrap_or(array)
}

impl Tensor {
    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if the data type, the shape and each element to the last bit are those of another tensor. NaN
    /// equals nothing.
    pub(crate) fn is_identical(&self, other: &Tensor) -> bool {
        fn is_equal<T: Element>(a: &[T], b: &[T]) -> bool {
            // Zeros have signs.
            let is_same =
                |(a, b): (&T, &T)| (a == b) & (a.to_f64().to_bits() == b.to_f64().to_bits());
            // Without a branch for each element.
            let mut pieces = a.chunks(64).zip(b.chunks(64));
            pieces.all(|(a, b)| a.iter().zip(b).map(is_same).fold(true, |all, is| all & is))
        }
        self.shape() == other.shape()
            && each_dtype!(self, array => {
                T::unwrap(other).is_some_and(|other| is_equal(elements(array), elements(other)))
            })
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// The size of the elements in bytes.
    pub fn bytes(&self) -> usize {
        self.len() * self.dtype().bytes() as usize
    }

    /// The type.
    pub fn ty(&self) -> Type {
        Type::tensor(self.shape().iter().map(|&size| Dim::known(size as i64)), self.dtype())
    }

    /// An array in any memory order.
    pub fn from_array<T: Element>(array: ArrayD<T>) -> Tensor {
        let array = if array.is_standard_layout() {
            array
        } else {
            array.as_standard_layout().into_owned()
        };
        T::wrap(array.into_shared())
    }

    /// A scalar.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        T::wrap(ndarray::arr0(value).into_dyn().into_shared())
    }

    /// A scalar of a data type that is only known at run time, rounded to nearest. `None` for data
    /// types without tensors.
    pub(crate) fn nearest(dtype: DataType, value: f64) -> Option<Tensor> {
        let like = Tensor::zeros(dtype, &[])?;
        Some(each_dtype!(like, _like => Tensor::scalar(<T as Element>::nearest(value))))
    }

    /// A tensor of a shape filled with the first element of this one; `None` if there is none, or
    /// the shape is too large.
    pub fn filled(&self, shape: &[usize]) -> Option<Tensor> {
        let count = count_of(shape)?;
        each_dtype!(self, array => T::tensor(shape, repeated(*elements(array).first()?, count)))
    }

    /// Every element as a 64-bit number.
    pub fn to_f64s(&self) -> Vec<f64> {
        each_dtype!(self, array => mapped(elements(array), Element::to_f64))
    }

    /// Calls a function with all elements as 64 bit numbers, chunk by chunk.
    pub fn each_f64s(&self, mut f: impl FnMut(&[f64])) {
        let mut piece = [0f64; 512];
        for start in (0..self.len()).step_by(piece.len()) {
            let length = (self.len() - start).min(piece.len());
            self.read_f64s(start, &mut piece[..length]);
            f(&piece[..length]);
        }
    }

    /// Converts the elements from `start` on to 64-bit numbers.
    pub(crate) fn read_f64s(&self, start: usize, to: &mut [f64]) {
        each_dtype!(self, array => {
            let from = elements(array).get(start..).unwrap_or_default();
            to.iter_mut().zip(from).for_each(|(to, &x)| *to = Element::to_f64(x));
        });
    }

    /// The element at a position in row-major order, as a 64-bit number.
    pub fn get_f64(&self, at: usize) -> Option<f64> {
        each_dtype!(self, array => elements(array).get(at).map(|&x| Element::to_f64(x)))
    }

    /// The elements as 64 bit integers, truncated toward zero.
    pub fn to_i64s(&self) -> Vec<i64> {
        each_dtype!(self, array => mapped(elements(array), Element::to_i64))
    }

    /// Every element in single precision.
    pub fn to_f32s(&self) -> Vec<f32> {
        match self {
            Tensor::F32(array) => mapped(elements(array), |x| x),
            other => each_dtype!(other, array => mapped(elements(array), Element::to_f32)),
        }
    }

    /// A tensor of a data type that is only known at run time, from 64 bit numbers, cast as by
    /// [`Element::from_f64`]. `None` if their number does not match the shape, or the data type has
    /// no tensors.
    pub fn from_f64s(dtype: DataType, shape: &[usize], values: Vec<f64>) -> Option<Tensor> {
        if dtype == DataType::FLOAT64 {
            return f64::tensor(shape, values);
        }
        let like = Tensor::zeros(dtype, &[])?;
        each_dtype!(like, _array => T::tensor(shape, mapped(&values, <T as Element>::from_f64)))
    }

    /// Like [`Tensor::from_f64s`], from integers, which wrap.
    pub fn from_i64s(dtype: DataType, shape: &[usize], values: Vec<i64>) -> Option<Tensor> {
        if dtype == DataType::INT64 {
            return i64::tensor(shape, values);
        }
        let like = Tensor::zeros(dtype, &[])?;
        each_dtype!(like, _array => T::tensor(shape, mapped(&values, <T as Element>::from_i64)))
    }

    /// A tensor from little-endian bytes in row-major order; `None` if their number does not match,
    /// or the data type has no tensors.
    pub fn from_le_bytes(dtype: DataType, shape: &[usize], bytes: &[u8]) -> Option<Tensor> {
        let count = count_of(shape)?;
        if count.checked_mul(dtype.bytes() as usize)? != bytes.len() {
            return None;
        }
        let mut rest = bytes;
        let next = |to: &mut [u8]| {
            let (now, later) = rest.split_at(to.len());
            to.copy_from_slice(now);
            rest = later;
            Ok::<(), std::convert::Infallible>(())
        };
        Tensor::read_le(dtype, shape, next).unwrap_or_else(|never| match never {})
    }

    /// A tensor from little-endian bytes in row-major order, which `next` writes into each chunk
    /// that it gets; `None` if the data type has no tensors or the shape is too large.
    ///
    /// # Errors
    /// That of `next`.
    pub fn read_le<E>(
        dtype: DataType,
        shape: &[usize],
        mut next: impl FnMut(&mut [u8]) -> Result<(), E>,
    ) -> Result<Option<Tensor>, E> {
        let Some(count) = count_of(shape) else { return Ok(None) };
        // Allocates everything at once: a file that is too short is rejected before it is read.
        let mut bytes = [0; READ];
        macro_rules! read {
            ($($dtype:ident $ty:ty = $read:expr,)*) => {
                match dtype {
                    $(DataType::$dtype => {
                        let mut all = with_capacity::<$ty>(count);
                        while all.len() < count {
                            interrupt::poll();
                            let width = size_of::<$ty>();
                            let length = (count - all.len()).min(READ / width) * width;
                            let bytes = &mut bytes[..length];
                            next(bytes)?;
                            let (chunks, _) = bytes.as_chunks::<{ size_of::<$ty>() }>();
                            all.extend(chunks.iter().map(|&chunk| $read(chunk)));
                        }
                        Ok(<$ty>::tensor(shape, all))
                    })*
                    _ => Ok(None),
                }
            };
        }
        read! {
            BOOL bool = |[byte]: [u8; 1]| byte != 0,
            INT8 i8 = i8::from_le_bytes,
            INT16 i16 = i16::from_le_bytes,
            INT32 i32 = i32::from_le_bytes,
            INT64 i64 = i64::from_le_bytes,
            UINT8 u8 = u8::from_le_bytes,
            UINT16 u16 = u16::from_le_bytes,
            UINT32 u32 = u32::from_le_bytes,
            UINT64 u64 = u64::from_le_bytes,
            FLOAT16 f16 = f16::from_le_bytes,
            BFLOAT16 bf16 = bf16::from_le_bytes,
            FLOAT32 f32 = f32::from_le_bytes,
            FLOAT64 f64 = f64::from_le_bytes,
        }
    }

    /// Passes the elements to `put` as little-endian bytes in row-major order, chunk by chunk.
    ///
    /// # Errors
    /// That of `put`.
    pub fn write_le<E>(&self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut bytes = Vec::new();
        macro_rules! write {
            ($($variant:ident)*) => {
                match self {
                    Tensor::Bool(array) => {
                        for piece in elements(array).chunks(READ) {
                            bytes.clear();
                            bytes.extend(piece.iter().map(|&x| u8::from(x)));
                            put(&bytes)?;
                        }
                    }
                    $(Tensor::$variant(array) => {
                        for piece in elements(array).chunks(READ / 8) {
                            bytes.clear();
                            piece.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
                            put(&bytes)?;
                        }
                    })*
                }
            };
        }
        write! { I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64 }
        Ok(())
    }
}

/// The number of bytes that are read or written at once.
const READ: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    #[test]
    fn bytes_and_numbers() {
        let tensor = Tensor::from_le_bytes(DataType::INT16, &[2], &[1, 0, 255, 255]);
        assert_eq!(tensor.map(|t| t.to_i64s()), Some(vec![1, -1]));
        assert!(Tensor::from_le_bytes(DataType::INT16, &[2], &[1, 0, 255]).is_none());
        let tensor = Tensor::from_f64s(DataType::UINT8, &[3], vec![-1.0, 2.9, 300.0]);
        // Cast like numpy.
        assert_eq!(tensor.map(|t| t.to_i64s()), Some(vec![255, 2, 44]));
        let nearest = [-1.0, 2.9, 300.0, f64::NAN].map(<u8 as Element>::nearest);
        assert_eq!(nearest, [0, 2, 255, 0]);
    }

    #[test]
    fn bytes_round_trip() {
        for dtype in [DataType::BOOL, DataType::INT16, DataType::BFLOAT16, DataType::FLOAT64] {
            let numbers: Vec<i64> = (0..100_000).map(|k| k % 2).collect();
            let tensor = Tensor::from_i64s(dtype, &[100_000], numbers).expect("a tensor");
            let mut bytes = Vec::new();
            let wrote: Result<(), ()> = tensor.write_le(|piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            });
            assert_eq!((wrote, bytes.len()), (Ok(()), tensor.bytes()));
            let read = Tensor::from_le_bytes(dtype, &[100, 1000], &bytes).expect("a tensor");
            assert_eq!(read.to_f64s(), tensor.to_f64s());
            assert!(Tensor::from_le_bytes(dtype, &[100, 1001], &bytes).is_none());
        }
    }

    #[test]
    fn shapes_without_elements() {
        let huge = 1usize << 62;
        assert_eq!(count_of(&[0, huge]), Some(0));
        assert_eq!(count_of(&[huge, 0, 1]), Some(0));
        assert_eq!(count_of(&[huge]), Some(huge));
        assert_eq!(count_of(&[0, huge, 2]), None);
        assert_eq!(count_of(&[usize::MAX, 0]), None);
        for shape in [&[0, huge][..], &[huge, 0], &[1, huge, 0, 1]] {
            for dtype in [DataType::BOOL, DataType::FLOAT64] {
                let tensor = Tensor::zeros(dtype, shape).expect("a tensor");
                assert_eq!((tensor.shape(), tensor.bytes()), (shape, 0));
                assert!(tensor.clone().reshape(&[0]).is_some());
                assert!(Tensor::from_le_bytes(dtype, shape, &[]).is_some());
                assert!(Tensor::scalar(1i8).filled(shape).is_some());
                assert_eq!(tensor.ty().to_string(), Value::from(tensor).ty().to_string());
            }
        }
        assert!(Tensor::zeros(DataType::INT8, &[0, huge, 4]).is_none());
    }
}
