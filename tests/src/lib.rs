//! Shared code of the tests: texts, generators, clients and fuzz targets.
//!
//! Three corpora are optional, see [`corpus`].

pub mod arrays;
pub mod asking;
pub mod bench;
pub mod bound;
pub mod calls;
pub mod client;
pub mod command;
pub mod corpus;
pub mod debug_session;
pub mod edit_kinds;
pub mod edits;
pub mod faults;
pub mod figures;
pub mod fuzz;
pub mod generators;
pub mod kernel_calls;
pub mod logs;
pub mod mdtest;
pub mod notes;
pub mod opening;
pub mod operator_calls;
pub mod programs;
pub mod refused;
pub mod runs;
pub mod variables;
pub mod writers;
