//! Shared code of the tests: texts, generators, clients and fuzz targets.
//!
//! The conformance corpus is optional; it is read from `RELAY_CONFORMANCE` or `../shared/conformance`.

pub mod arrays;
pub mod bound;
pub mod calls;
pub mod client;
pub mod command;
pub mod corpus;
pub mod edit_kinds;
pub mod edits;
pub mod fuzz;
pub mod generators;
pub mod kernel_calls;
pub mod mdtest;
pub mod opening;
pub mod programs;
pub mod runs;
