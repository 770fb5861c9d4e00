//! Structural comparison of Relay modules.
//!
//! Two modules are compared as dataflow graphs. Names, the order of independent bindings, graph form
//! or `let`, and comments make no difference. Expressions of functions that differ are paired: one
//! to one if a pass kept the expression, one to many if it fused, inlined, folded or expanded it.
//!
//! - [`compare`] takes two modules, which may be of different databases, and returns a
//!   [`ModuleDiff`] of ranges and facts. [`Comparand`] is a module without its database.
//! - Time and memory are linear in the size of the modules, except for the alignment, whose
//!   quadratic part is bounded. No function recurses over expressions.
//!
//! The crate deliberately renders no text, JSON or HTML and reads no files; the server does.

mod build;
mod changes;
mod compare;
mod equal;
mod expand;
mod facts;
mod flat;
mod graph;
mod groups;
mod half;
pub mod log;
mod matching;
mod parts;
mod report;
mod strict;

pub use compare::{Comparand, Options, compare, compare_prepared};
pub use report::{
    Change, Fact, FunctionDiff, FunctionRef, ModuleDiff, Pair, PairKind, Property, TypeDiff,
    UnpairedExpr,
};
pub use strict::Structure;
