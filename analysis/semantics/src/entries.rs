//! The uses of entries of the metadata section, and their removal.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use rustc_hash::FxHashSet;
use syntax::{Node, SyntaxKind, TextRange, TextSize, Token};
use types::AttrValue;
use weights::{CONSTANT, FoldedLine, Outline, drop_entries, drops_part, is_folded};

use crate::{
    body::{Expr, ExprRef, UnitId},
    db::Db,
    features::UnitFeatures,
    item::{Def, DefKind, Module},
    lower::meta_parts,
    queries,
    view::View,
};

/// Returns the views of the definitions of a module that have bodies.
fn views<'db>(db: &'db dyn Db, module: Module<'db>) -> impl Iterator<Item = View<'db>> {
    module.items(db).iter().filter_map(move |&def| View::new(db, def))
}

/// Returns the numbers of the constants that a module uses.
pub(crate) fn used_constants(db: &dyn Db, module: Module<'_>) -> FxHashSet<u32> {
    let mut used = FxHashSet::default();
    for view in views(db, module) {
        for number in view.body.units_with(UnitFeatures::META) {
            let unit = view.unit(number);
            used.extend(unit.exprs.iter().filter_map(|expr| match expr {
                Expr::Meta(meta) if meta.key == CONSTANT => Some(meta.index),
                _ => None,
            }));
            let attrs = unit.calls.iter().flat_map(|call| &call.written);
            let mut left: Vec<&AttrValue> = attrs.map(|attr| &attr.value).collect();
            while let Some(value) = left.pop() {
                match value {
                    AttrValue::Meta { key, index } if key == CONSTANT => _ = used.insert(*index),
                    AttrValue::List(values) => left.extend(values.iter()),
                    _ => {}
                }
            }
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
        let units = view.body.units_with(UnitFeatures::META);
        let places = units.flat_map(|unit| view.exprs(unit)).filter(|(_, expr, _)| {
            matches!(expr, Expr::Meta(meta) if meta.key == key && meta.index == index)
        });
        let places: Vec<ExprRef> = places.map(|(expr_ref, ..)| expr_ref).collect();
        (!places.is_empty()).then_some((view, places))
    });
    uses.collect()
}

/// Returns the references to the metadata section in a body. Only statements with such references are
/// visited: the edits of a fix are computed after each keystroke.
fn references<'v>(view: &'v View<'_>) -> impl Iterator<Item = Token<'v>> {
    let root = view.root();
    let statement = move |unit: UnitId| {
        let start = view.unit_range(unit).start();
        let path = root.path_to(TextRange::at(start, 1.into()));
        let block = path.iter().position(|node| node.kind() == SyntaxKind::BLOCK)?;
        path.get(block + 1).copied()
    };
    let statements = view.body.units_with(UnitFeatures::META).filter_map(statement);
    let tokens = statements.flat_map(Node::descendants).flat_map(Node::tokens);
    tokens.filter(|token| token.kind() == SyntaxKind::META_REF)
}

/// Returns the edits that remove constants of a module. Where another constant takes the place of a
/// removed one, its uses are changed. In a code view the line of the section lists the constants, which
/// are removed when the code is saved; their numbers change then. `None` if the section cannot be edited.
pub fn drop_constants(
    db: &dyn Db,
    module: Module<'_>,
    drop: &BTreeMap<u32, Option<u32>>,
) -> Option<Vec<(TextRange, String)>> {
    let items = module.items(db).iter();
    let def = items.into_iter().find(|def| def.kind(db) == DefKind::Metadata)?;
    let text = def.node(db).token(SyntaxKind::METADATA)?.text();
    let metadata = queries::metadata(db, module)?;
    let mut numbers: BTreeSet<u32> = drop.keys().copied().collect();
    let section = metadata.weights().section();
    let (numbers, section_edits): (Vec<Option<u32>>, _) = if is_folded(text) {
        let line = FoldedLine::parse(text);
        // Another state of the file has other numbers.
        let count = section.entries(CONSTANT).len() as u32;
        numbers.extend(line.drops.filter(|_| line.constants == Some(count))?);
        ((0..count).map(Some).collect(), vec![(line.drops_range, drops_part(&numbers))])
    } else {
        let dropped = drop_entries(&Outline::whole(text), section, &numbers)?;
        (dropped.numbers, dropped.edits)
    };
    let start = def.start(db);
    let mut edits = Vec::new();
    for view in views(db, module) {
        for token in references(&view) {
            let Some(old) = constant_of(token.text()) else { continue };
            let target = drop.get(&old).copied().flatten().unwrap_or(old);
            let new = numbers.get(target as usize).copied().flatten();
            if let Some(new) = new.filter(|&new| new != old) {
                edits.push((token.range(), reference_to(new)));
            }
        }
    }
    let size = |at: usize| TextSize::new(at as u32);
    edits.extend(
        section_edits.into_iter().map(|(range, text)| {
            (TextRange::new(size(range.start), size(range.end)) + start, text)
        }),
    );
    Some(edits)
}

/// Returns the constants that are removed when the code of a module is saved, by the line of its section.
pub(crate) fn pending_drops(db: &dyn Db, section: Def<'_>) -> BTreeSet<u32> {
    let token = section.node(db).token(SyntaxKind::METADATA);
    let line = token.map(|token| token.text()).filter(|text| is_folded(text));
    line.and_then(|line| FoldedLine::parse(line).drops).unwrap_or_default()
}

/// Returns the number of the constant that a reference to the metadata section names.
fn constant_of(reference: &str) -> Option<u32> {
    meta_parts(reference).filter(|(key, _)| key == CONSTANT).map(|(_, index)| index)
}

fn reference_to(constant: u32) -> String {
    format!("meta[{CONSTANT}][{constant}]")
}

/// Returns the constants that a text without a section mentions, with the places.
fn mentions(code: &str) -> impl Iterator<Item = (Range<usize>, u32)> {
    let mut start = 0;
    syntax::tokens(code).filter_map(move |(kind, end)| {
        let range = std::mem::replace(&mut start, end.into())..end.into();
        let constant = constant_of(&code[range.clone()]).filter(|_| kind == SyntaxKind::META_REF);
        constant.map(|constant| (range, constant))
    })
}

/// Returns the constants that a text without a section mentions.
pub fn mentioned_constants(code: &str) -> BTreeSet<u32> {
    mentions(code).map(|(_, constant)| constant).collect()
}

/// Returns a text without a section in which constants have other numbers, those at their positions.
pub fn renumber_constants(code: &str, numbers: &[Option<u32>]) -> String {
    let mut out = String::with_capacity(code.len());
    let mut copied = 0;
    for (range, old) in mentions(code) {
        let new = numbers.get(old as usize).copied().flatten();
        if let Some(new) = new.filter(|&new| new != old) {
            out += &code[copied..range.start];
            out += &reference_to(new);
            copied = range.end;
        }
    }
    out + &code[copied..]
}
