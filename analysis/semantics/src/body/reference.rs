//! References to the parts of a body.

use super::{BinderId, ExprId, UnitId};

/// A reference to an expression of a body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ExprRef {
    /// The unit.
    pub unit: UnitId,
    /// The expression in the unit.
    pub expr: ExprId,
}

impl ExprRef {
    /// Returns another expression of the same unit.
    pub fn sibling(self, expr: ExprId) -> ExprRef {
        ExprRef { unit: self.unit, expr }
    }
}

/// A reference to a variable of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalRef {
    /// The unit that binds it.
    pub unit: UnitId,
    /// The variable there.
    pub binder: BinderId,
}
