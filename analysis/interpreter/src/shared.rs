//! Shared tensors, with transposition on demand.
//!
//! Modules from PyTorch transpose each weight before a product, which can read its operands in
//! either order. So a large transposed matrix refers to its original, and is computed only if its
//! elements are read.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use smallvec::SmallVec;
use types::{DataType, Dim, Type};

use crate::tensor::{Array, Element, Tensor, each_dtype};

/// A tensor that several values may share.
#[derive(Clone, Debug)]
pub struct SharedTensor(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The tensor, once it is computed.
    tensor: OnceLock<Tensor>,
    transposed: Option<Transpose>,
}

/// The transpose of another matrix.
#[derive(Clone, Debug)]
struct Transpose {
    /// The other matrix, of two axes.
    from: Tensor,
    /// The shape, which may have leading axes of size 1.
    shape: SmallVec<[usize; 4]>,
}

impl From<Tensor> for SharedTensor {
    fn from(tensor: Tensor) -> SharedTensor {
        SharedTensor(Arc::new(Inner { tensor: tensor.into(), transposed: None }))
    }
}

impl Deref for SharedTensor {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        self.0.tensor.get_or_init(|| match &self.0.transposed {
            Some(Transpose { from, shape }) => {
                let moved = from.transposed();
                moved.clone().reshape(shape).unwrap_or(moved)
            }
            // Unreachable: one of the two exists.
            None => Tensor::scalar(0f32),
        })
    }
}

impl SharedTensor {
    /// Returns the transpose of a matrix of two axes, in a shape that may have leading axes of size 1;
    /// `None` for other shapes.
    pub(crate) fn transposed_matrix(from: Tensor, shape: &[usize]) -> Option<SharedTensor> {
        let (leading, matrix) = shape.split_at(shape.len().checked_sub(2)?);
        let is_transpose =
            from.rank() == 2 && matrix[0] == from.shape()[1] && matrix[1] == from.shape()[0];
        if !is_transpose || leading.iter().any(|&size| size != 1) {
            return None;
        }
        let transposed = Some(Transpose { from, shape: shape.into() });
        Some(SharedTensor(Arc::new(Inner { tensor: OnceLock::new(), transposed })))
    }

    /// Returns the original of a pending transpose.
    pub(crate) fn pending(&self) -> Option<&Tensor> {
        match (&self.0.transposed, self.0.tensor.get()) {
            (Some(transposed), None) => Some(&transposed.from),
            _ => None,
        }
    }

    /// Returns the array of [`pending`](SharedTensor::pending).
    pub(crate) fn pending_array<T: Element>(&self) -> Option<&Array<T>> {
        T::unwrap(self.pending()?)
    }

    /// Reshapes a pending transpose, if that does not need its elements.
    pub(crate) fn reshaped_pending(&self, shape: &[usize]) -> Option<SharedTensor> {
        SharedTensor::transposed_matrix(self.pending()?.clone(), shape)
    }

    /// Returns the tensor for writing, if it is not shared.
    pub(crate) fn get_mut(&mut self) -> Option<&mut Tensor> {
        Arc::get_mut(&mut self.0)?.tensor.get_mut()
    }

    /// Returns the tensor, if nothing else holds it or its elements.
    pub(crate) fn into_unique(self) -> Result<Tensor, SharedTensor> {
        if self.0.transposed.is_some() {
            return Err(self);
        }
        let mut tensor = match Arc::try_unwrap(self.0) {
            Ok(inner) => inner.tensor.into_inner().unwrap_or_else(|| Tensor::scalar(0f32)),
            Err(inner) => return Err(SharedTensor(inner)),
        };
        match each_dtype!(&mut tensor, array => array.is_unique()) {
            true => Ok(tensor),
            false => Err(tensor.into()),
        }
    }

    /// Returns the tensor, or another handle of it if it is shared.
    pub(crate) fn into_tensor(self) -> Tensor {
        match Arc::try_unwrap(self.0) {
            Ok(Inner { tensor, transposed: None }) => {
                tensor.into_inner().unwrap_or_else(|| Tensor::scalar(0f32))
            }
            Ok(inner) => {
                let shared = SharedTensor(Arc::new(inner));
                let tensor = (*shared).clone();
                drop(shared);
                tensor
            }
            Err(inner) => (*SharedTensor(inner)).clone(),
        }
    }

    /// Returns the tensor, or the original of a pending transpose, which has the same elements.
    pub fn stored(&self) -> &Tensor {
        self.pending().unwrap_or_else(|| self)
    }

    /// Returns true if both are handles of one tensor.
    pub fn is_same(&self, other: &SharedTensor) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns true if it is the same tensor as another one, or has the same elements.
    pub(crate) fn is_identical(&self, other: &SharedTensor) -> bool {
        let is_computed = |tensor: &SharedTensor| tensor.pending().is_none();
        self.is_same(other)
            || (is_computed(self) && is_computed(other) && Tensor::is_identical(self, other))
    }

    /// Returns the type of the elements.
    pub fn dtype(&self) -> DataType {
        self.stored().dtype()
    }

    /// Returns the sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        match (self.0.tensor.get(), &self.0.transposed) {
            (Some(tensor), _) => tensor.shape(),
            (None, Some(transposed)) => &transposed.shape,
            (None, None) => &[],
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.stored().len()
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of the elements in bytes.
    pub fn bytes(&self) -> usize {
        self.stored().bytes()
    }

    /// Returns the bytes in use: a transposed matrix may be stored twice.
    pub(crate) fn held(&self) -> usize {
        let twice = self.0.transposed.is_some() && self.0.tensor.get().is_some();
        if twice { 2 * self.bytes() } else { self.bytes() }
    }

    /// Returns the type.
    pub fn ty(&self) -> Type {
        Type::tensor(self.shape().iter().map(|&size| Dim::known(size as i64)), self.dtype())
    }

    /// Returns the address of the elements in memory, which is equal for tensors that share them.
    pub(crate) fn address(&self) -> usize {
        self.stored().address()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposes_are_computed_on_access() {
        let matrix = Tensor::from_f64s(DataType::INT32, &[2, 3], (0..6).map(f64::from).collect());
        let matrix = matrix.expect("a tensor");
        assert!(SharedTensor::transposed_matrix(matrix.clone(), &[2, 3]).is_none());
        assert!(SharedTensor::transposed_matrix(matrix.clone(), &[2, 3, 2]).is_none());
        let transposed =
            SharedTensor::transposed_matrix(matrix.clone(), &[3, 2]).expect("it is one");
        assert_eq!(
            (transposed.shape(), transposed.len(), transposed.bytes()),
            (&[3, 2][..], 6, 24)
        );
        let other = transposed.reshaped_pending(&[1, 3, 2]).expect("it is one");
        assert!(transposed.reshaped_pending(&[6]).is_none());
        assert_eq!(other.address(), matrix.address());
        assert_eq!(other.to_i64s(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(Tensor::shape(&other), [1, 3, 2]);
        assert!(other.pending().is_none() && transposed.pending().is_some());
        assert_eq!((other.held(), transposed.held()), (48, 24));
        assert_eq!(transposed.into_tensor().to_i64s(), [0, 3, 1, 4, 2, 5]);
    }
}
