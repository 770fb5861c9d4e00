//! What may be written at a place.
//!
//! The list is short: of 14,500 variables in sight the nearest that fit are offered, and the client
//! asks again when a letter more is there.

mod ahead;
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
use syntax::{Node, TextRange, TextSize};
use types::{DataType, Dim, Type};

use self::variables::Uses;
use crate::{
    cursor::{CallSite, Cursor, Wanted, cursor, def_around},
    fuzzy,
    locals::locals,
    words,
};

/// The most entries in a list.
pub const MAX_ITEMS: usize = 200;
/// The most letters of what stands beside a label.
const LONGEST_SUMMARY: usize = 40;

/// What may be written at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completions {
    /// What is replaced.
    pub replace: TextRange,
    /// The entries, the best first.
    pub items: Vec<Item>,
    /// There are more.
    pub incomplete: bool,
}

/// Something that may be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// How the list shows it: `%x`, `nn.conv2d`, `padding=`.
    pub label: String,
    /// What it is.
    pub kind: ItemKind,
    /// Its type or signature, in a line.
    pub detail: Option<String>,
    /// What a row of the list has room for beside the label: `1×3×224×224 f32`, `(data, weight)`.
    pub summary: Option<String>,
    /// What is inserted; with `$1` and `${2:name}` for places to fill in if `is_snippet`.
    pub insert: String,
    /// The text is a snippet.
    pub is_snippet: bool,
    /// Where its documentation is found.
    pub lookup: Option<Lookup>,
    /// The lower the better.
    rank: (u8, u8, u32),
}

/// What an entry is.
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
    /// A piece of text with places to fill in.
    Snippet,
    /// `.0`
    Field,
}

/// What a client can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// It fills in snippets.
    pub snippets: bool,
}

/// What may be written at `offset`.
pub fn completions(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
    abilities: Abilities,
) -> Completions {
    let parse = file.parse(db);
    let root = Node::root(&parse.green);
    let cursor = cursor(root, offset);
    let def = def_around(db, file, offset);
    let module = def.map(|(module, _)| module).or_else(|| modules(db, file).first().copied());
    let view = def.and_then(|(_, def)| match def.kind(db) {
        semantics::DefKind::Fn | semantics::DefKind::Expr => View::new(db, def),
        _ => None,
    });
    let mut list = List {
        db,
        root,
        module,
        view: view.as_ref(),
        offset,
        abilities,
        typed: cursor.prefix.to_lowercase(),
        items: Vec::new(),
    };
    list.fill(&cursor);
    let mut items = list.items;
    // The rank first: names settle what is equal, so that lists are the same each time.
    items.sort_by(|a, b| (a.rank, &a.label).cmp(&(b.rank, &b.label)));
    let incomplete = items.len() > MAX_ITEMS;
    items.truncate(MAX_ITEMS);
    Completions { replace: cursor.word, items, incomplete }
}

/// Whether a list helps right behind a `=` that was just typed. It does in `axis=`, whose value
/// follows at once; in `let %x =` a space follows first, and an entry that is taken from a list
/// made before it would stand without one.
pub fn is_wanted_after_equals(db: &dyn Db, file: SourceFile, offset: TextSize) -> bool {
    let parse = file.parse(db);
    matches!(cursor(Node::root(&parse.green), offset).wanted, Wanted::AttrValue { .. })
}

/// A list that is being made.
struct List<'a, 'db> {
    db: &'db dyn Db,
    root: Node<'a>,
    module: Option<Module<'db>>,
    view: Option<&'a View<'db>>,
    offset: TextSize,
    abilities: Abilities,
    /// What is typed, in lower case.
    typed: String,
    items: Vec<Item>,
}

/// How well a name fits what is typed: 0 begins so, 1 has a part that does, 2 has the letters in
/// order. `None` if it does not.
fn fit(typed: &str, name: &str) -> Option<u8> {
    if typed.is_empty() {
        return Some(0);
    }
    let bare = typed.trim_start_matches(['%', '@']);
    if typed.len() > bare.len() && !name.starts_with(&typed[..1]) {
        return None;
    }
    // `%` alone fits every variable, of which there can be very many.
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
    // One letter is in nearly every name somewhere.
    (letters.peek().is_none() && bare.len() > 1).then_some(2)
}

impl<'a> List<'a, '_> {
    /// Adds an entry if it fits what is typed. `class` orders kinds of entries, `order` those of
    /// one kind.
    fn add(&mut self, class: u8, order: u32, item: Item) {
        if let Some(fit) = fit(&self.typed, &item.label) {
            let order = self.order(fit, &item.label, order);
            self.items.push(Item { rank: (fit, class, order), ..item });
        }
    }

    /// Of names that have the typed letters somewhere, those come first that have them together and at
    /// the beginning of words.
    fn order(&self, fit: u8, name: &str, order: u32) -> u32 {
        if fit < 2 {
            return order;
        }
        u32::MAX - fuzzy::score(&self.typed, name).unwrap_or(0)
    }

    fn fill(&mut self, cursor: &Cursor<'a>) {
        let call = cursor.calls.first();
        match &cursor.wanted {
            Wanted::Nothing => {}
            Wanted::Item => self.items_of_module(),
            Wanted::Statement => {
                self.values(cursor, None);
                self.statement_keywords();
                self.expr_keywords();
            }
            Wanted::Expr { attribute } => {
                if *attribute && let Some(call) = call {
                    self.attributes(call);
                }
                self.values(cursor, call.filter(|_| *attribute));
                self.expr_keywords();
            }
            Wanted::AttrValue { name, in_list, in_string } => {
                self.attribute_values(call, name, *in_list, *in_string);
            }
            Wanted::Pattern => self.patterns(),
            Wanted::Type => self.types(),
            Wanted::Shape => self.shapes(),
            Wanted::DataType => self.data_types(0),
            Wanted::Field(dot) => self.fields(*dot),
        }
    }

    /// Everything that is an expression; `call` wants an argument.
    fn values(&mut self, cursor: &Cursor<'a>, call: Option<&CallSite<'a>>) {
        let sigil = self.typed.chars().next();
        let end = cursor.word.end().max(self.offset);
        let has_args = cursor.next == Some(syntax::SyntaxKind::L_PAREN);
        let known = self.view.map(|view| locals(view, self.offset, cursor.bound));
        let known = known.unwrap_or_default();
        let uses = match sigil {
            Some('@') => Uses::default(),
            _ => Uses::of(self, cursor),
        };
        if sigil != Some('@') {
            let ahead = call.and_then(|_| ahead::arguments_behind(self.root, end));
            self.variables(&known, &uses, call, ahead.as_ref());
        }
        if sigil != Some('%') {
            self.globals(has_args);
        }
        if !matches!(sigil, Some('%' | '@')) {
            self.constructors(has_args);
            let ahead = has_args.then(|| ahead::arguments_of_call(self.root, end)).flatten();
            self.operators(&known, &uses, cursor, ahead.as_ref());
        }
    }
}

/// An entry that inserts its label.
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

/// A type where there is little room: `1×3×224×224 f32`, `(4 f32, i32)`.
fn brief(ty: &Type) -> String {
    match ty {
        Type::Tensor(tensor) => {
            let shape: Vec<String> = tensor.shape.iter().map(Dim::to_string).collect();
            let dtype = brief_data_type(tensor.dtype);
            let text =
                if shape.is_empty() { dtype } else { format!("{} {dtype}", shape.join("×")) };
            words::bounded(text, LONGEST_SUMMARY).0
        }
        Type::Tuple(fields) if fields.len() <= 3 => {
            let fields: Vec<String> = fields.iter().map(brief).collect();
            words::bounded(format!("({})", fields.join(", ")), LONGEST_SUMMARY).0
        }
        Type::Tuple(fields) => format!("{} fields", fields.len()),
        Type::Error | Type::Var(_) => "_".to_owned(),
        other => words::bounded(other, LONGEST_SUMMARY).0,
    }
}

/// `f32`, `i8`, `bool`
fn brief_data_type(dtype: DataType) -> String {
    let text = dtype.to_string();
    for (long, short) in [("float", "f"), ("uint", "u"), ("int", "i")] {
        if let Some(bits) = text.strip_prefix(long) {
            return format!("{short}{bits}");
        }
    }
    text
}

/// Text as a snippet holds it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

#[cfg(test)]
mod tests;
