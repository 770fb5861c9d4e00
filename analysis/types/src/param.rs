//! Type parameters, in one representation.
//!
//! A polymorphic type refers to its own parameters by position ([`Bound`]), so that types which
//! differ in the names of parameters only are equal, and no substitution can capture a parameter.
//! Inside of the function that declares it, a parameter is a constant with an identity of its own
//! ([`Param`]). Identities are made by the functions of [`ParamId`] alone.

use std::sync::Arc;

use smol_str::SmolStr;

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

    /// The kind as the manual spells it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Type => "Type",
            Kind::Shape => "Shape",
            Kind::ShapeVar => "ShapeVar",
            Kind::BaseType => "BaseType",
        }
    }
}

/// The data types that an open data type may become.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum DTypeClass {
    /// Any data type.
    #[default]
    Any,
    /// Integers and floating point numbers: the data type of `1`.
    Number,
    /// Floating point numbers: the data type of `1.5`.
    Float,
}

impl DTypeClass {
    /// Returns true if `dtype` belongs to the class.
    pub fn admits(self, dtype: crate::DataType) -> bool {
        match self {
            DTypeClass::Any => true,
            DTypeClass::Number => {
                let integer = dtype.is_int() || dtype.is_uint() && dtype.bits > 1;
                (integer || dtype.is_floating()) && dtype.lanes == 1
            }
            DTypeClass::Float => dtype.is_floating() && dtype.lanes == 1,
        }
    }
}

/// A parameter as a polymorphic type declares it.
#[derive(Clone, Debug)]
pub struct TypeParam {
    /// The name to print. It is no part of the type.
    pub name: SmolStr,
    /// What it stands for.
    pub kind: Kind,
    /// For a parameter of kind `BaseType`: the data types that it may stand for.
    pub class: DTypeClass,
}

impl PartialEq for TypeParam {
    fn eq(&self, other: &TypeParam) -> bool {
        (self.kind, self.class) == (other.kind, other.class)
    }
}

impl Eq for TypeParam {}

impl std::hash::Hash for TypeParam {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.kind, self.class).hash(state);
    }
}

/// A use of a parameter inside of the polymorphic type that declares it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bound {
    /// How many polymorphic types lie between the use and the declaration.
    pub(crate) depth: u8,
    /// The position among the declared parameters.
    pub(crate) index: u16,
}

impl Bound {
    /// How many enclosing binders the use needs.
    pub(crate) fn loose(self) -> u8 {
        self.depth.saturating_add(1)
    }
}

/// A type parameter inside of the function that declares it: a type of which nothing is known.
#[derive(Clone, Debug)]
pub struct Param(Arc<ParamData>);

#[derive(Debug)]
struct ParamData {
    declared: TypeParam,
    id: ParamId,
}

impl Param {
    /// A parameter.
    pub fn new(name: impl Into<SmolStr>, kind: Kind, id: ParamId) -> Param {
        Param::of(TypeParam { name: name.into(), kind, class: DTypeClass::Any }, id)
    }

    pub(crate) fn of(declared: TypeParam, id: ParamId) -> Param {
        Param(Arc::new(ParamData { declared, id }))
    }

    /// The name to print.
    pub fn name(&self) -> &SmolStr {
        &self.0.declared.name
    }

    /// What it stands for.
    pub fn kind(&self) -> Kind {
        self.0.declared.kind
    }

    /// What tells it from other parameters.
    pub fn id(&self) -> ParamId {
        self.0.id
    }

    /// The parameter as a polymorphic type declares it.
    pub fn declared(&self) -> &TypeParam {
        &self.0.declared
    }

    /// The same parameter under another name.
    #[must_use]
    pub fn with_name(&self, name: SmolStr) -> Param {
        Param::of(TypeParam { name, ..self.declared().clone() }, self.id())
    }

    /// The same parameter with another identity.
    #[must_use]
    pub fn with_id(&self, id: ParamId) -> Param {
        Param::of(self.0.declared.clone(), id)
    }
}

impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Param {}

impl std::hash::Hash for Param {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

/// The identity of a type parameter: who declares it, and the number that it has there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ParamId {
    owner: Owner,
    index: u32,
}

/// Who declares a type parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Owner {
    /// The header of a definition. Definitions that are inferred together are numbered.
    Header(u32),
    /// A function expression, as written. Inference gives its parameters identities of their own.
    Written,
    /// Inference: the parameters of function expressions, and those of generalised types.
    Inferred,
    /// A polymorphic type that is looked at.
    Opened,
}

impl ParamId {
    /// The parameter with number `index` of a header.
    pub fn in_header(index: u32) -> ParamId {
        ParamId { owner: Owner::Header(0), index }
    }

    /// The parameter with number `index` among those that the functions of a statement declare.
    pub fn in_statement(index: u32) -> ParamId {
        ParamId { owner: Owner::Written, index }
    }

    /// The parameter with number `index` that inference makes in one table.
    pub(crate) fn inferred(index: u32) -> ParamId {
        ParamId { owner: Owner::Inferred, index }
    }

    /// The parameter with number `index` of a polymorphic type that is looked at.
    pub(crate) fn opened(index: u32) -> ParamId {
        ParamId { owner: Owner::Opened, index }
    }

    /// The parameter of a header, in the definition with number `number` of those that are
    /// inferred together.
    #[must_use]
    pub fn of_definition(self, number: u32) -> ParamId {
        match self.owner {
            Owner::Header(_) => ParamId { owner: Owner::Header(number), index: self.index },
            _ => self,
        }
    }

    /// Returns true if the header of a definition declares the parameter.
    pub fn is_of_header(self) -> bool {
        matches!(self.owner, Owner::Header(_))
    }

    /// Returns true if the parameter is one of a function expression as it is written.
    pub fn is_of_statement(self) -> bool {
        self.owner == Owner::Written
    }
}
