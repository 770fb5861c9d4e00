//! `relay-analyzer completions` and `relay-analyzer man`

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Failure, Outcome};
use crate::{
    files::{Target, cannot_write},
    input,
};

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
        .map_err(|error| format!("cannot create `{}`: {error}", input::shown(folder)))?;
    let mut command = command.disable_help_subcommand(true);
    // Gives subcommands their full names.
    command.build();
    write_pages(&command, folder)?;
    Ok(Outcome::Clean)
}

/// Writes the pages of a command and of its subcommands, of which none has others.
fn write_pages(command: &clap::Command, folder: &Path) -> Result<(), Failure> {
    for command in std::iter::once(command).chain(command.get_subcommands()) {
        if command.is_hide_set() {
            continue;
        }
        let page = clap_mangen::Man::new(command.clone());
        let path = folder.join(page.get_filename());
        let page_text = |out: &mut BufWriter<File>| page.render(out);
        let target = Target::new(&path).map_err(|error| cannot_write(&path, error))?;
        target.write(page_text).map_err(|error| target.error(&error))?;
    }
    Ok(())
}

fn print(text: &[u8]) -> Result<Outcome, Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    out.flush()?;
    Ok(Outcome::Clean)
}
