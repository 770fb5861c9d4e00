//! The command line.

mod batch;
mod bind;
mod bisect;
mod check;
mod check_args;
mod code;
mod compare;
mod convert;
mod diff;
mod explain;
mod fix;
mod fmt;
mod history;
mod layers;
mod manual;
mod operators;
mod passes;
mod reduce;
mod run;
mod settings;
mod shapes;
mod types;
mod weights;

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use ::types::Release;
use anstream::ColorChoice;
use clap::{
    Args, CommandFactory, Parser, Subcommand, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use interpreter::Limits;
use semantics::Diagnostic;
use serde::Serialize;
use syntax::format::Style;

use crate::{
    input::Input,
    project::Project,
    report::{escape, stderr},
};
use check_args::CheckArgs;
use settings::SettingsArgs;

/// Language server and command line for Relay, TVM's typed functional tensor IR.
#[derive(Parser)]
#[command(name = "relay-analyzer", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Speak LSP over standard input and output (the default without a command)
    #[arg(long, global = true, hide = true)]
    stdio: bool,
    /// Colour of the output
    #[arg(long, global = true, value_parser = one_of(COLORS), default_value = "auto",
        value_name = "WHEN")]
    color: ColorChoice,
}

/// Values of an argument: their names, what the help says of each, and what they stand for.
type Choices<T> = &'static [(&'static str, &'static str, T)];

const COLORS: Choices<ColorChoice> = &[
    ("auto", "On a terminal, unless `NO_COLOR` is set", ColorChoice::Auto),
    ("always", "Always", ColorChoice::Always),
    ("never", "Never", ColorChoice::Never),
];

const STYLES: Choices<Style> = &[
    ("tvm", "The output of TVM, byte for byte", Style::Tvm),
    ("reading", "Long headers with one parameter per line, long calls wrapped", Style::Reading),
];

/// Parses an argument with some values of a type of another crate.
fn one_of<T: Copy + Send + Sync + 'static>(all: Choices<T>) -> impl TypedValueParser<Value = T> {
    let names = all.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    let find = |name: String| all.iter().find(|one| one.0 == name).map(|one| one.2);
    PossibleValuesParser::new(names).try_map(move |name| find(name).ok_or("unknown value"))
}

/// The help on the exit codes of a command that writes a file.
const WRITER_HELP: &str =
    "Exit codes: 0 after writing; 2 after wrong usage, or if a file cannot be read or written";

#[derive(Subcommand)]
enum Command {
    /// Check files and folders and report diagnostics
    #[command(
        after_help = "Exit codes: 0 without errors; 1 with errors or, with `--diff`, if a file would change; 2 after wrong usage, or if a file cannot be read, written or analysed"
    )]
    Check(CheckArgs),
    /// Print the type of every expression, parameter and variable as JSON Lines
    #[command(
        after_help = "Exit codes: 0, also for files with errors; 2 after wrong usage, or if a file cannot be read or analysed"
    )]
    Types(TypesArgs),
    /// Report shapes, parameters, multiply-accumulates and memory, operator by operator
    #[command(
        after_help = "Exit codes: 0 without errors; 1 if a file has errors; 2 after wrong usage, or if a file cannot be read or analysed"
    )]
    Shapes(shapes::ShapesArgs),
    /// Show the layers of functions: stages, blocks and how often they repeat themselves
    #[command(
        after_help = "Exit codes: 0 without errors; 1 if the file has errors; 2 after wrong usage, or if it cannot be read or analysed"
    )]
    Layers(layers::LayersArgs),
    /// Run a function, and print or save its result
    #[command(
        after_help = "Exit codes: 0 after a run; 1 if the module has errors, the run fails, or its result is not that of `--expect`; 2 after wrong usage, or if the module, an argument or a file cannot be used"
    )]
    Run(RunArgs),
    /// Compare two modules by structure, ignoring names, order, notation and comments
    #[command(
        after_help = "Exit codes: 0 if the modules are equal; 1 if they differ; 2 after wrong usage, or if one of them cannot be read or has syntax errors"
    )]
    Diff(diff::DiffArgs),
    /// Run two modules on the same arguments, and find the calls that compute other values
    ///
    /// Calls are paired as by `diff`. The local error of a call is that on the operands of the first module, so that a
    /// call that merely inherits an error has none.
    #[command(
        after_help = "Exit codes: 0 if all agrees within the tolerance; 1 if not; 2 after wrong usage, or if a module or an argument cannot be used"
    )]
    Compare(compare::CompareArgs),
    /// Find the pass of a log that changes the value of a function, and the call
    ///
    /// Runs modules of the log by halves on the arguments of the first one, whose value is right.
    #[command(
        after_help = "Exit codes: 0 if the last module computes what the first one does; 1 if not; 2 after wrong usage, or if the log has no two modules that can be run"
    )]
    Bisect(bisect::BisectArgs),
    /// Reduce a module to a small one that still shows a diagnostic or a failure
    ///
    /// A command may tell what is kept, too.
    /// What the parts that are kept need from elsewhere becomes a parameter of its type, so that the result is
    /// well-formed apart from what it shows.
    #[command(
        after_help = "Exit codes: 0 after a reduction; 1 if the module does not show what is kept; 2 after wrong usage, or if a file cannot be read or written"
    )]
    Reduce(reduce::ReduceArgs),
    /// List the modules in a log of passes, and the changes of each pass
    #[command(
        after_help = "Exit codes: 0 after a list; 2 after wrong usage, or if the log cannot be read or has no modules"
    )]
    Passes(passes::PassesArgs),
    /// Follow an expression through the modules of a log of passes, in both directions
    #[command(
        after_help = "Exit codes: 0 after a history; 2 after wrong usage, or if the log cannot be read or has no expression at the position"
    )]
    History(history::HistoryArgs),
    /// Print a module that TVM saved as JSON or in an archive in TVM's text format
    ///
    /// Reads the output of `tvm.ir.save_json`, saved models (`.tar`) and the Model Library Format. The
    /// text has the metadata section with all constants.
    #[command(
        after_help = "Exit codes: 0 after a conversion; 2 after wrong usage, or if a file cannot be read or written"
    )]
    Convert(convert::ConvertArgs),
    /// Write the code of a module without its metadata section
    ///
    /// One line replaces the section. `merge` restores it, byte for byte. Without `--output` the code is printed.
    #[command(after_help = WRITER_HELP)]
    Strip(code::StripArgs),
    /// Put the metadata section of a module back after its code
    #[command(after_help = WRITER_HELP)]
    Merge(code::MergeArgs),
    /// Replace parameters of `@main` by constants in the metadata section
    ///
    /// Binds the parameters that have the name of a tensor in one of the files, like
    /// `relay.build_module.bind_params_by_name`.
    #[command(after_help = WRITER_HELP)]
    Bind(bind::BindArgs),
    /// Replace the constants of `@main` by parameters
    ///
    /// The parameters have the names that they had before `bind`, which keeps them in comments:
    /// `meta[relay.Constant][0] /* span=w:0:0 */`. Others are called `constant_0` and so on.
    #[command(after_help = WRITER_HELP)]
    Lift(bind::LiftArgs),
    /// List the tensors of the metadata section, with their statistics
    #[command(
        after_help = "Exit codes: 0 after a list; 1 if a tensor cannot be decoded; 2 after wrong usage, or if a file cannot be read or written"
    )]
    Weights(weights::WeightsArgs),
    /// Explain a diagnostic code
    #[command(after_help = "Exit codes: 0 if there is such a code; 2 if not")]
    Explain {
        /// The code, as in `shape-mismatch`; lists all codes if omitted
        code: Option<String>,
    },
    /// Show an operator: its arguments, attributes, shapes and cost
    #[command(after_help = "Exit codes: 0 if there is such an operator; 2 if not")]
    Operators {
        /// The operator, as in `nn.conv2d`; lists all operators if omitted
        name: Option<String>,
        /// Print all operators as one page of Markdown
        #[arg(long, conflicts_with = "name")]
        markdown: bool,
        /// List what a release of TVM changed, as in `0.8`
        #[arg(long, value_name = "RELEASE", value_parser = release, conflicts_with_all = ["name", "markdown"])]
        changes: Option<Release>,
    },
    /// Format files, changing only white space
    ///
    /// Files with syntax errors are not changed.
    #[command(
        after_help = "Exit codes: 0 if all files are formatted; 1 if a file has syntax errors or, with `--check` or `--diff`, is not formatted; 2 after wrong usage, or if a file cannot be read or written"
    )]
    Fmt(FmtArgs),
    /// Print the completions of a shell
    #[command(after_help = "Exit codes: 0; 2 after wrong usage")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands
    #[command(after_help = "Exit codes: 0; 2 after wrong usage, or if a page cannot be written")]
    Man {
        /// The folder to write a page for each command to
        #[arg(long, short, value_name = "DIR")]
        output: Option<PathBuf>,
    },
    /// Run the language server over standard input and output
    #[command(
        after_help = "Exit codes: 0 after `shutdown` and `exit`; 1 if the session ends otherwise"
    )]
    Lsp,
    /// Run the debugger over standard input and output, or over a port
    #[command(after_help = "Exit codes: 0 after the session; 2 if the port cannot be used")]
    Dap {
        /// Listen on this port of 127.0.0.1 instead; 0 chooses one, which is printed
        #[arg(long, value_name = "PORT")]
        port: Option<u16>,
    },
}

#[derive(Args)]
struct TypesArgs {
    /// Files, folders, or `-` for standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: CodeLimit,
}

/// Parses a release of TVM.
fn release(text: &str) -> Result<Release, String> {
    Release::parse(text).ok_or_else(|| "expected a release from 0.5 to 0.19".to_owned())
}

#[derive(Args)]
struct FmtArgs {
    /// Files, folders, or `-` to format standard input to standard output
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Change nothing; list the files that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// Change nothing; print the changes as a unified diff, and exit with 1 if there are any
    #[arg(long, conflicts_with = "check")]
    diff: bool,
    /// The style [default: that of `relay.toml`, or tvm]
    #[arg(long, value_parser = one_of(STYLES))]
    style: Option<Style>,
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    reading: CodeLimit,
}

#[derive(Args)]
struct RunArgs {
    /// The file, or `-` for standard input
    path: PathBuf,
    /// The function [default: `@main`, or the only one, or the bare expression]
    #[arg(long, value_name = "@NAME")]
    function: Option<String>,
    #[command(flatten)]
    inputs: InputArgs,
    /// Save the tensors of the result as `o0`, `o1`, … to a `.npz` file, or a single tensor to a
    /// `.npy` file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compare the result with `o0`, `o1`, … of a `.npz` file, or with the array of a `.npy` file, as
    /// numpy's `allclose` does; exit code 1 if it differs
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Print the N largest elements of each tensor with their positions instead of the tensor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: Option<u16>,
    /// The format of the result
    #[arg(long, value_enum, default_value = "human")]
    format: RunFormat,
    #[command(flatten)]
    limits: RunLimits,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Print time, multiply-accumulates and bytes of each binding on standard error
    #[arg(long)]
    profile: bool,
    #[command(flatten)]
    reading: CodeLimit,
}

/// The arguments of the function that is run.
#[derive(Args)]
struct InputArgs {
    /// An argument: a number, a JSON list of numbers, or a `.npy` file, for a parameter by name or
    /// for a tensor by position: `i0`, `i1`, … count tensors, including each field of a tuple. A
    /// `.npz` or `.params` file needs no name
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// Arguments from a `.npz` or `.params` file, by name or position as for `--input`, or from a
    /// `.json` file of such values: `{"x": [1, 2], "w": "w.npy"}`
    #[arg(long = "inputs", value_name = "FILE")]
    archives: Vec<PathBuf>,
    /// Weights from such a file, which `lift` and TVM (`save_param_dict`) write; `--inputs` takes
    /// precedence
    #[arg(long, value_name = "FILE")]
    params: Vec<PathBuf>,
    /// Draw missing arguments from this seed
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
}

/// The limits of a run, by default those of the editor.
#[derive(Args)]
struct RunLimits {
    /// The largest number of calls of functions and operators [default: 1000000000]
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u64).range(1..))]
    fuel: Option<u64>,
    /// The largest memory of values, including arguments, in MiB [default: 8192]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    memory: Option<u64>,
    /// The longest time, including that for reading arguments, in seconds [default: 600]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<f64>,
    /// The largest depth of nested calls [default: 10000000]
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u64).range(1..))]
    depth: Option<u64>,
}

impl RunLimits {
    /// Returns the limits for a file of a project.
    fn in_project(&self, project: &Project) -> Limits {
        // Clamped to the longest duration that can be represented.
        let time = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let depth = |depth| usize::try_from(depth).unwrap_or(usize::MAX);
        let given = Limits {
            fuel: self.fuel,
            memory: self.memory.map(|size| size << 20),
            time: self.time.map(time),
            depth: self.depth.map(depth),
        };
        project.run_limits().overlaid(&given)
    }
}

/// Parses a positive number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if seconds > 0.0 { Ok(seconds) } else { Err("it must be above 0".to_owned()) }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RunFormat {
    /// Arrays in the format of numpy, with their types
    Human,
    /// One JSON object
    Json,
}

#[derive(Args, Clone, Copy)]
struct CodeLimit {
    /// The limit on the code of a file, without its metadata section, in MiB [default: 64]
    #[arg(long, value_name = "MIB")]
    max_size: Option<u64>,
}

impl CodeLimit {
    fn max_code(self) -> u64 {
        self.max_code_in(&Project::default())
    }

    /// Returns the limit for a file of a project.
    fn max_code_in(self, project: &Project) -> u64 {
        let given = self.max_size.map(|size| size.saturating_mul(1 << 20));
        given.or(project.code_size).unwrap_or(crate::input::MAX_CODE)
    }
}

/// The outcome of a command, and its exit code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// No errors.
    Clean,
    /// The input has errors.
    Errors,
    /// The arguments are invalid, or a file cannot be read.
    Unusable,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(outcome as u8)
    }
}

/// The failure of a command.
pub(crate) enum Failure {
    /// The reader of the output closed it, as `head` does: the command ends silently.
    OutputClosed,
    /// A message for standard error.
    Message(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Message(error.to_string()),
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Message(message)
    }
}

/// Runs the command that the arguments name. Usage errors exit with 2, as in clap.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    cli.color.write_global();
    // On a terminal the bare name prints the help; an editor opens a pipe.
    if cli.command.is_none() && !cli.stdio && std::io::stdin().is_terminal() {
        // A failure to write cannot be reported.
        let _ = Cli::command().print_help();
        return Outcome::Clean.into();
    }
    let result = match cli.command {
        Some(Command::Check(args)) if args.batch => batch::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Types(args)) => types::run(&args),
        Some(Command::Shapes(args)) => shapes::run(&args),
        Some(Command::Layers(args)) => layers::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Compare(args)) => compare::run(args),
        Some(Command::Bisect(args)) => bisect::run(args),
        Some(Command::Reduce(args)) => reduce::run(args),
        Some(Command::Passes(args)) => passes::run(&args),
        Some(Command::History(args)) => history::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Strip(args)) => code::strip(&args),
        Some(Command::Merge(args)) => code::merge(&args),
        Some(Command::Bind(args)) => bind::bind(&args),
        Some(Command::Lift(args)) => bind::lift(&args),
        Some(Command::Weights(args)) => weights::run(&args),
        Some(Command::Fmt(args)) => fmt::run(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Explain { code }) => explain::run(code.as_deref()),
        Some(Command::Operators { changes: Some(release), .. }) => operators::changes(release),
        Some(Command::Operators { name, markdown, .. }) => {
            operators::run(name.as_deref(), markdown)
        }
        Some(Command::Completions { shell }) => manual::completions(shell),
        Some(Command::Man { output }) => manual::pages(output.as_deref()),
        Some(Command::Dap { port }) => {
            match port.map_or_else(crate::dap::serve, crate::dap::listen) {
                // A thread may still block on standard input.
                Ok(()) => std::process::exit(0),
                Err(error) => Err(error.into()),
            }
        }
        Some(Command::Lsp) | None => {
            crate::allocator::return_freed_pages();
            match crate::lsp::serve::serve() {
                Ok(code) => std::process::exit(code),
                Err(error) => Err(error.into()),
            }
        }
    };
    reported(result).unwrap_or(Outcome::Clean).into()
}

/// Reports the message of a failure; other files are processed after it.
fn reported(result: Result<Outcome, Failure>) -> Result<Outcome, Failure> {
    result.or_else(|failure| match failure {
        Failure::OutputClosed => Err(failure),
        Failure::Message(message) => {
            stderr::error(&message);
            Ok(Outcome::Unusable)
        }
    })
}

/// Prints a usage error or the help.
fn usage(error: &clap::Error) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    if !error.use_stderr() || std::env::args_os().all(|argument| is_harmless(&argument)) {
        // A failure to write cannot be reported.
        let _ = error.print();
    } else {
        // An argument may contain escape sequences: the colours are given up with them.
        let text = error.render().to_string();
        let _ = write!(anstream::stderr(), "{}", escape::terminal_lines(&text));
    }
    ExitCode::from(code)
}

/// Returns true if an argument contains no characters that a terminal interprets.
fn is_harmless(argument: &std::ffi::OsStr) -> bool {
    let text = argument.to_string_lossy();
    escape::terminal(&text) == text
}

/// Returns the files that the arguments name. Entries of folders that cannot be read are reported
/// and make the outcome unusable; links that are not followed are only noted.
fn named_files(paths: &[PathBuf]) -> (Vec<PathBuf>, Outcome) {
    let (files, problems) = found_files(paths);
    (files, if problems.is_empty() { Outcome::Clean } else { Outcome::Unusable })
}

/// Returns the files, and the problems that were reported.
fn found_files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<String>) {
    let found = crate::input::files(paths);
    for problem in &found.problems {
        stderr::error(problem);
    }
    for (link, target) in &found.links {
        let (link, target) = (crate::input::shown(link), crate::input::shown(target));
        stderr::note(&format!(
            "`{link}` is a link to `{target}`, which is not followed: name the target to include it"
        ));
    }
    (found.files, found.problems)
}

/// Writes a document as one line of JSON.
fn write_json(out: &mut impl Write, document: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, document)?;
    writeln!(out)
}

/// Reports the problem of a file, if it has one.
fn report_problem(input: &Input) -> Outcome {
    let Some(problem) = &input.problem else { return Outcome::Clean };
    stderr::error(&format!("{}: {}", escape::terminal(&input.path), problem.message));
    Outcome::Unusable
}

/// Returns the message for a file whose analysis panicked.
fn panic_message(path: &str, panicked: &Diagnostic) -> String {
    let help = panicked.help.as_deref().unwrap_or_default();
    format!("{}: {}; {help}", escape::terminal(path), panicked.message)
}
