//! The meaning of Relay modules.

pub mod body;
mod db;
mod exhaustive;
pub mod infer;
mod item;
pub mod lower;
pub mod metadata;
pub mod module;
pub mod prelude;
mod queries;
pub mod scope;

pub use db::{Cache, Database, Db, Settings, SourceFile};
pub use item::{Def, DefKind, ItemGreen, Module, module, modules};
pub use queries::*;
