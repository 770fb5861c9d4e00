//! The environment of inference: everything that it reads outside a body.

use std::sync::Arc;

use types::{Dim, SymbolId, Type};

use crate::{
    declared::DeclaredOperators,
    metadata::{MetaEntry, Metadata},
    module::ModuleTypes,
};

/// The environment of a body: everything that inference needs from outside it.
pub trait Env {
    /// The data types and constructors, and the metadata section.
    fn module(&self) -> &ModuleData;
    /// The type of a global, if it is defined.
    fn global(&self, name: &str) -> Global;
    /// Returns true if types are inferred exactly as in TVM: integer literals without suffix are
    /// 32-bit in every context, functions have only the type parameters that are written, and of
    /// other definitions only the headers are known.
    fn strict(&self) -> bool;
    /// Unwinds if the query has been cancelled. Called once per unit.
    fn poll(&self) {}
}

/// The facts about a module as a whole that inference reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleData {
    /// The data types and constructors.
    pub types: Arc<ModuleTypes>,
    /// The metadata section.
    pub metadata: Option<Arc<Metadata>>,
    /// The operators of the project.
    pub operators: DeclaredOperators,
}

impl ModuleData {
    /// Looks up an entry of the metadata section.
    pub(super) fn entry<T>(&self, look_up: impl FnOnce(&Metadata) -> MetaEntry<T>) -> MetaEntry<T> {
        self.metadata.as_deref().map_or(MetaEntry::NoSection, look_up)
    }

    /// Returns a symbolic size of the metadata section.
    pub(super) fn dim(&self, symbol: SymbolId) -> Option<Dim> {
        self.metadata.as_ref()?.dim(symbol)
    }
}

/// The meaning of a global.
#[derive(Clone, Debug, PartialEq)]
pub enum Global {
    /// A function of this type.
    Known(Type),
    /// A function of which the header gives this part of the type.
    Written(Type),
    /// A definition of the group that is being inferred, by number.
    Group(usize),
    /// A definition without a known type: an external function.
    Opaque,
    /// Not defined.
    Missing,
}
