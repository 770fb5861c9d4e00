//! `relay-analyzer reduce`

use std::{
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::{Args, ValueEnum};
use semantics::Rules;
use serde::Serialize;

use super::{CodeLimit, Failure, InputArgs, Outcome, RunLimits, run::inputs, seconds, write_json};
use crate::{
    files::Claims,
    input::read_module,
    project::Project,
    reduce::{JudgeSettings, Keep, joined, reduce},
    report::{escape, stderr},
};

/// The arguments of `reduce`.
#[derive(Args)]
pub(super) struct ReduceArgs {
    /// The module: a file, or a module of a log by index or pass, as in `run.log#7`
    path: PathBuf,
    /// What the result still shows: `code:CODE`, a diagnostic; `tvm` or `tvm=RELEASE`, a refusal of TVM;
    /// `fails`, a failure of a run; `nan`, a NaN in the result of a run; `differs:FILE`, a call with another value than
    /// in that module; `ask`, what is answered to each `{"candidate": TEXT}` on standard output by a line `true` or
    /// `false` on standard input
    #[arg(long, value_name = "WHAT", value_parser = Keep::parse, required_unless_present = "command")]
    keep: Option<Keep>,
    /// A command that exits with 0 for what is kept; `{}` in it is the path of a module
    #[arg(long, value_name = "COMMAND", conflicts_with = "keep")]
    command: Option<String>,
    /// The longest time of each command in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    timeout: f64,
    /// The commands that run at the same time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// The file to write; it has the best module so far at any time, also after Ctrl-C [default: the name of
    /// the module with `.reduced.relay`, in the current folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    inputs: InputArgs,
    #[command(flatten)]
    limits: RunLimits,
    /// The output format
    #[arg(long, value_enum, default_value = "human")]
    format: ReduceFormat,
    #[command(flatten)]
    reading: CodeLimit,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReduceFormat {
    /// The numbers of bindings before and after
    Human,
    /// One JSON document
    Json,
}

/// The JSON document of `reduce`.
#[derive(Serialize)]
struct Document<'a> {
    /// The numbers of bindings before and after.
    bindings: [usize; 2],
    /// The lengths of the texts before and after, in bytes.
    bytes: [usize; 2],
    /// True if the command gave two answers about one module.
    flaky: bool,
    /// The path of the result.
    output: &'a str,
    /// What the result shows, in one line.
    shows: &'a str,
    /// The number of candidates that were judged.
    tried: u64,
    /// Those of them that had no other errors than the module at the start.
    well_formed: u64,
}

pub(super) fn run(mut args: ReduceArgs) -> Result<Outcome, Failure> {
    let module = read_module(&args.path, args.reading.max_code())?;
    let keep = match (args.keep.take(), args.command.take()) {
        (Some(keep), _) => keep,
        (None, Some(command)) if command.contains("{}") => Keep::Command(command),
        (None, _) => {
            return Err("`--command` needs `{}`, the path of the module".to_owned().into());
        }
    };
    let path = args.output.clone().unwrap_or_else(|| default_output(&args.path));
    let output = Claims::default().read(&args.path).write(&path)?;
    // A run needs arguments: those that are not given are random.
    args.inputs.random.get_or_insert(0);
    // Otherwise a module that does not end would be run for the time of `run`.
    args.limits.time.get_or_insert(10.0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut setting = JudgeSettings {
        keep,
        inputs: inputs(&args.inputs)?,
        limits: args.limits.in_project(&Project::default()),
        time: Duration::try_from_secs_f64(args.timeout).unwrap_or(Duration::MAX),
        jobs: args.jobs.map_or(cores, usize::from),
        operators: None,
        cancelled: Arc::default(),
        rules: Rules::General,
        place: None,
    };
    let is_told = std::io::stderr().is_terminal();
    let mut last = usize::MAX;
    let mut improved = |text: &str, bindings: usize| {
        if is_told && bindings < last {
            last = bindings;
            let what = ide::words::counted(bindings as u64, "binding");
            stderr::note(&format!("{what}, {}", ide::words::bytes(text.len() as u64)));
        }
        output.write_text(text).map(drop).map_err(|error| output.error(&error))
    };
    let start = match &setting.keep {
        Keep::Differs(other) => {
            let other = read_module(other, args.reading.max_code())?;
            joined(&module.text, &other.text, &setting).map(|joined| {
                setting.operators = Some(joined.operators);
                joined.text
            })
        }
        _ => Ok(module.text.clone()),
    };
    let reduced = match start.and_then(|start| reduce(&start, setting, &mut improved)) {
        Ok(reduced) => reduced,
        Err(message) => {
            stderr::error(&format!("{}: {message}", escape::terminal(&module.name)));
            return Ok(Outcome::Errors);
        }
    };
    if reduced.is_flaky {
        stderr::warning(
            "the command gave different answers about one module: the result may be larger than needed",
        );
    }
    let (before, after) = reduced.bindings;
    let shown = path.display().to_string();
    let mut out = anstream::stdout().lock();
    match args.format {
        ReduceFormat::Human => {
            let bindings = ide::words::counted(after as u64, "binding");
            writeln!(
                out,
                "reduced from {before} to {bindings}: `{}` ({} candidates, {} well-formed)",
                escape::terminal(&shown),
                reduced.tried,
                reduced.formed
            )?;
        }
        ReduceFormat::Json => {
            let document = Document {
                bindings: [before, after],
                bytes: [module.text.len(), reduced.text.len()],
                flaky: reduced.is_flaky,
                output: &shown,
                shows: &reduced.what,
                tried: reduced.tried,
                well_formed: reduced.formed,
            };
            write_json(&mut out, &document)?;
        }
    }
    out.flush()?;
    Ok(Outcome::Clean)
}

/// Returns the name of the result: `model.reduced.relay` of `dir/model.relay` and `dir/model.log#7`.
fn default_output(path: &Path) -> PathBuf {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.filter(|stem| stem != "-").unwrap_or_else(|| "module".to_owned());
    PathBuf::from(format!("{stem}.reduced.relay"))
}
