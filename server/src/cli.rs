//! The command line.

mod batch;
mod check;
mod explain;
mod fmt;
mod operators;
mod run;
mod shapes;
mod types;

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::{Args, Parser, Subcommand, ValueEnum};
use semantics::{Diagnostic, Severity};

use crate::report::escape;

/// Language server and command line for Relay, TVM's typed functional tensor IR.
#[derive(Parser)]
#[command(name = "relay-analyzer", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Speak LSP over standard input and output (the default without a command)
    #[arg(long, global = true, hide = true)]
    stdio: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Report what is wrong in files and folders
    Check(CheckArgs),
    /// Print the type of every expression, parameter and variable as JSON Lines
    Types(TypesArgs),
    /// Report shapes, parameters, multiply-accumulates and memory, operator by operator
    Shapes(ShapesArgs),
    /// Run a function, and show or save what it gives
    Run(RunArgs),
    /// Explain a diagnostic code
    Explain {
        /// The code, as it stands in a message: `shape-mismatch`; without one, all are listed
        code: Option<String>,
    },
    /// Show an operator: its arguments, attributes, shapes and cost
    Operators {
        /// The operator, as in `nn.conv2d`; without one, all are listed
        name: Option<String>,
        /// All of them as one page of markdown
        #[arg(long, conflicts_with = "name")]
        markdown: bool,
    },
    /// Lay files out; nothing but white space changes
    Fmt(FmtArgs),
    /// Run the language server over standard input and output
    Lsp,
}

#[derive(Args)]
struct CheckArgs {
    /// Files, folders, or `-` for standard input
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    paths: Vec<PathBuf>,
    /// Refuse what TVM refuses
    #[arg(long)]
    tvm: bool,
    /// How to report
    #[arg(long, value_enum, default_value = "human", conflicts_with = "batch")]
    format: Format,
    /// The least severity that is reported [default: info for people, hint for machines]
    #[arg(long, value_enum)]
    severity: Option<Level>,
    /// Read lines `{"id", "text"}` and answer each with `{"id", "diagnostics"}`
    #[arg(long)]
    batch: bool,
    /// With `--batch`: answer with types, too
    #[arg(long, requires = "batch")]
    types: bool,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Args)]
struct TypesArgs {
    /// Files, folders, or `-` for standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Args)]
struct ShapesArgs {
    /// A file, or `-` for standard input
    path: PathBuf,
    /// The function to report, such as `@main`; without one, all that compute something
    #[arg(long, value_name = "@NAME")]
    function: Option<String>,
    /// How to report
    #[arg(long, value_enum, default_value = "table")]
    format: ShapesFormat,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Args)]
struct FmtArgs {
    /// Files, folders, or `-` for standard input, which is laid out to standard output
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Change nothing; name the files that are laid out otherwise, and end with 1 if there are any
    #[arg(long)]
    check: bool,
    /// How to lay out
    #[arg(long, value_enum, default_value = "tvm")]
    style: FmtStyle,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Args)]
struct RunArgs {
    /// The file, or `-` for standard input
    path: PathBuf,
    /// The function [default: `@main`, or the only one, or the bare expression]
    #[arg(long, value_name = "@NAME")]
    function: Option<String>,
    /// An argument: a number, a list of numbers as JSON, or a `.npy` file, for a parameter by its
    /// name, or for a tensor by its position: `i0`, `i1`, … count tensors, the fields of a tuple one
    /// by one. A `.npz` or `.params` file needs no name
    #[arg(long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,
    /// Arguments from an archive of arrays: by name, or `i0`, `i1`, … by position, counted as for
    /// `--input`
    #[arg(long = "inputs", value_name = "FILE.npz")]
    archives: Vec<PathBuf>,
    /// Arguments by name, as TVM saves them (`save_param_dict`)
    #[arg(long, value_name = "FILE.params")]
    params: Vec<PathBuf>,
    /// Draw the arguments that are not given, from this seed
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
    /// Save the tensors of the result as `o0`, `o1`, …
    #[arg(long, value_name = "FILE.npz")]
    output: Option<PathBuf>,
    /// How to show the result
    #[arg(long, value_enum, default_value = "human")]
    format: RunFormat,
    /// The most calls of functions and operators
    #[arg(long, value_name = "CALLS")]
    fuel: Option<u64>,
    /// The most memory for values, in megabytes
    #[arg(long, value_name = "MB")]
    memory: Option<u64>,
    /// The most time, in seconds
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// The most calls that wait for one another
    #[arg(long, value_name = "CALLS")]
    depth: Option<usize>,
    /// Tell time, multiply-accumulates and bytes of each binding, on standard error
    #[arg(long)]
    profile: bool,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShapesFormat {
    /// Columns for a terminal
    Table,
    /// One JSON document
    Json,
    /// One line a call, for spreadsheets
    Csv,
    /// A page for a browser
    Html,
    /// A graph for Graphviz
    Dot,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FmtStyle {
    /// As TVM prints, byte for byte
    Tvm,
    /// Long headers with one parameter a line, long calls wrapped
    Reading,
}

impl From<FmtStyle> for syntax::format::Style {
    fn from(style: FmtStyle) -> syntax::format::Style {
        match style {
            FmtStyle::Tvm => syntax::format::Style::Tvm,
            FmtStyle::Reading => syntax::format::Style::Reading,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RunFormat {
    /// Arrays as numpy shows them, with their types
    Human,
    /// One JSON object
    Json,
}

#[derive(Args, Clone, Copy)]
struct Reading {
    /// The most code that a file may hold beside its metadata section, in megabytes
    #[arg(long, value_name = "MB", default_value_t = crate::input::MAX_CODE >> 20)]
    max_size: u64,
}

impl Reading {
    fn max_code(self) -> u64 {
        self.max_size.saturating_mul(1 << 20)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Excerpts with the fault marked
    Human,
    /// JSON Lines, one object a file
    Json,
    /// SARIF 2.1.0, one document
    Sarif,
    /// Commands that GitHub shows as annotations
    Github,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Hint,
    Info,
    Warning,
    Error,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Severity {
        match level {
            Level::Hint => Severity::Hint,
            Level::Info => Severity::Info,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        }
    }
}

/// What a command ends with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Nothing is wrong.
    Clean,
    /// There are errors.
    Errors,
    /// The arguments make no sense, or a file cannot be read.
    Unusable,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(outcome as u8)
    }
}

/// A failure of a command: a message for people, where the other end still listens.
pub(crate) enum Failure {
    /// Whoever reads the output has gone: not a failure to speak of.
    Gone,
    /// Anything else.
    Message(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Gone,
            _ => Failure::Message(error.to_string()),
        }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Message(message)
    }
}

/// Runs the command that the arguments name. Usage errors end with 2, as clap does.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let result = match cli.command {
        Some(Command::Check(args)) if args.batch => batch::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Types(args)) => types::run(&args),
        Some(Command::Shapes(args)) => shapes::run(&args),
        Some(Command::Fmt(args)) => fmt::run(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Explain { code }) => explain::run(code.as_deref()),
        Some(Command::Operators { name, markdown }) => operators::run(name.as_deref(), markdown),
        Some(Command::Lsp) | None => match crate::lsp::serve() {
            Ok(code) => std::process::exit(code),
            Err(failure) => Err(failure),
        },
    };
    match result {
        Ok(outcome) => outcome.into(),
        Err(Failure::Gone) => Outcome::Clean.into(),
        Err(Failure::Message(message)) => {
            complain(&message);
            Outcome::Unusable.into()
        }
    }
}

/// Says what is wrong with the arguments, or shows the help.
fn usage(error: &clap::Error) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    if !error.use_stderr() || std::env::args_os().all(|argument| is_harmless(&argument)) {
        // Nothing can be done where even this cannot be written.
        let _ = error.print();
    } else {
        // Colours and arguments cannot be told apart any more.
        let text = error.render().to_string();
        let _ = write!(anstream::stderr(), "{}", escape::terminal_lines(&text));
    }
    ExitCode::from(code)
}

/// Whether a terminal shows an argument as it is.
fn is_harmless(argument: &std::ffi::OsStr) -> bool {
    let text = argument.to_string_lossy();
    escape::terminal(&text) == text
}

/// The files that the arguments name. What in a folder cannot be looked at is said, and makes the
/// outcome; links that lead elsewhere are only mentioned.
fn named_files(paths: &[PathBuf]) -> (Vec<PathBuf>, Outcome) {
    let found = crate::input::files(paths);
    for problem in &found.problems {
        complain(problem);
    }
    let style = anstyle::AnsiColor::Cyan.on_default().bold();
    for (link, target) in &found.links {
        let (link, target) = (crate::input::shown(link), crate::input::shown(target));
        // Nothing can be done where even this cannot be written.
        let _ = writeln!(
            anstream::stderr(),
            "{style}note{style:#}: `{link}` is a link to `{target}`, which is not followed: name it to have it looked at"
        );
    }
    let outcome = if found.problems.is_empty() { Outcome::Clean } else { Outcome::Unusable };
    (found.files, outcome)
}

/// The message for a file whose analysis panicked.
fn panic_message(path: &str, panicked: &Diagnostic) -> String {
    let help = panicked.help.as_deref().unwrap_or_default();
    format!("{}: {}; {help}", escape::terminal(path), panicked.message)
}

/// Tells the person at the terminal, in the manner of a diagnostic.
pub(crate) fn complain(message: &str) {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    // Nothing can be done where even this cannot be written.
    let message = escape::terminal_lines(message);
    let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {message}");
}
