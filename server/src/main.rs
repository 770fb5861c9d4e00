//! `relay-analyzer`: the command line and the language server.
//!
//! All knowledge of Relay is in the analysis crates; this crate has only input and output.

mod analyzer;
mod between;
mod binding;
mod cli;
mod code_view;
mod files;
mod input;
mod log;
mod lsp;
mod panics;
mod progress;
mod project;
mod report;
mod run;
mod weights;

use std::process::ExitCode;

#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    panics::install_hook();
    log::start();
    cli::main()
}
