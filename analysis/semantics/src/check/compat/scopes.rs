//! Variables that TVM takes for others of their name.
//!
//! TVM's reader keeps the first binding of a name in a scope and opens a new scope behind each
//! `let`, not before it. So the first `let` of a function does not hide a parameter, and a name is
//! bound already where the value of its own `let` is read. Graph variables are bound once in a
//! file. What each name means to TVM is worked out here and held against what it means.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{Node, SyntaxKind, TextRange, TextSize};

use super::{Compat, Edit};
use crate::{
    body::*,
    db::Db,
    diagnostic::Diagnostic,
    item::{Def, DefKind, Module},
    queries,
    scope::{GraphNumbers, graph_number},
    view::View,
};

/// `let`s and patterns that TVM does not see, or sees where they are not.
pub(super) fn check_locals(view: &View<'_>, compat: &mut Compat<'_>) {
    if !view.scopes.equal_names {
        return;
    }
    let meant = Uses::of(view);
    let mut reader = Reader::default();
    let root = Node::at(view.def.green(view.db), view.def.start(view.db));
    reader.read(root);
    // Of two variables that are taken for each other, the later gets another name.
    let mut renamed: FxHashSet<TextRange> = FxHashSet::default();
    for (place, taken) in reader.uses {
        let Some(&wanted) = meant.binder_at.get(&place.start()) else { continue };
        if wanted == taken {
            continue;
        }
        let later = if wanted.start() > taken.start() { wanted } else { taken };
        if !renamed.insert(later) {
            continue;
        }
        let Some(name) = meant.names.get(&later) else { continue };
        let message = if later == wanted {
            format!("TVM does not see this `{name}`, but the one before")
        } else {
            format!("TVM takes `{name}` in its own value for the new one, not for the one before")
        };
        let fresh = meant.fresh_name(name, renamed.len());
        let places = meant.uses.get(&later).into_iter().flatten();
        let edits = places.chain([&later]).map(|&range| (range, fresh.clone()));
        compat.add(
            Diagnostic::new("tvm-shadowed-let", later, message)
                .related(place, "where it matters")
                .fix(format!("Rename it to `{fresh}`"), edits),
        );
    }
}

/// What each use of a variable means.
#[derive(Default)]
struct Uses {
    /// The name that is bound, by where it is used.
    binder_at: FxHashMap<TextSize, TextRange>,
    /// Where a name that is bound is used.
    uses: FxHashMap<TextRange, Vec<TextRange>>,
    names: FxHashMap<TextRange, Name>,
    taken: FxHashSet<Name>,
}

impl Uses {
    fn of(view: &View<'_>) -> Uses {
        let mut found = Uses::default();
        for (number, unit) in view.body.units.iter().enumerate() {
            for binder in &unit.binders {
                found.names.insert(view.place(number, binder.range), binder.name.clone());
                found.taken.insert(binder.name.clone());
            }
            found.taken.extend(unit.frees.iter().map(|free| free.name.clone()));
            for (i, expr) in unit.exprs.iter().enumerate() {
                if !matches!(expr, Expr::Bound(_) | Expr::Free(_)) {
                    continue;
                }
                let spot = crate::view::Spot { unit: number, expr: ExprId(i as u32) };
                if let Some(binding) = view.variable(spot) {
                    let (place, binder) = (view.range(spot), view.binding_range(binding));
                    found.binder_at.insert(place.start(), binder);
                    found.uses.entry(binder).or_default().push(place);
                }
            }
        }
        found
    }

    /// A name like `name` that nothing is called by. Names given in one go differ.
    fn fresh_name(&self, name: &str, number: usize) -> String {
        let mut fresh = format!("{name}_{}", number + 1);
        while self.taken.contains(fresh.as_str()) {
            fresh.push('_');
        }
        fresh
    }
}

/// Reads a definition as TVM does, as far as variables go.
#[derive(Default)]
struct Reader<'t> {
    /// How many scopes are open. A body of n `let`s has n, one inside the other.
    depth: usize,
    /// What each name is bound to, with the depth of the scope; the innermost last.
    bound: FxHashMap<&'t str, Vec<(usize, TextRange)>>,
    /// The names that are bound, in order, with the depths of their scopes.
    log: Vec<(usize, &'t str)>,
    free: FxHashMap<&'t str, TextRange>,
    /// Each use, and the name that it means to TVM.
    uses: Vec<(TextRange, TextRange)>,
    tasks: Vec<Task<'t>>,
}

/// What is still to be read. Nothing here recurses: a body may be a chain of any length.
enum Task<'t> {
    Read(Node<'t>),
    Bind(Node<'t>),
    BindFree(Node<'t>),
    Enter,
    Leave(usize),
}

impl<'t> Reader<'t> {
    fn read(&mut self, root: Node<'t>) {
        self.depth = 1;
        self.tasks.push(Task::Read(root));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Read(node) => self.node(node),
                Task::Bind(name) => {
                    if let Some((name, range)) = local(name) {
                        let bound = self.bound.entry(name).or_default();
                        // The first binding in a scope stays.
                        if bound.last().is_none_or(|(depth, _)| *depth < self.depth) {
                            bound.push((self.depth, range));
                            self.log.push((self.depth, name));
                        }
                    }
                }
                Task::BindFree(name) => {
                    if let Some((name, range)) = local(name) {
                        self.free.entry(name).or_insert(range);
                    }
                }
                Task::Enter => self.depth += 1,
                Task::Leave(count) => {
                    self.depth = self.depth.saturating_sub(count);
                    while let Some((_, name)) = self.log.pop_if(|(depth, _)| *depth > self.depth) {
                        if let Some(bound) = self.bound.get_mut(name) {
                            bound.pop();
                        }
                    }
                }
            }
        }
    }

    fn node(&mut self, node: Node<'t>) {
        let mut next: Vec<Task<'t>> = Vec::new();
        match node.kind() {
            SyntaxKind::LOCAL_REF => {
                if let Some((name, _)) = local(node) {
                    let bound = self.bound.get(name).and_then(|bound| bound.last());
                    let bound = bound.map(|(_, range)| range).or_else(|| self.free.get(name));
                    if let Some(&bound) = bound {
                        self.uses.push((node.range(), bound));
                    }
                }
            }
            SyntaxKind::FN_DEF | SyntaxKind::FN_EXPR => {
                next.push(Task::Enter);
                for child in node.children() {
                    match child.kind() {
                        SyntaxKind::PARAM_LIST => {
                            let params = child.children();
                            next.extend(
                                params.filter_map(|p| p.child(SyntaxKind::NAME)).map(Task::Bind),
                            );
                        }
                        // The body of a function is no scope of its own.
                        SyntaxKind::BLOCK => statements(child, &mut next),
                        _ => {}
                    }
                }
                next.push(Task::Leave(1));
            }
            SyntaxKind::BLOCK => {
                let braces = node.token(SyntaxKind::L_BRACE).is_some();
                if braces {
                    next.push(Task::Enter);
                }
                statements(node, &mut next);
                if braces {
                    next.push(Task::Leave(1));
                }
            }
            SyntaxKind::ARM => {
                next.push(Task::Enter);
                for child in node.children() {
                    match child.kind() {
                        SyntaxKind::VAR_PAT
                        | SyntaxKind::CONSTRUCTOR_PAT
                        | SyntaxKind::TUPLE_PAT => {
                            let names =
                                child.descendants().filter(|n| n.kind() == SyntaxKind::NAME);
                            next.extend(names.map(Task::Bind));
                        }
                        _ => next.push(Task::Read(child)),
                    }
                }
                next.push(Task::Leave(1));
            }
            _ => next.extend(node.children().map(Task::Read)),
        }
        self.tasks.extend(next.into_iter().rev());
    }
}

/// The statements of a block: behind each `let` begins a scope, which ends with the block.
fn statements<'t>(block: Node<'t>, next: &mut Vec<Task<'t>>) {
    let mut scopes = 0;
    for node in block.children() {
        let name = node.child(SyntaxKind::NAME);
        let rest = |next: &mut Vec<Task<'t>>| {
            let values = node.children().filter(|child| child.kind() != SyntaxKind::NAME);
            next.extend(values.map(Task::Read));
        };
        match node.kind() {
            SyntaxKind::LET_STMT => {
                next.extend(name.map(Task::Bind));
                rest(next);
                next.push(Task::Enter);
                scopes += 1;
            }
            SyntaxKind::FREE_VAR_STMT => next.extend(name.map(Task::BindFree)),
            SyntaxKind::GRAPH_STMT | SyntaxKind::EXPR_STMT => rest(next),
            _ => next.push(Task::Read(node)),
        }
    }
    next.push(Task::Leave(scopes));
}

/// The local variable that a name or a use consists of.
fn local(node: Node<'_>) -> Option<(&str, TextRange)> {
    let token = node.token(SyntaxKind::LOCAL)?;
    Some((token.text(), node.range()))
}

/// A second graph variable of one number in a file.
pub(super) fn check_graph_variables<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    compat: &mut Compat<'_>,
) {
    let computing = |def: &Def<'_>| matches!(def.kind(db), DefKind::Fn | DefKind::Expr);
    let defs: Vec<Def<'_>> = module.items(db).iter().copied().filter(computing).collect();
    // As TVM prints them, they ascend through the file.
    let mut last: Option<u64> = None;
    let ascend = defs.iter().all(|&def| match queries::scopes(db, def).graphs {
        GraphNumbers::None => true,
        GraphNumbers::Ascending(from, to) => last.replace(to).is_none_or(|last| last < from),
        GraphNumbers::Any => false,
    });
    if ascend {
        return;
    }
    let mut first: FxHashMap<u64, TextRange> = FxHashMap::default();
    let mut again: Vec<(usize, u32, u32, u64)> = Vec::new();
    let bodies: Vec<_> = defs.iter().map(|&def| queries::body(db, def)).collect();
    for (at, (def, body)) in defs.iter().zip(&bodies).enumerate() {
        for (number, unit) in body.units.iter().enumerate() {
            for (i, binder) in unit.binders.iter().enumerate() {
                if binder.kind != BinderKind::Graph {
                    continue;
                }
                let Some(number_of) = graph_number(&binder.name) else { continue };
                match first.entry(number_of) {
                    std::collections::hash_map::Entry::Occupied(_) => {
                        again.push((at, number as u32, i as u32, number_of));
                    }
                    std::collections::hash_map::Entry::Vacant(entry) => {
                        entry.insert(binder.range + body.starts[number] + def.start(db));
                    }
                }
            }
        }
    }
    let mut fresh = first.keys().max().map_or(0, |max| max.saturating_add(1));
    for group in again.chunk_by(|a, b| a.0 == b.0) {
        let Some(view) = group.first().and_then(|again| View::new(db, defs[again.0])) else {
            continue;
        };
        let meant = Uses::of(&view);
        for &(_, unit, binder, number) in group {
            let binding = crate::scope::Binding { unit, binder: BinderId(binder) };
            let range = view.binding_range(binding);
            let new = format!("%{fresh}");
            fresh = fresh.saturating_add(1);
            let places = meant.uses.get(&range).into_iter().flatten();
            let edits: Vec<Edit> =
                places.chain([&range]).map(|&range| (range, new.clone())).collect();
            let name = &view.binder(binding).name;
            let message =
                format!("TVM has one `{name}` in a file, and takes this one for the first");
            let mut diagnostic = Diagnostic::new("tvm-graph-variable", range, message)
                .fix("Number the graph variables through", edits);
            if let Some(&there) = first.get(&number) {
                diagnostic = diagnostic.related(there, "the first");
            }
            compat.fold(diagnostic);
        }
    }
}
