//! The semantics of Relay modules.
//!
//! An incremental database over texts: the trees, the definitions of a file, their bodies, scopes and
//! types, and the diagnostics. Queries are pure; earlier results, which are an input of theirs (see
//! `previous`), save work and do not change results.
//!
//! - A body does not depend on its position in the file: absolute ranges are computed last, in
//!   [`check_file`] and in [`View`].
//! - A signature depends on the header alone; only definitions with incomplete headers are inferred
//!   together with those that they use.
//!
//! Deliberately absent: LSP, threads, the file system.

pub mod adt;
pub mod body;
mod change;
mod check;
mod content;
mod db;
mod declared;
mod diagnostic;
pub mod effects;
mod entries;
mod exhaustive;
pub mod features;
pub mod infer;
mod item;
mod key;
pub mod list;
pub mod lower;
pub mod metadata;
pub mod module;
pub mod prelude;
mod previous;
mod queries;
mod relations;
pub mod scope;
#[doc(hidden)]
pub mod test_panic;
mod tree;
mod tvm;
mod view;

pub use body::ExprRef;
pub use check::{
    MAX_DIAGNOSTICS, SizeSource, Step, Trail, chain_of, check_file, first_syntax_error, is_allowed,
    is_fully_typed, is_helpful, nearest_code, retain_helpful_fixes, source_of, trail_of, writable,
};
pub use content::EditBatch;
pub use db::{Database, Db, QueryLog, Rules, Settings, Setup, SourceFile};
pub use declared::{DeclaredOperator, DeclaredOperators, DeclaredResult};
pub use diagnostic::{
    Code, Diagnostic, Edits, Fix, Level, Levels, Lint, NoLevel, RelatedPlace, Role, Severity,
    apply_levels,
};
pub use entries::{drop_constants, mentioned_constants, renumber_constants, uses_of_entry};
pub use item::{Def, DefKind, ItemGreen, Module, def_at, module, modules};
pub use queries::*;
pub use salsa::{CancellationToken, Cancelled};
pub use tvm::{Conversion, apply, rules::imports_prelude, to_tvm};
pub use view::{TypeAt, View, types_in};
