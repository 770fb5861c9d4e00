//! What may be written at a place.
//!
//! The list is short: of 14,500 variables in sight the nearest that fit are offered, and the client
//! asks again when a letter more is there.

mod attributes;
mod names;
mod resolve;
mod snippets;

pub(crate) use attributes::{describe, operator_of};
pub(crate) use names::type_ending_at;
pub use resolve::{Lookup, documentation};
use semantics::{Db, Module, SourceFile, View, modules};
use syntax::{Node, TextRange, TextSize};
use types::{Dim, Type};

use crate::{
    cursor::{CallSite, Callee, Cursor, Wanted, cursor, def_around},
    locals::{Local, locals},
};

/// The most entries in a list.
pub const MAX_ITEMS: usize = 200;

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
    let cursor = cursor(Node::root(&parse.green), offset);
    let def = def_around(db, file, offset);
    let module = def.map(|(module, _)| module).or_else(|| modules(db, file).first().copied());
    let view = def.and_then(|(_, def)| match def.kind(db) {
        semantics::DefKind::Fn | semantics::DefKind::Expr => View::new(db, def),
        _ => None,
    });
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
            self.items.push(Item { rank: (fit, class, order), ..item });
        }
    }

    fn fill(&mut self, cursor: &Cursor<'_>) {
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
    fn values(&mut self, cursor: &Cursor<'_>, call: Option<&CallSite<'_>>) {
        let sigil = self.typed.chars().next();
        let has_args = cursor.next == Some(syntax::SyntaxKind::L_PAREN);
        if sigil != Some('@') {
            let known = self.view.map(|view| locals(view, self.offset, cursor.bound));
            let known = known.unwrap_or_default();
            let wanted = call.map_or(Fits::Unknown, |call| self.wanted_by(call, &known));
            // Of very many, only what will be shown is spelled out.
            let mut found: Vec<((u8, u8, u32), usize)> = Vec::new();
            for (distance, local) in known.iter().enumerate() {
                if let Some(fit) = fit(&self.typed, local.name) {
                    let class = if wanted.takes(local.ty) { 1 } else { 3 };
                    found.push(((fit, class, distance as u32), distance));
                }
            }
            if found.len() > MAX_ITEMS {
                found.select_nth_unstable(MAX_ITEMS);
                // One more than is shown, so that it is known that there are more.
                found.truncate(MAX_ITEMS + 1);
            }
            for (rank, at) in found {
                let local = &known[at];
                let detail = Some(crate::hover::type_text(local.ty));
                let entry = item(local.name, ItemKind::Variable);
                self.items.push(Item { detail, rank, ..entry });
            }
        }
        if sigil != Some('%') {
            self.globals(has_args);
        }
        if !matches!(sigil, Some('%' | '@')) {
            self.constructors(has_args);
            self.operators(has_args);
        }
    }

    /// What the argument under the cursor has to be.
    fn wanted_by(&self, call: &CallSite<'_>, known: &[Local<'_>]) -> Fits {
        let params = |ty: &Type| {
            let signature = ty.signature();
            match signature.as_ref().and_then(|s| s.func.params().get(call.argument)) {
                Some(ty) => Fits::Type(ty.clone()),
                None => Fits::Unknown,
            }
        };
        let variable = |name: &str| known.iter().find(|local| local.name == name);
        match &call.callee {
            Callee::Global(name) => {
                let found =
                    self.module.and_then(|module| semantics::global(self.db, module, name.text()));
                found
                    .and_then(|(def, _)| semantics::global_type(self.db, def))
                    .map_or(Fits::Unknown, |ty| params(&ty))
            }
            Callee::Variable(name) => {
                variable(name.text()).map_or(Fits::Unknown, |local| params(local.ty))
            }
            Callee::Name(name) => {
                let types = self.module.map(|module| semantics::module_types(self.db, module));
                if let Some((_, constructor)) =
                    types.as_ref().and_then(|types| types.constructor(name))
                {
                    let field = constructor.fields.get(call.argument);
                    return field.map_or(Fits::Unknown, |ty| Fits::Type(ty.clone()));
                }
                let Some(operator) = operators::find(name) else { return Fits::Unknown };
                let relation = operator.relation_name();
                if matches!(relation, "Concatenate" | "Stack") || operator.name == "concatenate" {
                    return Fits::Tuple;
                }
                let other = (call.argument > 0 && relation.starts_with("Broadcast"))
                    .then(|| call.variables.first().copied().flatten())
                    .flatten()
                    .and_then(|token| variable(token.text()));
                match other {
                    Some(other) => Fits::BroadcastsWith(other.ty.clone()),
                    None => Fits::Tensor,
                }
            }
            Callee::Expr(_) => Fits::Unknown,
        }
    }
}

/// What an argument has to be.
enum Fits {
    Unknown,
    Tensor,
    Tuple,
    Type(Type),
    BroadcastsWith(Type),
}

impl Fits {
    fn takes(&self, ty: &Type) -> bool {
        match self {
            Fits::Unknown => false,
            Fits::Tensor => ty.as_tensor().is_some(),
            Fits::Tuple => ty.as_tuple().is_some(),
            Fits::Type(wanted) => may_be(wanted, ty, 64),
            Fits::BroadcastsWith(other) => match (other.as_tensor(), ty.as_tensor()) {
                (Some(a), Some(b)) => {
                    let size = |dim: &Dim| dim.as_known();
                    let mut pairs = a.shape.iter().rev().zip(b.shape.iter().rev());
                    a.dtype == b.dtype
                        && pairs.all(|(a, b)| match (size(a), size(b)) {
                            (Some(a), Some(b)) => a == b || a == 1 || b == 1,
                            _ => true,
                        })
                }
                _ => false,
            },
        }
    }
}

/// Whether a value of type `ty` may stand where `wanted` is; parameters of types may be anything.
fn may_be(wanted: &Type, ty: &Type, depth: u32) -> bool {
    if depth == 0 {
        return true;
    }
    let all = |a: &[Type], b: &[Type]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| may_be(a, b, depth - 1))
    };
    match (wanted, ty) {
        (Type::Param(_) | Type::Var(_) | Type::Error | Type::OpenTensor(_), _) => true,
        // An instance of it may fit.
        (_, Type::Poly(_)) => true,
        (_, Type::Error | Type::Var(_) | Type::OpenTensor(_)) => false,
        (Type::Tensor(a), Type::Tensor(b)) => {
            let fits = |(a, b): (&Dim, &Dim)| match (a.as_known(), b.as_known()) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            };
            a.dtype == b.dtype
                && a.shape.len() == b.shape.len()
                && a.shape.iter().zip(&b.shape).all(fits)
        }
        (Type::Tuple(a), Type::Tuple(b)) => all(a, b),
        (Type::Adt(a), Type::Adt(b)) => a.name() == b.name() && all(a.args(), b.args()),
        (Type::Ref(a), Type::Ref(b)) => may_be(a.inner(), b.inner(), depth - 1),
        (Type::Func(a), Type::Func(b)) => {
            all(a.params(), b.params()) && may_be(a.ret(), b.ret(), depth - 1)
        }
        _ => false,
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
        is_snippet: false,
        lookup: None,
        rank: (0, 0, 0),
    }
}

/// Text as a snippet holds it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

#[cfg(test)]
mod tests;
