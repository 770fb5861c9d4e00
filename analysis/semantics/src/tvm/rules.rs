//! The rules of TVM that change the other checks, if the setting says that they hold.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use syntax::{
    SyntaxKind, TextRange, TextSize,
    ast::{self, AstNode},
};

use crate::{
    body::*,
    db::{Db, Rules, Settings},
    view::View,
};

/// Returns true if TVM's rules hold: what it rejects is an error.
pub(crate) fn hold(db: &dyn Db) -> bool {
    Settings::get(db).rules(db) != Rules::General
}

/// Returns true if names of the prelude need no definition. TVM does not import it implicitly.
pub fn imports_prelude(db: &dyn Db) -> bool {
    !hold(db)
}

/// Returns true for the name of a type that TVM prints although no module defines it: that of its
/// memory handle.
pub(crate) fn is_printed_type(db: &dyn Db, name: &str) -> bool {
    name == "Storage" && !hold(db)
}

/// Returns the range of the first of the graph bindings directly before the tail expression at
/// `range`, at which TVM reports errors in that expression, if its rules hold:
///
/// ```text
/// %0 = nn.relu(%x);   // TVM reports the error here
/// add(%0)             // the error
/// ```
pub(crate) fn start_of_tail(view: &View<'_>, range: TextRange) -> Option<TextRange> {
    if !hold(view.db) {
        return None;
    }
    let start = view.start();
    let own = TextRange::new(range.start().checked_sub(start)?, range.end().checked_sub(start)?);
    let path = view.def.node(view.db).path_to(own);
    let at = path.iter().rposition(|node| node.kind() == SyntaxKind::BLOCK)?;
    let block = path[at];
    let tail = ast::Block::cast(block)?.tail()?.node();
    let is_tail = tail.start() == own.start()
        || tail.kind() == SyntaxKind::PAREN_EXPR && tail.range().contains_range(own);
    if !is_tail {
        return None;
    }
    let run = block.children().rev().skip_while(|node| node.start() >= tail.start());
    let first = run.take_while(|node| node.kind() == SyntaxKind::GRAPH_STMT).last()?;
    let name = first.child(SyntaxKind::NAME)?;
    Some(name.range() + start)
}

/// A set of disjoint text ranges, from start to end.
#[derive(Default)]
pub(crate) struct RangeSet(BTreeMap<TextSize, TextSize>);

impl RangeSet {
    /// Returns true if one of the ranges contains `range`.
    pub(crate) fn contains(&self, range: TextRange) -> bool {
        let before = self.0.range(..=range.start()).next_back();
        before.is_some_and(|(_, end)| range.end() <= *end)
    }
}

/// Returns the ranges of the graph bindings that TVM drops without a check: none, unless its rules
/// hold.
pub(crate) fn dropped_bindings(view: &View<'_>) -> RangeSet {
    if hold(view.db) { dead_bindings(view) } else { RangeSet::default() }
}

/// Returns the ranges of graph bindings that are unused, or used only by other such bindings.
pub(super) fn dead_bindings(view: &View<'_>) -> RangeSet {
    // Every graph binding with the range of its statement, and the ranges of its uses.
    let mut statements: Vec<(LocalRef, TextRange)> = Vec::new();
    let mut uses: FxHashMap<LocalRef, Vec<TextRange>> = FxHashMap::default();
    for (number, unit) in view.body.units() {
        for (i, expr) in unit.exprs.iter().enumerate() {
            let expr_ref = ExprRef { unit: number, expr: ExprId(i as u32) };
            match expr {
                Expr::Bind { binder, .. } if unit.binder(*binder).kind == BinderKind::Graph => {
                    let binding = LocalRef { unit: number, binder: *binder };
                    statements.push((binding, view.range(expr_ref)));
                }
                _ => {
                    if let Some(binding) = view.variable(expr_ref) {
                        uses.entry(binding).or_default().push(view.range(expr_ref));
                    }
                }
            }
        }
    }
    let mut dead = RangeSet::default();
    // A binding precedes its uses, so that one backward pass is enough. It follows the bindings
    // inside of it, so that the ranges stay disjoint.
    for (binding, range) in statements.into_iter().rev() {
        let places = uses.get(&binding).map_or(&[][..], Vec::as_slice);
        if !dead.contains(range) && places.iter().all(|place| dead.contains(*place)) {
            dead.0.insert(range.start(), range.end());
        }
    }
    dead
}
