//! `relay-analyzer convert`

use std::{io::Write, path::PathBuf};

use clap::Args;

use super::{CodeLimit, Failure, Outcome};
use crate::{files::Claims, input, report::escape};

/// The arguments of `convert`.
#[derive(Args)]
pub(super) struct ConvertArgs {
    /// The file, or `-` for standard input
    path: PathBuf,
    /// The file to write, in place of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: CodeLimit,
}

pub(super) fn run(args: &ConvertArgs) -> Result<Outcome, Failure> {
    let input = input::read(&args.path, args.reading.max_code())?;
    if let Some(problem) = &input.problem {
        let help = problem.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default();
        return Err(format!("{}: {}{help}", escape::terminal(&input.path), problem.message).into());
    }
    if input.saved.is_none() {
        let path = escape::terminal(&input.path);
        let message = format!(
            "`{path}` is neither what `tvm.ir.save_json` writes nor an archive of TVM: there is nothing to convert"
        );
        return Err(message.into());
    }
    match &args.output {
        Some(path) => {
            let output = Claims::default().read(&args.path).write(path)?;
            output.write_text(&input.text).map_err(|error| output.error(&error))?;
        }
        None => {
            let mut out = std::io::stdout().lock();
            out.write_all(input.text.as_bytes())?;
            if !input.text.ends_with('\n') {
                writeln!(out)?;
            }
            out.flush()?;
        }
    }
    Ok(Outcome::Clean)
}
