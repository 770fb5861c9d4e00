//! What lies between modules: the passes of a log, and one expression on its way through them.

pub(crate) mod history;
pub(crate) mod passes;
