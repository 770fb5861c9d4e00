//! Two versions of a module in one shape report: that of the version after, with the calls that were removed.

use std::ops::Range;

use diff::ModuleDiff;
use ide::{
    layers::{FunctionLayers, Layer},
    shapes::{Amount, FunctionShapes, Input, Row},
};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{LineIndex, TextRange, TextSize};

use super::marked_graphs;
use crate::report::overlay::Overlay;

/// A shape report of two versions.
pub(crate) struct MergedShapes {
    pub(crate) functions: Vec<FunctionShapes>,
    pub(crate) layers: Vec<FunctionLayers>,
    /// The differences.
    pub(crate) overlay: Overlay,
    /// Where calls that were removed are shown. Their ranges are after the end of the text.
    places: FxHashMap<TextRange, TextRange>,
}

impl MergedShapes {
    /// Puts what was removed into the report of the version after. Calls that were removed cost nothing. `end` is the
    /// length of the text after.
    pub(crate) fn new(
        diff: &ModuleDiff,
        before: &[FunctionShapes],
        (functions, layers): (Vec<FunctionShapes>, Vec<FunctionLayers>),
        end: TextSize,
    ) -> MergedShapes {
        // Offsets have 32 bits; no two texts of half of that are compared.
        let moved = |range: TextRange| match u32::from(end).checked_add(range.end().into()) {
            Some(_) => range + end,
            None => range,
        };
        let overlay = Overlay::of_differences(diff, &moved);
        let mut merged = MergedShapes { functions, layers, overlay, places: FxHashMap::default() };
        for change in &diff.functions {
            let (Some(a), Some(b)) = (&change.before, &change.after) else { continue };
            let of = |list: &[FunctionShapes], range: TextRange| {
                list.iter().position(|function| {
                    range.contains_range(function.range) || function.range.contains_range(range)
                })
            };
            let (Some(from), Some(to)) = (of(before, a.range), of(&merged.functions, b.range))
            else {
                continue;
            };
            let removed = change.removed.iter().map(|lost| lost.range).collect();
            let partners = change.pairs.iter().map(|pair| (pair.before, pair.after)).collect();
            let plan = Plan::new(&before[from], &merged.functions[to], &removed, &partners);
            let range = merged.functions[to].range;
            merged.functions[to] =
                plan.function(&before[from], &merged.functions[to], &moved, &mut merged.places);
            for own in merged.layers.iter_mut().filter(|own| own.range == range) {
                own.layers.iter_mut().for_each(|layer| plan.move_layer(layer));
            }
        }
        merged
    }

    /// Returns the data of the graphs of the functions that differ, for `drawGraphs` of the script of a page.
    pub(crate) fn graphs(&self, lines: (&LineIndex, u32)) -> Option<String> {
        let shapes = (self.functions.as_slice(), self.layers.as_slice());
        marked_graphs(shapes, &self.overlay, &|range| self.place(range), lines)
    }

    /// Returns the place of a range in the text after.
    pub(crate) fn place(&self, range: TextRange) -> TextRange {
        self.places.get(&range).copied().unwrap_or(range)
    }
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
        Row {
            inputs: inputs.collect(),
            fields: Vec::new(),
            params: Amount::ZERO,
            macs: Amount::ZERO,
            bytes: Amount::ZERO,
            live: Amount::ZERO,
            peak: None,
            until: at,
            undefined: None,
            ..row
        }
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
