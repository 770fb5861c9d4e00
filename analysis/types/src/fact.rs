//! The facts that the parts of a call are labelled with.

use std::{borrow::Cow, fmt, sync::Arc};

use crate::{DataType, Dim, Shape, TensorType, Type};

/// A fact about a part of a call. Findings are compared by their facts; text is made of them last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// A size, and the noun that it counts: `64` and `input channels`. The noun may be empty.
    Size(Dim, &'static str),
    /// A number of things, with the noun in singular and plural: `3 values`.
    Count(usize, &'static str, &'static str),
    /// A shape.
    Shape(Shape),
    /// A data type.
    DType(DataType),
    /// A type.
    Type(Type),
    /// Any other fact, as text: `a scalar`.
    Remark(Cow<'static, str>),
}

impl Fact {
    /// Returns true if both state the same quantity, whatever it counts.
    pub fn is_same_quantity(&self, other: &Fact) -> bool {
        match (self, other) {
            (Fact::Size(a, _), Fact::Size(b, _)) => a == b,
            _ => self == other,
        }
    }

    /// Returns true if the fact is the type `ty`, so that a label with both would repeat itself.
    pub fn is_type(&self, ty: &Type) -> bool {
        match self {
            Fact::Type(stated) => stated == ty,
            Fact::DType(dtype) => {
                ty.as_tensor().is_some_and(|t| t.shape.is_empty() && t.dtype == *dtype)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Size(size, "") => write!(f, "{size}"),
            Fact::Size(size, noun) => write!(f, "{size} {noun}"),
            Fact::Count(1, one, _) => write!(f, "1 {one}"),
            Fact::Count(n, _, many) => write!(f, "{n} {many}"),
            Fact::Shape(shape) if shape.len() == 1 => write!(f, "({},)", shape[0]),
            Fact::Shape(shape) => {
                f.write_str("(")?;
                for (axis, size) in shape.iter().enumerate() {
                    write!(f, "{}{size}", if axis > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Fact::DType(dtype) => write!(f, "{dtype}"),
            Fact::Type(ty) => write!(f, "{ty}"),
            Fact::Remark(text) => f.write_str(text),
        }
    }
}

impl From<Dim> for Fact {
    fn from(size: Dim) -> Fact {
        Fact::Size(size, "")
    }
}

impl From<&Dim> for Fact {
    fn from(size: &Dim) -> Fact {
        size.clone().into()
    }
}

impl From<i64> for Fact {
    fn from(size: i64) -> Fact {
        Dim::from(size).into()
    }
}

impl From<usize> for Fact {
    fn from(size: usize) -> Fact {
        i64::try_from(size).map_or(Dim::Any, Dim::from).into()
    }
}

impl From<DataType> for Fact {
    fn from(dtype: DataType) -> Fact {
        Fact::DType(dtype)
    }
}

impl From<Arc<TensorType>> for Fact {
    fn from(ty: Arc<TensorType>) -> Fact {
        Fact::Type(Type::Tensor(ty))
    }
}

impl From<&Type> for Fact {
    fn from(ty: &Type) -> Fact {
        Fact::Type(ty.clone())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Fact {
        Fact::Remark(text.into())
    }
}

impl From<&'static str> for Fact {
    fn from(text: &'static str) -> Fact {
        Fact::Remark(text.into())
    }
}
