//! Settings, as the client sends them.

use std::time::Duration;

use serde_json::Value;
use syntax::{ParseLimits, format::Style};

use super::documents::Limits;

/// How diagnostics reach the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Delivery {
    /// They are sent unasked, unless the client says that it asks for them, or turns out to.
    Auto,
    /// They are sent unasked.
    Push,
    /// The client asks for them.
    Pull,
}

/// What the user chose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Config {
    /// What TVM refuses is an error.
    pub(super) tvm: bool,
    /// Modules see the prelude.
    pub(super) prelude: bool,
    /// How diagnostics reach the client.
    pub(super) delivery: Delivery,
    /// Codes of diagnostics that are not wanted.
    pub(super) disabled: Vec<String>,
    /// What is looked at.
    pub(super) limits: Limits,
    /// Which inlay hints are shown.
    pub(super) hints: ide::inlay::Wanted,
    /// Values of the last run are shown as inlay hints.
    pub(super) values: bool,
    /// How far runs may go.
    pub(super) run: interpreter::Limits,
    /// `.relay/run.json` of the workspace may name files outside of the workspace.
    pub(super) outside_files: bool,
    /// How texts are laid out.
    pub(super) style: Style,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            tvm: false,
            prelude: true,
            delivery: Delivery::Auto,
            disabled: Vec::new(),
            limits: Limits { code: crate::input::MAX_CODE as usize, parse: ParseLimits::default() },
            hints: ide::inlay::Wanted { types: true, parameters: true, block_ends: true },
            values: true,
            run: interpreter::Limits::generous(),
            outside_files: false,
            style: Style::default(),
        }
    }
}

/// One setting: where it stands, what it takes, and what it changes.
struct Setting {
    path: &'static str,
    takes: &'static str,
    set: fn(&mut Config, &Value) -> Option<()>,
}

const SETTINGS: &[Setting] = &[
    Setting {
        path: "tvm",
        takes: "true or false",
        set: |config, value| value.as_bool().map(|tvm| config.tvm = tvm),
    },
    Setting {
        path: "prelude",
        takes: "true or false",
        set: |config, value| value.as_bool().map(|prelude| config.prelude = prelude),
    },
    Setting {
        path: "diagnostics.delivery",
        takes: "\"auto\", \"push\" or \"pull\"",
        set: |config, value| {
            config.delivery = match value.as_str()? {
                "auto" => Delivery::Auto,
                "push" => Delivery::Push,
                "pull" => Delivery::Pull,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        path: "diagnostics.disabled",
        takes: "a list of codes",
        set: |config, value| {
            let codes = value.as_array()?.iter();
            let codes: Option<Vec<String>> =
                codes.map(|code| code.as_str().map(str::to_owned)).collect();
            config.disabled = codes?;
            Some(())
        },
    },
    Setting {
        path: "inlayHints.types",
        takes: "true or false",
        set: |config, value| value.as_bool().map(|on| config.hints.types = on),
    },
    Setting {
        path: "inlayHints.parameters",
        takes: "true or false",
        set: |config, value| value.as_bool().map(|on| config.hints.parameters = on),
    },
    Setting {
        path: "inlayHints.blockEnds",
        takes: "true or false",
        set: |config, value| value.as_bool().map(|on| config.hints.block_ends = on),
    },
    Setting {
        path: "inlayHints.values",
        takes: "true or false",
        set: |config, value| value.as_bool().map(|on| config.values = on),
    },
    Setting {
        path: "run.fuel",
        takes: "a number of calls from 1",
        set: |config, value| {
            config.run.fuel = Some(value.as_u64().filter(|fuel| *fuel > 0)?);
            Some(())
        },
    },
    Setting {
        path: "run.memory",
        takes: "a number of megabytes from 1 to 1048576",
        set: |config, value| {
            let size = value.as_u64().filter(|size| (1..=1 << 20).contains(size))?;
            config.run.memory = Some(size << 20);
            Some(())
        },
    },
    Setting {
        path: "run.time",
        takes: "a number of seconds above 0",
        set: |config, value| {
            let seconds = value.as_f64().filter(|seconds| *seconds > 0.0)?;
            config.run.time = Some(Duration::try_from_secs_f64(seconds).ok()?);
            Some(())
        },
    },
    Setting {
        path: "run.depth",
        takes: "a number of calls from 1",
        set: |config, value| {
            config.run.depth = Some(usize::try_from(value.as_u64()?).ok().filter(|d| *d > 0)?);
            Some(())
        },
    },
    Setting {
        path: "run.outsideFiles",
        takes: "true or false",
        set: |config, value| value.as_bool().map(|outside| config.outside_files = outside),
    },
    Setting {
        path: "format.style",
        takes: "\"tvm\" or \"reading\"",
        set: |config, value| {
            config.style = Style::parse(value.as_str()?)?;
            Some(())
        },
    },
    Setting {
        path: "limits.codeSize",
        takes: "a number of megabytes from 1 to 1024",
        set: |config, value| {
            let size = value.as_u64().filter(|size| (1..=1024).contains(size))?;
            config.limits.code = (size as usize) << 20;
            Some(())
        },
    },
    Setting {
        path: "limits.nesting",
        takes: "a number from 16 to 1000",
        set: |config, value| {
            let depth = value.as_u64().filter(|depth| (16..=1000).contains(depth))?;
            config.limits.parse.depth = depth as u32;
            Some(())
        },
    },
];

/// Reads settings: `{"tvm": true}`, or the same under `"relay"`. What cannot be read is reported
/// and left at its default; the rest counts.
pub(super) fn read(settings: &Value) -> (Config, Vec<String>) {
    let settings = settings.get("relay").unwrap_or(settings);
    let mut config = Config::default();
    let mut complaints = Vec::new();
    let mut known = 0;
    for setting in SETTINGS {
        let found = setting
            .path
            .split('.')
            .try_fold(settings, |value, key| value.get(key))
            // Some clients send `{"limits.nesting": 100}`.
            .or_else(|| settings.get(setting.path));
        let Some(value) = found.filter(|value| !value.is_null()) else { continue };
        known += 1;
        if (setting.set)(&mut config, value).is_none() {
            complaints.push(format!(
                "the setting `relay.{}` takes {}, and was {value}",
                setting.path, setting.takes
            ));
        }
    }
    for (path, value) in leaves(settings) {
        let is_known =
            SETTINGS.iter().any(|s| s.path == path || s.path.starts_with(&format!("{path}.")));
        // What only the editor knows is none of the server's business.
        let is_editors =
            path.starts_with("server.") || path.starts_with("trace.") || path == "trace";
        if !is_known && !is_editors && known + complaints.len() < 100 {
            complaints.push(format!("there is no setting `relay.{path}` (it was {value})"));
        }
    }
    (config, complaints)
}

/// Each value in an object of objects, with its path; a list is a value.
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
    use serde_json::json;

    use super::*;

    #[test]
    fn one_bad_setting_spoils_no_other() {
        let (config, complaints) = read(&json!({
            "relay": {
                "tvm": true,
                "limits": { "nesting": "deep", "codeSize": 2 },
                "diagnostics": { "disabled": ["unused-binding"] },
                "colour": "blue",
                "server": { "path": "/usr/bin/relay-analyzer" },
            },
        }));
        assert!(config.tvm);
        assert_eq!(config.limits.code, 2 << 20);
        assert_eq!(config.limits.parse, ParseLimits::default());
        assert_eq!(config.disabled, ["unused-binding"]);
        assert_eq!(
            complaints,
            [
                "the setting `relay.limits.nesting` takes a number from 16 to 1000, and was \"deep\"",
                "there is no setting `relay.colour` (it was \"blue\")",
            ]
        );
    }

    /// The values of the settings at their defaults, by path.
    fn defaults() -> serde_json::Map<String, Value> {
        let config = Config::default();
        let values = [
            ("tvm", json!(config.tvm)),
            ("prelude", json!(config.prelude)),
            ("diagnostics.delivery", json!("auto")),
            ("diagnostics.disabled", json!(config.disabled)),
            ("inlayHints.types", json!(config.hints.types)),
            ("inlayHints.parameters", json!(config.hints.parameters)),
            ("inlayHints.blockEnds", json!(config.hints.block_ends)),
            ("inlayHints.values", json!(config.values)),
            ("run.fuel", json!(config.run.fuel)),
            ("run.memory", json!(config.run.memory.map(|bytes| bytes >> 20))),
            ("run.time", json!(config.run.time.map(|time| time.as_secs()))),
            ("run.depth", json!(config.run.depth)),
            ("run.outsideFiles", json!(config.outside_files)),
            ("format.style", json!(config.style.name())),
            ("limits.codeSize", json!(config.limits.code >> 20)),
            ("limits.nesting", json!(config.limits.parse.depth)),
        ];
        values.map(|(path, value)| (path.to_owned(), value)).into_iter().collect()
    }

    #[test]
    fn the_editors_offer_what_the_server_reads() {
        let editors = concat!(env!("CARGO_MANIFEST_DIR"), "/../editors");
        let read = |name: &str| std::fs::read_to_string(format!("{editors}/{name}")).unwrap();
        let package: Value = serde_json::from_str(&read("vscode/package.json")).unwrap();
        let sections = package["contributes"]["configuration"].as_array().unwrap().iter();
        let offered: serde_json::Map<String, Value> = sections
            .flat_map(|section| section["properties"].as_object().unwrap())
            .filter_map(|(path, setting)| {
                let path = path.strip_prefix("relay.").unwrap();
                let is_editors = path.starts_with("server.") || path.starts_with("trace.");
                (!is_editors).then(|| (path.to_owned(), setting["default"].clone()))
            })
            .collect();
        assert_eq!(offered, defaults());
        let mut paths: Vec<&str> = SETTINGS.iter().map(|setting| setting.path).collect();
        paths.sort();
        assert!(defaults().keys().eq(paths));
        let help = read("neovim/doc/relay-analyzer.txt");
        for setting in SETTINGS {
            assert!(help.contains(&format!("\n  {} ", setting.path)), "{}", setting.path);
        }
    }

    #[test]
    fn nothing_and_nonsense() {
        for settings in [json!(null), json!([1]), json!("x"), json!({}), json!({"relay": null})] {
            assert_eq!(read(&settings).0, Config::default());
        }
        assert_eq!(read(&json!({"limits.nesting": 100})).0.limits.parse.depth, 100);
    }
}
