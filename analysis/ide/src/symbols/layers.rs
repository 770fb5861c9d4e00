//! The layers of functions in the outline.
//!
//! A layer that repeats itself has one entry around those of its repetitions. LSP requires that the range of an entry
//! contains those of the entries inside of it; an editor shows the entries around the cursor, so that those beside one
//! another must not overlap either. A layer whose text is mixed with that of another one therefore has no entry: its
//! calls are evaluated one after the other, but need not be written so.

use semantics::{Db, SourceFile};
use syntax::TextRange;

use super::{OutlineEntry, SymbolEntry, SymbolKind};
use crate::{
    layers::{self, Grouping, Layer, LayerKind, Part},
    words,
};

/// The maximal number of entries for layers in a file.
const MAX_LAYERS: usize = 2_048;
/// The maximal number of repetitions that have entries of their own. Of more, the outline shows the one that describes
/// them.
const MAX_REPETITIONS: usize = 64;

/// Adds the layers of functions to the outline of a file.
pub(super) fn add(db: &dyn Db, file: SourceFile, grouping: Grouping, outline: &mut [OutlineEntry]) {
    let mut entries = Entries { left: MAX_LAYERS };
    let mut functions = layers::shown_layers(db, file, grouping).iter().peekable();
    // Both are in the order of the file.
    for symbol in outline.iter_mut().flat_map(definitions_in) {
        while functions.next_if(|function| function.range.start() < symbol.full.start()).is_some() {
        }
        let Some(function) = functions.next_if(|function| function.range == symbol.full) else {
            continue;
        };
        let layers = entries.of(&function.layers, &function.parts, symbol.full);
        let inner = std::mem::replace(&mut symbol.children, layers);
        inner.into_iter().for_each(|function| insert(&mut symbol.children, function));
    }
}

/// Returns the layers of a file that names of weights tell, by the part that these names begin with: `encoder.layer.3`.
pub fn listed_layers(db: &dyn Db, file: SourceFile, grouping: Grouping) -> Vec<SymbolEntry> {
    if grouping != Grouping::Names {
        return Vec::new();
    }
    let mut found: Vec<SymbolEntry> = Vec::new();
    for function in layers::shown_layers(db, file, grouping) {
        let mut stack: Vec<&Part> = function.parts.iter().rev().collect();
        while let Some(part) = stack.pop() {
            // A layer inside of another one may be all of it that has weights.
            let is_new = found.last().is_none_or(|last| last.name != part.source);
            if !part.source.is_empty() && is_new {
                found.push(SymbolEntry {
                    name: part.source.clone(),
                    kind: SymbolKind::Layer,
                    range: TextRange::empty(part.range.start()),
                    of: Some(function.name.clone()),
                });
            }
            stack.extend(part.parts.iter().rev());
        }
    }
    found
}

/// Returns the definitions of a module of a log, or the definition itself.
fn definitions_in(symbol: &mut OutlineEntry) -> Vec<&mut OutlineEntry> {
    match symbol.kind {
        SymbolKind::Module => symbol.children.iter_mut().collect(),
        _ => vec![symbol],
    }
}

/// Puts a symbol into the innermost layer around it, or between the layers.
fn insert(symbols: &mut Vec<OutlineEntry>, symbol: OutlineEntry) {
    let at = symbols.partition_point(|other| other.full.end() <= symbol.full.start());
    match symbols.get_mut(at) {
        Some(other)
            if other.kind == SymbolKind::Layer && other.full.contains_range(symbol.full) =>
        {
            insert(&mut other.children, symbol);
        }
        _ => symbols.insert(at, symbol),
    }
}

/// The entries of a file.
struct Entries {
    /// The number of those that may be added.
    left: usize,
}

impl Entries {
    /// Returns the entries of layers inside of `around`. `parts` are all of their repetitions, or none.
    fn of(&mut self, layers: &[Layer], parts: &[Part], around: TextRange) -> Vec<OutlineEntry> {
        let mut found: Vec<OutlineEntry> = Vec::new();
        let mut parts = parts.iter();
        for layer in layers {
            let count = layer.rows.len();
            let own: Vec<&Part> = parts.by_ref().take(count).collect();
            let ranges = || own.iter().map(|part| part.range);
            let Some(full) = ranges().reduce(TextRange::cover) else { continue };
            let is_free = |found: &[OutlineEntry], range: TextRange| {
                let after =
                    found.last().map_or(around.start(), |last: &OutlineEntry| last.full.end());
                around.contains_range(range) && after <= range.start() && !range.is_empty()
            };
            if !is_free(&found, full) || self.left == 0 {
                continue;
            }
            self.left -= 1;
            let in_order = own.windows(2).all(|pair| pair[0].range.end() <= pair[1].range.start());
            let inner = match &own[..] {
                [part] => self.of(&layer.layers, &part.parts, full),
                _ if !in_order => Vec::new(),
                own if count <= MAX_REPETITIONS.min(self.left) => {
                    self.left -= count;
                    let one = |part: &&Part| {
                        let children = self.of(&layer.layers, &part.parts, part.range);
                        let detail = detail(layer, part.kind, 1, part.rows.len());
                        symbol(part.name.clone(), detail, part.range, children)
                    };
                    own.iter().map(one).collect()
                }
                own => {
                    let part = own[layer.exemplar];
                    self.of(&layer.layers, &part.parts, part.range)
                }
            };
            let detail = detail(layer, layer.kind, count, layer.calls());
            found.push(symbol(layer.name.clone(), detail, full, inner));
        }
        found
    }
}

/// Returns the kind, the number of repetitions and the number of calls: `transformer block × 12, 96 calls`.
fn detail(layer: &Layer, kind: LayerKind, repeats: usize, calls: usize) -> String {
    let mut parts = Vec::new();
    parts.extend(layer.other_kind().map(|_| kind.name().to_owned()));
    parts.extend((repeats > 1).then(|| format!("× {repeats}")));
    let calls = words::counted(calls as u64, "call");
    if parts.is_empty() { calls } else { format!("{}, {calls}", parts.join(" ")) }
}

fn symbol(
    name: String,
    detail: String,
    full: TextRange,
    children: Vec<OutlineEntry>,
) -> OutlineEntry {
    let focus = TextRange::empty(full.start());
    OutlineEntry { name, detail: Some(detail), kind: SymbolKind::Layer, full, focus, children }
}
