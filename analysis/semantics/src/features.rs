//! Features of units, for fast paths.
//!
//! A check that concerns one kind of expression, such as globals, runs on a module of ten thousand
//! statements at every keystroke. It skips the units without that feature.

/// A set of features of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct UnitFeatures(u16);

impl UnitFeatures {
    /// An integer without suffix: `1`.
    pub const BARE_INT: UnitFeatures = UnitFeatures(1);
    /// A global: `@f`.
    pub const GLOBAL: UnitFeatures = UnitFeatures(1 << 1);
    /// A possible constructor: `Cons(…)`, `Nil`, a pattern.
    pub const CONSTRUCTOR: UnitFeatures = UnitFeatures(1 << 2);
    /// A type with names to resolve.
    pub const TYPE_USE: UnitFeatures = UnitFeatures(1 << 3);
    /// A function.
    pub const FUNCTION: UnitFeatures = UnitFeatures(1 << 4);
    /// A reference into the metadata section.
    pub const META: UnitFeatures = UnitFeatures(1 << 5);
    /// A possible operator with another name in TVM 0.14, or without one.
    pub const OTHER_NAME: UnitFeatures = UnitFeatures(1 << 6);
    /// A declared free variable.
    pub const FREE_VARIABLE: UnitFeatures = UnitFeatures(1 << 7);
    /// A problem that lowering found.
    pub const PROBLEM: UnitFeatures = UnitFeatures(1 << 8);
    /// A call that only other releases than 0.14 write.
    pub const OTHER_RELEASE: UnitFeatures = UnitFeatures(1 << 9);
    /// A call of an operator that is not defined for all values of its operands.
    pub const DOMAIN: UnitFeatures = UnitFeatures(1 << 10);
    /// A possible effect: a reference, or a call of anything but an operator without effects.
    pub const EFFECT: UnitFeatures = UnitFeatures(1 << 11);

    /// A variable that is bound inside of the unit and not used.
    pub const UNUSED_INSIDE: UnitFeatures = UnitFeatures(1 << 12);
    /// No features.
    pub(crate) const NONE: UnitFeatures = UnitFeatures(0);

    /// Returns true if the sets have a feature in common.
    pub fn has(self, others: UnitFeatures) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self == UnitFeatures::NONE
    }

    /// Adds `others` if `holds`.
    pub(crate) fn add(&mut self, others: UnitFeatures, holds: bool) {
        if holds {
            self.0 |= others.0;
        }
    }

    /// Returns the union of the sets.
    #[must_use]
    pub const fn or(self, others: UnitFeatures) -> UnitFeatures {
        UnitFeatures(self.0 | others.0)
    }
}
