//! The response to `relay.reduce`.

use serde::Serialize;

/// The response to `relay.reduce`: a small module with the diagnostic.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReducedModule {
    /// The module, with a comment that says what it shows.
    pub(crate) text: String,
    /// The code of the diagnostic.
    pub(crate) code: &'static str,
    /// The message of the diagnostic, in one line.
    pub(crate) shows: String,
    /// The numbers of bindings before and after.
    pub(crate) bindings: (usize, usize),
    /// The number of modules that were tried.
    pub(crate) tried: u64,
}
