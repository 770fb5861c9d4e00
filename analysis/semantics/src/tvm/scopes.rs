//! Variables that TVM resolves to a different binding of the same name.
//!
//! TVM's parser keeps the first binding of a name in a scope, and opens a new scope after each
//! `let` instead of before it. So the first `let` of a function does not shadow a parameter, and
//! the value of a `let` sees the new binding:
//!
//! ```text
//! def @f(%x: float32) { let %x = exp(%x); %x }   // TVM: `%x` is the parameter
//! ```
//!
//! A graph variable is bound once in a file. This module resolves each name as TVM does, and
//! compares the result with the scopes of the body.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{Node, SyntaxKind, TextRange, TextSize};

use super::{Edit, MergedDiagnostics};
use crate::{
    body::*,
    db::Db,
    diagnostic::{Code, Diagnostic},
    item::{Def, Module},
    queries,
    scope::{GraphNumbers, graph_number},
    view::View,
};

/// Reports local variables that TVM resolves differently.
pub(super) fn check_locals(view: &View<'_>, findings: &mut MergedDiagnostics<'_>) {
    if !view.scopes.equal_names {
        return;
    }
    let uses = Uses::of(view);
    let mut reader = Reader::default();
    reader.read(view.root());
    // Of the two bindings, the later one is renamed.
    let mut renamed: FxHashSet<TextRange> = FxHashSet::default();
    for (place, taken) in reader.uses {
        let Some(&meant) = uses.binder_at.get(&place.start()) else { continue };
        if meant == taken {
            continue;
        }
        let later = if meant.start() > taken.start() { meant } else { taken };
        if !renamed.insert(later) {
            continue;
        }
        let Some(name) = uses.names.get(&later) else { continue };
        let message = if later == meant {
            format!("TVM ignores this `{name}`, and uses the one before it")
        } else {
            format!(
                "TVM resolves `{name}` in its own value to the new binding, not to the one before it"
            )
        };
        let fresh = uses.fresh_name(name, renamed.len());
        let places = uses.uses.get(&later).into_iter().flatten();
        let edits = places.chain([&later]).map(|&range| (range, fresh.clone()));
        findings.add(
            Diagnostic::new(Code::TvmShadowedLet, later, message)
                .related(place, "this use resolves differently")
                .fix(format!("Rename it to `{fresh}`"), edits),
        );
    }
}

/// The uses of the variables of a body, as the scopes resolve them.
#[derive(Default)]
struct Uses {
    /// The binder of each use, by the start of the use.
    binder_at: FxHashMap<TextSize, TextRange>,
    /// The uses of each binder.
    uses: FxHashMap<TextRange, Vec<TextRange>>,
    names: FxHashMap<TextRange, Name>,
    taken: FxHashSet<Name>,
}

impl Uses {
    fn of(view: &View<'_>) -> Uses {
        let mut found = Uses::default();
        for (number, unit) in view.body.units() {
            for binder in &unit.binders {
                found.names.insert(view.place(number, binder.range), binder.name.clone());
                found.taken.insert(binder.name.clone());
            }
            found.taken.extend(unit.frees.iter().map(|free| free.name.clone()));
            for (expr_ref, expr, place) in view.exprs(number) {
                if matches!(expr, Expr::Bound(_) | Expr::Free(_))
                    && let Some(binding) = view.variable(expr_ref)
                {
                    let binder = view.binding_range(binding);
                    found.binder_at.insert(place.start(), binder);
                    found.uses.entry(binder).or_default().push(place);
                }
            }
        }
        found
    }

    /// Returns an unused name derived from `name`; different numbers give different names.
    fn fresh_name(&self, name: &str, number: usize) -> String {
        let mut fresh = format!("{name}_{}", number + 1);
        while self.taken.contains(fresh.as_str()) {
            fresh.push('_');
        }
        fresh
    }
}

/// The name resolution of TVM's parser.
#[derive(Default)]
struct Reader<'t> {
    /// The number of open scopes. A body with n `let`s has n nested scopes.
    depth: usize,
    /// The bindings of each name with the depths of their scopes, the innermost last.
    bound: FxHashMap<&'t str, Vec<(usize, TextRange)>>,
    /// The bound names in order, with the depths of their scopes.
    log: Vec<(usize, &'t str)>,
    free: FxHashMap<&'t str, TextRange>,
    /// Each use, and the binder that TVM resolves it to.
    uses: Vec<(TextRange, TextRange)>,
    tasks: Vec<Task<'t>>,
}

/// A pending step of [`Reader::read`], which uses an explicit stack because a body may be a chain
/// of any length.
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
                        // The first binding in a scope is kept.
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
                        // The body of a function has no scope of its own.
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

/// Pushes the statements of a block. Each `let` opens a scope after it, which ends with the block.
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

/// Returns the name and the range of a local variable at a binder or a use.
fn local(node: Node<'_>) -> Option<(&str, TextRange)> {
    let token = node.token(SyntaxKind::LOCAL)?;
    Some((token.text(), node.range()))
}

/// Reports graph variables with a number that is bound before in the file.
pub(super) fn check_graph_variables<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    findings: &mut MergedDiagnostics<'_>,
) {
    let computing = |def: &Def<'_>| def.kind(db).has_body();
    let defs: Vec<Def<'_>> = module.items(db).iter().copied().filter(computing).collect();
    // Fast path: TVM prints ascending numbers.
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
    let mut again: Vec<(usize, UnitId, u32, u64)> = Vec::new();
    let bodies: Vec<_> = defs.iter().map(|&def| queries::body(db, def)).collect();
    for (at, (def, body)) in defs.iter().zip(&bodies).enumerate() {
        let source = queries::source_map(db, *def);
        for (number, unit) in body.units() {
            for (i, binder) in unit.binders.iter().enumerate() {
                if binder.kind != BinderKind::Graph {
                    continue;
                }
                let Some(number_of) = graph_number(&binder.name) else { continue };
                let range = source.range(number, binder.range) + def.start(db);
                if *first.entry(number_of).or_insert(range) != range {
                    again.push((at, number, i as u32, number_of));
                }
            }
        }
    }
    let mut fresh = first.keys().max().map_or(0, |max| max.saturating_add(1));
    for group in again.chunk_by(|a, b| a.0 == b.0) {
        let Some(view) = group.first().and_then(|again| View::new(db, defs[again.0])) else {
            continue;
        };
        let uses = Uses::of(&view);
        for &(_, unit, binder, number) in group {
            let binding = crate::body::LocalRef { unit, binder: BinderId(binder) };
            let range = view.binding_range(binding);
            let new = format!("%{fresh}");
            fresh = fresh.saturating_add(1);
            let places = uses.uses.get(&range).into_iter().flatten();
            let edits: Vec<Edit> =
                places.chain([&range]).map(|&range| (range, new.clone())).collect();
            let name = &view.binder(binding).name;
            let message =
                format!("TVM allows one `{name}` per file, and resolves this one to the first");
            let mut diagnostic = Diagnostic::new(Code::TvmGraphVariable, range, message)
                .fix("Renumber the graph variables", edits);
            if let Some(&there) = first.get(&number) {
                diagnostic = diagnostic.related(there, "the first");
            }
            findings.fold(diagnostic);
        }
    }
}
