//! The command line.

mod batch;
mod check;
mod diff;
mod explain;
mod files;
mod fix;
mod fmt;
mod history;
mod operators;
mod passes;
mod run;
mod shapes;
mod types;

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use interpreter::Limits;
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
    /// When to colour the output
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> anstream::ColorChoice {
        match color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }
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
    /// Compare two modules by structure: names, order, notation and comments are no difference
    ///
    /// Ends with 0 where the two are equal, with 1 where they are not, with 2 where one of them
    /// cannot be read.
    Diff(DiffArgs),
    /// List the modules of a log of passes, and what each pass changed
    Passes(PassesArgs),
    /// Follow an expression through the modules of a log of passes, back and forth
    History(HistoryArgs),
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
    ///
    /// Files with syntax errors are left as they are. Ends with 0 where everything is laid out, with
    /// 1 where a file has syntax errors, or `--check` would change one, and with 2 where a file
    /// cannot be read or written.
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
    /// Leave out the diagnostics of a code, as in `--disable unused-binding`; may be repeated
    #[arg(long, value_name = "CODE", conflicts_with = "batch", value_parser = code)]
    disable: Vec<&'static str>,
    /// Leave out the summary line
    #[arg(long, short, conflicts_with = "batch")]
    quiet: bool,
    /// Write back what can be mended without a choice: what TVM writes otherwise, stale type
    /// comments, what is never used. What is left is reported
    #[arg(long, conflicts_with = "batch")]
    fix: bool,
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
    /// Files, folders, or `-` for standard input; `csv`, `html` and `dot` take one file
    #[arg(required = true)]
    paths: Vec<PathBuf>,
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
struct DiffArgs {
    /// The module before: a file, or a module of a log by number or pass, as in `run.log#7` or
    /// `run.log#FuseOps` (the last of that name)
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The module after, likewise
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Compare one function alone, which may have another name after
    #[arg(long, value_name = "@NAME[=@NAME]")]
    function: Option<String>,
    /// How to report
    #[arg(long, value_enum, default_value = "human")]
    format: DiffFormat,
    /// Run the functions that differ on inputs that are drawn, and tell whether they give the same
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// A headline, and each kind of change once
    Human,
    /// One JSON document with every pair of expressions
    Json,
    /// A page for a browser with both texts
    Html,
}

#[derive(Args)]
struct PassesArgs {
    /// The log: modules one after another, with or without headers that name passes
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// How to report
    #[arg(long, value_enum, default_value = "human")]
    format: PassesFormat,
    /// Tell calls, parameters, multiply-accumulates and peak memory of each module, which types
    /// all of them
    #[arg(long)]
    costs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PassesFormat {
    /// Columns for a terminal
    Human,
    /// One JSON document
    Json,
}

#[derive(Args)]
struct HistoryArgs {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The place of the expression in the log, both numbers from 1
    #[arg(long, value_name = "LINE:COL", value_parser = line_and_column)]
    at: (u32, u32),
    /// How to report
    #[arg(long, value_enum, default_value = "human")]
    format: PassesFormat,
}

/// A code of a diagnostic.
fn code(text: &str) -> Result<&'static str, String> {
    match semantics::code_of(text) {
        Some(code) => Ok(code.name),
        None => Err("there is no such code: `relay-analyzer explain` lists all of them".to_owned()),
    }
}

/// A place as a person writes it.
fn line_and_column(text: &str) -> Result<(u32, u32), String> {
    let parts = text
        .split_once(':')
        .and_then(|(line, column)| Some((line.parse::<u32>().ok()?, column.parse::<u32>().ok()?)));
    match parts {
        Some((line, column)) if line > 0 && column > 0 => Ok((line, column)),
        _ => Err("it is not of the form `LINE:COL`, both from 1".to_owned()),
    }
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
    /// Save the tensors of the result as `o0`, `o1`, … in a `.npz` file, or the one that it is in a
    /// `.npy` file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compare the result with `o0`, `o1`, … of a `.npz` file, or with the array of a `.npy` file, as
    /// numpy's `allclose` does; exit code 1 if it differs
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Show the N largest elements of each tensor with their positions, not the tensors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    top: Option<u16>,
    /// How to show the result
    #[arg(long, value_enum, default_value = "human")]
    format: RunFormat,
    #[command(flatten)]
    limits: RunLimits,
    /// Tell time, multiply-accumulates and bytes of each binding, on standard error
    #[arg(long)]
    profile: bool,
    #[command(flatten)]
    reading: Reading,
}

/// How far a run may go; without a word, as far as in an editor.
#[derive(Args)]
struct RunLimits {
    /// The most calls of functions and operators
    #[arg(long, value_name = "CALLS", default_value_t = RunLimits::default().fuel,
        value_parser = clap::value_parser!(u64).range(1..))]
    fuel: u64,
    /// The most memory for values, arguments among them, in megabytes
    #[arg(long, value_name = "MB", default_value_t = RunLimits::default().memory,
        value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    memory: u64,
    /// The most time, that for reading the arguments included, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = RunLimits::default().time,
        value_parser = seconds)]
    time: f64,
    /// The most calls that wait for one another: the depth of a recursion
    #[arg(long, value_name = "CALLS", default_value_t = RunLimits::default().depth,
        value_parser = clap::value_parser!(u64).range(1..))]
    depth: u64,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        let Limits { fuel, memory, time, depth } = Limits::generous();
        RunLimits {
            fuel: fuel.unwrap_or(u64::MAX),
            memory: memory.map_or(1 << 20, |bytes| bytes >> 20),
            time: time.unwrap_or(Duration::MAX).as_secs_f64(),
            depth: depth.map_or(u64::MAX, |depth| depth as u64),
        }
    }
}

impl From<&RunLimits> for Limits {
    fn from(limits: &RunLimits) -> Limits {
        Limits {
            fuel: Some(limits.fuel),
            memory: Some(limits.memory << 20),
            // As long as a clock can tell, where that is less.
            time: Some(Duration::try_from_secs_f64(limits.time).unwrap_or(Duration::MAX)),
            depth: Some(usize::try_from(limits.depth).unwrap_or(usize::MAX)),
        }
    }
}

/// A time above 0.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    if seconds > 0.0 { Ok(seconds) } else { Err("it must be above 0".to_owned()) }
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
    anstream::ColorChoice::from(cli.color).write_global();
    // A person who types the bare name wants to know what there is; an editor opens a pipe.
    if cli.command.is_none() && !cli.stdio && std::io::stdin().is_terminal() {
        // Nothing can be done where even this cannot be written.
        let _ = Cli::command().print_help();
        return Outcome::Clean.into();
    }
    let result = match cli.command {
        Some(Command::Check(args)) if args.batch => batch::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Types(args)) => types::run(&args),
        Some(Command::Shapes(args)) => shapes::run(&args),
        Some(Command::Diff(args)) => diff::run(&args),
        Some(Command::Passes(args)) => passes::run(&args),
        Some(Command::History(args)) => history::run(&args),
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

/// Warns the person at the terminal, in the manner of a diagnostic.
fn warn(message: &str) {
    let style = anstyle::AnsiColor::Yellow.on_default().bold();
    // Nothing can be done where even this cannot be written.
    let _ = writeln!(anstream::stderr(), "{style}warning{style:#}: {message}");
}

/// Mentions something to the person at the terminal, in the manner of a diagnostic.
fn note(message: &str) {
    let style = anstyle::AnsiColor::Cyan.on_default().bold();
    // Nothing can be done where even this cannot be written.
    let _ =
        writeln!(anstream::stderr(), "{style}note{style:#}: {}", escape::terminal_lines(message));
}

/// Tells the person at the terminal, in the manner of a diagnostic.
pub(crate) fn complain(message: &str) {
    let style = anstyle::AnsiColor::Red.on_default().bold();
    // Nothing can be done where even this cannot be written.
    let message = escape::terminal_lines(message);
    let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {message}");
}
