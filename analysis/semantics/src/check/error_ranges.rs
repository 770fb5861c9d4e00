//! The ranges of syntax errors, to suppress diagnostics that may follow from them.

use syntax::{Expectation, Node, Parse, SyntaxErrorKind, SyntaxKind, TextRange, TextSize};

use crate::diagnostic::{Code, Diagnostic};

/// The ranges of the syntax errors of a file, or of a definition. Each lookup is a binary search.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(crate) struct ErrorRanges {
    /// Sorted by start.
    ranges: Vec<TextRange>,
    /// For each range, the maximum end of the ranges up to it.
    ends: Vec<TextSize>,
    /// The offsets at which a binding is missing its name, sorted.
    missing_bindings: Vec<TextSize>,
    /// The starts of the errors, without the names before them, sorted.
    starts: Vec<TextSize>,
}

impl ErrorRanges {
    /// Returns the syntax errors of a file.
    pub(super) fn of(parse: &Parse) -> ErrorRanges {
        let root = Node::root(&parse.green);
        let errors = || parse.errors.iter().filter(|error| !error.kind.is_compat());
        let mut ranges: Vec<TextRange> = errors().map(|e| e.range).collect();
        let starts = ranges.iter().map(|range| range.start()).collect();
        ranges.sort_unstable_by_key(|range| (range.start(), range.end()));
        // Lookups in the tree are slow; with more errors than this, none is extended by a name.
        ranges.iter_mut().take(super::MAX_DIAGNOSTICS).for_each(|r| *r = with_name(root, *r));
        let missing_bindings = errors().filter(|e| is_binding(&e.kind)).map(|e| e.range.start());
        ErrorRanges::new(ranges, missing_bindings.collect(), starts)
    }

    fn new(
        mut ranges: Vec<TextRange>,
        mut missing_bindings: Vec<TextSize>,
        mut starts: Vec<TextSize>,
    ) -> ErrorRanges {
        ranges.sort_unstable_by_key(|range| (range.start(), range.end()));
        missing_bindings.sort_unstable();
        starts.sort_unstable();
        let mut last = TextSize::default();
        let ends = ranges.iter().map(|range| {
            last = last.max(range.end());
            last
        });
        ErrorRanges { ends: ends.collect(), ranges, missing_bindings, starts }
    }

    /// Returns the errors that touch `whole`, cut to it, with ranges from its start.
    pub(super) fn within(&self, whole: TextRange) -> ErrorRanges {
        let touching = self.around(whole).filter_map(|error| {
            let common = error.intersect(whole)?;
            (!common.is_empty() || error.is_empty()).then(|| common - whole.start())
        });
        let inside = |offsets: &[TextSize]| {
            let from = offsets.partition_point(|&at| at < whole.start());
            let inside = offsets[from..].iter().take_while(|&&at| at < whole.end());
            inside.map(|&at| at - whole.start()).collect()
        };
        ErrorRanges::new(touching.collect(), inside(&self.missing_bindings), inside(&self.starts))
    }

    /// Returns the errors that may intersect `range`, the last one first.
    fn around(&self, range: TextRange) -> impl Iterator<Item = TextRange> {
        let until = self.ranges.partition_point(|broken| broken.start() <= range.end());
        let near = move |&at: &usize| self.ends[at] >= range.start();
        (0..until).rev().take_while(near).map(|at| self.ranges[at])
    }

    /// Returns true if an error intersects `range`.
    pub(crate) fn touches(&self, range: TextRange) -> bool {
        self.around(range).any(|broken| {
            broken.intersect(range).is_some_and(|common| !common.is_empty() || broken.is_empty())
        })
    }

    /// Returns true if `range` contains a whole error.
    pub(super) fn is_inside(&self, range: TextRange) -> bool {
        let from = self.ranges.partition_point(|broken| broken.start() < range.start());
        let inside = self.ranges[from..].iter().take_while(|b| b.start() <= range.end());
        inside.into_iter().any(|broken| range.contains_range(*broken))
    }

    /// The start of the first error that begins in `range`.
    pub(super) fn first_inside(&self, range: TextRange) -> Option<TextSize> {
        let from = self.starts.partition_point(|&start| start < range.start());
        self.starts.get(from).copied().filter(|&first| first < range.end())
    }

    /// Returns true if there are no syntax errors.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns true if an error starts directly after `range`, or after one space.
    pub(super) fn follows(&self, range: TextRange) -> bool {
        let space = TextSize::from(1);
        [range.end(), range.end() + space].into_iter().any(|at| {
            let from = self.ranges.partition_point(|broken| broken.start() < at);
            let here = self.ranges[from..].iter().take_while(|broken| broken.start() == at);
            here.into_iter().any(|broken| !broken.is_empty())
        })
    }

    /// Returns the first offset in `range` at which a binding is missing its name. Names that are
    /// unresolved after it may refer to that binding.
    pub(super) fn first_missing_binding(&self, range: TextRange) -> Option<TextSize> {
        let from = self.missing_bindings.partition_point(|&at| at < range.start());
        self.missing_bindings.get(from).copied().filter(|&at| range.contains(at))
    }
}

fn is_binding(error: &SyntaxErrorKind) -> bool {
    match error {
        SyntaxErrorKind::Expected { expected, found, .. } => {
            *found == SyntaxKind::EQ || *expected == Expectation::Kind(SyntaxKind::LOCAL)
        }
        // The text that was left out may have bound these names.
        SyntaxErrorKind::Cut => true,
        _ => false,
    }
}

/// Extends an error by the name directly before it, such as `return` in `return %a`.
fn with_name(root: Node<'_>, error: TextRange) -> TextRange {
    if error.is_empty() {
        return error;
    }
    let before = |at: TextSize| root.token_at(at.checked_sub(1.into())?);
    let token = before(error.start()).and_then(|token| match token.text().trim_matches(' ') {
        "" => before(token.range().start()),
        _ => Some(token),
    });
    token.map_or(error, |token| token.range().cover(error))
}

/// Returns true if a diagnostic may follow from a syntax error near it: the skipped text may use
/// the binding, or contain the brace that closes its scope.
pub(super) fn may_follow_from_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.unnecessary
        || (diagnostic.code == Code::UnknownVariable && !diagnostic.related.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u32, end: u32) -> TextRange {
        TextRange::new(start.into(), end.into())
    }

    #[test]
    fn lookups_find_errors_by_range() {
        let ranges = vec![at(2, 30), at(5, 6), at(40, 40), at(50, 52)];
        let ends = vec![30.into(), 30.into(), 40.into(), 52.into()];
        let starts = ranges.iter().map(|range: &TextRange| range.start()).collect();
        let broken =
            ErrorRanges { ranges, ends, missing_bindings: vec![5.into(), 50.into()], starts };
        let touched = [at(0, 3), at(20, 25), at(39, 41), at(40, 40), at(51, 60)];
        assert!(touched.into_iter().all(|range| broken.touches(range)));
        let free = [at(0, 2), at(30, 39), at(41, 50), at(52, 99)];
        assert!(!free.into_iter().any(|range| broken.touches(range)));
        assert!(broken.is_inside(at(4, 8)) && !broken.is_inside(at(3, 5)));
        assert!(broken.follows(at(44, 50)) && broken.follows(at(44, 49)));
        assert!(!broken.follows(at(44, 48)) && !broken.follows(at(35, 40)));
        assert_eq!(broken.first_missing_binding(at(6, 60)), Some(50.into()));
        assert_eq!(broken.first_missing_binding(at(6, 40)), None);
    }
}
