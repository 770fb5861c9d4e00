//! Dependencies of crates on each other, and excluded dependencies.

use std::{collections::HashMap, process::Command};

use serde_json::Value;

/// The crates of the workspace that each crate may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("relay-syntax", &[]),
    ("relay-clock", &[]),
    ("relay-codes", &[]),
    ("relay-text", &[]),
    ("relay-types", &["relay-codes", "relay-text"]),
    ("relay-operators", &["relay-types"]),
    ("relay-weights", &["relay-syntax", "relay-types"]),
    (
        "relay-semantics",
        &["relay-syntax", "relay-codes", "relay-types", "relay-operators", "relay-weights"],
    ),
    (
        "relay-ide",
        &["relay-syntax", "relay-types", "relay-operators", "relay-semantics", "relay-weights"],
    ),
    (
        "relay-interpreter",
        &["relay-clock", "relay-syntax", "relay-types", "relay-operators", "relay-semantics"],
    ),
    // Only the interface of WebAssembly.
    ("relay-web", &["relay-server", "relay-clock"]),
    ("relay-analyzer", &["relay-server"]),
    ("relay-diff", &["relay-syntax", "relay-types", "relay-semantics"]),
    ("relay-arrays", &["relay-types", "relay-interpreter"]),
    ("relay-saved", &["relay-operators", "relay-types"]),
    // Compiled by editors, independently of other crates.
    ("tree-sitter-relay", &[]),
    (
        "relay-server",
        &[
            "relay-clock",
            "relay-syntax",
            "relay-types",
            "relay-operators",
            "relay-semantics",
            "relay-ide",
            "relay-interpreter",
            "relay-arrays",
            "relay-diff",
            "relay-saved",
            "relay-weights",
        ],
    ),
];

/// The crates that a crate must not depend on, even indirectly.
const ABSENT: &[(&str, &[&str])] = &[
    ("relay-syntax", &["salsa", "tower-lsp", "tokio", "ndarray"]),
    ("relay-types", &["salsa", "rowan", "tower-lsp", "tokio", "ndarray"]),
    ("relay-operators", &["salsa", "rowan", "tower-lsp", "tokio", "ndarray"]),
    ("relay-semantics", &["tower-lsp", "lsp-types", "tokio", "ndarray", "ignore"]),
    ("relay-ide", &["tower-lsp", "lsp-types", "tokio", "ndarray", "ignore"]),
    ("relay-interpreter", &["tower-lsp", "lsp-types", "tokio", "flate2"]),
    ("relay-arrays", &["tower-lsp", "lsp-types", "tokio", "ignore"]),
    ("relay-diff", &["tower-lsp", "lsp-types", "tokio", "ndarray", "ignore"]),
    ("relay-weights", &["salsa", "tower-lsp", "lsp-types", "tokio", "ndarray", "ignore"]),
    ("relay-saved", &["salsa", "rowan", "tower-lsp", "lsp-types", "tokio", "ndarray", "ignore"]),
];

fn metadata() -> Value {
    // Only for this platform: packages for others may not be downloaded.
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
    let version = String::from_utf8_lossy(&version).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo speaks JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Returns the normal dependencies of every package, by id.
fn edges(metadata: &Value) -> HashMap<&str, Vec<&str>> {
    let is_normal =
        |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
    list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| {
            let deps = list(&node["deps"]).iter().filter(is_normal);
            (text(&node["id"]), deps.map(|dep| text(&dep["pkg"])).collect())
        })
        .collect()
}

#[test]
fn crates_depend_only_on_allowed_crates() {
    let metadata = metadata();
    let names: HashMap<&str, &str> =
        list(&metadata["packages"]).iter().map(|p| (text(&p["id"]), text(&p["name"]))).collect();
    let members: Vec<&str> = list(&metadata["workspace_members"]).iter().map(text).collect();
    let edges = edges(&metadata);
    for &member in &members {
        let name = names[member];
        if name == "relay-tests" {
            continue;
        }
        let allowed = ALLOWED.iter().find(|(known, _)| *known == name);
        let Some((_, allowed)) = allowed else {
            panic!("{name} is not listed: add its allowed dependencies above")
        };
        for dep in edges[member].iter().filter(|dep| members.contains(dep)) {
            assert!(allowed.contains(&names[dep]), "{name} depends on {}", names[dep]);
        }
        let absent = ABSENT.iter().find(|(known, _)| *known == name).map_or(&[][..], |a| a.1);
        let (mut seen, mut next) = (vec![member], vec![member]);
        while let Some(id) = next.pop() {
            for &dep in &edges[id] {
                assert!(
                    !absent.contains(&names[dep]),
                    "{name} depends indirectly on {}",
                    names[dep]
                );
                if !seen.contains(&dep) {
                    seen.push(dep);
                    next.push(dep);
                }
            }
        }
    }
}

/// Two crates with different versions of a dependency are compiled and shipped with both.
#[test]
fn versions_are_written_in_the_workspace_manifest() {
    let metadata = metadata();
    let members: Vec<&str> = list(&metadata["workspace_members"]).iter().map(text).collect();
    for package in list(&metadata["packages"]) {
        if !members.contains(&text(&package["id"])) {
            continue;
        }
        let manifest = text(&package["manifest_path"]);
        let source = std::fs::read_to_string(manifest).expect("a manifest");
        let mut is_dependency = false;
        for line in source.lines() {
            if let Some(section) = line.strip_prefix('[') {
                is_dependency = section.trim_end_matches(']').ends_with("dependencies");
            } else if is_dependency && line.contains('=') && !line.starts_with('#') {
                let inherits = line.contains("workspace = true");
                assert!(
                    inherits,
                    "{manifest}: the version belongs in the workspace manifest: {line}"
                );
            }
        }
    }
}
