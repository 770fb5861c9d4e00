//! `relay-analyzer bind` and `relay-analyzer lift`

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Failure, Outcome, Reading};
use crate::{binding, input, weights::Known};

/// The arguments of `bind`.
#[derive(Args)]
pub(super) struct BindArgs {
    /// The file
    path: PathBuf,
    /// Tensors by name, from a `.params` or `.npz` file; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    params: Vec<PathBuf>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

/// The arguments of `lift`.
#[derive(Args)]
pub(super) struct LiftArgs {
    /// The file
    path: PathBuf,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Write the tensors, by the names of the new parameters
    #[arg(long, value_name = "FILE.npz")]
    params: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// Reads a module.
fn module(path: &Path, reading: Reading) -> Result<String, Failure> {
    let input = input::read(path, reading.max_code())?;
    match &input.problem {
        Some(problem) => Err(format!("{}: {}", input::shown(path), problem.message).into()),
        None => Ok(input.text),
    }
}

/// The message about a file, with its name.
fn about(path: &Path, message: &str) -> Failure {
    format!("`{}`: {message}", input::shown(path)).into()
}

pub(super) fn bind(args: &BindArgs) -> Result<Outcome, Failure> {
    let text = module(&args.path, args.reading)?;
    let known = Known::open(&args.params)?;
    binding::bind(&text, &known, &args.output).map_err(|message| about(&args.path, &message))?;
    Ok(Outcome::Clean)
}

pub(super) fn lift(args: &LiftArgs) -> Result<Outcome, Failure> {
    let text = module(&args.path, args.reading)?;
    binding::lift(&text, &args.output, args.params.as_deref())
        .map_err(|message| about(&args.path, &message))?;
    Ok(Outcome::Clean)
}
