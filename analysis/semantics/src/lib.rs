//! The meaning of Relay modules.
//!
//! An incremental database over syntax trees: which definitions a file holds, what each computes,
//! what its names mean, which types it has, and what is wrong. Queries are pure; what is kept
//! beside them (see [`Cache`]) saves work and changes no result.
//!
//! - A body never knows where it stands in its file: places are made last, in [`check_file`] and
//!   in [`View`].
//! - Signatures come from headers alone; only definitions that leave a type out are inferred
//!   together with those they need.
//!
//! Absent on purpose: LSP, threads, the file system.

pub mod body;
mod check;
mod db;
mod diagnostic;
mod exhaustive;
mod groups;
pub mod infer;
mod item;
pub mod lower;
pub mod metadata;
pub mod module;
pub mod prelude;
#[doc(hidden)]
pub mod provoke;
mod queries;
pub mod scope;
pub mod traits;
mod view;

pub use check::{
    Converted, MAX_DIAGNOSTICS, Source, Step, Trail, apply, chain_of, check_file, has_type_errors,
    is_fully_typed, source_of, to_tvm, trail_of, writable,
};
pub use db::{Cache, Database, Db, QueryLog, Settings, SourceFile};
pub use diagnostic::{Code, Diagnostic, Fix, Related, Severity, code_of, codes};
pub use item::{Def, DefKind, ItemGreen, Module, def_at, module, modules};
pub use queries::*;
pub use salsa::{CancellationToken, Cancelled};
pub use view::{Spot, TypeAt, View, types_in};
