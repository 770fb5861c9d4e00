//! The types of Relay and the machinery of type inference.
//!
//! - [`Type`] is the result of inference: an immutable, shared value with structural equality.
//! - [`Table`] holds the types under construction during inference, and [`Solver`] the type
//!   relations over them. Both are discarded when the resulting types have been extracted.
//! - A relation is a function over a [`Call`]. For `add(%x, %y)` it computes the broadcast type of
//!   the result from the types of `%x` and `%y`.
//!
//! The crate knows nothing of syntax, source ranges, the incremental database or operators.

// The macro `text!` names the crate from the outside.
extern crate self as types;

mod attr;
mod conflict;
mod dim;
mod display;
mod dtype;
mod fact;
mod index;
mod info;
mod map;
mod param;
mod poly;
mod relation;
mod release;
mod sizes;
mod solver;
mod table;
mod tensor;
mod ty;
mod variable;

pub use attr::{AttrDefault, AttrField, AttrSchema, AttrType, AttrValue, Attrs, Constant, Number};
pub use codes::Code;
pub use conflict::{Conflict, ConflictKind, Step};
pub use dim::{Dim, Op, Symbol, SymbolId};
pub use dtype::{DataType, ElementKind};
pub use fact::{Fact, Text, ToFact, describe};
pub use info::{Flags, MAX_DEPTH, MAX_WEIGHT};
pub use map::{for_each_part, map_leaves, open_tensor};
pub use param::{BoundParam, DTypeClass, Kind, Param, ParamId, TypeParam};
pub use poly::{Instance, Signature, TypeArg};
pub use relation::{AttrFix, Call, Halt, Mark, Outcome, Place, Reason, Relation, RelationFn};
pub use release::{Release, Releases};
pub use sizes::holds_for_all_sizes;
pub use solver::{Entry, RelationId, Solver, State, infer_argument, probe};
pub use table::{Assign, Level, Resolver, Table, Var, Vars};
pub use tensor::{Shape, TensorType, normal_axis};
pub use text_macro::text;
pub use ty::{
    AdtType, Constraint, DTypeTerm, FuncType, IndexType, OpenTensor, PolyType, RefType,
    RelationKey, ShapeTerm, TupleType, Type,
};
pub use variable::{DTypeVar, DimVar, NodeId, ShapeVar, TypeVar};
