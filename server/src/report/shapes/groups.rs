//! The groups of the dataflow graph: layers, and parts of long sequences of calls.
//!
//! A picture is readable if it shows few boxes at a time. Layers are the groups that people think in. Where there are
//! none, a long sequence is cut into parts of about the same length.

use std::ops::Range;

use ide::{
    layers::Layer,
    shapes::{Amount, FunctionShapes, Input},
    words,
};
use syntax::TextRange;

use super::{
    name_of,
    texts::{json_amount, label},
};
use crate::protocol::{Count, GraphGroup};

/// The longest path through the boxes that are shown together: two screens at which names can be read.
const MAX_DEPTH: usize = 20;
/// The most boxes that are shown together.
const MAX_BOXES: usize = 48;
/// How many times as much is shown of a layer that is opened: its calls belong together.
const OPENED: usize = 2;
/// The most parts of a sequence.
const MAX_PARTS: usize = 12;

/// A box of the graph: a call, or a group.
struct GraphBox<P> {
    rows: Range<usize>,
    group: Option<GraphGroup<P>>,
}

/// Returns the groups of a function.
pub(super) fn of_function<P>(
    function: &FunctionShapes,
    layers: &[Layer],
    place: &dyn Fn(TextRange) -> P,
) -> Vec<GraphGroup<P>> {
    let groups = Groups { function, place };
    groups.within(&(0..function.rows.len()), layers, 1)
}

struct Groups<'a, P> {
    function: &'a FunctionShapes,
    place: &'a dyn Fn(TextRange) -> P,
}

impl<P> Groups<'_, P> {
    /// Returns the groups of a range of calls. The nesting of layers is bounded.
    fn within(&self, rows: &Range<usize>, layers: &[Layer], times: usize) -> Vec<GraphGroup<P>> {
        let mut boxes = Vec::new();
        let mut next = rows.start;
        for layer in layers {
            let (Some(first), Some(last)) = (layer.rows.first(), layer.rows.last()) else {
                continue;
            };
            let whole = first.start..last.end;
            // Layers are in order and do not overlap; one that did would be drawn twice.
            if whole.start < next || whole.end > rows.end || whole.is_empty() {
                continue;
            }
            boxes.extend(
                (next..whole.start).map(|row| GraphBox { rows: row..row + 1, group: None }),
            );
            next = whole.end;
            boxes.push(GraphBox { rows: whole, group: Some(self.layer(layer)) });
        }
        boxes.extend((next..rows.end).map(|row| GraphBox { rows: row..row + 1, group: None }));
        self.bounded(boxes, times)
    }

    /// Returns the groups among some boxes, which are put into groups themselves if they are too many.
    fn bounded(&self, boxes: Vec<GraphBox<P>>, times: usize) -> Vec<GraphGroup<P>> {
        let parts = self
            .depth(&boxes)
            .div_ceil(MAX_DEPTH * times)
            .max(boxes.len().div_ceil(MAX_BOXES * times));
        if parts <= 1 {
            return boxes.into_iter().filter_map(|one| one.group).collect();
        }
        let size = boxes.len().div_ceil(parts.min(MAX_PARTS));
        let mut boxes = boxes.into_iter().peekable();
        let mut groups = Vec::new();
        while boxes.peek().is_some() {
            let mut part: Vec<GraphBox<P>> = boxes.by_ref().take(size).collect();
            match (part.len(), part.pop()) {
                (1, Some(one)) => groups.extend(one.group),
                (_, Some(last)) => {
                    part.push(last);
                    groups.push(self.sequence(part));
                }
                (_, None) => {}
            }
        }
        groups
    }

    /// Returns the length of the longest path through boxes.
    fn depth(&self, boxes: &[GraphBox<P>]) -> usize {
        let Some(first) = boxes.first().map(|one| one.rows.start) else { return 0 };
        let mut depths: Vec<usize> = Vec::new();
        for one in boxes {
            let mut depth = 0;
            for row in &self.function.rows[one.rows.clone()] {
                for input in &row.inputs {
                    if let Input::Row(from) = *input
                        && from < one.rows.start
                        && let Some(before) = from.checked_sub(first).and_then(|at| depths.get(at))
                    {
                        depth = depth.max(*before);
                    }
                }
            }
            depths.extend(one.rows.clone().map(|_| depth + 1));
        }
        depths.into_iter().max().unwrap_or(0)
    }

    fn layer(&self, layer: &Layer) -> GraphGroup<P> {
        let exemplar = layer.rows.get(layer.exemplar).cloned().unwrap_or_default();
        let groups = self.within(&exemplar, &layer.layers, OPENED);
        let mut group = self.group(&layer.rows, groups);
        group.name.clone_from(&layer.name);
        group.kind = layer.kind.key();
        group.kind_name = layer.other_kind();
        group.ranges = layer.ranges.iter().map(|&range| (self.place)(range)).collect();
        group.exemplar = layer.exemplar;
        group.exceptions = layer.exceptions;
        if let Some(ty) = &layer.result {
            group.label = label(ty);
        }
        group
    }

    /// Returns a part of a sequence; a part of its own is shorter.
    fn sequence(&self, boxes: Vec<GraphBox<P>>) -> GraphGroup<P> {
        let start = boxes.first().map_or(0, |first| first.rows.start);
        let rows = start..boxes.last().map_or(start, |last| last.rows.end);
        let groups = self.bounded(boxes, 1);
        self.group(&[rows], groups)
    }

    /// Returns a group without a name of its own.
    fn group(&self, instances: &[Range<usize>], groups: Vec<GraphGroup<P>>) -> GraphGroup<P> {
        let start = instances.first().map_or(0, |first| first.start);
        let end = instances.last().map_or(start, |last| last.end);
        let rows = &self.function.rows[start..end];
        let sum = |of: &dyn Fn(&ide::shapes::Row) -> &Amount| {
            let mut sum = Amount::ZERO;
            rows.iter().for_each(|row| sum.add(of(row)));
            sum
        };
        let amount = |amount: Amount, is_bytes| json_amount(self.function, &amount, is_bytes);
        let name = |at: usize| name_of(&self.function.rows[at], at);
        let whole = rows.iter().map(|row| row.range).reduce(TextRange::cover).unwrap_or_default();
        let calls = instances.iter().map(|rows| rows.len() as u64).sum();
        GraphGroup {
            name: match rows {
                [] => String::new(),
                [_] => name(start),
                [_, ..] => format!("{} … {}", name(start), name(end - 1)),
            },
            kind: "sequence",
            kind_name: None,
            rows: instances.iter().map(|rows| [rows.start, rows.end]).collect(),
            ranges: vec![(self.place)(whole)],
            exemplar: 0,
            exceptions: 0,
            calls: Count { value: calls, text: words::counted(calls, "call") },
            label: rows.last().map(|row| label(&row.ty)).unwrap_or_default(),
            parameters: amount(sum(&|row| &row.params), false),
            macs: amount(sum(&|row| &row.macs), false),
            bytes: amount(sum(&|row| &row.bytes), true),
            groups,
        }
    }
}
