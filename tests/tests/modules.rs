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

use syn::{
    Attribute, Ident, Item, ItemMod, ItemUse, UseTree, Visibility,
    buffer::{Cursor, TokenBuffer},
    visit::{self, Visit},
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

/// Returns the names in a `use` declaration, each with its path; `*` for all names of a module.
fn imported(tree: &UseTree, prefix: &[String], found: &mut Vec<(ItemPath, String)>) {
    let joined = |name: &Ident| [prefix, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => imported(&path.tree, &joined(&path.ident), found),
        // `a::{self}` imports `a`.
        UseTree::Name(name) if name.ident == "self" && !prefix.is_empty() => {
            found.push((prefix.to_vec(), prefix[prefix.len() - 1].clone()));
        }
        UseTree::Name(name) => found.push((joined(&name.ident), name.ident.to_string())),
        UseTree::Rename(name) if name.ident == "self" && !prefix.is_empty() => {
            found.push((prefix.to_vec(), name.rename.to_string()));
        }
        UseTree::Rename(name) => found.push((joined(&name.ident), name.rename.to_string())),
        UseTree::Glob(_) => found.push((prefix.to_vec(), "*".to_owned())),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| imported(tree, prefix, found));
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

/// Returns true for `#[cfg(test)]`.
fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("cfg")
            && attr.parse_args::<Ident>().is_ok_and(|condition| condition == "test")
    })
}

/// Returns the attributes of an item, and the name that it defines.
fn described(item: &Item) -> (&[Attribute], Option<&Ident>) {
    match item {
        Item::Const(item) => (&item.attrs, Some(&item.ident)),
        Item::Enum(item) => (&item.attrs, Some(&item.ident)),
        Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
        Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
        Item::Static(item) => (&item.attrs, Some(&item.ident)),
        Item::Struct(item) => (&item.attrs, Some(&item.ident)),
        Item::Trait(item) => (&item.attrs, Some(&item.ident)),
        Item::Type(item) => (&item.attrs, Some(&item.ident)),
        Item::Union(item) => (&item.attrs, Some(&item.ident)),
        Item::Impl(item) => (&item.attrs, None),
        Item::Mod(item) => (&item.attrs, None),
        Item::Use(item) => (&item.attrs, None),
        _ => (&[], None),
    }
}

/// Reads the source of a module.
struct Reader {
    module: Module,
    /// The path of the module, and of the inline module in which the reader is.
    here: ItemPath,
    /// The modules that the source declares.
    children: BTreeSet<String>,
    /// Those of them that are for tests.
    tests: Vec<String>,
    /// The names that the module re-exports, with their paths.
    reexports: Vec<(String, ItemPath)>,
    /// The first names of all paths.
    words: BTreeSet<String>,
}

impl Reader {
    fn path(&mut self, names: &[String]) {
        self.words.extend(names.first().cloned());
        if names.len() > 1 {
            self.module.named.extend(absolute(names, &self.here, &self.children));
        }
    }

    /// Reads the paths in the arguments or the body of a macro, which has no tree.
    fn tokens<'a>(&mut self, mut rest: Cursor<'a>) {
        while !rest.eof() {
            if let Some((inner, _, _, after)) = rest.any_group() {
                self.tokens(inner);
                rest = after;
            } else if rest.ident().is_some() {
                let mut names = Vec::new();
                while let Some((name, after)) = rest.ident() {
                    names.push(name.to_string());
                    rest = after;
                    let colon =
                        |at: Cursor<'a>| at.punct().filter(|(sign, _)| sign.as_char() == ':');
                    let colons = colon(rest).and_then(|(_, after)| colon(after));
                    match colons.filter(|(_, after)| after.ident().is_some()) {
                        Some((_, after)) => rest = after,
                        None => break,
                    }
                }
                self.path(&names);
            } else if let Some((_, after)) = rest.token_tree() {
                rest = after;
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attrs, name) = described(item);
        if !is_for_tests(attrs) {
            self.module.defined.extend(name.map(Ident::to_string));
            visit::visit_item(self, item);
        } else if let Item::Mod(item) = item
            && item.content.is_none()
        {
            self.tests.push(item.ident.to_string());
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.here.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.here.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut found = Vec::new();
        imported(&item.tree, &[], &mut found);
        for (path, name) in found {
            let Some(target) = absolute(&path, &self.here, &self.children) else { continue };
            if name == "*" {
                self.module.globs.push(target.clone());
            } else {
                self.module.imported.insert(name.clone(), target.clone());
            }
            match item.vis {
                Visibility::Inherited => self.module.named.push(target),
                _ => self.reexports.push((name, target)),
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.path(&names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(TokenBuffer::new2(call.tokens.clone()).begin());
    }

    // `pub(in crate::a)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}
}

/// Reads a source. Returns the module, and the names of the modules that are tests.
fn read(text: &str, path: &[String]) -> (Module, Vec<String>) {
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let declared = file.items.iter().filter_map(|item| match item {
        Item::Mod(item) => Some(item.ident.to_string()),
        _ => None,
    });
    let mut reader = Reader {
        module: Module::default(),
        here: path.to_vec(),
        children: declared.collect(),
        tests: Vec::new(),
        reexports: Vec::new(),
        words: BTreeSet::new(),
    };
    reader.visit_file(&file);
    let Reader { mut module, tests, reexports, words, .. } = reader;
    // A re-export is not a dependency, unless the module uses it.
    let used = reexports.into_iter().filter(|(name, _)| words.contains(name));
    module.named.extend(used.map(|(_, target)| target));
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
