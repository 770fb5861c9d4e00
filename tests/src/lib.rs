//! Shared parts of the tests: texts to work on, and random edits of them.
//!
//! Nothing here is part of the product. The conformance corpus is read where it is present
//! (`RELAY_CONFORMANCE`, or `../shared/conformance`); no test needs it.

pub mod arrays;
pub mod bound;
pub mod calls;
pub mod client;
pub mod command;
pub mod corpus;
pub mod edits;
pub mod fuzz;
pub mod generators;
pub mod kernel_calls;
pub mod mdtest;
pub mod opening;
pub mod programs;
pub mod runs;
