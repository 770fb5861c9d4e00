//! Types as values: shared, compared by structure, without places.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::{Constraint, DataType, Dim};

/// The sizes of a tensor, outermost axis first. Rank 0 is a scalar.
pub type Shape = SmallVec<[Dim; 5]>;

/// A Relay type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A tensor of known rank and data type.
    Tensor(Arc<TensorType>),
    /// A tensor whose shape or data type is a parameter or not known yet: `Tensor[s, bt]`.
    OpenTensor(Arc<OpenTensor>),
    /// A tuple.
    Tuple(Arc<[Type]>),
    /// A function.
    Func(Arc<FuncType>),
    /// A reference cell.
    Ref(Arc<Type>),
    /// An algebraic data type with its arguments: `List[int32]`.
    Adt(Arc<AdtType>),
    /// A type parameter in scope.
    Param(TypeParam),
    /// A type that inference has not found yet.
    Var(TypeVar),
    /// What stands where something was wrong: fits anything, and is silent.
    Error,
}

/// A tensor of known rank and data type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorType {
    /// Sizes, outermost axis first.
    pub shape: Shape,
    /// Type of the elements.
    pub dtype: DataType,
}

/// A tensor of which something is open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct OpenTensor {
    /// The shape.
    pub shape: ShapeTerm,
    /// The data type.
    pub dtype: DTypeTerm,
}

/// A shape, or what stands for one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ShapeTerm {
    /// Known rank.
    Dims(Shape),
    /// A parameter of kind `Shape`.
    Param(TypeParam),
    /// Not known yet.
    Var(ShapeVar),
}

/// A data type, or what stands for one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DTypeTerm {
    /// Known.
    Known(DataType),
    /// A parameter of kind `BaseType`.
    Param(TypeParam),
    /// Not known yet.
    Var(DTypeVar),
}

/// A function type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FuncType {
    /// Parameters that each call chooses anew.
    pub type_params: Box<[TypeParam]>,
    /// Types of the arguments.
    pub params: Box<[Type]>,
    /// Type of the result.
    pub ret: Type,
    /// Relations that hold at every call.
    pub constraints: Box<[Constraint]>,
}

/// An instance of an algebraic data type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AdtType {
    /// The name of the definition. Names are unique in a module, so they are the identity.
    pub name: SmolStr,
    /// Its arguments.
    pub args: Box<[Type]>,
}

/// What a type parameter stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Kind {
    /// Any type.
    #[default]
    Type,
    /// The shape of a tensor.
    Shape,
    /// One dimension of a shape.
    ShapeVar,
    /// The data type of a tensor.
    BaseType,
}

impl Kind {
    /// Reads a kind as the manual spells it.
    pub fn parse(text: &str) -> Option<Kind> {
        match text {
            "Type" => Some(Kind::Type),
            "Shape" => Some(Kind::Shape),
            "ShapeVar" => Some(Kind::ShapeVar),
            "BaseType" => Some(Kind::BaseType),
            _ => None,
        }
    }

    /// As the manual spells it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Type => "Type",
            Kind::Shape => "Shape",
            Kind::ShapeVar => "ShapeVar",
            Kind::BaseType => "BaseType",
        }
    }
}

/// A type parameter: a name, a kind and an identity.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TypeParam {
    /// How it prints.
    pub name: SmolStr,
    /// What it is: two parameters of one name differ.
    pub id: ParamId,
    /// What it stands for.
    pub kind: Kind,
}

/// Identity of a type parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ParamId(pub u32);

impl ParamId {
    /// An identity that no parameter has yet.
    pub fn fresh() -> ParamId {
        static NEXT: AtomicU32 = AtomicU32::new(1 << 24);
        ParamId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A type not found yet, by its place in the inference table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeVar(pub u32);
/// A shape not found yet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ShapeVar(pub u32);
/// A data type not found yet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DTypeVar(pub u32);
/// A dimension not found yet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DimVar(pub u32);

impl TensorType {
    /// A tensor type.
    pub fn new(shape: impl IntoIterator<Item = Dim>, dtype: DataType) -> TensorType {
        TensorType { shape: shape.into_iter().collect(), dtype }
    }

    /// How many axes the tensor has.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements, if every size is known and the product fits.
    pub fn elements(&self) -> Option<u64> {
        self.shape
            .iter()
            .try_fold(1u64, |n, dim| n.checked_mul(u64::try_from(dim.as_known()?).ok()?))
    }

    /// Bytes of the tensor in memory, if every size is known.
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(self.dtype.bytes())
    }
}

impl From<TensorType> for Type {
    fn from(tensor: TensorType) -> Type {
        Type::Tensor(Arc::new(tensor))
    }
}

impl From<FuncType> for Type {
    fn from(func: FuncType) -> Type {
        Type::Func(Arc::new(func))
    }
}

impl Type {
    /// A tensor type.
    pub fn tensor(shape: impl IntoIterator<Item = Dim>, dtype: DataType) -> Type {
        TensorType::new(shape, dtype).into()
    }

    /// A tensor type of rank 0.
    pub fn scalar(dtype: DataType) -> Type {
        TensorType { shape: Shape::new(), dtype }.into()
    }

    /// A tuple type.
    pub fn tuple(fields: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(fields.into_iter().collect())
    }

    /// `()`
    pub fn unit() -> Type {
        Type::tuple([])
    }

    /// An instance of an algebraic data type.
    pub fn adt(name: impl Into<SmolStr>, args: impl IntoIterator<Item = Type>) -> Type {
        Type::Adt(Arc::new(AdtType { name: name.into(), args: args.into_iter().collect() }))
    }

    /// The tensor type, if this is one of known rank and data type.
    pub fn as_tensor(&self) -> Option<&TensorType> {
        match self {
            Type::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The fields, if this is a tuple.
    pub fn as_tuple(&self) -> Option<&[Type]> {
        match self {
            Type::Tuple(fields) => Some(fields),
            _ => None,
        }
    }

    /// The function type, if this is one.
    pub fn as_func(&self) -> Option<&FuncType> {
        match self {
            Type::Func(func) => Some(func),
            _ => None,
        }
    }

    /// Whether inference has found all of it.
    pub fn is_closed(&self) -> bool {
        match self {
            Type::Tensor(t) => !t.shape.iter().any(|d| matches!(d, Dim::Var(_))),
            Type::OpenTensor(open) => {
                let shape = match &open.shape {
                    ShapeTerm::Dims(dims) => !dims.iter().any(|d| matches!(d, Dim::Var(_))),
                    ShapeTerm::Param(_) => true,
                    ShapeTerm::Var(_) => false,
                };
                shape && !matches!(open.dtype, DTypeTerm::Var(_))
            }
            Type::Tuple(fields) => fields.iter().all(Type::is_closed),
            Type::Func(func) => {
                func.params.iter().all(Type::is_closed)
                    && func.ret.is_closed()
                    && func.constraints.iter().all(|c| c.args.iter().all(Type::is_closed))
            }
            Type::Ref(inner) => inner.is_closed(),
            Type::Adt(adt) => adt.args.iter().all(Type::is_closed),
            Type::Param(_) | Type::Error => true,
            Type::Var(_) => false,
        }
    }

    /// Whether an error type stands anywhere in it.
    pub fn has_error(&self) -> bool {
        match self {
            Type::Error => true,
            Type::Tensor(_) | Type::OpenTensor(_) | Type::Param(_) | Type::Var(_) => false,
            Type::Tuple(fields) => fields.iter().any(Type::has_error),
            Type::Func(func) => func.params.iter().any(Type::has_error) || func.ret.has_error(),
            Type::Ref(inner) => inner.has_error(),
            Type::Adt(adt) => adt.args.iter().any(Type::has_error),
        }
    }

    /// Whether the two are one value in memory, or equal where that costs nothing to see.
    pub fn is_same(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Tensor(a), Type::Tensor(b)) => Arc::ptr_eq(a, b),
            (Type::OpenTensor(a), Type::OpenTensor(b)) => Arc::ptr_eq(a, b),
            (Type::Tuple(a), Type::Tuple(b)) => Arc::ptr_eq(a, b),
            (Type::Func(a), Type::Func(b)) => Arc::ptr_eq(a, b),
            (Type::Ref(a), Type::Ref(b)) => Arc::ptr_eq(a, b),
            (Type::Adt(a), Type::Adt(b)) => Arc::ptr_eq(a, b),
            (Type::Param(a), Type::Param(b)) => a.id == b.id,
            (Type::Error, Type::Error) => true,
            _ => false,
        }
    }
}
