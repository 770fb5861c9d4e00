//! Types of Relay, and how they are found.
//!
//! - Outside inference a [`Type`] is a shared value, compared by structure.
//! - Inside, a [`Table`] holds types under construction and [`Solver`] the type relations over
//!   them; both are thrown away when the types have been read out.
//! - The rules of operators are not here: a relation is any function over a [`Call`].
//!
//! Absent on purpose: syntax, places in a text, the incremental database, the operators.

mod attr;
mod conflict;
mod dim;
mod display;
mod dtype;
mod info;
mod linear;
mod map;
mod param;
mod poly;
mod relation;
mod solver;
mod table;
mod ty;

pub use attr::{AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, Constant, Number};
pub use conflict::{Conflict, ConflictKind, Step};
pub use dim::{Dim, Op, Symbol, SymbolId};
pub use dtype::{DataType, ElementKind};
pub use info::{Flags, MAX_DEPTH, MAX_WEIGHT};
pub use map::{for_each_part, map_leaves, open_tensor};
pub use param::{Bound, DTypeClass, Kind, Param, ParamId, TypeParam};
pub use poly::{Instance, Signature, TypeArg};
pub use relation::{
    AttrFix, Call, Constraint, Halt, Mark, Outcome, Place, Reason, Relation, RelationFn, describe,
};
pub use solver::{Entry, RelationId, Solver, State, demanded, probe};
pub use table::{Assign, Level, NodeId, Resolver, Table, Var, Vars};
pub use ty::{
    AdtType, DTypeTerm, DTypeVar, DimVar, FuncType, OpenTensor, PolyType, RefType, Shape,
    ShapeTerm, ShapeVar, TensorType, TupleType, Type, TypeVar,
};
