//! Definitions as local functions of `@main`, and local functions as definitions.

use std::collections::{HashMap, HashSet};

use ide::edit::Edits;
use semantics::View;
use syntax::{
    Node, SyntaxKind, TextRange,
    ast::{self, AstNode},
};

use super::{
    Change, Piece,
    names::{bindings, of_globals, uses},
};
use crate::programs::meaning::Program;

/// A definition in the syntax tree.
struct Definition<'t> {
    node: ast::FnDef<'t>,
    name: String,
    /// The definitions that it refers to.
    names: HashSet<String>,
}

fn definitions<'t>(root: Node<'t>) -> Vec<Definition<'t>> {
    let defs = root.children().filter_map(ast::FnDef::cast);
    defs.filter_map(|node| {
        let name = node.name()?.text().into_owned();
        let body = node.body()?.node();
        let inside = body.descendants().filter(|node| node.kind() == SyntaxKind::GLOBAL_REF);
        let tokens = inside.filter_map(|node| node.token(SyntaxKind::GLOBAL));
        let names = tokens.map(|token| token.text().to_owned()).collect();
        Some(Definition { node, name, names })
    })
    .collect()
}

/// Returns the definitions that can become local functions of `@main`, each after its dependencies: a
/// local function is in scope only in itself and the following statements.
fn movable(defs: &[Definition<'_>]) -> Vec<usize> {
    let mut chosen: HashSet<usize> =
        (0..defs.len()).filter(|&at| defs[at].name != "@main").collect();
    // Each round except the last removes at least one.
    loop {
        let mut ordered: Vec<usize> = Vec::new();
        let is_ready = |at: usize, ordered: &[usize]| {
            (0..defs.len()).all(|other| {
                let needs = other != at && defs[at].names.contains(&defs[other].name);
                !needs || !chosen.contains(&other) || ordered.contains(&other)
            })
        };
        while let Some(next) = (0..defs.len())
            .find(|at| chosen.contains(at) && !ordered.contains(at) && is_ready(*at, &ordered))
        {
            ordered.push(next);
        }
        let stays_used = |at: usize| {
            defs.iter().enumerate().any(|(other, def)| {
                def.name != "@main"
                    && !ordered.contains(&other)
                    && def.names.contains(&defs[at].name)
            })
        };
        let kept: HashSet<usize> = ordered.iter().copied().filter(|&at| !stays_used(at)).collect();
        if kept.len() == chosen.len() {
            return ordered;
        }
        chosen = kept;
    }
}

/// Converts definitions to local functions of `@main`; `None` if none can be converted.
pub fn to_lets(program: &Program) -> Option<Change> {
    let text = &program.text;
    // An unbound name in a definition could be captured by a variable of `@main`.
    if program.views().iter().any(|view| !view.scopes.unknown.is_empty()) {
        return None;
    }
    let parse = syntax::parse(text);
    let root = Node::root(&parse.green);
    let defs = definitions(root);
    let main = defs.iter().find(|def| def.name == "@main")?;
    let block = main.node.body()?.node();
    let inside = block.children().next()?.start();
    let moved = movable(&defs);
    if moved.is_empty() || text.contains("%lifted") {
        return None;
    }
    let mut pieces = Vec::new();
    let mut done = syntax::TextSize::new(0);
    let mut names: HashMap<String, String> = HashMap::new();
    let mut lets = Vec::new();
    for (number, &at) in moved.iter().enumerate() {
        let (def, local) = (&defs[at], format!("%lifted{number}"));
        let range = def.node.range();
        let head = def.node.name()?.range().end();
        lets.extend([
            Piece::New(format!("let {local} = fn ")),
            Piece::Old(TextRange::new(head, range.end())),
            Piece::New(";\n".into()),
        ]);
        names.insert(def.name.clone(), local);
    }
    let mut cuts: Vec<(TextRange, Vec<Piece>)> =
        moved.iter().map(|&at| (defs[at].node.range(), Vec::new())).collect();
    cuts.push((TextRange::empty(inside), lets));
    cuts.sort_by_key(|(range, _)| range.start());
    for (range, with) in cuts {
        pieces.push(Piece::Old(TextRange::new(done, range.start())));
        pieces.extend(with);
        done = range.end();
    }
    pieces.push(Piece::Old(TextRange::new(done, root.range().end())));
    let mut change = Change::pieces(text, &pieces);
    for name in names.keys() {
        change = change.with_name(name.clone(), "");
    }
    let edits = of_globals(&change.text, &names);
    let next = Change::renamed(&change.text, edits);
    Some(change.then(next))
}

/// A binding of a closed function.
struct ClosedFunction<'t> {
    stmt: Node<'t>,
    value: Node<'t>,
    binding: semantics::body::LocalRef,
}

fn closed_functions<'t>(view: &View<'_>, root: Node<'t>) -> Vec<ClosedFunction<'t>> {
    let (all, used) = (bindings(view), uses(view));
    let mut found = Vec::new();
    for stmt in root.descendants() {
        let (name, value, ty) = match (ast::LetStmt::cast(stmt), ast::GraphStmt::cast(stmt)) {
            (Some(stmt), _) => (stmt.name(), stmt.value().map(|v| v.node()), stmt.ty()),
            (_, Some(stmt)) => (stmt.name(), stmt.value().map(|v| v.node()), None),
            _ => continue,
        };
        let (Some(name), Some(value), None) = (name, value, ty) else { continue };
        let binding = all.iter().find(|b| view.binding_range(**b) == name.range());
        let Some(&binding) = binding else { continue };
        if value.kind() != SyntaxKind::FN_EXPR {
            continue;
        }
        let range = value.range();
        let is_closed = used
            .iter()
            .filter(|(_, place)| range.contains_range(*place))
            .all(|(used, _)| *used == binding || range.contains_range(view.binding_range(*used)));
        if is_closed && !names_outer_params(root, value) {
            found.push(ClosedFunction { stmt, value, binding });
        }
    }
    found
}

/// Returns true if `inner` may refer to type parameters of enclosing functions.
pub(super) fn names_outer_params(root: Node<'_>, inner: Node<'_>) -> bool {
    let path = root.path_to(inner.range());
    let outer: HashSet<&str> = path
        .iter()
        .filter(|node| node.range() != inner.range())
        .filter_map(|node| node.child(SyntaxKind::TYPE_PARAM_LIST))
        .flat_map(|list| list.children())
        .filter_map(|param| param.token(SyntaxKind::IDENT))
        .map(|token| token.text())
        .collect();
    inner.descendants().any(|node| {
        let names = node.tokens().filter(|token| token.kind() == SyntaxKind::IDENT);
        names.into_iter().any(|token| outer.contains(token.text()))
    })
}

/// Converts a closed local function, selected by `at`, to a definition.
pub fn to_definition(program: &Program, at: usize) -> Option<Change> {
    let text = &program.text;
    let parse = syntax::parse(text);
    let root = Node::root(&parse.green);
    if text.contains("@lifted") {
        return None;
    }
    let views = program.views();
    let mut all = Vec::new();
    for view in &views {
        // Positions are relative to the file.
        let range = view.def.node(view.db).range() + view.def.start(view.db);
        let Some(node) = root.children().find(|node| node.range() == range) else { continue };
        all.extend(closed_functions(view, node).into_iter().map(|found| (view, node, found)));
    }
    if all.is_empty() {
        return None;
    }
    let (view, def, found) = &all[at % all.len()];
    let end = def.range().end();
    let keyword = found.value.tokens().find(|token| !token.kind().is_trivia())?;
    let (stmt, value) = (found.stmt.range(), found.value.range());
    let pieces = [
        Piece::Old(TextRange::new(0.into(), stmt.start())),
        Piece::Old(TextRange::new(stmt.end(), end)),
        Piece::New("\ndef @lifted".into()),
        Piece::Old(TextRange::new(keyword.range().end(), value.end())),
        Piece::New("\n".into()),
        Piece::Old(TextRange::new(end, root.range().end())),
    ];
    let change = Change::pieces(text, &pieces);
    let places = uses(view).into_iter().filter(|(binding, _)| *binding == found.binding);
    let edits: Edits = places
        .filter_map(|(_, place)| Some((change.place_of(place)?, "@lifted".to_owned())))
        .collect();
    let next = Change::renamed(&change.text, edits);
    Some(change.then(next))
}

/// The text of a range.
pub(super) fn slice(text: &str, range: TextRange) -> &str {
    &text[range]
}
