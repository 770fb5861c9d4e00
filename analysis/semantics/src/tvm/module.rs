//! Requirements of TVM on a module: a version, definitions only, data types before the uses of
//! their constructors, no prelude and no missing metadata.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{
    Node, NodeOrToken, SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::{Kind, Release};

use super::{Edit, MergedDiagnostics, insert, notation, types::written_plain};
use crate::{
    body::*,
    db::Db,
    diagnostic::{Code, Diagnostic},
    features::UnitFeatures,
    item::{Def, DefKind, Module},
    queries,
    view::View,
};

pub(super) fn check<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    findings: &mut MergedDiagnostics<'_>,
) {
    version(db, module, findings);
    late_types(db, module, findings);
    from_prelude(db, module, findings);
    // A second bare expression is a syntax error.
    if let Some(&def) = module.items(db).iter().find(|def| def.kind(db) == DefKind::Expr) {
        bare_expression(db, module, def, findings);
    }
}

/// The maximum number of definitions shown as related places.
const MAX_RELATED: usize = 20;

/// Returns true for definitions and expressions, as opposed to sections.
fn is_code(kind: DefKind) -> bool {
    matches!(kind, DefKind::Fn | DefKind::Type | DefKind::Expr)
}

/// Returns the start of the first definition.
fn first_definition<'db>(db: &'db dyn Db, module: Module<'db>) -> Option<TextSize> {
    module.items(db).iter().find(|def| is_code(def.kind(db))).map(|def| def.start(db))
}

fn version<'db>(db: &'db dyn Db, module: Module<'db>, findings: &mut MergedDiagnostics<'_>) {
    let items = module.items(db);
    let has_code = items.iter().any(|def| is_code(def.kind(db)));
    let Some(first) = items.first().filter(|def| has_code && def.kind(db) != DefKind::Version)
    else {
        return;
    };
    let at = TextRange::empty(first.start(db));
    findings.add(
        Diagnostic::new(
            Code::TvmVersion,
            at,
            "TVM requires the version of the text format at the start",
        )
        .fix("Add the version", [(at, "#[version = \"0.0.5\"]\n".to_owned())]),
    );
}

/// Reports constructors that are used before the definition of their data type: TVM parses in a
/// single pass, and reads them as operators.
fn late_types<'db>(db: &'db dyn Db, module: Module<'db>, findings: &mut MergedDiagnostics<'_>) {
    let items = module.items(db);
    let is_user = |def: &Def<'_>| def.kind(db).has_body();
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
        let (body, source) = (queries::body(db, def), queries::source_map(db, def));
        for (number, _) in body.units() {
            constructors(&body, &source, number, &mut |name, range| {
                let Some((adt, _)) = types.constructor(name) else { return };
                let late = by_name.get(&adt.name);
                if let Some(&late) = late.filter(|late| late.start(db) > def.start(db)) {
                    let range = range + def.start(db);
                    where_used.get_or_insert_with(|| (name.clone(), range));
                    moved.insert(late);
                }
            });
        }
    }
    let (Some((name, range)), Some(front)) = (where_used, first_definition(db, module)) else {
        return;
    };
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
        let whole = with_leading_comments(root, def.range(db));
        text += slice(whole).trim_end();
        text += "\n\n";
        // The line breaks after it are removed too.
        let after = slice(TextRange::new(whole.end(), root.range().end()));
        let breaks = after.len() - after.trim_start_matches(['\r', '\n']).len();
        let end = whole.end() + TextSize::new(breaks as u32);
        edits.push((TextRange::new(whole.start(), end), String::new()));
    }
    edits.push(insert(front, text));
    let mut diagnostic = Diagnostic::new(
        Code::TvmTypeOrder,
        range,
        format!("TVM knows the constructor `{name}` only after the definition of its data type"),
    )
    .fix("Move the data types to the front", edits);
    for def in moved.into_iter().take(MAX_RELATED) {
        let there = def.name_range(db) + def.start(db);
        diagnostic = diagnostic.related(there, "the definition");
    }
    findings.add(diagnostic);
}

/// Calls `found` for each name in a unit that may be a constructor: in calls, in patterns, or
/// alone. Ranges are relative to the definition.
fn constructors(
    body: &Body,
    source: &SourceMap,
    number: UnitId,
    found: &mut dyn FnMut(&Name, TextRange),
) {
    let unit = body.unit(number);
    for (_, expr, range) in source.exprs(body, number) {
        match expr {
            Expr::Name(name) => found(name, range),
            Expr::Call(call) => {
                let call = unit.call(*call);
                let range = || source.range(number, call.callee_range);
                match &call.callee {
                    Callee::Name(name) => found(name, range()),
                    Callee::Operator(operator) => found(&operator.name.into(), range()),
                    Callee::Expr(_) => {}
                }
            }
            _ => {}
        }
    }
    let arms = unit.matches.iter().flat_map(|m| &m.arms);
    for pattern in arms.flat_map(|arm| arm.pattern.all()) {
        if let PatternKind::Constructor(name, _) = &pattern.kind {
            found(name, source.range(number, pattern.range));
        }
    }
}

/// Returns the range of a definition and the comments on the lines directly above it.
fn with_leading_comments(root: Node<'_>, item: TextRange) -> TextRange {
    let mut start = item.start();
    let before = root.elements_before(item.start());
    let mut comment: Option<TextSize> = None;
    for element in before {
        let Some(token) = element.into_token() else {
            // A comment on the last line of another item belongs to that item.
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

/// Reports names that only the prelude defines.
fn from_prelude<'db>(db: &'db dyn Db, module: Module<'db>, findings: &mut MergedDiagnostics<'_>) {
    if module.file(db).is_prelude(db) || queries::prelude(db).is_none() {
        return;
    }
    let mut prelude_uses = PreludeUses::default();
    for &def in module.items(db) {
        prelude_uses.collect(db, module, def, true);
    }
    let Some((first, range)) = prelude_uses.names.first().cloned() else { return };
    let count = prelude_uses.names.len();
    let others: Vec<String> =
        prelude_uses.names.iter().skip(1).take(3).map(|(name, _)| format!("`{name}`")).collect();
    let who = match count {
        1 => format!("`{first}` comes"),
        2..=4 => format!("`{first}`, {} come", others.join(", ")),
        n => format!("`{first}`, {} and {} more come", others.join(", "), n - 4),
    };
    // The definitions that these definitions use are needed too.
    let mut next = 0;
    while let Some(&def) = prelude_uses.needed.get(next) {
        next += 1;
        if let Some(own) = crate::item::module(db, def.file(db), def.module(db)) {
            prelude_uses.collect(db, own, def, false);
        }
    }
    let mut needed = prelude_uses.needed;
    // A data type precedes the uses of its constructors.
    needed.sort_by_key(|def| (def.kind(db) != DefKind::Type, def.start(db)));
    let taken: FxHashSet<&Name> = module.items(db).iter().map(|def| def.name(db)).collect();
    let mut text = String::new();
    for def in needed.iter().filter(|def| !taken.contains(def.name(db))) {
        text += &def.node(db).to_string();
        text += "\n\n";
    }
    let message = format!("{who} from the prelude, which TVM does not import implicitly");
    let mut diagnostic = Diagnostic::new(Code::TvmPrelude, range, message);
    if let Some(front) = first_definition(db, module) {
        diagnostic = diagnostic.fix("Insert the definitions", [insert(front, text)]);
    }
    findings.add(diagnostic);
}

/// The names that a module uses from the prelude.
#[derive(Default)]
struct PreludeUses<'db> {
    /// The names, with the ranges of their first uses.
    names: Vec<(Name, TextRange)>,
    /// Their definitions.
    needed: Vec<Def<'db>>,
    seen: FxHashSet<Name>,
}

impl<'db> PreludeUses<'db> {
    /// Collects the prelude definitions that `def` uses, and their names if `with_names`.
    fn collect(&mut self, db: &'db dyn Db, module: Module<'db>, def: Def<'db>, with_names: bool) {
        let start = def.start(db);
        let mut note = |name: &Name, range: TextRange, found: Option<(Def<'db>, bool)>| {
            let Some((found, true)) = found else { return };
            if with_names && self.seen.insert(name.clone()) {
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
                for type_use in type_def.uses.iter().filter(|used| used.expected == Kind::Type) {
                    let found = queries::data_type(db, module, &type_use.name);
                    note(&type_use.name, type_def.range(type_use.range), found);
                }
            }
            DefKind::Fn | DefKind::Expr => {
                let (body, source) = (queries::body(db, def), queries::source_map(db, def));
                // The names of the constructors of the prelude differ from those of operators.
                let names =
                    UnitFeatures::GLOBAL | UnitFeatures::CONSTRUCTOR | UnitFeatures::TYPE_USE;
                for number in body.units_with(names) {
                    let unit = body.unit(number);
                    for (name, expr) in unit.globals() {
                        let found = queries::global(db, module, name);
                        note(name, source.expr(number, expr), found);
                    }
                    constructors(&body, &source, number, &mut |name, range| {
                        if let Some((adt, _)) = types.constructor(name) {
                            let found = queries::data_type(db, module, &adt.name);
                            note(name, range, found);
                        }
                    });
                    for type_use in unit.type_uses.iter().filter(|used| used.expected == Kind::Type)
                    {
                        let found = queries::data_type(db, module, &type_use.name);
                        note(&type_use.name, source.range(number, type_use.range), found);
                    }
                }
            }
            DefKind::Tir | DefKind::Metadata | DefKind::Version => {}
        }
    }
}

/// Reports a bare expression.
fn bare_expression<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    def: Def<'db>,
    findings: &mut MergedDiagnostics<'_>,
) {
    let diagnostic = Diagnostic::new(
        Code::TvmBareExpression,
        TextRange::at(def.start(db), 0.into()),
        "TVM reads a module of definitions, but this is an expression",
    );
    let edits = View::new(db, def).and_then(|view| as_definition(&view, module));
    findings.add(match edits {
        Some(edits) => diagnostic.fix("Convert it to the function `@main`", edits),
        None => diagnostic.help("wrap it in `def @main(…) { … }`"),
    });
}

/// Returns the edits that convert a bare expression to a definition with its free variables as
/// parameters.
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
    // A function only needs a name.
    if let (ast::Expr::FnExpr(function), None) = (tail, block.stmts().next()) {
        let keyword = function.node().token(SyntaxKind::FN_KW)?.range();
        let params = function.node().children().next()?.start();
        return Some(vec![(TextRange::new(keyword.start(), params), format!("def {name}"))]);
    }
    let mut params: Vec<String> = Vec::new();
    let mut edits = Vec::new();
    for (number, unit) in view.body.units() {
        let free = unit.binders.iter().position(|binder| binder.kind == BinderKind::Free);
        let Some(free) = free else { continue };
        // Only a free variable of the whole expression can become a parameter.
        if unit.kind != UnitKind::FreeVar {
            return None;
        }
        let binding = LocalRef { unit: number, binder: BinderId(free as u32) };
        let ty = written_plain(view.binding_type(binding))?;
        params.push(format!("{}: {ty}", view.binder(binding).name));
        // Including the white space after the declaration.
        let from = view.unit_range(number).start();
        let next = UnitId(number.0 + 1);
        let is_last = next.index() == view.body.units.len();
        let to = if is_last { tail.range().start() } else { view.unit_range(next).start() };
        // After a syntax error, a variable may follow the expression.
        if to < from {
            return None;
        }
        edits.push((TextRange::new(from, to), String::new()));
    }
    // A preceding item on the same line could continue into the definition: `type T 1f`.
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

/// Reports incompatibilities of a body.
pub(super) fn check_def(view: &View<'_>, findings: &mut MergedDiagnostics<'_>) {
    let has_metadata = queries::metadata(view.db, view.module).is_some();
    for number in view.body.units_with(UnitFeatures::OTHER_NAME) {
        aliases(view, number, findings);
    }
    let release = queries::asked_release(view.db);
    if release == Release::DEFAULT {
        for number in view.body.units_with(UnitFeatures::OTHER_RELEASE) {
            other_versions(view, number, release, findings);
        }
    } else {
        for (number, _) in view.body.units() {
            other_versions(view, number, release, findings);
        }
    }
    for number in view.body.units_with(UnitFeatures::PROBLEM) {
        for problem in &view.unit(number).problems {
            if problem.kind == ProblemKind::PrintedTypes {
                findings.fold(notation::printed_types(view.place(number, problem.range)));
            }
        }
    }
    for number in view.body.units_with(UnitFeatures::FREE_VARIABLE) {
        free_variables(view, number, findings);
    }
    if !has_metadata {
        for number in view.body.units_with(UnitFeatures::META) {
            metadata(view, number, findings);
        }
    }
}

/// Reports the operator names of the manual: `mul`, `sub`, `div`.
fn aliases(view: &View<'_>, number: UnitId, findings: &mut MergedDiagnostics<'_>) {
    let mut note = |range: TextRange, name: &str| {
        findings.fold(
            Diagnostic::new(
                Code::TvmOperatorName,
                range,
                format!("the name of this operator in TVM is `{name}`"),
            )
            .fix("Use TVM's name", [(range, name.to_owned())]),
        );
    };
    for call in &view.unit(number).calls {
        if let Callee::Operator(operator) = &call.callee
            && call.alias
            && view.types.constructor(operator.name).is_none()
        {
            note(view.place(number, call.callee_range), operator.name);
        }
    }
    for (_, expr, range) in view.exprs(number) {
        if let Expr::Name(name) = expr
            && let Some(operator) = operators::alias(name)
            && view.types.constructor(name).is_none()
        {
            note(range, operator.name);
        }
    }
}

/// Reports calls of other releases than 0.14: of operators such as `scatter_add(…)`, and with other arguments
/// or attributes, such as `nn.pad(%x, pad_value=0f, pad_width=…)`.
fn other_versions(
    view: &View<'_>,
    number: UnitId,
    release: Release,
    findings: &mut MergedDiagnostics<'_>,
) {
    for call in &view.unit(number).calls {
        let Callee::Operator(operator) = &call.callee else { continue };
        let range = view.place(number, call.callee_range);
        if let Some(readable) = operator.unreadable_attrs() {
            let is_read = |attr: &&WrittenAttr| readable.position(&attr.name).is_some();
            for attr in call.written.iter().filter(|attr| !is_read(attr)) {
                let message = format!(
                    "TVM prints `{}` of `{}`, but cannot read it back",
                    attr.name, operator.name
                );
                let range = view.place(number, attr.name_range);
                findings.add(Diagnostic::new(Code::TvmPrintedAttribute, range, message));
            }
        }
        let other = operators::other_version(operator.name);
        let Some(other) = other.filter(|_| release == Release::DEFAULT) else {
            if !call.releases.has(release) {
                findings.fold(other_form(operator, call, release, range));
            }
            continue;
        };
        let mut diagnostic = Diagnostic::new(
            Code::TvmOtherVersion,
            range,
            match other.requires {
                Some(requires) => {
                    format!("`{}` is an operator of builds of TVM {requires} alone", operator.name)
                }
                None => format!(
                    "`{}` is an operator of TVM {}, not of 0.14",
                    operator.name, operator.releases
                ),
            },
        );
        if let Some(now) = other.now {
            diagnostic = diagnostic.help(format!("TVM 0.14 has {now} instead"));
        }
        if let Some((name, attr)) = other.successor {
            let mut edits = vec![(range, name.to_owned())];
            let mut added = String::new();
            if !attr.is_empty() {
                added += &format!(", {attr}");
            }
            // TVM would read the new call without its attributes.
            let key = operators::find(name).filter(|successor| successor.detached);
            if let Some(schema) = key.and_then(|successor| successor.schema)
                && (!attr.is_empty() || !call.written.is_empty())
            {
                added += &format!(", attrs_type_key=\"{}\"", schema.key);
            }
            if !added.is_empty()
                && let Some(last) = view.end_of_arguments(number, call)
            {
                edits.push((TextRange::empty(last), added));
            }
            diagnostic = diagnostic.fix(format!("Write `{name}`"), edits);
        }
        findings.fold(diagnostic);
    }
}

/// The finding about a call that only other releases write.
fn other_form(
    operator: &operators::Operator,
    call: &CallData,
    release: Release,
    range: TextRange,
) -> Diagnostic {
    let releases = call.releases;
    // A row of other releases has the names of the one of 0.14.
    let now = operators::find(operator.name).unwrap_or(operator);
    let written = now.formerly.iter().find(|(_, former)| *former == releases);
    let message = match written {
        Some((name, _)) => {
            format!(
                "`{name}` is the name of `{}` in TVM {releases}, not in {release}",
                operator.name
            )
        }
        None if !operator.releases.has(release) => format!(
            "`{}` is an operator of TVM {}, not of {release}",
            operator.name, operator.releases
        ),
        None => format!(
            "a call of `{}` has these arguments and attributes in TVM {releases}, not in {release}",
            operator.name
        ),
    };
    let diagnostic = Diagnostic::new(Code::TvmOtherVersion, range, message);
    match written {
        _ if release != Release::DEFAULT => diagnostic,
        Some(_) => diagnostic.fix("Use the name of 0.14", [(range, operator.name.to_owned())]),
        None => diagnostic.help(format!(
            "TVM 0.14 has the arguments {}",
            operator.args.iter().map(|arg| format!("`{arg}`")).collect::<Vec<_>>().join(", ")
        )),
    }
}

/// Reports a `free_var` in a definition.
fn free_variables(view: &View<'_>, number: UnitId, findings: &mut MergedDiagnostics<'_>) {
    if view.def.kind(view.db) == DefKind::Expr {
        return;
    }
    let binders = view.unit(number).binders.iter();
    for binder in binders.filter(|binder| binder.kind == BinderKind::Free) {
        let message =
            format!("TVM does not allow free variables in a definition: `{}`", binder.name);
        findings.fold(
            Diagnostic::new(Code::TvmFreeVariable, view.place(number, binder.range), message)
                .help("make it a parameter"),
        );
    }
}

/// Reports references to the metadata section of a module without one.
fn metadata(view: &View<'_>, number: UnitId, findings: &mut MergedDiagnostics<'_>) {
    let mut note = |range: TextRange| {
        findings.fold(
            Diagnostic::new(
                Code::TvmMetadata,
                range,
                "TVM cannot resolve this reference without a metadata section",
            )
            .help("print the module with its metadata: `mod.astext(show_meta_data=True)`"),
        );
    };
    let metas = view.exprs(number).filter(|(_, expr, _)| matches!(expr, Expr::Meta(_)));
    metas.for_each(|(.., range)| note(range));
    for call in &view.unit(number).calls {
        if call.meta_attrs.is_some() {
            note(view.place(number, call.callee_range));
        }
        for attr in &call.written {
            if has_meta(&attr.value) {
                note(view.place(number, attr.value_range));
            }
        }
    }
}
