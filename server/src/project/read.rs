//! Reads the settings from the text of `relay.toml`.

mod operators;

use std::{collections::BTreeSet, ops::Range, time::Duration};

use ::operators::similar;
use semantics::{Code, Diagnostic, Level, Lint, NoLevel, Rules, nearest_code};
use serde_json::Value as Json;
use syntax::{TextRange, TextSize, format::Style};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::Project;

/// A setting: its path, a description of its values, and a setter, which rejects invalid values.
pub(crate) struct Key {
    pub(crate) path: &'static str,
    pub(crate) takes: &'static str,
    pub(crate) set: Setter,
}

type Setter = fn(&mut Project, &Json) -> Option<()>;

const fn key(path: &'static str, takes: &'static str, set: Setter) -> Key {
    Key { path, takes, set }
}

/// The settings, which editors have as well. The levels of codes are in the table [`LINTS`].
pub(crate) const KEYS: &[Key] = &[
    key("tvm", "true, false, or a release such as \"0.8\"", |project, value| {
        let rules = value.as_bool().map(Rules::of);
        set(&mut project.tvm, rules.or_else(|| Rules::parse(value.as_str()?)))
    }),
    key("prelude", "true or false", |project, value| set(&mut project.prelude, value.as_bool())),
    key("format.style", "\"tvm\" or \"reading\"", |project, value| {
        set(&mut project.style, value.as_str().and_then(Style::parse))
    }),
    key("limits.code-size", "a number of MiB from 1 to 1024", |project, value| {
        let size = value.as_u64().filter(|size| (1..=1024).contains(size));
        set(&mut project.code_size, size.map(|size| size << 20))
    }),
    key("limits.nesting", "a number from 16 to 1000", |project, value| {
        let depth = value.as_u64().filter(|depth| (16..=1000).contains(depth));
        set(&mut project.nesting, depth.map(|depth| depth as u32))
    }),
    key("run.fuel", "a number of calls from 1", |project, value| {
        set(&mut project.run.fuel, value.as_u64().filter(|fuel| *fuel > 0))
    }),
    key("run.memory", "a number of MiB from 1 to 1048576", |project, value| {
        let size = value.as_u64().filter(|size| (1..=1 << 20).contains(size));
        set(&mut project.run.memory, size.map(|size| size << 20))
    }),
    key("run.time", "a number of seconds above 0", |project, value| {
        let seconds = value.as_f64().filter(|seconds| *seconds > 0.0);
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        set(&mut project.run.time, time)
    }),
    key("run.depth", "a number of calls from 1", |project, value| {
        let depth = value.as_u64().filter(|depth| *depth > 0);
        set(&mut project.run.depth, depth.and_then(|depth| usize::try_from(depth).ok()))
    }),
];

/// The table of the levels of codes.
const LINTS: &str = "lints";
/// The table of the operators of the project.
const OPERATORS: &str = "operators";
/// The levels, as a message lists them.
const LEVELS: &str = "\"allow\", \"hint\", \"info\", \"warning\" or \"error\"";

/// Sets a setting to a valid value.
fn set<T>(setting: &mut Option<T>, value: Option<T>) -> Option<()> {
    *setting = Some(value?);
    Some(())
}

fn integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// Returns a value in the form in which editors send it; null for one that no setting takes.
fn scalar(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Boolean(is_set) => Json::from(*is_set),
        DeValue::Float(float) => float.as_str().parse::<f64>().map_or(Json::Null, Json::from),
        other => integer(other).map_or(Json::Null, Json::from),
    }
}

/// Reads a text. Returns the valid settings, and a diagnostic for each invalid or unknown one.
pub(super) fn read(text: &str) -> (Project, Vec<Diagnostic>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { project: Project::default(), problems: Vec::new() };
    reader.read(table.get_ref(), "");
    let line = |at: TextSize| text[..usize::from(at)].matches('\n').count();
    let mut broken = BTreeSet::new();
    let mut problems = Vec::new();
    for error in errors {
        let at = clamped(text, error.span().unwrap_or_default());
        // Further errors on the line are consequences.
        if broken.insert(line(at.start())) {
            problems.push(Diagnostic::new(Code::InvalidSettings, at, error.message()));
        }
    }
    // A value from error recovery has no range.
    let is_own = |p: &Diagnostic| !p.range.is_empty() && !broken.contains(&line(p.range.start()));
    problems.extend(reader.problems.into_iter().filter(is_own));
    problems.sort_by_key(|problem| problem.range.start());
    (reader.project, problems)
}

/// Returns the range of a span, at least as long as a character where the text has one.
fn clamped(text: &str, span: Range<usize>) -> TextRange {
    let start = span.start.min(text.len());
    let one = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    let end = span.end.clamp(start + one, text.len());
    range(start..end)
}

fn range(span: Range<usize>) -> TextRange {
    TextRange::new(TextSize::new(span.start as u32), TextSize::new(span.end as u32))
}

struct Reader {
    project: Project,
    problems: Vec<Diagnostic>,
}

impl Reader {
    fn refuse(&mut self, at: TextRange, message: String, help: Option<String>) {
        let problem = Diagnostic::new(Code::InvalidSettings, at, message);
        self.problems.push(match help {
            Some(help) => problem.help(help),
            None => problem,
        });
    }

    /// Reads a table; `path` is that of the table, empty for the file.
    fn read(&mut self, table: &DeTable<'_>, path: &str) {
        for (key, value) in table.iter() {
            let name = key.get_ref();
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            let known = KEYS.iter().find(|key| key.path == path);
            if let Some(known) = known {
                if (known.set)(&mut self.project, &scalar(value.get_ref())).is_none() {
                    let message = format!("`{path}` takes {}", known.takes);
                    self.refuse(range(value.span()), message, None);
                }
                continue;
            }
            let is_table = KEYS.iter().any(|key| key.path.starts_with(&format!("{path}.")));
            match value.get_ref() {
                DeValue::Table(lints) if path == LINTS => self.read_lints(lints),
                DeValue::Table(declared) if path == OPERATORS => {
                    operators::read(self, declared);
                }
                DeValue::Table(inner) if is_table => self.read(inner, &path),
                _ if is_table || path == LINTS || path == OPERATORS => {
                    let message = format!("`{path}` is a table");
                    let help = format!("write `[{path}]`, and its settings on the lines after it");
                    self.refuse(range(value.span()), message, Some(help));
                }
                _ => self.unknown(range(key.span()), &path),
            }
        }
    }

    fn unknown(&mut self, at: TextRange, path: &str) {
        let paths = KEYS.iter().map(|key| key.path).chain([LINTS, OPERATORS]);
        let help = match similar::nearest(path, paths.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            // A key may have been written outside its table.
            None => match paths.clone().find(|known| known.ends_with(&format!(".{path}"))) {
                Some(known) => format!("did you mean `{known}`?"),
                None if Code::from_name(path).is_some() => {
                    format!("write it after `[{LINTS}]`")
                }
                None => {
                    let known: Vec<String> = paths.map(|path| format!("`{path}`")).collect();
                    format!("the settings are {}", known.join(", "))
                }
            },
        };
        self.refuse(at, format!("there is no setting `{path}`"), Some(help));
    }

    fn read_lints(&mut self, lints: &DeTable<'_>) {
        for (key, value) in lints.iter() {
            let (name, at) = (key.get_ref().as_ref(), range(key.span()));
            match Code::from_name(name).map(Lint::new) {
                None => {
                    let help = match nearest_code(name) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "`relay-analyzer explain` lists the codes".to_owned(),
                    };
                    self.refuse(at, format!("there is no code `{name}`"), Some(help));
                }
                Some(Err(error)) => {
                    self.refuse(at, error.to_string(), Some(NoLevel::HELP.to_owned()));
                }
                Some(Ok(lint)) => self.read_level(lint, value),
            }
        }
    }

    fn read_level(&mut self, lint: Lint, value: &Spanned<DeValue<'_>>) {
        let name = value.get_ref().as_str();
        match name.and_then(Level::from_name) {
            Some(level) => self.project.levels.set(lint, level),
            None => {
                let names = Level::ALL.iter().map(|level| level.name());
                let near = name.and_then(|name| similar::nearest(name, names));
                let help = near.map(|near| format!("did you mean `{near}`?"));
                let message = format!("the level of `{}` is one of {LEVELS}", lint.code());
                self.refuse(range(value.span()), message, help);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use semantics::{DeclaredOperators, Severity};

    use super::*;

    /// Returns the problems of a text as `place: message; help`.
    fn problems(text: &str) -> Vec<String> {
        let (_, problems) = read(text);
        let show = |problem: Diagnostic| {
            let place = &text[Range::<usize>::from(problem.range)];
            format!("{place}: {}; {}", problem.message, problem.help.unwrap_or_default())
        };
        problems.into_iter().map(show).collect()
    }

    #[test]
    fn all_settings_are_read() {
        let (project, problems) = read(
            "tvm = true\nprelude = false\nformat.style = \"reading\"\n\
             limits = { code-size = 2, nesting = 0x20 }\n\
             [run]\nfuel = 1_000\nmemory = 3\ntime = 0.5\ndepth = 9\n\
             [lints]\nunused-binding = \"error\"\ntvm-hole = \"allow\"\n",
        );
        assert_eq!(problems, []);
        let mut levels = semantics::Levels::default();
        let lint = |code| Lint::new(code).expect("it has a level");
        levels.set(lint(Code::UnusedBinding), Level::Report(Severity::Error));
        levels.set(lint(Code::TvmHole), Level::Allow);
        let run = interpreter::Limits {
            fuel: Some(1_000),
            memory: Some(3 << 20),
            time: Some(Duration::from_millis(500)),
            depth: Some(9),
        };
        let expected = Project {
            operators: DeclaredOperators::default(),
            tvm: Some(Rules::of(true)),
            prelude: Some(false),
            levels,
            style: Some(Style::Reading),
            code_size: Some(2 << 20),
            nesting: Some(32),
            run,
        };
        assert_eq!(project, expected);
        assert_eq!(read(""), (Project::default(), Vec::new()));
    }

    #[test]
    fn problems_have_places_and_a_way_out() {
        let cases = [
            ("tvn = true", "tvn: there is no setting `tvn`; did you mean `tvm`?"),
            ("tvm = 1", "1: `tvm` takes true, false, or a release such as \"0.8\"; "),
            (
                "[format]\nstile = \"tvm\"",
                "stile: there is no setting `format.stile`; did you mean `format.style`?",
            ),
            (
                "nesting = 20",
                "nesting: there is no setting `nesting`; did you mean `limits.nesting`?",
            ),
            (
                "unused-binding = \"allow\"",
                "unused-binding: there is no setting `unused-binding`; write it after `[lints]`",
            ),
            (
                "lints = 1",
                "1: `lints` is a table; write `[lints]`, and its settings on the lines after it",
            ),
            ("run.time = 0", "0: `run.time` takes a number of seconds above 0; "),
            ("limits.nesting = -20", "-20: `limits.nesting` takes a number from 16 to 1000; "),
            (
                "[lints]\nunused-bindin = \"allow\"",
                "unused-bindin: there is no code `unused-bindin`; did you mean `unused-binding`?",
            ),
            (
                "[lints]\nunused-binding = \"warn\"",
                "\"warn\": the level of `unused-binding` is one of \"allow\", \"hint\", \"info\", \"warning\" or \"error\"; ",
            ),
            (
                "[lints]\nunused-binding = \"errors\"",
                "\"errors\": the level of `unused-binding` is one of \"allow\", \"hint\", \"info\", \"warning\" or \"error\"; did you mean `error`?",
            ),
        ];
        for (text, problem) in cases {
            assert_eq!(problems(text), [problem], "{text}");
        }
        let [error] = &problems("[lints]\ntype-mismatch = \"hint\"")[..] else { unreachable!() };
        assert!(error.starts_with("type-mismatch: `type-mismatch` is an error of the language"));
    }

    #[test]
    fn valid_settings_survive_invalid_ones() {
        let (project, problems) = read("tvm = true\nprelude = = 1\n[lints]\nunused-binding = 1\n");
        assert_eq!(project.tvm, Some(Rules::of(true)));
        assert_eq!(problems.len(), 2, "{problems:?}");
        for text in ["\u{0}", "[", "a = \"", "[lints", "= 1", "tvm = yes", "ä = 1", "a.b.c = [1, {"]
        {
            assert!(!read(text).1.is_empty(), "{text}");
        }
    }
}
