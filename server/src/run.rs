//! Running a function: what the command and the language server share.

pub(crate) mod arguments;
pub(crate) mod failure;
pub(crate) mod npy;
mod params;
pub(crate) mod profile;
pub(crate) mod show;
pub(crate) mod summary;
