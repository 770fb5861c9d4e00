//! Types of Relay, and how they are found.
//!
//! - Outside inference a [`Type`] is a shared value, compared by structure.
//! - Inside, a [`Table`] holds types under construction and [`Solver`] the type relations over
//!   them; both are thrown away when the types have been read out.
//! - The rules of operators are not here: a relation is any function over a [`Call`].
//!
//! Absent on purpose: syntax, places in a text, the incremental database, the operators.

mod attr;
mod dim;
mod display;
mod dtype;
mod relation;
mod solver;
mod subst;
mod table;
mod ty;

pub use attr::{AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, Constant, Number};
pub use dim::{Dim, Op, Symbol, SymbolId};
pub use dtype::{DataType, ElementKind};
pub use relation::{
    AttrFix, Call, Constraint, Halt, Mark, Outcome, Place, Reason, Relation, RelationFn, describe,
};
pub use solver::{Entry, RelationId, Solver, State, demanded, probe};
pub use subst::{Substitution, map_leaves, open_tensor, substitute, symbol_of};
pub use table::{Assign, Conflict, ConflictKind, NodeId, Step, Table};
pub use ty::{
    AdtType, DTypeTerm, DTypeVar, DimVar, FuncType, Kind, OpenTensor, ParamId, Shape, ShapeTerm,
    ShapeVar, TensorType, Type, TypeParam, TypeVar,
};
