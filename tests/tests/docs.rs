//! The book and the pages next to it: links lead somewhere, files and functions that they name
//! exist, and every page is in the table of contents. Code files stay short.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path, PathBuf},
};

use relay_tests::corpus::here;

/// The sources of the crates that the pages name.
const CRATES: &[(&str, &str)] = &[
    ("syntax", "syntax/src"),
    ("types", "analysis/types/src"),
    ("codes", "analysis/codes/src"),
    ("operators", "analysis/operators/src"),
    ("semantics", "analysis/semantics/src"),
    ("ide", "analysis/ide/src"),
    ("interpreter", "analysis/interpreter/src"),
    ("arrays", "analysis/arrays/src"),
    ("diff", "analysis/diff/src"),
    ("saved", "analysis/saved/src"),
    ("server", "server/src"),
    ("relay_tests", "tests/src"),
];

/// Crates whose items are re-exported, and cannot be looked up in the sources.
const REEXPORTED: &[&str] = &["syntax::GreenNode"];

/// Folders that are generated or foreign.
const FOREIGN: &[&str] = &["target", "node_modules", ".git", "dist", "regressions"];

/// The maximum number of lines of a code file.
const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    here().join("..")
}

/// Returns the files of the repository, relative to its root.
fn files() -> Vec<PathBuf> {
    fn visit(folder: &Path, root: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            let is_foreign = FOREIGN.iter().any(|name| path.file_name() == Some(name.as_ref()));
            if path.is_dir() && !is_foreign {
                visit(&path, root, found);
            } else if path.is_file() {
                found.push(path.strip_prefix(root).expect("in the repository").to_owned());
            }
        }
    }
    let (root, mut found) = (root(), Vec::new());
    visit(&root, &root, &mut found);
    found.sort();
    found
}

/// Returns the pages with their texts: the book, and the pages at the root.
fn pages() -> Vec<(PathBuf, String)> {
    let is_page = |path: &PathBuf| {
        let folder = path.parent().expect("a folder");
        path.extension().is_some_and(|e| e == "md")
            && (folder == Path::new("docs") || folder == Path::new(""))
    };
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root().join(&path)).expect("a page");
        (path, text)
    };
    files().into_iter().filter(is_page).map(read).collect()
}

/// Returns the text without fenced blocks.
fn prose(text: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut prose = String::new();
    for line in text.lines() {
        let start = line.trim_start();
        let ticks = &start[..start.len() - start.trim_start_matches('`').len()];
        match fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if ticks == open && start == ticks => fence = None,
            None => {
                prose.push_str(line);
                prose.push('\n');
            }
            Some(_) => {}
        }
    }
    prose
}

/// Returns the texts in backquotes.
fn quoted(text: &str) -> Vec<String> {
    let prose = prose(text);
    prose.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns `path` without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        let prose = prose(&text).replace('\n', " ");
        let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => normal(&page.parent().expect("a folder").join(file)),
            };
            let is_in_book = page.starts_with("docs");
            if !root().join(&target).exists() {
                wrong.push(format!("{}: there is no {link}", page.display()));
            } else if is_in_book && !target.starts_with("docs") {
                // The rendered book has the files of its folder only.
                wrong.push(format!("{}: {link} leads out of the book", page.display()));
            } else if !heading.is_empty() {
                let text = fs::read_to_string(root().join(&target)).expect("a page");
                let mut headings = text.lines().filter_map(|line| line.strip_prefix('#'));
                if !headings.any(|line| anchor(line.trim_start_matches('#')) == heading) {
                    wrong.push(format!("{}: there is no heading {link}", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_is_in_the_table_of_contents() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the contents");
    for (page, _) in pages().iter().filter(|(page, _)| page.starts_with("docs")) {
        let name = page.file_name().expect("a name").to_string_lossy();
        let is_listed = name == "SUMMARY.md" || summary.contains(&format!("]({name})"));
        assert!(is_listed, "docs/SUMMARY.md does not list {name}");
    }
}

#[test]
fn included_files_exist() {
    for (page, text) in pages() {
        for include in text.split("{{#include ").skip(1) {
            let file = include.split("}}").next().expect("a file");
            let target = root().join("docs").join(file);
            assert!(target.is_file(), "{}: there is no {file}", page.display());
        }
    }
}

#[test]
fn named_files_exist() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        for name in quoted(&text) {
            let is_path = name.contains('/') && !name.starts_with(['/', '<', '~', '@', '#'])
                || name.ends_with(".rs");
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
            // Made by a build, or named by the protocol.
            let is_elsewhere =
                ["target/", "relay/", ".relay/", "textDocument/", "tests/fuzz/corpus"]
                    .iter()
                    .any(|start| name.starts_with(start));
            if is_path && is_plain && !is_elsewhere && !root().join(&name).exists() {
                wrong.push(format!("{}: there is no {name}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns true if a source defines an item, a field's type or a variant of this name.
fn defines(source: &str, name: &str) -> bool {
    const KEYWORDS: &[&str] =
        &["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "macro_rules!"];
    source.lines().any(|line| {
        let line = line.trim_start();
        let words: Vec<&str> =
            line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '!').collect();
        let is_item = words.windows(2).any(|pair| KEYWORDS.contains(&pair[0]) && pair[1] == name);
        // A variant is alone on its line, or begins it.
        is_item || !line.starts_with("//") && words[0] == name && !line.starts_with("use ")
    })
}

/// Looks up `crate::module::item`. The modules may be left out.
fn exists(path: &str) -> Result<(), String> {
    let mut parts: Vec<&str> = path.split("::").collect();
    let folder = CRATES.iter().find(|(name, _)| *name == parts[0]).expect("a crate").1;
    parts.remove(0);
    let mut place = PathBuf::from(folder);
    while let Some(part) = parts.first() {
        let next = place.join(part);
        let is_module =
            root().join(&next).is_dir() || root().join(next.with_extension("rs")).is_file();
        if !is_module {
            break;
        }
        place = next;
        parts.remove(0);
    }
    if parts.is_empty() {
        return Ok(());
    }
    let candidates = files();
    let within = candidates.iter().filter(|file| {
        file.extension().is_some_and(|e| e == "rs")
            && (file.starts_with(&place) || **file == place.with_extension("rs"))
    });
    let mut sources = within.map(|file| fs::read_to_string(root().join(file)).expect("a source"));
    let is_defined = sources.any(|source| parts.iter().all(|part| defines(&source, part)));
    if is_defined {
        Ok(())
    } else {
        Err(format!("{} is not defined in {}", parts.join("::"), place.display()))
    }
}

#[test]
fn named_functions_and_types_exist() {
    let mut wrong = BTreeSet::new();
    for (page, text) in pages() {
        for name in quoted(&text) {
            let is_path = name.split("::").all(|part| {
                !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            });
            let first = name.split("::").next().unwrap_or_default();
            let is_ours = CRATES.iter().any(|(known, _)| *known == first);
            if name.contains("::")
                && is_path
                && is_ours
                && !REEXPORTED.contains(&name.as_str())
                && let Err(reason) = exists(&name)
            {
                wrong.insert(format!("{}: `{name}`: {reason}", page.display()));
            }
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lookup_of_names_finds_what_is_missing() {
    assert_eq!(exists("semantics::check_file"), Ok(()));
    assert_eq!(exists("semantics::check::check_file"), Ok(()));
    assert_eq!(exists("server::lsp::owner::Owner::change"), Ok(()));
    assert!(exists("semantics::check::check_files").is_err());
    assert!(exists("server::lsp::owner::Owner::no_such_function").is_err());
    assert!(exists("server::lsp::no_such_module::change_nothing").is_err());
}

#[test]
fn code_files_are_short() {
    const CODE: &[&str] = &["rs", "ts", "mjs", "js", "lua", "el", "py", "sh"];
    let is_code = |path: &&PathBuf| {
        let is_source = path.extension().is_some_and(|e| CODE.iter().any(|code| e == *code));
        // Generated by tree-sitter.
        is_source && !path.starts_with("editors/tree-sitter/src")
    };
    let all = files();
    let lengths = all.iter().filter(is_code).map(|path| {
        let text = fs::read_to_string(root().join(path)).expect("a source");
        (path, text.lines().count())
    });
    let long: Vec<_> = lengths.filter(|(_, lines)| *lines > MAX_LINES).collect();
    assert!(long.is_empty(), "more than {MAX_LINES} lines: {long:?}");
}
