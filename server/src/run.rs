//! Runs of functions: the parts that the command and the language server share.

pub(crate) mod arguments;
pub(crate) mod bisect;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod bound;
pub(crate) mod compare;
pub(crate) mod execute;
pub(crate) mod expect;
pub(crate) mod failure;
pub(crate) mod files;
pub(crate) mod json;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod observer;
pub(crate) mod profile;
pub(crate) mod show;
pub(crate) mod slice;
pub(crate) mod summary;
pub(crate) mod tensor_view;
pub(crate) mod top;
