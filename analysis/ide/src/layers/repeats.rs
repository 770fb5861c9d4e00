//! Runs of equal parts.

use rustc_hash::FxHashMap;

/// A part of a list that repeats itself: `count` parts of `period` elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) period: usize,
    pub(super) count: usize,
    /// The number of elements after the last whole part that continue the run: it may as well begin so much later.
    pub(super) rest: usize,
}

/// The number of earlier occurrences of an element whose distances are considered.
const MAX_EARLIER: usize = 8;
/// The number of periods that are tried, those first that most distances between equal elements suggest.
const MAX_PERIODS: usize = 64;

/// Returns the run that covers most, by the weights of the elements, and of those the one with the shortest period.
/// The time is linear in the length of the list: a bounded number of periods is tried.
pub(super) fn longest_run(symbols: &[u64], weights: &[usize]) -> Option<Run> {
    let mut places: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    let mut distances: FxHashMap<usize, usize> = FxHashMap::default();
    for (at, symbol) in symbols.iter().enumerate() {
        let places = places.entry(*symbol).or_default();
        for &earlier in places.iter().rev().take(MAX_EARLIER) {
            *distances.entry(at - earlier).or_default() += 1;
        }
        places.push(at);
    }
    let mut periods: Vec<(usize, usize)> = distances.into_iter().collect();
    periods.sort_unstable_by_key(|&(period, count)| (std::cmp::Reverse(count), period));
    periods.truncate(MAX_PERIODS);

    let sums: Vec<usize> = std::iter::once(0)
        .chain(weights.iter().scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        }))
        .collect();
    let mut best: Option<(usize, Run)> = None;
    for (period, _) in periods {
        let mut equal = 0;
        for at in 0..=symbols.len().saturating_sub(period) {
            if at + period < symbols.len() && symbols[at] == symbols[at + period] {
                equal += 1;
                continue;
            }
            if equal >= period {
                let (start, length) = (at - equal, equal + period);
                let count = length / period;
                let run = Run { start, period, count, rest: length % period };
                let covers = sums[start + count * period] - sums[start];
                let is_better = best.is_none_or(|(most, best)| {
                    covers > most || covers == most && period < best.period
                });
                if is_better {
                    best = Some((covers, run));
                }
            }
            equal = 0;
        }
    }
    best.map(|(_, run)| run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Option<(usize, usize, usize, usize)> {
        let symbols: Vec<u64> = text.bytes().map(u64::from).collect();
        let run = longest_run(&symbols, &vec![1; symbols.len()])?;
        Some((run.start, run.period, run.count, run.rest))
    }

    #[test]
    fn the_run_that_covers_most_has_the_shortest_period() {
        assert_eq!(run("xabababy"), Some((1, 2, 3, 0)));
        assert_eq!(run("aaaa"), Some((0, 1, 4, 0)));
        // The parts of a block repeat, too, but cover less.
        assert_eq!(run("xqqqmqqqmqqqmy"), Some((1, 4, 3, 0)));
        assert_eq!(run("abcabcab"), Some((0, 3, 2, 2)));
        assert_eq!(run("abcdef"), None);
        assert_eq!(run(""), None);
    }
}
