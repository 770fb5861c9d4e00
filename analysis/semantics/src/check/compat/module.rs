//! What TVM wants of a module: a version, definitions only, data types before their constructors,
//! nothing from the prelude and no metadata that is not there.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::Kind;

use super::{Compat, Edit, insert, types::written_plain};
use crate::{
    body::*,
    db::Db,
    diagnostic::Diagnostic,
    item::{Def, DefKind, Module},
    queries,
    scope::Binding,
    traits::Traits,
    view::View,
};

pub(super) fn check<'db>(db: &'db dyn Db, module: Module<'db>, compat: &mut Compat<'_>) {
    version(db, module, compat);
    late_types(db, module, compat);
    from_prelude(db, module, compat);
    // A second one is wrong in every notation.
    if let Some(&def) = module.items(db).iter().find(|def| def.kind(db) == DefKind::Expr) {
        bare_expression(db, module, def, compat);
    }
}

/// How many definitions are shown beside one finding.
const MAX_RELATED: usize = 20;

/// Whether an item is one that TVM's text is made of.
fn is_code(kind: DefKind) -> bool {
    matches!(kind, DefKind::Fn | DefKind::Type | DefKind::Expr)
}

/// Where definitions can be written in front of all others.
fn front<'db>(db: &'db dyn Db, module: Module<'db>) -> Option<TextSize> {
    module.items(db).iter().find(|def| is_code(def.kind(db))).map(|def| def.start(db))
}

fn version<'db>(db: &'db dyn Db, module: Module<'db>, compat: &mut Compat<'_>) {
    let items = module.items(db);
    let has_code = items.iter().any(|def| is_code(def.kind(db)));
    let Some(first) = items.first().filter(|def| has_code && def.kind(db) != DefKind::Version)
    else {
        return;
    };
    let at = TextRange::empty(first.start(db));
    compat.add(
        Diagnostic::new("tvm-version", at, "TVM needs the version of the text format first")
            .fix("Add the version", [(at, "#[version = \"0.0.5\"]\n".to_owned())]),
    );
}

/// Constructors that are used above the definition of their data type: TVM reads from top to
/// bottom, and takes them for operators.
fn late_types<'db>(db: &'db dyn Db, module: Module<'db>, compat: &mut Compat<'_>) {
    let items = module.items(db);
    let is_user = |def: &Def<'_>| matches!(def.kind(db), DefKind::Fn | DefKind::Expr);
    let Some(first) = items.iter().position(is_user) else { return };
    let late = items[first..].iter().copied().filter(|def| def.kind(db) == DefKind::Type);
    let mut by_name: FxHashMap<&Name, Def<'_>> = FxHashMap::default();
    for def in late {
        by_name.entry(def.name(db)).or_insert(def);
    }
    if by_name.is_empty() {
        return;
    }
    let types = queries::module_types(db, module);
    let mut moved: FxHashSet<Def<'_>> = FxHashSet::default();
    let mut where_used: Option<(Name, TextRange)> = None;
    for &def in items[first..].iter().filter(|def| is_user(def)) {
        let body = queries::body(db, def);
        for (number, unit) in body.units.iter().enumerate() {
            constructors(unit, &mut |name, range| {
                let Some((adt, _)) = types.constructor(name) else { return };
                let late = by_name.get(&adt.name);
                if let Some(&late) = late.filter(|late| late.start(db) > def.start(db)) {
                    let range = range + body.starts[number] + def.start(db);
                    where_used.get_or_insert_with(|| (name.clone(), range));
                    moved.insert(late);
                }
            });
        }
    }
    let (Some((name, range)), Some(front)) = (where_used, front(db, module)) else { return };
    let mut moved: Vec<Def<'_>> = moved.into_iter().collect();
    moved.sort_by_key(|def| def.start(db));
    let parse = module.file(db).parse(db);
    let root = Node::root(&parse.green);
    let whole_text = root.to_string();
    let slice = |range: TextRange| {
        whole_text.get(std::ops::Range::<usize>::from(range)).unwrap_or_default()
    };
    let mut edits: Vec<Edit> = Vec::new();
    let mut text = String::new();
    for &def in &moved {
        let whole = with_comments(root, def.range(db));
        text += slice(whole).trim_end();
        text += "\n\n";
        // The line breaks behind it go along.
        let behind = slice(TextRange::new(whole.end(), root.range().end()));
        let breaks = behind.len() - behind.trim_start_matches(['\r', '\n']).len();
        let end = whole.end() + TextSize::new(breaks as u32);
        edits.push((TextRange::new(whole.start(), end), String::new()));
    }
    edits.push(insert(front, text));
    let mut diagnostic = Diagnostic::new(
        "tvm-type-order",
        range,
        format!("TVM knows the constructor `{name}` only below the definition of its data type"),
    )
    .fix("Move the data types to the front", edits);
    for def in moved.into_iter().take(MAX_RELATED) {
        let there = def.name_range(db) + def.start(db);
        diagnostic = diagnostic.related(there, "the definition");
    }
    compat.add(diagnostic);
}

/// Names in a unit that are constructors, if they are anything: in calls, alone, in patterns.
fn constructors(unit: &Unit, found: &mut dyn FnMut(&Name, TextRange)) {
    for (i, expr) in unit.exprs.iter().enumerate() {
        match expr {
            Expr::Name(name) => found(name, unit.ranges[i]),
            Expr::Call(call) => match &unit.call(*call).callee {
                Callee::Name(name) => found(name, unit.call(*call).callee_range),
                Callee::Operator(operator) => {
                    found(&operator.name.into(), unit.call(*call).callee_range);
                }
                Callee::Expr(_) => {}
            },
            _ => {}
        }
    }
    let mut patterns: Vec<&Pattern> =
        unit.matches.iter().flat_map(|m| &m.arms).map(|arm| &arm.pattern).collect();
    while let Some(pattern) = patterns.pop() {
        match &pattern.kind {
            PatternKind::Constructor(name, fields) => {
                found(name, pattern.range);
                patterns.extend(fields);
            }
            PatternKind::Tuple(fields) => patterns.extend(fields),
            PatternKind::Wildcard | PatternKind::Var(_) => {}
        }
    }
}

/// A definition with the comments on the lines directly above it.
fn with_comments(root: Node<'_>, item: TextRange) -> TextRange {
    let mut start = item.start();
    let before = root.elements_before(item.start());
    let mut comment: Option<TextSize> = None;
    for element in before {
        let Some(token) = element.into_token() else {
            // What stands behind another item on its line belongs to that.
            comment = None;
            break;
        };
        if token.kind() == SyntaxKind::WHITESPACE {
            let lines = token.text().matches('\n').count();
            if lines > 0
                && let Some(comment) = comment.take()
            {
                start = comment;
            }
            if lines > 1 {
                break;
            }
        } else {
            comment = Some(token.start());
        }
    }
    TextRange::new(comment.unwrap_or(start), item.end())
}

/// Names that only the prelude defines.
fn from_prelude<'db>(db: &'db dyn Db, module: Module<'db>, compat: &mut Compat<'_>) {
    if module.file(db).is_prelude(db) || queries::prelude(db).is_none() {
        return;
    }
    let mut leaning = Leaning::default();
    for &def in module.items(db) {
        leaning.collect(db, module, def, true);
    }
    let Some((first, range)) = leaning.names.first().cloned() else { return };
    let count = leaning.names.len();
    let others: Vec<String> =
        leaning.names.iter().skip(1).take(3).map(|(name, _)| format!("`{name}`")).collect();
    let who = match count {
        1 => format!("`{first}` comes"),
        2..=4 => format!("`{first}`, {} come", others.join(", ")),
        n => format!("`{first}`, {} and {} more come", others.join(", "), n - 4),
    };
    // What the definitions lean on themselves comes along.
    let mut next = 0;
    while let Some(&def) = leaning.needed.get(next) {
        next += 1;
        if let Some(own) = crate::item::module(db, def.file(db), def.module(db)) {
            leaning.collect(db, own, def, false);
        }
    }
    let mut needed = leaning.needed;
    // A data type stands before what uses its constructors.
    needed.sort_by_key(|def| (def.kind(db) != DefKind::Type, def.start(db)));
    let taken: FxHashSet<&Name> = module.items(db).iter().map(|def| def.name(db)).collect();
    let mut text = String::new();
    for def in needed.iter().filter(|def| !taken.contains(def.name(db))) {
        text += &def.node(db).to_string();
        text += "\n\n";
    }
    let message = format!("{who} from the prelude, which TVM does not read by itself");
    let mut diagnostic = Diagnostic::new("tvm-prelude", range, message);
    if let Some(front) = front(db, module) {
        diagnostic = diagnostic.fix("Write the definitions into the file", [insert(front, text)]);
    }
    compat.add(diagnostic);
}

/// What a module takes from the prelude.
#[derive(Default)]
struct Leaning<'db> {
    /// The names, with their first places.
    names: Vec<(Name, TextRange)>,
    /// Their definitions.
    needed: Vec<Def<'db>>,
    seen: FxHashSet<Name>,
}

impl<'db> Leaning<'db> {
    /// Collects what `def` takes; `places`, whether names and places are wanted.
    fn collect(&mut self, db: &'db dyn Db, module: Module<'db>, def: Def<'db>, places: bool) {
        let start = def.start(db);
        let mut note = |name: &Name, range: TextRange, found: Option<(Def<'db>, bool)>| {
            let Some((found, true)) = found else { return };
            if places && self.seen.insert(name.clone()) {
                self.names.push((name.clone(), range + start));
            }
            if !self.needed.contains(&found) {
                self.needed.push(found);
            }
        };
        let types = queries::module_types(db, module);
        match def.kind(db) {
            DefKind::Type => {
                let Some(type_def) = queries::type_def(db, def) else { return };
                for type_use in type_def.uses.iter().filter(|used| used.wanted == Kind::Type) {
                    let found = queries::data_type(db, module, &type_use.name);
                    note(&type_use.name, type_use.range, found);
                }
            }
            DefKind::Fn | DefKind::Expr => {
                let body = queries::body(db, def);
                let scopes = queries::scopes(db, def);
                // No constructor of the prelude has the name of an operator.
                let names = Traits::GLOBAL.or(Traits::CONSTRUCTOR).or(Traits::TYPE_USE);
                for number in scopes.units_with(names) {
                    let unit = &body.units[number];
                    let offset = body.starts[number];
                    for (name, expr) in unit.globals() {
                        let found = queries::global(db, module, name);
                        note(name, unit.range(expr) + offset, found);
                    }
                    constructors(unit, &mut |name, range| {
                        if let Some((adt, _)) = types.constructor(name) {
                            let found = queries::data_type(db, module, &adt.name);
                            note(name, range + offset, found);
                        }
                    });
                    for type_use in unit.type_uses.iter().filter(|used| used.wanted == Kind::Type) {
                        let found = queries::data_type(db, module, &type_use.name);
                        note(&type_use.name, type_use.range + offset, found);
                    }
                }
            }
            DefKind::Tir | DefKind::Metadata | DefKind::Version => {}
        }
    }
}

/// An expression in place of a definition.
fn bare_expression<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    def: Def<'db>,
    compat: &mut Compat<'_>,
) {
    let diagnostic = Diagnostic::new(
        "tvm-bare-expression",
        TextRange::at(def.start(db), 0.into()),
        "TVM reads definitions as a module, and this is an expression",
    );
    let edits = View::new(db, def).and_then(|view| as_definition(&view, module));
    compat.add(match edits {
        Some(edits) => diagnostic.fix("Make it the function `@main`", edits),
        None => diagnostic.help("write `def @main(…) { … }` around it"),
    });
}

/// The expression as a definition: its free variables become parameters.
fn as_definition(view: &View<'_>, module: Module<'_>) -> Option<Vec<Edit>> {
    let db = view.db;
    if !view.scopes.unknown.is_empty() {
        return None;
    }
    let taken = |name: &str| module.items(db).iter().any(|def| def.name(db) == name);
    let mut name = "@main".to_owned();
    while taken(&name) {
        name.push('_');
    }
    let start = view.def.start(db);
    let item = Node::at(view.def.green(db), start);
    let block = ast::ExprItem::cast(item)?.block()?;
    let tail = block.tail()?;
    // A function is a definition already, but for its name.
    if let (ast::Expr::FnExpr(function), None) = (tail, block.stmts().next()) {
        let keyword = function.node().token(SyntaxKind::FN_KW)?.range();
        let behind = function.node().children().next()?.start();
        return Some(vec![(TextRange::new(keyword.start(), behind), format!("def {name}"))]);
    }
    let mut params: Vec<String> = Vec::new();
    let mut edits = Vec::new();
    for (number, unit) in view.body.units.iter().enumerate() {
        let free = unit.binders.iter().position(|binder| binder.kind == BinderKind::Free);
        let Some(free) = free else { continue };
        // Only what the whole expression sees can become a parameter.
        if unit.kind != UnitKind::FreeVar {
            return None;
        }
        let binding = Binding { unit: number as u32, binder: BinderId(free as u32) };
        let ty = written_plain(view.binding_type(binding))?;
        params.push(format!("{}: {ty}", view.binder(binding).name));
        // With the blank up to what follows.
        let from = view.body.starts[number] + start;
        let to =
            view.body.starts.get(number + 1).map_or(tail.range().start(), |&next| next + start);
        // What was lost may leave a variable behind the expression.
        if to < from {
            return None;
        }
        edits.push((TextRange::new(from, to), String::new()));
    }
    // What is before it on its line could take the definition for its own: `type T 1f`.
    let parse = module.file(db).parse(db);
    let is_alone = match Node::root(&parse.green).elements_before(item.start()).next() {
        Some(NodeOrToken::Token(token)) => token.text().contains('\n'),
        Some(NodeOrToken::Node(_)) => false,
        None => true,
    };
    let line = if is_alone { "" } else { "\n" };
    let head = format!("{line}def {name}({}) {{\n", params.join(", "));
    edits.push(insert(item.start(), head));
    edits.push(insert(item.range().end(), "\n}"));
    Some(edits)
}

/// Findings about a body.
pub(super) fn check_def(view: &View<'_>, compat: &mut Compat<'_>) {
    let has_metadata = queries::metadata(view.db, view.module).is_some();
    for number in view.scopes.units_with(Traits::OTHER_NAME) {
        aliases(view, number, view.unit(number), compat);
        other_versions(view, number, view.unit(number), compat);
    }
    for number in view.scopes.units_with(Traits::FREE_VARIABLE) {
        free_variables(view, number, view.unit(number), compat);
    }
    if !has_metadata {
        for number in view.scopes.units_with(Traits::META) {
            metadata(view, number, view.unit(number), compat);
        }
    }
}

/// `mul`, `sub`, `div`: the manual's names.
fn aliases(view: &View<'_>, number: usize, unit: &Unit, compat: &mut Compat<'_>) {
    let mut note = |range: TextRange, name: &str| {
        let range = view.place(number, range);
        compat.fold(
            Diagnostic::new(
                "tvm-operator-name",
                range,
                format!("TVM calls this operator `{name}`"),
            )
            .fix("Write TVM's name", [(range, name.to_owned())]),
        );
    };
    for call in &unit.calls {
        // The manual's names have three letters, and TVM's for the same operators more.
        if let Callee::Operator(operator) = &call.callee
            && !call.infix
            && call.callee_range.len() == 3.into()
            && operator.name.len() > 3
            && view.types.constructor(operator.name).is_none()
        {
            note(call.callee_range, operator.name);
        }
    }
    for (i, expr) in unit.exprs.iter().enumerate() {
        if let Expr::Name(name) = expr
            && let Some(operator) = operators::alias(name)
            && view.types.constructor(name).is_none()
        {
            note(unit.ranges[i], operator.name);
        }
    }
}

/// `scatter_add(…)`: operators that TVM 0.14 does not have and another version has.
fn other_versions(view: &View<'_>, number: usize, unit: &Unit, compat: &mut Compat<'_>) {
    for call in &unit.calls {
        let Callee::Operator(operator) = &call.callee else { continue };
        let Some(other) = operators::other_version(operator.name) else { continue };
        let range = view.place(number, call.callee_range);
        let mut diagnostic = Diagnostic::new(
            "tvm-other-version",
            range,
            format!("`{}` is an operator of TVM {}, not of 0.14", operator.name, other.versions),
        )
        .help(format!("since then a module has {} in its place", other.now));
        if let Some((name, attr)) = other.successor {
            let mut edits = vec![(range, name.to_owned())];
            let written = call.written.iter().map(|attr| attr.value_range.end());
            let args = call.args.iter().map(|arg| unit.range(*arg).end());
            if !attr.is_empty()
                && let Some(last) = written.chain(args).max()
            {
                let at = view.place(number, TextRange::empty(last));
                edits.push((at, format!(", {attr}")));
            }
            diagnostic = diagnostic.fix(format!("Write `{name}`"), edits);
        }
        compat.fold(diagnostic);
    }
}

/// `free_var` in a definition.
fn free_variables(view: &View<'_>, number: usize, unit: &Unit, compat: &mut Compat<'_>) {
    if view.def.kind(view.db) == DefKind::Expr {
        return;
    }
    for binder in unit.binders.iter().filter(|binder| binder.kind == BinderKind::Free) {
        let message =
            format!("TVM takes no definition with a free variable, and `{}` is one", binder.name);
        compat.fold(
            Diagnostic::new("tvm-free-variable", view.place(number, binder.range), message)
                .help("make it a parameter"),
        );
    }
}

/// References into a metadata section that is not there.
fn metadata(view: &View<'_>, number: usize, unit: &Unit, compat: &mut Compat<'_>) {
    let mut note = |range: TextRange| {
        compat.fold(
            Diagnostic::new(
                "tvm-metadata",
                view.place(number, range),
                "TVM finds no metadata section, and cannot read this reference into it",
            )
            .help("print the module with its metadata: `mod.astext(show_meta_data=True)`"),
        );
    };
    for (i, expr) in unit.exprs.iter().enumerate() {
        if matches!(expr, Expr::Meta(_)) {
            note(unit.ranges[i]);
        }
    }
    for call in &unit.calls {
        if call.meta_attrs.is_some() {
            note(call.callee_range);
        }
        for attr in &call.written {
            if has_meta(&attr.value) {
                note(attr.value_range);
            }
        }
    }
}
