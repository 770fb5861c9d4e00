//! Actions of others that workflows use: a tag can be moved to other code, a commit cannot.

use std::{collections::BTreeMap, fs, path::PathBuf};

use super::here;

/// The files that run on GitHub.
fn workflows() -> Vec<PathBuf> {
    let root = here().join("..");
    let folder = fs::read_dir(root.join(".github/workflows")).expect("the workflows");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
    files.push(root.join("action.yml"));
    files.sort();
    files
}

/// Returns the actions that a workflow uses and that are not in its repository, with the comments
/// after them.
fn used(text: &str) -> Vec<(&str, &str)> {
    let all = text.lines().filter_map(rest_of).map(|rest| match rest.split_once(" #") {
        Some((action, comment)) => (action.trim().trim_matches(['"', '\'']), comment.trim()),
        None => (rest.trim().trim_matches(['"', '\'']), ""),
    });
    all.filter(|(action, _)| !action.starts_with("./")).collect()
}

/// Returns what follows `uses:` in a line.
fn rest_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("- ").unwrap_or(line).trim_start().strip_prefix("uses:")
}

/// Returns what is wrong with the use of an action: it has a commit, and the comment its release.
fn problem((action, comment): (&str, &str)) -> Option<String> {
    let commit = action.split_once('@').map_or("", |(_, commit)| commit);
    let is_commit = commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit());
    let is_release = comment.strip_prefix('v').is_some_and(|version| {
        let numbers: Vec<&str> = version.split('.').collect();
        numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u32>().is_ok())
    });
    match (is_commit, is_release) {
        (false, _) => Some(format!("`{action}` is not a commit")),
        (true, false) => Some(format!("`{action}` has no comment with its release")),
        (true, true) => None,
    }
}

#[test]
fn every_action_of_a_workflow_is_pinned() {
    let mut commits: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut count = 0;
    for file in workflows() {
        let text = fs::read_to_string(&file).expect("a workflow");
        for (action, comment) in used(&text) {
            assert_eq!(problem((action, comment)), None, "{}", file.display());
            let (name, commit) = action.split_once('@').expect("a commit");
            let pin = (commit.to_owned(), comment.to_owned());
            // One release of an action in all workflows.
            assert_eq!(commits.entry(name.to_owned()).or_insert_with(|| pin.clone()), &pin);
            count += 1;
        }
    }
    assert!(count > 20 && commits.len() > 10, "{count}: {commits:?}");
}

#[test]
fn an_action_without_a_commit_is_found() {
    let commit = "34e114876b0b11c390a56381ad16ebd13914f8d5";
    for (line, is_pinned) in [
        (format!("      - uses: actions/checkout@{commit} # v4.3.1"), true),
        (format!("        uses: \"actions/checkout@{commit}\" # v4.3.1"), true),
        (format!("      - uses: actions/checkout@{commit}"), false),
        (format!("      - uses: actions/checkout@{commit} # v4"), false),
        (format!("      - uses: actions/checkout@{} # v4.3.1", &commit[1..]), false),
        ("      - uses: actions/checkout@v4.3.1 # v4.3.1".to_owned(), false),
        ("      - uses: actions/checkout@main".to_owned(), false),
        ("        uses: actions/checkout".to_owned(), false),
    ] {
        let used = used(&line);
        assert_eq!(used.len(), 1, "{line}");
        assert_eq!(problem(used[0]).is_none(), is_pinned, "{line}");
    }
    assert!(used("      - uses: ./local").is_empty());
}

#[test]
fn documentation_says_a_version_of_each_action() {
    let page = fs::read_to_string(here().join("../docs/install.md")).expect("a page");
    let used = used(&page);
    assert!(!used.is_empty());
    for (action, _) in used {
        let (_, version) = action.split_once('@').unwrap_or_default();
        let is_version = version
            .strip_prefix('v')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        assert!(is_version, "{action}");
    }
}
