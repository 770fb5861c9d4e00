//! Changes by layer.

use std::fmt::Write;

use diff::{FunctionDiff, FunctionRef, PairKind};
use ide::layers::function_around;
use rustc_hash::FxHashMap;
use serde::Serialize;
use syntax::TextRange;

use super::ShownModule;
use crate::report::escape;

/// The number of calls from which a report has the layers of a function: the changes of a shorter one are few enough.
const MIN_CALLS: usize = 24;
/// The maximal number of layers in a report.
const MAX_LAYERS: usize = 40;

/// The number of changes in a layer.
#[derive(Default, Serialize)]
pub(super) struct LayerChanges {
    /// The name of the outermost layer: that of the module after, for what was removed that of the module before.
    pub(super) layer: String,
    pub(super) changed: usize,
    pub(super) removed: usize,
    pub(super) added: usize,
}

/// Returns the layers with changes, in the order of the text.
pub(super) fn by_layer(
    function: &FunctionDiff,
    (before, after): (&ShownModule<'_>, &ShownModule<'_>),
) -> Vec<LayerChanges> {
    let mut found: FxHashMap<String, (u32, LayerChanges)> = FxHashMap::default();
    let mut count = |sides: [Option<(&ShownModule<'_>, TextRange)>; 2],
                     add: &dyn Fn(&mut LayerChanges)| {
        let mut sides = sides.into_iter().flatten();
        let around = sides.find_map(|(side, range)| side.layers_around(range).first().copied());
        let Some(part) = around else { return };
        let new = || {
            let changes = LayerChanges { layer: part.name.clone(), ..LayerChanges::default() };
            (part.range.start().into(), changes)
        };
        add(&mut found.entry(part.name.clone()).or_insert_with(new).1);
    };
    for pair in function.pairs.iter().filter(|pair| pair.kind != PairKind::Same) {
        let sides = [Some((after, pair.after)), Some((before, pair.before))];
        count(sides, &|changes| changes.changed += 1);
    }
    for lost in &function.removed {
        count([Some((before, lost.range)), None], &|changes| changes.removed += 1);
    }
    for lost in &function.added {
        count([Some((after, lost.range)), None], &|changes| changes.added += 1);
    }
    let mut found: Vec<(u32, LayerChanges)> = found.into_values().collect();
    found.sort_by(|a, b| (a.0, &a.1.layer).cmp(&(b.0, &b.1.layer)));
    found.into_iter().map(|(_, changes)| changes).collect()
}

/// Writes the layers with changes of a function.
pub(super) fn describe(
    function: &FunctionDiff,
    sides: (&ShownModule<'_>, &ShownModule<'_>),
    out: &mut impl Write,
) {
    let is_long = |of: Option<&FunctionRef>, side: &ShownModule<'_>| {
        let layers = of.and_then(|of| function_around(side.layers, of.range));
        layers.is_some_and(|layers| layers.calls >= MIN_CALLS)
    };
    let is_long =
        is_long(function.before.as_ref(), sides.0) || is_long(function.after.as_ref(), sides.1);
    let layers = if is_long { by_layer(function, sides) } else { Vec::new() };
    if layers.is_empty() {
        return;
    }
    let _ = writeln!(out, "  by layer:");
    for changes in layers.iter().take(MAX_LAYERS) {
        let counts =
            [(changes.changed, "changed"), (changes.removed, "removed"), (changes.added, "added")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        let _ = writeln!(out, "    {}: {}", escape::terminal(&changes.layer), counts.join(", "));
    }
    if let Some(more) = layers.len().checked_sub(MAX_LAYERS).filter(|more| *more > 0) {
        let _ = writeln!(out, "    … and {more} more");
    }
}
