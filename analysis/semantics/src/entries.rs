//! The uses of entries of the metadata section, and their removal.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use syntax::{SyntaxKind, TextRange, TextSize};
use types::AttrValue;
use weights::{CONSTANT, drop_entries};

use crate::{
    body::{Expr, ExprId, Unit},
    db::Db,
    features::UnitFeatures,
    item::{DefKind, Module},
    lower::meta_parts,
    queries,
    view::{ExprRef, View},
};

/// Returns the views of the definitions of a module that have bodies.
fn views<'db>(db: &'db dyn Db, module: Module<'db>) -> impl Iterator<Item = View<'db>> {
    let defs = module.items(db).iter();
    let defs = defs.filter(|def| matches!(def.kind(db), DefKind::Fn | DefKind::Expr));
    defs.filter_map(move |&def| View::new(db, def))
}

/// Calls `f` with the constants in the attributes of calls.
fn each_attribute(unit: &Unit, mut f: impl FnMut(u32)) {
    let mut left: Vec<&AttrValue> =
        unit.calls.iter().flat_map(|call| &call.written).map(|attr| &attr.value).collect();
    while let Some(value) = left.pop() {
        match value {
            AttrValue::Meta { key, index } if key == CONSTANT => f(*index),
            AttrValue::List(values) => left.extend(values.iter()),
            _ => {}
        }
    }
}

/// Returns the numbers of the constants that a module uses.
pub(crate) fn used_constants(db: &dyn Db, module: Module<'_>) -> FxHashSet<u32> {
    let mut used = FxHashSet::default();
    for view in views(db, module) {
        for number in view.scopes.units_with(UnitFeatures::META) {
            let unit = view.unit(number);
            used.extend(unit.exprs.iter().filter_map(|expr| match expr {
                Expr::Meta(meta) if meta.key == CONSTANT => Some(meta.index),
                _ => None,
            }));
            each_attribute(unit, |index| {
                used.insert(index);
            });
        }
    }
    used
}

/// Returns the expressions that are an entry of the metadata section, with the views of their
/// definitions.
pub fn uses_of_entry<'db>(
    db: &'db dyn Db,
    module: Module<'db>,
    key: &str,
    index: u32,
) -> Vec<(View<'db>, Vec<ExprRef>)> {
    let uses = views(db, module).filter_map(|view| {
        let mut places = Vec::new();
        for unit in view.scopes.units_with(UnitFeatures::META) {
            let exprs = (0u32..).zip(&view.unit(unit).exprs);
            places.extend(exprs.filter_map(|(number, expr)| match expr {
                Expr::Meta(meta) if meta.key == key && meta.index == index => {
                    Some(ExprRef { unit, expr: ExprId(number) })
                }
                _ => None,
            }));
        }
        (!places.is_empty()).then_some((view, places))
    });
    uses.collect()
}

/// Returns the edits that remove constants of a module. Where another constant takes the place of a
/// removed one, its uses are changed. `None` if the section is not in the text, or cannot be edited.
pub fn drop_constants(
    db: &dyn Db,
    module: Module<'_>,
    drop: &BTreeMap<u32, Option<u32>>,
) -> Option<Vec<(TextRange, String)>> {
    let items = module.items(db).iter();
    let def = items.into_iter().find(|def| def.kind(db) == DefKind::Metadata)?;
    let text = def.node(db).token(SyntaxKind::METADATA)?.text();
    if weights::is_folded(text) {
        return None;
    }
    let metadata = queries::metadata(db, module)?;
    let numbers: BTreeSet<u32> = drop.keys().copied().collect();
    let dropped = drop_entries(text, metadata.weights().section(), &numbers)?;
    let start = def.start(db);
    let mut edits = Vec::new();
    for &def in module.items(db) {
        if !matches!(def.kind(db), DefKind::Fn | DefKind::Expr) {
            continue;
        }
        for node in def.node(db).descendants() {
            for token in node.tokens().filter(|token| token.kind() == SyntaxKind::META_REF) {
                let Some((key, old)) = meta_parts(token.text()) else { continue };
                let target = drop.get(&old).copied().flatten().unwrap_or(old);
                let new = dropped.numbers.get(target as usize).copied().flatten();
                if let Some(new) = new.filter(|&new| key == CONSTANT && new != old) {
                    let range = token.range() + def.start(db);
                    edits.push((range, format!("meta[{CONSTANT}][{new}]")));
                }
            }
        }
    }
    let size = |at: usize| TextSize::new(at as u32);
    edits.extend(
        dropped.edits.into_iter().map(|(range, text)| {
            (TextRange::new(size(range.start), size(range.end)) + start, text)
        }),
    );
    Some(edits)
}
