//! Items: the modules of a file, and the definitions of a module.
//!
//! The tree of a definition and its offset are separate fields. When a definition moves, only the
//! queries that compute places in the file run again, and not those that read the tree.

#![expect(missing_docs, reason = "what salsa generates carries no documentation")]

use rustc_hash::FxHashMap;
use syntax::{
    Element, GreenNode, GreenNodeData, GreenTokenData, Node, NodeOrToken, SyntaxKind, TextRange,
    TextSize, Token,
    ast::{self, AstNode},
};

use crate::{
    body::Name,
    db::{Db, SourceFile},
    key::DefKey,
};

pub use crate::key::DefKind;

type GreenChild<'t> = NodeOrToken<&'t GreenNodeData, &'t GreenTokenData>;

/// The tree of an item.
#[derive(Clone, Debug)]
pub struct ItemGreen(pub GreenNode);

impl PartialEq for ItemGreen {
    fn eq(&self, other: &ItemGreen) -> bool {
        let (a, b) = (&*self.0, &*other.0);
        let pairs = || a.children().zip(b.children());
        let is_shared = |(a, b): (GreenChild<'_>, GreenChild<'_>)| match (a, b) {
            (NodeOrToken::Node(a), NodeOrToken::Node(b)) => std::ptr::eq(a, b),
            _ => false,
        };
        if !pairs().any(is_shared) {
            // A full parse shares no nodes with the previous one.
            return is_same_tree(a, b);
        }
        // A reparse shares the nodes that it did not parse again, and the others differ.
        let is_same = |(a, b): (GreenChild<'_>, GreenChild<'_>)| match (a, b) {
            (NodeOrToken::Token(a), NodeOrToken::Token(b)) => std::ptr::eq(a, b) || a == b,
            pair => is_shared(pair),
        };
        std::ptr::eq::<GreenNodeData>(a, b)
            || a.kind() == b.kind()
                && a.children().len() == b.children().len()
                && pairs().all(is_same)
    }
}

/// Returns true if two trees are equal. Equality of green nodes does not begin with their addresses,
/// and compares all of a tree in which one letter was replaced. The recursion is as deep as the tree,
/// which the parser bounds.
fn is_same_tree(a: &GreenNodeData, b: &GreenNodeData) -> bool {
    std::ptr::eq(a, b)
        || a.kind() == b.kind()
            && a.text_len() == b.text_len()
            && a.children().len() == b.children().len()
            && a.children().zip(b.children()).all(|pair| match pair {
                (NodeOrToken::Node(a), NodeOrToken::Node(b)) => {
                    std::ptr::eq(a, b) || is_same_tree(a, b)
                }
                (NodeOrToken::Token(a), NodeOrToken::Token(b)) => std::ptr::eq(a, b) || a == b,
                _ => false,
            })
}

impl Eq for ItemGreen {}

/// An item of a module.
#[salsa::tracked(debug)]
pub struct Def<'db> {
    /// The file that holds it.
    #[returns(copy)]
    pub file: SourceFile,
    /// The number of its module in the file.
    #[returns(copy)]
    pub module: u32,
    /// The kind of the item.
    #[returns(copy)]
    pub kind: DefKind,
    /// Its name, with the sigil.
    #[returns(ref)]
    pub name: Name,
    /// The number of items with its kind and name that precede it in the module.
    #[returns(copy)]
    pub occurrence: u32,
    /// Its index among the children of the file.
    #[tracked]
    #[returns(copy)]
    place: u32,
    /// Its offset in the file.
    #[tracked]
    #[returns(copy)]
    pub start: TextSize,
}

/// The tree of a definition. It is a query rather than a field, because salsa keeps the fields of a
/// deleted definition until its slot is reused, and a missing `"` makes one item of half a module.
#[salsa::tracked(returns(ref))]
fn tree<'db>(db: &'db dyn Db, def: Def<'db>) -> ItemGreen {
    let parse = def.file(db).parse(db);
    let element = parse.green.children().nth(def.place(db) as usize);
    let node = element.and_then(NodeOrToken::into_node).map(ToOwned::to_owned);
    ItemGreen(node.unwrap_or_else(|| GreenNode::new(SyntaxKind::ERROR.into(), [])))
}

impl<'db> Def<'db> {
    /// The item's tree.
    pub fn green(self, db: &'db dyn Db) -> &'db GreenNode {
        &tree(db, self).0
    }

    /// Returns the tree with offsets from the start of the item.
    pub fn node(self, db: &'db dyn Db) -> Node<'db> {
        Node::root(self.green(db))
    }

    pub(crate) fn key(self, db: &'db dyn Db) -> DefKey {
        DefKey {
            module: self.module(db),
            kind: self.kind(db),
            name: self.name(db).clone(),
            occurrence: self.occurrence(db),
        }
    }

    /// Returns the range of the name, relative to the start of the definition.
    pub fn name_range(self, db: &'db dyn Db) -> TextRange {
        let node = self.node(db);
        let name = node.child(SyntaxKind::NAME);
        name.map_or(TextRange::empty(TextSize::new(0)), |name| name.range())
    }

    /// Returns the range of the definition in the file.
    pub fn range(self, db: &'db dyn Db) -> TextRange {
        TextRange::at(self.start(db), self.green(db).text_len())
    }
}

/// A module: a whole file, or one of the modules of a log.
#[salsa::tracked(debug)]
pub struct Module<'db> {
    /// The file that holds it.
    #[returns(copy)]
    pub file: SourceFile,
    /// Its number in the file.
    #[returns(copy)]
    pub number: u32,
    /// Its items, in order.
    #[tracked]
    #[returns(ref)]
    pub items: Vec<Def<'db>>,
}

/// The modules of a file, at least one unless it is closed.
#[salsa::tracked(returns(ref))]
pub fn modules(db: &dyn Db, file: SourceFile) -> Vec<Module<'_>> {
    if file.is_closed(db) {
        return Vec::new();
    }
    let parse = file.parse(db);
    let root = Node::root(&parse.green);
    let mut modules = Vec::new();
    let mut items: Vec<Def<'_>> = Vec::new();
    let mut seen: FxHashMap<(DefKind, Name), u32> = FxHashMap::default();
    let mut number = 0;
    // The first function of the module.
    let mut first: Option<(Name, Node<'_>)> = None;
    // True if a comment before the next item may be the title of a module.
    let mut marked = false;
    let mut at_line_start = true;
    for (place, element) in (0..).zip(root.elements()) {
        let node = match element {
            Element::Node(node) => node,
            Element::Token(token) => {
                let is_space = token.kind() == SyntaxKind::WHITESPACE;
                marked |= at_line_start && !is_space && is_mark(token.kind(), token.text());
                at_line_start = is_space && token.text().ends_with('\n');
                continue;
            }
        };
        at_line_start = false;
        let (kind, name) = match node.kind() {
            SyntaxKind::FN_DEF => (DefKind::Fn, ast::FnDef::cast(node).and_then(|d| d.name())),
            SyntaxKind::TYPE_DEF => {
                (DefKind::Type, ast::TypeDef::cast(node).and_then(|d| d.name()))
            }
            SyntaxKind::EXPR_ITEM => (DefKind::Expr, None),
            SyntaxKind::TIR_ITEM => (DefKind::Tir, None),
            SyntaxKind::METADATA_ITEM => (DefKind::Metadata, None),
            SyntaxKind::VERSION => (DefKind::Version, None),
            SyntaxKind::BANNER_ITEM => {
                if !items.is_empty() {
                    modules.push(Module::new(db, file, number, std::mem::take(&mut items)));
                    seen.clear();
                    first = None;
                    number += 1;
                }
                continue;
            }
            _ => continue,
        };
        let name = match kind {
            DefKind::Tir => tir_name(node),
            // `def main(…)` and `def %main(…)` define `@main`, with an error about the sigil.
            DefKind::Fn => name.map(|name| defined_name(&name.text())).unwrap_or_default(),
            _ => name.map(|name| Name::new(name.text())).unwrap_or_default(),
        };
        // Two modules without headers: `# before` and `# after` are above them, or the first function of a printed
        // module is printed once more.
        let marked = std::mem::take(&mut marked);
        let is_repeated = |name: &Name| seen.contains_key(&(kind, name.clone()));
        let is_reprinted = || {
            let same = first.as_ref().filter(|(first, _)| *first == name);
            same.is_some_and(|(_, first)| is_printed(*first) && is_printed(node))
        };
        let begins_module = match kind {
            DefKind::Version => !items.is_empty(),
            DefKind::Fn => marked && is_repeated(&name) || is_reprinted(),
            _ => false,
        };
        if begins_module {
            modules.push(Module::new(db, file, number, std::mem::take(&mut items)));
            seen.clear();
            first = None;
            number += 1;
        }
        if kind == DefKind::Fn && first.is_none() {
            first = Some((name.clone(), node));
        }
        let occurrence = seen.entry((kind, name.clone())).or_insert(0);
        let def = Def::new(db, file, number, kind, name, *occurrence, place, node.start());
        *occurrence += 1;
        items.push(def);
    }
    modules.push(Module::new(db, file, number, items));
    modules
}

/// Returns the name of a function with the sigil of globals.
fn defined_name(text: &str) -> Name {
    match text.strip_prefix('%') {
        Some(bare) => format!("@{bare}").into(),
        None if text.starts_with(|c: char| c.is_alphabetic()) => format!("@{text}").into(),
        None => Name::new(text),
    }
}

/// Returns true for a comment that is the title of a module, as somebody writes it who prints two of them:
/// `# before`, `// after FuseOps`.
fn is_mark(kind: SyntaxKind, comment: &str) -> bool {
    const TITLES: &[&str] =
        &["before", "after", "original", "optimized", "input", "output", "module", "pass ", "="];
    if !matches!(kind, SyntaxKind::LINE_COMMENT | SyntaxKind::HASH_COMMENT) {
        return false;
    }
    let heading = comment.trim_start_matches(['/', '#', '-', ' ']).to_ascii_lowercase();
    TITLES.iter().any(|begin| heading.starts_with(begin))
}

/// Returns true for a definition with comments about types, as TVM prints them and nobody writes them.
fn is_printed(node: Node<'_>) -> bool {
    let is_about_type = |token: Token<'_>| {
        matches!(token.kind(), SyntaxKind::BLOCK_COMMENT | SyntaxKind::HASH_COMMENT)
            && token.text().contains("ty=")
    };
    node.descendants().any(|node| node.tokens().any(is_about_type))
}

/// Returns the name of a TIR function as Relay code calls it.
fn tir_name(node: Node<'_>) -> Name {
    let text = ast::TirItem::cast(node).and_then(|tir| tir.text()).map(|t| t.text());
    let text = text.unwrap_or_default();
    // `@main = primfn(…)`, or a Python function below its decorator.
    if let Some((name, _)) = text.split_once(" = primfn") {
        return name.trim().into();
    }
    let name = text.lines().find_map(|line| line.trim_start().strip_prefix("def "));
    let name = name.and_then(|rest| rest.split(['(', ' ']).next()).unwrap_or_default();
    format!("@{name}").into()
}

/// Returns the module with number `number`.
pub fn module(db: &dyn Db, file: SourceFile, number: u32) -> Option<Module<'_>> {
    modules(db, file).get(number as usize).copied()
}

/// Returns the definition at an offset of a file, with its module. If two touch there, it is the one
/// that begins there.
pub fn def_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<(Module<'_>, Def<'_>)> {
    let modules = modules(db, file);
    // Only the last module can be empty, and begins at the end of the file.
    let begins =
        |module: &Module<'_>| module.items(db).first().is_some_and(|d| d.start(db) <= offset);
    let module = *modules.get(modules.partition_point(begins).checked_sub(1)?)?;
    let items = module.items(db);
    let def = *items.get(items.partition_point(|def| def.start(db) <= offset).checked_sub(1)?)?;
    def.range(db).contains_inclusive(offset).then_some((module, def))
}
