//! The reference of diagnostic codes: what it claims holds, and it speaks of every code that is
//! used, and of no other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use relay_tests::{client::binary, corpus::here, mdtest};

/// Codes that no text produces: they are about files, about the amount of findings, about nesting
/// that no page shows, or about operators without a rule, of which there are none.
const WITHOUT_BLOCK: &[&str] = &[
    "not-text",
    "invalid-utf8",
    "file-too-large",
    "unreadable-saved-module",
    "internal-error",
    "nested-too-deep",
    "too-many",
    "no-relation",
    "inference-budget",
    "tvm-carriage-return",
    // A claim beside the section would be a part of its JSON.
    "unused-constant",
    "duplicate-constant",
    // What no text can do wrong by itself.
    "run-cancelled",
    "run-input",
    "run-no-kernel",
    "run-not-finite",
    "run-untyped",
];

/// Files with tables of codes, which are not written where a diagnostic is made.
const TABLES: &[&str] = &[
    "analysis/semantics/src/check/syntax_errors.rs",
    "analysis/semantics/src/check/compat/notation.rs",
    "analysis/semantics/src/check/lints.rs",
    "analysis/semantics/src/check/relation.rs",
    "analysis/types/src/conflict.rs",
    "analysis/interpreter/src/fault.rs",
];

fn root() -> PathBuf {
    here().join("..")
}

fn reference() -> String {
    fs::read_to_string(root().join("analysis/semantics/src/codes.md")).expect("the reference")
}

/// The pages of the reference by their codes, with the headings.
fn pages(reference: &str) -> BTreeMap<&str, &str> {
    let sections = reference.split("\n## ").skip(1);
    sections.filter_map(|section| Some((section.split_once(" (")?.0, section))).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Whether `text` is a code by its looks: words of small letters and digits with `-` between them.
fn is_code(text: &str) -> bool {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(is_word)
}

/// The string that begins at `text`, behind blanks.
fn string(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix('"')?.split('"').next().filter(|text| is_code(text))
}

/// The codes in a source: the first string of `Diagnostic::new(…)` and `Reason::new(…)`, the
/// second argument of `fault(call, …)`, and in a table whatever is a string of words with `-`.
fn codes_in(source: &str, is_table: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for maker in ["Diagnostic::new(", "Reason::new(", " fault(", " refuse("] {
        for (at, _) in source.match_indices(maker) {
            let mut rest = &source[at + maker.len()..];
            if maker.starts_with(' ') {
                rest = rest.split_once(',').map_or("", |(_, rest)| rest);
            }
            found.extend(string(rest).map(str::to_owned));
        }
    }
    if is_table {
        let source = source.replace("\\\"", "");
        let strings = source.split('"').skip(1).step_by(2);
        found.extend(strings.filter(|s| s.contains('-') && is_code(s)).map(str::to_owned));
    }
    found
}

/// Every code that the sources use, with a file that does.
fn used() -> BTreeMap<String, PathBuf> {
    let mut files = Vec::new();
    for folder in ["analysis", "server"] {
        sources(&root().join(folder), &mut files);
    }
    let mut used = BTreeMap::new();
    for file in files {
        let source = fs::read_to_string(&file).expect("a source");
        let is_table = TABLES.iter().any(|table| file.ends_with(table));
        // What tests make up is no code.
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        for code in codes_in(source, is_table) {
            used.entry(code).or_insert_with(|| file.clone());
        }
    }
    used
}

#[test]
fn what_the_reference_claims_holds() {
    let report = mdtest::check_page("codes.md", &reference());
    assert!(report.is_empty(), "\n{report}");
}

/// Blocks of pages about what goes wrong when a program runs: they are run, with the limits that
/// stand behind `run`.
#[test]
fn runs_fail_as_the_reference_says() {
    let reference = reference();
    let mut seen = 0;
    for block in mdtest::blocks(&reference) {
        if block.words.first().is_none_or(|word| word != "run") {
            continue;
        }
        seen += 1;
        let mut command = Command::new(binary());
        command.args(["run", "-", "--format", "json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        for (name, value) in block.words.iter().filter_map(|word| word.split_once('=')) {
            command.arg(format!("--{name}")).arg(value);
        }
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(block.text.as_bytes()).expect("the program reads");
        drop(stdin);
        let output = child.wait_with_output().expect("the program ends");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let error = &found["error"];
        let [(line, code, part)] = &mdtest::failures(&block)[..] else {
            panic!("line {}: one claim", block.line)
        };
        assert_eq!(error["code"], code.as_str(), "line {}: {found}", block.line);
        let given = error["arguments"].as_array().expect("a list");
        let given: Vec<&str> = given.iter().filter_map(|ty| ty.as_str()).collect();
        let message = error["message"].as_str().unwrap_or_default();
        let message = format!("{message} (it was given {})", given.join(", "));
        assert!(message.contains(part), "line {}: {message}", block.line);
        let start = error["trace"][0]["place"]["start"].as_u64().expect("a place") as usize;
        let at = block.text[..start].matches('\n').count();
        assert_eq!(at, *line, "line {}: {found}", block.line);
        assert_eq!(output.status.code(), Some(1));
    }
    assert!(seen >= 6, "{seen} blocks");
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let reference = reference();
    let (pages, used) = (pages(&reference), used());
    let mut report = String::new();
    for (code, file) in &used {
        if !pages.contains_key(code.as_str()) {
            report += &format!("{}: `{code}` has no page\n", file.display());
        }
    }
    for code in pages.keys() {
        if !used.contains_key(*code) {
            report += &format!("codes.md: nothing uses `{code}`\n");
        }
        if semantics::code_of(code).is_none() {
            report += &format!("codes.md: the heading of `{code}` cannot be read\n");
        }
    }
    assert!(report.is_empty(), "\n{report}");
    assert_eq!(pages.len(), semantics::codes().len());
}

#[test]
fn every_page_shows_its_code() {
    let reference = reference();
    let mut report = String::new();
    for (code, page) in pages(&reference) {
        // That the claims of a block hold is tested above.
        let claim = format!(": [{code}]");
        let shows = mdtest::blocks(page).iter().any(|block| block.text.contains(&claim));
        if shows == WITHOUT_BLOCK.contains(&code) {
            let what = if shows { "has a block, and is listed as one without" } else { "has none" };
            report += &format!("codes.md: the page of `{code}` {what}\n");
        }
        let prose = page.split("```").next().unwrap_or_default();
        if prose.lines().skip(1).all(|line| line.trim().is_empty()) {
            report += &format!("codes.md: the page of `{code}` says nothing\n");
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn codes_are_found_in_sources() {
    let source = r#"
        Diagnostic::new("one-code", range, "a-message");
        Diagnostic::new(
            "second",
            range,
        );
        return fault(call, "third-code", format!("x"));
        let a = Reason::new(code, "not-one of them");
        ("tabled-code", "words")
    "#;
    let names = |is_table| Vec::from_iter(codes_in(source, is_table)).join(" ");
    assert_eq!(names(false), "one-code second third-code");
    assert_eq!(names(true), "a-message one-code second tabled-code third-code");
}
