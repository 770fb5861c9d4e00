//! Document and workspace symbols.
//!
//! The outline has definitions, constructors, named inner functions and layers, but not all bindings: with 14,500 of
//! them it would be useless and megabytes in size.

mod layers;
mod spans;

use std::fmt::Display;

use semantics::{
    Db, Def, DefKind, SourceFile, View,
    body::{Expr, UnitKind},
    modules, type_def,
};
use syntax::{
    Node, Parse, TextRange,
    ast::{self, AstNode},
};

pub use layers::listed_layers;
pub use spans::listed_spans;
use types::FuncType;

use crate::{layers::Grouping, place::trimmed, words};

/// An entry of the outline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutlineEntry {
    /// The name.
    pub name: String,
    /// The type, shortened.
    pub detail: Option<String>,
    /// The kind.
    pub kind: SymbolKind,
    /// The range of the item.
    pub full: TextRange,
    /// The range of the name.
    pub focus: TextRange,
    /// The nested entries.
    pub children: Vec<OutlineEntry>,
}

/// The kind of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// One module of several in a log.
    Module,
    /// `def @f`, and functions bound to a name.
    Function,
    /// `type T`
    Type,
    /// A constructor.
    Constructor,
    /// A bare expression.
    Expression,
    /// A layer of a function, or its repetitions.
    Layer,
    /// A TIR function.
    Tir,
    /// The metadata section.
    Metadata,
}

impl OutlineEntry {
    /// Returns an entry without a detail and without nested entries.
    fn new(name: String, kind: SymbolKind, full: TextRange, focus: TextRange) -> OutlineEntry {
        OutlineEntry { name, detail: None, kind, full, focus, children: Vec::new() }
    }
}

/// The maximal length of [`OutlineEntry::detail`], in characters.
const MAX_DETAIL: usize = 80;

/// Returns the outline of a file, with the layers of functions that the evidence `grouping` tells.
pub fn outline(db: &dyn Db, file: SourceFile, grouping: Grouping) -> Vec<OutlineEntry> {
    let mut outline = definitions(db, file);
    layers::add(db, file, grouping, &mut outline);
    outline
}

/// Returns the outline without layers.
fn definitions(db: &dyn Db, file: SourceFile) -> Vec<OutlineEntry> {
    let modules = modules(db, file);
    let mut outlines = modules.iter().map(|module| {
        let items = module.items(db).iter();
        items.filter_map(|&def| def_symbol(db, def)).collect::<Vec<_>>()
    });
    if modules.len() == 1 {
        return outlines.next().unwrap_or_default();
    }
    let numbered = modules.iter().zip(outlines).enumerate();
    numbered
        .filter_map(|(number, (module, children))| {
            let items = module.items(db);
            let (first, last) = (items.first()?, items.last()?);
            let full = TextRange::new(first.start(db), last.range(db).end());
            let (name, focus) = (format!("module {}", number + 1), TextRange::empty(full.start()));
            let module = OutlineEntry::new(name, SymbolKind::Module, full, focus);
            Some(OutlineEntry { children, ..module })
        })
        .collect()
}

fn def_symbol(db: &dyn Db, def: Def<'_>) -> Option<OutlineEntry> {
    let full = def.range(db);
    let name_range = def.name_range(db) + def.start(db);
    let focus = if full.contains_range(name_range) && !name_range.is_empty() {
        name_range
    } else {
        TextRange::empty(full.start())
    };
    let name = def.name(db).to_string();
    let symbol = |name: String, kind| {
        let name = if name.is_empty() { "…".into() } else { name };
        OutlineEntry::new(name, kind, full, focus)
    };
    Some(match def.kind(db) {
        DefKind::Version => return None,
        DefKind::Tir => symbol(name, SymbolKind::Tir),
        DefKind::Metadata => {
            let bytes = u32::from(full.len()) as u64;
            let detail = Some(words::bytes(bytes));
            OutlineEntry { detail, ..symbol("#[metadata]".into(), SymbolKind::Metadata) }
        }
        DefKind::Type => {
            let data = type_def(db, def);
            let constructors = data.iter().flat_map(|data| data.constructors());
            let children = constructors.map(|(constructor, range)| {
                let range = range + def.start(db);
                let fields: Vec<String> =
                    constructor.fields.iter().map(|field| field.to_string()).collect();
                let detail =
                    (!fields.is_empty()).then(|| short(format_args!("({})", fields.join(", "))));
                let (name, kind) = (constructor.name.to_string(), SymbolKind::Constructor);
                OutlineEntry { detail, ..OutlineEntry::new(name, kind, range, range) }
            });
            let children = children.collect();
            OutlineEntry { children, ..symbol(name, SymbolKind::Type) }
        }
        DefKind::Fn | DefKind::Expr => {
            let view = View::new(db, def)?;
            let is_fn = def.kind(db) == DefKind::Fn;
            let detail = view.inference.signature.as_ref().map(|ty| match ty.signature() {
                Some(func) if is_fn => signature_text(&func.func),
                _ => short(ty),
            });
            let children = functions_in(&view);
            let symbol = match is_fn {
                true => symbol(name, SymbolKind::Function),
                false => symbol("expression".into(), SymbolKind::Expression),
            };
            OutlineEntry { detail, children, ..symbol }
        }
    })
}

/// Returns a short form of a signature: `2 parameters → int32`.
fn signature_text(func: &FuncType) -> String {
    let params = match func.params().len() {
        1 => "1 parameter".to_owned(),
        n => format!("{n} parameters"),
    };
    short(format_args!("{params} → {}", func.ret()))
}

/// A workspace symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolEntry {
    /// The name with its sigil.
    pub name: String,
    /// The kind.
    pub kind: SymbolKind,
    /// The range of the name.
    pub range: TextRange,
    /// The data type of a constructor, the function of a layer.
    pub of: Option<String>,
}

/// Returns the definitions in a syntax tree. It runs no query, so that the tree need not be kept.
pub fn listed(parse: &Parse) -> Vec<SymbolEntry> {
    let mut found = Vec::new();
    let mut add = |name: Option<ast::Name<'_>>, kind, of: Option<&str>| {
        let Some(name) = name else { return };
        let (text, range) = (name.text().into_owned(), trimmed(name.node()));
        if !text.is_empty() {
            found.push(SymbolEntry { name: text, kind, range, of: of.map(str::to_owned) });
        }
    };
    for item in Node::root(&parse.green).children() {
        if let Some(def) = ast::FnDef::cast(item) {
            add(def.name(), SymbolKind::Function, None);
        } else if let Some(def) = ast::TypeDef::cast(item) {
            add(def.name(), SymbolKind::Type, None);
            let owner = def.name().map(|name| name.text().into_owned());
            for constructor in def.constructors().into_iter().flat_map(|list| list.constructors()) {
                add(constructor.name(), SymbolKind::Constructor, owner.as_deref());
            }
        }
    }
    found
}

/// Returns the functions that are bound to a name in a definition.
fn functions_in(view: &View<'_>) -> Vec<OutlineEntry> {
    let mut found = Vec::new();
    for (number, unit) in view.body.units() {
        if !matches!(unit.kind, UnitKind::Let | UnitKind::Graph) {
            continue;
        }
        let (Some(bound), Some(root)) = (unit.binds, unit.root) else { continue };
        if !matches!(unit.expr(root), Expr::Fn(_)) {
            continue;
        }
        let binder = unit.binder(bound);
        let ty = view.unit_types(number).binder(bound);
        let detail = ty.signature().map(|func| signature_text(&func.func));
        let (full, focus) = (view.unit_range(number), view.place(number, binder.range));
        let function =
            OutlineEntry::new(binder.name.to_string(), SymbolKind::Function, full, focus);
        found.push(OutlineEntry { detail, ..function });
    }
    found
}

/// Formats a detail, truncated to `MAX_DETAIL` characters.
pub(crate) fn short(detail: impl Display) -> String {
    words::shortened(detail, MAX_DETAIL)
}

/// Returns true if the ranges of all entries are inside those of their parents, as LSP requires.
#[cfg(test)]
fn is_nested(symbol: &OutlineEntry) -> bool {
    symbol.full.contains_range(symbol.focus)
        && symbol.children.iter().all(|c| symbol.full.contains_range(c.full) && is_nested(c))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fixture::Fixture;

    fn render(symbols: &[OutlineEntry], depth: usize, out: &mut String) {
        for symbol in symbols {
            assert!(is_nested(symbol));
            let detail = symbol.detail.as_deref().unwrap_or("");
            *out += &format!("{}{:?} {} {detail}\n", "  ".repeat(depth), symbol.kind, symbol.name);
            render(&symbol.children, depth + 1, out);
        }
    }

    #[test]
    fn listed_finds_definitions_and_constructors() {
        let text = "type T { A(int32), B }\ndef @f /* c */ () { 1 }\ndef () {}\n1";
        let listed = listed(&syntax::parse(text));
        let lines: Vec<String> = listed
            .iter()
            .map(|l| format!("{:?} {} {:?} {:?}", l.kind, l.name, l.range, l.of))
            .collect();
        expect![[r#"
            Type T 5..6 None
            Constructor A 9..10 Some("T")
            Constructor B 19..20 Some("T")
            Function @f 27..29 None"#]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn outline_has_definitions_constructors_and_inner_functions() {
        let fixture = Fixture::new(
            "
#[version = \"0.0.5\"]
type List[A] { Cons(A, List[A]), Nil }
def @f(%x: int32, %y: float32) -> int32 {
  let %g = fn (%z: int32) { %z };
  %0 = %g(%x);
  %0
}
",
        );
        let mut out = String::new();
        render(&outline(&fixture.db, fixture.file, Grouping::Names), 0, &mut out);
        expect![[r#"
            Type List 
              Constructor Cons (A, List[A])
              Constructor Nil 
            Function @f 2 parameters → int32
              Function %g 1 parameter → int32
        "#]]
        .assert_eq(&out);
    }
}
