//! Empty lines that bring the corresponding lines of two modules to the same height.

use tower_lsp::lsp_types::Range;

use crate::protocol::{Filler, PairKind, SideName};

/// Returns the fillers for the pairs of a comparison, in the order of lines.
///
/// The lines of pairs that are in the same order on both sides are aligned, as many as possible; the others moved, and
/// cannot be. Takes `n log n` for `n` pairs.
pub(crate) fn fillers(pairs: &[(Range, Range, PairKind)]) -> Vec<Filler> {
    let mut lines: Vec<(u32, u32)> =
        pairs.iter().map(|(before, after, _)| (before.start.line, after.start.line)).collect();
    // Of the pairs of one line before, at most one is in an increasing sequence after it.
    lines.sort_unstable_by_key(|&(before, after)| (before, std::cmp::Reverse(after)));
    lines.dedup();
    let mut found = Vec::new();
    let (mut last_before, mut last_after) = (0, 0);
    for (before, after) in increasing(&lines) {
        let (above_before, above_after) = (before - last_before, after - last_after);
        let (side, line) = match above_before < above_after {
            true => (SideName::Before, before),
            false => (SideName::After, after),
        };
        let count = above_before.abs_diff(above_after);
        if count > 0 {
            found.push(Filler { side, line, count });
        }
        (last_before, last_after) = (before, after);
    }
    found
}

/// Returns a longest subsequence in which the second numbers increase.
fn increasing(lines: &[(u32, u32)]) -> Vec<(u32, u32)> {
    // For each length, the index of the end of a sequence whose last number is the least.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(lines.len());
    for (at, &(_, after)) in lines.iter().enumerate() {
        let length = ends.partition_point(|&end| lines[end].1 < after);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    // Each index is less than the one before.
    while let Some(at) = next {
        found.push(lines[at]);
        next = previous[at];
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use tower_lsp::lsp_types::Position;

    use super::*;

    fn check(lines: &[(u32, u32)], expected: &[(SideName, u32, u32)]) {
        let line = |line| Range::new(Position::new(line, 2), Position::new(line, 9));
        let pairs: Vec<_> =
            lines.iter().map(|&(a, b)| (line(a), line(b), PairKind::Same)).collect();
        let found: Vec<_> =
            fillers(&pairs).into_iter().map(|f| (f.side, f.line, f.count)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn shorter_side_is_filled() {
        use SideName::{After, Before};
        check(&[], &[]);
        check(&[(1, 1), (2, 2)], &[]);
        // Two lines are added after the first, one is removed after the second.
        check(&[(1, 1), (2, 4), (4, 5)], &[(Before, 2, 2), (After, 5, 1)]);
        check(&[(0, 3)], &[(Before, 0, 3)]);
        // An operator that is expanded is level with the first of its calls.
        check(&[(1, 1), (2, 2), (2, 3), (2, 4), (3, 5)], &[(Before, 3, 2)]);
    }

    #[test]
    fn moved_lines_are_not_aligned() {
        check(
            &[(1, 3), (2, 1), (3, 2), (4, 4)],
            &[(SideName::After, 1, 1), (SideName::Before, 4, 1)],
        );
    }
}
