//! Algebraic data types.

use std::collections::BTreeMap;

use syntax::TextRange;
use types::{Kind, Param, Type};

use crate::body::{Name, Problem, RangeId, TypeUse, UnitRanges};

/// An algebraic data type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adt {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its constructors, in order.
    pub constructors: Vec<Constructor>,
    /// `extern type T`
    pub is_extern: bool,
    /// Set if it is defined by the prelude.
    pub from_prelude: bool,
}

/// A constructor of an algebraic data type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructor {
    /// Its name.
    pub name: Name,
    /// The types of its fields, over the parameters of the data type.
    pub fields: Vec<Type>,
    /// The constructor as a function over those parameters.
    pub ty: Type,
}

/// Returns true if a type argument has a kind, or may have any.
pub(crate) fn is_of_kind(kind: Kind, arg: &Type) -> bool {
    matches!(arg, Type::Error | Type::Hole | Type::Var(_)) || arg.as_argument(kind).is_some()
}

/// A lowered type definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDef {
    /// The data type.
    pub adt: Adt,
    /// The type names that it uses.
    pub uses: Vec<TypeUse>,
    /// The errors in it.
    pub problems: Vec<Problem>,
    /// The names of the constructors.
    pub(crate) constructors: Vec<RangeId>,
    pub(crate) source: UnitRanges,
}

impl TypeDef {
    /// Returns a range, relative to the definition.
    pub fn range(&self, id: RangeId) -> TextRange {
        self.source.range(id)
    }

    /// Returns the constructors with the ranges of their names, relative to the definition.
    pub fn constructors(&self) -> impl Iterator<Item = (&Constructor, TextRange)> {
        let ranges = self.constructors.iter().map(|&id| self.range(id));
        self.adt.constructors.iter().zip(ranges)
    }
}

impl Adt {
    /// Returns the data type applied to its own parameters.
    pub fn own_type(&self) -> Type {
        Type::adt(self.name.clone(), self.params.iter().map(|param| Type::argument(param.as_arg())))
    }

    /// Returns true if arguments have the kinds of the parameters, as far as both are there.
    pub(crate) fn takes(&self, args: &[Type]) -> bool {
        self.params.iter().zip(args).all(|(param, arg)| is_of_kind(param.kind(), arg))
    }

    /// Returns true if the two have the same constructors with the same fields.
    pub(crate) fn has_same_constructors(&self, other: &Adt) -> bool {
        let form = |adt: &Adt| -> BTreeMap<Name, Type> {
            adt.constructors.iter().map(|c| (c.name.clone(), c.ty.clone())).collect()
        };
        self.params.len() == other.params.len() && form(self) == form(other)
    }
}
