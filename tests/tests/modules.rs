//! The modules of each crate have no import cycles, so that each can be understood after those that it
//! imports.
//!
//! A re-exported name counts as an import from the module that defines it: `super::Ty` in `a/b.rs`, with
//! `pub use c::Ty` in `a.rs`, is an import of `a::c`. A module may use definitions of its ancestors. Unit
//! tests are ignored.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

/// The crates of the workspace, by the folder of their sources.
const CRATES: &[&str] = &[
    "syntax",
    "analysis/clock",
    "analysis/codes",
    "analysis/types",
    "analysis/operators",
    "analysis/semantics",
    "analysis/ide",
    "analysis/interpreter",
    "analysis/arrays",
    "analysis/saved",
    "analysis/text",
    "analysis/diff",
    "analysis/weights",
    "server",
    "server/program",
    "tests",
    "web",
];

/// The path of a module or item from the root of its crate.
type ItemPath = Vec<String>;

/// A module with its own file.
#[derive(Default)]
struct Module {
    /// The names that it defines.
    defined: BTreeSet<String>,
    /// The names that it imports or re-exports, with their paths.
    imported: HashMap<String, ItemPath>,
    /// The modules of glob imports.
    globs: Vec<ItemPath>,
    /// All paths in it.
    named: Vec<ItemPath>,
}

/// Splits a source into identifiers, `::` and other characters. Comments and literals are dropped.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            raw.find("\"#").map_or(rest.len(), |end| end + 5)
        } else if first == '"' {
            let mut is_escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            rest[1..].find('\'').map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(rest[..end].to_owned());
            end
        } else {
            if !first.is_whitespace() {
                tokens.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the position after a `{ … }` that starts at or after `at`, or after a `;` before it.
fn after_item(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return at + offset + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return at + offset + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Reads the tree of a `use` declaration: each path with the name under which it is imported, `*`
/// for all names.
fn use_tree(
    tokens: &[String],
    at: &mut usize,
    prefix: &[String],
    found: &mut Vec<(ItemPath, String)>,
) {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        match token.as_str() {
            "::" => {}
            "{" => {
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    use_tree(tokens, at, &path, found);
                    if tokens.get(*at).is_some_and(|token| token == ",") {
                        *at += 1;
                    }
                }
                *at += 1;
                return;
            }
            "*" => return found.push((path, "*".to_owned())),
            name => {
                if name != "self" || path.is_empty() {
                    path.push(name.to_owned());
                }
                match tokens.get(*at).map(String::as_str) {
                    Some("::") => {}
                    Some("as") => {
                        let name = tokens.get(*at + 1).cloned().unwrap_or_default();
                        *at += 2;
                        return found.push((path, name));
                    }
                    _ => {
                        let name = path.last().cloned().unwrap_or_default();
                        return found.push((path, name));
                    }
                }
            }
        }
    }
}

/// Returns the absolute path of `path`, which `module` names: of this crate only.
fn absolute(path: &[String], module: &[String], children: &BTreeSet<String>) -> Option<ItemPath> {
    let mut base = module.to_vec();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|first| first == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        child if children.contains(child) => {}
        _ => return None,
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// Reads a source. Returns the module, and the names of the modules that are tests.
fn read(text: &str, path: &[String]) -> (Module, Vec<String>) {
    let tokens = tokens(text);
    let is = |at: usize, expected: &str| tokens.get(at).is_some_and(|token| token == expected);
    let mut children = BTreeSet::new();
    for pair in tokens.windows(3) {
        if pair[0] == "mod" && (pair[2] == ";" || pair[2] == "{") {
            children.insert(pair[1].clone());
        }
    }
    let (mut module, mut tests) = (Module::default(), Vec::new());
    let mut reexports = Vec::new();
    // Inline modules, each with the depth of its braces.
    let (mut inline, mut depth): (Vec<(String, usize)>, usize) = (Vec::new(), 0);
    let mut words = BTreeSet::new();
    let mut at = 0;
    while at < tokens.len() {
        let mut here = path.to_vec();
        here.extend(inline.iter().map(|(name, _)| name.clone()));
        let is_test = ["#", "[", "cfg", "(", "test", ")", "]"];
        if is_test.iter().enumerate().all(|(offset, token)| is(at + offset, token)) {
            at += is_test.len();
            if is(at, "mod") && is(at + 2, ";") {
                tests.push(tokens[at + 1].clone());
            }
            at = after_item(&tokens, at);
            continue;
        }
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inline.pop_if(|(_, opened)| *opened == depth);
            }
            "mod" if is(at + 2, "{") => {
                inline.push((tokens[at + 1].clone(), depth));
                at += 1;
            }
            "use" => {
                let is_public = at > 0 && (is(at - 1, "pub") || is(at - 1, ")"));
                let mut found = Vec::new();
                at += 1;
                use_tree(&tokens, &mut at, &[], &mut found);
                for (imported, name) in found {
                    let Some(target) = absolute(&imported, &here, &children) else { continue };
                    if name == "*" {
                        module.globs.push(target.clone());
                    } else {
                        module.imported.insert(name.clone(), target.clone());
                    }
                    if is_public {
                        reexports.push((name, target));
                    } else {
                        module.named.push(target);
                    }
                }
                continue;
            }
            "fn" | "struct" | "enum" | "trait" | "const" | "static" | "type" | "macro_rules" => {
                let name = if is(at + 1, "!") { at + 2 } else { at + 1 };
                module.defined.extend(tokens.get(name).cloned());
            }
            word if is(at + 1, "::") && !(at > 0 && is(at - 1, "::")) => {
                let mut named = vec![word.to_owned()];
                while is(at + 1, "::") && at + 2 < tokens.len() {
                    named.push(tokens[at + 2].clone());
                    at += 2;
                }
                words.extend(named.first().cloned());
                module.named.extend(absolute(&named, &here, &children));
            }
            word => {
                words.insert(word.to_owned());
            }
        }
        at += 1;
    }
    // A re-export is not a dependency.
    module.named.extend(
        reexports.into_iter().filter(|(name, _)| words.contains(name)).map(|(_, target)| target),
    );
    (module, tests)
}

fn sources(folder: &Path, path: &[String], found: &mut Vec<(ItemPath, PathBuf)>) {
    let entries = fs::read_dir(folder).expect("the folder of a crate can be read");
    for entry in entries.map(|entry| entry.expect("an entry").path()) {
        let stem = entry.file_stem().and_then(|stem| stem.to_str()).expect("UTF-8").to_owned();
        let mut path = path.to_vec();
        if entry.is_dir() {
            path.push(stem);
            sources(&entry, &path, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            if !matches!(stem.as_str(), "lib" | "main" | "mod") {
                path.push(stem);
            }
            found.push((path, entry));
        }
    }
}

/// The modules of a crate.
struct Modules(BTreeMap<ItemPath, Module>);

impl Modules {
    fn read(folder: &Path) -> Modules {
        let mut files = Vec::new();
        sources(folder, &[], &mut files);
        let mut modules = BTreeMap::new();
        let mut tests = BTreeSet::new();
        for (path, file) in files {
            let text = fs::read_to_string(&file).expect("a source can be read");
            let (module, own_tests) = read(&text, &path);
            tests.extend(own_tests.into_iter().map(|name| [path.as_slice(), &[name]].concat()));
            modules.insert(path, module);
        }
        modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
        Modules(modules)
    }

    /// Returns the module that defines `path`, following re-exports.
    fn definer(&self, path: &[String], fuel: usize) -> Option<ItemPath> {
        let at = (0..=path.len()).rev().find(|&at| self.0.contains_key(&path[..at]))?;
        let (owner, module) = (&path[..at], &self.0[&path[..at]]);
        let Some(name) = path.get(at).filter(|_| fuel > 0) else { return Some(owner.to_vec()) };
        if module.defined.contains(name) {
            return Some(owner.to_vec());
        }
        if let Some(target) = module.imported.get(name) {
            return self.definer(&[target, &path[at + 1..]].concat(), fuel - 1);
        }
        let mut globs = module.globs.iter().filter(|glob| **glob != owner);
        let through = globs.find_map(|glob| {
            let definer = self.definer(&[glob, &path[at..]].concat(), fuel - 1)?;
            self.0[&definer].defined.contains(name).then_some(definer)
        });
        Some(through.unwrap_or_else(|| owner.to_vec()))
    }

    /// Returns the imports of each module, except those of the modules that contain it.
    fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let text = |path: &[String]| match path {
            [] => "crate".to_owned(),
            path => path.join("::"),
        };
        let imports = self.0.iter().map(|(path, module)| {
            let targets = module.named.iter().filter_map(|named| self.definer(named, 8));
            let targets = targets.filter(|target| !path.starts_with(target));
            (text(path), targets.map(|target| text(&target)).collect())
        });
        imports.collect()
    }
}

/// Returns the strongly connected components with cycles.
fn cycles(imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|module| {
            let (mut reached, mut todo) = (BTreeSet::new(), vec![module.as_str()]);
            while let Some(module) = todo.pop() {
                for next in imports.get(module).into_iter().flatten() {
                    if reached.insert(next.as_str()) {
                        todo.push(next);
                    }
                }
            }
            (module.as_str(), reached)
        })
        .collect();
    let group = |module: &str| -> BTreeSet<&str> {
        let others = reached[module].iter().copied();
        others.filter(|other| reached[other].contains(module)).collect()
    };
    reached.keys().map(|module| group(module)).filter(|group| !group.is_empty()).collect()
}

#[test]
fn modules_of_a_crate_have_no_import_cycles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut found = String::new();
    for folder in CRATES {
        let imports = Modules::read(&root.join(folder).join("src")).imports();
        for cycle in cycles(&imports) {
            found += &format!("{folder}: {} modules\n", cycle.len());
            for from in &cycle {
                let targets = imports[*from].iter().filter(|to| cycle.contains(to.as_str()));
                for to in targets {
                    found += &format!("    {from} -> {to}\n");
                }
            }
        }
    }
    assert!(found.is_empty(), "modules import each other in cycles:\n{found}");
}
