//! `relay-analyzer bind` and `relay-analyzer lift`

use std::path::{Path, PathBuf};

use clap::Args;

use super::{CodeLimit, Failure, Outcome, code::refused};
use crate::{
    binding,
    files::Claims,
    input::{self, Input},
    weights::NamedArrays,
};

/// The arguments of `bind`.
#[derive(Args)]
pub(super) struct BindArgs {
    /// The file
    path: PathBuf,
    /// Tensors by name, from a `.params` or `.npz` file, such as that of `lift`; may be repeated
    #[arg(long, value_name = "FILE", required = true)]
    params: Vec<PathBuf>,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    reading: CodeLimit,
}

/// The arguments of `lift`.
#[derive(Args)]
pub(super) struct LiftArgs {
    /// The file
    path: PathBuf,
    /// The file to write
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Write the tensors by the names of the new parameters, as `bind` and `run` take them: to a
    /// `.params` file, as TVM does, or else to a `.npz` archive
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
    #[command(flatten)]
    reading: CodeLimit,
}

/// Reads a module.
fn module(path: &Path, reading: CodeLimit) -> Result<Input, Failure> {
    let input = input::read(path, reading.max_code())?;
    match &input.problem {
        Some(problem) => Err(format!("{}: {}", input::shown(path), problem.message).into()),
        None => Ok(input),
    }
}

/// Returns the claims of a command that may write its module back if it is a text.
fn claims(path: &Path, input: &Input, keeps_all: bool) -> Claims {
    match keeps_all && input.saved.is_none() {
        true => Claims::default().read_and_replace(path, input.stamp),
        false => Claims::default().read(path),
    }
}

pub(super) fn bind(args: &BindArgs) -> Result<Outcome, Failure> {
    let input = module(&args.path, args.reading)?;
    let output = claims(&args.path, &input, true).read_all(&args.params).write(&args.output)?;
    let known = NamedArrays::open(&args.params)?;
    binding::bind(&input.text, &known, &output).map_err(|message| refused(&args.path, message))?;
    Ok(Outcome::Clean)
}

pub(super) fn lift(args: &LiftArgs) -> Result<Outcome, Failure> {
    let input = module(&args.path, args.reading)?;
    // Without a file of tensors, the weights are only in the module.
    let mut claims = claims(&args.path, &input, args.params.is_some());
    let output = claims.write(&args.output)?;
    // Never the module: the tensors are written first.
    let mut claims = claims.read(&args.path);
    let params = args.params.as_deref().map(|params| claims.write(params)).transpose()?;
    binding::lift(&input.text, &output, params.as_ref())
        .map_err(|message| refused(&args.path, message))?;
    Ok(Outcome::Clean)
}
