//! The variables in scope at an offset.

use rustc_hash::FxHashMap;
use semantics::{
    View,
    body::{BinderId, LocalRef, UnitId},
};
use syntax::{
    SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};
use types::Type;

/// A variable in scope.
pub(crate) struct Local<'v> {
    /// The variable.
    pub(crate) binding: LocalRef,
    /// The name with its sigil.
    pub(crate) name: &'v str,
    /// The type.
    pub(crate) ty: &'v Type,
}

/// Returns the variables in scope at `offset` of the file without shadowed ones, the nearest first.
/// `skip` is the range of the name that the statement at `offset` binds.
pub(crate) fn locals<'v>(
    view: &'v View<'_>,
    offset: TextSize,
    skip: Option<TextRange>,
) -> Vec<Local<'v>> {
    let mut found = Vec::new();
    let mut seen: FxHashMap<&str, ()> = FxHashMap::default();
    let mut add = |binding: LocalRef| {
        let binder = view.binder(binding);
        if skip == Some(view.binding_range(binding)) || binder.name.len() < 2 {
            return;
        }
        if seen.insert(binder.name.as_str(), ()).is_none() {
            found.push(Local { binding, name: &binder.name, ty: view.binding_type(binding) });
        }
    };
    let start = view.def.start(view.db);
    let Some(at) = offset.checked_sub(start) else { return found };
    for binding in inner(view, at) {
        add(binding);
    }
    for number in view.source.units_before(at).rev() {
        view.db.unwind_if_revision_cancelled();
        let unit = view.unit(number);
        let bound = unit.binds.filter(|_| view.source.unit(number).end() <= at);
        let params = unit.header().map(|header| header.params.as_slice()).unwrap_or_default();
        for &binder in bound.iter().chain(params.iter().rev()) {
            add(LocalRef { unit: number, binder });
        }
    }
    found
}

/// Returns the variables that are bound inside the statement around `at`, the nearest first:
/// parameters of functions, pattern variables and bindings of inner blocks.
fn inner(view: &View<'_>, at: TextSize) -> Vec<LocalRef> {
    let number = view.source.units_before(at).next_back();
    let Some(number) = number.filter(|&number| number != UnitId::HEADER) else {
        return Vec::new();
    };
    let unit = view.unit(number);
    if unit.binders.len() <= usize::from(unit.binds.is_some()) {
        return Vec::new();
    }
    let base = view.source.unit(number).start();
    let by_place: FxHashMap<TextSize, BinderId> = unit
        .binders
        .iter()
        .enumerate()
        .map(|(i, binder)| (view.source.range(number, binder.range).start(), BinderId(i as u32)))
        .collect();
    let mut found = Vec::new();
    let mut add = |name: Option<ast::Name<'_>>| {
        let place = name.map(|name| name.node().start());
        if let Some(&binder) = place.and_then(|place| by_place.get(&place)) {
            found.push(LocalRef { unit: number, binder });
        }
    };
    let left = at.checked_sub(1.into()).unwrap_or_default();
    let root = view.def.node(view.db);
    let path = root.path_to(TextRange::new(left, at));
    for node in path.iter().rev() {
        match node.kind() {
            // The statements of the outermost block are units.
            SyntaxKind::BLOCK if node.start() >= base => {
                let before = node.children().rev().filter(|stmt| stmt.range().end() <= at);
                for stmt in before {
                    if let Some(stmt) = ast::LetStmt::cast(stmt) {
                        add(stmt.name());
                    } else if let Some(stmt) = ast::GraphStmt::cast(stmt) {
                        add(stmt.name());
                    }
                }
            }
            SyntaxKind::FN_EXPR => {
                let params = ast::FnExpr::cast(*node).and_then(|f| f.params());
                for param in params.into_iter().flat_map(|list| list.params()) {
                    add(param.name());
                }
            }
            SyntaxKind::ARM => {
                let pattern = ast::Arm::cast(*node).and_then(|arm| arm.pattern());
                let pattern = pattern.filter(|pattern| pattern.range().end() <= at);
                let nodes = pattern.into_iter().flat_map(|pattern| pattern.node().descendants());
                nodes.filter_map(ast::VarPat::cast).for_each(|pattern| add(pattern.name()));
            }
            SyntaxKind::LET_STMT if node.start() >= base => {
                // A function is in scope in its own value.
                let stmt = ast::LetStmt::cast(*node);
                let value = stmt.and_then(|stmt| stmt.value());
                if matches!(value, Some(ast::BlockOrExpr::FnExpr(_))) {
                    add(stmt.and_then(|stmt| stmt.name()));
                }
            }
            _ => {}
        }
    }
    found
}
