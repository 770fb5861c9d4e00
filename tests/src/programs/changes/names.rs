//! Alpha-renaming: other names for variables, type parameters and definitions.

use std::collections::{HashMap, HashSet};

use ide::edit::Edits;
use semantics::{
    DefKind, ExprRef, View,
    body::{BinderId, BinderKind, ExprId, LocalRef},
};
use syntax::{Node, SyntaxKind, TextRange};

use super::{Change, Piece};
use crate::programs::meaning::Program;

/// Returns every variable of a definition, in binding order.
pub(super) fn bindings(view: &View<'_>) -> Vec<LocalRef> {
    let mut found = Vec::new();
    for (number, unit) in view.body.units() {
        for at in 0..unit.binders.len() {
            found.push(LocalRef { unit: number, binder: BinderId(at as u32) });
        }
    }
    found.sort_by_key(|binding| view.binding_range(*binding).start());
    found
}

/// Returns the uses of variables with their bindings, in text order.
pub(super) fn uses(view: &View<'_>) -> Vec<(LocalRef, TextRange)> {
    let mut found = Vec::new();
    for (number, unit) in view.body.units() {
        for at in 0..unit.exprs.len() {
            let spot = ExprRef { unit: number, expr: ExprId(at as u32) };
            if let Some(binding) = view.variable(spot) {
                found.push((binding, view.range(spot)));
            }
        }
    }
    found.sort_by_key(|(_, range)| range.start());
    found.dedup();
    found
}

/// Renames every variable to a fresh name.
pub fn locals(program: &Program) -> Change {
    let text = &program.text;
    let taken: HashSet<&str> = identifiers(text).collect();
    let mut number = 0;
    let mut fresh = |is_graph: bool| loop {
        number += 1;
        let name = if is_graph { format!("%{}", 1000 + number) } else { format!("%x{number}") };
        if !taken.contains(name.as_str()) {
            return name;
        }
    };
    let mut edits = Edits::new();
    for view in program.views() {
        let mut names: HashMap<LocalRef, String> = HashMap::new();
        for binding in bindings(&view) {
            let binder = view.binder(binding);
            let range = view.binding_range(binding);
            // TVM prints names of other frameworks with dots (`%input.1`). A name of the
            // wrong kind (`%x = 1;`) is an error that stays.
            let twice = is_bound_twice(&view, binding);
            let is_number = binder.name[1..].bytes().all(|b| b.is_ascii_digit());
            if text[range] == *binder.name
                && is_number == (binder.kind == BinderKind::Graph)
                && !twice
            {
                let name = fresh(binder.kind == BinderKind::Graph);
                edits.push((range, name.clone()));
                names.insert(binding, name);
            }
        }
        for (binding, range) in uses(&view) {
            if let Some(name) = names.get(&binding)
                && text[range] == *view.binder(binding).name
            {
                edits.push((range, name.clone()));
            }
        }
    }
    Change::renamed(text, edits)
}

/// Returns true if a parameter or pattern variable may have the same name as another one of its list,
/// which is an error.
fn is_bound_twice(view: &View<'_>, binding: LocalRef) -> bool {
    let unit = view.unit(binding.unit);
    let own = view.binder(binding);
    let is_same = |other: BinderId| other != binding.binder && unit.binder(other).name == own.name;
    match own.kind {
        BinderKind::Param => unit
            .fns
            .iter()
            .filter(|function| function.params.contains(&binding.binder))
            .any(|function| function.params.iter().any(|&other| is_same(other))),
        BinderKind::Pattern => (0..unit.binders.len() as u32)
            .map(BinderId)
            .any(|other| unit.binder(other).kind == BinderKind::Pattern && is_same(other)),
        BinderKind::Let | BinderKind::Graph | BinderKind::Free => false,
    }
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    syntax::tokens(text).map(move |(_, end)| {
        let token = &text[at..usize::from(end)];
        at = usize::from(end);
        token
    })
}

/// Renames every type parameter of a function or data type to a fresh name.
pub fn type_params(program: &Program) -> Change {
    let parse = syntax::parse(&program.text);
    let mut renamer = TypeParams { scopes: Vec::new(), number: 0, edits: Edits::new() };
    let taken: HashSet<&str> = identifiers(&program.text).collect();
    renamer.walk(Node::root(&parse.green), &taken);
    // Type parameters occur only in types.
    Change::renamed(&program.text, renamer.edits)
}

struct TypeParams {
    scopes: Vec<HashMap<String, String>>,
    number: u32,
    edits: Edits,
}

impl TypeParams {
    /// Visits a node recursively; the parser limits the nesting.
    fn walk(&mut self, node: Node<'_>, taken: &HashSet<&str>) {
        let list = node.child(SyntaxKind::TYPE_PARAM_LIST);
        if let Some(list) = list {
            let mut scope = HashMap::new();
            for param in list.children().filter(|node| node.kind() == SyntaxKind::TYPE_PARAM) {
                let Some(token) = param.token(SyntaxKind::IDENT) else { continue };
                let name = loop {
                    self.number += 1;
                    let name = format!("P{}", self.number);
                    if !taken.contains(name.as_str()) {
                        break name;
                    }
                };
                self.edits.push((token.range(), name.clone()));
                scope.entry(token.text().to_owned()).or_insert(name);
            }
            self.scopes.push(scope);
        }
        let uses =
            matches!(node.kind(), SyntaxKind::NAMED_TYPE | SyntaxKind::DIM | SyntaxKind::SHAPE);
        if uses
            && let Some(token) = node.token(SyntaxKind::IDENT)
            && let Some(name) = self.scopes.iter().rev().find_map(|scope| scope.get(token.text()))
        {
            self.edits.push((token.range(), name.clone()));
        }
        for child in node.children() {
            self.walk(child, taken);
        }
        if list.is_some() {
            self.scopes.pop();
        }
    }
}

/// Renames every definition to a fresh name.
pub fn globals(program: &Program) -> Change {
    let text = &program.text;
    let taken: HashSet<&str> = identifiers(text).collect();
    let mut names: HashMap<String, String> = HashMap::new();
    let mut number = 0;
    for def in program.defs() {
        if def.kind(&program.db) != DefKind::Fn {
            continue;
        }
        let name = def.name(&program.db).to_string();
        names.entry(name).or_insert_with(|| {
            loop {
                number += 1;
                let name = format!("@g{number}");
                if !taken.contains(name.as_str()) {
                    return name;
                }
            }
        });
    }
    let mut change = Change::renamed(text, of_globals(text, &names));
    for (old, new) in names {
        change = change.with_name(old, new);
    }
    change
}

/// Returns the edits that rename definitions.
pub(super) fn of_globals(text: &str, names: &HashMap<String, String>) -> Edits {
    let mut edits = Edits::new();
    let mut start = syntax::TextSize::new(0);
    for (kind, end) in syntax::tokens(text) {
        if kind == SyntaxKind::GLOBAL
            && let Some(new) = names.get(&text[TextRange::new(start, end)])
        {
            edits.push((TextRange::new(start, end), new.clone()));
        }
        start = end;
    }
    edits
}

/// Sorts the definitions by `keys`.
pub fn permuted(program: &Program, keys: &[u16]) -> Change {
    let text = &program.text;
    let parse = syntax::parse(text);
    let root = Node::root(&parse.green);
    let items: Vec<Node<'_>> = root.children().collect();
    let end = root.range().end();
    let mut fixed = Vec::new();
    let mut free = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let start = if number == 0 { 0.into() } else { item.start() };
        let next = items.get(number + 1).map_or(end, |next| next.start());
        let range = TextRange::new(start, next);
        match item.kind() {
            SyntaxKind::FN_DEF | SyntaxKind::TYPE_DEF => free.push(range),
            _ => fixed.push((number, range)),
        }
    }
    // The last definition may lack a line break.
    let mut order: Vec<usize> = (0..free.len()).collect();
    order.sort_by_key(|&at| (keys.get(at).copied().unwrap_or(0), at));
    let mut pieces = Vec::new();
    let mut order = order.into_iter();
    for number in 0..items.len() {
        let range = match fixed.iter().find(|(at, _)| *at == number) {
            Some((_, range)) => Some(*range),
            None => order.next().map(|at| free[at]),
        };
        if let Some(range) = range {
            pieces.push(Piece::Old(range));
            pieces.push(Piece::New("\n".into()));
        }
    }
    Change::pieces(text, &pieces)
}
