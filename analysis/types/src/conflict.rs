//! The errors of unification.

use smallvec::SmallVec;

use crate::{Code, DTypeClass, Fact, Param, Type};

/// A mismatch of two types: `(int32, bool)` and `(int32, float32)` differ in `bool` and `float32`,
/// on the path `[Field(1)]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The innermost differing part of the left type.
    pub left: Type,
    /// The innermost differing part of the right type.
    pub right: Type,
    /// The difference.
    pub kind: ConflictKind,
    /// The path to the differing parts, outermost step first.
    pub path: SmallVec<[Step; 2]>,
}

/// The difference between two types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConflictKind {
    /// Different type constructors: a tensor and a tuple, or `List[A]` and `Option[A]`.
    Form,
    /// Tensors of different rank.
    Rank,
    /// Tensors of different data type.
    DType,
    /// A data type that is none of the class that a literal or a function requires.
    Class(DTypeClass),
    /// Tensors whose sizes differ on these axes.
    Sizes(SmallVec<[usize; 4]>),
    /// Tuples of different length.
    Length,
    /// Functions of different arity.
    Arity,
    /// An infinite type: a variable against a type that contains it.
    Infinite,
    /// A type parameter that escapes the function that declares it.
    Escape(Param),
    /// Types that nest too deeply to be compared.
    Depth,
}

/// A step into a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A field of a tuple.
    Field(usize),
    /// A parameter of a function.
    Param(usize),
    /// The result of a function.
    Ret,
    /// The referent of a reference.
    Inner,
    /// An argument of an algebraic data type.
    Arg(usize),
}

impl Conflict {
    pub(crate) fn new(left: Type, right: Type, kind: ConflictKind) -> Box<Conflict> {
        Box::new(Conflict { left, right, kind, path: SmallVec::new() })
    }

    /// Swaps left and right.
    pub(crate) fn swapped(mut self: Box<Self>) -> Box<Conflict> {
        let Conflict { left, right, .. } = &mut *self;
        std::mem::swap(left, right);
        self
    }

    /// Prepends a step to the path.
    pub(crate) fn inside(mut self: Box<Self>, step: Step) -> Box<Conflict> {
        self.path.insert(0, step);
        self
    }

    /// Returns the code of the diagnostic for the conflict.
    pub fn code(&self) -> Code {
        match self.kind {
            ConflictKind::Rank | ConflictKind::Sizes(_) => Code::ShapeMismatch,
            ConflictKind::DType | ConflictKind::Class(_) => Code::DtypeMismatch,
            ConflictKind::Infinite => Code::InfiniteType,
            ConflictKind::Depth => Code::TypeTooLarge,
            _ => Code::TypeMismatch,
        }
    }

    /// Returns the parts that differ: sizes or data types of tensors, otherwise the types.
    pub fn clash(&self) -> Vec<Fact> {
        let (left, right) = (self.left.as_tensor(), self.right.as_tensor());
        match (&self.kind, left, right) {
            (ConflictKind::Sizes(axes), Some(left), Some(right)) => {
                let both = |&axis: &usize| [left.shape.get(axis), right.shape.get(axis)];
                axes.iter().flat_map(both).flatten().map(Fact::from).collect()
            }
            (_, Some(left), Some(right)) if left.dtype != right.dtype => {
                vec![left.dtype.into(), right.dtype.into()]
            }
            _ => vec![(&self.left).into(), (&self.right).into()],
        }
    }

    /// Returns the first differing axis, if the types are tensors of equal rank.
    pub fn axis(&self) -> Option<usize> {
        match &self.kind {
            ConflictKind::Sizes(axes) if self.path.is_empty() => axes.first().copied(),
            _ => None,
        }
    }
}
