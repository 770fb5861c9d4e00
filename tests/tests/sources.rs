//! Decisions that are made in one place: few sources read the setting of TVM's rules, and none decides
//! by the text of a message or the name of a code.

use std::{
    fs,
    path::{Path, PathBuf},
};

use semantics::Code;

/// The places that read the setting of TVM's rules, with the number of reads: the choice of the types
/// of a definition, the rules that change other checks, and the setter.
const TVM_READS: &[(&str, usize)] = &[
    ("analysis/semantics/src/db.rs", 1),
    ("analysis/semantics/src/queries.rs", 2),
    ("analysis/semantics/src/queries/base.rs", 1),
    ("analysis/semantics/src/tvm/rules.rs", 1),
];

/// The places that read the text of a message, all to show a part of it.
const MESSAGE_READS: &[&str] = &[
    // The first sentence, as the label of a consequence.
    "analysis/semantics/src/check/cause.rs",
    // Quoted code in the middle is left out first.
    "analysis/semantics/src/diagnostic/shorten.rs",
    // The first line, as the reason of a run in a status line.
    "server/src/lsp/runs.rs",
    // The rule is indented below the sentence.
    "server/src/report/human.rs",
];

/// The words for texts of findings.
const TEXTS: &[&str] = &["message", "help", "title"];

/// The ways to decide by a text, or to read a part of it.
const DECISIONS: &[&str] = &[
    ".starts_with(",
    ".ends_with(",
    ".contains(",
    ".find(",
    ".strip_prefix(",
    ".strip_suffix(",
    ".split(",
    ".split_once(",
    ".lines(",
    "==",
    "!=",
];

/// Returns the sources of the analysis and the server, without unit tests: the path, and the text
/// without comments and white space.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut folders: Vec<PathBuf> = vec![root.join("server/src"), root.join("syntax/src")];
    let analysis = fs::read_dir(root.join("analysis")).expect("the analysis crates");
    folders.extend(analysis.map(|entry| entry.expect("an entry").path().join("src")));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8");
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && name != "tests" {
                let text = fs::read_to_string(&path).expect("a source");
                let text = text.split("#[cfg(test)]").next().unwrap_or_default();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                let squeezed: String = code.flat_map(str::split_whitespace).collect();
                let path = path.strip_prefix(root).expect("a path in the workspace");
                found.push((path.to_string_lossy().replace('\\', "/"), squeezed));
            }
        }
    }
    found.sort();
    assert!(found.len() > 200, "only {} sources were found", found.len());
    found
}

/// Returns the text after each occurrence of `word` as a whole identifier.
fn after<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |&(at, _): &(usize, &str)| {
        !text[..at].ends_with(is_letter) && !text[at + word.len()..].starts_with(is_letter)
    };
    text.match_indices(word).filter(whole).map(|(at, _)| &text[at + word.len()..]).collect()
}

/// Skips calls without arguments, such as `.as_str()`.
fn after_views(mut rest: &str) -> &str {
    while let Some((name, next)) = rest.strip_prefix('.').and_then(|name| name.split_once("()"))
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        && !DECISIONS.contains(&format!(".{name}(").as_str())
    {
        rest = next;
    }
    rest
}

#[test]
fn few_places_read_the_setting_of_tvms_rules() {
    let mut reads = Vec::new();
    for (path, code) in sources() {
        let count = code.matches(".tvm(").count();
        if count > 0 && path.starts_with("analysis") {
            reads.push((path, count));
        }
    }
    let known = TVM_READS.iter().map(|(path, count)| ((*path).to_owned(), *count));
    assert_eq!(reads, known.collect::<Vec<_>>());
}

#[test]
fn nothing_is_decided_by_the_text_of_a_message() {
    let mut readers = Vec::new();
    for (path, code) in sources() {
        let decides = |rest: &str| DECISIONS.iter().any(|read| after_views(rest).starts_with(read));
        let is_reader = TEXTS.iter().any(|word| after(&code, word).into_iter().any(decides));
        // Messages of the protocol and of saved modules are no findings.
        let is_finding = path.starts_with("analysis") || path.starts_with("server/src");
        if is_reader && is_finding && path != "server/src/lsp/transport.rs" {
            readers.push(path);
        }
    }
    assert_eq!(readers, MESSAGE_READS);
}

#[test]
fn codes_are_compared_as_codes() {
    for (path, code) in sources().iter().filter(|(path, _)| !path.starts_with("analysis/codes")) {
        // Errors of saved modules have codes of their own.
        if path.starts_with("analysis/saved") {
            continue;
        }
        for known in Code::ALL {
            let name = format!("\"{}\"", known.name());
            assert!(!code.contains(&name), "{path} writes {name} instead of `Code::{known:?}`");
        }
    }
}
