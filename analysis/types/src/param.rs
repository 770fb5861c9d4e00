//! Type parameters, in locally nameless representation.
//!
//! A polymorphic type refers to its parameters by de Bruijn index ([`BoundParam`]): alpha-equivalent
//! types differ in declared names only, and substitution cannot capture parameters. Inside the function that declares
//! it, a parameter is a constant with an identity ([`Param`]): in
//! `def @id[A](%x: A) -> A { %x }` the type of `%x` is a [`Param`], the type of `@id` is over a
//! [`BoundParam`]. Only the functions of [`ParamId`] create identities.

use std::sync::Arc;

use smol_str::SmolStr;

/// The kind of a type parameter.
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
    /// Parses a kind in the manual's notation. `Number` and `Float` are data types of a class.
    pub fn parse(text: &str) -> Option<(Kind, DTypeClass)> {
        let kind = match text {
            "Type" => Kind::Type,
            "Shape" => Kind::Shape,
            "ShapeVar" => Kind::ShapeVar,
            "BaseType" => Kind::BaseType,
            "Number" => return Some((Kind::BaseType, DTypeClass::Number)),
            "Float" => return Some((Kind::BaseType, DTypeClass::Float)),
            _ => return None,
        };
        Some((kind, DTypeClass::Any))
    }

    /// Returns the name of the kind in the manual's notation.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Type => "Type",
            Kind::Shape => "Shape",
            Kind::ShapeVar => "ShapeVar",
            Kind::BaseType => "BaseType",
        }
    }
}

/// A constraint on an unknown data type.
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
    /// Returns the name of the class as a kind: `b : Number`.
    pub fn name(self) -> &'static str {
        match self {
            DTypeClass::Any => Kind::BaseType.name(),
            DTypeClass::Number => "Number",
            DTypeClass::Float => "Float",
        }
    }

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

/// The declaration of a parameter of a polymorphic type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TypeParam {
    /// The name in printed types. Types with other names are not equal, so that results with types are
    /// updated when a parameter is renamed; unification ignores names.
    pub name: SmolStr,
    /// The kind.
    pub kind: Kind,
    /// The admissible data types of a parameter of kind `BaseType`.
    pub class: DTypeClass,
    /// True if inference has added the parameter. The type arguments of a call are those that are
    /// declared.
    pub inferred: bool,
}

/// A use of a parameter inside the polymorphic type that declares it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BoundParam {
    /// Number of polymorphic types between the use and the declaration.
    pub(crate) depth: u8,
    /// The position among the declared parameters.
    pub(crate) index: u16,
}

impl BoundParam {
    /// Returns the number of enclosing binders that the use requires.
    pub(crate) fn loose(self) -> u8 {
        self.depth.saturating_add(1)
    }
}

/// A type parameter inside the function that declares it: a rigid type that equals only itself.
#[derive(Clone, Debug)]
pub struct Param(Arc<ParamData>);

#[derive(Debug)]
struct ParamData {
    declared: TypeParam,
    id: ParamId,
}

impl Param {
    /// Creates a parameter.
    pub fn new(name: impl Into<SmolStr>, kind: Kind, id: ParamId) -> Param {
        Param::of(
            TypeParam { name: name.into(), kind, class: DTypeClass::Any, inferred: false },
            id,
        )
    }

    pub(crate) fn of(declared: TypeParam, id: ParamId) -> Param {
        Param(Arc::new(ParamData { declared, id }))
    }

    /// Returns the name in printed types.
    pub fn name(&self) -> &SmolStr {
        &self.0.declared.name
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.0.declared.kind
    }

    /// Returns the identity.
    pub fn id(&self) -> ParamId {
        self.0.id
    }

    /// Returns the declaration.
    pub fn declared(&self) -> &TypeParam {
        &self.0.declared
    }

    /// Returns the parameter with another name.
    #[must_use]
    pub fn with_name(&self, name: SmolStr) -> Param {
        Param::of(TypeParam { name, ..self.declared().clone() }, self.id())
    }

    /// Returns the parameter with another class of data types.
    #[must_use]
    pub fn with_class(&self, class: DTypeClass) -> Param {
        Param::of(TypeParam { class, ..self.declared().clone() }, self.id())
    }

    /// Returns the parameter with another identity.
    #[must_use]
    pub fn with_id(&self, id: ParamId) -> Param {
        Param::of(self.0.declared.clone(), id)
    }
}

impl PartialEq for Param {
    fn eq(&self, other: &Param) -> bool {
        let parts = |param: &Param| (param.id(), param.kind());
        Arc::ptr_eq(&self.0, &other.0) || parts(self) == parts(other) && self.name() == other.name()
    }
}

impl Eq for Param {}

impl std::hash::Hash for Param {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.id(), self.name()).hash(state);
    }
}

/// The identity of a type parameter: the owner and an index in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ParamId {
    owner: Owner,
    index: u32,
}

/// The owner of a type parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Owner {
    /// The header of a definition, by its index among the definitions that are inferred together.
    Header(u32),
    /// A function expression in the source. Inference replaces the identities of its parameters.
    Written,
    /// Inference, which creates the parameters of function expressions and of generalised types.
    Inferred,
    /// A polymorphic type opened by [`crate::Type::opened`].
    Opened,
}

impl ParamId {
    /// Returns the identity of parameter `index` of a header.
    pub fn in_header(index: u32) -> ParamId {
        ParamId { owner: Owner::Header(0), index }
    }

    /// Returns the identity of parameter `index` among those declared by the function expressions
    /// of a statement.
    pub fn in_statement(index: u32) -> ParamId {
        ParamId { owner: Owner::Written, index }
    }

    /// Returns the identity of parameter `index` created by one inference table.
    pub(crate) fn inferred(index: u32) -> ParamId {
        ParamId { owner: Owner::Inferred, index }
    }

    /// Returns the identity of parameter `index` of an opened polymorphic type.
    pub(crate) fn opened(index: u32) -> ParamId {
        ParamId { owner: Owner::Opened, index }
    }

    /// Moves a parameter of a header to definition `number` of those that are inferred together;
    /// returns other identities unchanged.
    #[must_use]
    pub fn of_definition(self, number: u32) -> ParamId {
        match self.owner {
            Owner::Header(_) => ParamId { owner: Owner::Header(number), index: self.index },
            _ => self,
        }
    }

    /// Returns true for a parameter of a header.
    pub fn is_of_header(self) -> bool {
        matches!(self.owner, Owner::Header(_))
    }
}
