//! Features of units, for fast paths.
//!
//! A check that concerns one kind of expression, such as globals, runs on a module of ten thousand
//! statements at every keystroke. It skips the units without that feature.

use crate::body::{BinderKind, Callee, Expr, Literal, Unit};

/// A set of features of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct UnitFeatures(u8);

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

    /// Returns true if the sets have a feature in common.
    pub fn has(self, others: UnitFeatures) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self == UnitFeatures::default()
    }

    fn add(&mut self, others: UnitFeatures, holds: bool) {
        if holds {
            self.0 |= others.0;
        }
    }

    /// Returns the union of the sets.
    #[must_use]
    pub const fn or(self, others: UnitFeatures) -> UnitFeatures {
        UnitFeatures(self.0 | others.0)
    }

    /// Returns the features of a unit.
    pub(crate) fn of(unit: &Unit) -> UnitFeatures {
        let mut features = UnitFeatures::default();
        for expr in &unit.exprs {
            match expr {
                Expr::Literal(Literal::Int { dtype: None, .. }) => {
                    features.0 |= UnitFeatures::BARE_INT.0
                }
                Expr::Global(_) => features.0 |= UnitFeatures::GLOBAL.0,
                Expr::Name(_) => {
                    features.0 |= UnitFeatures::CONSTRUCTOR.or(UnitFeatures::OTHER_NAME).0
                }
                Expr::Meta(_) => features.0 |= UnitFeatures::META.0,
                _ => {}
            }
        }
        for call in &unit.calls {
            match &call.callee {
                Callee::Operator(operator) => {
                    // The manual's names have three letters.
                    let short = call.callee_range.len() == 3.into() && operator.name.len() > 3;
                    let other =
                        short && !call.infix || operators::other_version(operator.name).is_some();
                    features.add(UnitFeatures::OTHER_NAME, other);
                }
                Callee::Name(_) => features.0 |= UnitFeatures::CONSTRUCTOR.0,
                Callee::Expr(_) => {}
            }
            let meta = call.meta_attrs.is_some()
                || call.written.iter().any(|attr| crate::body::has_meta(&attr.value));
            features.add(UnitFeatures::META, meta);
        }
        features.add(UnitFeatures::CONSTRUCTOR, !unit.matches.is_empty());
        features.add(UnitFeatures::TYPE_USE, !unit.type_uses.is_empty());
        features.add(UnitFeatures::FUNCTION, !unit.fns.is_empty());
        let free = unit.binders.iter().any(|binder| binder.kind == BinderKind::Free);
        features.add(UnitFeatures::FREE_VARIABLE, free);
        features
    }
}
