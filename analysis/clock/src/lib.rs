//! The monotonic clock that measures runs and bounds them.
//!
//! It is that of the standard library, except on `wasm32-unknown-unknown`, where that one panics: there
//! the embedder installs the clock of its host. The crate `web-time` would do without that step, but it
//! imports the host's clock through `wasm-bindgen`, whose tool would then have to rewrite the module.

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use std::time::Instant;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub use host::Instant;

// Compiled everywhere, so that the tests of every platform cover it.
pub mod host;
