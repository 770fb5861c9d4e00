//! The command line and the language server of `relay-analyzer`.
//!
//! All knowledge of Relay is in the analysis crates; this crate has only input and output. The program is
//! [`main`]. On WebAssembly, which has no processes, threads or files, there is only the language server
//! that is embedded in another program, [`EmbeddedServer`].

#![cfg_attr(
    target_arch = "wasm32",
    expect(
        dead_code,
        unused_imports,
        reason = "the command line uses it, and the linker drops it"
    )
)]

mod allocator;
mod analyzer;
mod between;
mod binding;
#[cfg(not(target_arch = "wasm32"))]
mod cli;
mod code_view;
#[cfg(not(target_arch = "wasm32"))]
mod dap;
mod embedded;
mod files;
mod input;
#[cfg(not(target_arch = "wasm32"))]
mod log;
mod lsp;
mod panics;
mod paths;
#[cfg(not(target_arch = "wasm32"))]
mod progress;
mod project;
mod protocol;
#[cfg(not(target_arch = "wasm32"))]
mod reduce;
mod report;
mod run;
mod weights;

pub use allocator::Allocator;
pub use lsp::embedded::EmbeddedServer;
pub use panics::on_panic;

/// Runs the program with the arguments of the process.
#[cfg(not(target_arch = "wasm32"))]
pub fn main(allocator: Allocator) -> std::process::ExitCode {
    panics::install_hook();
    log::start();
    allocator::set(allocator);
    cli::main()
}
