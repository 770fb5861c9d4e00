//! Inference variables, and the nodes of the table that holds them.

/// A node of a table. Debug builds check that it is used with its table, and not after
/// [`crate::Table::clear`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId {
    pub(crate) index: u32,
    #[cfg(debug_assertions)]
    pub(crate) generation: u32,
}

macro_rules! variables {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
            pub struct $name(pub(crate) u32);
        )*
    };
}

variables! {
    /// An inference variable for a shape.
    ShapeVar,
    /// An inference variable for a data type.
    DTypeVar,
    /// An inference variable for a size.
    DimVar,
}

impl DimVar {
    /// Any unknown size, in types for messages ([`crate::Type::for_message`]) that no table resolves.
    pub(crate) const UNKNOWN: DimVar = DimVar(u32::MAX);
}

/// An inference variable for a type, by its node in the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypeVar(pub(crate) NodeId);
