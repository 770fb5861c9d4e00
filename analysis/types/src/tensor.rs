//! Tensor types of known rank.

use smallvec::SmallVec;

use crate::{
    DataType, Dim,
    info::{Flags, of_dims},
};

/// The sizes of a tensor, outermost axis first. Rank 0 is a scalar.
pub type Shape = SmallVec<[Dim; 5]>;

/// Returns the position of an axis of a tensor of `rank`, where a negative `axis` counts from the end; `None` if
/// it is out of range.
pub fn normal_axis(axis: i64, rank: usize) -> Option<usize> {
    let from_start = if axis < 0 { axis.checked_add(i64::try_from(rank).ok()?)? } else { axis };
    usize::try_from(from_start).ok().filter(|&axis| axis < rank)
}

/// A tensor of known rank and data type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// Sizes, outermost axis first.
    pub shape: Shape,
    /// Type of the elements.
    pub dtype: DataType,
    /// The flags of the sizes, and the number of enclosing binders that they refer to.
    pub(crate) facts: (Flags, u8),
}

impl TensorType {
    /// Creates a tensor type.
    pub fn new(shape: impl IntoIterator<Item = Dim>, dtype: DataType) -> TensorType {
        TensorType::of(shape.into_iter().collect(), dtype)
    }

    /// Creates a tensor type from an existing shape.
    pub fn of(shape: Shape, dtype: DataType) -> TensorType {
        let facts = of_dims(&shape);
        TensorType { shape, dtype, facts }
    }

    /// Creates a tensor type of rank 0.
    pub(crate) fn scalar(dtype: DataType) -> TensorType {
        TensorType { shape: Shape::new(), dtype, facts: (Flags::NONE, 0) }
    }

    /// Returns the number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the lengths of the axes of an array of this type, if every size is one ([`Dim::as_length`]).
    pub fn lengths<L: FromIterator<usize>>(&self) -> Option<L> {
        self.shape.iter().map(Dim::as_length).collect()
    }

    /// Returns the number of elements, if every size is known and the product does not overflow.
    pub fn elements(&self) -> Option<u64> {
        self.shape
            .iter()
            .try_fold(1u64, |n, dim| n.checked_mul(u64::try_from(dim.as_known()?).ok()?))
    }

    /// Returns the size of the tensor in bytes, if the size of every axis is known.
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(self.dtype.bytes())
    }
}
