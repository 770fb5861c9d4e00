//! The coordinates of the ranges of a view: offsets in the file, or offsets from the start of a
//! definition.
//!
//! A diagnostic may relate to places in other definitions: an argument to a parameter of the function
//! that is called. If diagnostics contained offsets in the file, those of all later definitions would
//! be computed again after each line break. In the coordinates of a definition, offsets up to its
//! length are its own, and greater ones stand for ranges of others, each with a reserved interval.

use std::{cell::RefCell, rc::Rc};

use rustc_hash::FxHashMap;
use syntax::{TextRange, TextSize};

use crate::{db::Db, item::Def};

/// The coordinates of a view.
#[derive(Clone)]
pub(super) enum Coordinates<'db> {
    /// Offsets in the file, in which the definition starts here.
    File(TextSize),
    /// Offsets from the start of the definition.
    Definition(Rc<OtherPlaces<'db>>),
}

/// The intervals that stand for ranges of other definitions, while a definition is checked.
pub(crate) struct OtherPlaces<'db> {
    ranges: RefCell<OtherRanges<'db>>,
    known: RefCell<FxHashMap<(Def<'db>, TextRange), TextRange>>,
}

/// Ranges of other definitions, by the intervals that stand for them.
#[derive(Clone, Default, Debug, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct OtherRanges<'db> {
    /// The end of the definition itself.
    end: TextSize,
    /// In ascending order.
    intervals: Vec<Interval<'db>>,
}

/// An interval that stands for a range of another definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, salsa::SalsaValue)]
struct Interval<'db> {
    range: TextRange,
    def: Def<'db>,
    /// The start of the range in the definition.
    start: TextSize,
}

impl<'db> OtherPlaces<'db> {
    pub(super) fn new(end: TextSize) -> OtherPlaces<'db> {
        let ranges = RefCell::new(OtherRanges { end, intervals: Vec::new() });
        OtherPlaces { ranges, known: RefCell::default() }
    }

    /// Returns the interval for a range of another definition, always the same one, so that equal
    /// places are equal ranges.
    ///
    /// The ranges are declarations, of which only the name of a parameter is inside another one: all
    /// intervals together are shorter than twice the file.
    pub(super) fn add(&self, def: Def<'db>, range: TextRange) -> TextRange {
        *self.known.borrow_mut().entry((def, range)).or_insert_with(|| {
            let OtherRanges { end, intervals } = &mut *self.ranges.borrow_mut();
            // Adjacent intervals would both intersect an empty range between them.
            let last = intervals.last().map_or(*end, |last| last.range.end());
            let interval = TextRange::at(last + TextSize::new(1), range.len());
            intervals.push(Interval { range: interval, def, start: range.start() });
            interval
        })
    }

    pub(super) fn ranges(&self) -> OtherRanges<'db> {
        self.ranges.borrow().clone()
    }
}

impl OtherRanges<'_> {
    /// Converts a range in the coordinates of a definition that starts at `start` to one of the file.
    pub(crate) fn in_file(&self, db: &dyn Db, start: TextSize, range: TextRange) -> TextRange {
        if range.end() <= self.end {
            return range + start;
        }
        let after = self.intervals.partition_point(|other| other.range.start() <= range.start());
        match after.checked_sub(1).map(|at| self.intervals[at]) {
            Some(other) => range - other.range.start() + other.start + other.def.start(db),
            None => range + start,
        }
    }
}
