//! The facts that the parts of a call are labelled with.

mod text;

use std::{fmt, sync::Arc};

use smol_str::SmolStr;

use crate::{DataType, Dim, Number, Shape, TensorType, Type};
pub use text::{Text, ToFact};

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
    /// A number.
    Number(i128),
    /// A floating point number.
    Float(Number),
    /// A name or a literal of the module: of an operator, of an attribute, of a layout.
    Word(SmolStr),
    /// An argument by its position, and by its name if it has one.
    Argument(usize, Option<&'static str>),
    /// A type with an article and a noun: ``a tensor of type `Tensor[(1), bool]` ``.
    Described(Type),
    /// A list with a separator, and a separator before its last element.
    List(Vec<Fact>, &'static str, &'static str),
    /// Any other fact: `a scalar`.
    Remark(&'static str),
    /// A part of a sentence.
    Text(Box<Text>),
}

impl Fact {
    /// Returns true if the fact is a phrase, which says nothing that could be compared.
    pub fn is_phrase(&self) -> bool {
        matches!(self, Fact::Remark(_) | Fact::Text(_) | Fact::Described(_))
    }

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
            Fact::Number(number) => write!(f, "{number}"),
            Fact::Float(number) => write!(f, "{}", number.0),
            Fact::Word(word) => f.write_str(word),
            Fact::Argument(_, Some(name)) => write!(f, "`{name}`"),
            Fact::Argument(position, None) => write!(f, "argument {position}"),
            Fact::Described(ty) => f.write_str(&describe(ty)),
            Fact::List(facts, between, last) => {
                for (at, fact) in facts.iter().enumerate() {
                    let is_last = at + 1 == facts.len();
                    let separator = if is_last { last } else { between };
                    write!(f, "{}{fact}", if at == 0 { "" } else { separator })?;
                }
                Ok(())
            }
            Fact::Remark(text) => f.write_str(text),
            Fact::Text(text) => text.fmt(f),
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

impl From<Text> for Fact {
    fn from(text: Text) -> Fact {
        Fact::Text(Box::new(text))
    }
}

impl From<&'static str> for Fact {
    fn from(text: &'static str) -> Fact {
        Fact::Remark(text)
    }
}

/// Returns a description of a type as a noun phrase: ``a tensor of type `Tensor[(1), bool]` ``.
pub fn describe(ty: &Type) -> String {
    match ty {
        Type::Tensor(t) if t.shape.is_empty() => format!("a scalar of type `{}`", t.dtype),
        Type::Tensor(_) | Type::OpenTensor(_) => format!("a tensor of type `{ty}`"),
        Type::Tuple(fields) if fields.is_empty() => "the empty tuple `()`".into(),
        Type::Tuple(_) => format!("a tuple of type `{ty}`"),
        Type::Func(_) | Type::Poly(_) => format!("a function of type `{ty}`"),
        Type::Ref(_) => format!("a reference of type `{ty}`"),
        Type::Adt(_) => format!("a value of type `{ty}`"),
        Type::Index(_) => format!("the type argument `{ty}`"),
        Type::Param(param) => format!("a value of the type parameter `{param}`"),
        Type::Bound(_) | Type::Var(_) | Type::Hole | Type::Error => {
            "a value of unknown type".into()
        }
    }
}
