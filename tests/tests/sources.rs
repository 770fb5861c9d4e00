//! What is done in one place: few sources read the setting of TVM's rules, none decides by the text of a
//! message or the name of a code, each code is reported by one file, and files are written by one module.

use std::{
    fs,
    path::{Path, PathBuf},
};

use semantics::Code;

/// The places that read the setting of the rules, with the number of reads: the choice of the types
/// of a definition, the rules that change other checks, and the setter.
const RULES_READS: &[(&str, usize)] = &[
    ("analysis/semantics/src/db.rs", 2),
    ("analysis/semantics/src/queries.rs", 2),
    ("analysis/semantics/src/queries/base.rs", 1),
    // The releases whose calls are meant, and that are imitated.
    ("analysis/semantics/src/queries/releases.rs", 2),
    ("analysis/semantics/src/tvm/rules.rs", 1),
];

/// The places that read the text of a message, all to show a part of it.
const MESSAGE_READS: &[&str] = &[
    // The first sentence, as the label of a consequence.
    "analysis/semantics/src/check/cause.rs",
    // Quoted code in the middle is left out first.
    "analysis/semantics/src/diagnostic/shorten.rs",
    // The rule is indented below the sentence.
    "server/src/report/human.rs",
    // The first line, as the reason of a run in a status line.
    "server/src/run/failure.rs",
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
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !is_of_tests(&path) {
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

/// Returns true for a module that only tests have.
fn is_of_tests(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8");
    let folder = path.parent().expect("a folder");
    let parents = [folder.with_extension("rs"), folder.join("lib.rs"), folder.join("main.rs")];
    let declaration = format!("#[cfg(test)]\nmod {name};");
    let mut texts = parents.iter().filter_map(|parent| fs::read_to_string(parent).ok());
    texts.any(|text| text.contains(&declaration))
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

/// Files are created, renamed and removed in one place, which keeps their content and attributes. A folder
/// may be created anywhere.
#[test]
fn files_are_written_in_one_place() {
    let ways =
        ["File::create", "fs::write(", "fs::rename(", "fs::remove", "OpenOptions", ".options()"];
    let opens_for_reading = ["server/src/input.rs", "server/src/run/files.rs"];
    let mut writers = Vec::new();
    for (path, code) in sources() {
        let is_own = path.starts_with("server/src/files");
        if ways.iter().any(|way| code.contains(way)) && !is_own {
            let reads = opens_for_reading.contains(&&*path) && !code.contains(".write(true)");
            writers.extend((!reads).then_some(path));
        }
    }
    assert_eq!(writers, Vec::<String>::new());
}

#[test]
fn few_places_read_the_setting_of_the_rules() {
    let mut reads = Vec::new();
    for (path, code) in sources() {
        let count = code.matches(".rules(").count();
        if count > 0 && path.starts_with("analysis") {
            reads.push((path, count));
        }
    }
    let known = RULES_READS.iter().map(|(path, count)| ((*path).to_owned(), *count));
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

/// The files beside `check/findings` that create a diagnostic, of a code that a file of the folder names.
const CREATE_FOR_OTHERS: &[&str] = &["/findings.rs", "/site.rs"];

/// What a user sees of a code is written in one file of `check/findings`, or for a syntax error in one folder, and the
/// checks themselves write no finding.
#[test]
fn each_code_of_the_checks_has_one_file() {
    let checks = "analysis/semantics/src/check";
    let mut homes: Vec<(Code, String)> = Vec::new();
    for (path, code) in sources() {
        let Some(rest) = path.strip_prefix(checks) else { continue };
        let Some(file) = rest.strip_prefix("/findings/") else {
            let is_for_others = CREATE_FOR_OTHERS.contains(&rest);
            assert!(is_for_others || !code.contains("Diagnostic::new("), "{path} writes a finding");
            continue;
        };
        let home = file.split_once('/').map_or_else(|| file.trim_end_matches(".rs"), |(it, _)| it);
        for name in after(&code, "Code").iter().filter_map(|rest| rest.strip_prefix("::")) {
            let name = name.split(|c: char| !c.is_alphanumeric()).next().expect("a first part");
            let of_name = |code: &&Code| format!("{code:?}") == name;
            let known = Code::ALL.iter().find(of_name).unwrap_or_else(|| panic!("{path}: {name}"));
            homes.push((*known, home.to_owned()));
        }
    }
    homes.sort_by_key(|(code, home)| (code.name(), home.clone()));
    homes.dedup();
    assert!(homes.len() > 50, "only {} codes were found", homes.len());
    for same in homes.chunk_by(|a, b| a.0 == b.0) {
        assert_eq!(same.len(), 1, "several files report one code: {same:?}");
    }
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

#[test]
fn cells_of_csv_are_written_in_one_place() {
    for (path, code) in sources() {
        let is_writer = code.contains(r#"replace('"',"\"\"")"#);
        let is_known = path == "server/src/report/escape.rs";
        assert_eq!(is_writer, is_known, "{path} quotes cells itself instead of by `escape::csv`");
    }
}

/// So that each page has a policy: see `server/src/report/page.rs`.
#[test]
fn pages_of_html_are_written_in_one_place() {
    for (path, code) in sources() {
        let is_writer = ["<!doctype", "<script>", "<style>"].iter().any(|tag| code.contains(tag));
        assert_eq!(is_writer, path == "server/src/report/page.rs", "{path}");
    }
}
