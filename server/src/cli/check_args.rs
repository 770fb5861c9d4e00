//! The arguments of `relay-analyzer check`.

use std::{path::PathBuf, sync::LazyLock};

use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use semantics::{Code, Level, Lint, NoLevel, Rules, Severity, nearest_code};

use super::{CodeLimit, settings::SettingsArgs};

#[derive(Args)]
pub(super) struct CheckArgs {
    /// Files, folders, or `-` for standard input; without one, the current folder. Of Python, Markdown and
    /// notebooks (`.py`, `.md`, `.ipynb`) that are named, the Relay in them is checked
    #[arg(conflicts_with = "batch")]
    pub(super) paths: Vec<PathBuf>,
    /// Report what TVM 0.14 rejects as errors, or another release: `--tvm=0.8`; `--tvm=false` overrides
    /// `relay.toml`
    #[arg(long, value_name = "RELEASE", num_args = 0..=1, require_equals = true,
        default_missing_value = "true", value_parser = rules)]
    pub(super) tvm: Option<Rules>,
    /// The output format
    #[arg(long, value_enum, default_value = "human", conflicts_with = "batch")]
    pub(super) format: Format,
    /// The lowest severity to report [default: info for human, hint for other formats]
    #[arg(long, value_parser = severity())]
    pub(super) severity: Option<Severity>,
    /// Omit the diagnostics of a code, as `--level CODE=allow` does, whose other levels it overrides;
    /// may be repeated
    #[arg(long, value_name = "CODE", value_parser = lint)]
    pub(super) disable: Vec<Lint>,
    /// Set the level of a code, as in `--level unused-binding=error`: allow, hint, info, warning or
    /// error; may be repeated. Errors of the language have no level, and are never hidden
    #[arg(long, value_name = "CODE=LEVEL", value_parser = level)]
    pub(super) level: Vec<(Lint, Level)>,
    /// Omit the summary line
    #[arg(long, short, conflicts_with = "batch")]
    pub(super) quiet: bool,
    /// Apply all fixes that need no choice, until there are none, and report the remaining diagnostics:
    /// TVM spelling, stale type comments, pasted text, and what is unused among bindings, constants
    /// and comments. A fix that would add an error or change the type of a function is not applied
    ///
    /// Left to the editor are guesses, such as that of a similar name or another type; equal
    /// constants, which may be meant to differ; and unused bindings with effects, or with numbered
    /// names, which are reported together. Files that TVM saved are not changed.
    #[arg(long, conflicts_with = "batch")]
    pub(super) fix: bool,
    /// Write nothing; print what `--fix` would change as a unified diff, and exit with 1 if it would
    /// change a file
    #[arg(long, conflicts_with_all = ["batch", "format"])]
    pub(super) diff: bool,
    /// Check again whenever a file or `relay.toml` changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["batch", "fix", "diff"])]
    pub(super) watch: bool,
    /// Read lines `{"id", "text"}` and write a line `{"id", "diagnostics"}` for each
    #[arg(long)]
    pub(super) batch: bool,
    /// With `--batch`: write types, too
    #[arg(long, requires = "batch")]
    pub(super) types: bool,
    /// With `--batch`: write the semantic tokens, too, as `[start, end, kind]`
    #[arg(long, requires = "batch")]
    pub(super) tokens: bool,
    /// With `--batch`: write the excerpt of each diagnostic, too, as `rendered`
    #[arg(long, requires = "batch")]
    pub(super) rendered: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
    #[command(flatten)]
    pub(super) reading: CodeLimit,
}

impl CheckArgs {
    /// Returns what is checked: the current folder, if nothing is named.
    pub(super) fn paths(&self) -> &[PathBuf] {
        static CURRENT: LazyLock<[PathBuf; 1]> = LazyLock::new(|| [PathBuf::from(".")]);
        if self.paths.is_empty() { &*CURRENT } else { &self.paths }
    }
}

fn rules(text: &str) -> Result<Rules, String> {
    Rules::parse(text)
        .ok_or_else(|| "expected true, false, or a release from 0.5 to 0.19".to_owned())
}

/// Parses the name of a severity.
fn severity() -> impl TypedValueParser<Value = Severity> {
    let all = [Severity::Hint, Severity::Info, Severity::Warning, Severity::Error];
    let named = move |name: String| all.into_iter().find(|one| one.name() == name);
    PossibleValuesParser::new(all.map(Severity::name))
        .try_map(move |name| named(name).ok_or("unknown severity"))
}

/// Parses the code of a diagnostic that has a level.
fn lint(text: &str) -> Result<Lint, String> {
    let code = Code::from_name(text).ok_or_else(|| {
        let near = nearest_code(text).map(|near| format!(", did you mean `{near}`?"));
        let near = near.unwrap_or(":".to_owned());
        format!("unknown code{near} `relay-analyzer explain` lists all codes")
    })?;
    Lint::new(code).map_err(|error| format!("{error}: {}", NoLevel::HELP))
}

/// Parses a code and its level.
fn level(text: &str) -> Result<(Lint, Level), String> {
    let Some((name, level)) = text.split_once('=') else {
        return Err("it is not of the form `CODE=LEVEL`".to_owned());
    };
    let lint = lint(name)?;
    let level = Level::from_name(level).ok_or_else(|| {
        let names: Vec<&str> = Level::ALL.iter().map(|level| level.name()).collect();
        format!("the level is one of {}", names.join(", "))
    })?;
    Ok((lint, level))
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Excerpts of the source with marks
    Human,
    /// JSON Lines, one object per file
    Json,
    /// SARIF 2.1.0, one document
    Sarif,
    /// Workflow commands, which GitHub shows as annotations
    Github,
}
