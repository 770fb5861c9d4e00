//! Arguments of data types that are not types: the shape in `Bx[(2, 3)]` of
//! `type Bx<s : Shape> { Mk(Tensor[s, float32]) }`.

use std::{
    fmt::{self, Display, Formatter},
    sync::Arc,
};

use crate::{
    DTypeTerm, DataType, Dim, IndexType, Kind, Shape, ShapeTerm, Type, TypeArg, info::Info,
    map::open_tensor,
};

impl IndexType {
    /// Returns the kind, which is not `Type`.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the argument.
    pub fn arg(&self) -> TypeArg {
        let (shape, dtype) = parts(&self.tensor);
        match (self.kind, &shape) {
            (Kind::BaseType, _) => TypeArg::DType(dtype),
            (Kind::ShapeVar, ShapeTerm::Dims(dims)) => {
                TypeArg::Dim(dims.first().cloned().unwrap_or(Dim::Any))
            }
            _ => TypeArg::Shape(shape),
        }
    }
}

/// Returns the shape and the data type of a tensor type, and unknown ones of any other type.
fn parts(tensor: &Type) -> (ShapeTerm, DTypeTerm) {
    match tensor {
        Type::Tensor(tensor) => {
            (ShapeTerm::Dims(tensor.shape.clone()), DTypeTerm::Known(tensor.dtype))
        }
        Type::OpenTensor(open) => (open.shape.clone(), open.dtype.clone()),
        _ => (ShapeTerm::Unknown, DTypeTerm::Unknown),
    }
}

impl Type {
    /// Creates an argument of a data type. A known data type is the type of its scalars: the
    /// `int8` of `Bx[int8]` is one or the other, depending on `Bx`.
    pub fn argument(arg: TypeArg) -> Type {
        let void = DTypeTerm::Known(DataType::VOID);
        let scalar = || ShapeTerm::Dims(Shape::new());
        let (kind, tensor) = match arg {
            TypeArg::Type(ty) => return ty,
            TypeArg::Shape(shape) => (Kind::Shape, open_tensor(shape, void)),
            TypeArg::DType(dtype) => (Kind::BaseType, open_tensor(scalar(), dtype)),
            TypeArg::Dim(dim) => {
                (Kind::ShapeVar, open_tensor(ShapeTerm::Dims(Shape::from_iter([dim])), void))
            }
        };
        Type::index(kind, tensor)
    }

    /// Creates an argument of the kind `kind` from the tensor type that contains it.
    pub(crate) fn index(kind: Kind, tensor: Type) -> Type {
        if kind == Kind::BaseType && matches!(tensor, Type::Tensor(_)) || tensor == Type::Error {
            return tensor;
        }
        let info = Info::over(12, kind, [tensor.info()]);
        Type::Index(Arc::new(IndexType { kind, tensor, info }))
    }

    /// Returns the type as an argument for a parameter of the kind `kind`, or `None` if it is of
    /// another kind.
    pub fn as_argument(&self, kind: Kind) -> Option<TypeArg> {
        match (kind, self) {
            (_, Type::Index(index)) if index.kind == kind => Some(index.arg()),
            // The shape of one size.
            (Kind::ShapeVar, Type::Index(index)) => match index.arg() {
                TypeArg::Shape(ShapeTerm::Dims(dims)) => match &dims[..] {
                    [dim] => Some(TypeArg::Dim(dim.clone())),
                    _ => None,
                },
                _ => None,
            },
            (_, Type::Index(_)) => None,
            (Kind::Type, ty) => Some(TypeArg::Type(ty.clone())),
            // `()` is a type, and also the shape of a scalar.
            (Kind::Shape, Type::Tuple(fields)) if fields.is_empty() => {
                Some(TypeArg::Shape(ShapeTerm::Dims(Shape::new())))
            }
            (Kind::BaseType, Type::Tensor(_) | Type::OpenTensor(_)) => match parts(self) {
                (ShapeTerm::Dims(dims), dtype) if dims.is_empty() => Some(TypeArg::DType(dtype)),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Display for IndexType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.arg() {
            TypeArg::Type(ty) => ty.fmt(f),
            TypeArg::Shape(shape) => shape.fmt(f),
            TypeArg::DType(dtype) => dtype.fmt(f),
            TypeArg::Dim(dim) => dim.fmt(f),
        }
    }
}
