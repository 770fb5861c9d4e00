//! The times of calls of functions, from those of the operators that the functions call.

use std::time::Duration;

use ide::{shapes::FunctionShapes, words};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::TextRange;

/// The most functions that call one another to follow.
const MAX_DEPTH: usize = 48;

/// The calls of functions of a module.
struct Graph<'f> {
    /// The functions by their ranges, each with the functions that its rows call.
    functions: FxHashMap<TextRange, (&'f FunctionShapes, Vec<Call<'f>>)>,
    /// The number of calls of each function in the module.
    counts: FxHashMap<TextRange, u32>,
    /// The times of operators.
    operators: FxHashMap<TextRange, Duration>,
    /// The times of functions. One that is being computed has none: it is recursive.
    known: FxHashMap<TextRange, Duration>,
}

/// Functions by their names.
type Scope<'f> = FxHashMap<&'f str, &'f FunctionShapes>;

fn scope(functions: &[FunctionShapes]) -> Scope<'_> {
    functions.iter().map(|function| (function.name.as_str(), function)).collect()
}

/// A call of a function.
#[derive(Clone, Copy)]
struct Call<'f> {
    range: TextRange,
    callee: &'f FunctionShapes,
}

/// Returns the time of each call of one of `functions`: what the function ran. If several calls are of the same function,
/// which of them ran what was not measured, and each has the same part of it. The text says so. A call of a function in
/// itself has no time of its own.
pub(super) fn call_times(
    times: &[(TextRange, Duration, u64)],
    functions: &[FunctionShapes],
) -> Vec<(TextRange, Duration, String)> {
    let operators = times.iter().map(|&(range, time, _)| (range, time)).collect();
    let mut graph = Graph {
        functions: FxHashMap::default(),
        counts: FxHashMap::default(),
        operators,
        known: FxHashMap::default(),
    };
    let mut scopes = vec![scope(functions)];
    functions.iter().for_each(|function| graph.add(function, &mut scopes));
    let calls: Vec<Call<'_>> =
        graph.functions.values().flat_map(|(_, calls)| calls).copied().collect();
    let mut found = Vec::new();
    for Call { range, callee } in calls {
        let (whole, count) = (graph.time_of(callee, 0), graph.count(callee));
        if whole.is_zero() {
            continue;
        }
        let time = whole / count;
        let text = match count {
            1 => words::duration(time),
            count => format!(
                "{} on average: {} in {} of `{}`",
                words::duration(time),
                words::duration(whole),
                words::counted(u64::from(count), "call"),
                callee.name
            ),
        };
        found.push((range, time, text));
    }
    found
}

impl<'f> Graph<'f> {
    /// Adds a function and those inside of it, whose nesting is bounded. A name is that of a function in the innermost of
    /// the `scopes` that has one.
    fn add(&mut self, function: &'f FunctionShapes, scopes: &mut Vec<Scope<'f>>) {
        scopes.push(scope(&function.functions));
        let mut calls = Vec::new();
        for row in function.rows.iter().filter(|row| row.category.is_none()) {
            let callee = scopes.iter().rev().find_map(|scope| scope.get(row.operator.as_str()));
            if let Some(&callee) = callee.filter(|one| !one.range.contains_range(row.range)) {
                calls.push(Call { range: row.range, callee });
                *self.counts.entry(callee.range).or_default() += 1;
            }
        }
        self.functions.insert(function.range, (function, calls));
        for inner in &function.functions {
            self.add(inner, scopes);
        }
        scopes.pop();
    }

    fn count(&self, function: &FunctionShapes) -> u32 {
        self.counts.get(&function.range).copied().unwrap_or(1)
    }

    /// Returns the time of what a function ran, up to the maximal depth.
    fn time_of(&mut self, function: &FunctionShapes, depth: usize) -> Duration {
        if let Some(&time) = self.known.get(&function.range) {
            return time;
        }
        if depth > MAX_DEPTH {
            return Duration::ZERO;
        }
        self.known.insert(function.range, Duration::ZERO);
        let Some((own, calls)) = self.functions.get(&function.range).cloned() else {
            return Duration::ZERO;
        };
        let rows: FxHashSet<TextRange> = own.rows.iter().map(|row| row.range).collect();
        let mut time: Duration = rows.iter().filter_map(|range| self.operators.get(range)).sum();
        for Call { callee, .. } in calls {
            time += self.time_of(callee, depth + 1) / self.count(callee);
        }
        self.known.insert(function.range, time);
        time
    }
}
