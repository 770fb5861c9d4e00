//! Calls that are replaced together: those of a fused function, and those of an expanded operator.
//!
//! Pairs are one to one. After `FuseOps` three calls pair with the three calls in a fused function, and
//! the last one also with the call of that function; a reader is told of one fused function. In the same
//! way `nn.batch_norm` and each of the calls of its expansion are one expansion.

use diff::{Pair, PairKind};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::TextRange;

use crate::report::escape;

/// The largest number of operators in a title.
const MAX_OPERATORS: usize = 12;

/// A side of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Sides {
    Before,
    After,
}

impl Sides {
    pub(super) fn of<T>(self, before: T, after: T) -> T {
        match self {
            Sides::Before => before,
            Sides::After => after,
        }
    }

    fn range(self, pair: &Pair) -> TextRange {
        self.of(pair.before, pair.after)
    }

    fn operator(self, pair: &Pair) -> &str {
        self.of(&pair.operators.0, &pair.operators.1)
    }

    fn group(self, pair: &Pair) -> Option<u32> {
        self.of(pair.groups.0, pair.groups.1)
    }

    fn other(self) -> Sides {
        self.of(Sides::After, Sides::Before)
    }
}

/// Several calls that are replaced by one, or one that is replaced by several.
#[derive(Debug)]
pub(super) struct ReplacedCalls<'p> {
    /// The side with one call.
    pub(super) one: Sides,
    /// The pairs with the several calls, in text order.
    pub(super) pairs: Vec<&'p Pair>,
    /// The pair with the call of the fused function; `None` if an operator was expanded.
    wrapper: Option<&'p Pair>,
}

/// The description of a pair by a group of pairs.
pub(super) enum ListedPair<'p> {
    /// The pair represents the group.
    As(ReplacedCalls<'p>),
    /// Another pair represents its group.
    Elsewhere,
}

/// Returns true for the name of an operator.
pub(super) fn is_operator(name: &str) -> bool {
    !name.is_empty() && !is_call_of_function(name)
}

/// Returns true for the name of a global or of a function expression, which reports call `fn`.
fn is_call_of_function(name: &str) -> bool {
    name.starts_with('@') || name == "fn"
}

/// Returns true if the expression on `side` of a pair is the call of a fused function that replaces the
/// expression of the other side.
pub(super) fn is_wrapper(pair: &Pair, side: Sides) -> bool {
    pair.kind == PairKind::Fused
        && is_call_of_function(side.operator(pair))
        && !is_call_of_function(side.other().operator(pair))
}

/// Returns the expansions of operators, and the calls that are combined into one operator.
pub(super) fn expansions(pairs: &[Pair]) -> Vec<ReplacedCalls<'_>> {
    let expanded = || pairs.iter().filter(|pair| pair.kind == PairKind::Expanded);
    let mut partners: FxHashMap<TextRange, usize> = FxHashMap::default();
    for pair in expanded() {
        *partners.entry(pair.after).or_default() += 1;
    }
    let mut found: Vec<ReplacedCalls<'_>> = Vec::new();
    let mut places: FxHashMap<(Sides, TextRange), usize> = FxHashMap::default();
    for pair in expanded() {
        let one = if partners[&pair.after] > 1 { Sides::After } else { Sides::Before };
        let at = *places.entry((one, one.range(pair))).or_insert_with(|| {
            found.push(ReplacedCalls { one, pairs: Vec::new(), wrapper: None });
            found.len() - 1
        });
        found[at].pairs.push(pair);
    }
    found
}

/// Returns the description of each pair that is part of a group, by its index.
pub(super) fn all(pairs: &[Pair]) -> FxHashMap<usize, ListedPair<'_>> {
    let index: FxHashMap<*const Pair, usize> =
        pairs.iter().enumerate().map(|(at, pair)| (std::ptr::from_ref(pair), at)).collect();
    let place = |pair: &Pair| index[&std::ptr::from_ref(pair)];
    let mut listed = FxHashMap::default();
    for replaced in expansions(pairs) {
        for pair in &replaced.pairs {
            listed.insert(place(pair), ListedPair::Elsewhere);
        }
        listed.insert(place(replaced.pairs[0]), ListedPair::As(replaced));
    }
    for one in [Sides::Before, Sides::After] {
        let mut members: FxHashMap<u32, Vec<&Pair>> = FxHashMap::default();
        // A function that is called several times has each of its calls in several pairs, of which the
        // first is shown. All of them at each call would be quadratic.
        let mut seen = FxHashSet::default();
        for pair in pairs.iter().filter(|p| p.kind == PairKind::Fused && !is_wrapper(p, one)) {
            if let Some(group) = one.group(pair) {
                if seen.insert(one.range(pair)) {
                    members.entry(group).or_default().push(pair);
                }
                if pair.changes.is_empty() {
                    listed.insert(place(pair), ListedPair::Elsewhere);
                }
            }
        }
        for pair in pairs.iter().filter(|pair| is_wrapper(pair, one)) {
            let Some(members) = one.group(pair).and_then(|group| members.get(&group)) else {
                continue;
            };
            let group = ReplacedCalls { one, pairs: members.clone(), wrapper: Some(pair) };
            listed.insert(place(pair), ListedPair::As(group));
        }
    }
    listed
}

impl ReplacedCalls<'_> {
    /// Returns the title, which groups with the same operators share.
    pub(super) fn title(&self) -> String {
        let operators = self.pairs.iter().map(|pair| self.one.other().operator(pair));
        let mut operators: Vec<(&str, usize)> =
            operators.filter(|name| is_operator(name)).map(|name| (name, 1)).collect();
        // Passes order the calls of an expansion now this way, now that.
        if self.wrapper.is_none() {
            operators.sort_unstable();
        }
        operators.dedup_by(|next, first| {
            let is_equal = next.0 == first.0;
            first.1 += usize::from(is_equal);
            is_equal
        });
        let name = |&(name, times): &(&str, usize)| match times {
            1 => format!("`{}`", escape::terminal(name)),
            _ => format!("{times}× `{}`", escape::terminal(name)),
        };
        let shown: Vec<String> = operators.iter().take(MAX_OPERATORS).map(name).collect();
        let mut several = shown.join(", ");
        if let Some(more @ 1..) = operators.len().checked_sub(MAX_OPERATORS) {
            several.push_str(&format!(" and {more} more"));
        }
        if several.is_empty() {
            several.push_str("an expression");
        }
        // Names of fused functions differ, and would keep equal groups apart.
        let one = match self.wrapper {
            Some(_) => "one function".to_owned(),
            None => format!("`{}`", escape::terminal(self.one.operator(self.pairs[0]))),
        };
        match (self.wrapper.is_some(), self.one) {
            (true, Sides::Before) => format!("split: {one} → {several}"),
            (true, Sides::After) => format!("fused: {several} → {one}"),
            (false, Sides::Before) => format!("expanded: {one} → {several}"),
            (false, Sides::After) => format!("combined: {several} → {one}"),
        }
    }

    /// Returns the ranges of the calls on one side, without duplicates.
    pub(super) fn ranges(&self, side: Sides) -> Vec<TextRange> {
        let mut ranges: Vec<TextRange> = match self.wrapper {
            // The calls in the function are where it is written, often far away.
            Some(wrapper) if side == self.one => vec![side.range(wrapper)],
            _ => self.pairs.iter().map(|pair| side.range(pair)).collect(),
        };
        ranges.sort_unstable_by_key(|range| (range.start(), range.end()));
        ranges.dedup();
        ranges
    }
}
