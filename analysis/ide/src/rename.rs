//! Rename of variables, functions, types and constructors.
//!
//! A rename preserves name resolution: afterwards every name refers to the same declaration as
//! before. A new name that would break this, such as `%y` for `%x` in `let %x = 1; let %y = 2; %x`,
//! is refused with the conflicting place.

use semantics::{
    Db, DefKind, SourceFile, View,
    body::{BinderKind, Body, Expr, ExprId, LocalRef, Name, UnitId},
    lower::LoweredBody,
    module_types,
    scope::{Scopes, resolve},
};
use syntax::{LineIndex, Node, SyntaxKind, TextRange, TextSize};

use crate::{
    actions::names::graph_numbers,
    lookups::names_in,
    place::{Place, Symbol, place_at, type_name},
    references::references_to,
};

/// A name that can be renamed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RenameTarget {
    /// The range of the name at the cursor.
    pub range: TextRange,
    /// The current name with its sigil.
    pub name: String,
}

/// The reason for which a rename is refused, as a text for the user.
pub type Refusal = String;

/// Returns the name at `offset`.
///
/// # Errors
/// Returns the reason if the name cannot be renamed, such as that of an operator.
pub fn prepare(db: &dyn Db, file: SourceFile, offset: TextSize) -> Result<RenameTarget, Refusal> {
    let (place, symbol, range) = symbol_at(db, file, offset)?;
    refuse_foreign(db, &place, &symbol)?;
    let range = range + place.start(db);
    Ok(RenameTarget { range, name: name_of(&place, &symbol) })
}

/// Returns the edits that rename the symbol at `offset` to `new`, whose sigil may be omitted.
///
/// # Errors
/// Returns the reason if `new` is not a valid name or the rename would change name resolution.
pub fn rename(
    db: &dyn Db,
    file: SourceFile,
    offset: TextSize,
    new: &str,
) -> Result<Vec<(TextRange, String)>, Refusal> {
    let (place, symbol, _) = symbol_at(db, file, offset)?;
    refuse_foreign(db, &place, &symbol)?;
    let new = with_sigil(&place, &symbol, new.trim())?;
    let old = name_of(&place, &symbol);
    if new == old {
        return Ok(Vec::new());
    }
    match &symbol {
        Symbol::Local(binding) => local_is_free(&place, *binding, &new)?,
        Symbol::Global(_) => global_is_free(db, &place, &new)?,
        Symbol::Constructor(_) => constructor_is_free(db, &place, &new)?,
        Symbol::Type(_) => type_is_free(db, &place, None, &new)?,
        Symbol::TypeParam { scope, .. } => type_is_free(db, &place, Some(*scope), &new)?,
        Symbol::Operator(_) | Symbol::Declared(_) | Symbol::Attribute(..) | Symbol::Meta(_) => {}
    }
    let found = references_to(db, &place, &symbol);
    let mut edits: Vec<(TextRange, String)> =
        found.into_iter().map(|reference| (reference.range, new.clone())).collect();
    if matches!(symbol, Symbol::Type(_) | Symbol::TypeParam { .. }) {
        in_comments(db, &place, &symbol, &old, &new, &mut edits);
    }
    if let Symbol::Local(binding) = &symbol
        && let Some(view) = &place.view
    {
        check_resolution(view, *binding, &new, &edits)?;
    }
    edits.sort_by_key(|(range, _)| range.start());
    Ok(edits)
}

type SymbolUse<'db> = (Place<'db>, Symbol<'db>, TextRange);

fn symbol_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Result<SymbolUse<'_>, Refusal> {
    let nothing = || "there is no name here that can be renamed".to_owned();
    let place = place_at(db, file, offset).ok_or_else(nothing)?;
    let (symbol, range) = place.symbol(db).ok_or_else(nothing)?;
    Ok((place, symbol, range))
}

/// Refuses symbols that are declared outside of the module.
fn refuse_foreign(db: &dyn Db, place: &Place<'_>, symbol: &Symbol<'_>) -> Result<(), Refusal> {
    let of_prelude =
        |name: &str| Err(format!("`{name}` belongs to the prelude and cannot be renamed"));
    // True if the data type that declares a name is in the prelude; `None` if no data type declares it.
    let of_adt = |name: &str, from_prelude: Option<bool>| match from_prelude {
        Some(true) if !place.def.file(db).is_prelude(db) => of_prelude(name),
        Some(_) => Ok(()),
        None => Err(format!("`{name}` is not defined in this module")),
    };
    match symbol {
        Symbol::Operator(operator) => {
            Err(format!("`{}` is an operator of Relay and cannot be renamed", operator.name))
        }
        Symbol::Declared(name) => {
            Err(format!("`{name}` is an operator of the project and cannot be renamed"))
        }
        Symbol::Attribute(operator, field) => Err(format!(
            "`{}` is an attribute of `{}` and cannot be renamed",
            field.name, operator.name
        )),
        Symbol::Meta(_) => {
            Err("an entry of the metadata section has a number and cannot be renamed".into())
        }
        Symbol::Global(name) => match semantics::global(db, place.module, name) {
            Some((_, true)) => of_prelude(name),
            Some((def, _)) if def.kind(db) == DefKind::Tir => {
                Err(format!("`{name}` is a TIR function and cannot be renamed here"))
            }
            Some(_) => Ok(()),
            None => Err(format!("`{name}` is not defined in this module")),
        },
        Symbol::Constructor(name) => {
            let types = module_types(db, place.module);
            of_adt(name, types.constructor(name).map(|(adt, _)| adt.from_prelude))
        }
        Symbol::Type(name) => {
            let types = module_types(db, place.module);
            of_adt(name, types.adt(name).map(|adt| adt.from_prelude))
        }
        Symbol::Local(_) | Symbol::TypeParam { .. } => Ok(()),
    }
}

fn name_of(place: &Place<'_>, symbol: &Symbol<'_>) -> String {
    match symbol {
        Symbol::Local(binding) => {
            place.view.as_ref().map_or(String::new(), |view| view.binder(*binding).name.to_string())
        }
        Symbol::Global(name)
        | Symbol::Constructor(name)
        | Symbol::Type(name)
        | Symbol::Declared(name)
        | Symbol::TypeParam { name, .. } => name.to_string(),
        Symbol::Operator(operator) => operator.name.to_owned(),
        Symbol::Attribute(_, field) => field.name.to_owned(),
        Symbol::Meta(_) => String::new(),
    }
}

/// Returns the kind of the token if `text` is a single one.
fn single_token(text: &str) -> Option<SyntaxKind> {
    let mut tokens = syntax::tokens(text);
    let (kind, end) = tokens.next()?;
    (end == TextSize::of(text)).then_some(kind)
}

/// Validates the new name and adds its sigil.
fn with_sigil(place: &Place<'_>, symbol: &Symbol<'_>, new: &str) -> Result<String, Refusal> {
    let bare = new.trim_start_matches(['%', '@']);
    let (sigil, expected) = match symbol {
        Symbol::Local(binding) => {
            let kind = place.view.as_ref().map(|view| view.binder(*binding).kind);
            let is_graph = kind == Some(BinderKind::Graph);
            let number = bare.bytes().all(|b| b.is_ascii_digit()) && !bare.is_empty();
            if is_graph && !number {
                return Err(format!(
                    "graph variables have numbers, as in `%7`; rewrite it as a `let` binding to \
                     name it `%{bare}`"
                ));
            }
            if !is_graph && number {
                return Err(format!(
                    "`%{bare}` is the name of a graph variable; start the name with a letter"
                ));
            }
            ("%", if is_graph { SyntaxKind::GRAPH } else { SyntaxKind::LOCAL })
        }
        Symbol::Global(_) => ("@", SyntaxKind::GLOBAL),
        _ => ("", SyntaxKind::IDENT),
    };
    let other = new.starts_with(['%', '@']) && !new.starts_with(sigil)
        || sigil.is_empty() && new.starts_with(['%', '@']);
    let text = format!("{sigil}{bare}");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/');
    let is_plain = bare.chars().all(plain)
        && (expected == SyntaxKind::GRAPH || !bare.starts_with(|c: char| c.is_ascii_digit()))
        && !(expected == SyntaxKind::IDENT && bare.contains('/'));
    if expected == SyntaxKind::IDENT && SyntaxKind::from_keyword(bare).is_some() {
        return Err(format!("`{bare}` is a keyword"));
    }
    if other || !is_plain || single_token(&text) != Some(expected) {
        return Err(format!("`{new}` is not a name for {}", expected.describe()));
    }
    // `%007` and `%7` are distinct for TVM's parser, but not for its printer.
    if expected == SyntaxKind::GRAPH && bare.len() > 1 && bare.starts_with('0') {
        return Err(format!(
            "numbers of graph variables have no leading zeros; write `%{}`",
            bare.trim_start_matches('0')
        ));
    }
    Ok(text)
}

fn line_of(db: &dyn Db, file: SourceFile, offset: TextSize) -> u32 {
    let parse = file.parse(db);
    let text = Node::root(&parse.green).to_string();
    LineIndex::new(&text).line_column(offset, syntax::Encoding::Utf8).line + 1
}

fn taken(db: &dyn Db, file: SourceFile, name: &str, what: &str, at: TextSize) -> Refusal {
    format!("`{name}` is already {what} on line {}", line_of(db, file, at))
}

fn global_is_free(db: &dyn Db, place: &Place<'_>, new: &str) -> Result<(), Refusal> {
    match semantics::global(db, place.module, new) {
        Some((_, true)) => {
            Err(format!("`{new}` is a function of the prelude, whose calls would be captured"))
        }
        Some((def, _)) => {
            let at = def.start(db) + def.name_range(db).start();
            Err(taken(db, def.file(db), new, "defined", at))
        }
        None => is_unused(db, place, &Symbol::Global(new.into()), new),
    }
}

/// Checks that no unresolved use of the new name would resolve to what is renamed.
fn is_unused(
    db: &dyn Db,
    place: &Place<'_>,
    symbol: &Symbol<'_>,
    new: &str,
) -> Result<(), Refusal> {
    match references_to(db, place, symbol).first() {
        Some(used) => {
            Err(taken(db, place.def.file(db), new, "used without a definition", used.range.start()))
        }
        None => Ok(()),
    }
}

fn constructor_is_free(db: &dyn Db, place: &Place<'_>, new: &str) -> Result<(), Refusal> {
    if operators::named(new).is_some() {
        return Err(format!("`{new}` is an operator, whose calls would be captured"));
    }
    let types = module_types(db, place.module);
    if let Some((adt, _)) = types.constructor(new) {
        return Err(format!("`{new}` is already a constructor of `{}`", adt.name));
    }
    is_unused(db, place, &Symbol::Constructor(new.into()), new)
}

/// Checks that no type or type parameter has the new name. They share a namespace. `scope` is the
/// scope of the type parameter to rename, `None` for a type.
fn type_is_free(
    db: &dyn Db,
    place: &Place<'_>,
    scope: Option<Node<'_>>,
    new: &str,
) -> Result<(), Refusal> {
    if matches!(new, "Tensor" | "Storage") || types::DataType::parse(new).is_some() {
        return Err(format!("`{new}` is a built-in type"));
    }
    let known = module_types(db, place.module);
    if scope.is_none()
        && let Some(adt) = known.adt(new)
    {
        let from = if adt.from_prelude { "the prelude" } else { "this module" };
        return Err(format!("`{new}` is already a type of {from}"));
    }
    let file = place.def.file(db);
    let in_node = |node: Node<'_>, start: TextSize| -> Result<(), Refusal> {
        for node in node.descendants() {
            if let Some(token) = type_name(node).filter(|token| token.text() == new) {
                return Err(taken(db, file, new, "a type", token.start() + start));
            }
        }
        Ok(())
    };
    match scope {
        Some(scope) => in_node(scope, place.start(db)),
        None => {
            for def in place.module.items(db) {
                db.unwind_if_revision_cancelled();
                if matches!(def.kind(db), DefKind::Fn | DefKind::Type | DefKind::Expr) {
                    in_node(def.node(db), def.start(db))?;
                }
            }
            Ok(())
        }
    }
}

fn local_is_free(place: &Place<'_>, binding: LocalRef, new: &str) -> Result<(), Refusal> {
    let Some(view) = &place.view else { return Ok(()) };
    let is_graph = view.binder(binding).kind == BinderKind::Graph;
    if !is_graph {
        return Ok(());
    }
    // The number must be unused in the whole definition, whatever its scope.
    for (number, unit) in view.body.units() {
        let binders = unit.binders.iter().map(|it| (&it.name, it.range, "bound"));
        let mut names = binders.chain(unit.frees.iter().map(|it| (&it.name, it.range, "used")));
        if let Some((_, range, what)) = names.find(|(name, ..)| **name == new) {
            let at = view.place(number, range).start();
            return Err(taken(view.db, view.def.file(view.db), new, what, at));
        }
    }
    // TVM numbers graph variables per module: a second `%0` refers to the first.
    let number = new.get(1..).and_then(|number| number.parse::<u64>().ok());
    let mut numbers = graph_numbers(view.db, place.module);
    if numbers.any(|taken| Some(taken) == number) {
        return Err(format!(
            "another function of this module has a `{new}`, and TVM parses equal numbers as one variable"
        ));
    }
    Ok(())
}

/// Returns the uses of variables in a definition and their resolution, in text order.
fn resolutions<'a>(
    body: &'a Body,
    scopes: &'a Scopes,
) -> impl Iterator<Item = (UnitId, ExprId, Option<LocalRef>)> + 'a {
    body.units().flat_map(move |(number, unit)| {
        unit.exprs.iter().enumerate().filter_map(move |(i, expr)| {
            let resolved = match expr {
                Expr::Bound(binder) => Some(LocalRef { unit: number, binder: *binder }),
                Expr::Free(free) => scopes.get(number, *free),
                Expr::Dotted { whole, .. } => scopes.get(number, *whole),
                _ => return None,
            };
            Some((number, ExprId(i as u32), resolved))
        })
    })
}

/// Checks that every variable of the definition resolves to the same binder after the edits.
fn check_resolution(
    view: &View<'_>,
    binding: LocalRef,
    new: &str,
    edits: &[(TextRange, String)],
) -> Result<(), Refusal> {
    let (db, def) = (view.db, view.def);
    // Fast path: a name that does not occur cannot conflict.
    let is_other = |name: &Name| name != new && !name.starts_with(&format!("{new}."));
    if view.body.units.iter().flat_map(|unit| names_in(unit)).all(is_other) {
        return Ok(());
    }
    let start = def.start(db);
    let text = def.node(db).to_string();
    let edits = edits.iter().map(|(range, with)| (*range - start, with.as_str()));
    let after = syntax::format::apply(&text, &edits.collect::<Vec<_>>());
    let parse = syntax::parse(&after);
    let unclear = || format!("`{new}` would change how the surrounding text is parsed");
    let root = Node::root(&parse.green);
    let node =
        root.children().find(|node| node.kind() == def.node(db).kind()).ok_or_else(unclear)?;
    let lowered = LoweredBody::new(&node.green().to_owned(), None);
    let body = lowered.body();
    let scopes = resolve(body);
    let problems = |body: &Body| body.units.iter().map(|unit| unit.problems.len()).sum::<usize>();
    if problems(body) > problems(&view.body) {
        // `fn (%x, %x)`
        return Err(format!("another parameter is already called `{new}`"));
    }
    let (mut before, mut now) = (resolutions(&view.body, &view.scopes), resolutions(body, &scopes));
    loop {
        let (was, is) = match (before.next(), now.next()) {
            (None, None) => return Ok(()),
            (Some(was), Some(is)) => (was, is),
            _ => return Err(unclear()),
        };
        if (was.0, was.1) != (is.0, is.1) {
            return Err(unclear());
        }
        if was.2 == is.2 {
            continue;
        }
        let old = &view.binder(binding).name;
        let expr_ref = semantics::ExprRef { unit: was.0, expr: was.1 };
        let line = line_of(db, def.file(db), view.range(expr_ref).start());
        let other = if was.2 == Some(binding) { is.2 } else { was.2 };
        return Err(match other {
            Some(other) => {
                let bound = line_of(db, def.file(db), view.binding_range(other).start());
                if was.2 == Some(binding) {
                    format!(
                        "`{new}` is already bound on line {bound}, and `{old}` on line {line} would refer to that binding"
                    )
                } else {
                    format!(
                        "`{new}` on line {line} refers to the binding on line {bound}, but would refer to the renamed `{old}`"
                    )
                }
            }
            None => format!(
                "`{new}` on line {line} is undefined, but would refer to the renamed `{old}`"
            ),
        });
    }
}

/// Adds the edits that rename a type in `/* ty=… */` comments.
fn in_comments(
    db: &dyn Db,
    place: &Place<'_>,
    symbol: &Symbol<'_>,
    old: &str,
    new: &str,
    edits: &mut Vec<(TextRange, String)>,
) {
    let within = match symbol {
        Symbol::TypeParam { scope, .. } => Some(scope.range() + place.start(db)),
        _ => None,
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for &def in place.module.items(db).iter().filter(|def| def.kind(db).has_body()) {
        let (body, source) = (semantics::body(db, def), semantics::source_map(db, def));
        for (number, unit) in body.units() {
            for comment in &unit.type_comments {
                let range = source.range(number, comment.range) + def.start(db);
                if within.is_some_and(|within| !within.contains_range(range)) {
                    continue;
                }
                for (at, _) in comment.text.match_indices(old) {
                    let before = comment.text[..at].chars().next_back();
                    let after = comment.text[at + old.len()..].chars().next();
                    if before.is_some_and(is_word) || after.is_some_and(is_word) {
                        continue;
                    }
                    let start = range.start() + TextSize::new(at as u32);
                    let place = TextRange::at(start, TextSize::of(old));
                    edits.push((place, new.to_owned()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
