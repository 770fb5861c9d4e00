//! Positions in a run.

/// The place of an event in the sequence of events of a run, which is the same in each repetition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(super) struct Position {
    /// The number of points, bindings and calls of operators up to it.
    pub(super) moment: u64,
    /// The number of results of operators since then; the largest number for the failure of the run.
    pub(super) results: u32,
}

impl Position {
    /// The results of a position at which the run failed.
    pub(super) const FAILED: u32 = u32::MAX;

    /// Goes to the next moment.
    pub(super) fn advance(&mut self) {
        *self = Position { moment: self.moment + 1, results: 0 };
    }

    /// Returns true for the result of an operator.
    pub(super) fn has_results(self) -> bool {
        self.results > 0 && self.results != Position::FAILED
    }
}
