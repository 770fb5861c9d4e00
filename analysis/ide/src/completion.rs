//! Completion.
//!
//! The list is bounded: of 14,500 variables in scope, only the nearest that match are returned, and
//! the list is marked incomplete so that the client requests it again after the next character.

mod attributes;
mod fits;
mod names;
mod resolve;
mod snippets;
mod usage;
mod variables;

pub(crate) use attributes::{describe, operator_of};
pub(crate) use names::type_ending_at;
pub use resolve::{Lookup, documentation};
use semantics::{Db, Module, SourceFile, View, modules};
use syntax::{Node, Source, TextRange, TextSize};
use types::{DataType, Dim, Type};

use self::variables::Uses;
use crate::{
    cursor::{CallSite, Cursor, Expectation, MarkedTree, def_around},
    fuzzy,
    locals::locals,
    words,
};

/// The maximal number of entries in a list.
pub const MAX_ITEMS: usize = 200;
/// The part of a version header that is completed.
const HEADER_START: &str = "#[version";
/// The maximal length of [`Item::summary`].
const MAX_SUMMARY: usize = 40;

/// The data types, the most common first.
const DATA_TYPES: &[&str] = &[
    "float32", "int32", "int64", "bool", "float16", "int8", "uint8", "bfloat16", "float64",
    "int16", "uint16", "uint32", "uint64",
];

/// The completions at an offset.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Completions {
    /// The range that an entry replaces.
    pub replace: TextRange,
    /// The entries, the best first.
    pub items: Vec<Item>,
    /// True if entries were omitted.
    pub incomplete: bool,
    /// True if the entries are values of an attribute.
    pub is_attribute_value: bool,
}

/// A completion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// The label: `%x`, `nn.conv2d`, `padding=`.
    pub label: String,
    /// The kind, which decides the icon.
    pub kind: ItemKind,
    /// The type or signature, on one line.
    pub detail: Option<String>,
    /// A short type or signature for the space beside the label: `1×3×224×224 f32`,
    /// `(data, weight)`.
    pub summary: Option<String>,
    /// The text to insert, with placeholders `$1` and `${2:name}` if `is_snippet`.
    pub insert: String,
    /// True if `insert` is a snippet.
    pub is_snippet: bool,
    /// The key for [`documentation`].
    pub lookup: Option<Lookup>,
    /// The match, class and order within the class; lower is better.
    rank: (u8, u8, u32),
}

/// The kind of a completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ItemKind {
    /// `%x`
    Variable,
    /// `@f`
    Function,
    /// `nn.conv2d`
    Operator,
    /// `Cons`
    Constructor,
    /// `padding=`
    Attribute,
    /// `"NCHW"`
    Value,
    /// `List`, `float32`
    Type,
    /// `let`
    Keyword,
    /// A text with placeholders.
    Snippet,
    /// `.0`
    Field,
}

/// The capabilities of the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// True if the client supports snippets.
    pub snippets: bool,
}

/// Returns the completions at `offset`.
pub fn completions(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
    abilities: Abilities,
) -> Completions {
    let parse = file.parse(db);
    if let Some(replace) = begun_header(Node::root(&parse.green), offset) {
        let items = vec![snippets::version_header()];
        return Completions { replace, items, ..Completions::default() };
    }
    let Some(marked) = MarkedTree::new(&parse, offset) else {
        return Completions { replace: TextRange::empty(offset), ..Completions::default() };
    };
    let cursor = marked.cursor();
    let def = def_around(db, file, offset);
    let module = def.map(|(module, _)| module).or_else(|| modules(db, file).first().copied());
    let view = def.and_then(|(_, def)| View::new(db, def));
    let mut list = List {
        db,
        module,
        view: view.as_ref(),
        offset,
        abilities,
        typed: cursor.prefix.to_lowercase(),
        items: Vec::new(),
    };
    list.fill(&cursor);
    let mut items = list.items;
    // Labels break ties, so that lists are deterministic.
    items.sort_by(|a, b| (a.rank, &a.label).cmp(&(b.rank, &b.label)));
    let incomplete = items.len() > MAX_ITEMS;
    items.truncate(MAX_ITEMS);
    let is_attribute_value = matches!(cursor.expected, Expectation::AttrValue { .. });
    Completions { replace: cursor.word, items, incomplete, is_attribute_value }
}

/// Returns the range of a version header that was begun at the start of a line: `#`, `#[`, `#[ver`, with the
/// bracket that an editor closes. The parser reads no name in it.
fn begun_header(root: Node<'_>, offset: TextSize) -> Option<TextRange> {
    let part = |start: TextSize, end: TextSize| root.part(start.into()..end.into());
    let start = (1..=HEADER_START.len() as u32).find_map(|back| {
        let start = offset.checked_sub(back.into())?;
        let typed = part(start, offset)?;
        (typed.starts_with('#') && HEADER_START.starts_with(&*typed)).then_some(start)
    })?;
    let begins_line = match start.checked_sub(1.into()) {
        Some(before) => part(before, start).as_deref() == Some("\n"),
        None => true,
    };
    let after = offset + TextSize::of(']');
    let closes =
        usize::from(after) <= root.byte_len() && part(offset, after).as_deref() == Some("]");
    begins_line.then(|| TextRange::new(start, if closes { after } else { offset }))
}

/// A builder of a list of completions.
struct List<'a, 'db> {
    db: &'db dyn Db,
    module: Option<Module<'db>>,
    view: Option<&'a View<'db>>,
    offset: TextSize,
    abilities: Abilities,
    /// The prefix of the word before the cursor, in lower case.
    typed: String,
    items: Vec<Item>,
}

/// Returns how well a name matches the typed prefix: 0 if it starts with it, 1 if one of its parts
/// does, 2 if it contains the letters in order, `None` if it does not match.
fn fit(typed: &str, name: &str) -> Option<u8> {
    if typed.is_empty() {
        return Some(0);
    }
    let bare = typed.trim_start_matches(['%', '@']);
    if typed.len() > bare.len() && !name.starts_with(&typed[..1]) {
        return None;
    }
    // `%` alone matches every variable; this avoids a copy of each name.
    if bare.is_empty() {
        return Some(0);
    }
    let lower = name.to_lowercase();
    let name = lower.trim_start_matches(['%', '@']);
    if name.starts_with(bare) {
        return Some(0);
    }
    if bare.contains('.') {
        return None;
    }
    if name.split(['.', '_', '/']).any(|part| part.starts_with(bare)) {
        return Some(1);
    }
    let mut letters = bare.chars().peekable();
    for letter in name.chars() {
        letters.next_if_eq(&letter);
    }
    // A single letter occurs in nearly every name.
    (letters.peek().is_none() && bare.len() > 1).then_some(2)
}

impl List<'_, '_> {
    /// Adds an entry if it matches the typed prefix. `class` orders kinds of entries, `order` those
    /// of one kind.
    fn add(&mut self, class: u8, order: u32, item: Item) {
        if let Some(fit) = fit(&self.typed, &item.label) {
            let order = self.order(fit, &item.label, order);
            self.items.push(Item { rank: (fit, class, order), ..item });
        }
    }

    /// Returns the order of an entry within its class: the fuzzy score for a subsequence match,
    /// which prefers consecutive letters and starts of words, otherwise `order`.
    fn order(&self, fit: u8, name: &str, order: u32) -> u32 {
        if fit < 2 {
            return order;
        }
        u32::MAX - fuzzy::score(&self.typed, name).unwrap_or(0)
    }

    /// Returns an entry that inserts a snippet, if the client supports them.
    fn expanded(&self, entry: Item, snippet: String) -> Item {
        match self.abilities.snippets {
            true => Item { insert: snippet, is_snippet: true, ..entry },
            false => entry,
        }
    }

    fn fill(&mut self, cursor: &Cursor<'_>) {
        let call = cursor.calls.first();
        match &cursor.expected {
            Expectation::Nothing => {}
            Expectation::Item => self.items_of_module(),
            Expectation::Statement => {
                self.values(cursor, None);
                self.statement_keywords();
                self.expr_keywords();
            }
            Expectation::Expr { attribute } => {
                if *attribute && let Some(call) = call {
                    self.attributes(call);
                }
                self.values(cursor, call.filter(|_| *attribute));
                self.expr_keywords();
            }
            Expectation::AttrValue { name, in_list, in_string } => {
                self.attribute_values(call, name, *in_list, *in_string);
            }
            Expectation::Pattern => self.patterns(),
            Expectation::Type => self.types(),
            Expectation::Shape => self.shapes(),
            Expectation::DataType => self.data_types(0),
            Expectation::Field(dot) => self.fields(*dot),
        }
    }

    /// Adds expressions. They are an argument of `call`, if given.
    fn values(&mut self, cursor: &Cursor<'_>, call: Option<&CallSite<'_>>) {
        let sigil = self.typed.chars().next();
        let has_args = cursor.next == Some(syntax::SyntaxKind::L_PAREN);
        let known = self.view.map(|view| locals(view, self.offset, cursor.bound));
        let known = known.unwrap_or_default();
        let mut uses = Uses::default();
        if sigil != Some('@') {
            uses = Uses::of(self, cursor);
            self.variables(&known, &uses, call);
        }
        if sigil != Some('%') {
            self.globals(has_args);
        }
        if !matches!(sigil, Some('%' | '@')) {
            self.constructors(has_args);
            self.operators(&known, &uses, cursor);
        }
    }
}

/// Returns an entry that inserts its label.
fn item(label: impl Into<String>, kind: ItemKind) -> Item {
    let label = label.into();
    Item {
        insert: label.clone(),
        label,
        kind,
        detail: None,
        summary: None,
        is_snippet: false,
        lookup: None,
        rank: (0, 0, 0),
    }
}

/// Returns a short form of a type: `1×3×224×224 f32`, `(4 f32, i32)`.
fn brief(ty: &Type) -> String {
    match ty {
        Type::Tensor(tensor) => {
            let shape: Vec<String> = tensor.shape.iter().map(Dim::to_string).collect();
            let dtype = brief_data_type(tensor.dtype);
            let text =
                if shape.is_empty() { dtype } else { format!("{} {dtype}", shape.join("×")) };
            words::bounded(text, MAX_SUMMARY).0
        }
        Type::Tuple(fields) if fields.len() <= 3 => {
            let fields: Vec<String> = fields.iter().map(brief).collect();
            words::bounded(format!("({})", fields.join(", ")), MAX_SUMMARY).0
        }
        Type::Tuple(fields) => format!("{} fields", fields.len()),
        Type::Error | Type::Var(_) => "_".to_owned(),
        other => words::bounded(other, MAX_SUMMARY).0,
    }
}

/// Returns a short form of a data type: `f32`, `i8`, `bool`.
fn brief_data_type(dtype: DataType) -> String {
    let text = dtype.to_string();
    for (long, short) in [("float", "f"), ("uint", "u"), ("int", "i")] {
        if let Some(bits) = text.strip_prefix(long) {
            return format!("{short}{bits}");
        }
    }
    text
}

/// Returns placeholders for a snippet, from number `first` on: `${1:%x}`, `${2:%y}`.
fn holes(first: usize, names: &[String]) -> Vec<String> {
    let numbered = (first..).zip(names);
    numbered.map(|(number, name)| format!("${{{number}:{}}}", escaped(name))).collect()
}

/// Escapes text for a snippet.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

#[cfg(test)]
mod tests;
