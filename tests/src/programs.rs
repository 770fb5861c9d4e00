//! Programs to hold laws against, and changes of programs that keep their meaning.
//!
//! [`tape`] makes the choices, and shrinks them; [`generate`] turns them into a module that is
//! well-typed by construction; [`meaning`] is what the analysis and the interpreter say of a text;
//! [`changes`] are the transformations.

pub mod changes;
mod expressions;
pub mod generate;
pub mod meaning;
mod operations;
mod schemes;
mod statements;
pub mod tape;
pub mod terms;
