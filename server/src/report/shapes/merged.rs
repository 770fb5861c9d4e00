//! Two versions of a module in one shape report: that of the version after, with the calls and the functions that were
//! removed.

use std::ops::Range;

use diff::{FunctionDiff, ModuleDiff};
use ide::{
    layers::{FunctionLayers, Layer},
    shapes::{FunctionShapes, Input, Row},
};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{LineIndex, TextRange, TextSize};

use super::marked_graphs;
use crate::{protocol::MarkCategory, report::overlay::Overlay};

/// A shape report of two versions.
pub(crate) struct MergedShapes {
    pub(crate) functions: Vec<FunctionShapes>,
    pub(crate) layers: Vec<FunctionLayers>,
    /// The differences.
    pub(crate) overlay: Overlay,
    /// Where calls that were removed are shown. Their ranges are after the end of the text.
    places: FxHashMap<TextRange, TextRange>,
    /// The length of the text after.
    end: TextSize,
}

impl MergedShapes {
    /// Puts what was removed into the report of the version after. `before` has structure alone: calls that were removed
    /// cost nothing. `end` is the length of the text after.
    pub(crate) fn new(
        diff: &ModuleDiff,
        (before, layers_before): (&[FunctionShapes], &[FunctionLayers]),
        (functions, layers): (Vec<FunctionShapes>, Vec<FunctionLayers>),
        end: TextSize,
    ) -> MergedShapes {
        // Offsets have 32 bits; no two texts of half of that are compared.
        let moved = |range: TextRange| match u32::from(end).checked_add(range.end().into()) {
            Some(_) => range + end,
            None => range,
        };
        let overlay = Overlay::of_differences(diff, &moved);
        let places = FxHashMap::default();
        let mut merged = MergedShapes { functions, layers, overlay, places, end };
        let of = |list: &[FunctionShapes], range: TextRange| {
            list.iter().position(|function| {
                range.contains_range(function.range) || function.range.contains_range(range)
            })
        };
        for change in &diff.functions {
            let from = change.before.as_ref().and_then(|a| of(before, a.range));
            let to = change.after.as_ref().and_then(|b| of(&merged.functions, b.range));
            match (&change.before, from, &change.after, to) {
                (_, Some(from), _, Some(to)) => merged.join(change, &before[from], to, &moved),
                // The calls of a function that was inlined are in its callers.
                (Some(a), Some(from), None, _) if !a.is_part => {
                    let layers = layers_before.iter().find(|own| own.range == before[from].range);
                    merged.add_removed(&before[from], layers, &moved);
                }
                (None, _, Some(b), Some(to)) if !b.is_part => {
                    merged.overlay.mark_function(&merged.functions[to], MarkCategory::Added);
                }
                _ => {}
            }
        }
        merged
    }

    /// Puts the calls of a function that were removed into the function with the index `to`.
    fn join(
        &mut self,
        change: &FunctionDiff,
        before: &FunctionShapes,
        to: usize,
        moved: &dyn Fn(TextRange) -> TextRange,
    ) {
        let removed = change.removed.iter().map(|lost| lost.range).collect();
        let partners = change.pairs.iter().map(|pair| (pair.before, pair.after)).collect();
        let plan = Plan::new(before, &self.functions[to], &removed, &partners);
        let range = self.functions[to].range;
        self.functions[to] = plan.function(before, &self.functions[to], moved, &mut self.places);
        for own in self.layers.iter_mut().filter(|own| own.range == range) {
            own.layers.iter_mut().for_each(|layer| plan.move_layer(layer));
        }
    }

    /// Adds a function that was removed, with its layers in the version before.
    fn add_removed(
        &mut self,
        before: &FunctionShapes,
        layers: Option<&FunctionLayers>,
        moved: &dyn Fn(TextRange) -> TextRange,
    ) {
        let mut function = before.clone();
        move_function(&mut function, moved);
        self.overlay.mark_function(&function, MarkCategory::Removed);
        if let Some(layers) = layers {
            let mut layers = FunctionLayers { range: function.range, ..layers.clone() };
            layers.layers.iter_mut().for_each(|layer| move_ranges(layer, moved));
            self.layers.push(layers);
        }
        self.functions.push(function);
    }

    /// Returns the data of the graphs of the functions that differ, for `drawGraphs` of the script of a page.
    pub(crate) fn graphs(&self, lines: (&LineIndex, u32)) -> Option<String> {
        let shapes = (self.functions.as_slice(), self.layers.as_slice());
        marked_graphs(shapes, &self.overlay, &|range| self.place(range), lines)
    }

    /// Returns the place of a range in the text after: its end for what is in no function of it.
    pub(crate) fn place(&self, range: TextRange) -> TextRange {
        let within = || TextRange::new(range.start().min(self.end), range.end().min(self.end));
        self.places.get(&range).copied().unwrap_or_else(within)
    }
}

/// Moves the ranges of a function and of those inside of it, whose nesting is bounded in reports.
fn move_function(function: &mut FunctionShapes, moved: &dyn Fn(TextRange) -> TextRange) {
    function.range = moved(function.range);
    for (at, row) in function.rows.iter_mut().enumerate() {
        (row.range, row.until) = (moved(row.range), at);
    }
    function.sources.iter_mut().for_each(|source| source.range = moved(source.range));
    function.functions.iter_mut().for_each(|inner| move_function(inner, moved));
}

/// Moves the ranges of a layer and of those inside of it, whose nesting is bounded.
fn move_ranges(layer: &mut Layer, moved: &dyn Fn(TextRange) -> TextRange) {
    layer.ranges.iter_mut().for_each(|range| *range = moved(*range));
    layer.layers.iter_mut().for_each(|inner| move_ranges(inner, moved));
}

/// A row of the merged report: the index of a row of one version.
#[derive(Clone, Copy)]
enum Origin {
    Before(usize),
    After(usize),
}

/// The order of the rows of both versions of a function.
struct Plan {
    order: Vec<Origin>,
    /// The index of each row of the version before: that of its partner, or its own if it was removed.
    of_before: Vec<Option<usize>>,
    /// The index of each row of the version after.
    of_after: Vec<usize>,
}

impl Plan {
    fn new(
        before: &FunctionShapes,
        after: &FunctionShapes,
        removed: &FxHashSet<TextRange>,
        partners: &FxHashMap<TextRange, TextRange>,
    ) -> Plan {
        let rows: FxHashMap<TextRange, usize> =
            after.rows.iter().enumerate().map(|(at, row)| (row.range, at)).collect();
        let partner = |row: &Row| partners.get(&row.range).and_then(|range| rows.get(range));
        // A row that was removed follows the partner of the row before it, and what its operands have become.
        let mut follows: Vec<usize> = Vec::with_capacity(before.rows.len());
        let mut inserted: Vec<Vec<usize>> = vec![Vec::new(); after.rows.len() + 1];
        let mut next = 0;
        for (at, row) in before.rows.iter().enumerate() {
            let operands = row.inputs.iter().filter_map(|input| match *input {
                Input::Row(from) => follows.get(from).copied(),
                Input::Source(_) => None,
            });
            let least = operands.max().unwrap_or(0).max(next);
            match partner(row) {
                Some(&own) => {
                    follows.push(own + 1);
                    next = own + 1;
                }
                None => {
                    follows.push(least);
                    if removed.contains(&row.range) {
                        inserted[least].push(at);
                    }
                }
            }
        }
        let mut order = Vec::with_capacity(before.rows.len() + after.rows.len());
        let mut of_before = vec![None; before.rows.len()];
        let mut of_after = Vec::with_capacity(after.rows.len());
        for (at, here) in inserted.into_iter().enumerate() {
            for row in here {
                of_before[row] = Some(order.len());
                order.push(Origin::Before(row));
            }
            if at < after.rows.len() {
                of_after.push(order.len());
                order.push(Origin::After(at));
            }
        }
        for (at, row) in before.rows.iter().enumerate() {
            if let Some(&own) = partner(row) {
                of_before[at] = Some(of_after[own]);
            }
        }
        Plan { order, of_before, of_after }
    }

    /// Returns the merged function. `places` receives the places of the rows that were removed.
    fn function(
        &self,
        before: &FunctionShapes,
        after: &FunctionShapes,
        moved: &dyn Fn(TextRange) -> TextRange,
        places: &mut FxHashMap<TextRange, TextRange>,
    ) -> FunctionShapes {
        let mut merged = FunctionShapes { rows: Vec::new(), ..after.clone() };
        let mut names: FxHashMap<String, usize> = FxHashMap::default();
        for (at, source) in merged.sources.iter().enumerate() {
            names.entry(source.name.clone()).or_insert(at);
        }
        let mut place = TextRange::empty(after.range.start());
        for origin in &self.order {
            let row = match *origin {
                Origin::After(at) => {
                    place = after.rows[at].range;
                    self.kept(&after.rows[at])
                }
                Origin::Before(at) => {
                    let mut row = before.rows[at].clone();
                    places.insert(moved(row.range), place);
                    row.range = moved(row.range);
                    self.lost(row, merged.rows.len(), |source| {
                        let source = before.sources.get(source)?;
                        let new = merged.sources.len();
                        let own = *names.entry(source.name.clone()).or_insert(new);
                        if own == new {
                            let mut source = source.clone();
                            places.insert(moved(source.range), place);
                            source.range = moved(source.range);
                            merged.sources.push(source);
                        }
                        Some(own)
                    })
                }
            };
            merged.rows.push(row);
        }
        // What took the result of a row that was removed has taken it.
        for (at, row) in before.rows.iter().enumerate() {
            let Some(own) = self.of_before[at] else { continue };
            if matches!(self.order[own], Origin::Before(_)) {
                continue;
            }
            for input in &row.inputs {
                if let Input::Row(from) = *input
                    && let Some(from) = self.of_before.get(from).copied().flatten()
                    && from < own
                    && matches!(self.order[from], Origin::Before(_))
                    && !merged.rows[own].inputs.contains(&Input::Row(from))
                {
                    merged.rows[own].inputs.push(Input::Row(from));
                }
            }
        }
        let result = |input: &Input| self.input(*input);
        merged.results = after.results.iter().map(result).collect();
        merged.total.peak_row = after.total.peak_row.and_then(|at| self.of_after.get(at).copied());
        merged
    }

    /// Returns a row of the version after.
    fn kept(&self, row: &Row) -> Row {
        let inputs = row.inputs.iter().map(|input| self.input(*input)).collect();
        let until = self.of_after.get(row.until).copied().unwrap_or(self.order.len());
        Row { inputs, until, ..row.clone() }
    }

    /// Returns a row that was removed, at an index of the merged function.
    fn lost(&self, row: Row, at: usize, mut source: impl FnMut(usize) -> Option<usize>) -> Row {
        let inputs = row.inputs.iter().filter_map(|input| match *input {
            Input::Row(from) => {
                let own = self.of_before.get(from).copied().flatten();
                own.filter(|&own| own < at).map(Input::Row)
            }
            Input::Source(of) => source(of).map(Input::Source),
        });
        Row { inputs: inputs.collect(), fields: Vec::new(), until: at, ..row }
    }

    fn input(&self, input: Input) -> Input {
        match input {
            Input::Row(at) => Input::Row(self.of_after.get(at).copied().unwrap_or(at)),
            Input::Source(source) => Input::Source(source),
        }
    }

    /// Moves the rows of a layer and of those inside of it. The nesting of layers is bounded.
    fn move_layer(&self, layer: &mut Layer) {
        let moved = |rows: &Range<usize>| {
            let first = self.of_after.get(rows.start).copied();
            let last = rows.end.checked_sub(1).and_then(|last| self.of_after.get(last).copied());
            match (first, last) {
                (Some(first), Some(last)) if first <= last => first..last + 1,
                _ => 0..0,
            }
        };
        layer.rows = layer.rows.iter().map(moved).collect();
        layer.layers.iter_mut().for_each(|inner| self.move_layer(inner));
    }
}
