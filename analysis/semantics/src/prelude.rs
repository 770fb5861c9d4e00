//! The prelude: definitions that every module sees unless it has its own.

/// The prelude as a Relay file.
pub const TEXT: &str = include_str!("prelude.relay");
