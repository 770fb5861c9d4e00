//! Overlays: what is known of the calls of a module besides their types, which can colour its pictures.

mod call_times;

use std::time::Duration;

use diff::{ModuleDiff, PairKind};
use ide::{shapes::FunctionShapes, words};
use rustc_hash::FxHashMap;
use syntax::TextRange;

use super::diff::change_text;
use crate::protocol::{
    Colouring, ColouringKey, GraphGroup, LegendEntry, Mark, MarkCategory, ValueCategory,
};

/// The marks of the calls of a module, by their ranges.
#[derive(Clone)]
pub(crate) struct Overlay {
    key: ColouringKey,
    marks: FxHashMap<TextRange, CallMark>,
}

/// The mark of a call.
#[derive(Clone)]
pub(crate) struct CallMark {
    pub(crate) category: MarkCategory,
    /// Seconds, or the size of an error from 0 to 1.
    pub(crate) amount: f64,
    pub(crate) text: String,
}

impl CallMark {
    fn rank(&self) -> (MarkCategory, f64) {
        (self.category, self.amount)
    }
}

impl Overlay {
    /// Collects marks. Of several marks of a call, the worst counts.
    pub(crate) fn new(
        key: ColouringKey,
        marks: impl IntoIterator<Item = (TextRange, CallMark)>,
    ) -> Overlay {
        let mut overlay = Overlay { key, marks: FxHashMap::default() };
        marks.into_iter().for_each(|(range, mark)| overlay.add(range, mark));
        overlay
    }

    fn add(&mut self, range: TextRange, mark: CallMark) {
        match self.marks.get(&range) {
            Some(known) if known.rank() >= mark.rank() => {}
            _ => _ = self.marks.insert(range, mark),
        }
    }

    /// Marks all calls of a function, also those of functions inside of it.
    pub(crate) fn mark_function(&mut self, function: &FunctionShapes, category: MarkCategory) {
        let text = meaning(category);
        for row in function.all().into_iter().flat_map(|function| &function.rows) {
            self.add(row.range, CallMark { category, amount: 0.0, text: text.to_owned() });
        }
    }

    /// Returns what the marks say.
    pub(crate) fn key(&self) -> ColouringKey {
        self.key
    }

    /// Returns the times of a run: those of all calls at a place, and their number. A call of one of `functions` has the
    /// time of what the function ran.
    pub(crate) fn of_times(
        times: &[(TextRange, Duration, u64)],
        functions: &[FunctionShapes],
    ) -> Overlay {
        let mark = |&(range, time, calls): &(TextRange, Duration, u64)| {
            let mut text = words::duration(time);
            if calls > 1 {
                text += &format!(" in {}", words::counted(calls, "call"));
            }
            (range, time, text)
        };
        let times = times.iter().map(mark).chain(call_times::call_times(times, functions));
        let marks = times.map(|(range, time, text)| {
            let amount = time.as_secs_f64();
            (range, CallMark { category: MarkCategory::Time, amount, text })
        });
        Overlay::new(ColouringKey::Time, marks)
    }

    /// Returns the differences of a module from another one. `removed` converts the ranges of calls that were removed.
    pub(crate) fn of_differences(
        diff: &ModuleDiff,
        removed: &dyn Fn(TextRange) -> TextRange,
    ) -> Overlay {
        let mut marks = Vec::new();
        let mark = |category, text: String| CallMark { category, amount: 0.0, text };
        for function in &diff.functions {
            for pair in &function.pairs {
                let changes: Vec<String> = pair.changes.iter().map(change_text).collect();
                let text = match changes.is_empty() {
                    true => pair.kind.word().to_owned(),
                    false => changes.join("; "),
                };
                marks.push((pair.after, mark(category_of(pair.kind), text)));
            }
            let of = |range, category| (range, mark(category, meaning(category).to_owned()));
            let added = function.added.iter().map(|new| of(new.range, MarkCategory::Added));
            let lost = function.removed.iter();
            let lost = lost.map(|lost| of(removed(lost.range), MarkCategory::Removed));
            marks.extend(added.chain(lost));
        }
        Overlay::new(ColouringKey::Difference, marks)
    }

    /// Returns the way to colour the graph of a function, if it has marks.
    fn colouring(&self, function: &FunctionShapes, groups: &[[usize; 2]]) -> Option<Colouring> {
        let of_rows: Vec<Option<&CallMark>> =
            function.rows.iter().map(|row| self.marks.get(&row.range)).collect();
        if of_rows.iter().all(Option::is_none) {
            return None;
        }
        let total: f64 = of_rows.iter().flatten().map(|mark| mark.amount).sum();
        let rows = (0..of_rows.len()).map(|at| [at, at + 1]);
        let marks: Vec<Mark> = rows
            .chain(groups.iter().copied())
            .filter_map(|rows| self.mark(rows, of_rows.get(rows[0]..rows[1])?, total))
            .collect();
        let mut categories: Vec<MarkCategory> = marks.iter().map(|mark| mark.category).collect();
        categories.sort_unstable();
        categories.dedup();
        let legend = categories.into_iter();
        let legend = legend.map(|category| LegendEntry { category, text: meaning(category) });
        let title = match self.key {
            ColouringKey::Time => "by run time",
            ColouringKey::Error => "by error",
            ColouringKey::Difference => "by difference",
        };
        Some(Colouring { key: self.key, title, legend: legend.collect(), marks })
    }

    /// Returns the mark of neighbouring calls, if any of them has one. `total` is the amount of all calls.
    fn mark(&self, rows: [usize; 2], of_rows: &[Option<&CallMark>], total: f64) -> Option<Mark> {
        let marks: Vec<&CallMark> = of_rows.iter().copied().flatten().collect();
        let worst = marks
            .iter()
            .copied()
            .max_by(|a, b| a.category.cmp(&b.category).then(a.amount.total_cmp(&b.amount)))?;
        let is_group = rows[1] - rows[0] > 1;
        let (category, weight, text) = match self.key {
            ColouringKey::Time => {
                let time: f64 = marks.iter().map(|mark| mark.amount).sum();
                let share = if total > 0.0 { time / total } else { 0.0 };
                let text = match is_group {
                    true => words::duration(Duration::try_from_secs_f64(time).unwrap_or_default()),
                    false => worst.text.clone(),
                };
                let text = format!("{text}, {:.1} % of the calls of the function", 100.0 * share);
                // Small shares are visible.
                (worst.category, share.sqrt(), text)
            }
            ColouringKey::Error => (worst.category, worst.amount, worst.text.clone()),
            ColouringKey::Difference => {
                let category = match marks.iter().all(|mark| mark.category == worst.category) {
                    true => worst.category,
                    false => MarkCategory::Changed,
                };
                let text = if is_group { counts(&marks) } else { worst.text.clone() };
                let weight = if category == MarkCategory::Same { 0.08 } else { 0.7 };
                (category, weight, text)
            }
        };
        Some(Mark { rows, category, weight, text })
    }
}

/// Returns the numbers of marks by category: `12 same, 1 changed`.
fn counts(marks: &[&CallMark]) -> String {
    let mut categories: Vec<MarkCategory> = marks.iter().map(|mark| mark.category).collect();
    categories.sort_unstable();
    let parts = categories
        .chunk_by(|a, b| a == b)
        .map(|chunk| format!("{} {}", words::number(chunk.len() as u64), meaning(chunk[0])));
    parts.collect::<Vec<String>>().join(", ")
}

fn category_of(kind: PairKind) -> MarkCategory {
    match kind {
        PairKind::Same => MarkCategory::Same,
        PairKind::Changed => MarkCategory::Changed,
        PairKind::Fused => MarkCategory::Fused,
        PairKind::Inlined => MarkCategory::Inlined,
        PairKind::Folded => MarkCategory::Folded,
        PairKind::Expanded => MarkCategory::Expanded,
    }
}

impl From<ValueCategory> for MarkCategory {
    fn from(category: ValueCategory) -> MarkCategory {
        match category {
            ValueCategory::Tolerated => MarkCategory::Tolerated,
            ValueCategory::Recovered => MarkCategory::Recovered,
            ValueCategory::Inherited => MarkCategory::Inherited,
            ValueCategory::Culprit => MarkCategory::Culprit,
            ValueCategory::NotRun => MarkCategory::NotRun,
        }
    }
}

/// Returns the meaning of a category in a legend.
fn meaning(category: MarkCategory) -> &'static str {
    match category {
        MarkCategory::Time => "time of the last run: the stronger, the more",
        MarkCategory::NotRun => "not compared",
        MarkCategory::Tolerated => "equal within the tolerance",
        MarkCategory::Recovered => "undone by later calls",
        MarkCategory::Inherited => "inherited error",
        MarkCategory::Culprit => "error of its own",
        MarkCategory::Same => "same",
        MarkCategory::Fused => "fused",
        MarkCategory::Inlined => "inlined",
        MarkCategory::Folded => "folded",
        MarkCategory::Expanded => "expanded",
        MarkCategory::Changed => "changed",
        MarkCategory::Added => "added",
        MarkCategory::Removed => "removed",
    }
}

/// Returns the ways to colour the graph of a function with some groups.
pub(crate) fn colourings<P>(
    function: &FunctionShapes,
    groups: &[GraphGroup<P>],
    overlays: &[Overlay],
) -> Vec<Colouring> {
    if overlays.is_empty() {
        return Vec::new();
    }
    let mut ranges = Vec::new();
    // The nesting of groups is bounded by that of layers.
    let mut open: Vec<&GraphGroup<P>> = groups.iter().collect();
    while let Some(group) = open.pop() {
        if let (Some(first), Some(last)) = (group.rows.first(), group.rows.last()) {
            ranges.push([first[0], last[1]]);
        }
        open.extend(&group.groups);
    }
    ranges.sort_unstable();
    ranges.dedup();
    ranges.retain(|[start, end]| end - start > 1);
    overlays.iter().filter_map(|overlay| overlay.colouring(function, &ranges)).collect()
}
