//! Why two types do not fit together.

use smallvec::SmallVec;

use crate::{Param, Type};

/// Why two types do not fit together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The innermost two types that differ.
    pub left: Type,
    /// The innermost two types that differ.
    pub right: Type,
    /// In which way they differ.
    pub kind: ConflictKind,
    /// Tuple fields, parameters and arguments on the way in, the outermost first.
    pub path: SmallVec<[Step; 2]>,
}

/// In which way two types differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConflictKind {
    /// A tensor and a tuple, a function and a list, two different data types.
    Form,
    /// Tensors of different rank.
    Rank,
    /// Tensors of different data type.
    DType,
    /// Tensors whose sizes differ on these axes.
    Sizes(SmallVec<[usize; 4]>),
    /// Tuples of different length.
    Length,
    /// Functions of different arity.
    Arity,
    /// A type that would contain itself.
    Infinite,
    /// A type parameter that would leave the function which declares it.
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
    /// What a reference holds.
    Inner,
    /// An argument of a data type.
    Arg(usize),
}

impl Conflict {
    pub(crate) fn new(left: Type, right: Type, kind: ConflictKind) -> Box<Conflict> {
        Box::new(Conflict { left, right, kind, path: SmallVec::new() })
    }

    /// The same, seen from the other side.
    pub(crate) fn turned(mut self: Box<Self>) -> Box<Conflict> {
        let Conflict { left, right, .. } = &mut *self;
        std::mem::swap(left, right);
        self
    }

    pub(crate) fn inside(mut self: Box<Self>, step: Step) -> Box<Conflict> {
        self.path.insert(0, step);
        self
    }

    /// The stable code of a diagnostic about it.
    pub fn code(&self) -> &'static str {
        match self.kind {
            ConflictKind::Rank | ConflictKind::Sizes(_) => "shape-mismatch",
            ConflictKind::DType => "dtype-mismatch",
            ConflictKind::Infinite => "infinite-type",
            ConflictKind::Depth => "type-too-large",
            _ => "type-mismatch",
        }
    }

    /// What differs: sizes or data types of tensors, otherwise the types.
    pub fn clash(&self) -> Vec<String> {
        let (left, right) = (self.left.as_tensor(), self.right.as_tensor());
        match (&self.kind, left, right) {
            (ConflictKind::Sizes(axes), Some(left), Some(right)) => {
                let both = |&axis: &usize| [left.shape.get(axis), right.shape.get(axis)];
                axes.iter().flat_map(both).flatten().map(ToString::to_string).collect()
            }
            (_, Some(left), Some(right)) if left.dtype != right.dtype => {
                vec![left.dtype.to_string(), right.dtype.to_string()]
            }
            _ => vec![self.left.to_string(), self.right.to_string()],
        }
    }

    /// The first axis that differs, if the two are tensors of one rank.
    pub fn axis(&self) -> Option<usize> {
        match &self.kind {
            ConflictKind::Sizes(axes) if self.path.is_empty() => axes.first().copied(),
            _ => None,
        }
    }
}
