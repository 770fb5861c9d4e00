//! Features of units, for fast paths.
//!
//! A check that concerns one kind of expression, such as globals, runs on a module of ten thousand
//! statements at every keystroke. It skips the units without that feature.

bitflags::bitflags! {
    /// A set of features of a unit.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct UnitFeatures: u16 {
        /// An integer without suffix: `1`.
        const BARE_INT = 1;
        /// A global: `@f`.
        const GLOBAL = 1 << 1;
        /// A possible constructor: `Cons(…)`, `Nil`, a pattern.
        const CONSTRUCTOR = 1 << 2;
        /// A type with names to resolve.
        const TYPE_USE = 1 << 3;
        /// A function.
        const FUNCTION = 1 << 4;
        /// A reference into the metadata section.
        const META = 1 << 5;
        /// A possible operator with another name in TVM 0.14, or without one.
        const OTHER_NAME = 1 << 6;
        /// A declared free variable.
        const FREE_VARIABLE = 1 << 7;
        /// A problem that lowering found.
        const PROBLEM = 1 << 8;
        /// A call that only other releases than 0.14 write.
        const OTHER_RELEASE = 1 << 9;
        /// A call of an operator that is not defined for all values of its operands.
        const DOMAIN = 1 << 10;
        /// A possible effect: a reference, or a call of anything but an operator without effects.
        const EFFECT = 1 << 11;

        /// A variable that is bound inside of the unit and not used.
        const UNUSED_INSIDE = 1 << 12;
    }
}

impl UnitFeatures {
    /// Adds `others` if `holds`.
    pub(crate) fn add(&mut self, others: UnitFeatures, holds: bool) {
        if holds {
            self.insert(others);
        }
    }
}
