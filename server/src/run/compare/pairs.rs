//! The calls whose values are compared.

use std::collections::HashMap;

use diff::{Change, FunctionDiff, Pair, PairKind, Property};
use syntax::TextRange;

use super::CallPair;

/// A pair of calls of operators.
pub(crate) struct Candidate<'d> {
    /// The name of the function before.
    pub(crate) function: &'d str,
    /// The pair.
    pub(crate) pair: &'d Pair,
    /// The reason that its values are not compared.
    pub(crate) excluded: Option<&'static str>,
}

impl Candidate<'_> {
    /// Returns the pair of calls whose values are compared, if they are.
    pub(crate) fn call_pair(&self) -> Option<CallPair> {
        self.excluded.is_none().then(|| CallPair {
            before: self.pair.before,
            after: self.pair.after,
            is_one_operator: self.pair.operators.0 == self.pair.operators.1,
        })
    }
}

/// Returns the pairs of calls of operators in all functions. Of several calls with one partner, the last one computes
/// the value of that.
pub(crate) fn candidates(functions: &[FunctionDiff]) -> Vec<Candidate<'_>> {
    let is_operator = |name: &str| operators::find(name).is_some();
    let functions = functions.iter().filter_map(|function| {
        let before = function.before.as_ref()?;
        function.after.as_ref()?;
        Some((before.name.as_str(), function))
    });
    let all: Vec<(&str, &Pair)> = functions
        .flat_map(|(name, function)| function.pairs.iter().map(move |pair| (name, pair)))
        .filter(|(_, pair)| is_operator(&pair.operators.0) && is_operator(&pair.operators.1))
        .collect();
    let mut last_after: HashMap<TextRange, TextRange> = HashMap::new();
    let mut last_before: HashMap<TextRange, TextRange> = HashMap::new();
    for (_, pair) in &all {
        let after = last_after.entry(pair.before).or_insert(pair.after);
        *after = later(*after, pair.after);
        let before = last_before.entry(pair.after).or_insert(pair.before);
        *before = later(*before, pair.before);
    }
    let is_last = |pair: &Pair| {
        last_after.get(&pair.before) == Some(&pair.after)
            && last_before.get(&pair.after) == Some(&pair.before)
    };
    all.into_iter()
        .map(|(function, pair)| {
            let excluded = match pair.kind {
                _ if !is_last(pair) => Some("another call computes the value of its partner"),
                PairKind::Folded => Some("one call stands for several others"),
                _ => pair.changes.iter().find_map(incomparable),
            };
            Candidate { function, pair, excluded }
        })
        .collect()
}

/// Returns the reason that a change makes values incomparable.
fn incomparable(change: &Change) -> Option<&'static str> {
    match change.what {
        Property::Attribute if change.name.contains("layout") => Some("the layouts differ"),
        Property::Shape => Some("the shapes differ"),
        _ => None,
    }
}

/// Returns the range that starts later.
fn later(one: TextRange, other: TextRange) -> TextRange {
    if other.start() > one.start() { other } else { one }
}
