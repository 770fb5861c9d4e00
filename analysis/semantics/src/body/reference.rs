//! References to the parts of a body.

use super::{BinderId, ExprId};

/// A reference to an expression of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExprRef {
    /// The index of the unit.
    pub unit: usize,
    /// The expression in the unit.
    pub expr: ExprId,
}

/// A reference to a variable of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalRef {
    /// The unit that binds it.
    pub unit: u32,
    /// The variable there.
    pub binder: BinderId,
}
