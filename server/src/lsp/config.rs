//! The settings of the user.

use std::path::PathBuf;

use ide::layers::Grouping;
use semantics::{Code, Level, Levels, Lint, Setup};
use serde_json::Value;
use syntax::{ParseLimits, format::Style};

use super::documents::Limits;
use crate::project::{KEYS, Project};

/// The way in which diagnostics reach the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Delivery {
    /// The server publishes them, unless the client announces that it pulls them or does so.
    Auto,
    /// The server publishes them.
    Push,
    /// The client pulls them.
    Pull,
}

/// The settings.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Config {
    /// The settings of the database.
    pub(super) setup: Setup,
    pub(super) delivery: Delivery,
    /// The codes of diagnostics that are not reported.
    pub(super) disabled: Vec<Lint>,
    pub(super) limits: Limits,
    /// The inlay hints that are shown.
    pub(super) hints: ide::inlay::HintOptions,
    /// True if inlay hints show the values of the last run.
    pub(super) values: bool,
    /// True if Relay in documents of Python and Markdown is analysed.
    pub(super) embedded: bool,
    /// The evidence for layers.
    pub(super) layers: Grouping,
    /// The limits of runs.
    pub(super) run: interpreter::Limits,
    /// True if `.relay/run.json` of the workspace may name files outside the workspace.
    pub(super) outside_files: bool,
    /// `.params` and `.npz` files whose arrays give tensors of the metadata section names. Relative
    /// paths are relative to the workspace folders.
    pub(super) weights: Vec<PathBuf>,
    /// The style of formatting; `None` for that of the project.
    pub(super) style: Option<Style>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            setup: Setup::default(),
            delivery: Delivery::Auto,
            disabled: Vec::new(),
            limits: Limits { code: crate::input::MAX_CODE as usize, parse: ParseLimits::default() },
            hints: ide::inlay::HintOptions { types: true, parameters: true, block_ends: true },
            values: true,
            embedded: true,
            layers: Grouping::default(),
            run: interpreter::Limits::generous(),
            outside_files: false,
            weights: Vec::new(),
            style: None,
        }
    }
}

impl Config {
    /// Sets what is a setting of projects as well.
    fn share(&mut self, project: &Project) {
        (self.setup, self.run, self.style) = (project.setup(), project.run_limits(), project.style);
        let size = project.code_size.and_then(|size| usize::try_from(size).ok());
        self.limits.code = size.unwrap_or(self.limits.code);
        self.limits.parse.depth = project.nesting.unwrap_or(self.limits.parse.depth);
    }

    /// Returns the levels of codes in the files of a project.
    pub(super) fn levels(&self, project: &Project) -> Levels {
        let mut levels = project.levels.clone();
        self.disabled.iter().for_each(|&lint| levels.set(lint, Level::Allow));
        levels
    }
}

/// A setting: its path, a description of its values, and a setter.
struct Setting {
    path: &'static str,
    takes: &'static str,
    set: Setter,
}

/// The way to set a setting.
enum Setter {
    Flag(fn(&mut Config) -> &mut bool),
    /// Rejects invalid values.
    Value(fn(&mut Config, &Value) -> Option<()>),
}

const fn flag(path: &'static str, place: fn(&mut Config) -> &mut bool) -> Setting {
    Setting { path, takes: "true or false", set: Setter::Flag(place) }
}

const fn setting(
    path: &'static str,
    takes: &'static str,
    set: fn(&mut Config, &Value) -> Option<()>,
) -> Setting {
    Setting { path, takes, set: Setter::Value(set) }
}

/// The settings that projects do not have.
const SETTINGS: &[Setting] = &[
    setting("diagnostics.delivery", "\"auto\", \"push\" or \"pull\"", |config, value| {
        config.delivery = match value.as_str()? {
            "auto" => Delivery::Auto,
            "push" => Delivery::Push,
            "pull" => Delivery::Pull,
            _ => return None,
        };
        Some(())
    }),
    setting(
        "diagnostics.disabled",
        "a list of codes of warnings, infos and hints, as errors of the language have no level",
        |config, value| {
            let names: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
            // Settings outlive codes: unknown ones are ignored.
            let codes = names?.into_iter().filter_map(Code::from_name);
            let (lints, errors): (Vec<_>, Vec<_>) = codes.map(Lint::new).partition(Result::is_ok);
            config.disabled = lints.into_iter().flatten().collect();
            errors.is_empty().then_some(())
        },
    ),
    flag("inlayHints.types", |config| &mut config.hints.types),
    flag("inlayHints.parameters", |config| &mut config.hints.parameters),
    flag("inlayHints.blockEnds", |config| &mut config.hints.block_ends),
    flag("inlayHints.values", |config| &mut config.values),
    flag("embedded.enabled", |config| &mut config.embedded),
    setting("layers", "\"flat\", \"found\" or \"names\"", |config, value| {
        config.layers = Grouping::parse(value.as_str()?)?;
        Some(())
    }),
    flag("run.outsideFiles", |config| &mut config.outside_files),
    setting("weights.files", "a list of `.params` and `.npz` files", |config, value| {
        let paths: Option<Vec<PathBuf>> =
            value.as_array()?.iter().map(|path| path.as_str().map(PathBuf::from)).collect();
        config.weights = paths?;
        Some(())
    }),
];

/// Reads settings: `{"tvm": true}`, or the same below `"relay"`. Returns the settings and a message
/// for each invalid or unknown one. Those that the client does not set are those of the project.
pub(super) fn read(settings: &Value, project: &Project) -> (Config, Vec<String>) {
    let settings = settings.get("relay").unwrap_or(settings);
    let mut config = Config::default();
    // Each document has the style of its own project.
    let mut shared = Project { style: None, ..project.clone() };
    let mut problems = Vec::new();
    let mut known = 0;
    let mut apply = |path: &str, takes: &str, set: &mut dyn FnMut(&Value) -> Option<()>| {
        let found = path.split('.').try_fold(settings, |value, key| value.get(key));
        // Some clients send `{"limits.nesting": 100}`.
        let found = found.or_else(|| settings.get(path));
        let Some(value) = found.filter(|value| !value.is_null()) else { return };
        known += 1;
        if set(value).is_none() {
            problems.push(format!("the setting `relay.{path}` takes {takes}, found {value}"));
        }
    };
    for setting in SETTINGS {
        apply(setting.path, setting.takes, &mut |value| match setting.set {
            Setter::Flag(place) => value.as_bool().map(|on| *place(&mut config) = on),
            Setter::Value(set) => set(&mut config, value),
        });
    }
    for key in KEYS {
        apply(&name_of(key.path), key.takes, &mut |value| (key.set)(&mut shared, value));
    }
    config.share(&shared);
    for (path, value) in leaves(settings) {
        let is_known = paths().any(|known| known == path || known.starts_with(&format!("{path}.")));
        if !is_known && !is_of_editor(&path) && known + problems.len() < 100 {
            problems.push(format!("unknown setting `relay.{path}` with the value {value}"));
        }
    }
    (config, problems)
}

/// Returns the name in editors of a setting of projects.
fn name_of(path: &str) -> String {
    path.replace("code-size", "codeSize")
}

/// Returns the paths of all settings.
fn paths() -> impl Iterator<Item = String> {
    let own = SETTINGS.iter().map(|setting| setting.path.to_owned());
    own.chain(KEYS.iter().map(|key| name_of(key.path)))
}

/// Returns true for the settings that an editor's extension reads itself.
fn is_of_editor(path: &str) -> bool {
    let root = path.split('.').next();
    root.is_some_and(|root| ["codeView", "server", "trace"].contains(&root))
}

/// Returns each value in nested objects with its path; a list is a value.
fn leaves(settings: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    let mut stack: Vec<(String, &Value)> = vec![(String::new(), settings)];
    while let Some((path, value)) = stack.pop() {
        match value {
            Value::Object(fields) if path.matches('.').count() < 4 => {
                for (key, value) in fields {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    stack.push((path, value));
                }
            }
            _ if path.is_empty() => {}
            value => found.push((path, value)),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use semantics::Rules;
    use serde_json::json;

    use super::*;

    fn read_alone(settings: &Value) -> (Config, Vec<String>) {
        read(settings, &Project::default())
    }

    #[test]
    fn settings_of_the_client_precede_those_of_the_project() {
        let mut project =
            Project { tvm: Some(Rules::of(true)), nesting: Some(40), ..Project::default() };
        project.run.fuel = Some(7);
        let lint = Lint::new(Code::UnusedParameter).expect("it has a level");
        project.levels.set(lint, Level::Allow);
        let settings = json!({
            "tvm": false, "limits": { "codeSize": 3 }, "diagnostics": { "disabled": ["tvm-hole"] },
        });
        let (config, problems) = read(&settings, &project);
        assert_eq!(problems, [] as [&str; 0]);
        assert_eq!(config.setup.rules, Rules::General);
        assert_eq!((config.limits.code, config.limits.parse.depth), (3 << 20, 40));
        assert_eq!(config.run, project.run_limits());
        let levels = config.levels(&project);
        assert_eq!(levels.get(Code::UnusedParameter), Some(Level::Allow));
        assert_eq!(levels.get(Code::TvmHole), Some(Level::Allow));
    }

    #[test]
    fn invalid_setting_does_not_affect_others() {
        let (config, problems) = read_alone(&json!({
            "relay": {
                "tvm": true,
                "limits": { "nesting": "deep", "codeSize": 2 },
                "diagnostics": { "disabled": ["unused-binding", "type-mismatch"] },
                "colour": "blue",
                "server": { "path": "/usr/bin/relay-analyzer" },
                "codeView": { "minimumSize": 2 },
            },
        }));
        assert_eq!(config.setup.rules, Rules::of(true));
        assert_eq!(config.limits.code, 2 << 20);
        assert_eq!(config.limits.parse, ParseLimits::default());
        assert_eq!(
            config.disabled.iter().map(|lint| lint.code()).collect::<Vec<_>>(),
            [Code::UnusedBinding]
        );
        assert_eq!(
            problems,
            [
                "the setting `relay.diagnostics.disabled` takes a list of codes of warnings, infos and \
                 hints, as errors of the language have no level, found [\"unused-binding\",\"type-mismatch\"]",
                "the setting `relay.limits.nesting` takes a number from 16 to 1000, found \"deep\"",
                "unknown setting `relay.colour` with the value \"blue\"",
            ]
        );
    }

    /// Returns the default values of the settings by path.
    fn defaults() -> serde_json::Map<String, Value> {
        let config = Config::default();
        let values = [
            ("tvm", json!(config.setup.rules != Rules::General)),
            ("prelude", json!(config.setup.prelude)),
            ("diagnostics.delivery", json!("auto")),
            ("diagnostics.disabled", json!([])),
            ("inlayHints.types", json!(config.hints.types)),
            ("inlayHints.parameters", json!(config.hints.parameters)),
            ("inlayHints.blockEnds", json!(config.hints.block_ends)),
            ("inlayHints.values", json!(config.values)),
            ("embedded.enabled", json!(config.embedded)),
            ("layers", json!(config.layers.key())),
            ("run.fuel", json!(config.run.fuel)),
            ("run.memory", json!(config.run.memory.map(|bytes| bytes >> 20))),
            ("run.time", json!(config.run.time.map(|time| time.as_secs()))),
            ("run.depth", json!(config.run.depth)),
            ("run.outsideFiles", json!(config.outside_files)),
            ("weights.files", json!(config.weights)),
            ("format.style", json!(Style::default().name())),
            ("limits.codeSize", json!(config.limits.code >> 20)),
            ("limits.nesting", json!(config.limits.parse.depth)),
        ];
        values.map(|(path, value)| (path.to_owned(), value)).into_iter().collect()
    }

    #[test]
    fn editors_offer_the_settings_of_the_server() {
        let editors = concat!(env!("CARGO_MANIFEST_DIR"), "/../editors");
        let read = |name: &str| std::fs::read_to_string(format!("{editors}/{name}")).unwrap();
        let package: Value = serde_json::from_str(&read("vscode/package.json")).unwrap();
        let sections = package["contributes"]["configuration"].as_array().unwrap().iter();
        let offered: serde_json::Map<String, Value> = sections
            .flat_map(|section| section["properties"].as_object().unwrap())
            .filter_map(|(path, setting)| {
                let path = path.strip_prefix("relay.").unwrap();
                (!is_of_editor(path)).then(|| (path.to_owned(), setting["default"].clone()))
            })
            .collect();
        assert_eq!(offered, defaults());
        let mut paths: Vec<String> = paths().collect();
        paths.sort();
        assert!(defaults().keys().eq(&paths));
        let help = read("neovim/doc/relay-analyzer.txt");
        for path in paths {
            assert!(help.contains(&format!("\n  {path} ")), "{path}");
        }
    }

    #[test]
    fn invalid_settings_are_defaults() {
        for settings in [json!(null), json!([1]), json!("x"), json!({}), json!({"relay": null})] {
            assert_eq!(read_alone(&settings).0, Config::default());
        }
        assert_eq!(read_alone(&json!({"limits.nesting": 100})).0.limits.parse.depth, 100);
    }
}
