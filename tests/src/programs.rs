//! Random programs for tests of laws, and transformations that preserve their meaning.
//!
//! [`tape`] makes random choices, and shrinks them; [`generate`] turns them into a module that is
//! well-typed by construction; [`meaning`] is the result of analysing and running a text; [`changes`] are
//! the transformations.

pub mod changes;
pub mod effects;
mod expressions;
pub mod generate;
pub mod kinds;
pub mod meaning;
mod operations;
mod schemes;
mod statements;
pub mod tape;
pub mod terms;
