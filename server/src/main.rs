//! `relay-analyzer`: the command line and the language server.
//!
//! Everything that it knows of Relay it asks of the analysis crates; here are only the ways in and
//! out.

mod analyzer;
mod between;
mod cli;
mod input;
mod lsp;
mod panics;
mod report;
mod run;

use std::process::ExitCode;

#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    panics::install_hook();
    cli::main()
}
