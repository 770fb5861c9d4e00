//! Differences between the modules of a log: the changes of each pass, and the history of one
//! expression.

pub(crate) mod fillers;
pub(crate) mod history;
pub(crate) mod passes;
pub(crate) mod stops;
mod unchanged;
