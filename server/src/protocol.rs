//! The responses of the server and the documents of the command line, as types.
//!
//! Clients draw them: an amount has a number, to sort by and to compare, and a text, to show. No client computes a
//! number, formats one, or takes a sentence apart. The types of the clients in TypeScript and Python are generated
//! from these (`schema`), so that they cannot differ.
//!
//! Ranges are of the type that a user of a type needs: positions of the protocol, or lines and columns.

mod amount;
mod check;
mod colouring;
mod compare;
mod document;
mod log;
#[cfg(not(target_arch = "wasm32"))]
mod reduce;
mod run;
#[cfg(test)]
mod schema;
mod shapes;
mod tensor;
mod type_at;
mod values;

pub(crate) use amount::*;
pub(crate) use check::*;
pub(crate) use colouring::*;
pub(crate) use compare::*;
pub(crate) use document::*;
pub(crate) use log::*;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use reduce::*;
pub(crate) use run::*;
pub(crate) use shapes::*;
pub(crate) use tensor::*;
pub(crate) use type_at::*;
pub(crate) use values::*;

/// Returns true for the value that a missing field has.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
