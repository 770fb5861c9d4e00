//! `relay-analyzer completions` and `relay-analyzer man`

use std::{io::Write, path::Path};

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Failure, Outcome};
use crate::report::escape;

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "relay-analyzer", &mut script);
    print(&script)
}

/// Prints the manual page of the program, or writes it and those of all commands to a folder, as
/// `relay-analyzer.1`, `relay-analyzer-check.1`, ….
pub(super) fn pages(folder: Option<&Path>) -> Result<Outcome, Failure> {
    let command = Cli::command();
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        return print(&page);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .map_err(|error| {
            let folder = folder.display().to_string();
            format!("cannot write to `{}`: {error}", escape::terminal(&folder))
        })?;
    Ok(Outcome::Clean)
}

fn print(text: &[u8]) -> Result<Outcome, Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(Outcome::Clean)
}
