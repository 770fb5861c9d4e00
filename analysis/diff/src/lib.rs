//! Comparison of Relay modules by structure.
//!
//! Two modules are compared as graphs of values: names, the order of independent bindings, graph
//! form against `let`, and comments make no difference. Where functions differ, their expressions
//! are paired, one with one where a pass kept an expression, one with several where it fused,
//! inlined, folded or expanded some.
//!
//! - [`compare`] takes two modules, which may be of different databases, and gives a
//!   [`ModuleDiff`]: places and facts, no text.
//! - Time and memory grow with the size of the modules; what could grow with its square has a
//!   bound of its own, and nothing recurses over expressions.
//!
//! Absent on purpose: text, JSON and pages made of differences, files, the language server.

mod build;
mod changes;
mod compare;
mod equal;
mod flat;
mod graph;
mod groups;
pub mod log;
mod matching;
mod report;
mod strict;

pub use compare::{Options, compare};
pub use report::{
    Change, Fact, FunctionDiff, FunctionRef, Lost, ModuleDiff, Pair, PairKind, TypeDiff, What,
};
pub use strict::Structure;
