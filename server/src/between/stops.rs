//! The changes of a comparison in order, each with a place on both sides: where an editor stops.

use std::collections::BTreeMap;

use tower_lsp::lsp_types::Range;

use crate::protocol::{ChangeKind, PairKind, SideName, Stop};

impl Stop {
    /// Returns the range of the expression itself.
    fn own(&self) -> Range {
        if self.kind == ChangeKind::Removed { self.before } else { self.after }
    }

    /// Returns true if an editor does not stop here after `last`. Passes such as fusion change many neighbouring
    /// lines alike; changes of attributes are of interest each.
    fn continues(&self, last: &Stop) -> bool {
        let (from, to) = (last.own(), self.own());
        let is_next = to.start.line <= from.end.line + 1 && to.start.line + 1 >= from.start.line;
        self.kind == last.kind && self.kind != ChangeKind::Pair(PairKind::Changed) && is_next
    }
}

/// Returns the stops of a comparison: of `pairs` with their kinds, which are all pairs of the modules, and of the
/// expressions without a counterpart.
pub(crate) fn stops(
    pairs: &[(Range, Range, PairKind)],
    removed: &[Range],
    added: &[Range],
) -> Vec<Stop> {
    let partners = |swap: bool| -> BTreeMap<_, Range> {
        let of = |&(before, after, _): &(Range, Range, _)| match swap {
            true => (after.start, before),
            false => (before.start, after),
        };
        pairs.iter().map(of).collect()
    };
    let (partners_before, partners_after) = (partners(false), partners(true));
    let beside = |partners: &BTreeMap<_, Range>, own: &Range| {
        partners.range(..=own.start).next_back().map_or_else(Range::default, |(_, place)| *place)
    };
    let changed = pairs.iter().filter(|(.., kind)| *kind != PairKind::Same);
    let changed = changed.map(|&(before, after, kind)| Stop {
        kind: ChangeKind::Pair(kind),
        before,
        after,
        without: None,
    });
    let removed = removed.iter().map(|own| {
        let after = beside(&partners_before, own);
        Stop { kind: ChangeKind::Removed, before: *own, after, without: Some(SideName::After) }
    });
    let added = added.iter().map(|own| {
        let before = beside(&partners_after, own);
        Stop { kind: ChangeKind::Added, before, after: *own, without: Some(SideName::Before) }
    });
    let mut all: Vec<Stop> = changed.chain(removed).chain(added).collect();
    all.sort_by_key(|stop| (stop.after.start, stop.before.start));
    let mut stops = Vec::new();
    let mut last: Option<Stop> = None;
    for stop in all {
        if !last.as_ref().is_some_and(|last| stop.continues(last)) {
            stops.push(stop.clone());
        }
        last = Some(stop);
    }
    stops
}

#[cfg(test)]
mod tests {
    use tower_lsp::lsp_types::Position;

    use super::*;
    use crate::protocol::{
        ChangeKind::{Added, Pair, Removed},
        PairKind::{Changed, Fused},
    };

    fn line(line: u32) -> Range {
        Range::new(Position::new(line, 2), Position::new(line, 9))
    }

    fn shown(stops: &[Stop]) -> Vec<(ChangeKind, u32, u32)> {
        let lines = |stop: &Stop| (stop.before.start.line, stop.after.start.line);
        stops.iter().map(|stop| (stop.kind, lines(stop).0, lines(stop).1)).collect()
    }

    #[test]
    fn neighbouring_changes_of_a_kind_are_one_stop() {
        let pairs = [(1, 1, Fused), (2, 2, Fused), (3, 3, Changed), (4, 4, Changed)];
        let pairs = pairs.map(|(before, after, kind)| (line(before), line(after), kind));
        let found = stops(&pairs, &[], &[]);
        assert_eq!(
            shown(&found),
            [(Pair(Fused), 1, 1), (Pair(Changed), 3, 3), (Pair(Changed), 4, 4)]
        );
    }

    #[test]
    fn expressions_of_one_side_are_at_the_partner_of_the_preceding_one() {
        let pairs = [(line(1), line(1), PairKind::Same), (line(5), line(3), PairKind::Same)];
        let found = stops(&pairs, &[line(3)], &[line(0), line(7)]);
        assert_eq!(shown(&found), [(Added, 0, 0), (Removed, 3, 1), (Added, 5, 7)]);
        let sides: Vec<_> = found.iter().map(|stop| stop.without).collect();
        assert_eq!(sides, [Some(SideName::Before), Some(SideName::After), Some(SideName::Before)]);
    }
}
